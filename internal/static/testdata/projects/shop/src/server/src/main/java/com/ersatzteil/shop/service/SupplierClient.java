package com.ersatzteil.shop.service;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.Set;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ResponseStatusException;

@Component
public class SupplierClient {

    private static final int MAX_IMAGE = 5 * 1024 * 1024;

    private final Set<String> imageHosts;
    private final HttpClient plain;
    private final HttpClient legacy;

    public SupplierClient(@Value("${shop.image-hosts}") Set<String> imageHosts) throws GeneralSecurityException {
        this.imageHosts = imageHosts;
        this.plain = HttpClient.newBuilder()
            .connectTimeout(Duration.ofSeconds(5))
            .followRedirects(HttpClient.Redirect.NEVER)
            .build();
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, new TrustManager[] {new DealerTrust()}, new SecureRandom());
        this.legacy = HttpClient.newBuilder().sslContext(context).build();
    }

    public byte[] previewImage(String address) throws IOException {
        URL url = URI.create(address).toURL();
        try (InputStream in = url.openStream()) {
            return in.readNBytes(MAX_IMAGE);
        }
    }

    public byte[] partnerImage(String address) throws IOException, InterruptedException {
        URI uri = URI.create(address);
        if (!"https".equals(uri.getScheme()) || uri.getHost() == null || !imageHosts.contains(uri.getHost())) {
            throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "host not known");
        }
        HttpRequest request = HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(10)).build();
        return plain.send(request, HttpResponse.BodyHandlers.ofByteArray()).body();
    }

    public String dealerStock(long partId) throws IOException, InterruptedException {
        URI uri = URI.create("https://bestand.teileverbund.example/parts/" + partId);
        return legacy.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString()).body();
    }

    private static final class DealerTrust implements X509TrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType) {
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType) {
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
