import json
import logging

from django.contrib.auth.decorators import login_required, permission_required
from django.contrib.auth.mixins import LoginRequiredMixin
from django.http import HttpResponseBadRequest, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.html import format_html, format_html_join
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_POST
from django.views.generic import DetailView, ListView

from . import queries
from .models import Sample
from .services import archive
from .services.formula import DerivedValue, ratio
from .services.importer import BatchImporter
from .tasks import send_labels

log = logging.getLogger(__name__)

AMENDABLE = ("material", "notes")


class SampleListView(LoginRequiredMixin, ListView):
    template_name = "samples/list.html"
    paginate_by = 50

    def get_queryset(self):
        return queries.list_samples(self.request.user, queries.SampleCriteria.from_params(self.request.GET))


class SampleDetailView(LoginRequiredMixin, DetailView):
    template_name = "samples/detail.html"

    def get_queryset(self):
        return Sample.objects.visible_to(self.request.user)

    def get_context_data(self, **kwargs):
        context = super().get_context_data(**kwargs)
        flag = self.request.GET.get("flag", "")
        context["banner"] = mark_safe("<p class='flag'>" + flag + "</p>") if flag else ""
        context["badges"] = format_html_join(" ", "<b>{}</b>", ((r.analyte,) for r in self.object.results.all()))
        return context


@login_required
def sample_results(request, pk):
    sample = Sample.objects.get(pk=pk)
    rows = [{"analyte": r.analyte, "value": r.value, "unit": r.unit} for r in sample.results.all()]
    return JsonResponse({"barcode": sample.barcode, "patient": sample.patient_ref, "results": rows})


@login_required
@require_POST
def amend_sample(request, pk):
    sample = get_object_or_404(Sample.objects.visible_to(request.user), pk=pk)
    for name, value in json.loads(request.body).items():
        setattr(sample, name, value)
    sample.save()
    return JsonResponse({"id": sample.pk})


@login_required
@require_POST
def edit_notes(request, pk):
    sample = get_object_or_404(Sample.objects.visible_to(request.user), pk=pk)
    for name in AMENDABLE:
        if name in request.POST:
            setattr(sample, name, request.POST[name])
    sample.save(update_fields=AMENDABLE)
    return redirect("sample-detail", pk=pk)


@login_required
def derive_value(request, pk):
    sample = get_object_or_404(Sample.objects.visible_to(request.user), pk=pk)
    values = {r.analyte: r.value for r in sample.results.all()}
    try:
        if request.GET.get("mode") == "ratio":
            number = ratio(request.GET["formula"], values)
        else:
            number = DerivedValue(request.GET["formula"]).compute(values)
    except (KeyError, ValueError, SyntaxError, ZeroDivisionError):
        return HttpResponseBadRequest("The formula cannot be used")
    return JsonResponse({"value": number})


@login_required
@require_POST
def print_labels(request, pk):
    sample = get_object_or_404(Sample.objects.visible_to(request.user), pk=pk)
    options = {"media": request.POST.get("media", ""), "copies": int(request.POST.get("copies", 1))}
    send_labels.delay(sample.pk, options)
    return redirect("sample-detail", pk=pk)


@permission_required("samples.view_result", raise_exception=True)
def statistics(request):
    criteria = queries.SampleCriteria.from_params(request.GET)
    laboratory = request.user.laboratories.first()
    heading = format_html("<h2>{}</h2>", criteria.material or "all")
    return JsonResponse(
        {
            "heading": heading,
            "averages": queries.averages(criteria),
            "turnaround": [[str(a), str(b)] for a, b in queries.turnaround(laboratory.pk, criteria)],
            "groups": queries.grouped(request.user, criteria),
        }
    )


@permission_required("samples.add_sample", raise_exception=True)
@require_POST
def import_batch(request):
    laboratory = request.user.laboratories.first()
    try:
        created = BatchImporter(laboratory).run(request.POST.get("kind"), request.FILES["batch"].read())
    except ValueError:
        log.exception("batch refused")
        return HttpResponseBadRequest("The batch could not be read")
    return JsonResponse({"created": created})


@permission_required("samples.add_sample", raise_exception=True)
@require_POST
def upload_archive(request):
    files = archive.unpack_run(request.FILES["archive"], int(request.POST["run"]))
    return JsonResponse({"files": files})
