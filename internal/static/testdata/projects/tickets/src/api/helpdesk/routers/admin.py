import re
from urllib.parse import urlsplit

import httpx
from fastapi import APIRouter, Body, Depends, HTTPException, Request, UploadFile
from sqlalchemy import func, select

from ..config import get_settings
from ..deps import AdminAgent, CurrentAgent, Db, require_admin
from ..models import Agent, Ticket
from ..schemas import WebhookSpec
from ..security import valid_webhook_signature
from ..services import importer

router = APIRouter(prefix="/admin", tags=["admin"], dependencies=[Depends(require_admin)])
hooks = APIRouter(prefix="/hooks", tags=["hooks"])
maintenance = APIRouter(prefix="/maintenance", tags=["maintenance"])

BATCH = re.compile(r"^[a-z0-9]{4,20}$")


@router.get("/agents")
def agents(db: Db):
    return [{"id": a.id, "login": a.login, "role": a.role} for a in db.scalars(select(Agent))]


@router.post("/import/history")
def import_history(batch: str, file: UploadFile):
    if not BATCH.fullmatch(batch):
        raise HTTPException(422, "batch name")
    return {"written": importer.unpack_history(file.file, batch)}


@router.post("/import/vendor")
async def import_vendor(file: UploadFile):
    return importer.parse_vendor_feed(await file.read())


@router.post("/import/knowledge")
def import_knowledge(file: UploadFile):
    importer.unpack_knowledge(file.file, get_settings().import_root / "knowledge")
    return {"status": "unpacked"}


@router.put("/sla")
async def put_sla(file: UploadFile):
    return importer.load_sla_plan(await file.read())


@router.put("/routing")
def put_routing(document: str = Body(media_type="text/plain")):
    return importer.load_routing(document)


@maintenance.post("/agents/{agent_id}/role")
def change_role(agent_id: int, role: str, db: Db):
    agent = db.get(Agent, agent_id)
    if agent is None:
        raise HTTPException(404)
    agent.role = role
    db.commit()
    return {"id": agent.id, "role": agent.role}


@maintenance.get("/health")
def health(db: Db):
    db.scalar(select(func.count(Ticket.id)))
    return {"status": "up"}


@hooks.post("/monitoring")
async def monitoring(request: Request):
    body = await request.body()
    if not valid_webhook_signature(body, request.headers.get("X-Signature", "")):
        raise HTTPException(401)
    return importer.parse_monitoring_alert(body)


@hooks.post("/outgoing/test")
async def test_outgoing(spec: WebhookSpec, agent: CurrentAgent):
    sample = {"event": spec.event, "ticket": {"id": 1, "subject": "Test"}}
    async with httpx.AsyncClient(timeout=5, follow_redirects=True) as client:
        answer = await client.post(str(spec.target), json=sample, headers=spec.headers)
    return {"status": answer.status_code, "body": answer.text[:2000]}


@hooks.get("/inventory")
async def inventory(url: str, agent: CurrentAgent):
    parts = urlsplit(url)
    if parts.scheme != "https" or parts.hostname not in get_settings().inventory_hosts or parts.port:
        raise HTTPException(422, "unknown inventory host")
    async with httpx.AsyncClient(timeout=5, follow_redirects=False) as client:
        answer = await client.get(f"https://{parts.hostname}{parts.path}")
    return answer.json()
