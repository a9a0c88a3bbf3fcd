package com.ersatzteil.shop.service;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import javax.xml.XMLConstants;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Service;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

@Service
public class ImportService {

    private final Path images;
    private final Path manuals;

    public ImportService(@Value("${shop.files}") Path files) {
        this.images = files.resolve("images").normalize();
        this.manuals = files.resolve("manuals").normalize();
    }

    public List<String> supplierCatalogue(InputStream body) throws IOException {
        List<String> numbers = new ArrayList<>();
        try {
            DocumentBuilder builder = builder(false);
            Document doc = builder.parse(body);
            NodeList articles = doc.getElementsByTagName("ARTICLE");
            for (int i = 0; i < articles.getLength(); i++) {
                numbers.add(((Element) articles.item(i)).getTextContent());
            }
        } catch (ParserConfigurationException | SAXException e) {
            throw new IOException("catalogue not readable", e);
        }
        return numbers;
    }

    public String deliveryNote(InputStream body) throws IOException {
        try {
            return builder(true).parse(body).getDocumentElement().getAttribute("number");
        } catch (ParserConfigurationException | SAXException e) {
            throw new IOException("note not readable", e);
        }
    }

    private static DocumentBuilder builder(boolean strict) throws ParserConfigurationException {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setNamespaceAware(true);
        if (strict) {
            factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
            factory.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
        }
        return factory.newDocumentBuilder();
    }

    public int countItems(InputStream body) throws XMLStreamException {
        XMLInputFactory factory = XMLInputFactory.newFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        XMLStreamReader reader = factory.createXMLStreamReader(body);
        int count = 0;
        while (reader.hasNext()) {
            if (reader.next() == XMLStreamReader.START_ELEMENT && "item".equals(reader.getLocalName())) {
                count++;
            }
        }
        return count;
    }

    public List<Path> imageBundle(InputStream body) throws IOException {
        List<Path> written = new ArrayList<>();
        try (ZipInputStream zip = new ZipInputStream(body)) {
            ZipEntry entry;
            while ((entry = zip.getNextEntry()) != null) {
                if (!entry.isDirectory() && entry.getName().endsWith(".jpg")) {
                    written.add(store(zip, images.resolve(entry.getName())));
                }
            }
        }
        return written;
    }

    private Path store(InputStream in, Path target) throws IOException {
        Files.createDirectories(target.getParent());
        Files.copy(in, target, StandardCopyOption.REPLACE_EXISTING);
        return target;
    }

    public void manualBundle(InputStream body) throws IOException {
        try (ZipInputStream zip = new ZipInputStream(body)) {
            ZipEntry entry;
            while ((entry = zip.getNextEntry()) != null) {
                Path target = manuals.resolve(entry.getName()).normalize();
                if (entry.isDirectory() || !target.startsWith(manuals)) {
                    continue;
                }
                Files.createDirectories(target.getParent());
                Files.copy(zip, target, StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }
}
