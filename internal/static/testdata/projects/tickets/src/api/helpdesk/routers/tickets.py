from datetime import datetime, timezone
from typing import Annotated

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import HTMLResponse

from ..deps import AdminAgent, CurrentAgent, CurrentCustomer, Db
from ..models import Agent, Comment, ReplyMacro, Ticket
from ..schemas import CommentCreate, MacroForm, PreviewForm, TicketCreate, TicketFilter, TicketUpdate
from ..services import render, search

router = APIRouter(tags=["tickets"])


@router.get("/tickets")
def list_tickets(flt: Annotated[TicketFilter, Query()], agent: CurrentAgent, db: Db):
    if flt.company:
        found = search.tickets_of_company(db, flt)
        return [{"id": t.id, "subject": t.subject, "status": t.status} for t in found]
    return search.search_tickets(db, flt)


@router.get("/customers")
def list_customers(agent: CurrentAgent, db: Db, sort: str = "company", desc: bool = False):
    return [{"id": c.id, "company": c.company} for c in search.list_customers(db, sort, desc)]


@router.get("/tickets/export")
def export(agent: CurrentAgent, db: Db, columns: Annotated[list[str], Query()], ids: Annotated[list[int], Query()]):
    return search.export_rows(db, columns, ids)


@router.get("/tickets/{ticket_id}/page", response_class=HTMLResponse)
def ticket_page(ticket_id: int, agent: CurrentAgent, db: Db):
    ticket = db.get(Ticket, ticket_id)
    if ticket is None:
        raise HTTPException(404)
    return render.ticket_page(ticket, agent)


@router.patch("/tickets/{ticket_id}")
def update_ticket(ticket_id: int, change: TicketUpdate, agent: CurrentAgent, db: Db):
    ticket = db.get(Ticket, ticket_id)
    if ticket is None:
        raise HTTPException(404)
    for field, value in change.model_dump(exclude_unset=True).items():
        setattr(ticket, field, value)
    db.commit()
    return {"id": ticket.id, "status": ticket.status}


@router.patch("/me")
async def update_profile(request: Request, agent: CurrentAgent, db: Db):
    changes = await request.json()
    me = db.get(Agent, agent.id)
    for field, value in changes.items():
        if hasattr(me, field) and field != "id":
            setattr(me, field, value)
    db.commit()
    return {"name": me.display_name}


@router.post("/my/tickets", status_code=201)
def open_ticket(form: TicketCreate, customer: CurrentCustomer, db: Db):
    now = datetime.now(timezone.utc)
    ticket = Ticket(customer_id=customer.id, subject=form.subject, priority=form.priority, created_at=now)
    ticket.comments.append(Comment(author=customer.email, body=form.body, created_at=now))
    db.add(ticket)
    db.commit()
    return {"id": ticket.id}


@router.get("/my/tickets/{ticket_id}")
def my_ticket(ticket_id: int, customer: CurrentCustomer, db: Db):
    ticket = db.get(Ticket, ticket_id)
    if ticket is None:
        raise HTTPException(404)
    return {
        "subject": ticket.subject,
        "status": ticket.status,
        "comments": [{"author": c.author, "body": c.body} for c in ticket.comments],
    }


@router.post("/my/tickets/{ticket_id}/comments", status_code=201)
def add_comment(ticket_id: int, form: CommentCreate, customer: CurrentCustomer, db: Db):
    ticket = db.get(Ticket, ticket_id)
    if ticket is None or ticket.customer_id != customer.id:
        raise HTTPException(404)
    comment = Comment(
        ticket_id=ticket.id, author=customer.email, body=form.body, created_at=datetime.now(timezone.utc)
    )
    db.add(comment)
    db.commit()
    return {"id": comment.id}


@router.post("/macros", status_code=201)
def save_macro(form: MacroForm, agent: CurrentAgent, db: Db):
    macro = ReplyMacro(owner_id=agent.id, title=form.title, body=form.body)
    db.add(macro)
    db.commit()
    return {"id": macro.id}


@router.post("/macros/preview", response_class=HTMLResponse)
def preview(form: PreviewForm, agent: CurrentAgent, db: Db):
    ticket = db.get(Ticket, form.ticket_id)
    if ticket is None:
        raise HTTPException(404)
    if form.macro_id is not None:
        macro = db.get(ReplyMacro, form.macro_id)
        if macro is None or macro.owner_id != agent.id:
            raise HTTPException(404)
        return render.fill_macro(macro, ticket)
    return render.preview_reply(form.body or "", {"ticket": ticket, "agent": agent})


@router.delete("/tickets/{ticket_id}", status_code=204)
def delete_ticket(ticket_id: int, admin: AdminAgent, db: Db):
    ticket = db.get(Ticket, ticket_id)
    if ticket is not None:
        db.delete(ticket)
        db.commit()
