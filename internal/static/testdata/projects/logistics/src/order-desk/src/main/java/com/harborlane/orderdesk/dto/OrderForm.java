package com.harborlane.orderdesk.dto;

import java.math.BigDecimal;

import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Pattern;
import jakarta.validation.constraints.Positive;
import jakarta.validation.constraints.Size;

public record OrderForm(
        @NotBlank @Size(max = 40) String reference,
        @Pattern(regexp = "[A-Z]{5}") String originPort,
        @Pattern(regexp = "[A-Z]{5}") String destinationPort,
        @NotNull @Positive BigDecimal price,
        @Size(max = 4000) String handlingNotes) {
}
