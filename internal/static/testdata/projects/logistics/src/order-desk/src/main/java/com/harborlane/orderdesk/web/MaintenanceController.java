package com.harborlane.orderdesk.web;

import java.io.IOException;
import java.time.Year;
import java.util.Map;

import com.harborlane.orderdesk.repo.ShipmentDao;
import com.harborlane.orderdesk.service.AccountService;
import com.harborlane.orderdesk.service.LabelPrinter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.security.core.Authentication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

@RestController
public class MaintenanceController {

    private static final Logger log = LoggerFactory.getLogger(MaintenanceController.class);

    private final JdbcTemplate jdbc;
    private final ShipmentDao shipments;
    private final AccountService accounts;
    private final LabelPrinter printer;

    public MaintenanceController(JdbcTemplate jdbc, ShipmentDao shipments, AccountService accounts, LabelPrinter printer) {
        this.jdbc = jdbc;
        this.shipments = shipments;
        this.accounts = accounts;
        this.printer = printer;
    }

    @PostMapping("/maintenance/mail-queue/clear")
    public int clearQueue() {
        return jdbc.update("delete from mail_queue where sent_at is null");
    }

    @GetMapping("/maintenance/stats")
    public Map<String, Object> stats() {
        return Map.of("shipments", shipments.count(Year.now().getValue()));
    }

    @PostMapping("/admin/invite")
    public void invite(@RequestParam String email, Authentication auth) {
        accounts.invite(email);
        log.info("invitation sent by {}", auth.getName());
    }

    @PostMapping("/admin/drivers")
    public Long driver(@RequestParam String email, @RequestParam String password) throws Exception {
        return accounts.registerDriver(email, password).getId();
    }

    @GetMapping("/admin/barcode/{no}")
    public String barcode(@PathVariable String no) throws IOException {
        return printer.barcode(no);
    }
}
