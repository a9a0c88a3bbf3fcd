package com.harborlane.orderdesk.service;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Counts attempts of one client in a fixed window. */
public class AttemptLimiter {

    private record Window(Instant start, int count) {
    }

    private final int max;
    private final Duration length;
    private final Map<String, Window> windows = new ConcurrentHashMap<>();

    public AttemptLimiter(int max, Duration length) {
        this.max = max;
        this.length = length;
    }

    public boolean allow(String client) {
        Instant now = Instant.now();
        windows.values().removeIf(w -> w.start().plus(length).isBefore(now));
        Window window = windows.merge(client, new Window(now, 1), (a, b) -> new Window(a.start(), a.count() + 1));
        return window.count() <= max;
    }
}
