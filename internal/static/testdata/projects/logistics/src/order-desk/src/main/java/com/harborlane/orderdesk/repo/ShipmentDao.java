package com.harborlane.orderdesk.repo;

import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import com.harborlane.orderdesk.dto.ShipmentFilter;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.stereotype.Repository;

@Repository
public class ShipmentDao {

    private static final Map<String, String> EXPORT_ORDER = Map.of(
            "eta", "s.eta",
            "carrier", "s.carrier_code",
            "weight", "s.gross_weight");

    private static final String TABLE = "shipment";

    private final JdbcTemplate jdbc;
    private final NamedParameterJdbcTemplate named;

    public ShipmentDao(JdbcTemplate jdbc, NamedParameterJdbcTemplate named) {
        this.jdbc = jdbc;
        this.named = named;
    }

    public List<Map<String, Object>> list(Long accountId, ShipmentFilter filter) {
        StringBuilder sql = new StringBuilder("select s.* from shipment s where s.account_id = ?");
        List<Object> args = new ArrayList<>();
        args.add(accountId);
        if (filter.getCarrier() != null && !filter.getCarrier().isBlank()) {
            sql.append(" and s.carrier_code = ?");
            args.add(filter.getCarrier());
        }
        if (filter.getEtaFrom() != null) {
            sql.append(" and s.eta >= ?");
            args.add(filter.getEtaFrom());
        }
        sql.append(" order by ").append(filter.getSort()).append(' ').append(filter.getDirection());
        sql.append(" limit ").append(filter.getLimit());
        return jdbc.queryForList(sql.toString(), args.toArray());
    }

    public List<Map<String, Object>> export(Long accountId, ShipmentFilter filter) {
        String column = EXPORT_ORDER.getOrDefault(filter.getSort(), "s.eta");
        String direction = "desc".equalsIgnoreCase(filter.getDirection()) ? "desc" : "asc";
        String sql = "select s.id, s.tracking_no, s.eta, s.carrier_code from shipment s where s.account_id = ? order by "
                + column + " " + direction;
        return jdbc.queryForList(sql, accountId);
    }

    public List<Map<String, Object>> byVessel(String vessel, LocalDate from) {
        var params = new MapSqlParameterSource()
                .addValue("vessel", "%" + vessel + "%")
                .addValue("from", from);
        return named.queryForList("select * from shipment where vessel ilike :vessel and eta >= :from", params);
    }

    public Optional<Map<String, Object>> byTracking(String trackingNo) {
        return jdbc.queryForList("select * from shipment where tracking_no = ?", trackingNo).stream().findFirst();
    }

    public List<Map<String, Object>> byIds(List<Long> ids) {
        String marks = String.join(",", ids.stream().map(i -> "?").toList());
        return jdbc.queryForList("select * from shipment where id in (" + marks + ")", ids.toArray());
    }

    public int reassign(String fromCarrier, String toCarrier) {
        String sql = String.format("update %s set carrier_code = ? where carrier_code = ? and status = 'PLANNED'", TABLE);
        return jdbc.update(sql, toCarrier, fromCarrier);
    }

    public void addEvent(Long shipmentId, String code, String text) {
        jdbc.update("insert into shipment_event (shipment_id, code, note) values (?, ?, ?)", shipmentId, code, text);
    }

    public int count(long year) {
        return jdbc.queryForObject("select count(*) from shipment where extract(year from eta) = " + year, Integer.class);
    }

    public List<Map<String, Object>> events(Long shipmentId) {
        return jdbc.queryForList("select code, note, created_at from shipment_event where shipment_id = ? order by created_at", shipmentId);
    }
}
