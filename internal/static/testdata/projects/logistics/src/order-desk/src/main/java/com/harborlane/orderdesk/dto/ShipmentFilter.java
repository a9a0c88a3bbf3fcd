package com.harborlane.orderdesk.dto;

import java.time.LocalDate;

import org.springframework.format.annotation.DateTimeFormat;

/** Bound from the query string of the shipment list. */
public class ShipmentFilter {

    private String carrier;
    private String vessel;
    private String sort = "eta";
    private String direction = "asc";
    private Integer limit = 50;

    @DateTimeFormat(iso = DateTimeFormat.ISO.DATE)
    private LocalDate etaFrom;

    public String getCarrier() { return carrier; }
    public void setCarrier(String carrier) { this.carrier = carrier; }
    public String getVessel() { return vessel; }
    public void setVessel(String vessel) { this.vessel = vessel; }
    public String getSort() { return sort; }
    public void setSort(String sort) { this.sort = sort; }
    public String getDirection() { return direction; }
    public void setDirection(String direction) { this.direction = direction; }
    public Integer getLimit() { return limit; }
    public void setLimit(Integer limit) { this.limit = limit; }
    public LocalDate getEtaFrom() { return etaFrom; }
    public void setEtaFrom(LocalDate etaFrom) { this.etaFrom = etaFrom; }
}
