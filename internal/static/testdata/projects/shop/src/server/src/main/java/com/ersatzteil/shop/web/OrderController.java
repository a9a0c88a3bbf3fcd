package com.ersatzteil.shop.web;

import com.ersatzteil.shop.dto.Dtos.Basket;
import com.ersatzteil.shop.dto.Dtos.OrderRow;
import com.ersatzteil.shop.service.DocumentService;
import com.ersatzteil.shop.service.OrderService;
import java.io.IOException;
import java.security.Principal;
import java.util.List;
import java.util.Map;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.CookieValue;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.view.JstlView;

@RestController
@RequestMapping("/api/orders")
public class OrderController {

    private final OrderService orders;
    private final DocumentService documents;

    public OrderController(OrderService orders, DocumentService documents) {
        this.orders = orders;
        this.documents = documents;
    }

    @GetMapping
    public List<OrderRow> list(@RequestParam(required = false) String term,
                               @RequestParam(required = false) List<String> state, Principal principal) {
        return orders.list(principal.getName(), term, state);
    }

    @GetMapping("/page")
    public ModelAndView page(@RequestParam(defaultValue = "") String term, Principal principal) {
        ModelAndView view = new ModelAndView(new JstlView("/WEB-INF/jsp/orders.jsp"));
        view.addObject("orders", orders.list(principal.getName(), term, null));
        view.addObject("customerName", orders.customer(principal.getName()).getName());
        view.addObject("term", term);
        return view;
    }

    @GetMapping("/{id}")
    public OrderRow one(@PathVariable long id, Principal principal) {
        return orders.loadOwn(id, principal.getName());
    }

    @GetMapping("/{id}/invoice")
    public ResponseEntity<byte[]> invoice(@PathVariable long id) throws IOException {
        OrderRow row = orders.load(id);
        return ResponseEntity.ok().contentType(MediaType.APPLICATION_PDF).body(documents.invoice(row.id()));
    }

    @DeleteMapping("/{id}")
    public void cancel(@PathVariable long id, Principal principal) {
        orders.cancel(id, principal.getName());
    }

    @PostMapping("/{id}/voucher")
    public Map<String, Boolean> voucher(@PathVariable long id, @RequestParam String code, Principal principal) {
        return Map.of("accepted", orders.redeem(id, code, principal.getName()));
    }

    @PostMapping("/gift")
    public Map<String, Boolean> gift(@RequestParam String code, Principal principal) {
        return Map.of("accepted", orders.claimGift(code, principal.getName()));
    }

    @GetMapping("/basket")
    public Basket basket(@CookieValue(name = "basket", defaultValue = "") String stored) {
        return stored.isEmpty() ? new Basket(List.of()) : orders.restore(stored);
    }

    @PostMapping("/basket")
    public Basket replace(@RequestBody String body) {
        return orders.fromJson(body);
    }
}
