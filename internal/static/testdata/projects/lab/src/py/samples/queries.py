from dataclasses import dataclass, field

from django.db import connection

from .models import Sample

SORTABLE = {"barcode": "barcode", "received": "received_at", "material": "material"}
PERIODS = {"day": "day", "week": "week", "month": "month"}


@dataclass
class SampleCriteria:
    material: str = ""
    states: list[str] = field(default_factory=list)
    sort: str = "received"
    analyte: str = ""
    group: str = "material"
    period: str = "month"

    @classmethod
    def from_params(cls, params):
        return cls(
            material=params.get("material", ""),
            states=params.getlist("state"),
            sort=params.get("sort", "received"),
            analyte=params.get("analyte", ""),
            group=params.get("group", "material"),
            period=params.get("period", "month"),
        )


def list_samples(user, criteria):
    found = Sample.objects.visible_to(user)
    if criteria.material:
        found = found.filter(material__icontains=criteria.material)
    if criteria.states:
        found = found.filter(state__in=criteria.states)
    return found.order_by(SORTABLE.get(criteria.sort, "received_at"))


def _conditions(criteria):
    parts = ["r.value IS NOT NULL"]
    if criteria.analyte:
        parts.append("r.analyte = '%s'" % criteria.analyte)
    if criteria.states:
        parts.append("s.state <> 'discarded'")
    return parts


def averages(criteria):
    clause = " AND ".join(_conditions(criteria))
    sql = f"""
        SELECT s.material, AVG(r.value), COUNT(*)
          FROM samples_result r JOIN samples_sample s ON s.id = r.sample_id
         WHERE {clause}
         GROUP BY s.material
    """
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall()


def turnaround(laboratory_id, criteria):
    unit = PERIODS.get(criteria.period, "month")
    sql = f"""
        SELECT date_trunc('{unit}', s.received_at) AS slot, AVG(r.measured_at - s.received_at)
          FROM samples_sample s JOIN samples_result r ON r.sample_id = s.id
         WHERE s.laboratory_id = %s AND s.material = %s
         GROUP BY slot ORDER BY slot
    """
    with connection.cursor() as cursor:
        cursor.execute(sql, [laboratory_id, criteria.material])
        return cursor.fetchall()


def outliers(user, analyte, limit):
    return Sample.objects.raw(
        "SELECT s.* FROM samples_sample s JOIN samples_result r ON r.sample_id = s.id"
        " JOIN samples_laboratory_staff f ON f.laboratory_id = s.laboratory_id"
        " WHERE f.user_id = %s AND r.analyte = %s AND r.value > %s",
        [user.pk, analyte, limit],
    )


def grouped(user, criteria):
    rows = Sample.objects.visible_to(user).extra(select={"slot": criteria.group})
    return list(rows.values("slot", "barcode")[:500])


def mark_states(barcodes, state):
    if not barcodes:
        return 0
    marks = ", ".join(["%s"] * len(barcodes))
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE samples_sample SET state = %s WHERE barcode IN ({marks})",
            [state, *barcodes],
        )
        return cursor.rowcount
