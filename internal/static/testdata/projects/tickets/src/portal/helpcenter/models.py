from django.conf import settings
from django.db import models


class Article(models.Model):
    slug = models.SlugField(unique=True)
    title = models.CharField(max_length=160)
    body = models.TextField()
    section = models.CharField(max_length=60)
    language = models.CharField(max_length=5, default="en")
    published = models.BooleanField(default=False)
    views = models.PositiveIntegerField(default=0)
    updated_at = models.DateTimeField(auto_now=True)


class Feedback(models.Model):
    article = models.ForeignKey(Article, on_delete=models.CASCADE, related_name="feedback")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    rating = models.PositiveSmallIntegerField()
    remark = models.TextField(blank=True)


class SavedSearch(models.Model):
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    name = models.CharField(max_length=80)
    phrase = models.CharField(max_length=200)
