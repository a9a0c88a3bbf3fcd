from django.contrib.auth.decorators import login_required, permission_required
from django.db.models import F
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.html import format_html, format_html_join
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET, require_POST

from . import reports
from .models import Article, Feedback, SavedSearch


@require_GET
def article(request: HttpRequest, slug: str) -> HttpResponse:
    item = get_object_or_404(Article, slug=slug, published=True)
    Article.objects.filter(pk=item.pk).update(views=F("views") + 1)
    return render(request, "helpcenter/article.html", {"article": item, "phrase": request.GET.get("q", "")})


@require_GET
@permission_required("helpcenter.view_feedback", raise_exception=True)
def report(request: HttpRequest) -> JsonResponse:
    req = reports.ReportRequest.from_query(request.GET)
    return JsonResponse(
        {
            "popular": [{"slug": a.slug, "views": a.views} for a in reports.popular_articles(req)],
            "rated": [a.slug for a in reports.rated_articles(req)],
            "series": [[at.isoformat(), n] for at, n in reports.feedback_series(req)],
        }
    )


@require_POST
@login_required
def leave_feedback(request: HttpRequest, article_id: int) -> HttpResponse:
    rating = min(max(int(request.POST["rating"]), 1), 5)
    Feedback.objects.update_or_create(
        article_id=article_id,
        user=request.user,
        defaults={"rating": rating, "remark": request.POST.get("remark", "")},
    )
    back = request.POST.get("back", "/")
    if not url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()}, require_https=True):
        back = "/"
    return redirect(back)


@require_GET
@login_required
def saved_search(request: HttpRequest, search_id: int) -> JsonResponse:
    found = get_object_or_404(SavedSearch, pk=search_id, owner=request.user)
    return JsonResponse({"name": found.name, "phrase": found.phrase})


@require_GET
def suggest(request: HttpRequest) -> HttpResponse:
    phrase = request.GET.get("q", "")[:80]
    hits = Article.objects.filter(published=True, title__icontains=phrase)[:8]
    items = format_html_join("", '<li data-slug="{}">{}</li>', ((a.slug, a.title) for a in hits))
    return HttpResponse(format_html("<ul title='{}'>{}</ul>", phrase, items))


urlpatterns = [
    path("a/<slug:slug>", article),
    path("a/<int:article_id>/feedback", leave_feedback),
    path("reports", report),
    path("searches/<int:search_id>", saved_search),
    path("suggest", suggest),
]
