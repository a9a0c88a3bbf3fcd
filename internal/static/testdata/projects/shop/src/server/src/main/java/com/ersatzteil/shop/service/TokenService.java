package com.ersatzteil.shop.service;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.MACVerifier;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import java.text.ParseException;
import java.time.Instant;
import java.util.Base64;
import java.util.Date;
import java.util.Optional;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Service;

@Service
public class TokenService {

    private final byte[] key;

    public TokenService(@Value("${shop.dealer-key}") String keyText) {
        this.key = Base64.getDecoder().decode(keyText);
    }

    public String issue(String dealer) throws JOSEException {
        JWTClaimsSet claims = new JWTClaimsSet.Builder()
            .subject(dealer)
            .expirationTime(Date.from(Instant.now().plusSeconds(3600)))
            .build();
        SignedJWT jwt = new SignedJWT(new JWSHeader(JWSAlgorithm.HS256), claims);
        jwt.sign(new MACSigner(key));
        return jwt.serialize();
    }

    public Optional<String> dealer(String token) {
        try {
            JWTClaimsSet claims = SignedJWT.parse(token).getJWTClaimsSet();
            if (claims.getExpirationTime() == null || claims.getExpirationTime().before(new Date())) {
                return Optional.empty();
            }
            return Optional.ofNullable(claims.getSubject());
        } catch (ParseException e) {
            return Optional.empty();
        }
    }

    public Optional<Long> unsubscribeId(String token) {
        try {
            SignedJWT jwt = SignedJWT.parse(token);
            if (!jwt.verify(new MACVerifier(key))) {
                return Optional.empty();
            }
            Date until = jwt.getJWTClaimsSet().getExpirationTime();
            if (until == null || until.before(new Date())) {
                return Optional.empty();
            }
            return Optional.of(Long.valueOf(jwt.getJWTClaimsSet().getSubject()));
        } catch (ParseException | JOSEException | NumberFormatException e) {
            return Optional.empty();
        }
    }
}
