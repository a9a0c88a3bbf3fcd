package com.ersatzteil.shop.util;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Random;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.security.crypto.bcrypt.BCryptPasswordEncoder;
import org.springframework.stereotype.Component;

@Component
public class CryptoBox {

    private static final SecureRandom SECURE = new SecureRandom();
    private static final String ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

    private final BCryptPasswordEncoder encoder = new BCryptPasswordEncoder(12);
    private final Random random = new Random();
    private final SecretKeySpec key;

    public CryptoBox(@Value("${shop.dealer-key}") String keyText) {
        this.key = new SecretKeySpec(Base64.getDecoder().decode(keyText), "AES");
    }

    public String hashPassword(String raw) {
        return encoder.encode(raw);
    }

    public boolean matches(String raw, String stored) {
        if (stored.startsWith("$2")) {
            return encoder.matches(raw, stored);
        }
        return MessageDigest.isEqual(pinHash(raw).getBytes(StandardCharsets.US_ASCII),
            stored.getBytes(StandardCharsets.US_ASCII));
    }

    public String pinHash(String pin) {
        try {
            MessageDigest md = MessageDigest.getInstance("MD5");
            return HexFormat.of().formatHex(md.digest(pin.getBytes(StandardCharsets.UTF_8)));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    public String etag(byte[] content) {
        try {
            MessageDigest md = MessageDigest.getInstance("SHA-256");
            return '"' + HexFormat.of().formatHex(md.digest(content), 0, 8) + '"';
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    public String sealBankAccount(String iban) throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance("AES");
        cipher.init(Cipher.ENCRYPT_MODE, key);
        return Base64.getEncoder().encodeToString(cipher.doFinal(iban.getBytes(StandardCharsets.UTF_8)));
    }

    public String sealNote(String note) throws GeneralSecurityException {
        byte[] iv = new byte[12];
        SECURE.nextBytes(iv);
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(Cipher.ENCRYPT_MODE, key, new GCMParameterSpec(128, iv));
        byte[] body = cipher.doFinal(note.getBytes(StandardCharsets.UTF_8));
        return Base64.getEncoder().encodeToString(iv) + "." + Base64.getEncoder().encodeToString(body);
    }

    public String resetToken() {
        StringBuilder token = new StringBuilder();
        for (int i = 0; i < 20; i++) {
            token.append(ALPHABET.charAt(random.nextInt(ALPHABET.length())));
        }
        return token.toString();
    }

    public String dealerSession() {
        byte[] bytes = new byte[32];
        SECURE.nextBytes(bytes);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    public int bannerIndex(int count) {
        return random.nextInt(count);
    }
}
