package com.ersatzteil.shop.web;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.annotation.WebFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

@WebFilter("/*")
public class TraceFilter implements Filter {

    private static final Logger LOG = LoggerFactory.getLogger(TraceFilter.class);

    @Override
    public void doFilter(ServletRequest req, ServletResponse res, FilterChain chain) throws IOException, ServletException {
        HttpServletRequest request = (HttpServletRequest) req;
        HttpServletResponse response = (HttpServletResponse) res;
        String campaign = request.getParameter("campaign");
        if (campaign != null) {
            LOG.info("visit through campaign " + campaign);
        }
        String referrer = clean(request.getHeader("Referer"));
        LOG.debug("request from {}", referrer);
        MDC.put("trace", Long.toHexString(System.nanoTime()));
        response.setHeader("X-Content-Type-Options", "nosniff");
        try {
            chain.doFilter(request, response);
        } finally {
            MDC.remove("trace");
        }
    }

    private static String clean(String value) {
        if (value == null) {
            return "-";
        }
        String flat = value.replaceAll("[\\p{Cntrl}\\u2028\\u2029]", "_");
        return flat.length() > 200 ? flat.substring(0, 200) : flat;
    }
}
