package com.ersatzteil.shop.repository;

import com.ersatzteil.shop.model.Customer;
import com.ersatzteil.shop.model.Part;
import jakarta.persistence.EntityManager;
import jakarta.persistence.PersistenceContext;
import jakarta.persistence.criteria.CriteriaBuilder;
import jakarta.persistence.criteria.CriteriaQuery;
import jakarta.persistence.criteria.Root;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.StringJoiner;
import org.springframework.stereotype.Repository;

@Repository
public class CatalogueDao {

    private static final Set<String> SORTABLE = Set.of("name", "brand", "priceCents");

    @PersistenceContext
    private EntityManager em;

    public List<Part> fitting(Map<String, String> attributes) {
        StringJoiner where = new StringJoiner(" and ");
        where.add("p.stock > 0");
        attributes.forEach((field, value) -> {
            if (Set.of("brand", "vehicle", "name").contains(field)) {
                where.add("lower(p." + field + ") = '" + value.toLowerCase() + "'");
            }
        });
        return em.createQuery("select p from Part p where " + where, Part.class)
            .setMaxResults(100)
            .getResultList();
    }

    public List<Part> sortedBy(String brand, String property) {
        String by = SORTABLE.contains(property) ? property : "name";
        return em.createQuery("select p from Part p where p.brand = :brand order by p." + by, Part.class)
            .setParameter("brand", brand)
            .getResultList();
    }

    public List<Part> cheaperThan(long cents, String vehicle) {
        CriteriaBuilder cb = em.getCriteriaBuilder();
        CriteriaQuery<Part> query = cb.createQuery(Part.class);
        Root<Part> part = query.from(Part.class);
        query.where(cb.lessThan(part.get("priceCents"), cents), cb.equal(part.get("vehicle"), vehicle));
        return em.createQuery(query).setMaxResults(50).getResultList();
    }

    public Optional<Part> byNumber(String number) {
        return em.createNativeQuery("SELECT * FROM parts WHERE number = ?1", Part.class)
            .setParameter(1, number)
            .getResultStream().findFirst();
    }

    public Customer customerByEmail(String email) {
        return em.createQuery("from Customer c where c.email = :email", Customer.class)
            .setParameter("email", email)
            .getResultStream().findFirst().orElse(null);
    }

    public void save(Customer customer) {
        em.merge(customer);
    }
}
