package com.harborlane.orderdesk.service;

import java.util.Map;

import org.apache.commons.text.StringSubstitutor;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.Async;
import org.springframework.stereotype.Service;

@Service
public class MailQueue {

    private static final Map<String, String> BODIES = Map.of(
            "reset", "Use this code to choose a new password: ${value}",
            "invite", "Open your account with https://desk.harborlane.example/account/reset?token=${value}",
            "notice", "A notice for your shipment: ${value}");

    private final JdbcTemplate jdbc;

    public MailQueue(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    @Async
    public void send(String to, String kind, String value) {
        String body = new StringSubstitutor(Map.of("value", value)).setDisableSubstitutionInValues(true).replace(BODIES.get(kind));
        enqueue(to, body);
    }

    /** Text written by the customer for the receivers of his arrival notices. */
    public String preview(String customerText, Map<String, String> shipment) {
        StringSubstitutor resolver = StringSubstitutor.createInterpolator();
        String text = customerText;
        for (Map.Entry<String, String> e : shipment.entrySet()) {
            text = text.replace("{" + e.getKey() + "}", e.getValue());
        }
        return resolver.replace(text);
    }

    private void enqueue(String to, String body) {
        jdbc.update("insert into mail_queue (recipient, body) values (?, ?)", to, body);
    }
}
