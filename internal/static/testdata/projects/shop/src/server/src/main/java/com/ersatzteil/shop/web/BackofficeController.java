package com.ersatzteil.shop.web;

import com.ersatzteil.shop.dto.Dtos.DiscountRule;
import com.ersatzteil.shop.dto.Dtos.ImageRequest;
import com.ersatzteil.shop.dto.Dtos.LabelJob;
import com.ersatzteil.shop.dto.Dtos.OrderRow;
import com.ersatzteil.shop.service.DocumentService;
import com.ersatzteil.shop.service.ImportService;
import com.ersatzteil.shop.service.OrderService;
import com.ersatzteil.shop.service.PartService;
import com.ersatzteil.shop.service.SupplierClient;
import jakarta.validation.Valid;
import java.io.IOException;
import java.security.Principal;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import javax.xml.stream.XMLStreamException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.multipart.MultipartFile;

@RestController
public class BackofficeController {

    private static final Logger LOG = LoggerFactory.getLogger(BackofficeController.class);

    private final PartService parts;
    private final OrderService orders;
    private final ImportService imports;
    private final DocumentService documents;
    private final SupplierClient suppliers;

    public BackofficeController(PartService parts, OrderService orders, ImportService imports,
                                DocumentService documents, SupplierClient suppliers) {
        this.parts = parts;
        this.orders = orders;
        this.imports = imports;
        this.documents = documents;
        this.suppliers = suppliers;
    }

    @PostMapping("/api/stock/{id}")
    public Map<String, Integer> adjust(@PathVariable long id, @RequestParam int delta) {
        return Map.of("changed", parts.adjustStock(id, delta));
    }

    @PostMapping("/backoffice/rules")
    public void rule(@RequestBody DiscountRule rule) {
        parts.saveRule(rule);
    }

    @PostMapping("/backoffice/rules/{name}/check/{number}")
    public Map<String, Boolean> check(@PathVariable String name, @PathVariable String number, Principal principal) {
        return Map.of("applies", parts.applies(name, parts.part(number), orders.customer(principal.getName())));
    }

    @PostMapping("/backoffice/labels")
    public void label(@Valid @RequestBody LabelJob job) {
        documents.printLabel(job).thenAccept(code -> LOG.info("label printer ended with {}", code));
    }

    @PostMapping("/backoffice/labels/file")
    public int labelFile(@Valid @RequestBody LabelJob job) throws IOException, InterruptedException {
        return documents.printFile(job);
    }

    @PostMapping("/backoffice/catalogue")
    public List<String> catalogue(@RequestParam MultipartFile file) throws IOException {
        return imports.supplierCatalogue(file.getInputStream());
    }

    @PostMapping("/backoffice/delivery")
    public Map<String, Object> delivery(@RequestParam MultipartFile file) throws IOException, XMLStreamException {
        return Map.of("number", imports.deliveryNote(file.getInputStream()),
            "items", imports.countItems(file.getInputStream()));
    }

    @PostMapping("/backoffice/images")
    public int images(@RequestParam MultipartFile file) throws IOException {
        return imports.imageBundle(file.getInputStream()).size();
    }

    @PostMapping("/backoffice/manuals")
    public void manuals(@RequestParam MultipartFile file) throws IOException {
        imports.manualBundle(file.getInputStream());
    }

    @PostMapping("/backoffice/datasheets")
    public Map<String, String> datasheet(@RequestParam MultipartFile file) throws IOException {
        return Map.of("name", documents.storeDatasheet(file));
    }

    @PostMapping("/backoffice/preview")
    public ResponseEntity<byte[]> preview(@RequestBody ImageRequest request) throws IOException {
        byte[] image = suppliers.previewImage(request.sourceUrl());
        return ResponseEntity.ok().contentType(MediaType.IMAGE_JPEG).body(image);
    }

    @PostMapping("/backoffice/partner-image")
    public ResponseEntity<byte[]> partnerImage(@RequestBody ImageRequest request) throws IOException, InterruptedException {
        byte[] image = suppliers.partnerImage(request.sourceUrl());
        return ResponseEntity.ok().contentType(MediaType.IMAGE_JPEG).body(image);
    }

    @PostMapping("/backoffice/exports")
    public void export(@RequestParam String name) throws IOException {
        List<String> lines = orders.openOrders().stream().map(BackofficeController::csv).toList();
        documents.writeExport(name, lines);
    }

    @PreAuthorize("hasRole('STAFF')")
    @PostMapping("/api/dealer/stock/{id}")
    public String dealerStock(@PathVariable long id) throws IOException, InterruptedException {
        LOG.info("stock query for part {}", id);
        return suppliers.dealerStock(id);
    }

    private static String csv(OrderRow row) {
        return row.id() + ";" + row.status() + ";" + row.totalCents();
    }

    @ExceptionHandler(IOException.class)
    public ResponseEntity<String> failed(IOException e) {
        String reference = UUID.randomUUID().toString();
        LOG.error("back office request failed, reference {}", reference, e);
        return ResponseEntity.status(HttpStatus.BAD_GATEWAY).body("Fehler " + reference);
    }
}
