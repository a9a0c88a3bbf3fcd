package depot;

import jakarta.annotation.security.RolesAllowed;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Context;
import com.fasterxml.jackson.dataformat.xml.XmlMapper;
import java.io.File;
import java.io.FileInputStream;
import java.io.InputStream;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.List;
import java.util.Map;
import org.springframework.jdbc.core.JdbcTemplate;

@Path("/depot")
public class Depot {
    private final JdbcTemplate jdbc;
    private final Stock stock;

    Depot(JdbcTemplate jdbc, Stock stock) {
        this.jdbc = jdbc;
        this.stock = stock;
    }

    @GET
    @Path("/parcels")
    @RolesAllowed("courier")
    public List<Map<String, Object>> parcels(@QueryParam("town") String town) {
        StringBuilder q = new StringBuilder("select id, town from parcel where 1 = 1");
        q.append(" and town like ?").append(" order by id");
        return jdbc.queryForList(q.toString(), "%" + town + "%");
    }

    Connection archive() throws Exception {
        return DriverManager.getConnection("jdbc:postgresql://archive/depot", System.getenv("ARCHIVE_USER"), System.getenv("ARCHIVE_PASSWORD"));
    }

    @GET
    @Path("/labels")
    @RolesAllowed("courier")
    public InputStream label(@Context HttpServletRequest http) throws Exception {
        String wanted = http.getParameter("sheet");
        File folder = new File("/var/depot/labels").getCanonicalFile();
        File sheet = new File(folder, wanted + ".pdf").getCanonicalFile();
        if (!sheet.toPath().startsWith(folder.toPath())) {
            throw new IllegalArgumentException("no such sheet");
        }
        return new FileInputStream(sheet);
    }

    @DELETE
    @Path("/management/couriers/{id}")
    @RolesAllowed("manager")
    public void dismiss(@PathParam("id") long id) {
        stock.removeCourier(id);
    }

    @POST
    @Path("/manifest")
    @Consumes("application/xml")
    @RolesAllowed("courier")
    public Manifest manifest(InputStream body) throws Exception {
        return new XmlMapper().readValue(body, Manifest.class);
    }
}
