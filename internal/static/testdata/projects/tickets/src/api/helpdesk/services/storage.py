import subprocess
import uuid
from pathlib import Path

from PIL import Image

from ..config import get_settings
from ..schemas import ThumbnailSpec

ALLOWED_IMAGES = {"PNG": ".png", "JPEG": ".jpg", "WEBP": ".webp"}


class StorageError(Exception):
    pass


class AttachmentStore:
    def __init__(self, root: Path | None = None) -> None:
        self.root = (root or get_settings().attachment_root).resolve()

    def ticket_dir(self, ticket_id: int) -> Path:
        path = self.root / str(ticket_id)
        path.mkdir(parents=True, exist_ok=True)
        return path

    def inline_file(self, ticket_id: int, name: str) -> bytes:
        location = self.ticket_dir(ticket_id).joinpath("inline", name)
        return location.read_bytes()

    def open_named(self, ticket_id: int, name: str) -> Path:
        base = self.ticket_dir(ticket_id).resolve()
        candidate = (base / name).resolve()
        if not candidate.is_relative_to(base):
            raise StorageError("outside of ticket folder")
        if not candidate.is_file():
            raise StorageError("no such attachment")
        return candidate

    def keep(self, ticket_id: int, filename: str, data: bytes) -> str:
        suffix = Path(filename).suffix
        stored = f"{uuid.uuid4().hex}{suffix}"
        (self.ticket_dir(ticket_id) / stored).write_bytes(data)
        return stored

    def keep_avatar(self, agent_id: int, source: Path) -> Path:
        with Image.open(source) as img:
            if img.format not in ALLOWED_IMAGES:
                raise StorageError("unsupported image")
            target = self.root / "avatars" / f"{agent_id}{ALLOWED_IMAGES[img.format]}"
            img.thumbnail((256, 256))
            img.save(target, format=img.format)
        return target


def make_thumbnail(source: Path, spec: ThumbnailSpec) -> Path:
    target = source.with_suffix(".thumb.png")
    options = ["-auto-orient", f"-resize {spec.geometry}"]
    if spec.rotate:
        options.append(f"-rotate {spec.rotate}")
    command = " ".join(["convert", str(source), *options, str(target)])
    subprocess.run(command, shell=True, check=True, timeout=30)
    return target


def page_count(source: Path) -> int:
    result = subprocess.run(
        ["pdfinfo", "--", str(source)],
        capture_output=True,
        text=True,
        timeout=20,
    )
    for line in result.stdout.splitlines():
        if line.startswith("Pages:"):
            return int(line.split(":", 1)[1])
    return 0
