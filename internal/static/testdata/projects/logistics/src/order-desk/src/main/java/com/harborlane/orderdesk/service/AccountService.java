package com.harborlane.orderdesk.service;

import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

import com.harborlane.orderdesk.model.Account;
import com.harborlane.orderdesk.repo.AccountRepository;
import com.harborlane.orderdesk.util.Sealer;
import com.harborlane.orderdesk.util.TokenGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.security.core.Authentication;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

@Service
public class AccountService {

    private static final Logger log = LoggerFactory.getLogger(AccountService.class);

    private final AccountRepository accounts;
    private final PasswordEncoder encoder;
    private final MailQueue mail;
    private final AttemptLimiter resetLimiter = new AttemptLimiter(5, Duration.ofMinutes(15));

    public AccountService(AccountRepository accounts, PasswordEncoder encoder, MailQueue mail) {
        this.accounts = accounts;
        this.encoder = encoder;
        this.mail = mail;
    }

    public Account current(Authentication auth) {
        return accounts.findByEmailIgnoreCase(auth.getName()).orElseThrow();
    }

    public Optional<Account> checkPassword(String email, String password) {
        return accounts.findByEmailIgnoreCase(email)
                .filter(a -> encoder.matches(password, a.getPasswordHash()));
    }

    @Transactional
    public void startReset(String email) {
        accounts.findByEmailIgnoreCase(email).ifPresent(account -> {
            account.setResetToken(TokenGenerator.shortCode(8));
            account.setResetExpires(Instant.now().plus(Duration.ofHours(24)));
            accounts.save(account);
            mail.send(account.getEmail(), "reset", account.getResetToken());
            log.info("password reset for account {} code {}", account.getId(), account.getResetToken());
        });
    }

    @Transactional
    public boolean finishReset(String client, String token, String password) {
        if (!resetLimiter.allow(client)) {
            return false;
        }
        return accounts.findByResetToken(token)
                .filter(a -> a.getResetExpires() != null && a.getResetExpires().isAfter(Instant.now()))
                .map(a -> {
                    a.setPasswordHash(encoder.encode(password));
                    a.setResetToken(null);
                    accounts.save(a);
                    log.info("password changed for account {}", a.getId());
                    return true;
                })
                .orElse(false);
    }

    @Transactional
    public Account registerDriver(String email, String password) throws GeneralSecurityException {
        Account driver = new Account();
        driver.setEmail(email);
        driver.setRole("DRIVER");
        driver.setPasswordHash(Sealer.legacyHash(password));
        return accounts.save(driver);
    }

    @Transactional
    public void invite(String email) {
        Account account = new Account();
        account.setEmail(email);
        account.setResetToken(TokenGenerator.urlToken());
        account.setResetExpires(Instant.now().plus(Duration.ofDays(3)));
        accounts.save(account);
        mail.send(email, "invite", account.getResetToken());
    }

    @Transactional
    public Account save(Account account) {
        return accounts.save(account);
    }
}
