package com.harborlane.orderdesk.web;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import com.harborlane.orderdesk.dto.ShipmentFilter;
import com.harborlane.orderdesk.repo.RateMapper;
import com.harborlane.orderdesk.repo.ShipmentDao;
import com.harborlane.orderdesk.service.AccountService;
import com.harborlane.orderdesk.service.CarrierGateway;
import com.harborlane.orderdesk.service.MailQueue;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.core.Authentication;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.util.HtmlUtils;

@Controller
public class ShipmentController {

    private final ShipmentDao shipments;
    private final RateMapper rates;
    private final AccountService accounts;
    private final CarrierGateway carriers;
    private final MailQueue mail;

    public ShipmentController(ShipmentDao shipments, RateMapper rates, AccountService accounts,
                              CarrierGateway carriers, MailQueue mail) {
        this.shipments = shipments;
        this.rates = rates;
        this.accounts = accounts;
        this.carriers = carriers;
        this.mail = mail;
    }

    @GetMapping("/shipments")
    public String list(ShipmentFilter filter, Authentication auth, Model model) {
        model.addAttribute("filter", filter);
        model.addAttribute("shipments", shipments.list(accounts.current(auth).getId(), filter));
        return "shipments";
    }

    @GetMapping("/shipments/export")
    @ResponseBody
    public List<Map<String, Object>> export(ShipmentFilter filter, Authentication auth) {
        return shipments.export(accounts.current(auth).getId(), filter);
    }

    @GetMapping("/shipments/vessel")
    @PreAuthorize("hasRole('CLERK')")
    @ResponseBody
    public List<Map<String, Object>> vessel(ShipmentFilter filter) {
        return shipments.byVessel(filter.getVessel(), filter.getEtaFrom());
    }

    @PostMapping("/shipments/reassign")
    @PreAuthorize("hasRole('CLERK')")
    @ResponseBody
    public int reassign(@RequestBody Map<String, String> body) {
        return shipments.reassign(body.get("from"), body.get("to"));
    }

    @PostMapping("/shipments/{id}/events")
    @PreAuthorize("hasRole('CLERK')")
    @ResponseBody
    public void event(@PathVariable Long id, @RequestParam String code, @RequestParam String note) {
        shipments.addEvent(id, code, note);
    }

    @GetMapping("/track/{trackingNo}")
    public String track(@PathVariable String trackingNo, @RequestParam(defaultValue = "") String label, Model model) {
        model.addAttribute("trackingNo", trackingNo);
        model.addAttribute("label", label);
        shipments.byTracking(trackingNo).ifPresent(s -> {
            model.addAttribute("shipment", s);
            model.addAttribute("events", shipments.events(((Number) s.get("id")).longValue()));
        });
        return "tracking";
    }

    @GetMapping(value = "/track/badge", produces = MediaType.TEXT_HTML_VALUE)
    @ResponseBody
    public String badge(@RequestParam String no) {
        String state = shipments.byTracking(no).map(s -> String.valueOf(s.get("status"))).orElse("unknown");
        return "<span class=\"badge\" data-no=\"" + HtmlUtils.htmlEscape(no) + "\">" + HtmlUtils.htmlEscape(state) + "</span>";
    }

    @GetMapping(value = "/track/line", produces = MediaType.TEXT_HTML_VALUE)
    @ResponseBody
    public ResponseEntity<String> line(@RequestParam String no) {
        return ResponseEntity.ok("<p>Shipment " + HtmlUtils.htmlEscape(no) + " is on its way</p>");
    }

    @GetMapping(value = "/track/text", produces = MediaType.TEXT_PLAIN_VALUE)
    @ResponseBody
    public String text(@RequestParam String no) {
        return "Shipment " + no;
    }

    @GetMapping("/rates")
    @ResponseBody
    public List<Map<String, Object>> rates(@RequestParam String origin, @RequestParam String destination,
                                           @RequestParam(required = false) List<String> surcharges) {
        return rates.findRates(origin, destination, surcharges);
    }

    @GetMapping("/rates/search")
    @ResponseBody
    public List<Map<String, Object>> searchRates(@RequestParam(required = false) String carrier,
                                                 @RequestParam(required = false) String q) {
        Map<String, Object> query = new HashMap<>();
        query.put("carrier", carrier);
        query.put("text", q);
        return rates.searchRates(query);
    }

    @GetMapping("/rates/lane/{lane}")
    @ResponseBody
    public List<Map<String, Object>> lane(@PathVariable Long lane, @RequestParam String order) {
        return rates.sortedRates(lane, order);
    }

    @GetMapping("/rates/cards")
    @ResponseBody
    public List<Map<String, Object>> cards(@RequestParam String equipment) {
        return rates.cardsFor(equipment);
    }

    @GetMapping("/terminals/slots")
    @ResponseBody
    public String slots(@RequestParam String terminal, @RequestParam String container)
            throws IOException, InterruptedException {
        return carriers.gateSlot(terminal, container);
    }

    @GetMapping("/carriers/{carrier}/status/{no}")
    @ResponseBody
    public Map<String, String> carrierStatus(@PathVariable String carrier, @PathVariable String no)
            throws IOException, InterruptedException {
        return Map.of("state", carriers.status(carrier, no));
    }

    @PostMapping("/notices/preview")
    @ResponseBody
    public Map<String, String> preview(@RequestBody Map<String, String> body) {
        String text = body.getOrDefault("text", "");
        Map<String, String> sample = Map.of("vessel", "MV Ostrea", "eta", "2025-03-18");
        return Map.of("preview", mail.preview(text, sample));
    }
}
