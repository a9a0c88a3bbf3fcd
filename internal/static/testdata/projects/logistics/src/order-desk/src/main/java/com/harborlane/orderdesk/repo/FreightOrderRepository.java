package com.harborlane.orderdesk.repo;

import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;

import com.harborlane.orderdesk.model.FreightOrder;
import org.springframework.data.domain.Pageable;
import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.repository.query.Param;

public interface FreightOrderRepository extends JpaRepository<FreightOrder, Long>, FreightOrderSearch {

    Optional<FreightOrder> findByIdAndAccountId(Long id, Long accountId);

    @Query("select o from FreightOrder o where o.accountId = :account and lower(o.reference) like lower(concat('%', :ref, '%'))")
    List<FreightOrder> findByReference(@Param("account") Long account, @Param("ref") String ref, Pageable page);

    @Query(value = "select coalesce(sum(price), 0) from freight_order where account_id = ?1 and status = 'OPEN'", nativeQuery = true)
    BigDecimal openTotal(Long accountId);
}
