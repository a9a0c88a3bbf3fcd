from dataclasses import dataclass

from django.db import connection
from django.db.models import Avg, QuerySet

from .models import Article, Feedback

PERIODS = {"day": "day", "week": "week", "month": "month"}


@dataclass
class ReportRequest:
    section: str = ""
    language: str = ""
    min_rating: int = 1
    period: str = "week"

    @classmethod
    def from_query(cls, query) -> "ReportRequest":
        rating = query.get("min_rating", "1")
        return cls(
            section=query.get("section", ""),
            language=query.get("language", ""),
            min_rating=int(rating) if rating.isdigit() else 1,
            period=query.get("period", "week"),
        )


def popular_articles(req: ReportRequest) -> QuerySet[Article]:
    articles = Article.objects.filter(published=True)
    if req.section:
        articles = articles.filter(section=req.section)
    if req.language:
        articles = articles.extra(where=[f"lower(language) = lower('{req.language}')"])
    return articles.order_by("-views")[:50]


def rated_articles(req: ReportRequest):
    return Article.objects.raw(
        "SELECT a.* FROM helpcenter_article a "
        "JOIN helpcenter_feedback f ON f.article_id = a.id "
        "WHERE a.section = %s GROUP BY a.id HAVING avg(f.rating) >= %s",
        [req.section, req.min_rating],
    )


def feedback_series(req: ReportRequest) -> list[tuple]:
    period = PERIODS.get(req.period, "week")
    with connection.cursor() as cur:
        cur.execute(
            f"SELECT date_trunc('{period}', updated_at) AS at, count(*) "
            "FROM helpcenter_article WHERE section = %s GROUP BY at ORDER BY at",
            [req.section],
        )
        return cur.fetchall()


def average_rating(article_id: int) -> float:
    return Feedback.objects.filter(article_id=article_id).aggregate(value=Avg("rating"))["value"] or 0.0
