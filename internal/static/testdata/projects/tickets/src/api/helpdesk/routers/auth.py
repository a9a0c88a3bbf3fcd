import logging
from datetime import datetime, timedelta, timezone
from urllib.parse import urlsplit

import redis
from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import JSONResponse, RedirectResponse
from sqlalchemy import select

from ..config import get_settings
from ..deps import CurrentAgent, Db
from ..models import Agent
from ..schemas import LoginForm, OtpForm, ResetConfirm, ResetRequest
from ..security import hash_password, issue_token, new_reset_code, verify_password

log = logging.getLogger("helpdesk.auth")
router = APIRouter(prefix="/auth", tags=["auth"])
counters = redis.Redis.from_url(get_settings().redis_url)


def _local_path(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme or parts.netloc or not value.startswith("/") or value.startswith(("//", "/\\")):
        return "/tickets"
    return value


def _with_session(response, agent: Agent):
    response.set_cookie(
        "hd_session",
        issue_token(agent.id, agent.role),
        max_age=8 * 3600,
        secure=True,
        httponly=True,
        samesite="lax",
    )
    return response


@router.post("/login")
def login(form: LoginForm, db: Db):
    agent = db.scalar(select(Agent).where(Agent.login == form.login))
    if agent is None or not verify_password(form.password, agent.password_hash):
        log.warning("sign-in failed: %r", form.model_dump())
        raise HTTPException(401, "wrong login or password")
    log.info("sign-in of agent %d", agent.id)
    response = JSONResponse({"name": agent.display_name})
    return _with_session(response, agent)


@router.post("/otp")
def confirm_otp(form: OtpForm, db: Db):
    settings = get_settings()
    key = f"otp:{form.login}"
    attempts = counters.incr(key)
    if attempts == 1:
        counters.expire(key, settings.otp_window_seconds)
    if attempts > settings.otp_attempts:
        raise HTTPException(429, "too many attempts")
    expected = counters.get(f"otp-code:{form.login}")
    if expected is None or expected.decode() != form.code:
        raise HTTPException(401, "wrong code")
    counters.delete(key, f"otp-code:{form.login}")
    return {"ok": True}


@router.get("/continue")
def continue_to(request: Request, agent: CurrentAgent):
    target = request.query_params.get("next") or "/tickets"
    if agent.role == "admin":
        return RedirectResponse(_local_path(target))
    destination = target if "://" in target else f"/agents{target}"
    return RedirectResponse(destination, status_code=303)


@router.post("/reset", status_code=202)
def request_reset(form: ResetRequest, db: Db):
    agent = db.scalar(select(Agent).where(Agent.email == form.email))
    if agent is not None:
        agent.reset_token = new_reset_code()
        agent.reset_expires = datetime.now(timezone.utc) + timedelta(hours=1)
        db.commit()
    return {"status": "accepted"}


@router.post("/reset/confirm")
def confirm_reset(form: ResetConfirm, db: Db):
    agent = db.scalar(select(Agent).where(Agent.reset_token == form.token))
    if agent is None or agent.reset_expires < datetime.now(timezone.utc):
        raise HTTPException(400, "link is no longer valid")
    agent.password_hash = hash_password(form.password)
    agent.reset_token = None
    db.commit()
    return {"status": "changed"}
