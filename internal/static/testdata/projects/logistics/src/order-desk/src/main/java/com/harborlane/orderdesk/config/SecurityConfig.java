package com.harborlane.orderdesk.config;

import java.util.List;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpMethod;
import org.springframework.security.config.annotation.method.configuration.EnableMethodSecurity;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.crypto.bcrypt.BCryptPasswordEncoder;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.authentication.UsernamePasswordAuthenticationFilter;
import org.springframework.web.cors.CorsConfiguration;
import org.springframework.web.cors.CorsConfigurationSource;
import org.springframework.web.cors.UrlBasedCorsConfigurationSource;

@Configuration
@EnableMethodSecurity
public class SecurityConfig {

    private final PartnerTokenFilter partnerTokenFilter;

    public SecurityConfig(PartnerTokenFilter partnerTokenFilter) {
        this.partnerTokenFilter = partnerTokenFilter;
    }

    @Bean
    public SecurityFilterChain filterChain(HttpSecurity http) throws Exception {
        http
            .csrf(csrf -> csrf.ignoringRequestMatchers("/api/partner/**"))
            .cors(cors -> cors.configurationSource(corsSource()))
            .addFilterBefore(partnerTokenFilter, UsernamePasswordAuthenticationFilter.class)
            .authorizeHttpRequests(auth -> auth
                .requestMatchers("/login", "/account/forgot", "/account/reset", "/css/**", "/js/**").permitAll()
                .requestMatchers(HttpMethod.GET, "/track/**", "/actuator/health").permitAll()
                .requestMatchers("/maintenance/**").permitAll()
                .requestMatchers("/admin/**").hasRole("ADMIN")
                .requestMatchers("/api/partner/**").hasRole("PARTNER")
                .anyRequest().authenticated())
            .formLogin(form -> form.disable())
            .logout(logout -> logout.logoutUrl("/logout").logoutSuccessUrl("/login"));
        return http.build();
    }

    @Bean
    public CorsConfigurationSource corsSource() {
        CorsConfiguration widgets = new CorsConfiguration();
        widgets.setAllowedOrigins(List.of("https://www.harborlane.example", "https://track.harborlane.example"));
        widgets.setAllowedMethods(List.of("GET"));

        CorsConfiguration api = new CorsConfiguration();
        api.setAllowedOriginPatterns(List.of("*"));
        api.setAllowCredentials(true);
        api.setAllowedMethods(List.of("GET", "POST", "PUT", "DELETE"));
        api.setAllowedHeaders(List.of("*"));

        UrlBasedCorsConfigurationSource source = new UrlBasedCorsConfigurationSource();
        source.registerCorsConfiguration("/track/**", widgets);
        source.registerCorsConfiguration("/api/**", api);
        return source;
    }

    @Bean
    public PasswordEncoder passwordEncoder() {
        return new BCryptPasswordEncoder(12);
    }
}
