package com.ersatzteil.shop.web;

import com.ersatzteil.shop.dto.Dtos.AddressForm;
import com.ersatzteil.shop.dto.Dtos.Credentials;
import com.ersatzteil.shop.model.Customer;
import com.ersatzteil.shop.repository.CatalogueDao;
import com.ersatzteil.shop.service.TokenService;
import com.ersatzteil.shop.util.CryptoBox;
import com.nimbusds.jose.JOSEException;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.validation.Valid;
import java.security.Principal;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.BeanUtils;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseCookie;
import org.springframework.http.ResponseEntity;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.authority.SimpleGrantedAuthority;
import org.springframework.security.core.context.SecurityContext;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.web.context.HttpSessionSecurityContextRepository;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.view.RedirectView;

@RestController
public class AccountController {

    private static final Logger LOG = LoggerFactory.getLogger(AccountController.class);
    private static final int MAX_ATTEMPTS = 5;

    private final CatalogueDao customers;
    private final CryptoBox crypto;
    private final TokenService tokens;
    private final HttpSessionSecurityContextRepository sessions = new HttpSessionSecurityContextRepository();
    private final Map<String, AtomicInteger> pickupAttempts = new ConcurrentHashMap<>();

    public AccountController(CatalogueDao customers, CryptoBox crypto, TokenService tokens) {
        this.customers = customers;
        this.crypto = crypto;
        this.tokens = tokens;
    }

    @PostMapping("/api/account/login")
    public Map<String, String> login(@RequestBody Credentials form, HttpServletRequest request, HttpServletResponse response) {
        Customer customer = customers.customerByEmail(form.email());
        if (customer == null || !crypto.matches(form.password(), customer.getPasswordHash())) {
            LOG.debug("sign-in rejected for {}", form);
            throw new ResponseStatusException(HttpStatus.UNAUTHORIZED);
        }
        request.getSession(true);
        request.changeSessionId();
        openSession(customer, request, response);
        LOG.info("sign-in of customer {}", customer.getId());
        return Map.of("name", customer.getName());
    }

    private void openSession(Customer customer, HttpServletRequest request, HttpServletResponse response) {
        SecurityContext context = SecurityContextHolder.createEmptyContext();
        context.setAuthentication(UsernamePasswordAuthenticationToken.authenticated(customer.getEmail(), null,
            List.of(new SimpleGrantedAuthority("ROLE_" + customer.getRole()))));
        sessions.saveContext(context, request, response);
    }

    @PostMapping("/api/account/pickup")
    public Map<String, Boolean> pickup(@RequestParam String email, @RequestParam String pin) {
        AtomicInteger attempts = pickupAttempts.computeIfAbsent(email, k -> new AtomicInteger());
        if (attempts.incrementAndGet() > MAX_ATTEMPTS) {
            throw new ResponseStatusException(HttpStatus.TOO_MANY_REQUESTS);
        }
        Customer customer = customers.customerByEmail(email);
        return Map.of("ok", customer != null && crypto.matches(pin, customer.getPasswordHash()));
    }

    @PutMapping("/api/account/profile")
    @Transactional
    public void profile(@ModelAttribute Customer form, Principal principal) {
        Customer stored = customers.customerByEmail(principal.getName());
        BeanUtils.copyProperties(form, stored, "id", "email", "passwordHash");
        customers.save(stored);
    }

    @PutMapping("/api/account/address")
    @Transactional
    public void address(@Valid @RequestBody AddressForm form, Principal principal) {
        Customer stored = customers.customerByEmail(principal.getName());
        stored.setStreet(form.street());
        stored.setCity(form.city());
        stored.setZip(form.zip());
        customers.save(stored);
    }

    @PostMapping("/api/account/reset")
    @Transactional
    public void reset(@RequestParam String email) {
        Customer customer = customers.customerByEmail(email);
        if (customer != null) {
            customer.setResetToken(crypto.resetToken());
            customers.save(customer);
        }
    }

    @PostMapping("/api/dealer/session")
    public void dealerSession(@RequestHeader("Authorization") String header, HttpServletResponse response) throws JOSEException {
        String dealer = tokens.dealer(header.substring("Bearer ".length()))
            .orElseThrow(() -> new ResponseStatusException(HttpStatus.UNAUTHORIZED));
        Cookie cookie = new Cookie("DEALER", tokens.issue(dealer));
        cookie.setPath("/");
        cookie.setHttpOnly(true);
        response.addCookie(cookie);
    }

    @PostMapping("/api/account/remember")
    public ResponseEntity<Void> remember() {
        ResponseCookie cookie = ResponseCookie.from("remember", crypto.dealerSession())
            .httpOnly(true).secure(true).sameSite("Strict").path("/").build();
        return ResponseEntity.noContent().header(HttpHeaders.SET_COOKIE, cookie.toString()).build();
    }

    @GetMapping("/continue")
    public RedirectView proceed(@RequestParam(defaultValue = "/") String to) {
        RedirectView view = new RedirectView();
        view.setUrl(to);
        return view;
    }

    @GetMapping("/api/account/back")
    public RedirectView back(@RequestParam(defaultValue = "start") String page) {
        String target = switch (page) {
            case "orders" -> "/#/orders";
            case "basket" -> "/#/basket";
            default -> "/";
        };
        return new RedirectView(target);
    }
}
