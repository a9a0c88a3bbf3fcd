from django.conf import settings
from django.db import models


class Laboratory(models.Model):
    code = models.CharField(max_length=12, unique=True)
    name = models.CharField(max_length=120)
    staff = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="laboratories")


class SampleQuerySet(models.QuerySet):
    def visible_to(self, user):
        return self.filter(laboratory__in=user.laboratories.all())

    def received_between(self, start, end):
        return self.filter(received_at__date__gte=start, received_at__date__lt=end)


class Sample(models.Model):
    barcode = models.CharField(max_length=24, unique=True)
    laboratory = models.ForeignKey(Laboratory, on_delete=models.PROTECT)
    material = models.CharField(max_length=40)
    patient_ref = models.CharField(max_length=40)
    state = models.CharField(max_length=16, default="received")
    notes = models.TextField(blank=True)
    received_at = models.DateTimeField(auto_now_add=True)
    released_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)

    objects = SampleQuerySet.as_manager()


class Result(models.Model):
    sample = models.ForeignKey(Sample, related_name="results", on_delete=models.CASCADE)
    analyte = models.CharField(max_length=40)
    value = models.FloatField()
    unit = models.CharField(max_length=16)
    comment = models.TextField(blank=True)
    measured_at = models.DateTimeField()
