package com.harborlane.orderdesk.service;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Service;
import org.springframework.web.multipart.MultipartFile;

/** Keeps bills of lading, packing lists and pictures of cargo on the file share. */
@Service
public class DocumentStore {

    private static final Set<String> PICTURE_TYPES = Set.of("jpg", "jpeg", "png");

    private final Path root;

    public DocumentStore(@Value("${orderdesk.storage.root}") String root) {
        this.root = Path.of(root).toAbsolutePath().normalize();
    }

    public byte[] read(Long orderId, String name) throws IOException {
        Path folder = folder(orderId);
        Path file = folder.resolve(name);
        return Files.readAllBytes(file);
    }

    public byte[] readInvoice(Long orderId, String name) throws IOException {
        Path folder = folder(orderId).resolve("invoices");
        Path file = folder.resolve(name).normalize();
        if (!file.startsWith(folder)) {
            throw new IOException("no such invoice");
        }
        return Files.readAllBytes(file);
    }

    public Path storeAttachment(Long orderId, MultipartFile upload) throws IOException {
        Path folder = Files.createDirectories(folder(orderId));
        Path target = folder.resolve(UUID.randomUUID() + ".bin");
        upload.transferTo(target);
        return target;
    }

    public Path storePicture(Long orderId, MultipartFile upload) throws IOException {
        String original = upload.getOriginalFilename();
        String ext = original == null ? "" : original.substring(original.lastIndexOf('.') + 1).toLowerCase();
        if (!PICTURE_TYPES.contains(ext)) {
            throw new IOException("unsupported picture type");
        }
        Path folder = Files.createDirectories(folder(orderId).resolve("pictures"));
        Path target = folder.resolve(UUID.randomUUID() + "." + ext);
        upload.transferTo(target);
        return target;
    }

    public String publishLogo(MultipartFile upload) throws IOException {
        String name = UUID.randomUUID().toString().substring(0, 8) + suffix(upload.getOriginalFilename());
        Path target = Path.of("/srv/www/static/logos").resolve(name);
        upload.transferTo(target);
        return "/static/logos/" + name;
    }

    public List<String> unpackPackingLists(Long orderId, InputStream in) throws IOException {
        Path folder = Files.createDirectories(folder(orderId).resolve("packing"));
        List<String> names = new ArrayList<>();
        try (ZipInputStream zip = new ZipInputStream(in)) {
            ZipEntry entry;
            while ((entry = zip.getNextEntry()) != null) {
                if (entry.isDirectory()) {
                    continue;
                }
                Path target = folder.resolve(entry.getName());
                Files.createDirectories(target.getParent());
                try (OutputStream out = Files.newOutputStream(target)) {
                    zip.transferTo(out);
                }
                names.add(entry.getName());
            }
        }
        return names;
    }

    public int unpackPictures(Long orderId, InputStream in) throws IOException {
        Path folder = Files.createDirectories(folder(orderId).resolve("pictures"));
        int count = 0;
        try (ZipInputStream zip = new ZipInputStream(in)) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null && count < 200; entry = zip.getNextEntry()) {
                Path target = folder.resolve(entry.getName()).normalize();
                if (entry.isDirectory() || !target.startsWith(folder)) {
                    continue;
                }
                Files.createDirectories(target.getParent());
                Files.copy(zip, target, StandardCopyOption.REPLACE_EXISTING);
                count++;
            }
        }
        return count;
    }

    public void saveNote(String customerCode, String noteName, String text) throws IOException {
        Path notes = root.resolve("notes");
        Path target = Path.of(notes.toString(), customerCode, noteName + ".txt").normalize();
        if (!target.startsWith(notes) || target.getNameCount() != notes.getNameCount() + 2) {
            throw new IOException("note name not allowed");
        }
        Files.createDirectories(target.getParent());
        Files.writeString(target, text);
    }

    public byte[] terms(String language) throws IOException {
        String file = switch (language) {
            case "de" -> "agb.pdf";
            case "fr" -> "conditions.pdf";
            default -> "terms.pdf";
        };
        return Files.readAllBytes(root.resolve("terms").resolve(file));
    }

    public Path folder(Long orderId) {
        return root.resolve("orders").resolve(String.valueOf(orderId));
    }

    private static String suffix(String name) {
        int dot = name == null ? -1 : name.lastIndexOf('.');
        return dot < 0 ? "" : name.substring(dot);
    }
}
