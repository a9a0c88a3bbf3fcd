package com.harborlane.orderdesk.service;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInputFilter;
import java.io.ObjectInputStream;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;

import javax.xml.XMLConstants;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

import org.springframework.stereotype.Service;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;
import org.xml.sax.SAXException;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

@Service
public class EdiImport {

    public List<String> bookingReferences(String xml) throws ParserConfigurationException, SAXException, IOException {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setNamespaceAware(true);
        Document doc = factory.newDocumentBuilder().parse(new InputSource(new StringReader(xml)));
        NodeList nodes = doc.getElementsByTagNameNS("*", "BookingReference");
        List<String> refs = new ArrayList<>();
        for (int i = 0; i < nodes.getLength(); i++) {
            refs.add(nodes.item(i).getTextContent());
        }
        return refs;
    }

    public Document customsReply(InputStream in) throws ParserConfigurationException, SAXException, IOException {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
        factory.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
        factory.setXIncludeAware(false);
        return factory.newDocumentBuilder().parse(in);
    }

    public int countContainers(InputStream in) throws XMLStreamException {
        XMLInputFactory factory = XMLInputFactory.newFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        XMLStreamReader reader = factory.createXMLStreamReader(in);
        int count = 0;
        while (reader.hasNext()) {
            if (reader.next() == XMLStreamConstants.START_ELEMENT && "Container".equals(reader.getLocalName())) {
                count++;
            }
        }
        return count;
    }

    public Map<String, Object> routingPlan(String text) {
        Yaml yaml = new Yaml();
        return yaml.load(text);
    }

    public Map<String, Object> tariffPlan(String text) {
        Yaml yaml = new Yaml(new SafeConstructor(new LoaderOptions()));
        return yaml.load(text);
    }

    public Object draft(String encoded) throws IOException, ClassNotFoundException {
        byte[] raw = Base64.getDecoder().decode(encoded);
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(raw))) {
            return in.readObject();
        }
    }

    public List<?> snapshot(InputStream stored) throws IOException, ClassNotFoundException {
        try (ObjectInputStream in = new ObjectInputStream(stored)) {
            in.setObjectInputFilter(ObjectInputFilter.Config.createFilter(
                    "java.util.ArrayList;java.lang.Long;java.lang.Number;java.lang.Object;!*"));
            return (List<?>) in.readObject();
        }
    }
}
