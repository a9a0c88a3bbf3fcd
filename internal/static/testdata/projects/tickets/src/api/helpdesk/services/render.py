from pathlib import Path

import nh3
from jinja2 import Environment, FileSystemLoader, select_autoescape
from markupsafe import Markup, escape

from ..models import Agent, ReplyMacro, Ticket

TEMPLATES = Path(__file__).resolve().parent.parent / "templates"

pages = Environment(
    loader=FileSystemLoader(TEMPLATES),
    autoescape=select_autoescape(["html"]),
)
mail = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True)

ALLOWED_TAGS = {"p", "br", "ul", "ol", "li", "strong", "em", "code", "pre", "a"}


def clean_html(value: str) -> Markup:
    return Markup(nh3.clean(value, tags=ALLOWED_TAGS, url_schemes={"https", "mailto"}))


def ticket_page(ticket: Ticket, agent: Agent) -> str:
    return pages.get_template("ticket.html").render(
        ticket=ticket,
        agent=agent,
        signature=clean_html(agent.signature),
    )


def badge(label: str) -> Markup:
    return Markup('<span class="badge">{}</span>').format(label)


def fill_macro(macro: ReplyMacro, ticket: Ticket) -> str:
    values = {"number": str(ticket.id), "subject": ticket.subject, "company": ticket.customer.company}
    text = macro.body
    for key, value in values.items():
        text = text.replace("{" + key + "}", value)
    return str(escape(text))


def preview_reply(body: str, context: dict) -> str:
    template = mail.from_string(body)
    return template.render(**context)
