package com.ersatzteil.shop.dto;

import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.Size;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

public final class Dtos {

    private Dtos() {
    }

    public record PartRow(long id, String number, String name, String brand, long priceCents, int stock) {
    }

    public record OrderRow(long id, long customerId, String status, String note, long totalCents) {
    }

    public record Review(String author, String text) {
    }

    public record Credentials(String email, String password) {
    }

    public record AddressForm(@NotBlank @Size(max = 120) String street, @NotBlank String city, @NotBlank String zip) {
    }

    public record ReviewForm(@NotBlank @Size(max = 4000) String text) {
    }

    public record ImageRequest(String sourceUrl) {
    }

    public record LabelJob(String printer, String text, @Min(1) @Max(50) int copies) {
    }

    public record DiscountRule(String name, String condition) {
    }

    public record Basket(List<Line> lines) implements Serializable {
    }

    public record Line(String number, int quantity) implements Serializable {
    }

    public enum SalesOrder {
        UNITS("sum(s.units)"),
        REVENUE("sum(s.units * p.price_cents)");

        private final String column;

        SalesOrder(String column) {
            this.column = column;
        }

        public String getColumn() {
            return column;
        }
    }

    public static class PartSearch {
        private String text;
        private String brand;
        private Long maxCents;
        private String sort = "p.name";
        private int page;
        private int size = 24;

        public String getText() {
            return text;
        }

        public void setText(String text) {
            this.text = text;
        }

        public String getBrand() {
            return brand;
        }

        public void setBrand(String brand) {
            this.brand = brand;
        }

        public Long getMaxCents() {
            return maxCents;
        }

        public void setMaxCents(Long maxCents) {
            this.maxCents = maxCents;
        }

        public String getSort() {
            return sort;
        }

        public void setSort(String sort) {
            this.sort = sort;
        }

        public int getPage() {
            return page;
        }

        public void setPage(int page) {
            this.page = Math.max(page, 0);
        }

        public int getSize() {
            return size;
        }

        public void setSize(int size) {
            this.size = Math.min(Math.max(size, 1), 100);
        }

        public int getOffset() {
            return page * size;
        }
    }

    public static class OrderCriteria {
        private Long customerId;
        private String term;
        private final List<String> states = new ArrayList<>();

        public static OrderCriteria of(long customerId) {
            OrderCriteria c = new OrderCriteria();
            c.customerId = customerId;
            return c;
        }

        public OrderCriteria containing(String value) {
            this.term = value == null || value.isBlank() ? null : value.trim();
            return this;
        }

        public OrderCriteria inStates(List<String> values) {
            if (values != null) {
                states.addAll(values);
            }
            return this;
        }

        public Long customerId() {
            return customerId;
        }

        public String term() {
            return term;
        }

        public List<String> states() {
            return states;
        }
    }
}
