package com.ersatzteil.shop.repository;

import com.ersatzteil.shop.dto.Dtos.PartRow;
import com.ersatzteil.shop.dto.Dtos.PartSearch;
import com.ersatzteil.shop.dto.Dtos.SalesOrder;
import java.time.LocalDate;
import java.util.List;
import org.apache.ibatis.annotations.Mapper;
import org.apache.ibatis.annotations.Param;
import org.apache.ibatis.annotations.Select;

@Mapper
public interface PartMapper {

    List<PartRow> search(@Param("q") PartSearch q);

    List<PartRow> byNumbers(@Param("numbers") List<String> numbers);

    List<PartRow> topSellers(@Param("since") LocalDate since, @Param("order") SalesOrder order);

    int adjustStock(@Param("id") long id, @Param("delta") int delta);

    @Select("SELECT DISTINCT brand FROM parts WHERE brand LIKE #{prefix} || '%' ORDER BY brand")
    List<String> brands(@Param("prefix") String prefix);
}
