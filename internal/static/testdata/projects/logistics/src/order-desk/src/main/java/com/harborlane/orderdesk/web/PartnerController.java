package com.harborlane.orderdesk.web;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import com.harborlane.orderdesk.service.CarrierGateway;
import com.harborlane.orderdesk.service.EdiImport;
import jakarta.servlet.http.HttpServletRequest;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/api/partner")
public class PartnerController {

    private final EdiImport edi;
    private final CarrierGateway gateway;

    public PartnerController(EdiImport edi, CarrierGateway gateway) {
        this.edi = edi;
        this.gateway = gateway;
    }

    @PostMapping(value = "/bookings", consumes = MediaType.APPLICATION_XML_VALUE)
    public List<String> bookings(@RequestBody String xml) throws Exception {
        return edi.bookingReferences(xml);
    }

    @PostMapping(value = "/containers/count", consumes = MediaType.APPLICATION_XML_VALUE)
    public int containers(HttpServletRequest request) throws Exception {
        try (InputStream in = request.getInputStream()) {
            return edi.countContainers(in);
        }
    }

    @PostMapping(value = "/customs", consumes = MediaType.APPLICATION_XML_VALUE)
    public String customs(HttpServletRequest request) throws Exception {
        return edi.customsReply(request.getInputStream()).getDocumentElement().getAttribute("state");
    }

    @PostMapping(value = "/routing", consumes = "application/yaml")
    public int routing(@RequestBody String plan) {
        return edi.routingPlan(plan).size();
    }

    @PostMapping(value = "/tariffs", consumes = "application/yaml")
    public int tariffs(@RequestBody String plan) {
        return edi.tariffPlan(plan).size();
    }

    @PostMapping("/manifest")
    public CompletableFuture<String> manifest(@RequestBody Map<String, String> order) {
        return gateway.fetchManifest(order);
    }

    @PostMapping("/callback")
    public int callback(@RequestParam String url, @RequestBody String payload) throws IOException, InterruptedException {
        return gateway.notifyCallback(url, payload);
    }
}
