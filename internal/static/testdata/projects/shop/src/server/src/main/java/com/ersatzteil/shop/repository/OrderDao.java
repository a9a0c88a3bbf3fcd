package com.ersatzteil.shop.repository;

import com.ersatzteil.shop.dto.Dtos.OrderCriteria;
import com.ersatzteil.shop.dto.Dtos.OrderRow;
import com.ersatzteil.shop.dto.Dtos.Review;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.stereotype.Repository;

@Repository
public class OrderDao {

    private static final String SELECT = "SELECT id, customer_id, status, note, total_cents FROM orders";
    private static final RowMapper<OrderRow> ROW = (rs, i) -> new OrderRow(rs.getLong("id"),
        rs.getLong("customer_id"), rs.getString("status"), rs.getString("note"), rs.getLong("total_cents"));

    private final JdbcTemplate jdbc;
    private final NamedParameterJdbcTemplate named;

    public OrderDao(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
        this.named = new NamedParameterJdbcTemplate(jdbc);
    }

    public List<OrderRow> find(OrderCriteria criteria) {
        StringBuilder sql = new StringBuilder(SELECT).append(" WHERE customer_id = ?");
        List<Object> args = new ArrayList<>();
        args.add(criteria.customerId());
        if (criteria.term() != null) {
            sql.append(" AND note ILIKE ?");
            args.add("%" + criteria.term() + "%");
        }
        if (!criteria.states().isEmpty()) {
            sql.append(" AND status IN ('").append(String.join("','", criteria.states())).append("')");
        }
        sql.append(" ORDER BY id DESC");
        return jdbc.query(sql.toString(), ROW, args.toArray());
    }

    public List<OrderRow> inStates(List<String> states) {
        return named.query(SELECT + " WHERE status IN (:states) ORDER BY id", Map.of("states", states), ROW);
    }

    public OrderRow byId(long id) {
        return jdbc.queryForObject(SELECT + " WHERE id = ?", ROW, id);
    }

    public List<Review> reviews(String number) {
        return jdbc.query("SELECT author, body FROM reviews WHERE part_number = ? ORDER BY id DESC",
            (rs, i) -> new Review(rs.getString(1), rs.getString(2)), number);
    }

    public void addReview(String number, String author, String body) {
        jdbc.update("INSERT INTO reviews (part_number, author, body) VALUES (?, ?, ?)", number, author, body);
    }

    public int voucherUses(String code) {
        Integer left = jdbc.queryForObject("SELECT coalesce(max(uses_left), 0) FROM vouchers WHERE code = ?",
            Integer.class, code);
        return left == null ? 0 : left;
    }

    public void setVoucherUses(String code, int left) {
        jdbc.update("UPDATE vouchers SET uses_left = ? WHERE code = ?", left, code);
    }

    public boolean claimGift(String code, long customerId) {
        return jdbc.update("UPDATE gift_cards SET owner_id = ? WHERE code = ? AND owner_id IS NULL", customerId, code) == 1;
    }

    public void addCredit(long orderId, int cents) {
        jdbc.update("UPDATE orders SET total_cents = total_cents - ? WHERE id = ?", cents, orderId);
    }

    public void cancel(long id) {
        jdbc.update("UPDATE orders SET status = 'CANCELLED' WHERE id = ?", id);
    }
}
