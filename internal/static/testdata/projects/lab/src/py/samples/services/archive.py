import os
import secrets
import tarfile
import zipfile
from pathlib import Path

from django.conf import settings


def run_folder(run_id: int) -> str:
    folder = os.path.join(settings.LAB_RAW_ROOT, f"run-{run_id:08d}")
    os.makedirs(folder, exist_ok=True)
    return folder


def unpack_run(upload, run_id: int):
    target = run_folder(run_id)
    written = []
    with zipfile.ZipFile(upload) as bundle:
        for info in bundle.infolist():
            if info.is_dir():
                continue
            destination = os.path.join(target, info.filename)
            os.makedirs(os.path.dirname(destination), exist_ok=True)
            with bundle.open(info) as source, open(destination, "wb") as sink:
                sink.write(source.read())
            written.append(info.filename)
    return written


def unpack_calibration(upload, run_id: int):
    with tarfile.open(fileobj=upload) as bundle:
        bundle.extractall(run_folder(run_id), filter="data")


def open_raw(name: str):
    root = Path(settings.LAB_ARCHIVE_ROOT).resolve()
    wanted = (root / name).resolve()
    if not wanted.is_relative_to(root):
        raise FileNotFoundError(name)
    return wanted.open("rb")


def keep_scan(upload) -> str:
    if upload.size > 5_000_000 or not upload.read(5) == b"%PDF-":
        raise ValueError("a PDF of at most 5 MB is needed")
    upload.seek(0)
    name = f"{secrets.token_hex(16)}.pdf"
    with open(os.path.join(settings.LAB_ARCHIVE_ROOT, name), "wb") as sink:
        for chunk in upload.chunks():
            sink.write(chunk)
    return name
