from typing import Any

from sqlalchemy import bindparam, select, text
from sqlalchemy.orm import Session

from ..models import Customer, Ticket
from ..schemas import TicketFilter

BASE = (
    "SELECT t.id, t.subject, t.status, t.priority, t.queue, c.company "
    "FROM tickets t JOIN customers c ON c.id = t.customer_id"
)

CUSTOMER_ORDER = {
    "company": Customer.company,
    "email": Customer.email,
}

EXPORT_COLUMNS = {"id": "t.id", "subject": "t.subject", "status": "t.status", "queue": "t.queue"}


class TicketQuery:
    """Collects the conditions of the agent ticket list."""

    def __init__(self) -> None:
        self.conditions: list[str] = []
        self.params: dict[str, Any] = {}
        self.order = "t.created_at DESC"
        self.window = ""

    def matching(self, words: str | None) -> "TicketQuery":
        if words:
            self.conditions.append("t.subject ILIKE :words")
            self.params["words"] = f"%{words}%"
        return self

    def in_queue(self, queue: str | None) -> "TicketQuery":
        if queue:
            self.conditions.append("t.queue = :queue")
            self.params["queue"] = queue
        return self

    def with_statuses(self, statuses: list[str]) -> "TicketQuery":
        wanted = [s.strip() for s in statuses if s.strip()]
        if wanted:
            joined = ", ".join(f"'{s}'" for s in wanted)
            self.conditions.append(f"t.status IN ({joined})")
        return self

    def page(self, number: int, size: int) -> "TicketQuery":
        self.window = f" LIMIT {size} OFFSET {(number - 1) * size}"
        return self

    def sql(self) -> str:
        where = f" WHERE {' AND '.join(self.conditions)}" if self.conditions else ""
        return f"{BASE}{where} ORDER BY {self.order}{self.window}"

    def run(self, db: Session) -> list[dict]:
        rows = db.execute(text(self.sql()), self.params)
        return [dict(r) for r in rows.mappings()]


def search_tickets(db: Session, flt: TicketFilter) -> list[dict]:
    query = (
        TicketQuery()
        .matching(flt.text)
        .in_queue(flt.queue)
        .with_statuses(flt.statuses)
        .page(flt.page, flt.page_size)
    )
    return query.run(db)


def tickets_of_company(db: Session, flt: TicketFilter) -> list[Ticket]:
    stmt = select(Ticket).join(Customer).where(Customer.company == flt.company)
    direction = "ASC" if flt.direction == "asc" else "DESC"
    stmt = stmt.order_by(text(f"tickets.{flt.sort} {direction}"))
    return list(db.scalars(stmt.limit(flt.page_size)))


def list_customers(db: Session, sort: str, descending: bool) -> list[Customer]:
    column = CUSTOMER_ORDER.get(sort, Customer.company)
    return list(db.scalars(select(Customer).order_by(column.desc() if descending else column)))


def export_rows(db: Session, columns: list[str], ids: list[int]) -> list[dict]:
    chosen = [EXPORT_COLUMNS[c] for c in columns if c in EXPORT_COLUMNS] or ["t.id"]
    stmt = text(f"SELECT {', '.join(chosen)} FROM tickets t WHERE t.id IN :ids").bindparams(
        bindparam("ids", expanding=True)
    )
    return [dict(r) for r in db.execute(stmt, {"ids": ids}).mappings()]
