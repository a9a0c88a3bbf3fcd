import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInputStream;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import javax.sql.DataSource;

/** Orders, invoices and sessions of the back office. */
@SmokeTestVulnApp.RestController
public class SmokeTestVulnApp {

    @Retention(RetentionPolicy.RUNTIME) @interface RestController {}
    @Retention(RetentionPolicy.RUNTIME) @interface GetMapping { String value(); }
    @Retention(RetentionPolicy.RUNTIME) @interface PostMapping { String value(); }
    @Retention(RetentionPolicy.RUNTIME) @interface DeleteMapping { String value(); }
    @Retention(RetentionPolicy.RUNTIME) @interface PreAuthorize { String value(); }
    @Retention(RetentionPolicy.RUNTIME) @interface RequestParam { String value() default ""; }
    @Retention(RetentionPolicy.RUNTIME) @interface CookieValue { String value(); }

    record Order(long id, String customer, String state) {}

    private static final Path INVOICES = Path.of("/srv/backoffice/invoices");
    private static final Path EXPORTS = Path.of("/srv/backoffice/exports");
    private static final String GATEWAY = "https://payments.internal.example/v2/refunds";
    private static final String API_KEY = "bo-prod-9fQ2mX7vT4kLzR8cW1bN6yHd";

    private final DataSource db;

    public SmokeTestVulnApp(DataSource db) {
        this.db = db;
    }

    @GetMapping("/orders")
    @PreAuthorize("hasRole('CLERK')")
    public List<Order> orders(@RequestParam("customer") String customer) throws SQLException {
        try (Connection c = db.getConnection(); Statement s = c.createStatement()) {
            String sql = "SELECT id, customer, state FROM orders WHERE customer = '" + customer + "' ORDER BY id";
            return read(s.executeQuery(sql));
        }
    }

    @PostMapping("/orders/refund")
    @PreAuthorize("hasRole('MANAGER')")
    public int refund(@RequestParam("order") long order) throws IOException {
        HttpURLConnection http = (HttpURLConnection) URI.create(GATEWAY).toURL().openConnection();
        http.setRequestMethod("POST");
        http.setRequestProperty("Authorization", "Bearer " + API_KEY);
        http.setRequestProperty("X-Order", Long.toString(order));
        return http.getResponseCode();
    }

    @GetMapping("/invoices/download")
    @PreAuthorize("hasRole('CLERK')")
    public byte[] invoice(@RequestParam("name") String name) throws IOException {
        Path file = INVOICES.resolve(name);
        return Files.readAllBytes(file);
    }

    @PostMapping("/orders/notify")
    @PreAuthorize("hasRole('MANAGER')")
    public int sendReminder(@RequestParam("order") long order) throws IOException {
        URI mail = URI.create("https://mail.internal.example/send");
        HttpURLConnection http = (HttpURLConnection) mail.toURL().openConnection();
        http.setRequestProperty("Authorization", "Bearer " + System.getenv("BACKOFFICE_MAIL_TOKEN"));
        http.setRequestProperty("X-Order", Long.toString(order));
        return http.getResponseCode();
    }

    @GetMapping("/orders/by-state")
    @PreAuthorize("hasRole('CLERK')")
    public List<Order> ordersByState(@RequestParam("state") String state) throws SQLException {
        String sql = "SELECT id, customer, state FROM orders WHERE state = ? " + "ORDER BY id";
        try (Connection c = db.getConnection(); PreparedStatement s = c.prepareStatement(sql)) {
            s.setString(1, state);
            return read(s.executeQuery());
        }
    }

    @DeleteMapping("/admin/users")
    public int deleteUser(@RequestParam("id") long id) throws SQLException {
        try (Connection c = db.getConnection();
             PreparedStatement s = c.prepareStatement("DELETE FROM users WHERE id = ?")) {
            s.setLong(1, id);
            return s.executeUpdate();
        }
    }

    @GetMapping("/exports/download")
    @PreAuthorize("hasRole('CLERK')")
    public byte[] export(@RequestParam("name") String name) throws IOException {
        Path file = EXPORTS.resolve(name).normalize();
        if (!file.startsWith(EXPORTS)) {
            throw new IOException("no such export");
        }
        return Files.readAllBytes(file);
    }

    @GetMapping("/cart")
    @PreAuthorize("isAuthenticated()")
    public Object cart(@CookieValue("cart") String cookie) throws IOException, ClassNotFoundException {
        byte[] bytes = Base64.getDecoder().decode(cookie);
        try (InputStream in = new ByteArrayInputStream(bytes); ObjectInputStream objects = new ObjectInputStream(in)) {
            return objects.readObject();
        }
    }

    private static List<Order> read(ResultSet rows) throws SQLException {
        List<Order> found = new ArrayList<>();
        while (rows.next()) {
            found.add(new Order(rows.getLong("id"), rows.getString("customer"), rows.getString("state")));
        }
        return found;
    }
}
