package com.harborlane.orderdesk.service;

import java.math.BigDecimal;
import java.util.Map;

import org.springframework.expression.EvaluationContext;
import org.springframework.expression.ExpressionParser;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.SimpleEvaluationContext;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.stereotype.Service;

@Service
public class PricingService {

    private static final String FUEL_FORMULA = "#base * (1 + #fuel / 100)";

    private final ExpressionParser parser = new SpelExpressionParser();

    public BigDecimal surcharge(String formula, Map<String, Object> values) {
        StandardEvaluationContext context = new StandardEvaluationContext();
        values.forEach(context::setVariable);
        return parser.parseExpression(formula).getValue(context, BigDecimal.class);
    }

    public BigDecimal withFuel(BigDecimal base, BigDecimal fuel) {
        EvaluationContext context = SimpleEvaluationContext.forReadOnlyDataBinding().build();
        context.setVariable("base", base);
        context.setVariable("fuel", fuel);
        return parser.parseExpression(FUEL_FORMULA).getValue(context, BigDecimal.class);
    }
}
