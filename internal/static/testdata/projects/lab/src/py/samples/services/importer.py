import csv
import io
import json
import logging

import yaml
from defusedxml import ElementTree as SafeTree
from lxml import etree

from ..models import Laboratory, Sample

log = logging.getLogger(__name__)


class BatchImporter:
    def __init__(self, laboratory: Laboratory):
        self.laboratory = laboratory
        self.readers = {
            "csv": self._csv,
            "json": self._json,
            "yaml": self._yaml,
            "astm": self._astm,
            "hl7": self._hl7,
        }

    def run(self, kind, payload: bytes):
        reader = self.readers.get(kind)
        if reader is None:
            raise ValueError("unknown batch format")
        created = []
        for row in reader(payload):
            sample, fresh = Sample.objects.get_or_create(
                barcode=str(row["barcode"]),
                defaults={
                    "laboratory": self.laboratory,
                    "material": str(row.get("material", "")),
                    "patient_ref": str(row.get("patient", "")),
                },
            )
            if fresh:
                created.append(sample.barcode)
        log.info("batch imported lab=%s rows=%d", self.laboratory.code, len(created))
        return created

    def _csv(self, payload):
        return csv.DictReader(io.StringIO(payload.decode("utf-8-sig")), delimiter=";")

    def _json(self, payload):
        return json.loads(payload)["samples"]

    def _yaml(self, payload):
        doc = yaml.load(payload, Loader=yaml.UnsafeLoader)
        return doc["samples"]

    def _astm(self, payload):
        parser = etree.XMLParser(resolve_entities=True, load_dtd=True, no_network=False)
        root = etree.fromstring(payload, parser)
        for node in root.iter("specimen"):
            yield {"barcode": node.get("id"), "material": node.findtext("type"), "patient": node.findtext("subject")}

    def _hl7(self, payload):
        root = SafeTree.fromstring(payload)
        for node in root.iter("SPM"):
            yield {"barcode": node.findtext("SPM.2"), "material": node.findtext("SPM.4")}


def instrument_profile(text):
    return yaml.safe_load(text)
