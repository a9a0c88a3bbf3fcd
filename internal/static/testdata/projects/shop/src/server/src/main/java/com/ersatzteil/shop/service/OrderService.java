package com.ersatzteil.shop.service;

import com.ersatzteil.shop.dto.Dtos.Basket;
import com.ersatzteil.shop.dto.Dtos.OrderCriteria;
import com.ersatzteil.shop.dto.Dtos.OrderRow;
import com.ersatzteil.shop.model.Customer;
import com.ersatzteil.shop.repository.CatalogueDao;
import com.ersatzteil.shop.repository.OrderDao;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.util.Base64;
import java.util.List;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Service;
import org.springframework.web.server.ResponseStatusException;

@Service
public class OrderService {

    private final OrderDao orders;
    private final CatalogueDao customers;
    private final ObjectMapper json = new ObjectMapper();

    public OrderService(OrderDao orders, CatalogueDao customers) {
        this.orders = orders;
        this.customers = customers;
    }

    public Customer customer(String email) {
        return customers.customerByEmail(email);
    }

    public List<OrderRow> list(String email, String term, List<String> states) {
        OrderCriteria criteria = OrderCriteria.of(customer(email).getId()).containing(term).inStates(states);
        return orders.find(criteria);
    }

    public List<OrderRow> openOrders() {
        return orders.inStates(List.of("NEW", "PAID"));
    }

    public OrderRow load(long id) {
        return orders.byId(id);
    }

    public OrderRow loadOwn(long id, String email) {
        OrderRow row = orders.byId(id);
        if (row.customerId() != customer(email).getId()) {
            throw new ResponseStatusException(HttpStatus.NOT_FOUND);
        }
        return row;
    }

    public void cancel(long id, String email) {
        OrderRow row = loadOwn(id, email);
        orders.cancel(row.id());
    }

    public boolean redeem(long orderId, String code, String email) {
        OrderRow row = loadOwn(orderId, email);
        int left = orders.voucherUses(code);
        if (left <= 0) {
            return false;
        }
        orders.addCredit(row.id(), 500);
        orders.setVoucherUses(code, left - 1);
        return true;
    }

    public boolean claimGift(String code, String email) {
        return orders.claimGift(code, customer(email).getId());
    }

    public Basket restore(String stored) {
        byte[] raw = Base64.getUrlDecoder().decode(stored);
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(raw))) {
            return (Basket) in.readObject();
        } catch (IOException | ClassNotFoundException e) {
            return new Basket(List.of());
        }
    }

    public Basket fromJson(String body) {
        try {
            return json.readValue(body, Basket.class);
        } catch (JsonProcessingException e) {
            throw new ResponseStatusException(HttpStatus.BAD_REQUEST);
        }
    }
}
