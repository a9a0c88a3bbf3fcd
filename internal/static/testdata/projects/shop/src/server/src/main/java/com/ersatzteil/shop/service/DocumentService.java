package com.ersatzteil.shop.service;

import com.ersatzteil.shop.dto.Dtos.LabelJob;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Service;
import org.springframework.web.multipart.MultipartFile;
import org.springframework.web.server.ResponseStatusException;

@Service
public class DocumentService {

    private static final Map<String, String> PRINTERS = Map.of("lager", "zebra-01", "versand", "zebra-02");
    private static final Map<String, String> DATASHEETS = Map.of("application/pdf", ".pdf");

    private final Path root;

    public DocumentService(@Value("${shop.files}") Path root) {
        this.root = root.toAbsolutePath().normalize();
    }

    public CompletableFuture<Integer> printLabel(LabelJob job) {
        String line = String.format("echo '%s' | lp -d %s -n %d", job.text(), PRINTERS.get("lager"), job.copies());
        List<String> command = List.of("/bin/sh", "-c", line);
        return CompletableFuture.supplyAsync(() -> start(command));
    }

    private int start(List<String> command) {
        try {
            return new ProcessBuilder(command).inheritIO().start().waitFor();
        } catch (IOException e) {
            return -1;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return -1;
        }
    }

    public int printFile(LabelJob job) throws IOException, InterruptedException {
        String printer = PRINTERS.getOrDefault(job.printer(), "zebra-01");
        Path text = Files.createTempFile("label", ".txt");
        Files.writeString(text, job.text());
        return new ProcessBuilder("lp", "-d", printer, "-n", Integer.toString(job.copies()), text.toString())
            .start().waitFor();
    }

    public String storePhoto(String number, MultipartFile file) throws IOException {
        String name = Path.of(String.valueOf(file.getOriginalFilename())).getFileName().toString();
        Path target = root.resolve("public").resolve(UUID.nameUUIDFromBytes(number.getBytes(StandardCharsets.UTF_8)) + "-" + name);
        file.transferTo(target);
        return "/public/" + target.getFileName();
    }

    public String storeDatasheet(MultipartFile file) throws IOException {
        String extension = DATASHEETS.get(file.getContentType());
        byte[] head = file.getBytes();
        if (extension == null || head.length < 5 || !new String(head, 0, 5, StandardCharsets.US_ASCII).equals("%PDF-")) {
            throw new ResponseStatusException(HttpStatus.UNSUPPORTED_MEDIA_TYPE);
        }
        Path target = root.resolve("datasheets").resolve(UUID.randomUUID() + extension);
        Files.write(target, head);
        return target.getFileName().toString();
    }

    public void writeExport(String name, List<String> lines) throws IOException {
        Path target = root.resolve("exports/" + name + ".csv");
        Files.write(target, lines, StandardCharsets.UTF_8);
    }

    public byte[] datasheet(String name) throws IOException {
        Path base = root.resolve("datasheets");
        Path wanted = base.resolve(name).normalize();
        if (!wanted.startsWith(base)) {
            throw new ResponseStatusException(HttpStatus.NOT_FOUND);
        }
        return Files.readAllBytes(wanted);
    }

    public byte[] invoice(long orderId) throws IOException {
        return Files.readAllBytes(root.resolve("invoices").resolve("invoice-" + orderId + ".pdf"));
    }
}
