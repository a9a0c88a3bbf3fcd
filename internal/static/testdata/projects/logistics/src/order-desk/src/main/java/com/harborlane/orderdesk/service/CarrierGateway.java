package com.harborlane.orderdesk.service;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Service;

@Service
public class CarrierGateway {

    private static final Logger log = LoggerFactory.getLogger(CarrierGateway.class);

    private static final Map<String, String> CARRIERS = Map.of(
            "NORD", "https://api.nordline.example/v2/tracking/",
            "ALBA", "https://services.alba-sea.example/track/");
    private static final Set<String> CALLBACK_HOSTS = Set.of("hooks.nordline.example", "edi.alba-sea.example");

    private static final Pattern TERMINAL = Pattern.compile("[a-z]{4}");

    private final HttpClient carrierClient;
    private final HttpClient terminalClient;
    private final String apiUser;
    private final String apiSecret;

    public CarrierGateway(@Qualifier("carrierClient") HttpClient carrierClient,
                          @Qualifier("terminalClient") HttpClient terminalClient,
                          @Value("${orderdesk.carriers.api-user}") String apiUser,
                          @Value("${orderdesk.carriers.api-secret}") String apiSecret) {
        this.carrierClient = carrierClient;
        this.terminalClient = terminalClient;
        this.apiUser = apiUser;
        this.apiSecret = apiSecret;
    }

    public String status(String carrier, String trackingNo) throws IOException, InterruptedException {
        String base = CARRIERS.get(carrier);
        if (base == null) {
            throw new IllegalArgumentException("unknown carrier");
        }
        URI uri = URI.create(base + URLEncoder.encode(trackingNo, StandardCharsets.UTF_8));
        HttpRequest request = HttpRequest.newBuilder(uri)
                .header("X-Api-User", apiUser)
                .header("X-Api-Secret", apiSecret)
                .build();
        return carrierClient.send(request, BodyHandlers.ofString()).body();
    }

    public CompletableFuture<String> fetchManifest(Map<String, String> order) {
        String location = order.get("manifestUrl");
        HttpRequest.Builder builder = HttpRequest.newBuilder(URI.create(location));
        return carrierClient.sendAsync(builder.GET().build(), BodyHandlers.ofString())
                .thenApply(response -> response.statusCode() == 200 ? response.body() : "");
    }

    public int notifyCallback(String url, String payload) throws IOException, InterruptedException {
        URI uri = URI.create(url);
        if (!"https".equals(uri.getScheme()) || !CALLBACK_HOSTS.contains(uri.getHost())) {
            throw new IllegalArgumentException("callback host is not registered");
        }
        HttpRequest request = HttpRequest.newBuilder(uri).POST(HttpRequest.BodyPublishers.ofString(payload)).build();
        return carrierClient.send(request, BodyHandlers.ofString()).statusCode();
    }

    public String gateSlot(String terminalHost, String container) throws IOException, InterruptedException {
        if (!TERMINAL.matcher(terminalHost).matches()) {
            throw new IllegalArgumentException("unknown terminal");
        }
        String target = "https://" + terminalHost + ".gates.harborlane.example/gate/slots?container=" + URLEncoder.encode(container, StandardCharsets.UTF_8);
        return terminalClient.send(HttpRequest.newBuilder(URI.create(target)).build(), BodyHandlers.ofString()).body();
    }

    public void logConnection() {
        log.info("carrier api user {} secret configured: {}", apiUser, !apiSecret.isBlank());
    }
}
