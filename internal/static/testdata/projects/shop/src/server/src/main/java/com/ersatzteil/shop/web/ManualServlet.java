package com.ersatzteil.shop.web;

import jakarta.servlet.ServletException;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;

@WebServlet(urlPatterns = "/manuals")
public class ManualServlet extends HttpServlet {

    private static final long serialVersionUID = 1L;

    private File base;
    private File covers;

    @Override
    public void init() throws ServletException {
        base = new File("/srv/shop/manuals");
        covers = new File("/srv/shop/covers");
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String language = request.getParameter("lang");
        String number = request.getParameter("number");
        if (number == null) {
            response.sendError(HttpServletResponse.SC_BAD_REQUEST);
            return;
        }
        if (request.getParameter("cover") != null) {
            cover(request.getParameter("cover"), response);
            return;
        }
        String relative = (language == null ? "de" : language) + File.separator + number.replace("/", "-") + ".pdf";
        File file = new File(base, relative);
        if (!file.isFile()) {
            response.sendError(HttpServletResponse.SC_NOT_FOUND);
            return;
        }
        response.setContentType("application/pdf");
        try (InputStream in = new FileInputStream(file)) {
            in.transferTo(response.getOutputStream());
        }
    }

    private void cover(String name, HttpServletResponse response) throws IOException {
        File file = new File(covers, name).getCanonicalFile();
        if (!file.getPath().startsWith(covers.getCanonicalPath() + File.separator) || !file.isFile()) {
            response.sendError(HttpServletResponse.SC_NOT_FOUND);
            return;
        }
        response.setContentType("image/jpeg");
        try (InputStream in = new FileInputStream(file)) {
            in.transferTo(response.getOutputStream());
        }
    }
}
