package com.ersatzteil.shop.web;

import com.ersatzteil.shop.dto.Dtos.PartRow;
import com.ersatzteil.shop.dto.Dtos.PartSearch;
import com.ersatzteil.shop.dto.Dtos.ReviewForm;
import com.ersatzteil.shop.dto.Dtos.SalesOrder;
import com.ersatzteil.shop.model.Part;
import com.ersatzteil.shop.repository.CatalogueDao;
import com.ersatzteil.shop.repository.OrderDao;
import com.ersatzteil.shop.service.DocumentService;
import com.ersatzteil.shop.service.PartService;
import jakarta.validation.Valid;
import java.io.IOException;
import java.security.Principal;
import java.util.List;
import java.util.Map;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.multipart.MultipartFile;
import org.springframework.web.util.HtmlUtils;

@Controller
public class PartController {

    private final PartService parts;
    private final CatalogueDao catalogue;
    private final OrderDao reviews;
    private final DocumentService documents;

    public PartController(PartService parts, CatalogueDao catalogue, OrderDao reviews, DocumentService documents) {
        this.parts = parts;
        this.catalogue = catalogue;
        this.reviews = reviews;
        this.documents = documents;
    }

    @GetMapping("/api/parts")
    @ResponseBody
    public List<PartRow> search(@ModelAttribute PartSearch search) {
        return parts.search(search);
    }

    @GetMapping("/api/parts/fitting")
    @ResponseBody
    public List<Part> fitting(@RequestParam Map<String, String> attributes) {
        return parts.fitting(attributes);
    }

    @GetMapping("/api/parts/brand/{brand}")
    @ResponseBody
    public List<Part> ofBrand(@PathVariable String brand, @RequestParam(defaultValue = "name") String sort) {
        return catalogue.sortedBy(brand, sort);
    }

    @GetMapping("/api/parts/cheap")
    @ResponseBody
    public List<Part> cheap(@RequestParam long cents, @RequestParam String vehicle) {
        return catalogue.cheaperThan(cents, vehicle);
    }

    @GetMapping("/api/parts/feed")
    @ResponseBody
    public List<PartRow> feed(@RequestParam(defaultValue = "UNITS") SalesOrder order) {
        return parts.topSellers(order);
    }

    @GetMapping("/parts/{number}")
    public String page(@PathVariable String number, @RequestParam(defaultValue = "") String text, Model model) {
        Part part = parts.part(number);
        model.addAttribute("part", part);
        model.addAttribute("description", parts.description(part));
        model.addAttribute("reviews", reviews.reviews(number));
        model.addAttribute("searched", text);
        return "part";
    }

    @GetMapping("/api/parts/{number}/reviews")
    @ResponseBody
    public List<?> reviews(@PathVariable String number) {
        return reviews.reviews(number);
    }

    @PostMapping("/api/parts/{number}/reviews")
    @ResponseBody
    public void review(@PathVariable String number, @Valid @RequestBody ReviewForm form, Principal principal) {
        reviews.addReview(number, principal.getName(), form.text());
    }

    @PostMapping("/api/parts/{number}/photos")
    @ResponseBody
    public Map<String, String> photo(@PathVariable String number, @RequestParam MultipartFile file) throws IOException {
        return Map.of("url", documents.storePhoto(number, file));
    }

    @GetMapping("/api/parts/datasheets/{name}")
    public ResponseEntity<byte[]> datasheet(@PathVariable String name) throws IOException {
        return ResponseEntity.ok().contentType(MediaType.APPLICATION_PDF).body(documents.datasheet(name));
    }

    @GetMapping(value = "/parts/none", produces = MediaType.TEXT_HTML_VALUE)
    @ResponseBody
    public String none(@RequestParam String text) {
        return "<p>Nichts gefunden zu <b>" + HtmlUtils.htmlEscape(text) + "</b></p>";
    }

    @GetMapping("/api/parts/brands")
    @ResponseBody
    public List<String> brands(@RequestParam String prefix) {
        return parts.brands(prefix);
    }
}
