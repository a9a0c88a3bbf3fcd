import logging

from fastapi import FastAPI, Request
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import JSONResponse

from .config import get_settings
from .routers import admin, attachments, auth, tickets

log = logging.getLogger("helpdesk")

app = FastAPI(title="Helpdesk", docs_url=None)
app.add_middleware(
    CORSMiddleware,
    allow_origins=[get_settings().public_base_url],
    allow_credentials=True,
    allow_methods=["GET", "POST", "PATCH"],
    allow_headers=["Authorization", "Content-Type"],
)

app.include_router(auth.router)
app.include_router(tickets.router)
app.include_router(attachments.router)
app.include_router(admin.router)
app.include_router(admin.hooks)
app.include_router(admin.maintenance)


@app.exception_handler(Exception)
async def on_error(request: Request, exc: Exception):
    log.exception("unhandled error on %r", request.url.path)
    return JSONResponse({"detail": "internal error"}, status_code=500)
