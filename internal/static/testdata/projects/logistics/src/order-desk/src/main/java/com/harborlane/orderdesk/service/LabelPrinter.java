package com.harborlane.orderdesk.service;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.springframework.stereotype.Service;

@Service
public class LabelPrinter {

    private static final Map<String, String> QUEUES = Map.of("dock1", "zebra-d1", "dock2", "zebra-d2", "office", "hp-office");

    public record PrintJob(String printer, int copies, String media, Path file) {
    }

    public CompletableFuture<Integer> print(PrintJob job) {
        return CompletableFuture.supplyAsync(() -> {
            String line = commandLine(job);
            try {
                Process process = new ProcessBuilder("/bin/sh", "-c", line).start();
                process.waitFor(30, TimeUnit.SECONDS);
                return process.exitValue();
            } catch (IOException e) {
                return -1;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return -1;
            }
        });
    }

    public int printAtDock(String dock, Path file, int copies) throws IOException, InterruptedException {
        String queue = QUEUES.get(dock);
        if (queue == null) {
            throw new IOException("unknown dock");
        }
        List<String> command = new ArrayList<>(List.of("lp", "-d", queue, "-n", Integer.toString(copies)));
        command.add(file.toString());
        return new ProcessBuilder(command).start().waitFor();
    }

    public String barcode(String trackingNo) throws IOException {
        if (!trackingNo.matches("[A-Z0-9]{8,20}")) {
            throw new IllegalArgumentException("tracking number");
        }
        Process process = Runtime.getRuntime().exec(new String[] {"barcode", "-e", "128", "-b", trackingNo, "-S"});
        return new String(process.getInputStream().readAllBytes());
    }

    private String commandLine(PrintJob job) {
        StringBuilder sb = new StringBuilder("lp -d ").append(job.printer());
        sb.append(" -n ").append(job.copies());
        if (job.media() != null) {
            sb.append(" -o media=").append(job.media());
        }
        return sb.append(' ').append(job.file()).toString();
    }
}
