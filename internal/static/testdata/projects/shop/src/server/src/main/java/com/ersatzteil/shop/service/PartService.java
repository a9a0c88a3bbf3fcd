package com.ersatzteil.shop.service;

import com.ersatzteil.shop.dto.Dtos.DiscountRule;
import com.ersatzteil.shop.dto.Dtos.PartRow;
import com.ersatzteil.shop.dto.Dtos.PartSearch;
import com.ersatzteil.shop.dto.Dtos.SalesOrder;
import com.ersatzteil.shop.model.Customer;
import com.ersatzteil.shop.model.Part;
import com.ersatzteil.shop.repository.CatalogueDao;
import com.ersatzteil.shop.repository.PartMapper;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jsoup.Jsoup;
import org.jsoup.safety.Safelist;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.ExpressionParser;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.SimpleEvaluationContext;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.stereotype.Service;

@Service
public class PartService {

    private static final String BULK_CONDITION = "stock > 100 and priceCents < 5000";

    private final PartMapper mapper;
    private final CatalogueDao catalogue;
    private final ExpressionParser parser = new SpelExpressionParser();
    private final Map<String, DiscountRule> rules = new ConcurrentHashMap<>();

    public PartService(PartMapper mapper, CatalogueDao catalogue) {
        this.mapper = mapper;
        this.catalogue = catalogue;
    }

    public List<PartRow> search(PartSearch search) {
        return mapper.search(search);
    }

    public List<PartRow> topSellers(SalesOrder order) {
        return mapper.topSellers(LocalDate.now().minusDays(30), order);
    }

    public List<Part> fitting(Map<String, String> attributes) {
        return catalogue.fitting(attributes);
    }

    public Part part(String number) {
        return catalogue.byNumber(number).orElseThrow();
    }

    public String description(Part part) {
        String raw = part.getDescription() == null ? "" : part.getDescription();
        return Jsoup.clean(raw, Safelist.basic());
    }

    public void saveRule(DiscountRule rule) {
        rules.put(rule.name(), rule);
    }

    public boolean applies(String ruleName, Part part, Customer customer) {
        DiscountRule rule = rules.get(ruleName);
        if (rule == null) {
            return false;
        }
        StandardEvaluationContext context = new StandardEvaluationContext(part);
        context.setVariable("customer", customer);
        return Boolean.TRUE.equals(parser.parseExpression(rule.condition()).getValue(context, Boolean.class));
    }

    public boolean bulkware(Part part) {
        EvaluationContext context = SimpleEvaluationContext.forReadOnlyDataBinding().withRootObject(part).build();
        return Boolean.TRUE.equals(parser.parseExpression(BULK_CONDITION).getValue(context, Boolean.class));
    }

    public int adjustStock(long id, int delta) {
        return mapper.adjustStock(id, delta);
    }

    public List<String> brands(String prefix) {
        return mapper.brands(prefix);
    }
}
