package com.harborlane.orderdesk.service;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;

import com.harborlane.orderdesk.dto.OrderForm;
import com.harborlane.orderdesk.model.Account;
import com.harborlane.orderdesk.model.FreightOrder;
import com.harborlane.orderdesk.repo.FreightOrderRepository;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.data.domain.PageRequest;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

@Service
public class OrderService {

    private static final Logger log = LoggerFactory.getLogger(OrderService.class);

    private final FreightOrderRepository orders;
    private final JdbcTemplate jdbc;

    public OrderService(FreightOrderRepository orders, JdbcTemplate jdbc) {
        this.orders = orders;
        this.jdbc = jdbc;
    }

    public FreightOrder place(Account account, OrderForm form) {
        BigDecimal open = orders.openTotal(account.getId());
        if (open.add(form.price()).compareTo(account.getCreditLimit()) > 0) {
            throw new IllegalStateException("credit limit reached");
        }
        FreightOrder order = new FreightOrder();
        order.setAccountId(account.getId());
        order.setReference(form.reference());
        order.setOriginPort(form.originPort());
        order.setDestinationPort(form.destinationPort());
        order.setHandlingNotes(form.handlingNotes());
        order.setPrice(form.price());
        order.setStatus("OPEN");
        return orders.save(order);
    }

    public boolean redeemVoucher(Long accountId, String code) {
        int used = jdbc.update(
                "update voucher set used_by = ?, used_at = now() where code = ? and used_by is null", accountId, code);
        return used == 1;
    }

    public FreightOrder find(Long id) {
        return orders.findById(id).orElseThrow();
    }

    public FreightOrder findOwn(Long id, Account account) {
        return orders.findByIdAndAccountId(id, account.getId()).orElseThrow();
    }

    public List<FreightOrder> byReference(Account account, String ref) {
        log.info("order lookup account={} ref={}", account.getId(), ref.replaceAll("[^A-Za-z0-9-]", "_"));
        return orders.findByReference(account.getId(), ref, PageRequest.of(0, 50));
    }

    public List<FreightOrder> search(Map<String, String> criteria) {
        return orders.search(criteria);
    }

    public List<FreightOrder> byPorts(Account account, List<String> ports, String sort) {
        return orders.byPorts(account.getId(), ports, sort);
    }

    @Transactional
    public void cancel(FreightOrder order, String reason) {
        order.setStatus("CANCELLED");
        orders.save(order);
        log.warn("order " + order.getId() + " cancelled: " + reason);
    }
}
