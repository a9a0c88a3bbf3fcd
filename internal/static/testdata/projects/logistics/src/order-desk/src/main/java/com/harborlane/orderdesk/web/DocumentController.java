package com.harborlane.orderdesk.web;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import com.harborlane.orderdesk.service.AccountService;
import com.harborlane.orderdesk.service.DocumentStore;
import com.harborlane.orderdesk.service.LabelPrinter;
import com.harborlane.orderdesk.service.LabelPrinter.PrintJob;
import com.harborlane.orderdesk.service.OrderService;
import org.springframework.http.ContentDisposition;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.core.Authentication;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.multipart.MultipartFile;

@RestController
@RequestMapping("/documents/{orderId}")
public class DocumentController {

    public record LabelRequest(String printer, int copies, String media) {
    }

    private final DocumentStore store;
    private final LabelPrinter printer;
    private final OrderService orders;
    private final AccountService accounts;

    public DocumentController(DocumentStore store, LabelPrinter printer, OrderService orders, AccountService accounts) {
        this.store = store;
        this.printer = printer;
        this.orders = orders;
        this.accounts = accounts;
    }

    @GetMapping("/file")
    public ResponseEntity<byte[]> file(@PathVariable Long orderId, @RequestParam String name, Authentication auth)
            throws IOException {
        own(orderId, auth);
        return ResponseEntity.ok()
                .header(HttpHeaders.CONTENT_DISPOSITION, ContentDisposition.attachment().filename(name).build().toString())
                .contentType(MediaType.APPLICATION_OCTET_STREAM)
                .body(store.read(orderId, name));
    }

    @GetMapping("/invoice")
    public byte[] invoice(@PathVariable Long orderId, @RequestParam String name, Authentication auth) throws IOException {
        own(orderId, auth);
        return store.readInvoice(orderId, name);
    }

    @GetMapping("/terms")
    public byte[] terms(@PathVariable Long orderId, @RequestParam(defaultValue = "en") String language) throws IOException {
        return store.terms(language);
    }

    @PostMapping("/attachments")
    public String attach(@PathVariable Long orderId, @RequestParam MultipartFile file, Authentication auth) throws IOException {
        own(orderId, auth);
        return store.storeAttachment(orderId, file).getFileName().toString();
    }

    @PostMapping("/pictures")
    public String picture(@PathVariable Long orderId, @RequestParam MultipartFile file, Authentication auth) throws IOException {
        own(orderId, auth);
        return store.storePicture(orderId, file).getFileName().toString();
    }

    @PostMapping("/pictures/archive")
    public int pictures(@PathVariable Long orderId, @RequestParam MultipartFile file, Authentication auth) throws IOException {
        own(orderId, auth);
        return store.unpackPictures(orderId, file.getInputStream());
    }

    @PostMapping("/packing-lists")
    public List<String> packing(@PathVariable Long orderId, @RequestParam MultipartFile archive, Authentication auth)
            throws IOException {
        own(orderId, auth);
        return store.unpackPackingLists(orderId, archive.getInputStream());
    }

    @PostMapping("/logo")
    public Map<String, String> logo(@PathVariable Long orderId, @RequestParam MultipartFile file, Authentication auth)
            throws IOException {
        own(orderId, auth);
        return Map.of("url", store.publishLogo(file));
    }

    @PostMapping("/notes")
    @PreAuthorize("hasRole('CLERK')")
    public void note(@PathVariable Long orderId, @RequestBody Map<String, String> body) throws IOException {
        store.saveNote(body.get("customer"), body.get("name"), body.get("text"));
    }

    @PostMapping("/label")
    public CompletableFuture<Integer> label(@PathVariable Long orderId, @RequestBody LabelRequest request, Authentication auth) {
        own(orderId, auth);
        Path file = store.folder(orderId).resolve("label.pdf");
        return printer.print(new PrintJob(request.printer(), request.copies(), request.media(), file));
    }

    @PostMapping("/label/dock/{dock}")
    @PreAuthorize("hasRole('CLERK')")
    public int dockLabel(@PathVariable Long orderId, @PathVariable String dock, @RequestParam(defaultValue = "1") int copies)
            throws IOException, InterruptedException {
        return printer.printAtDock(dock, store.folder(orderId).resolve("label.pdf"), copies);
    }

    @DeleteMapping("/label")
    public boolean dropLabel(@PathVariable Long orderId, Authentication auth) {
        own(orderId, auth);
        return store.folder(orderId).resolve("label.pdf").toFile().delete();
    }

    private void own(Long orderId, Authentication auth) {
        orders.findOwn(orderId, accounts.current(auth));
    }
}
