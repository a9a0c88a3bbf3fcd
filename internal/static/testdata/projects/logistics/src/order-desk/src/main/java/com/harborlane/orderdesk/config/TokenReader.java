package com.harborlane.orderdesk.config;

import java.time.Duration;
import java.time.Instant;

import com.auth0.jwt.JWT;
import com.auth0.jwt.algorithms.Algorithm;
import com.auth0.jwt.exceptions.JWTDecodeException;
import com.auth0.jwt.exceptions.JWTVerificationException;
import com.auth0.jwt.interfaces.DecodedJWT;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;

/** Reads and issues the tokens used between the desk, partners and the driver app. */
@Component
public class TokenReader {

    private final Algorithm algorithm;
    private final String issuer;

    public TokenReader(@Value("${orderdesk.jwt.secret}") String secret, @Value("${orderdesk.jwt.issuer}") String issuer) {
        this.algorithm = Algorithm.HMAC256(secret);
        this.issuer = issuer;
    }

    public DecodedJWT read(String raw) {
        try {
            DecodedJWT jwt = JWT.decode(raw);
            if (jwt.getExpiresAtAsInstant() != null && jwt.getExpiresAtAsInstant().isBefore(Instant.now())) {
                return null;
            }
            return issuer.equals(jwt.getIssuer()) ? jwt : null;
        } catch (JWTDecodeException e) {
            return null;
        }
    }

    public String driverOf(String raw) {
        try {
            return JWT.require(algorithm).withIssuer(issuer).build().verify(raw).getSubject();
        } catch (JWTVerificationException e) {
            return null;
        }
    }

    public String issueForDriver(String driverId) {
        return JWT.create()
                .withIssuer(issuer)
                .withSubject(driverId)
                .withExpiresAt(Instant.now().plus(Duration.ofHours(10)))
                .sign(algorithm);
    }
}
