import shlex
import subprocess

from celery import shared_task
from celery.utils.log import get_task_logger
from django.conf import settings

from .models import Sample
from .services.archive import run_folder

log = get_task_logger(__name__)


def _label_command(printer, media, text):
    pieces = ["lp", "-h", settings.LAB_LABEL_HOST, "-d", printer]
    if media:
        pieces += ["-o", "media=" + media]
    return "echo " + shlex.quote(text) + " | " + " ".join(pieces)


@shared_task(bind=True, max_retries=3)
def send_labels(self, sample_id, options):
    sample = Sample.objects.get(pk=sample_id)
    command = _label_command("zebra-" + sample.laboratory.code, options.get("media"), sample.barcode)
    try:
        subprocess.run(command, shell=True, check=True, timeout=20)
    except subprocess.SubprocessError as exc:
        raise self.retry(exc=exc, countdown=15)


@shared_task
def checksum_run(run_id):
    folder = run_folder(int(run_id))
    done = subprocess.run(
        ["sha256deep", "-r", "-l", folder],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


@shared_task
def convert_trace(run_id, channel):
    folder = run_folder(int(run_id))
    line = f"trace2csv --channel {shlex.quote(channel)} {shlex.quote(folder)}/trace.bin"
    subprocess.run(line, shell=True, check=True, timeout=120)
    log.info("trace converted for run %d", int(run_id))
