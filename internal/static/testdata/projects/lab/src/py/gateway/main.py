import hashlib
import secrets
from pathlib import Path

import httpx
from fastapi import FastAPI, HTTPException
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import FileResponse
from sqlalchemy import text

from .deps import CallbackIn, CurrentDevice, DbSession, Reading

app = FastAPI(title="Instrument gateway", docs_url=None)
app.add_middleware(
    CORSMiddleware,
    allow_origins=["https://lims.rm-labor.example"],
    allow_methods=["GET"],
    allow_credentials=False,
)

FIRMWARE = Path("/srv/lims/firmware")
VENDORS = {"roth": "https://updates.roth-devices.example", "sysmed": "https://fw.sysmed.example"}


@app.post("/readings", status_code=201)
def add_reading(reading: Reading, device: CurrentDevice, db: DbSession):
    db.execute(
        text(
            "INSERT INTO readings (barcode, analyte, value, unit, device)"
            " VALUES (:barcode, :analyte, :value, :unit, :device)"
        ),
        {**reading.model_dump(), "device": device.serial},
    )
    db.commit()
    return {"stored": True}


@app.get("/readings/{barcode}")
def readings(barcode: str, device: CurrentDevice, db: DbSession):
    rows = db.execute(
        text(
            "SELECT r.analyte, r.value FROM readings r JOIN samples_sample s ON s.barcode = r.barcode"
            " WHERE r.barcode = :barcode AND s.laboratory_id = :lab"
        ),
        {"barcode": barcode, "lab": device.laboratory_id},
    )
    return [dict(row._mapping) for row in rows]


@app.delete("/readings/{barcode}", status_code=204)
def drop_readings(barcode: str, db: DbSession):
    db.execute(text("DELETE FROM readings WHERE barcode = :barcode"), {"barcode": barcode})
    db.commit()


async def _probe(address: str) -> int:
    async with httpx.AsyncClient(timeout=5, follow_redirects=True) as client:
        answer = await client.post(address, json={"probe": True})
    return answer.status_code


@app.post("/callbacks")
async def register_callback(callback: CallbackIn, device: CurrentDevice, db: DbSession):
    status = await _probe(callback.address)
    if status >= 400:
        raise HTTPException(status_code=422, detail="The callback does not answer")
    token = secrets.token_urlsafe(32)
    db.execute(
        text("INSERT INTO callbacks (device, label, address, token_hash) VALUES (:d, :l, :a, :t)"),
        {"d": device.serial, "l": callback.label, "a": callback.address, "t": hashlib.sha256(token.encode()).hexdigest()},
    )
    db.commit()
    return {"token": token}


@app.get("/vendors/{vendor}/latest")
async def vendor_latest(vendor: str, device: CurrentDevice):
    base = VENDORS.get(vendor)
    if base is None:
        raise HTTPException(status_code=404)
    async with httpx.AsyncClient(timeout=10) as client:
        answer = await client.get(f"{base}/latest.json", params={"serial": device.serial})
    return answer.json()


@app.get("/firmware/{name}")
def firmware(name: str, device: CurrentDevice):
    known = {entry.name: entry for entry in FIRMWARE.iterdir() if entry.is_file()}
    if name not in known:
        raise HTTPException(status_code=404)
    return FileResponse(known[name], media_type="application/octet-stream")


@app.get("/cache-key/{barcode}")
def cache_key(barcode: str, device: CurrentDevice):
    return {"key": hashlib.md5(barcode.encode(), usedforsecurity=False).hexdigest()}
