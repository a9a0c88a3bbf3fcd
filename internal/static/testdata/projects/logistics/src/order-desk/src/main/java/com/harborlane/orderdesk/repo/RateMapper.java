package com.harborlane.orderdesk.repo;

import java.util.List;
import java.util.Map;

import org.apache.ibatis.annotations.Mapper;
import org.apache.ibatis.annotations.Param;
import org.apache.ibatis.annotations.Select;

@Mapper
public interface RateMapper {

    List<Map<String, Object>> findRates(@Param("origin") String origin, @Param("destination") String destination,
                                        @Param("surcharges") List<String> surcharges);

    List<Map<String, Object>> searchRates(Map<String, Object> query);

    List<Map<String, Object>> sortedRates(@Param("lane") Long lane, @Param("order") String order);

    @Select("select * from rate_card where valid_until >= current_date and equipment = '${equipment}'")
    List<Map<String, Object>> cardsFor(@Param("equipment") String equipment);

    @Select("select * from rate_card where id = #{id}")
    Map<String, Object> card(@Param("id") Long id);
}
