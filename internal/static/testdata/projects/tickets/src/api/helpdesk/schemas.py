from typing import Literal

from pydantic import BaseModel, EmailStr, Field, HttpUrl


class TicketFilter(BaseModel):
    queue: str | None = None
    text: str | None = None
    statuses: list[str] = Field(default_factory=list)
    company: str | None = None
    sort: str = "created_at"
    direction: str = "desc"
    page: int = Field(1, ge=1)
    page_size: int = Field(25, ge=1, le=200)


class TicketCreate(BaseModel):
    subject: str = Field(min_length=3, max_length=200)
    body: str
    priority: int = Field(3, ge=1, le=5)


class TicketUpdate(BaseModel):
    model_config = {"extra": "forbid"}

    status: Literal["open", "pending", "solved"] | None = None
    priority: int | None = Field(None, ge=1, le=5)
    queue: str | None = Field(None, pattern=r"^[a-z-]{2,40}$")


class CommentCreate(BaseModel):
    body: str = Field(min_length=1, max_length=20_000)


class LoginForm(BaseModel):
    login: str
    password: str


class OtpForm(BaseModel):
    login: str
    code: str = Field(pattern=r"^\d{6}$")


class ResetRequest(BaseModel):
    email: EmailStr


class ResetConfirm(BaseModel):
    token: str
    password: str = Field(min_length=12)


class WebhookSpec(BaseModel):
    name: str
    target: HttpUrl
    event: Literal["created", "solved", "reopened"] = "created"
    headers: dict[str, str] = Field(default_factory=dict)


class MacroForm(BaseModel):
    title: str
    body: str


class PreviewForm(BaseModel):
    macro_id: int | None = None
    body: str | None = None
    ticket_id: int


class ThumbnailSpec(BaseModel):
    attachment_id: int
    geometry: str = "320x240"
    rotate: int = Field(0, ge=0, le=270)
