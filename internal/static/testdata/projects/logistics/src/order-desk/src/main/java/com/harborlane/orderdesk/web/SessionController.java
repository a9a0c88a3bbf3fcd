package com.harborlane.orderdesk.web;

import java.util.List;
import java.util.Optional;

import com.harborlane.orderdesk.model.Account;
import com.harborlane.orderdesk.service.AccountService;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ResponseCookie;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.authority.SimpleGrantedAuthority;
import org.springframework.security.core.context.SecurityContext;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.web.context.HttpSessionSecurityContextRepository;
import org.springframework.security.web.context.SecurityContextRepository;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;

@Controller
public class SessionController {

    private static final Logger log = LoggerFactory.getLogger(SessionController.class);

    private final AccountService accounts;
    private final SecurityContextRepository contexts = new HttpSessionSecurityContextRepository();

    public SessionController(AccountService accounts) {
        this.accounts = accounts;
    }

    @GetMapping("/login")
    public String form(@RequestParam(required = false) String next, Model model) {
        model.addAttribute("next", next);
        return "login";
    }

    @PostMapping("/login")
    public String login(@RequestParam String email, @RequestParam String password,
                        @RequestParam(required = false) String next, HttpServletRequest request,
                        HttpServletResponse response, Model model) {
        Optional<Account> account = accounts.checkPassword(email, password);
        if (account.isEmpty()) {
            log.info("login failed for {}", email.replaceAll("[\\r\\n]", ""));
            model.addAttribute("message", "Email or password is wrong");
            return "login";
        }
        request.getSession(true);
        request.changeSessionId();
        SecurityContext context = SecurityContextHolder.createEmptyContext();
        context.setAuthentication(new UsernamePasswordAuthenticationToken(account.get().getEmail(), null,
                List.of(new SimpleGrantedAuthority("ROLE_" + account.get().getRole()))));
        contexts.saveContext(context, request, response);

        Cookie device = new Cookie("desk_device", accountsDevice(account.get()));
        device.setPath("/");
        device.setMaxAge(60 * 60 * 24 * 90);
        device.setSecure(false);
        response.addCookie(device);
        return afterLogin(next);
    }

    @PostMapping("/account/language")
    public String language(@RequestParam String lang, @RequestParam(defaultValue = "/orders") String back,
                           HttpServletResponse response) {
        ResponseCookie cookie = ResponseCookie.from("lang", "de".equals(lang) ? "de" : "en")
                .secure(true).httpOnly(true).sameSite("Lax").path("/").build();
        response.addHeader(HttpHeaders.SET_COOKIE, cookie.toString());
        if (!back.matches("/[a-z]+(/[0-9]+)?")) {
            back = "/orders";
        }
        return "redirect:" + back;
    }

    @PostMapping("/account/forgot")
    public String forgot(@RequestParam String email) {
        accounts.startReset(email);
        return "redirect:/login?sent";
    }

    @PostMapping("/account/reset")
    public String reset(@RequestParam String token, @RequestParam String password, HttpServletRequest request) {
        return accounts.finishReset(request.getRemoteAddr(), token, password) ? "redirect:/login" : "redirect:/account/forgot";
    }

    private String afterLogin(String next) {
        if (next == null || next.isBlank()) {
            return "redirect:/orders";
        }
        return "redirect:" + next;
    }

    private String accountsDevice(Account account) {
        return account.getId() + "." + com.harborlane.orderdesk.util.TokenGenerator.urlToken();
    }
}
