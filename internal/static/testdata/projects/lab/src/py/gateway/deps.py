import hashlib
import hmac
import os
from typing import Annotated

from fastapi import Depends, Header, HTTPException
from pydantic import BaseModel, Field
from sqlalchemy import create_engine
from sqlalchemy.orm import Session, sessionmaker

engine = create_engine(os.environ["GATEWAY_DSN"])
SessionLocal = sessionmaker(bind=engine)


class Device(BaseModel):
    serial: str
    laboratory_id: int


class Reading(BaseModel):
    barcode: str = Field(pattern=r"^[A-Z0-9-]{6,24}$")
    analyte: str = Field(max_length=40)
    value: float
    unit: str = Field(max_length=16)


class CallbackIn(BaseModel):
    label: str
    address: str


def session():
    db = SessionLocal()
    try:
        yield db
    finally:
        db.close()


def device(x_device: Annotated[str, Header()], x_signature: Annotated[str, Header()]) -> Device:
    key = os.environ["GATEWAY_DEVICE_KEY"].encode()
    wanted = hmac.new(key, x_device.encode(), hashlib.sha256).hexdigest()
    if not hmac.compare_digest(wanted, x_signature):
        raise HTTPException(status_code=401)
    serial, _, laboratory = x_device.partition(":")
    return Device(serial=serial, laboratory_id=int(laboratory))


DbSession = Annotated[Session, Depends(session)]
CurrentDevice = Annotated[Device, Depends(device)]
