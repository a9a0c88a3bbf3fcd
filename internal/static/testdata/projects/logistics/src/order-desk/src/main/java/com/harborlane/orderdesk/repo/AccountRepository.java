package com.harborlane.orderdesk.repo;

import java.util.Optional;

import com.harborlane.orderdesk.model.Account;
import org.springframework.data.jpa.repository.JpaRepository;

public interface AccountRepository extends JpaRepository<Account, Long> {

    Optional<Account> findByEmailIgnoreCase(String email);

    Optional<Account> findByResetToken(String resetToken);
}
