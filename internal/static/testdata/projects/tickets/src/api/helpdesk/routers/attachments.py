import mimetypes
from pathlib import Path

from fastapi import APIRouter, HTTPException, Response, UploadFile
from fastapi.responses import FileResponse

from ..config import get_settings
from ..deps import CurrentAgent, Db
from ..models import Attachment
from ..schemas import ThumbnailSpec
from ..security import content_etag
from ..services.storage import AttachmentStore, StorageError, make_thumbnail, page_count

router = APIRouter(prefix="/attachments", tags=["attachments"])
store = AttachmentStore()

STATIC_BRANDING = Path("/srv/helpdesk/static/branding")
DOCUMENT_TYPES = {".pdf": "application/pdf", ".txt": "text/plain", ".csv": "text/csv"}


@router.post("/{ticket_id}", status_code=201)
async def attach(ticket_id: int, file: UploadFile, agent: CurrentAgent, db: Db):
    suffix = Path(file.filename or "").suffix.lower()
    if suffix not in DOCUMENT_TYPES:
        raise HTTPException(415, "document type not accepted")
    limit = get_settings().max_upload_bytes
    data = await file.read(limit + 1)
    if len(data) > limit:
        raise HTTPException(413, "file too large")
    stored = store.keep(ticket_id, file.filename, data)
    row = Attachment(
        ticket_id=ticket_id,
        stored_name=stored,
        original_name=Path(file.filename).name,
        content_type=DOCUMENT_TYPES[suffix],
    )
    db.add(row)
    db.commit()
    return {"id": row.id, "pages": page_count(store.ticket_dir(ticket_id) / stored)}


@router.post("/branding/logo", status_code=201)
async def upload_logo(file: UploadFile, agent: CurrentAgent):
    target = STATIC_BRANDING / Path(file.filename).name
    target.write_bytes(await file.read())
    return {"url": f"/static/branding/{target.name}"}


@router.get("/{ticket_id}/inline")
def inline(ticket_id: int, name: str, agent: CurrentAgent):
    data = store.inline_file(ticket_id, name)
    media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
    headers = {"ETag": content_etag(data), "Content-Security-Policy": "sandbox", "X-Content-Type-Options": "nosniff"}
    return Response(data, media_type=media_type, headers=headers)


@router.get("/{ticket_id}/file/{name}")
def download(ticket_id: int, name: str, agent: CurrentAgent):
    try:
        path = store.open_named(ticket_id, name)
    except StorageError as exc:
        raise HTTPException(404, str(exc))
    return FileResponse(path, media_type="application/octet-stream", filename=path.name)


@router.post("/thumbnails/render")
def thumbnail(spec: ThumbnailSpec, agent: CurrentAgent, db: Db):
    row = db.get(Attachment, spec.attachment_id)
    if row is None:
        raise HTTPException(404)
    source = store.ticket_dir(row.ticket_id) / row.stored_name
    return FileResponse(make_thumbnail(source, spec), media_type="image/png")
