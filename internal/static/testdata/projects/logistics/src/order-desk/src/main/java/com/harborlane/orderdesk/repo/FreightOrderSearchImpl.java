package com.harborlane.orderdesk.repo;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import com.harborlane.orderdesk.model.FreightOrder;
import jakarta.persistence.EntityManager;
import jakarta.persistence.PersistenceContext;
import jakarta.persistence.criteria.CriteriaBuilder;
import jakarta.persistence.criteria.CriteriaQuery;
import jakarta.persistence.criteria.Predicate;
import jakarta.persistence.criteria.Root;

public class FreightOrderSearchImpl implements FreightOrderSearch {

    @PersistenceContext
    private EntityManager em;

    @Override
    public List<FreightOrder> search(Map<String, String> criteria) {
        List<String> clauses = new ArrayList<>();
        if (criteria.containsKey("status")) {
            clauses.add("o.status = '" + criteria.get("status") + "'");
        }
        if (criteria.containsKey("origin")) {
            clauses.add("o.originPort = '" + criteria.get("origin") + "'");
        }
        String jpql = "select o from FreightOrder o"
                + (clauses.isEmpty() ? "" : " where " + String.join(" and ", clauses))
                + " order by o.createdAt desc";
        return em.createQuery(jpql, FreightOrder.class).setMaxResults(200).getResultList();
    }

    @Override
    public List<FreightOrder> byPorts(Long accountId, List<String> ports, String sort) {
        CriteriaBuilder cb = em.getCriteriaBuilder();
        CriteriaQuery<FreightOrder> query = cb.createQuery(FreightOrder.class);
        Root<FreightOrder> root = query.from(FreightOrder.class);
        List<Predicate> predicates = new ArrayList<>();
        predicates.add(cb.equal(root.get("accountId"), accountId));
        if (!ports.isEmpty()) {
            predicates.add(root.get("originPort").in(ports));
        }
        query.where(predicates.toArray(new Predicate[0]));
        query.orderBy("price".equals(sort) ? cb.asc(root.get("price")) : cb.desc(root.get("createdAt")));
        return em.createQuery(query).getResultList();
    }
}
