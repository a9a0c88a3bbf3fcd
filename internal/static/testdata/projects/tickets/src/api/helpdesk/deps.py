from typing import Annotated, Iterator

import jwt
from fastapi import Cookie, Depends, Header, HTTPException
from sqlalchemy.orm import Session

from .models import Agent, Customer, SessionLocal
from .security import read_agent_token, read_customer_token


def get_db() -> Iterator[Session]:
    db = SessionLocal()
    try:
        yield db
    finally:
        db.close()


Db = Annotated[Session, Depends(get_db)]


def current_agent(db: Db, hd_session: Annotated[str | None, Cookie()] = None) -> Agent:
    if not hd_session:
        raise HTTPException(401, "not signed in")
    try:
        claims = read_agent_token(hd_session)
    except jwt.PyJWTError:
        raise HTTPException(401, "session expired")
    agent = db.get(Agent, int(claims["sub"]))
    if agent is None:
        raise HTTPException(401, "unknown agent")
    return agent


def require_admin(agent: Annotated[Agent, Depends(current_agent)]) -> Agent:
    if agent.role != "admin":
        raise HTTPException(403, "administrators only")
    return agent


def current_customer(db: Db, authorization: Annotated[str, Header()]) -> Customer:
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer":
        raise HTTPException(401, "bearer token expected")
    try:
        claims = read_customer_token(token)
    except jwt.PyJWTError:
        raise HTTPException(401, "invalid token")
    customer = db.get(Customer, int(claims["sub"]))
    if customer is None:
        raise HTTPException(401, "unknown customer")
    return customer


CurrentAgent = Annotated[Agent, Depends(current_agent)]
AdminAgent = Annotated[Agent, Depends(require_admin)]
CurrentCustomer = Annotated[Customer, Depends(current_customer)]
