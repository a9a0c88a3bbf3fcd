import ast
import tarfile
import zipfile
from pathlib import Path
from typing import BinaryIO

import yaml
from defusedxml import ElementTree as SafeET
from lxml import etree

from ..config import get_settings


def parse_vendor_feed(payload: bytes) -> list[dict]:
    parser = etree.XMLParser(resolve_entities=True, load_dtd=True, no_network=False)
    root = etree.fromstring(payload, parser=parser)
    return [
        {"ref": node.get("ref"), "subject": node.findtext("subject"), "body": node.findtext("body")}
        for node in root.iterfind("case")
    ]


def parse_monitoring_alert(payload: bytes) -> dict:
    root = SafeET.fromstring(payload)
    return {"host": root.findtext("host"), "level": root.findtext("level")}


def load_routing(document: str) -> dict:
    data = yaml.safe_load(document)
    return {rule["name"]: rule for rule in data.get("rules", [])}


def load_sla_plan(document: bytes) -> dict:
    loader = yaml.UnsafeLoader
    plan = yaml.load(document, Loader=loader)
    return {"name": plan["name"], "targets": plan.get("targets", {})}


def parse_weights(raw: str) -> dict:
    value = ast.literal_eval(raw)
    if not isinstance(value, dict):
        raise ValueError("mapping expected")
    return value


def unpack_history(archive: BinaryIO, batch: str) -> list[str]:
    """Old tickets are delivered as a tar ball, one text file per ticket."""
    target = get_settings().import_root / batch
    target.mkdir(parents=True, exist_ok=True)
    written = []
    with tarfile.open(fileobj=archive, mode="r:*") as bundle:
        for member in bundle.getmembers():
            if not member.isfile():
                continue
            destination = target / member.name
            destination.parent.mkdir(parents=True, exist_ok=True)
            reader = bundle.extractfile(member)
            destination.write_bytes(reader.read())
            written.append(member.name)
    return written


def unpack_knowledge(archive: BinaryIO, target: Path) -> None:
    with tarfile.open(fileobj=archive, mode="r:gz") as bundle:
        bundle.extractall(target, filter="data")


def read_zip_index(archive: BinaryIO) -> list[str]:
    with zipfile.ZipFile(archive) as bundle:
        return [i.filename for i in bundle.infolist() if not i.is_dir()]
