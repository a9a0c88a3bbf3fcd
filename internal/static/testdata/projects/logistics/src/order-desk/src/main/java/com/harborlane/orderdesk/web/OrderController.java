package com.harborlane.orderdesk.web;

import java.io.IOException;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import com.harborlane.orderdesk.dto.OrderForm;
import com.harborlane.orderdesk.model.Account;
import com.harborlane.orderdesk.model.FreightOrder;
import com.harborlane.orderdesk.service.AccountService;
import com.harborlane.orderdesk.service.EdiImport;
import com.harborlane.orderdesk.service.OrderService;
import com.harborlane.orderdesk.service.PricingService;
import jakarta.validation.Valid;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.core.Authentication;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.CookieValue;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseBody;

@Controller
@RequestMapping("/orders")
public class OrderController {

    public record QuoteRequest(String formula, BigDecimal base, BigDecimal weight) {
    }

    private final OrderService orders;
    private final AccountService accounts;
    private final PricingService pricing;
    private final EdiImport edi;

    public OrderController(OrderService orders, AccountService accounts, PricingService pricing, EdiImport edi) {
        this.orders = orders;
        this.accounts = accounts;
        this.pricing = pricing;
        this.edi = edi;
    }

    @GetMapping
    public String list(@RequestParam(defaultValue = "") String ref, Authentication auth, Model model) {
        model.addAttribute("ref", ref);
        model.addAttribute("orders", orders.byReference(accounts.current(auth), ref));
        return "orders";
    }

    @GetMapping("/desk")
    @PreAuthorize("hasAnyRole('CLERK', 'ADMIN')")
    public String desk(@RequestParam Map<String, String> query, Model model) {
        Map<String, String> criteria = new HashMap<>();
        for (String key : List.of("status", "origin")) {
            if (query.get(key) != null && !query.get(key).isEmpty()) {
                criteria.put(key, query.get(key));
            }
        }
        model.addAttribute("orders", orders.search(criteria));
        return "orders";
    }

    @GetMapping("/{id}")
    public String detail(@PathVariable Long id, Authentication auth, Model model) {
        FreightOrder order = orders.findOwn(id, accounts.current(auth));
        model.addAttribute("order", order);
        return "order-detail";
    }

    @GetMapping("/{id}/summary")
    @ResponseBody
    public Map<String, Object> summary(@PathVariable Long id) {
        FreightOrder order = orders.find(id);
        return Map.of("reference", order.getReference(), "price", order.getPrice(), "notes", order.getHandlingNotes());
    }

    @PostMapping
    public String place(@Valid @ModelAttribute OrderForm form, Authentication auth) {
        FreightOrder order = orders.place(accounts.current(auth), form);
        return "redirect:/orders/" + order.getId();
    }

    @PostMapping("/{id}/cancel")
    public String cancel(@PathVariable Long id, @RequestParam String reason, Authentication auth) {
        orders.cancel(orders.findOwn(id, accounts.current(auth)), reason);
        return "redirect:/orders";
    }

    @PostMapping("/ports")
    @ResponseBody
    public List<FreightOrder> byPorts(@RequestBody List<String> ports, @RequestParam String sort, Authentication auth) {
        return orders.byPorts(accounts.current(auth), ports, sort);
    }

    @PostMapping("/quote")
    @ResponseBody
    public BigDecimal quote(@RequestBody QuoteRequest quote) {
        Map<String, Object> values = Map.of("base", quote.base(), "weight", quote.weight());
        return pricing.surcharge(quote.formula(), values);
    }

    @PostMapping("/fuel")
    @ResponseBody
    public BigDecimal fuel(@RequestParam BigDecimal base, @RequestParam BigDecimal percent) {
        return pricing.withFuel(base, percent);
    }

    @PostMapping("/voucher")
    @ResponseBody
    public boolean voucher(@RequestParam String code, Authentication auth) {
        return orders.redeemVoucher(accounts.current(auth).getId(), code);
    }

    @GetMapping("/draft")
    public String draft(@CookieValue(name = "order_draft", required = false) String draft, Model model)
            throws IOException, ClassNotFoundException {
        if (draft != null) {
            model.addAttribute("draft", edi.draft(draft));
        }
        return "order-draft";
    }

    @PostMapping("/profile")
    public String profile(@ModelAttribute("account") Account account) {
        accounts.save(account);
        return "redirect:/orders";
    }

    @PostMapping("/contact")
    public String contact(@RequestParam String phone, Authentication auth) {
        Account account = accounts.current(auth);
        account.setPhone(phone);
        accounts.save(account);
        return "redirect:/orders";
    }
}
