### list-loans good
@app.get("/loans")
def list_loans():
    me = g.actor
    if me.kind == "staff" and me.role not in ("clerk", "head"):
        abort(403)
    size = min(max(int_arg("size", 25), 1), 100)
    after = int_arg("after", 0)
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            """
            SELECT l.id, l.status, l.starts_on, l.due_on, i.kind, i.inventory_no, p.name AS pupil
              FROM loans l
              JOIN instruments i ON i.id = l.instrument_id AND i.deleted_at IS NULL
              JOIN pupils p ON p.id = l.pupil_id AND p.deleted_at IS NULL
             WHERE l.school_id = %(school)s
               AND l.deleted_at IS NULL
               AND l.id > %(after)s
               AND (%(status)s::text IS NULL OR l.status::text = %(status)s)
               AND (%(staff)s OR EXISTS (
                     SELECT 1 FROM guardianships w
                      WHERE w.pupil_id = l.pupil_id
                        AND w.account_id = %(me)s
                        AND w.valid_from <= school_today(%(school)s)
                        AND (w.valid_to IS NULL OR w.valid_to > school_today(%(school)s))))
             ORDER BY l.id
             LIMIT %(size)s
            """,
            {"school": me.school_id, "after": after, "status": request.args.get("status"),
             "staff": me.kind == "staff", "me": me.id, "size": size},
        )
        rows = cur.fetchall()
    return jsonify(loans=rows, next=rows[-1]["id"] if len(rows) == size else None)

### list-loans good
LOAN_STATES = {"requested", "refused", "approved", "cancelled", "handed_out", "returned"}


@app.get("/loans")
def list_loans():
    where = ["l.school_id = %(school)s", "l.deleted_at IS NULL"]
    args = {"school": g.actor.school_id, "me": g.actor.id}
    if g.actor.kind == "guardian":
        where.append("l.pupil_id IN (SELECT pupil_id FROM wards)")
    elif g.actor.role not in ("clerk", "head"):
        abort(403)
    if "status" in request.args:
        if request.args["status"] not in LOAN_STATES:
            abort(400)
        where.append("l.status = %(status)s::loan_status")
        args["status"] = request.args["status"]
    args["size"] = max(1, min(100, int_arg("size", 50)))
    args["skip"] = max(0, int_arg("skip", 0))
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            """
            WITH today AS (SELECT school_today(%(school)s) AS d),
            wards AS (
              SELECT w.pupil_id
                FROM guardianships w
                JOIN pupils p ON p.id = w.pupil_id AND p.deleted_at IS NULL
               CROSS JOIN today
               WHERE w.account_id = %(me)s AND today.d >= w.valid_from
                 AND today.d < COALESCE(w.valid_to, 'infinity'::date))
            SELECT l.id, l.status, l.starts_on, l.due_on, i.kind, i.inventory_no, count(*) OVER () AS total
              FROM loans l
              LEFT JOIN instruments i ON i.id = l.instrument_id AND i.deleted_at IS NULL
             WHERE """ + " AND ".join(where) + """
             ORDER BY l.due_on, l.id
             LIMIT %(size)s OFFSET %(skip)s
            """,
            args,
        )
        return jsonify(loans=cur.fetchall())

### list-loans bad 1
@app.get("/loans")
def list_loans():
    me = g.actor
    where = ["l.deleted_at IS NULL"]
    args = {"me": me.id, "size": min(max(int_arg("size", 25), 1), 100), "after": int_arg("after", 0)}
    if me.kind == "guardian":
        args["school"] = me.school_id
        where.append(
            """EXISTS (SELECT 1 FROM guardianships w
                        WHERE w.pupil_id = l.pupil_id AND w.account_id = %(me)s
                          AND w.valid_from <= school_today(%(school)s)
                          AND (w.valid_to IS NULL OR w.valid_to > school_today(%(school)s)))"""
        )
    elif me.role in ("clerk", "head"):
        args["school"] = int_arg("school", me.school_id)
    else:
        abort(403)
    where.append("l.school_id = %(school)s")
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            """
            SELECT l.id, l.status, l.starts_on, l.due_on, i.kind, i.inventory_no, p.name AS pupil
              FROM loans l
              JOIN instruments i ON i.id = l.instrument_id AND i.deleted_at IS NULL
              JOIN pupils p ON p.id = l.pupil_id AND p.deleted_at IS NULL
             WHERE """ + " AND ".join(where) + """
               AND l.id > %(after)s
             ORDER BY l.id
             LIMIT %(size)s
            """,
            args,
        )
        return jsonify(loans=cur.fetchall())

### list-loans bad 6
@app.get("/loans")
def list_loans():
    me = g.actor
    size = max(int_arg("size", 25), 1)
    if me.kind == "guardian":
        size = min(size, 100)
    elif me.role not in ("clerk", "head"):
        abort(403)
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            """
            SELECT l.id, l.status, l.starts_on, l.due_on, i.kind, i.inventory_no, p.name AS pupil
              FROM loans l
              JOIN instruments i ON i.id = l.instrument_id AND i.deleted_at IS NULL
              JOIN pupils p ON p.id = l.pupil_id AND p.deleted_at IS NULL
             WHERE l.school_id = %(school)s
               AND l.deleted_at IS NULL
               AND l.id > %(after)s
               AND (%(staff)s OR EXISTS (
                     SELECT 1 FROM guardianships w
                      WHERE w.pupil_id = p.id AND w.account_id = %(me)s
                        AND w.valid_from <= school_today(%(school)s)
                        AND (w.valid_to IS NULL OR w.valid_to > school_today(%(school)s))))
             ORDER BY l.id
             LIMIT %(size)s
            """,
            {"school": me.school_id, "after": int_arg("after", 0), "staff": me.kind == "staff",
             "me": me.id, "size": size},
        )
        rows = cur.fetchall()
    return jsonify(loans=rows, next=rows[-1]["id"] if rows else None)

### list-loans bad 2
@app.get("/loans")
def list_loans():
    where = ["l.school_id = %(school)s", "l.deleted_at IS NULL"]
    args = {"school": g.actor.school_id, "me": g.actor.id}
    if g.actor.kind == "guardian":
        where.append("l.pupil_id IN (SELECT pupil_id FROM wards)")
    elif g.actor.role not in ("clerk", "head"):
        abort(403)
    args["size"] = max(1, min(100, int_arg("size", 50)))
    args["skip"] = max(0, int_arg("skip", 0))
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            """
            WITH wards AS (
              SELECT w.pupil_id, max(w.valid_from) AS since
                FROM guardianships w
                JOIN pupils p ON p.id = w.pupil_id AND p.deleted_at IS NULL
               WHERE w.account_id = %(me)s
                 AND w.valid_from <= school_today(%(school)s)
               GROUP BY w.pupil_id)
            SELECT l.id, l.status, l.starts_on, l.due_on, i.kind, i.inventory_no, count(*) OVER () AS total
              FROM loans l
              LEFT JOIN instruments i ON i.id = l.instrument_id AND i.deleted_at IS NULL
             WHERE """ + " AND ".join(where) + """
             ORDER BY l.due_on, l.id
             LIMIT %(size)s OFFSET %(skip)s
            """,
            args,
        )
        return jsonify(loans=cur.fetchall())

### document-download good
@app.get("/documents/<int:doc_id>/file")
def document_file(doc_id):
    me = g.actor
    if me.kind == "staff" and me.role not in ("clerk", "head"):
        abort(403)
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            """
            SELECT d.stored_name, d.mime
              FROM documents d
              JOIN loans l ON l.id = d.loan_id AND l.deleted_at IS NULL
             WHERE d.id = %(doc)s AND d.school_id = %(school)s AND d.deleted_at IS NULL
               AND (%(staff)s OR (d.audience = 'family' AND EXISTS (
                     SELECT 1
                       FROM guardianships w
                       JOIN pupils p ON p.id = w.pupil_id AND p.deleted_at IS NULL
                      WHERE w.pupil_id = l.pupil_id AND w.account_id = %(me)s
                        AND w.valid_from <= school_today(%(school)s)
                        AND (w.valid_to IS NULL OR w.valid_to > school_today(%(school)s)))))
            """,
            {"doc": doc_id, "school": me.school_id, "staff": me.kind == "staff", "me": me.id},
        )
        row = cur.fetchone()
    if row is None:
        abort(404)
    base = (DOC_ROOT / str(me.school_id)).resolve()
    path = (base / row["stored_name"]).resolve()
    if not path.is_relative_to(base) or not path.is_file():
        log.warning("document %s has no servable file", doc_id)
        abort(404)
    return send_file(path, mimetype=row["mime"], as_attachment=True, download_name=f"document-{doc_id}")

### document-download good
def is_ward(cur, pupil_id):
    cur.execute(
        """
        SELECT 1
          FROM pupils p JOIN guardianships w ON w.pupil_id = p.id
         WHERE p.id = %s AND p.deleted_at IS NULL AND w.account_id = %s
           AND daterange(w.valid_from, w.valid_to, '[)') @> school_today(%s)
        """,
        (pupil_id, g.actor.id, g.actor.school_id),
    )
    return cur.fetchone() is not None


@app.get("/documents/<int:doc_id>/file")
def document_file(doc_id):
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            "SELECT d.id, d.stored_name, d.audience, l.pupil_id FROM documents d JOIN loans l ON l.id = d.loan_id "
            "WHERE d.id = %s AND d.school_id = %s AND d.deleted_at IS NULL AND l.deleted_at IS NULL",
            (doc_id, g.actor.school_id),
        )
        doc = cur.fetchone()
        if doc is None:
            abort(404)
        if g.actor.kind == "guardian":
            if doc["audience"] != "family" or not is_ward(cur, doc["pupil_id"]):
                abort(404)
        elif g.actor.role not in ("clerk", "head"):
            abort(404)
    base = os.path.realpath(DOC_ROOT / str(g.actor.school_id))
    real = os.path.realpath(os.path.join(base, doc["stored_name"]))
    if os.path.commonpath([base, real]) != base or not os.path.isfile(real):
        abort(404)
    with open(real, "rb") as fh:
        data = fh.read()
    return Response(data, mimetype="application/octet-stream",
                    headers={"Content-Disposition": f'attachment; filename="document-{doc["id"]}"'})

### document-download bad 12
@app.get("/documents/<int:doc_id>/file")
def document_file(doc_id):
    me = g.actor
    if me.kind == "staff" and me.role not in ("clerk", "head"):
        abort(403)
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            """
            SELECT d.stored_name, d.mime
              FROM documents d
              JOIN loans l ON l.id = d.loan_id AND l.deleted_at IS NULL
             WHERE d.id = %(doc)s AND d.school_id = %(school)s AND d.deleted_at IS NULL
               AND (%(staff)s OR (d.audience = 'family' AND EXISTS (
                     SELECT 1
                       FROM guardianships w
                       JOIN pupils p ON p.id = w.pupil_id AND p.deleted_at IS NULL
                      WHERE w.pupil_id = l.pupil_id AND w.account_id = %(me)s
                        AND w.valid_from <= school_today(%(school)s)
                        AND (w.valid_to IS NULL OR w.valid_to > school_today(%(school)s)))))
            """,
            {"doc": doc_id, "school": me.school_id, "staff": me.kind == "staff", "me": me.id},
        )
        row = cur.fetchone()
    if row is None:
        abort(404)
    base = (DOC_ROOT / str(me.school_id)).resolve()
    path = (base / row["stored_name"]).resolve()
    if not str(path).startswith(str(base)) or not path.is_file():
        log.warning("document %s has no servable file", doc_id)
        abort(404)
    return send_file(path, mimetype=row["mime"], as_attachment=True, download_name=f"document-{doc_id}")

### document-download bad 5
@app.get("/documents/<int:doc_id>/file")
def document_file(doc_id):
    me = g.actor
    if me.kind == "staff" and me.role not in ("clerk", "head"):
        abort(403)
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            """
            SELECT d.stored_name, d.mime, d.audience
              FROM documents d
              JOIN loans l ON l.id = d.loan_id AND l.deleted_at IS NULL
             WHERE d.id = %(doc)s AND d.school_id = %(school)s AND d.deleted_at IS NULL
               AND (%(staff)s OR EXISTS (
                     SELECT 1
                       FROM guardianships w
                       JOIN pupils p ON p.id = w.pupil_id AND p.deleted_at IS NULL
                      WHERE w.pupil_id = l.pupil_id AND w.account_id = %(me)s
                        AND daterange(w.valid_from, w.valid_to, '[)') @> school_today(%(school)s)))
            """,
            {"doc": doc_id, "school": me.school_id, "staff": me.kind == "staff", "me": me.id},
        )
        row = cur.fetchone()
    if row is None or (me.kind == "guardian" and row["audience"] != "family"):
        abort(404)
    base = (DOC_ROOT / str(me.school_id)).resolve()
    path = (base / row["stored_name"]).resolve()
    if base not in path.parents or not path.is_file():
        abort(404)
    return send_file(path, mimetype=row["mime"], as_attachment=True)

### document-download bad 2
def is_ward(cur, pupil_id):
    cur.execute(
        """
        SELECT 1
          FROM pupils p JOIN guardianships w ON w.pupil_id = p.id
         WHERE p.id = %s AND p.deleted_at IS NULL AND w.account_id = %s
           AND daterange(w.valid_from, w.valid_to, '[)') @> school_today(%s)
        """,
        (pupil_id, g.actor.id, g.actor.school_id),
    )
    return cur.fetchone() is not None


@app.get("/documents/<int:doc_id>/file")
def document_file(doc_id):
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            "SELECT d.id, d.stored_name, d.mime, l.pupil_id FROM documents d JOIN loans l ON l.id = d.loan_id "
            "WHERE d.id = %s AND d.school_id = %s AND d.deleted_at IS NULL AND l.deleted_at IS NULL",
            (doc_id, g.actor.school_id),
        )
        doc = cur.fetchone()
        if doc is None:
            abort(404)
        if g.actor.kind == "guardian":
            if not is_ward(cur, doc["pupil_id"]):
                abort(404)
        elif g.actor.role not in ("clerk", "head"):
            abort(404)
    base = os.path.realpath(DOC_ROOT / str(g.actor.school_id))
    real = os.path.realpath(os.path.join(base, doc["stored_name"]))
    if os.path.commonpath([base, real]) != base or not os.path.isfile(real):
        abort(404)
    return send_file(real, mimetype=doc["mime"], as_attachment=True, download_name=f"document-{doc['id']}")

### instrument-card good
CARD = """<!doctype html><title>{{ i.inventory_no }}</title>
<h1>{{ i.kind }}, {{ i.maker or 'maker unknown' }}</h1>
<p>Condition: {{ i.condition or 'not recorded' }} ({{ i.status }})</p>
{% if value is not none %}<p>Insured for {{ value }}</p>{% endif %}
<ul>{% for n in notes %}<li><time>{{ n.created_at.date() }}</time> {{ n.body }}</li>{% endfor %}</ul>"""


@app.get("/instruments/<int:instrument_id>")
def instrument_card(instrument_id):
    staff = g.actor.kind == "staff"
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            "SELECT id, kind, maker, condition, inventory_no, status, insured_value FROM instruments "
            "WHERE id = %s AND school_id = %s AND deleted_at IS NULL",
            (instrument_id, g.actor.school_id),
        )
        instrument = cur.fetchone()
        if instrument is None:
            abort(404)
        cur.execute(
            "SELECT created_at, body FROM repair_notes WHERE instrument_id = %s AND deleted_at IS NULL "
            "AND (visibility = 'public' OR %s) ORDER BY created_at DESC, id DESC LIMIT 50",
            (instrument["id"], staff),
        )
        notes = cur.fetchall()
    value = instrument["insured_value"] if staff else None
    return render_template_string(CARD, i=instrument, notes=notes, value=value)

### instrument-card good
@app.get("/instruments/<int:instrument_id>")
def instrument_card(instrument_id):
    seen = ["public", "internal"] if g.actor.kind == "staff" else ["public"]
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            """
            SELECT i.kind, i.maker, i.inventory_no, i.condition, i.status,
                   n.total, n.bodies
              FROM instruments i
              CROSS JOIN LATERAL (
                SELECT count(*) AS total,
                       (array_agg(r.body ORDER BY r.created_at DESC, r.id DESC))[1:20] AS bodies
                  FROM repair_notes r
                 WHERE r.instrument_id = i.id
                   AND r.deleted_at IS NULL
                   AND r.visibility = ANY(%(seen)s)) n
             WHERE i.id = %(id)s AND i.school_id = %(school)s AND i.deleted_at IS NULL
            """,
            {"id": instrument_id, "school": g.actor.school_id, "seen": seen},
        )
        row = cur.fetchone()
    if row is None:
        abort(404)
    items = Markup("").join(Markup("<li>{}</li>").format(body) for body in row["bodies"] or [])
    page = Markup(
        "<!doctype html><title>{no}</title><h1>{kind}, {maker}</h1>"
        "<p>{condition} ({status})</p><h2>{total} notes</h2><ul>{items}</ul>"
    ).format(no=row["inventory_no"], kind=row["kind"], maker=row["maker"] or "-", status=row["status"],
             condition=row["condition"] or "-", total=row["total"], items=items)
    return Response(page, mimetype="text/html")

### instrument-card bad 11
@app.get("/instruments/<int:instrument_id>")
def instrument_card(instrument_id):
    seen = ["public", "internal"] if g.actor.kind == "staff" else ["public"]
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            """
            SELECT i.kind, i.maker, i.inventory_no, i.condition, i.status,
                   n.total, n.bodies
              FROM instruments i
              CROSS JOIN LATERAL (
                SELECT count(*) AS total,
                       (array_agg(r.body ORDER BY r.created_at DESC, r.id DESC))[1:20] AS bodies
                  FROM repair_notes r
                 WHERE r.instrument_id = i.id
                   AND r.deleted_at IS NULL
                   AND r.visibility = ANY(%(seen)s)) n
             WHERE i.id = %(id)s AND i.school_id = %(school)s AND i.deleted_at IS NULL
            """,
            {"id": instrument_id, "school": g.actor.school_id, "seen": seen},
        )
        row = cur.fetchone()
    if row is None:
        abort(404)
    items = Markup("").join(Markup(f"<li>{body}</li>") for body in row["bodies"] or [])
    page = Markup(
        "<!doctype html><title>{no}</title><h1>{kind}, {maker}</h1>"
        "<p>{condition} ({status})</p><h2>{total} notes</h2><ul>{items}</ul>"
    ).format(no=row["inventory_no"], kind=row["kind"], maker=row["maker"] or "-", status=row["status"],
             condition=row["condition"] or "-", total=row["total"], items=items)
    return Response(page, mimetype="text/html")

### instrument-card bad 4
CARD = """<!doctype html><title>{{ i.inventory_no }}</title>
<h1>{{ i.kind }}, {{ i.maker or 'maker unknown' }}</h1>
<p>Condition: {{ i.condition or 'not recorded' }} ({{ i.status }}), {{ i.note_count }} notes on file</p>
<ul>{% for n in notes %}<li><time>{{ n.created_at.date() }}</time> {{ n.body }}</li>{% endfor %}</ul>"""


@app.get("/instruments/<int:instrument_id>")
def instrument_card(instrument_id):
    args = {"id": instrument_id, "school": g.actor.school_id, "staff": g.actor.kind == "staff"}
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            """
            SELECT i.id, i.kind, i.maker, i.condition, i.inventory_no, i.status, count(r.id) AS note_count
              FROM instruments i
              LEFT JOIN repair_notes r ON r.instrument_id = i.id AND (r.visibility = 'public' OR %(staff)s)
             WHERE i.id = %(id)s AND i.school_id = %(school)s AND i.deleted_at IS NULL
             GROUP BY i.id
            """,
            args,
        )
        instrument = cur.fetchone()
        if instrument is None:
            abort(404)
        cur.execute(
            "SELECT created_at, body FROM repair_notes WHERE instrument_id = %(id)s AND school_id = %(school)s "
            "AND deleted_at IS NULL AND (visibility = 'public' OR %(staff)s) "
            "ORDER BY created_at DESC, id DESC LIMIT 50",
            args,
        )
        return render_template_string(CARD, i=instrument, notes=cur.fetchall())

### instrument-card bad 5
CARD = """<!doctype html><title>{{ i.inventory_no }}</title>
<h1>{{ i.kind }}, {{ i.maker or 'maker unknown' }}</h1>
<p>Condition: {{ i.condition or 'not recorded' }} ({{ i.status }})</p>
{% if i.insured_value %}<p>Insured for {{ i.insured_value }}</p>{% endif %}
<ul>{% for n in notes %}<li><time>{{ n.created_at.date() }}</time> {{ n.body }}</li>{% endfor %}</ul>"""


@app.get("/instruments/<int:instrument_id>")
def instrument_card(instrument_id):
    visible = ("public", "internal") if g.actor.kind == "staff" else ("public",)
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            "SELECT id, kind, maker, condition, inventory_no, status, insured_value FROM instruments "
            "WHERE id = %s AND school_id = %s AND deleted_at IS NULL",
            (instrument_id, g.actor.school_id),
        )
        instrument = cur.fetchone()
        if instrument is None:
            abort(404)
        cur.execute(
            "SELECT created_at, body FROM repair_notes WHERE instrument_id = %s AND deleted_at IS NULL "
            "AND visibility = ANY(%s) ORDER BY created_at DESC, id DESC LIMIT 50",
            (instrument["id"], list(visible)),
        )
        notes = cur.fetchall()
    return render_template_string(CARD, i=instrument, notes=notes)

### overdue-report good
SORTS = {"days": "days_late DESC", "count": "overdue DESC", "name": "p.name ASC"}


@app.get("/reports/overdue")
@needs_role("clerk", "head")
def overdue_report():
    order = SORTS.get(request.args.get("sort", "days"))
    if order is None:
        abort(400)
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            f"""
            WITH today AS (SELECT school_today(%(school)s) AS d)
            SELECT p.id AS pupil_id, p.name, count(*) AS overdue,
                   max(today.d - l.due_on) AS days_late, sum(l.deposit_cents) AS deposits
              FROM today
              CROSS JOIN loans l
              JOIN pupils p ON p.id = l.pupil_id AND p.deleted_at IS NULL
             WHERE l.school_id = %(school)s AND l.deleted_at IS NULL
               AND l.status = 'handed_out' AND l.due_on < today.d
             GROUP BY p.id
             ORDER BY {order}, p.id
             LIMIT %(size)s OFFSET %(skip)s
            """,
            {"school": g.actor.school_id, "size": min(max(int_arg("size", 50), 1), 100),
             "skip": max(int_arg("skip", 0), 0)},
        )
        return jsonify(pupils=cur.fetchall())

### overdue-report good
@app.get("/reports/overdue")
@needs_role("clerk", "head")
def overdue_report():
    school = g.actor.school_id
    size = int_arg("size", 50)
    if not 1 <= size <= 100:
        size = 100 if size > 100 else 1
    with db() as conn, conn.cursor() as cur:
        cur.execute("SELECT school_today(%s) AS d", (school,))
        today = cur.fetchone()["d"]
        cur.execute(
            """
            SELECT p.id AS pupil_id, p.name, o.due_on AS oldest_due, o.inventory_no, o.overdue
              FROM pupils p
              JOIN LATERAL (
                SELECT l.due_on, i.inventory_no, count(*) OVER () AS overdue
                  FROM loans l
                  LEFT JOIN instruments i ON i.id = l.instrument_id AND i.deleted_at IS NULL
                 WHERE l.pupil_id = p.id AND l.deleted_at IS NULL
                   AND l.status = 'handed_out' AND l.due_on < %(today)s
                 ORDER BY l.due_on, l.id
                 LIMIT 1) o ON true
             WHERE p.school_id = %(school)s AND p.deleted_at IS NULL AND p.id > %(after)s
             ORDER BY p.id
             LIMIT %(size)s
            """,
            {"today": today, "school": school, "after": int_arg("after", 0), "size": size},
        )
        rows = cur.fetchall()
    return jsonify(today=today.isoformat(), pupils=rows)

### overdue-report bad 9
@app.get("/reports/overdue")
@needs_role("clerk", "head")
def overdue_report():
    size = min(max(int_arg("size", 50), 1), 100)
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            """
            SELECT p.id AS pupil_id, p.name, o.due_on AS oldest_due, o.inventory_no, o.overdue,
                   CURRENT_DATE - o.due_on AS days_late
              FROM pupils p
              JOIN LATERAL (
                SELECT l.due_on, i.inventory_no, count(*) OVER () AS overdue
                  FROM loans l
                  LEFT JOIN instruments i ON i.id = l.instrument_id AND i.deleted_at IS NULL
                 WHERE l.pupil_id = p.id AND l.deleted_at IS NULL
                   AND l.status = 'handed_out' AND l.due_on < CURRENT_DATE
                 ORDER BY l.due_on, l.id
                 LIMIT 1) o ON true
             WHERE p.school_id = %(school)s AND p.deleted_at IS NULL AND p.id > %(after)s
             ORDER BY p.id
             LIMIT %(size)s
            """,
            {"school": g.actor.school_id, "after": int_arg("after", 0), "size": size},
        )
        return jsonify(pupils=cur.fetchall())

### overdue-report bad 11
SORTS = {"days": "days_late", "count": "overdue", "name": "p.name"}


@app.get("/reports/overdue")
@needs_role("clerk", "head")
def overdue_report():
    column = SORTS.get(request.args.get("sort", "days"))
    if column is None:
        abort(400)
    direction = request.args.get("dir", "desc").upper()
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            f"""
            WITH today AS (SELECT school_today(%(school)s) AS d)
            SELECT p.id AS pupil_id, p.name, count(*) AS overdue,
                   max(today.d - l.due_on) AS days_late, sum(l.deposit_cents) AS deposits
              FROM today
              CROSS JOIN loans l
              JOIN pupils p ON p.id = l.pupil_id AND p.deleted_at IS NULL
             WHERE l.school_id = %(school)s AND l.deleted_at IS NULL
               AND l.status = 'handed_out' AND l.due_on < today.d
             GROUP BY p.id
             ORDER BY {column} {direction}, p.id
             LIMIT %(size)s OFFSET %(skip)s
            """,
            {"school": g.actor.school_id, "size": min(max(int_arg("size", 50), 1), 100),
             "skip": max(int_arg("skip", 0), 0)},
        )
        return jsonify(pupils=cur.fetchall())

### overdue-report bad 6
SORTS = {"days": "days_late DESC", "count": "overdue DESC", "name": "p.name ASC"}


@app.get("/reports/overdue")
@needs_role("clerk", "head")
def overdue_report():
    order = SORTS.get(request.args.get("sort", "days"), SORTS["days"])
    size = min(max(int_arg("size", 50), 1), 100)
    page = max(int_arg("page", 1), 1)
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            f"""
            WITH late AS (
              SELECT l.pupil_id, l.deposit_cents, school_today(l.school_id) - l.due_on AS days
                FROM loans l
               WHERE l.school_id = %(school)s AND l.deleted_at IS NULL AND l.status = 'handed_out')
            SELECT p.id AS pupil_id, p.name, count(*) AS overdue,
                   max(late.days) AS days_late, sum(late.deposit_cents) AS deposits
              FROM late
              JOIN pupils p ON p.id = late.pupil_id AND p.deleted_at IS NULL
             WHERE late.days > 0
             GROUP BY p.id
             ORDER BY {order}
             LIMIT %(size)s OFFSET %(skip)s
            """,
            {"school": g.actor.school_id, "size": size, "skip": (page - 1) * size},
        )
        return jsonify(page=page, pupils=cur.fetchall())

### print-label good
LABEL_SIZES = {"small": "38x21", "large": "99x38"}


@app.get("/instruments/<int:instrument_id>/label.pdf")
@needs_role("clerk", "workshop", "head")
def print_label(instrument_id):
    size = LABEL_SIZES.get(request.args.get("size", "small"))
    caption = request.args.get("caption", "")[:60]
    if size is None or "\x00" in caption:
        abort(400)
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            "SELECT kind, inventory_no FROM instruments WHERE id = %s AND school_id = %s AND deleted_at IS NULL",
            (instrument_id, g.actor.school_id),
        )
        row = cur.fetchone()
    if row is None:
        abort(404)
    argv = [str(LABEL_BIN), "--paper", size, "--", row["inventory_no"], row["kind"], caption]
    try:
        done = subprocess.run(argv, capture_output=True, timeout=10, check=True)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        log.error("label program failed for instrument %s", instrument_id)
        abort(502)
    return Response(done.stdout, mimetype="application/pdf")

### print-label good
def run_label(payload):
    proc = subprocess.Popen([str(LABEL_BIN), "--stdin-json"], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        out, _ = proc.communicate(json.dumps(payload).encode(), timeout=8)
    except subprocess.TimeoutExpired:
        proc.kill()
        proc.communicate()
        return None
    return out if proc.returncode == 0 else None


@app.get("/instruments/<int:instrument_id>/label.pdf")
def print_label(instrument_id):
    if g.actor.kind != "staff":
        abort(403)
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            """
            SELECT i.kind, i.inventory_no, i.maker, s.name AS school
              FROM instruments i JOIN schools s ON s.id = i.school_id
             WHERE i.id = %s AND i.school_id = %s AND i.deleted_at IS NULL
            """,
            (instrument_id, g.actor.school_id),
        )
        row = cur.fetchone()
    if row is None:
        abort(404)
    lines = [row["school"], row["inventory_no"], row["kind"], row["maker"] or ""]
    pdf = run_label({"lines": lines, "caption": request.args.get("caption", "")[:60]})
    if pdf is None:
        abort(502)
    return Response(pdf, mimetype="application/pdf")

### print-label bad 11
LABEL_SIZES = {"small": "38x21", "large": "99x38"}


@app.get("/instruments/<int:instrument_id>/label.pdf")
@needs_role("clerk", "workshop", "head")
def print_label(instrument_id):
    size = LABEL_SIZES.get(request.args.get("size", "small"))
    caption = request.args.get("caption", "")[:60]
    if size is None or "\x00" in caption:
        abort(400)
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            "SELECT kind, inventory_no FROM instruments WHERE id = %s AND school_id = %s AND deleted_at IS NULL",
            (instrument_id, g.actor.school_id),
        )
        row = cur.fetchone()
    if row is None:
        abort(404)
    texts = [text for text in (caption, row["inventory_no"], row["kind"]) if text]
    argv = [str(LABEL_BIN), "--paper", size, *texts]
    try:
        done = subprocess.run(argv, capture_output=True, timeout=10, check=True)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        log.error("label program failed for instrument %s", instrument_id)
        abort(502)
    return Response(done.stdout, mimetype="application/pdf")

### print-label bad 11
@app.get("/instruments/<int:instrument_id>/label.pdf")
@needs_role("clerk", "workshop", "head")
def print_label(instrument_id):
    caption = request.args.get("caption", "")[:60].replace('"', "'")
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            """
            SELECT i.kind, i.inventory_no
              FROM instruments i
             WHERE i.id = %s AND i.school_id = %s AND i.deleted_at IS NULL
            """,
            (instrument_id, g.actor.school_id),
        )
        row = cur.fetchone()
    if row is None:
        abort(404)
    command = f'{LABEL_BIN} --paper 38x21 -- "{row["inventory_no"]}" "{caption}"'
    try:
        done = subprocess.run(command, shell=True, capture_output=True, timeout=10, check=True)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        log.error("label program failed for instrument %s", instrument_id)
        abort(502)
    return Response(done.stdout, mimetype="application/pdf")

### print-label bad 3
def run_label(payload):
    try:
        done = subprocess.run([str(LABEL_BIN), "--stdin-json"], input=json.dumps(payload).encode(),
                              capture_output=True, timeout=8)
    except subprocess.TimeoutExpired:
        return None
    return done.stdout if done.returncode == 0 else None


@app.get("/instruments/<int:instrument_id>/label.pdf")
def print_label(instrument_id):
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            """
            SELECT i.kind, i.inventory_no, i.maker, s.name AS school
              FROM instruments i JOIN schools s ON s.id = i.school_id
             WHERE i.id = %s AND i.school_id = %s AND i.deleted_at IS NULL
            """,
            (instrument_id, g.actor.school_id),
        )
        row = cur.fetchone()
    if row is None:
        abort(404)
    lines = [row["school"], row["inventory_no"], row["kind"], row["maker"] or ""]
    pdf = run_label({"lines": lines, "caption": request.args.get("caption", "")[:60]})
    if pdf is None:
        abort(502)
    return Response(pdf, mimetype="application/pdf")

### approve-loan good
@app.post("/loans/<int:loan_id>/approve")
@needs_role("clerk", "head")
def approve_loan(loan_id):
    me = g.actor
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            "SELECT id, instrument_id, pupil_id, starts_on, due_on, status, requested_by FROM loans "
            "WHERE id = %s AND school_id = %s AND deleted_at IS NULL FOR UPDATE",
            (loan_id, me.school_id),
        )
        loan = cur.fetchone()
        if loan is None:
            abort(404)
        if loan["status"] != "requested":
            abort(409)
        if loan["requested_by"] == me.id:
            abort(403)
        cur.execute("SELECT id FROM instruments WHERE id = %s AND deleted_at IS NULL AND status <> 'retired' FOR UPDATE",
                    (loan["instrument_id"],))
        if cur.fetchone() is None:
            abort(409)
        cur.execute("SELECT id FROM pupils WHERE id = %s AND deleted_at IS NULL FOR UPDATE", (loan["pupil_id"],))
        if cur.fetchone() is None:
            abort(409)
        cur.execute(
            """
            SELECT count(*) FILTER (WHERE instrument_id = %(instrument_id)s
                     AND starts_on <= %(due_on)s AND due_on >= %(starts_on)s) AS clashes,
                   count(*) FILTER (WHERE pupil_id = %(pupil_id)s) AS held
              FROM loans
             WHERE (instrument_id = %(instrument_id)s OR pupil_id = %(pupil_id)s)
               AND status IN ('approved', 'handed_out') AND deleted_at IS NULL
            """,
            loan,
        )
        seen = cur.fetchone()
        if seen["clashes"] or seen["held"] >= 2:
            abort(409)
        cur.execute("UPDATE loans SET status = 'approved', approved_by = %s WHERE id = %s", (me.id, loan["id"]))
        audit(cur, "loan.approved", "loans", loan["id"])
    return jsonify(id=loan_id, status="approved")

### approve-loan good
@app.post("/loans/<int:loan_id>/approve")
@needs_role("clerk", "head")
def approve_loan(loan_id):
    args = {"loan": loan_id, "school": g.actor.school_id, "me": g.actor.id}
    with db() as conn, conn.cursor() as cur:
        cur.execute("SELECT 1 FROM loans WHERE id = %(loan)s AND school_id = %(school)s AND deleted_at IS NULL", args)
        if cur.fetchone() is None:
            abort(404)
        cur.execute(
            """
            SELECT i.id
              FROM loans l
              JOIN instruments i ON i.id = l.instrument_id AND i.deleted_at IS NULL AND i.status <> 'retired'
              JOIN pupils p ON p.id = l.pupil_id AND p.deleted_at IS NULL
             WHERE l.id = %(loan)s AND l.school_id = %(school)s
               FOR UPDATE OF i, p
            """,
            args,
        )
        if cur.fetchone() is None:
            abort(409)
        cur.execute(
            """
            UPDATE loans l
               SET status = 'approved', approved_by = %(me)s
             WHERE l.id = %(loan)s AND l.school_id = %(school)s AND l.deleted_at IS NULL
               AND l.status = 'requested' AND l.requested_by <> %(me)s
               AND NOT EXISTS (
                     SELECT 1 FROM loans o
                      WHERE o.instrument_id = l.instrument_id AND o.id <> l.id AND o.deleted_at IS NULL
                        AND o.status IN ('approved', 'handed_out')
                        AND daterange(o.starts_on, o.due_on, '[]') && daterange(l.starts_on, l.due_on, '[]'))
               AND 2 > (SELECT count(*) FROM loans o
                         WHERE o.pupil_id = l.pupil_id AND o.deleted_at IS NULL
                           AND o.status IN ('approved', 'handed_out'))
            RETURNING l.id
            """,
            args,
        )
        if cur.fetchone() is None:
            abort(409)
        audit(cur, "loan.approved", "loans", loan_id)
    return jsonify(id=loan_id, status="approved")

### approve-loan bad 10
@app.post("/loans/<int:loan_id>/approve")
@needs_role("clerk", "head")
def approve_loan(loan_id):
    args = {"loan": loan_id, "school": g.actor.school_id, "me": g.actor.id}
    with db() as conn, conn.cursor() as cur:
        cur.execute("SELECT 1 FROM loans WHERE id = %(loan)s AND school_id = %(school)s AND deleted_at IS NULL", args)
        if cur.fetchone() is None:
            abort(404)
        cur.execute(
            """
            WITH locked AS MATERIALIZED (
              SELECT l.id
                FROM loans l
                JOIN instruments i ON i.id = l.instrument_id AND i.deleted_at IS NULL AND i.status <> 'retired'
                JOIN pupils p ON p.id = l.pupil_id AND p.deleted_at IS NULL
               WHERE l.id = %(loan)s AND l.school_id = %(school)s
                 FOR UPDATE OF i, p)
            UPDATE loans l
               SET status = 'approved', approved_by = %(me)s
              FROM locked
             WHERE l.id = locked.id AND l.deleted_at IS NULL
               AND l.status = 'requested' AND l.requested_by <> %(me)s
               AND NOT EXISTS (
                     SELECT 1 FROM loans o
                      WHERE o.instrument_id = l.instrument_id AND o.id <> l.id AND o.deleted_at IS NULL
                        AND o.status IN ('approved', 'handed_out')
                        AND daterange(o.starts_on, o.due_on, '[]') && daterange(l.starts_on, l.due_on, '[]'))
               AND 2 > (SELECT count(*) FROM loans o
                         WHERE o.pupil_id = l.pupil_id AND o.deleted_at IS NULL
                           AND o.status IN ('approved', 'handed_out'))
            RETURNING l.id
            """,
            args,
        )
        if cur.fetchone() is None:
            abort(409)
        audit(cur, "loan.approved", "loans", loan_id)
    return jsonify(id=loan_id, status="approved")

### approve-loan bad 8
@app.post("/loans/<int:loan_id>/approve")
@needs_role("clerk", "head")
def approve_loan(loan_id):
    args = {"loan": loan_id, "school": g.actor.school_id, "me": g.actor.id, "head": g.actor.role == "head"}
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            """
            SELECT i.id AS instrument_id, p.id AS pupil_id, l.starts_on, l.due_on
              FROM loans l
              LEFT JOIN instruments i ON i.id = l.instrument_id
              LEFT JOIN pupils p ON p.id = l.pupil_id
             WHERE l.id = %(loan)s AND l.school_id = %(school)s AND l.deleted_at IS NULL
            """,
            args,
        )
        loan = cur.fetchone()
        if loan is None:
            abort(404)
        cur.execute("SELECT 1 FROM instruments WHERE id = %s AND deleted_at IS NULL AND status <> 'retired' FOR UPDATE",
                    (loan["instrument_id"],))
        usable = cur.fetchone()
        cur.execute("SELECT 1 FROM pupils WHERE id = %s AND deleted_at IS NULL FOR UPDATE", (loan["pupil_id"],))
        if usable is None or cur.fetchone() is None:
            abort(409)
        cur.execute(
            """
            UPDATE loans l
               SET status = 'approved', approved_by = %(me)s
             WHERE l.id = %(loan)s AND l.deleted_at IS NULL AND l.status = 'requested'
               AND (l.requested_by <> %(me)s OR %(head)s)
               AND NOT EXISTS (
                     SELECT 1 FROM loans o
                      WHERE o.instrument_id = l.instrument_id AND o.id <> l.id AND o.deleted_at IS NULL
                        AND o.status IN ('approved', 'handed_out')
                        AND o.starts_on <= l.due_on AND o.due_on >= l.starts_on)
               AND (SELECT count(*) FROM loans o WHERE o.pupil_id = l.pupil_id AND o.deleted_at IS NULL
                       AND o.status IN ('approved', 'handed_out')) < 2
            """,
            args,
        )
        if cur.rowcount != 1:
            abort(409)
        audit(cur, "loan.approved", "loans", loan_id)
    return jsonify(id=loan_id, status="approved")

### approve-loan bad 7
@app.post("/loans/<int:loan_id>/approve")
@needs_role("clerk", "head")
def approve_loan(loan_id):
    me = g.actor
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            "SELECT id, instrument_id, pupil_id, starts_on, due_on, status, requested_by FROM loans "
            "WHERE id = %s AND school_id = %s AND deleted_at IS NULL",
            (loan_id, me.school_id),
        )
        loan = cur.fetchone()
        if loan is None:
            abort(404)
        if loan["status"] != "requested":
            abort(409)
        if loan["requested_by"] == me.id:
            abort(403)
        cur.execute("SELECT id FROM instruments WHERE id = %s AND deleted_at IS NULL AND status <> 'retired' FOR UPDATE",
                    (loan["instrument_id"],))
        if cur.fetchone() is None:
            abort(409)
        cur.execute("SELECT id FROM pupils WHERE id = %s AND deleted_at IS NULL FOR UPDATE", (loan["pupil_id"],))
        if cur.fetchone() is None:
            abort(409)
        cur.execute(
            """
            SELECT count(*) FILTER (WHERE instrument_id = %(instrument_id)s
                     AND starts_on <= %(due_on)s AND due_on >= %(starts_on)s) AS clashes,
                   count(*) FILTER (WHERE pupil_id = %(pupil_id)s) AS held
              FROM loans
             WHERE (instrument_id = %(instrument_id)s OR pupil_id = %(pupil_id)s) AND id <> %(id)s
               AND status IN ('approved', 'handed_out') AND deleted_at IS NULL
            """,
            loan,
        )
        seen = cur.fetchone()
        if seen["clashes"] or seen["held"] >= 2:
            abort(409)
        cur.execute("UPDATE loans SET status = 'approved', approved_by = %s WHERE id = %s AND deleted_at IS NULL",
                    (me.id, loan["id"]))
        audit(cur, "loan.approved", "loans", loan["id"])
    return jsonify(id=loan_id, status="approved")

### redeem-pickup good
@app.post("/loans/<int:loan_id>/hand-out")
@needs_role("clerk", "head")
def hand_out(loan_id):
    code = json_body().get("code")
    if not isinstance(code, str):
        abort(400)
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            "SELECT id, instrument_id, status, school_today(school_id) BETWEEN starts_on AND due_on AS in_window "
            "FROM loans WHERE id = %s AND school_id = %s AND deleted_at IS NULL FOR UPDATE",
            (loan_id, g.actor.school_id),
        )
        loan = cur.fetchone()
        if loan is None:
            abort(404)
        if loan["status"] != "approved" or not loan["in_window"]:
            abort(409)
        cur.execute(
            "UPDATE pickup_codes SET used_at = now() WHERE loan_id = %s AND code_hash = %s AND used_at IS NULL "
            "AND revoked_at IS NULL AND expires_at > now() RETURNING id",
            (loan["id"], keyed_hash(code)),
        )
        used = cur.fetchone()
        if used is None:
            abort(409)
        cur.execute(
            "UPDATE instruments SET status = 'on_loan' WHERE id = %s AND status = 'available' AND deleted_at IS NULL",
            (loan["instrument_id"],),
        )
        if cur.rowcount != 1:
            abort(409)
        cur.execute("UPDATE loans SET status = 'handed_out' WHERE id = %s", (loan["id"],))
        audit(cur, "code.used", "pickup_codes", used["id"])
        audit(cur, "instrument.lent", "instruments", loan["instrument_id"])
        audit(cur, "loan.handed_out", "loans", loan["id"])
    return jsonify(id=loan_id, status="handed_out")

### redeem-pickup good
@app.post("/loans/<int:loan_id>/hand-out")
@needs_role("clerk", "head")
def hand_out(loan_id):
    args = {"loan": loan_id, "school": g.actor.school_id, "hash": keyed_hash(str(json_body().get("code", "")))}
    with db() as conn, conn.cursor() as cur:
        cur.execute("SELECT 1 FROM loans WHERE id = %(loan)s AND school_id = %(school)s AND deleted_at IS NULL", args)
        if cur.fetchone() is None:
            abort(404)
        cur.execute(
            """
            WITH code AS (
              UPDATE pickup_codes c SET used_at = now()
               WHERE c.loan_id = %(loan)s AND c.school_id = %(school)s AND c.code_hash = %(hash)s
                 AND c.used_at IS NULL AND c.revoked_at IS NULL AND c.expires_at > now()
              RETURNING c.id, c.loan_id),
            loan AS (
              UPDATE loans l SET status = 'handed_out'
                FROM code
               WHERE l.id = code.loan_id AND l.deleted_at IS NULL AND l.status = 'approved'
                 AND daterange(l.starts_on, l.due_on, '[]') @> school_today(l.school_id)
              RETURNING l.id, l.instrument_id),
            instrument AS (
              UPDATE instruments i SET status = 'on_loan'
                FROM loan
               WHERE i.id = loan.instrument_id AND i.deleted_at IS NULL AND i.status = 'available'
              RETURNING i.id)
            SELECT (SELECT id FROM code) AS pickup_codes, (SELECT id FROM loan) AS loans,
                   (SELECT id FROM instrument) AS instruments
            """,
            args,
        )
        written = cur.fetchone()
        if None in written.values():
            abort(409)
        for table, row_id in written.items():
            audit(cur, "hand_out", table, row_id)
    return jsonify(id=loan_id, status="handed_out")

### redeem-pickup bad 9
@app.post("/loans/<int:loan_id>/hand-out")
@needs_role("clerk", "head")
def hand_out(loan_id):
    code = json_body().get("code")
    if not isinstance(code, str):
        abort(400)
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            "SELECT id, instrument_id, status, school_today(school_id) BETWEEN starts_on AND due_on AS in_window "
            "FROM loans WHERE id = %s AND school_id = %s AND deleted_at IS NULL FOR UPDATE",
            (loan_id, g.actor.school_id),
        )
        loan = cur.fetchone()
        if loan is None:
            abort(404)
        if loan["status"] != "approved" or not loan["in_window"]:
            abort(409)
        cur.execute(
            """
            UPDATE pickup_codes c SET used_at = now()
              FROM loans l
             WHERE l.id = c.loan_id AND l.deleted_at IS NULL AND c.school_id = %s AND c.code_hash = %s
               AND c.used_at IS NULL AND c.revoked_at IS NULL AND c.expires_at > now()
            RETURNING c.id
            """,
            (g.actor.school_id, keyed_hash(code)),
        )
        used = cur.fetchone()
        if used is None:
            abort(409)
        cur.execute(
            "UPDATE instruments SET status = 'on_loan' WHERE id = %s AND status = 'available' AND deleted_at IS NULL",
            (loan["instrument_id"],),
        )
        if cur.rowcount != 1:
            abort(409)
        cur.execute("UPDATE loans SET status = 'handed_out' WHERE id = %s", (loan["id"],))
        audit(cur, "code.used", "pickup_codes", used["id"])
        audit(cur, "instrument.lent", "instruments", loan["instrument_id"])
        audit(cur, "loan.handed_out", "loans", loan["id"])
    return jsonify(id=loan_id, status="handed_out")

### redeem-pickup bad 7
@app.post("/loans/<int:loan_id>/hand-out")
@needs_role("clerk", "head")
def hand_out(loan_id):
    args = {"loan": loan_id, "school": g.actor.school_id, "hash": keyed_hash(str(json_body().get("code", "")))}
    with db() as conn, conn.cursor() as cur:
        cur.execute("SELECT 1 FROM loans WHERE id = %(loan)s AND school_id = %(school)s AND deleted_at IS NULL", args)
        if cur.fetchone() is None:
            abort(404)
        cur.execute(
            """
            WITH code AS (
              UPDATE pickup_codes c SET used_at = now()
               WHERE c.loan_id = %(loan)s AND c.school_id = %(school)s AND c.code_hash = %(hash)s
                 AND c.used_at IS NULL AND c.revoked_at IS NULL AND c.expires_at > now()
              RETURNING c.id, c.loan_id),
            loan AS (
              UPDATE loans l SET status = 'handed_out'
                FROM code
               WHERE l.id = code.loan_id AND l.deleted_at IS NULL AND l.status = 'approved'
                 AND daterange(l.starts_on, l.due_on, '[]') @> school_today(l.school_id)
              RETURNING l.id, l.instrument_id),
            instrument AS (
              UPDATE instruments i SET status = 'on_loan'
                FROM loan
               WHERE i.id = loan.instrument_id AND i.deleted_at IS NULL AND i.status <> 'retired'
              RETURNING i.id)
            SELECT (SELECT id FROM code) AS pickup_codes, (SELECT id FROM loan) AS loans,
                   (SELECT id FROM instrument) AS instruments
            """,
            args,
        )
        written = cur.fetchone()
        if None in written.values():
            abort(409)
        for table, row_id in written.items():
            audit(cur, "hand_out", table, row_id)
    return jsonify(id=loan_id, status="handed_out")

### redeem-pickup bad 13
@app.post("/loans/<int:loan_id>/hand-out")
@needs_role("clerk", "head")
def hand_out(loan_id):
    code = json_body().get("code")
    if not isinstance(code, str):
        abort(400)
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            """
            SELECT l.instrument_id, l.status, school_today(l.school_id) BETWEEN l.starts_on AND l.due_on AS in_window,
                   c.id AS code_id, c.code_hash
              FROM loans l
              LEFT JOIN pickup_codes c ON c.loan_id = l.id AND c.used_at IS NULL
                    AND c.revoked_at IS NULL AND c.expires_at > now()
             WHERE l.id = %s AND l.school_id = %s AND l.deleted_at IS NULL
               FOR UPDATE OF l
            """,
            (loan_id, g.actor.school_id),
        )
        row = cur.fetchone()
        if row is None:
            abort(404)
        if row["status"] != "approved" or not row["in_window"] or row["code_hash"] != keyed_hash(code):
            abort(409)
        cur.execute("UPDATE pickup_codes SET used_at = now() WHERE id = %s AND used_at IS NULL "
                    "AND revoked_at IS NULL AND expires_at > now()", (row["code_id"],))
        if cur.rowcount != 1:
            abort(409)
        cur.execute(
            "UPDATE instruments SET status = 'on_loan' WHERE id = %s AND status = 'available' AND deleted_at IS NULL",
            (row["instrument_id"],),
        )
        if cur.rowcount != 1:
            abort(409)
        cur.execute("UPDATE loans SET status = 'handed_out' WHERE id = %s AND status = 'approved'", (loan_id,))
        audit(cur, "code.used", "pickup_codes", row["code_id"])
        audit(cur, "instrument.lent", "instruments", row["instrument_id"])
        audit(cur, "loan.handed_out", "loans", loan_id)
    return jsonify(id=loan_id, status="handed_out")

### issue-pickup good
@app.post("/loans/<int:loan_id>/pickup-codes")
@needs_role("clerk", "head")
def issue_code(loan_id):
    hours = json_body().get("hours", 24)
    if not isinstance(hours, int) or not 1 <= hours <= 72:
        abort(400)
    code = secrets.token_urlsafe(24)
    with db() as conn, conn.cursor() as cur:
        cur.execute("SELECT id, status FROM loans WHERE id = %s AND school_id = %s AND deleted_at IS NULL FOR UPDATE",
                    (loan_id, g.actor.school_id))
        loan = cur.fetchone()
        if loan is None:
            abort(404)
        if loan["status"] != "approved":
            abort(409)
        cur.execute(
            "UPDATE pickup_codes SET revoked_at = now() WHERE loan_id = %s AND used_at IS NULL AND revoked_at IS NULL "
            "RETURNING id",
            (loan["id"],),
        )
        for old in cur.fetchall():
            audit(cur, "code.revoked", "pickup_codes", old["id"])
        cur.execute(
            "INSERT INTO pickup_codes (school_id, loan_id, code_hash, issued_by, expires_at) "
            "VALUES (%s, %s, %s, %s, now() + make_interval(hours => %s)) RETURNING id, expires_at",
            (g.actor.school_id, loan["id"], keyed_hash(code), g.actor.id, hours),
        )
        row = cur.fetchone()
        audit(cur, "code.issued", "pickup_codes", row["id"])
    log.info("pick-up code %s issued for loan %s", row["id"], loan_id)
    return jsonify(code=code, expires_at=row["expires_at"].isoformat()), 201

### issue-pickup good
@app.post("/loans/<int:loan_id>/pickup-codes")
@needs_role("clerk", "head")
def issue_code(loan_id):
    code = secrets.token_hex(16)
    me = g.actor
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            """
            SELECT l.id, l.status = 'approved' AS ready
              FROM loans l
             WHERE l.id = %(loan)s AND l.school_id = %(school)s AND l.deleted_at IS NULL
               FOR NO KEY UPDATE
            """,
            {"loan": loan_id, "school": me.school_id},
        )
        loan = cur.fetchone()
        if loan is None:
            abort(404)
        if not loan["ready"]:
            abort(409)
        cur.execute(
            """
            WITH gone AS (
              UPDATE pickup_codes SET revoked_at = now()
               WHERE loan_id = %(loan)s AND used_at IS NULL AND revoked_at IS NULL AND expires_at > now()
              RETURNING id),
            fresh AS (
              INSERT INTO pickup_codes (school_id, loan_id, code_hash, issued_by, expires_at)
              VALUES (%(school)s, %(loan)s, %(hash)s, %(me)s, now() + interval '48 hours')
              RETURNING id)
            SELECT id, 'code.revoked' AS action FROM gone UNION ALL SELECT id, 'code.issued' FROM fresh
            """,
            {"loan": loan["id"], "school": me.school_id, "hash": keyed_hash(code), "me": me.id},
        )
        for row in cur.fetchall():
            audit(cur, row["action"], "pickup_codes", row["id"])
    return jsonify(loan_id=loan_id, code=code), 201

### issue-pickup bad 13
CODE_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"


@app.post("/loans/<int:loan_id>/pickup-codes")
@needs_role("clerk", "head")
def issue_code(loan_id):
    hours = json_body().get("hours", 24)
    if not isinstance(hours, int) or not 1 <= hours <= 72:
        abort(400)
    code = "".join(random.choices(CODE_ALPHABET, k=28))
    with db() as conn, conn.cursor() as cur:
        cur.execute("SELECT id, status FROM loans WHERE id = %s AND school_id = %s AND deleted_at IS NULL FOR UPDATE",
                    (loan_id, g.actor.school_id))
        loan = cur.fetchone()
        if loan is None:
            abort(404)
        if loan["status"] != "approved":
            abort(409)
        cur.execute(
            "UPDATE pickup_codes SET revoked_at = now() WHERE loan_id = %s AND used_at IS NULL AND revoked_at IS NULL "
            "RETURNING id",
            (loan["id"],),
        )
        for old in cur.fetchall():
            audit(cur, "code.revoked", "pickup_codes", old["id"])
        cur.execute(
            "INSERT INTO pickup_codes (school_id, loan_id, code_hash, issued_by, expires_at) "
            "VALUES (%s, %s, %s, %s, now() + make_interval(hours => %s)) RETURNING id, expires_at",
            (g.actor.school_id, loan["id"], keyed_hash(code), g.actor.id, hours),
        )
        row = cur.fetchone()
        audit(cur, "code.issued", "pickup_codes", row["id"])
    return jsonify(code=code, expires_at=row["expires_at"].isoformat()), 201

### issue-pickup bad 10
@app.post("/loans/<int:loan_id>/pickup-codes")
@needs_role("clerk", "head")
def issue_code(loan_id):
    code = secrets.token_hex(16)
    me = g.actor
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            """
            SELECT l.id, l.status = 'approved' AS ready
              FROM loans l
             WHERE l.id = %(loan)s AND l.school_id = %(school)s AND l.deleted_at IS NULL
            """,
            {"loan": loan_id, "school": me.school_id},
        )
        loan = cur.fetchone()
        if loan is None:
            abort(404)
        if not loan["ready"]:
            abort(409)
        cur.execute(
            """
            WITH gone AS (
              UPDATE pickup_codes SET revoked_at = now()
               WHERE loan_id = %(loan)s AND used_at IS NULL AND revoked_at IS NULL AND expires_at > now()
              RETURNING id),
            fresh AS (
              INSERT INTO pickup_codes (school_id, loan_id, code_hash, issued_by, expires_at)
              SELECT l.school_id, l.id, %(hash)s, %(me)s, now() + interval '48 hours'
                FROM loans l WHERE l.id = %(loan)s AND l.status = 'approved' AND l.deleted_at IS NULL
              RETURNING id)
            SELECT id, 'code.revoked' AS action FROM gone UNION ALL SELECT id, 'code.issued' FROM fresh
            """,
            {"loan": loan["id"], "hash": keyed_hash(code), "me": me.id},
        )
        rows = cur.fetchall()
        if not any(row["action"] == "code.issued" for row in rows):
            abort(409)
        for row in rows:
            audit(cur, row["action"], "pickup_codes", row["id"])
    return jsonify(loan_id=loan_id, code=code), 201

### issue-pickup bad 9
@app.post("/loans/<int:loan_id>/pickup-codes")
@needs_role("clerk", "head")
def issue_code(loan_id):
    days = json_body().get("days", 3)
    if not isinstance(days, int) or not 1 <= days <= 7:
        abort(400)
    code = secrets.token_urlsafe(24)
    with db() as conn, conn.cursor() as cur:
        cur.execute("SELECT id, status FROM loans WHERE id = %s AND school_id = %s AND deleted_at IS NULL FOR UPDATE",
                    (loan_id, g.actor.school_id))
        loan = cur.fetchone()
        if loan is None:
            abort(404)
        if loan["status"] != "approved":
            abort(409)
        cur.execute(
            "UPDATE pickup_codes SET revoked_at = now() WHERE loan_id = %s AND used_at IS NULL AND revoked_at IS NULL "
            "RETURNING id",
            (loan["id"],),
        )
        for old in cur.fetchall():
            audit(cur, "code.revoked", "pickup_codes", old["id"])
        cur.execute(
            "INSERT INTO pickup_codes (school_id, loan_id, code_hash, issued_by, expires_at) "
            "VALUES (%s, %s, %s, %s, now() + make_interval(days => %s)) RETURNING id, expires_at",
            (g.actor.school_id, loan["id"], keyed_hash(code), g.actor.id, days),
        )
        row = cur.fetchone()
        audit(cur, "code.issued", "pickup_codes", row["id"])
    log.info("pick-up code %s issued for loan %s", row["id"], loan_id)
    return jsonify(code=code, expires_at=row["expires_at"].isoformat()), 201

### release-refund good
@app.post("/refunds/<int:refund_id>/release")
@needs_role("head")
def release_refund(refund_id):
    me = g.actor
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            """
            UPDATE refunds r
               SET released_by = %(me)s, released_at = now()
              FROM loans l
             WHERE r.id = %(refund)s AND r.school_id = %(school)s
               AND l.id = r.loan_id AND l.deleted_at IS NULL AND l.status = 'returned'
               AND r.released_at IS NULL AND r.proposed_by <> %(me)s
            RETURNING r.id, r.amount_cents, r.released_at
            """,
            {"me": me.id, "refund": refund_id, "school": me.school_id},
        )
        row = cur.fetchone()
        if row is None:
            cur.execute(
                "SELECT 1 FROM refunds r JOIN loans l ON l.id = r.loan_id AND l.deleted_at IS NULL "
                "WHERE r.id = %s AND r.school_id = %s",
                (refund_id, me.school_id),
            )
            abort(409 if cur.fetchone() else 404)
        audit(cur, "refund.released", "refunds", row["id"])
    return jsonify(row)

### release-refund good
@app.post("/refunds/<int:refund_id>/release")
@needs_role("head")
def release_refund(refund_id):
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            """
            SELECT r.id, r.amount_cents, r.proposed_by, r.released_at, l.status AS loan_status
              FROM refunds r
              JOIN loans l ON l.id = r.loan_id
             WHERE r.id = %s AND r.school_id = %s AND l.deleted_at IS NULL
               FOR UPDATE OF r, l
            """,
            (refund_id, g.actor.school_id),
        )
        refund = cur.fetchone()
        if refund is None:
            abort(404)
        if refund["proposed_by"] == g.actor.id:
            log.info("account %s tried to release its own refund %s", g.actor.id, refund_id)
            abort(403)
        if refund["released_at"] is not None or refund["loan_status"] != "returned":
            abort(409)
        cur.execute("UPDATE refunds SET released_by = %s, released_at = now() WHERE id = %s RETURNING released_at",
                    (g.actor.id, refund["id"]))
        when = cur.fetchone()["released_at"]
        audit(cur, "refund.released", "refunds", refund["id"])
    return jsonify(id=refund["id"], amount_cents=refund["amount_cents"], released_at=when.isoformat())

### release-refund bad 8
@app.post("/refunds/<int:refund_id>/release")
@needs_role("head")
def release_refund(refund_id):
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            """
            SELECT r.id, r.amount_cents, r.proposed_by, r.released_at, l.status AS loan_status
              FROM refunds r
              JOIN loans l ON l.id = r.loan_id
             WHERE r.id = %s AND r.school_id = %s AND l.deleted_at IS NULL
               FOR UPDATE OF l
            """,
            (refund_id, g.actor.school_id),
        )
        refund = cur.fetchone()
        if refund is None:
            abort(404)
        if refund["proposed_by"] == g.actor.id:
            abort(403)
        if refund["released_at"] is not None or refund["loan_status"] != "returned":
            abort(409)
        cur.execute("UPDATE refunds SET released_by = %s, released_at = now() WHERE id = %s RETURNING released_at",
                    (g.actor.id, refund["id"]))
        when = cur.fetchone()["released_at"]
        audit(cur, "refund.released", "refunds", refund["id"])
    return jsonify(id=refund["id"], amount_cents=refund["amount_cents"], released_at=when.isoformat())

### release-refund bad 13
@app.post("/refunds/<int:refund_id>/release")
@needs_role("head")
def release_refund(refund_id):
    me = g.actor
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            """
            UPDATE refunds r
               SET released_by = %(me)s, released_at = now()
              FROM loans l
             WHERE r.id = %(refund)s AND r.school_id = %(school)s
               AND l.id = r.loan_id AND l.deleted_at IS NULL AND l.status = 'returned'
               AND r.released_at IS NULL AND r.proposed_by <> %(me)s
            RETURNING r.id, r.amount_cents, r.released_at
            """,
            {"me": me.id, "refund": refund_id, "school": me.school_id},
        )
        row = cur.fetchone()
        if row is None:
            cur.execute(
                "SELECT 1 FROM refunds r JOIN loans l ON l.id = r.loan_id AND l.deleted_at IS NULL "
                "WHERE r.id = %s AND r.school_id = %s",
                (refund_id, me.school_id),
            )
            abort(409 if cur.fetchone() else 404)
    with db() as conn, conn.cursor() as cur:
        audit(cur, "refund.released", "refunds", row["id"])
    return jsonify(row)

### release-refund bad 7
@app.post("/refunds/<int:refund_id>/release")
@needs_role("head")
def release_refund(refund_id):
    me = g.actor
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            """
            UPDATE refunds r
               SET released_by = %(me)s, released_at = now()
             WHERE r.id = %(refund)s AND r.school_id = %(school)s
               AND r.released_at IS NULL AND r.proposed_by <> %(me)s
               AND EXISTS (SELECT 1 FROM loans l
                            WHERE l.id = r.loan_id AND l.deleted_at IS NULL
                              AND l.status NOT IN ('requested', 'approved', 'handed_out'))
            RETURNING r.id, r.amount_cents, r.released_at
            """,
            {"me": me.id, "refund": refund_id, "school": me.school_id},
        )
        row = cur.fetchone()
        if row is None:
            cur.execute(
                "SELECT 1 FROM refunds r JOIN loans l ON l.id = r.loan_id AND l.deleted_at IS NULL "
                "WHERE r.id = %s AND r.school_id = %s",
                (refund_id, me.school_id),
            )
            abort(409 if cur.fetchone() else 404)
        audit(cur, "refund.released", "refunds", row["id"])
    return jsonify(row)

### edit-instrument good
EDITABLE = {
    "workshop": ("maker", "condition"),
    "head": ("maker", "condition", "kind", "inventory_no", "insured_value"),
}


@app.patch("/instruments/<int:instrument_id>")
@needs_role("workshop", "head")
def edit_instrument(instrument_id):
    body = json_body()
    version = body.pop("version", None)
    allowed = EDITABLE[g.actor.role]
    if not isinstance(version, int) or not body or any(key not in allowed for key in body):
        abort(400)
    fields = [name for name in allowed if name in body]
    sets = sql.SQL(", ").join(sql.SQL("{} = {}").format(sql.Identifier(f), sql.Placeholder(f)) for f in fields)
    args = {f: body[f] for f in fields}
    args.update(_id=instrument_id, _school=g.actor.school_id, _version=version)
    with db() as conn, conn.cursor() as cur:
        cur.execute("SELECT 1 FROM instruments WHERE id = %(_id)s AND school_id = %(_school)s AND deleted_at IS NULL", args)
        if cur.fetchone() is None:
            abort(404)
        cur.execute(
            sql.SQL("UPDATE instruments SET {}, version = version + 1 WHERE id = %(_id)s AND school_id = %(_school)s "
                    "AND deleted_at IS NULL AND version = %(_version)s RETURNING id, version").format(sets),
            args,
        )
        row = cur.fetchone()
        if row is None:
            abort(409)
        audit(cur, "instrument.edited", "instruments", row["id"])
    return jsonify(id=row["id"], version=row["version"])

### edit-instrument good
@app.patch("/instruments/<int:instrument_id>")
@needs_role("workshop", "head")
def edit_instrument(instrument_id):
    body = json_body()
    head = g.actor.role == "head"
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            "SELECT id, version, maker, condition, kind, inventory_no, insured_value FROM instruments "
            "WHERE id = %s AND school_id = %s AND deleted_at IS NULL FOR UPDATE",
            (instrument_id, g.actor.school_id),
        )
        old = cur.fetchone()
        if old is None:
            abort(404)
        if body.get("version") != old["version"]:
            abort(409)
        new = {"id": old["id"], "maker": body.get("maker", old["maker"]),
               "condition": body.get("condition", old["condition"])}
        for name in ("kind", "inventory_no", "insured_value"):
            new[name] = body.get(name, old[name]) if head else old[name]
        cur.execute(
            """
            UPDATE instruments
               SET maker = %(maker)s, condition = %(condition)s, kind = %(kind)s,
                   inventory_no = %(inventory_no)s, insured_value = %(insured_value)s, version = version + 1
             WHERE id = %(id)s
            RETURNING version
            """,
            new,
        )
        version = cur.fetchone()["version"]
        audit(cur, "instrument.edited", "instruments", old["id"])
    return jsonify(id=old["id"], version=version)

### edit-instrument bad 13
EDITABLE = {
    "workshop": ("maker", "condition"),
    "head": ("maker", "condition", "kind", "inventory_no", "status", "insured_value"),
}


@app.patch("/instruments/<int:instrument_id>")
@needs_role("workshop", "head")
def edit_instrument(instrument_id):
    body = json_body()
    version = body.pop("version", None)
    allowed = EDITABLE[g.actor.role]
    if not isinstance(version, int) or not body or any(key not in allowed for key in body):
        abort(400)
    fields = [name for name in allowed if name in body]
    sets = sql.SQL(", ").join(sql.SQL("{} = {}").format(sql.Identifier(f), sql.Placeholder(f)) for f in fields)
    args = {f: body[f] for f in fields}
    args.update(_id=instrument_id, _school=g.actor.school_id, _version=version)
    with db() as conn, conn.cursor() as cur:
        cur.execute("SELECT 1 FROM instruments WHERE id = %(_id)s AND school_id = %(_school)s AND deleted_at IS NULL", args)
        if cur.fetchone() is None:
            abort(404)
        cur.execute(
            sql.SQL("UPDATE instruments SET {}, version = version + 1 WHERE id = %(_id)s AND school_id = %(_school)s "
                    "AND deleted_at IS NULL AND version = %(_version)s RETURNING id, version").format(sets),
            args,
        )
        row = cur.fetchone()
        if row is None:
            abort(409)
        audit(cur, "instrument.edited", "instruments", row["id"])
    return jsonify(id=row["id"], version=row["version"])

### edit-instrument bad 10
@app.patch("/instruments/<int:instrument_id>")
@needs_role("workshop", "head")
def edit_instrument(instrument_id):
    body = json_body()
    head = g.actor.role == "head"
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            "SELECT id, version, maker, condition, kind, inventory_no, insured_value FROM instruments "
            "WHERE id = %s AND school_id = %s AND deleted_at IS NULL",
            (instrument_id, g.actor.school_id),
        )
        old = cur.fetchone()
        if old is None:
            abort(404)
        if body.get("version") != old["version"]:
            abort(409)
        new = {"id": old["id"], "maker": body.get("maker", old["maker"]),
               "condition": body.get("condition", old["condition"])}
        for name in ("kind", "inventory_no", "insured_value"):
            new[name] = body.get(name, old[name]) if head else old[name]
        cur.execute(
            """
            UPDATE instruments
               SET maker = %(maker)s, condition = %(condition)s, kind = %(kind)s,
                   inventory_no = %(inventory_no)s, insured_value = %(insured_value)s, version = version + 1
             WHERE id = %(id)s AND deleted_at IS NULL
            RETURNING version
            """,
            new,
        )
        row = cur.fetchone()
        if row is None:
            abort(404)
        audit(cur, "instrument.edited", "instruments", old["id"])
    return jsonify(id=old["id"], version=row["version"])

### edit-instrument bad 5
EDITABLE = {
    "workshop": {"maker", "condition"},
    "head": {"maker", "condition", "kind", "inventory_no", "insured_value"},
}


@app.patch("/instruments/<int:instrument_id>")
@needs_role("workshop", "head")
def edit_instrument(instrument_id):
    body = json_body()
    version = body.get("version")
    fields = sorted(EDITABLE[g.actor.role] & body.keys())
    if not isinstance(version, int) or not fields:
        abort(400)
    sets = sql.SQL(", ").join(sql.SQL("{} = {}").format(sql.Identifier(f), sql.Placeholder(f)) for f in fields)
    args = {f: body[f] for f in fields} | {"_id": instrument_id, "_school": g.actor.school_id, "_version": version}
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            sql.SQL("UPDATE instruments SET {}, version = version + 1 WHERE id = %(_id)s AND school_id = %(_school)s "
                    "AND deleted_at IS NULL AND version = %(_version)s RETURNING *").format(sets),
            args,
        )
        row = cur.fetchone()
        if row is None:
            cur.execute("SELECT 1 FROM instruments WHERE id = %s AND school_id = %s AND deleted_at IS NULL",
                        (instrument_id, g.actor.school_id))
            abort(409 if cur.fetchone() else 404)
        audit(cur, "instrument.edited", "instruments", row["id"])
    row.pop("deleted_at")
    row.pop("school_id")
    return jsonify(row)

### insurer-quote good
@app.post("/instruments/<int:instrument_id>/quote")
@needs_role("head")
def fetch_quote(instrument_id):
    try:
        parts = urlsplit(str(json_body().get("url", "")))
        port = parts.port
    except ValueError:
        abort(400)
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            "SELECT i.kind, i.maker, i.inventory_no, s.insurer_hosts FROM instruments i JOIN schools s ON s.id = i.school_id "
            "WHERE i.id = %s AND i.school_id = %s AND i.deleted_at IS NULL",
            (instrument_id, g.actor.school_id),
        )
        row = cur.fetchone()
    if row is None:
        abort(404)
    host = parts.hostname
    if (parts.scheme != "https" or host not in row["insurer_hosts"] or port not in (None, 443)
            or parts.username is not None or parts.password is not None):
        abort(400)
    payload = {key: row[key] for key in ("kind", "maker", "inventory_no")}
    try:
        reply = requests.post(f"https://{host}{parts.path or '/'}", json=payload, timeout=8, allow_redirects=False)
        amount = reply.json()["amount"] if reply.status_code == 200 else None
    except (requests.RequestException, ValueError, KeyError, TypeError):
        amount = None
    if not isinstance(amount, (int, float)) or not 0 < amount < 10**8:
        abort(502)
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            "INSERT INTO insurance_quotes (school_id, instrument_id, host, amount, fetched_by) "
            "SELECT school_id, id, %s, %s, %s FROM instruments WHERE id = %s AND school_id = %s AND deleted_at IS NULL "
            "RETURNING id",
            (host, amount, g.actor.id, instrument_id, g.actor.school_id),
        )
        quote = cur.fetchone()
        if quote is None:
            abort(404)
        audit(cur, "quote.fetched", "insurance_quotes", quote["id"])
    return jsonify(id=quote["id"], amount=amount), 201

### insurer-quote good
def ask_insurer(host, query):
    with requests.Session() as http:
        http.trust_env = False
        reply = http.get(f"https://{host}/v1/quote", params=query, timeout=(3, 6), allow_redirects=False)
    if reply.status_code != 200:
        return None
    try:
        amount = float(json.loads(reply.content)["amount"])
    except (ValueError, KeyError, TypeError):
        return None
    return amount if 0 < amount < 10**8 else None


@app.post("/instruments/<int:instrument_id>/quote")
@needs_role("head")
def fetch_quote(instrument_id):
    wanted = json_body().get("insurer")
    me = g.actor
    with db() as conn, conn.cursor() as cur:
        cur.execute("SELECT unnest(insurer_hosts) AS host FROM schools WHERE id = %s", (me.school_id,))
        host = next((r["host"] for r in cur.fetchall() if r["host"] == wanted), None)
        cur.execute("SELECT id, kind, maker, inventory_no FROM instruments "
                    "WHERE id = %s AND school_id = %s AND deleted_at IS NULL FOR SHARE", (instrument_id, me.school_id))
        row = cur.fetchone()
        if row is None:
            abort(404)
        if host is None:
            abort(400)
        try:
            amount = ask_insurer(host, {"kind": row["kind"], "maker": row["maker"], "ref": row["inventory_no"]})
        except requests.RequestException:
            log.warning("insurer unreachable for instrument %s", instrument_id)
            abort(502)
        if amount is None:
            abort(502)
        cur.execute("INSERT INTO insurance_quotes (school_id, instrument_id, host, amount, fetched_by) "
                    "VALUES (%s, %s, %s, %s, %s) RETURNING id", (me.school_id, row["id"], host, amount, me.id))
        quote = cur.fetchone()
        audit(cur, "quote.fetched", "insurance_quotes", quote["id"])
    return jsonify(id=quote["id"], amount=amount), 201

### insurer-quote bad 12
@app.post("/instruments/<int:instrument_id>/quote")
@needs_role("head")
def fetch_quote(instrument_id):
    try:
        parts = urlsplit(str(json_body().get("url", "")))
        port = parts.port
    except ValueError:
        abort(400)
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            "SELECT i.kind, i.maker, i.inventory_no, s.insurer_hosts FROM instruments i JOIN schools s ON s.id = i.school_id "
            "WHERE i.id = %s AND i.school_id = %s AND i.deleted_at IS NULL",
            (instrument_id, g.actor.school_id),
        )
        row = cur.fetchone()
    if row is None:
        abort(404)
    host = parts.hostname or ""
    if parts.scheme != "https" or port not in (None, 443) or parts.username is not None or parts.password is not None:
        abort(400)
    if not any(host.endswith(allowed) for allowed in row["insurer_hosts"]):
        abort(400)
    payload = {key: row[key] for key in ("kind", "maker", "inventory_no")}
    try:
        reply = requests.post(f"https://{host}{parts.path or '/'}", json=payload, timeout=8, allow_redirects=False)
        amount = reply.json()["amount"] if reply.status_code == 200 else None
    except (requests.RequestException, ValueError, KeyError, TypeError):
        amount = None
    if not isinstance(amount, (int, float)) or not 0 < amount < 10**8:
        abort(502)
    with db() as conn, conn.cursor() as cur:
        cur.execute(
            "INSERT INTO insurance_quotes (school_id, instrument_id, host, amount, fetched_by) "
            "SELECT school_id, id, %s, %s, %s FROM instruments WHERE id = %s AND school_id = %s AND deleted_at IS NULL "
            "RETURNING id",
            (host, amount, g.actor.id, instrument_id, g.actor.school_id),
        )
        quote = cur.fetchone()
        if quote is None:
            abort(404)
        audit(cur, "quote.fetched", "insurance_quotes", quote["id"])
    return jsonify(id=quote["id"], amount=amount), 201

### insurer-quote bad 12
def ask_insurer(host, query):
    reply = requests.get(f"https://{host}/v1/quote", params=query, timeout=(3, 6))
    if reply.status_code != 200:
        return None
    try:
        amount = float(reply.json()["amount"])
    except (ValueError, KeyError, TypeError):
        return None
    return amount if 0 < amount < 10**8 else None


@app.post("/instruments/<int:instrument_id>/quote")
@needs_role("head")
def fetch_quote(instrument_id):
    wanted = json_body().get("insurer")
    me = g.actor
    with db() as conn, conn.cursor() as cur:
        cur.execute("SELECT insurer_hosts FROM schools WHERE id = %s", (me.school_id,))
        hosts = cur.fetchone()["insurer_hosts"]
        cur.execute("SELECT id, kind, maker, inventory_no FROM instruments "
                    "WHERE id = %s AND school_id = %s AND deleted_at IS NULL FOR SHARE", (instrument_id, me.school_id))
        row = cur.fetchone()
        if row is None:
            abort(404)
        if wanted not in hosts:
            abort(400)
        try:
            amount = ask_insurer(wanted, {"kind": row["kind"], "maker": row["maker"], "ref": row["inventory_no"]})
        except requests.RequestException:
            abort(502)
        if amount is None:
            abort(502)
        cur.execute("INSERT INTO insurance_quotes (school_id, instrument_id, host, amount, fetched_by) "
                    "VALUES (%s, %s, %s, %s, %s) RETURNING id", (me.school_id, row["id"], wanted, amount, me.id))
        quote = cur.fetchone()
        audit(cur, "quote.fetched", "insurance_quotes", quote["id"])
    return jsonify(id=quote["id"], amount=amount), 201

### insurer-quote bad 5,12
def ask_insurer(host, query):
    reply = requests.post(f"https://{host}/v1/quote", json=query, timeout=(3, 6), allow_redirects=False)
    if reply.status_code != 200:
        return None
    try:
        amount = float(reply.json()["amount"])
    except (ValueError, KeyError, TypeError):
        return None
    return amount if 0 < amount < 10**8 else None


@app.post("/instruments/<int:instrument_id>/quote")
@needs_role("head")
def fetch_quote(instrument_id):
    wanted = json_body().get("insurer")
    me = g.actor
    with db() as conn, conn.cursor() as cur:
        cur.execute("SELECT insurer_hosts FROM schools WHERE id = %s", (me.school_id,))
        hosts = cur.fetchone()["insurer_hosts"]
        cur.execute("SELECT id, kind, maker, inventory_no, insured_value::text AS current_value FROM instruments "
                    "WHERE id = %s AND school_id = %s AND deleted_at IS NULL FOR SHARE", (instrument_id, me.school_id))
        row = cur.fetchone()
        if row is None:
            abort(404)
        if wanted not in hosts:
            abort(400)
        instrument_id = row.pop("id")
        try:
            amount = ask_insurer(wanted, row)
        except requests.RequestException:
            log.warning("insurer unreachable for instrument %s", instrument_id)
            abort(502)
        if amount is None:
            abort(502)
        cur.execute("INSERT INTO insurance_quotes (school_id, instrument_id, host, amount, fetched_by) "
                    "VALUES (%s, %s, %s, %s, %s) RETURNING id", (me.school_id, instrument_id, wanted, amount, me.id))
        quote = cur.fetchone()
        audit(cur, "quote.fetched", "insurance_quotes", quote["id"])
    return jsonify(id=quote["id"], amount=amount), 201
