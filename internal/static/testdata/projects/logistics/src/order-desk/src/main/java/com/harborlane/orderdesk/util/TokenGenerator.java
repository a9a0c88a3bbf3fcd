package com.harborlane.orderdesk.util;

import java.security.SecureRandom;
import java.util.Base64;
import java.util.Random;

public final class TokenGenerator {

    private static final String ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
    private static final Random RANDOM = new Random();
    private static final SecureRandom SECURE = new SecureRandom();

    private TokenGenerator() {
    }

    public static String shortCode(int length) {
        StringBuilder code = new StringBuilder(length);
        for (int i = 0; i < length; i++) {
            code.append(ALPHABET.charAt(RANDOM.nextInt(ALPHABET.length())));
        }
        return code.toString();
    }

    public static String urlToken() {
        byte[] raw = new byte[32];
        SECURE.nextBytes(raw);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(raw);
    }

    /** Spreads retries of the carrier polling over the minute. */
    public static long jitterMillis(long max) {
        return (long) (RANDOM.nextDouble() * max);
    }
}
