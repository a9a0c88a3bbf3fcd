package com.harborlane.orderdesk.repo;

import java.util.List;
import java.util.Map;

import com.harborlane.orderdesk.model.FreightOrder;

public interface FreightOrderSearch {

    List<FreightOrder> search(Map<String, String> criteria);

    List<FreightOrder> byPorts(Long accountId, List<String> ports, String sort);
}
