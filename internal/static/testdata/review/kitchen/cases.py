### day-plan good
@app.get("/k/<int:kitchen_id>/plan")
def day_plan(kitchen_id):
    try:
        day = dt.date.fromisoformat(request.args.get("day", ""))
    except ValueError:
        fail(400, "day missing")
    limit, offset = page_args()
    with db.begin() as conn:
        need_role(conn, kitchen_id, "manager", "cook", "dispatcher", "accountant")
        rows = conn.execute(
            """
            SELECT o.id, o.status, o.serve_at, o.guests, c.name AS customer,
                   (SELECT coalesce(json_agg(json_build_object('recipe', r.name, 'portions', l.portions) ORDER BY l.id), '[]')
                      FROM order_lines l JOIN recipes r ON r.id = l.recipe_id
                     WHERE l.order_id = o.id) AS lines,
                   (SELECT coalesce(array_agg(DISTINCT a ORDER BY a), '{}')
                      FROM order_lines l
                      JOIN recipe_ingredients ri ON ri.recipe_id = l.recipe_id
                      JOIN ingredients i ON i.id = ri.ingredient_id
                     CROSS JOIN unnest(i.allergens) AS a
                     WHERE l.order_id = o.id) AS allergens
              FROM orders o
              JOIN kitchens k ON k.id = o.kitchen_id
              JOIN customers c ON c.id = o.customer_id
             WHERE o.kitchen_id = %(kitchen)s
               AND o.deleted_at IS NULL
               AND o.status <> 'cancelled'
               AND (o.serve_at AT TIME ZONE k.timezone)::date = %(day)s
             ORDER BY o.serve_at, o.id
             LIMIT %(limit)s OFFSET %(offset)s
            """,
            {"kitchen": kitchen_id, "day": day, "limit": limit, "offset": offset},
        ).fetchall()
    return jsonify(day=day.isoformat(), orders=rows)

### day-plan good
STAFF_ZONE = """
    SELECT k.timezone
      FROM staff s JOIN kitchens k ON k.id = s.kitchen_id
     WHERE s.kitchen_id = %s AND s.user_id = %s
       AND k.deleted_at IS NULL AND NOT s.suspended
       AND (now() AT TIME ZONE k.timezone)::date BETWEEN s.starts_on AND coalesce(s.ends_on, 'infinity')
"""
PLAN = """
    WITH todo AS (
        SELECT o.id, o.serve_at, o.guests, o.notes, o.customer_id
          FROM orders o
         WHERE o.kitchen_id = %(kitchen)s AND o.deleted_at IS NULL
           AND o.status IN ('accepted', 'cooking')
           AND o.serve_at >= %(day)s::date::timestamp AT TIME ZONE %(zone)s
           AND o.serve_at < (%(day)s::date + 1)::timestamp AT TIME ZONE %(zone)s
         ORDER BY o.serve_at, o.id
         LIMIT 50
    ), contents AS (
        SELECT t.id, array_agg(DISTINCT r.name) AS recipes,
               array_agg(DISTINCT x.allergen) FILTER (WHERE x.allergen IS NOT NULL) AS allergens
          FROM todo t
          JOIN order_lines l ON l.order_id = t.id
          JOIN recipes r ON r.id = l.recipe_id
          LEFT JOIN recipe_ingredients ri ON ri.recipe_id = r.id
          LEFT JOIN ingredients i ON i.id = ri.ingredient_id
          LEFT JOIN LATERAL unnest(i.allergens) AS x(allergen) ON true
         GROUP BY t.id
    )
    SELECT t.id, t.serve_at, t.guests, t.notes, c.name AS customer,
           coalesce(n.recipes, '{}') AS recipes, coalesce(n.allergens, '{}') AS allergens
      FROM todo t JOIN customers c ON c.id = t.customer_id LEFT JOIN contents n ON n.id = t.id
     ORDER BY t.serve_at, t.id
"""


@app.get("/k/<int:kitchen_id>/plan/<day>")
def day_plan(kitchen_id, day):
    try:
        day = dt.date.fromisoformat(day)
    except ValueError:
        fail(400, "not a day")
    with db.begin() as conn:
        staff = conn.execute(STAFF_ZONE, (kitchen_id, g.user_id)).fetchone()
        if staff is None:
            fail(403, "no access")
        args = {"kitchen": kitchen_id, "day": day, "zone": staff["timezone"]}
        return jsonify(conn.execute(PLAN, args).fetchall())

### day-plan bad 8
@app.get("/k/<int:kitchen_id>/plan")
def day_plan(kitchen_id):
    try:
        day = dt.date.fromisoformat(request.args.get("day", ""))
    except ValueError:
        fail(400, "day missing")
    limit, offset = page_args()
    with db.begin() as conn:
        need_role(conn, kitchen_id, "manager", "cook", "dispatcher", "accountant")
        rows = conn.execute(
            """
            SELECT o.id, o.status, o.serve_at, o.guests, c.name AS customer,
                   (SELECT coalesce(json_agg(json_build_object('recipe', r.name, 'portions', l.portions) ORDER BY l.id), '[]')
                      FROM order_lines l JOIN recipes r ON r.id = l.recipe_id
                     WHERE l.order_id = o.id) AS lines,
                   (SELECT coalesce(array_agg(DISTINCT a ORDER BY a), '{}')
                      FROM order_lines l
                      JOIN recipe_ingredients ri ON ri.recipe_id = l.recipe_id
                      JOIN ingredients i ON i.id = ri.ingredient_id AND i.deleted_at IS NULL
                     CROSS JOIN unnest(i.allergens) AS a
                     WHERE l.order_id = o.id) AS allergens
              FROM orders o
              JOIN kitchens k ON k.id = o.kitchen_id
              JOIN customers c ON c.id = o.customer_id
             WHERE o.kitchen_id = %(kitchen)s
               AND o.deleted_at IS NULL
               AND o.status <> 'cancelled'
               AND (o.serve_at AT TIME ZONE k.timezone)::date = %(day)s
             ORDER BY o.serve_at, o.id
             LIMIT %(limit)s OFFSET %(offset)s
            """,
            {"kitchen": kitchen_id, "day": day, "limit": limit, "offset": offset},
        ).fetchall()
    return jsonify(day=day.isoformat(), orders=rows)

### day-plan bad 2
STAFF_ZONE = """
    SELECT k.timezone
      FROM staff s JOIN kitchens k ON k.id = s.kitchen_id
     WHERE s.kitchen_id = %s AND s.user_id = %s
       AND k.deleted_at IS NULL AND NOT s.suspended
       AND (now() AT TIME ZONE k.timezone)::date >= s.starts_on
"""
PLAN = """
    SELECT o.id, o.serve_at, o.guests, c.name AS customer,
           count(DISTINCT l.recipe_id) AS recipes,
           coalesce(array_agg(DISTINCT x.allergen) FILTER (WHERE x.allergen IS NOT NULL), '{}') AS allergens
      FROM orders o
      JOIN customers c ON c.id = o.customer_id
      LEFT JOIN order_lines l ON l.order_id = o.id
      LEFT JOIN recipe_ingredients ri ON ri.recipe_id = l.recipe_id
      LEFT JOIN ingredients i ON i.id = ri.ingredient_id
      LEFT JOIN LATERAL unnest(i.allergens) AS x(allergen) ON true
     WHERE o.kitchen_id = %(kitchen)s AND o.deleted_at IS NULL
       AND o.status IN ('accepted', 'cooking')
       AND o.serve_at >= %(day)s::date::timestamp AT TIME ZONE %(zone)s
       AND o.serve_at < (%(day)s::date + 1)::timestamp AT TIME ZONE %(zone)s
     GROUP BY o.id, c.name
     ORDER BY o.serve_at, o.id
     LIMIT 50
"""


@app.get("/k/<int:kitchen_id>/plan/<day>")
def day_plan(kitchen_id, day):
    try:
        day = dt.date.fromisoformat(day)
    except ValueError:
        fail(400, "not a day")
    with db.begin() as conn:
        staff = conn.execute(STAFF_ZONE, (kitchen_id, g.user_id)).fetchone()
        if staff is None:
            fail(403, "no access")
        args = {"kitchen": kitchen_id, "day": day, "zone": staff["timezone"]}
        return jsonify(conn.execute(PLAN, args).fetchall())

### day-plan bad 5
@app.get("/k/<int:kitchen_id>/plan")
def day_plan(kitchen_id):
    try:
        day = dt.date.fromisoformat(request.args.get("day", ""))
    except ValueError:
        fail(400, "day missing")
    limit, offset = page_args()
    with db.begin() as conn:
        need_role(conn, kitchen_id, "manager", "cook", "dispatcher", "accountant")
        rows = conn.execute(
            """
            SELECT o.id, o.status, o.serve_at, o.guests, o.notes, c.name AS customer,
                   coalesce((
                     SELECT json_agg(to_jsonb(r) - 'method' - 'edited_by' || jsonb_build_object('portions', l.portions))
                       FROM order_lines l JOIN recipes r ON r.id = l.recipe_id
                      WHERE l.order_id = o.id), '[]') AS lines,
                   ARRAY(
                     SELECT DISTINCT a
                       FROM order_lines l
                       JOIN recipe_ingredients ri ON ri.recipe_id = l.recipe_id
                       JOIN ingredients i ON i.id = ri.ingredient_id
                      CROSS JOIN unnest(i.allergens) AS a
                      WHERE l.order_id = o.id
                      ORDER BY a) AS allergens
              FROM orders o
              JOIN kitchens k ON k.id = o.kitchen_id
              JOIN customers c ON c.id = o.customer_id
             WHERE o.kitchen_id = %(kitchen)s
               AND o.deleted_at IS NULL
               AND (o.serve_at AT TIME ZONE k.timezone)::date = %(day)s
             ORDER BY o.serve_at, o.id
             LIMIT %(limit)s OFFSET %(offset)s
            """,
            {"kitchen": kitchen_id, "day": day, "limit": limit, "offset": offset},
        ).fetchall()
    return jsonify(day=day.isoformat(), orders=rows)

### courier-tour good
@app.get("/c/tour")
def courier_tour():
    limit, offset = page_args()
    with db.begin() as conn:
        courier_id = need_courier(conn)
        rows = conn.execute(
            """
            SELECT d.id, d.status, lower(d.slot) AS slot_from, upper(d.slot) AS slot_to,
                   k.name AS kitchen, c.name AS customer, c.address,
                   CASE WHEN v.open THEN c.door_code END AS door_code,
                   CASE WHEN v.open THEN c.phone END AS phone
              FROM deliveries d
              JOIN orders o ON o.id = d.order_id AND o.deleted_at IS NULL
              JOIN kitchens k ON k.id = o.kitchen_id AND k.deleted_at IS NULL
              JOIN customers c ON c.id = o.customer_id
              JOIN courier_grants cg ON cg.courier_id = d.courier_id AND cg.kitchen_id = o.kitchen_id
             CROSS JOIN LATERAL (
                   SELECT d.status IN ('planned', 'picked_up')
                      AND now() >= lower(d.slot) - interval '2 hours'
                      AND c.deleted_at IS NULL AS open) v
             WHERE d.courier_id = %s
               AND cg.revoked_at IS NULL AND cg.valid_from <= now() AND now() < cg.valid_until
               AND d.slot && tstzrange(now() - interval '12 hours', now() + interval '36 hours')
             ORDER BY lower(d.slot), d.id
             LIMIT %s OFFSET %s
            """,
            (courier_id, limit, offset),
        ).fetchall()
    return jsonify(deliveries=rows)

### courier-tour good
def contact_visible(row, now):
    if row["customer_gone"] or row["status"] not in ("planned", "picked_up"):
        return False
    return row["slot_from"] is not None and now >= row["slot_from"] - dt.timedelta(hours=2)


@app.get("/c/tour")
def courier_tour():
    with db.begin() as conn:
        rows = conn.execute(
            """
            SELECT d.id, d.status, lower(d.slot) AS slot_from, upper(d.slot) AS slot_to, c.name, c.address,
                   c.door_code, c.phone, c.deleted_at IS NOT NULL AS customer_gone, now() AS now
              FROM couriers u
              JOIN deliveries d ON d.courier_id = u.id
              JOIN orders o ON o.id = d.order_id
              JOIN customers c ON c.id = o.customer_id
             WHERE u.user_id = %s AND u.deleted_at IS NULL
               AND o.deleted_at IS NULL
               AND d.status IN ('planned', 'picked_up')
               AND EXISTS (SELECT 1 FROM courier_grants cg JOIN kitchens k ON k.id = cg.kitchen_id
                            WHERE cg.courier_id = u.id AND cg.kitchen_id = o.kitchen_id AND k.deleted_at IS NULL
                              AND cg.revoked_at IS NULL
                              AND tstzrange(cg.valid_from, cg.valid_until) @> now())
             ORDER BY lower(d.slot), d.id
             LIMIT 50
            """,
            (g.user_id,),
        ).fetchall()

    stops = []
    for row in rows:
        stop = {key: row[key] for key in ("id", "status", "slot_from", "slot_to", "name", "address")}
        if contact_visible(row, row["now"]):
            stop.update(door_code=row["door_code"], phone=row["phone"])
        stops.append(stop)
    return jsonify(stops)

### courier-tour bad 3
@app.get("/c/tour")
def courier_tour():
    limit, offset = page_args()
    with db.begin() as conn:
        courier_id = need_courier(conn)
        rows = conn.execute(
            """
            SELECT d.id, d.status, lower(d.slot) AS slot_from, upper(d.slot) AS slot_to,
                   k.name AS kitchen, c.name AS customer, c.address,
                   CASE WHEN v.open THEN c.door_code END AS door_code,
                   CASE WHEN v.open THEN c.phone END AS phone
              FROM deliveries d
              JOIN orders o ON o.id = d.order_id AND o.deleted_at IS NULL
              JOIN kitchens k ON k.id = o.kitchen_id AND k.deleted_at IS NULL
              JOIN customers c ON c.id = o.customer_id
              JOIN courier_grants cg ON cg.courier_id = d.courier_id AND cg.kitchen_id = o.kitchen_id
             CROSS JOIN LATERAL (
                   SELECT now() >= lower(d.slot) - interval '2 hours'
                      AND c.deleted_at IS NULL AS open) v
             WHERE d.courier_id = %s
               AND cg.revoked_at IS NULL AND cg.valid_from <= now() AND now() < cg.valid_until
               AND d.slot && tstzrange(now() - interval '12 hours', now() + interval '36 hours')
             ORDER BY lower(d.slot), d.id
             LIMIT %s OFFSET %s
            """,
            (courier_id, limit, offset),
        ).fetchall()
    return jsonify(deliveries=rows)

### courier-tour bad 3
def contact_visible(row, now):
    if row["customer_gone"] or row["status"] not in ("planned", "picked_up"):
        return False
    return row["slot_from"] is not None and now >= row["slot_from"] - dt.timedelta(hours=2)


@app.get("/c/tour")
def courier_tour():
    with db.begin() as conn:
        courier_id = need_courier(conn)
        rows = conn.execute(
            """
            SELECT d.id, d.status, lower(d.slot) AS slot_from, upper(d.slot) AS slot_to, c.name, c.address,
                   c.door_code, c.phone, c.deleted_at IS NOT NULL AS customer_gone, now() AS now
              FROM deliveries d
              JOIN orders o ON o.id = d.order_id
              JOIN kitchens k ON k.id = o.kitchen_id
              JOIN customers c ON c.id = o.customer_id
             WHERE d.courier_id = %(courier)s
               AND o.deleted_at IS NULL AND k.deleted_at IS NULL
               AND d.status IN ('planned', 'picked_up')
               AND EXISTS (SELECT 1 FROM courier_grants cg
                            WHERE cg.courier_id = %(courier)s
                              AND cg.revoked_at IS NULL
                              AND tstzrange(cg.valid_from, cg.valid_until) @> now())
             ORDER BY lower(d.slot), d.id
             LIMIT 50
            """,
            {"courier": courier_id},
        ).fetchall()

    stops = []
    for row in rows:
        stop = {key: row[key] for key in ("id", "status", "slot_from", "slot_to", "name", "address")}
        if contact_visible(row, row["now"]):
            stop.update(door_code=row["door_code"], phone=row["phone"])
        stops.append(stop)
    return jsonify(stops)

### courier-tour bad 4
@app.get("/c/tour")
def courier_tour():
    limit, offset = page_args()
    with db.begin() as conn:
        courier_id = need_courier(conn)
        rows = conn.execute(
            """
            WITH open_kitchens AS (
                SELECT cg.kitchen_id, k.name
                  FROM courier_grants cg JOIN kitchens k ON k.id = cg.kitchen_id
                 WHERE cg.courier_id = %(courier)s AND k.deleted_at IS NULL AND cg.revoked_at IS NULL
                   AND cg.valid_from <= now() AND now() < cg.valid_until
            )
            SELECT d.id, d.status, lower(d.slot) AS slot_from, upper(d.slot) AS slot_to,
                   ok.name AS kitchen, c.name AS customer, c.address,
                   CASE WHEN c.deleted_at IS NULL AND lower(d.slot) <= now() + interval '2 hours' THEN c.door_code END AS door_code,
                   CASE WHEN c.deleted_at IS NULL AND lower(d.slot) <= now() + interval '2 hours' THEN c.phone END AS phone
              FROM deliveries d
              JOIN orders o ON o.id = d.order_id
              JOIN open_kitchens ok ON ok.kitchen_id = o.kitchen_id
              JOIN customers c ON c.id = o.customer_id
             WHERE d.courier_id = %(courier)s
               AND d.status IN ('planned', 'picked_up')
             ORDER BY lower(d.slot), d.id
             LIMIT %(limit)s OFFSET %(offset)s
            """,
            {"courier": courier_id, "limit": limit, "offset": offset},
        ).fetchall()
    return jsonify(deliveries=rows)

### order-link good
@app.get("/p/orders/<token>")
def public_order(token):
    with db.begin() as conn:
        order = conn.execute(
            """
            SELECT o.id, o.status, o.serve_at, o.guests, c.name AS customer, k.name AS kitchen
              FROM orders o
              JOIN kitchens k ON k.id = o.kitchen_id
              JOIN customers c ON c.id = o.customer_id
             WHERE o.link_hash = %s
               AND o.link_expires_at > now()
               AND o.deleted_at IS NULL
               AND k.deleted_at IS NULL
            """,
            (keyed_hash(token),),
        ).fetchone()
        if order is None:
            log.info("order link refused")
            fail(404, "link not valid")
        lines = conn.execute(
            """
            SELECT r.name, l.portions, l.price_cents,
                   ARRAY(SELECT DISTINCT a
                           FROM recipe_ingredients ri
                           JOIN ingredients i ON i.id = ri.ingredient_id
                          CROSS JOIN unnest(i.allergens) AS a
                          WHERE ri.recipe_id = r.id
                          ORDER BY a) AS allergens
              FROM order_lines l JOIN recipes r ON r.id = l.recipe_id
             WHERE l.order_id = %s
             ORDER BY l.id
            """,
            (order["id"],),
        ).fetchall()
    log.info("order link used order=%s", order["id"])
    return jsonify(order | {"lines": lines})

### order-link good
PUBLIC_PAGE = """<!doctype html><title>{{ o.kitchen }}</title>
<h1>{{ o.customer }}: {{ o.guests }} guests, {{ o.serve_at }}</h1>
<p>{{ o.status }}</p>
<ul>{% for l in o.lines %}<li>{{ l.portions }} x {{ l.name }} ({{ l.allergens | join(', ') }})</li>{% endfor %}</ul>"""


def find_by_link(conn, order_id, token):
    row = conn.execute(
        """
        SELECT o.link_hash, o.status, o.guests, c.name AS customer, k.name AS kitchen,
               to_char(o.serve_at AT TIME ZONE k.timezone, 'YYYY-MM-DD HH24:MI') AS serve_at,
               (SELECT coalesce(json_agg(json_build_object('name', r.name, 'portions', l.portions, 'allergens', r.allergens)), '[]')
                  FROM order_lines l
                  JOIN (SELECT r.id, r.name, array_remove(array_agg(DISTINCT a.name), NULL) AS allergens
                          FROM recipes r
                          LEFT JOIN recipe_ingredients ri ON ri.recipe_id = r.id
                          LEFT JOIN ingredients i ON i.id = ri.ingredient_id
                          LEFT JOIN LATERAL unnest(i.allergens) AS a(name) ON true
                         GROUP BY r.id) r ON r.id = l.recipe_id
                 WHERE l.order_id = o.id) AS lines
          FROM orders o
          JOIN kitchens k ON k.id = o.kitchen_id AND k.deleted_at IS NULL
          JOIN customers c ON c.id = o.customer_id
         WHERE o.id = %s AND o.deleted_at IS NULL
           AND o.link_hash IS NOT NULL AND now() < o.link_expires_at
        """,
        (order_id,),
    ).fetchone()
    if row is None or not hmac.compare_digest(bytes(row.pop("link_hash")), keyed_hash(token)):
        return None
    return row


@app.get("/p/orders/<int:order_id>/<token>")
def public_order(order_id, token):
    with db.begin() as conn:
        order = find_by_link(conn, order_id, token)
    if order is None:
        fail(404, "link not valid")
    return render_template_string(PUBLIC_PAGE, o=order)

### order-link bad 9
@app.get("/p/orders/<token>")
def public_order(token):
    with db.begin() as conn:
        order = conn.execute(
            """
            SELECT o.id, o.status, o.serve_at, o.guests, c.name AS customer, k.name AS kitchen
              FROM orders o
              JOIN kitchens k ON k.id = o.kitchen_id
              JOIN customers c ON c.id = o.customer_id
             WHERE o.link_hash = %s
               AND (o.link_expires_at > now() OR o.status <> 'delivered')
               AND o.deleted_at IS NULL
               AND k.deleted_at IS NULL
            """,
            (keyed_hash(token),),
        ).fetchone()
        if order is None:
            log.info("order link refused")
            fail(404, "link not valid")
        lines = conn.execute(
            """
            SELECT r.name, l.portions, l.price_cents,
                   ARRAY(SELECT DISTINCT a
                           FROM recipe_ingredients ri
                           JOIN ingredients i ON i.id = ri.ingredient_id
                          CROSS JOIN unnest(i.allergens) AS a
                          WHERE ri.recipe_id = r.id
                          ORDER BY a) AS allergens
              FROM order_lines l JOIN recipes r ON r.id = l.recipe_id
             WHERE l.order_id = %s
             ORDER BY l.id
            """,
            (order["id"],),
        ).fetchall()
    log.info("order link used order=%s", order["id"])
    return jsonify(order | {"lines": lines})

### order-link bad 5
PUBLIC_PAGE = """<!doctype html><title>{{ o.kitchen }}</title>
<h1>{{ o.customer }}: {{ o.guests }} guests, {{ o.serve_at }}</h1>
<p>{{ o.status }}{% if o.address %}, to {{ o.address }}{% endif %}</p>
<ul>{% for l in o.lines %}<li>{{ l.portions }} x {{ l.name }} ({{ l.allergens | join(', ') }})</li>{% endfor %}</ul>"""


def find_by_link(conn, token):
    return conn.execute(
        """
        SELECT o.status, o.guests, c.name AS customer, k.name AS kitchen,
               to_char(o.serve_at AT TIME ZONE k.timezone, 'YYYY-MM-DD HH24:MI') AS serve_at,
               CASE WHEN c.deleted_at IS NULL THEN c.address END AS address,
               (SELECT coalesce(json_agg(json_build_object('name', r.name, 'portions', l.portions, 'allergens', ARRAY(
                         SELECT DISTINCT a FROM recipe_ingredients ri
                           JOIN ingredients i ON i.id = ri.ingredient_id, unnest(i.allergens) AS a
                          WHERE ri.recipe_id = r.id ORDER BY a))), '[]')
                  FROM order_lines l JOIN recipes r ON r.id = l.recipe_id
                 WHERE l.order_id = o.id) AS lines
          FROM orders o
          JOIN kitchens k ON k.id = o.kitchen_id AND k.deleted_at IS NULL
          JOIN customers c ON c.id = o.customer_id
         WHERE o.link_hash = %s AND o.deleted_at IS NULL AND now() < o.link_expires_at
        """,
        (keyed_hash(token),),
    ).fetchone()


@app.get("/p/orders/<token>")
def public_order(token):
    with db.begin() as conn:
        order = find_by_link(conn, token)
    if order is None:
        fail(404, "link not valid")
    return render_template_string(PUBLIC_PAGE, o=order)

### order-link bad 13
@app.get("/p/orders/<token>")
def public_order(token):
    with db.begin() as conn:
        order = conn.execute(
            """
            SELECT o.id, o.status, o.serve_at, o.guests, c.name AS customer, k.name AS kitchen
              FROM orders o
              JOIN kitchens k ON k.id = o.kitchen_id
              JOIN customers c ON c.id = o.customer_id
             WHERE o.link_hash = %s
               AND o.link_expires_at > now()
               AND o.deleted_at IS NULL
               AND k.deleted_at IS NULL
            """,
            (keyed_hash(token),),
        ).fetchone()
        if order is None:
            log.warning("order link refused path=%s", request.path)
            fail(404, "link not valid")
        lines = conn.execute(
            """
            SELECT r.name, l.portions, coalesce(x.allergens, '{}') AS allergens
              FROM order_lines l
              JOIN recipes r ON r.id = l.recipe_id
              LEFT JOIN LATERAL (
                   SELECT array_agg(DISTINCT a ORDER BY a) AS allergens
                     FROM recipe_ingredients ri
                     JOIN ingredients i ON i.id = ri.ingredient_id, unnest(i.allergens) AS a
                    WHERE ri.recipe_id = r.id) x ON true
             WHERE l.order_id = %s
             ORDER BY l.id
            """,
            (order["id"],),
        ).fetchall()
    return jsonify(order | {"lines": lines})

### document good
@app.get("/k/<int:kitchen_id>/documents")
def document(kitchen_id):
    with db.begin() as conn:
        need_role(conn, kitchen_id, "manager", "cook", "dispatcher", "accountant")

    name = request.args.get("name", "")
    if not name or len(name) > 200 or "\0" in name:
        fail(400, "name missing")
    base = (DOC_DIR / str(kitchen_id)).resolve()
    try:
        target = (base / name).resolve(strict=True)
    except (OSError, RuntimeError):
        fail(404, "no such document")
    if not target.is_relative_to(base) or not target.is_file():
        log.info("document refused kitchen=%s user=%s", kitchen_id, g.user_id)
        fail(404, "no such document")
    return send_file(target, as_attachment=True, download_name=target.name, mimetype="application/octet-stream")

### document good
MAY_SEE = """
    SELECT 1
      FROM staff s JOIN kitchens k ON k.id = s.kitchen_id
     WHERE s.user_id = %(user)s AND s.kitchen_id = %(kitchen)s
       AND s.role IN ('manager', 'cook', 'dispatcher', 'accountant')
       AND s.suspended = false AND k.deleted_at IS NULL
       AND s.starts_on <= (now() AT TIME ZONE k.timezone)::date
       AND (s.ends_on IS NULL OR s.ends_on >= (now() AT TIME ZONE k.timezone)::date)
"""


def real_file(root, *parts):
    root = os.path.realpath(root)
    path = os.path.realpath(os.path.join(root, *parts))
    if path == root or os.path.commonpath([root, path]) != root or not os.path.isfile(path):
        return None
    return path


@app.get("/k/<int:kitchen_id>/documents/<folder>/<name>")
def document(kitchen_id, folder, name):
    with db.begin() as conn:
        if conn.execute(MAY_SEE, {"user": g.user_id, "kitchen": kitchen_id}).fetchone() is None:
            fail(403, "no access")
    if "\0" in folder or "\0" in name:
        fail(400, "bad name")
    path = real_file(DOC_DIR / str(kitchen_id), folder, name)
    if path is None:
        fail(404, "no such document")
    with open(path, "rb") as handle:
        data = handle.read()
    headers = {"Content-Disposition": "attachment", "X-Content-Type-Options": "nosniff"}
    return Response(data, mimetype="application/octet-stream", headers=headers)

### document bad 1,12
def real_file(root, *parts):
    root = os.path.realpath(root)
    path = os.path.realpath(os.path.join(root, *parts))
    if not path.startswith(root) or not os.path.isfile(path):
        return None
    return path


@app.get("/k/<int:kitchen_id>/documents")
def document(kitchen_id):
    with db.begin() as conn:
        need_role(conn, kitchen_id, "manager", "cook", "dispatcher", "accountant")
    name = request.args.get("name", "")
    if not name or len(name) > 200 or "\0" in name:
        fail(400, "name missing")
    path = real_file(DOC_DIR / str(kitchen_id), name)
    if path is None:
        log.info("document refused kitchen=%s user=%s", kitchen_id, g.user_id)
        fail(404, "no such document")
    with open(path, "rb") as handle:
        data = handle.read()
    headers = {"Content-Disposition": "attachment", "X-Content-Type-Options": "nosniff"}
    return Response(data, mimetype="application/octet-stream", headers=headers)

### document bad 1,12
@app.get("/k/<int:kitchen_id>/documents")
def document(kitchen_id):
    with db.begin() as conn:
        need_role(conn, kitchen_id, "manager", "cook", "dispatcher", "accountant")

    name = request.args.get("name", "")
    if not name or len(name) > 200 or "\0" in name:
        fail(400, "name missing")
    parts = Path(name).parts
    if ".." in parts:
        fail(404, "no such document")
    base = (DOC_DIR / str(kitchen_id)).resolve()
    target = base.joinpath(*parts)
    if not target.is_file():
        log.info("document refused kitchen=%s user=%s", kitchen_id, g.user_id)
        fail(404, "no such document")
    return send_file(target, as_attachment=True, download_name=target.name, mimetype="application/octet-stream")

### document bad 2
MAY_SEE = """
    SELECT 1
      FROM staff s JOIN kitchens k ON k.id = s.kitchen_id
     WHERE s.user_id = %(user)s AND s.kitchen_id = %(kitchen)s
       AND s.role IN ('manager', 'cook', 'dispatcher', 'accountant')
       AND s.suspended = false AND k.deleted_at IS NULL
       AND s.starts_on <= CURRENT_DATE
       AND (s.ends_on IS NULL OR s.ends_on >= CURRENT_DATE)
"""


@app.get("/k/<int:kitchen_id>/documents")
def document(kitchen_id):
    with db.begin() as conn:
        if conn.execute(MAY_SEE, {"user": g.user_id, "kitchen": kitchen_id}).fetchone() is None:
            fail(403, "no access")

    name = request.args.get("name", "")
    if not name or len(name) > 200 or "\0" in name:
        fail(400, "name missing")
    base = (DOC_DIR / str(kitchen_id)).resolve()
    try:
        target = (base / name).resolve(strict=True)
    except (OSError, RuntimeError):
        fail(404, "no such document")
    if not target.is_relative_to(base) or not target.is_file():
        fail(404, "no such document")
    return send_file(target, as_attachment=True, download_name=target.name, mimetype="application/octet-stream")

### recipe-label good
LABEL = """<!doctype html><title>{{ r.name }}</title>
<h1>{{ r.name }}</h1>
<p>Allergens: {{ r.allergens | join(', ') or 'none' }}</p>
{% if show_method %}<pre>{{ r.method }}</pre>{% endif %}
{% if show_cost %}<p>Cost: {{ r.cost_cents }} ct</p>{% endif %}"""


@app.get("/k/<int:kitchen_id>/recipes/<int:recipe_id>/label")
def recipe_label(kitchen_id, recipe_id):
    with db.begin() as conn:
        role = need_role(conn, kitchen_id, "manager", "cook", "dispatcher", "accountant")
        recipe = conn.execute(
            """
            SELECT r.name, r.method, r.is_secret, r.cost_cents,
                   ARRAY(SELECT DISTINCT a
                           FROM recipe_ingredients ri
                           JOIN ingredients i ON i.id = ri.ingredient_id
                          CROSS JOIN unnest(i.allergens) AS a
                          WHERE ri.recipe_id = r.id
                          ORDER BY a) AS allergens
              FROM recipes r
             WHERE r.id = %s AND r.kitchen_id = %s AND r.deleted_at IS NULL
            """,
            (recipe_id, kitchen_id),
        ).fetchone()
    if recipe is None:
        fail(404, "no such recipe")
    return render_template_string(
        LABEL,
        r=recipe,
        show_method=role == "manager" or not recipe["is_secret"],
        show_cost=role in ("manager", "accountant"),
    )

### recipe-label good
def label_html(recipe):
    parts = [f"<h1>{escape(recipe['name'])}</h1>"]
    allergens = ", ".join(str(escape(a)) for a in sorted(recipe["allergens"]))
    parts.append(f"<p>Allergens: {allergens or 'none'}</p>")
    if recipe["method"] is not None:
        parts.append(f"<pre>{escape(recipe['method'])}</pre>")
    if recipe["cost_cents"] is not None:
        parts.append(f"<p>Cost: {int(recipe['cost_cents'])} ct</p>")
    return "<!doctype html><meta charset=utf-8>" + "".join(parts)


@app.get("/k/<int:kitchen_id>/recipes/<int:recipe_id>/label")
def recipe_label(kitchen_id, recipe_id):
    with db.begin() as conn:
        role = need_role(conn, kitchen_id, "manager", "cook", "dispatcher", "accountant")
        recipe = conn.execute(
            """
            SELECT r.name,
                   CASE WHEN NOT r.is_secret OR %(role)s = 'manager' THEN r.method END AS method,
                   CASE WHEN %(role)s IN ('manager', 'accountant') THEN r.cost_cents END AS cost_cents,
                   coalesce(array_agg(DISTINCT x.a) FILTER (WHERE x.a IS NOT NULL), '{}') AS allergens
              FROM recipes r
              LEFT JOIN recipe_ingredients ri ON ri.recipe_id = r.id
              LEFT JOIN ingredients i ON i.id = ri.ingredient_id
              LEFT JOIN LATERAL unnest(i.allergens) AS x(a) ON true
             WHERE r.kitchen_id = %(kitchen)s AND r.id = %(recipe)s AND r.deleted_at IS NULL
             GROUP BY r.id
            """,
            {"role": role, "kitchen": kitchen_id, "recipe": recipe_id},
        ).fetchone()
    if recipe is None:
        fail(404, "no such recipe")
    return Response(label_html(recipe), mimetype="text/html")

### recipe-label bad 11
def label_source(recipe, show_method, show_cost):
    parts = [f"<h1>{escape(recipe['name'])}</h1>"]
    parts.append("<p>Allergens: {{ allergens | join(', ') or 'none' }}</p>")
    if show_method:
        parts.append(f"<pre>{escape(recipe['method'])}</pre>")
    if show_cost:
        parts.append("<p>Cost: {{ cost }} ct</p>")
    return "<!doctype html><meta charset=utf-8>" + "".join(parts)


@app.get("/k/<int:kitchen_id>/recipes/<int:recipe_id>/label")
def recipe_label(kitchen_id, recipe_id):
    with db.begin() as conn:
        role = need_role(conn, kitchen_id, "manager", "cook", "dispatcher", "accountant")
        recipe = conn.execute(
            """
            SELECT r.name, r.method, r.is_secret, r.cost_cents,
                   ARRAY(SELECT DISTINCT a
                           FROM recipe_ingredients ri
                           JOIN ingredients i ON i.id = ri.ingredient_id
                          CROSS JOIN unnest(i.allergens) AS a
                          WHERE ri.recipe_id = r.id
                          ORDER BY a) AS allergens
              FROM recipes r
             WHERE r.id = %s AND r.kitchen_id = %s AND r.deleted_at IS NULL
            """,
            (recipe_id, kitchen_id),
        ).fetchone()
    if recipe is None:
        fail(404, "no such recipe")
    source = label_source(recipe, role == "manager" or not recipe["is_secret"], role in ("manager", "accountant"))
    return render_template_string(source, allergens=recipe["allergens"], cost=recipe["cost_cents"])

### recipe-label bad 5
LABEL = """<!doctype html><title>{{ r.name }}</title>
<h1>{{ r.name }}</h1>
<p>Allergens: {{ r.allergens | join(', ') or 'none' }}</p>
{% if show_method %}<pre>{{ r.method }}</pre>{% endif %}
{% if show_cost %}<p>Cost: {{ r.cost_cents }} ct</p>{% endif %}"""


@app.get("/k/<int:kitchen_id>/recipes/<int:recipe_id>/label")
def recipe_label(kitchen_id, recipe_id):
    with db.begin() as conn:
        role = need_role(conn, kitchen_id, "manager", "cook", "dispatcher", "accountant")
        recipe = conn.execute(
            """
            SELECT r.name, r.method, r.is_secret, r.cost_cents,
                   ARRAY(SELECT DISTINCT a
                           FROM recipe_ingredients ri
                           JOIN ingredients i ON i.id = ri.ingredient_id
                          CROSS JOIN unnest(i.allergens) AS a
                          WHERE ri.recipe_id = r.id
                          ORDER BY a) AS allergens
              FROM recipes r
             WHERE r.id = %s AND r.kitchen_id = %s AND r.deleted_at IS NULL
            """,
            (recipe_id, kitchen_id),
        ).fetchone()
    if recipe is None:
        fail(404, "no such recipe")
    return render_template_string(
        LABEL,
        r=recipe,
        show_method=role in ("manager", "cook") or not recipe["is_secret"],
        show_cost=role in ("manager", "accountant"),
    )

### recipe-label bad 8
def label_html(recipe):
    parts = [f"<h1>{escape(recipe['name'])}</h1>"]
    allergens = ", ".join(str(escape(a)) for a in sorted(recipe["allergens"]))
    parts.append(f"<p>Allergens: {allergens or 'none'}</p>")
    if recipe["method"] is not None:
        parts.append(f"<pre>{escape(recipe['method'])}</pre>")
    if recipe["cost_cents"] is not None:
        parts.append(f"<p>Cost: {int(recipe['cost_cents'])} ct</p>")
    return "<!doctype html><meta charset=utf-8>" + "".join(parts)


@app.get("/k/<int:kitchen_id>/recipes/<int:recipe_id>/label")
def recipe_label(kitchen_id, recipe_id):
    with db.begin() as conn:
        role = need_role(conn, kitchen_id, "manager", "cook", "dispatcher", "accountant")
        recipe = conn.execute(
            """
            SELECT r.name,
                   CASE WHEN NOT r.is_secret OR %(role)s = 'manager' THEN r.method END AS method,
                   CASE WHEN %(role)s IN ('manager', 'accountant') THEN r.cost_cents END AS cost_cents,
                   coalesce(array_agg(DISTINCT x.a) FILTER (WHERE x.a IS NOT NULL), '{}') AS allergens
              FROM recipes r
              LEFT JOIN LATERAL (SELECT ri.ingredient_id, ri.grams / sum(ri.grams) OVER () AS share
                                   FROM recipe_ingredients ri WHERE ri.recipe_id = r.id) p ON p.share >= 0.001
              LEFT JOIN ingredients i ON i.id = p.ingredient_id
              LEFT JOIN LATERAL unnest(i.allergens) AS x(a) ON true
             WHERE r.kitchen_id = %(kitchen)s AND r.id = %(recipe)s AND r.deleted_at IS NULL
             GROUP BY r.id
            """,
            {"role": role, "kitchen": kitchen_id, "recipe": recipe_id},
        ).fetchone()
    if recipe is None:
        fail(404, "no such recipe")
    return Response(label_html(recipe), mimetype="text/html")

### move-order good
MOVES = {
    ("new", "accepted"): ("manager",),
    ("accepted", "cooking"): ("cook", "manager"),
    ("cooking", "ready"): ("cook", "manager"),
    ("ready", "out"): ("dispatcher", "manager"),
    ("new", "cancelled"): ("manager",),
    ("accepted", "cancelled"): ("manager",),
}


@app.post("/k/<int:kitchen_id>/orders/<int:order_id>/move")
def move_order(kitchen_id, order_id):
    to = body().get("to")
    with db.begin() as conn:
        role = need_role(conn, kitchen_id, "manager", "cook", "dispatcher")
        order = conn.execute(
            """SELECT status, serve_at > now() + interval '24 hours' AS early FROM orders
                WHERE id = %s AND kitchen_id = %s AND deleted_at IS NULL FOR UPDATE""",
            (order_id, kitchen_id),
        ).fetchone()
        if order is None:
            fail(404, "no such order")
        if not isinstance(to, str) or role not in MOVES.get((order["status"], to), ()):
            fail(409, "move not allowed")
        if to == "cancelled" and not order["early"]:
            fail(409, "too late to cancel")
        if to == "cooking":
            recipes = conn.execute(
                """SELECT r.signed_version IS NOT DISTINCT FROM r.version AS signed
                     FROM order_lines l JOIN recipes r ON r.id = l.recipe_id
                    WHERE l.order_id = %s FOR SHARE OF r""",
                (order_id,),
            ).fetchall()
            if not all(r["signed"] for r in recipes):
                fail(409, "recipe not signed")
        if to == "out":
            ready = conn.execute(
                """SELECT 1 FROM deliveries WHERE order_id = %s AND courier_id IS NOT NULL
                      AND status IN ('planned', 'picked_up') FOR SHARE""",
                (order_id,),
            ).fetchone()
            if ready is None:
                fail(409, "no courier")
        conn.execute("UPDATE orders SET status = %s WHERE id = %s", (to, order_id))
        record(conn, kitchen_id, "order.move", order_id, old=order["status"], new=to)
    return jsonify(id=order_id, status=to)

### move-order good
MOVE = """
    UPDATE orders o
       SET status = %(to)s::order_status
      FROM (VALUES ('new', 'accepted', ARRAY['manager']),
                   ('accepted', 'cooking', ARRAY['cook', 'manager']),
                   ('cooking', 'ready', ARRAY['cook', 'manager']),
                   ('ready', 'out', ARRAY['dispatcher', 'manager']),
                   ('new', 'cancelled', ARRAY['manager']),
                   ('accepted', 'cancelled', ARRAY['manager'])) AS m(old, new, roles)
     WHERE o.id = %(order)s AND o.kitchen_id = %(kitchen)s AND o.deleted_at IS NULL
       AND m.old = o.status::text AND m.new = %(to)s AND %(role)s = ANY (m.roles)
       AND (m.new <> 'cancelled' OR o.serve_at - interval '24 hours' > now())
       AND (m.new <> 'cooking' OR NOT EXISTS (
             SELECT 1 FROM order_lines l JOIN recipes r ON r.id = l.recipe_id
              WHERE l.order_id = o.id AND r.signed_version IS DISTINCT FROM r.version))
       AND (m.new <> 'out' OR EXISTS (
             SELECT 1 FROM deliveries d
              WHERE d.order_id = o.id AND d.courier_id IS NOT NULL AND d.status IN ('planned', 'picked_up')))
    RETURNING o.id, o.status
"""


@app.post("/k/<int:kitchen_id>/orders/<int:order_id>/move")
def move_order(kitchen_id, order_id):
    to = body().get("to")
    if to not in ("accepted", "cooking", "ready", "out", "cancelled"):
        fail(400, "unknown state")
    with db.begin() as conn:
        role = need_role(conn, kitchen_id, "manager", "cook", "dispatcher")
        moved = conn.execute(
            MOVE, {"to": to, "order": order_id, "kitchen": kitchen_id, "role": role}
        ).fetchone()
        if moved is None:
            fail(409, "move not allowed")
        record(conn, kitchen_id, "order.move", order_id, new=to)
    return jsonify(moved)

### move-order bad 7
MOVE = """
    UPDATE orders o
       SET status = %(to)s::order_status
      FROM (VALUES ('new', 'accepted', ARRAY['manager']),
                   ('accepted', 'cooking', ARRAY['cook', 'manager']),
                   ('cooking', 'ready', ARRAY['cook', 'manager']),
                   ('ready', 'out', ARRAY['dispatcher', 'manager']),
                   ('new', 'cancelled', ARRAY['manager']),
                   ('accepted', 'cancelled', ARRAY['manager'])) AS m(old, new, roles)
     WHERE o.id = %(order)s AND o.kitchen_id = %(kitchen)s AND o.deleted_at IS NULL
       AND m.old = o.status::text AND m.new = %(to)s AND %(role)s = ANY (m.roles)
       AND (m.new <> 'cancelled' OR o.serve_at - interval '24 hours' > now())
       AND (m.new <> 'cooking' OR NOT EXISTS (
             SELECT 1 FROM order_lines l JOIN recipes r ON r.id = l.recipe_id
              WHERE l.order_id = o.id AND r.signed_version <> r.version))
       AND (m.new <> 'out' OR EXISTS (
             SELECT 1 FROM deliveries d
              WHERE d.order_id = o.id AND d.courier_id IS NOT NULL AND d.status IN ('planned', 'picked_up')))
    RETURNING o.id, o.status
"""


@app.post("/k/<int:kitchen_id>/orders/<int:order_id>/move")
def move_order(kitchen_id, order_id):
    to = body().get("to")
    if to not in ("accepted", "cooking", "ready", "out", "cancelled"):
        fail(400, "unknown state")
    with db.begin() as conn:
        role = need_role(conn, kitchen_id, "manager", "cook", "dispatcher")
        moved = conn.execute(
            MOVE, {"to": to, "order": order_id, "kitchen": kitchen_id, "role": role}
        ).fetchone()
        if moved is None:
            fail(409, "move not allowed")
        record(conn, kitchen_id, "order.move", order_id, new=to)
    return jsonify(moved)

### move-order bad 7,13
MOVES = {
    ("new", "accepted"): ("manager",),
    ("accepted", "cooking"): ("cook", "manager"),
    ("cooking", "ready"): ("cook", "manager"),
    ("ready", "out"): ("dispatcher", "manager"),
    ("new", "cancelled"): ("manager",),
    ("accepted", "cancelled"): ("manager",),
}


@app.post("/k/<int:kitchen_id>/orders/<int:order_id>/move")
def move_order(kitchen_id, order_id):
    to = body().get("to")
    with db.begin() as conn:
        role = need_role(conn, kitchen_id, "manager", "cook", "dispatcher")
        order = conn.execute(
            """SELECT status, serve_at > now() + interval '24 hours' AS early FROM orders
                WHERE id = %s AND kitchen_id = %s AND deleted_at IS NULL""",
            (order_id, kitchen_id),
        ).fetchone()
        if order is None:
            fail(404, "no such order")
        if not isinstance(to, str) or role not in MOVES.get((order["status"], to), ()):
            fail(409, "move not allowed")
        if to == "cancelled" and not order["early"]:
            fail(409, "too late to cancel")
        if to == "cooking":
            recipes = conn.execute(
                """SELECT r.signed_version IS NOT DISTINCT FROM r.version AS signed
                     FROM order_lines l JOIN recipes r ON r.id = l.recipe_id
                    WHERE l.order_id = %s FOR SHARE OF r""",
                (order_id,),
            ).fetchall()
            if not all(r["signed"] for r in recipes):
                fail(409, "recipe not signed")
        if to == "out":
            ready = conn.execute(
                """SELECT 1 FROM deliveries WHERE order_id = %s AND courier_id IS NOT NULL
                      AND status IN ('planned', 'picked_up') FOR SHARE""",
                (order_id,),
            ).fetchone()
            if ready is None:
                fail(409, "no courier")
        conn.execute("UPDATE orders SET status = %s WHERE id = %s", (to, order_id))
        record(conn, kitchen_id, "order.move", order_id, old=order["status"], new=to)
    return jsonify(id=order_id, status=to)

### move-order bad 1
MOVES = {
    "accepted": (("new",), ("manager",)),
    "cooking": (("accepted",), ("cook", "manager")),
    "ready": (("cooking",), ("cook", "manager")),
    "out": (("ready",), ("dispatcher", "manager")),
    "cancelled": (("new", "accepted"), ("manager",)),
}
CONDITIONS = {
    "cooking": """NOT EXISTS (SELECT 1 FROM order_lines l JOIN recipes r ON r.id = l.recipe_id
                               WHERE l.order_id = o.id AND r.signed_version IS DISTINCT FROM r.version)""",
    "out": """EXISTS (SELECT 1 FROM deliveries d WHERE d.order_id = o.id AND d.courier_id IS NOT NULL
                         AND d.status IN ('planned', 'picked_up'))""",
    "cancelled": "o.serve_at > now() + interval '24 hours'",
}


@app.post("/k/<int:kitchen_id>/orders/<int:order_id>/move")
def move_order(kitchen_id, order_id):
    to = body().get("to")
    if not isinstance(to, str) or to not in MOVES:
        fail(400, "unknown state")
    sources, roles = MOVES[to]
    with db.begin() as conn:
        need_role(conn, kitchen_id, *roles)
        moved = conn.execute(
            f"""
            UPDATE orders o SET status = %s::order_status
             WHERE o.id = %s AND o.deleted_at IS NULL
               AND o.status = ANY (%s::order_status[])
               AND {CONDITIONS.get(to, 'true')}
            RETURNING o.id, o.status
            """,
            (to, order_id, list(sources)),
        ).fetchone()
        if moved is None:
            fail(409, "move not allowed")
        record(conn, kitchen_id, "order.move", order_id, new=to)
    return jsonify(moved)

### sign-recipe good
@app.post("/k/<int:kitchen_id>/recipes/<int:recipe_id>/sign")
def sign_recipe(kitchen_id, recipe_id):
    version = body().get("version")
    if type(version) is not int:
        fail(400, "version missing")
    with db.begin() as conn:
        need_role(conn, kitchen_id, "manager", "cook")
        signed = conn.execute(
            """
            UPDATE recipes
               SET signed_by = %(user)s, signed_version = version, signed_at = now()
             WHERE id = %(recipe)s
               AND kitchen_id = %(kitchen)s
               AND deleted_at IS NULL
               AND version = %(version)s
               AND edited_by <> %(user)s
               AND signed_version IS DISTINCT FROM version
            RETURNING id, signed_version, signed_at
            """,
            {"user": g.user_id, "recipe": recipe_id, "kitchen": kitchen_id, "version": version},
        ).fetchone()
        if signed is None:
            fail(409, "cannot be signed")
        record(conn, kitchen_id, "recipe.sign", recipe_id, version=version)
    return jsonify(signed)

### sign-recipe good
def refusal(recipe, user_id, version):
    if recipe["version"] != version:
        return "recipe has changed"
    if recipe["signed_version"] == recipe["version"]:
        return "already signed"
    if recipe["edited_by"] == user_id:
        return "someone else has to sign"
    return None


@app.post("/k/<int:kitchen_id>/recipes/<int:recipe_id>/sign")
def sign_recipe(kitchen_id, recipe_id):
    version = body().get("version")
    if not isinstance(version, int) or isinstance(version, bool):
        fail(400, "version missing")
    with db.begin() as conn:
        need_role(conn, kitchen_id, "cook", "manager")
        recipe = conn.execute(
            """
            SELECT id, version, signed_version, edited_by
              FROM recipes
             WHERE kitchen_id = %s AND id = %s AND deleted_at IS NULL
               FOR UPDATE
            """,
            (kitchen_id, recipe_id),
        ).fetchone()
        if recipe is None:
            fail(404, "no such recipe")
        problem = refusal(recipe, g.user_id, version)
        if problem:
            fail(409, problem)
        conn.execute(
            "UPDATE recipes SET signed_by = %s, signed_version = %s, signed_at = now() WHERE id = %s",
            (g.user_id, version, recipe["id"]),
        )
        record(conn, kitchen_id, "recipe.sign", recipe["id"], version=version)
    log.info("recipe signed kitchen=%s recipe=%s version=%s", kitchen_id, recipe_id, version)
    return jsonify(id=recipe_id, signed_version=version)

### sign-recipe bad 8
@app.post("/k/<int:kitchen_id>/recipes/<int:recipe_id>/sign")
def sign_recipe(kitchen_id, recipe_id):
    with db.begin() as conn:
        need_role(conn, kitchen_id, "manager", "cook")
        recipe = conn.execute(
            """
            SELECT id, version, signed_version, edited_by
              FROM recipes
             WHERE kitchen_id = %s AND id = %s AND deleted_at IS NULL
               FOR UPDATE
            """,
            (kitchen_id, recipe_id),
        ).fetchone()
        if recipe is None:
            fail(404, "no such recipe")
        if recipe["edited_by"] == g.user_id:
            fail(409, "someone else has to sign")
        if recipe["signed_version"] == recipe["version"]:
            fail(409, "already signed")
        conn.execute(
            "UPDATE recipes SET signed_by = %s, signed_version = version, signed_at = now() WHERE id = %s",
            (g.user_id, recipe["id"]),
        )
        record(conn, kitchen_id, "recipe.sign", recipe["id"], version=recipe["version"])
    log.info("recipe signed kitchen=%s recipe=%s version=%s", kitchen_id, recipe_id, recipe["version"])
    return jsonify(id=recipe_id, signed_version=recipe["version"])

### sign-recipe bad 8,13
def refusal(recipe, user_id, version):
    if recipe is None:
        return "no such recipe"
    if recipe["version"] != version:
        return "recipe has changed"
    if recipe["signed_version"] == recipe["version"]:
        return "already signed"
    if recipe["edited_by"] == user_id:
        return "someone else has to sign"
    return None


@app.post("/k/<int:kitchen_id>/recipes/<int:recipe_id>/sign")
def sign_recipe(kitchen_id, recipe_id):
    version = body().get("version")
    if not isinstance(version, int) or isinstance(version, bool):
        fail(400, "version missing")
    with db.begin() as conn:
        need_role(conn, kitchen_id, "cook", "manager")
        recipe = conn.execute(
            "SELECT id, version, signed_version, edited_by FROM recipes"
            " WHERE kitchen_id = %s AND id = %s AND deleted_at IS NULL",
            (kitchen_id, recipe_id),
        ).fetchone()
    problem = refusal(recipe, g.user_id, version)
    if problem:
        fail(409, problem)

    with db.begin() as conn:
        conn.execute(
            """
            UPDATE recipes SET signed_by = %s, signed_version = version, signed_at = now()
             WHERE id = %s AND kitchen_id = %s AND deleted_at IS NULL
            """,
            (g.user_id, recipe_id, kitchen_id),
        )
        record(conn, kitchen_id, "recipe.sign", recipe_id, version=version)
    return jsonify(id=recipe_id, signed_version=version)

### sign-recipe bad 2
@app.post("/k/<int:kitchen_id>/recipes/<int:recipe_id>/sign")
def sign_recipe(kitchen_id, recipe_id):
    version = body().get("version")
    if type(version) is not int:
        fail(400, "version missing")
    with db.begin() as conn:
        signed = conn.execute(
            """
            UPDATE recipes r
               SET signed_by = s.user_id, signed_version = r.version, signed_at = now()
              FROM staff s
              JOIN kitchens k ON k.id = s.kitchen_id
             WHERE r.id = %(recipe)s AND r.kitchen_id = %(kitchen)s AND r.deleted_at IS NULL
               AND s.kitchen_id = r.kitchen_id AND s.user_id = %(user)s
               AND s.role <> 'dispatcher' AND NOT s.suspended
               AND k.deleted_at IS NULL
               AND (now() AT TIME ZONE k.timezone)::date BETWEEN s.starts_on AND coalesce(s.ends_on, 'infinity')
               AND r.version = %(version)s
               AND r.edited_by <> s.user_id
               AND r.signed_version IS DISTINCT FROM r.version
            RETURNING r.id, r.signed_version, r.signed_at
            """,
            {"user": g.user_id, "recipe": recipe_id, "kitchen": kitchen_id, "version": version},
        ).fetchone()
        if signed is None:
            fail(409, "cannot be signed")
        record(conn, kitchen_id, "recipe.sign", recipe_id, version=version)
    return jsonify(signed)

### hand-over good
@app.post("/c/deliveries/<int:delivery_id>/hand-over")
def hand_over(delivery_id):
    code = body().get("code")
    if not isinstance(code, str) or not re.fullmatch(r"[0-9]{6}", code):
        fail(400, "code has 6 digits")
    with db.begin() as conn:
        courier_id = need_courier(conn)
        row = conn.execute(
            """
            SELECT d.id, d.order_id, d.code_hash, d.attempts, o.kitchen_id
              FROM deliveries d
              JOIN orders o ON o.id = d.order_id
              JOIN kitchens k ON k.id = o.kitchen_id
              JOIN courier_grants cg ON cg.courier_id = d.courier_id AND cg.kitchen_id = o.kitchen_id
             WHERE d.id = %s AND d.courier_id = %s AND d.status = 'picked_up'
               AND o.status = 'out' AND o.deleted_at IS NULL AND k.deleted_at IS NULL
               AND cg.revoked_at IS NULL AND cg.valid_from <= now() AND now() < cg.valid_until
               FOR UPDATE OF d, o
            """,
            (delivery_id, courier_id),
        ).fetchone()
        if row is None or row["code_hash"] is None:
            fail(404, "no such delivery")
        if row["attempts"] >= 5:
            fail(429, "too many attempts")
        right = hmac.compare_digest(bytes(row["code_hash"]), keyed_hash(code))
        if right:
            conn.execute("UPDATE deliveries SET status = 'done', done_at = now(), code_hash = NULL WHERE id = %s", (row["id"],))
            conn.execute("UPDATE orders SET status = 'delivered' WHERE id = %s", (row["order_id"],))
            record(conn, row["kitchen_id"], "delivery.done", row["id"], order=row["order_id"])
        else:
            conn.execute("UPDATE deliveries SET attempts = attempts + 1 WHERE id = %s", (row["id"],))
            record(conn, row["kitchen_id"], "delivery.wrong_code", row["id"], attempts=row["attempts"] + 1)
    if not right:
        fail(403, "wrong code")
    return jsonify(id=delivery_id, status="done")

### hand-over good
TRY_CODE = """
    UPDATE deliveries d
       SET status = CASE WHEN d.code_hash = %(hash)s THEN 'done' ELSE d.status END,
           done_at = CASE WHEN d.code_hash = %(hash)s THEN now() END,
           attempts = d.attempts + CASE WHEN d.code_hash = %(hash)s THEN 0 ELSE 1 END
      FROM orders o
      JOIN kitchens k ON k.id = o.kitchen_id
      JOIN courier_grants cg ON cg.kitchen_id = k.id
     WHERE d.id = %(delivery)s AND d.courier_id = %(courier)s
       AND d.status = 'picked_up' AND d.attempts < 5
       AND o.id = d.order_id AND o.deleted_at IS NULL AND k.deleted_at IS NULL
       AND cg.courier_id = d.courier_id AND cg.revoked_at IS NULL
       AND cg.valid_from <= now() AND cg.valid_until > now()
    RETURNING d.status, d.attempts, d.order_id, o.kitchen_id
"""


@app.post("/c/deliveries/<int:delivery_id>/hand-over")
def hand_over(delivery_id):
    code = body().get("code")
    if not (isinstance(code, str) and len(code) == 6 and code.isascii() and code.isdigit()):
        fail(400, "code has 6 digits")
    with db.begin() as conn:
        args = {"hash": keyed_hash(code), "delivery": delivery_id, "courier": need_courier(conn)}
        tried = conn.execute(TRY_CODE, args).fetchone()
        if tried is None:
            fail(409, "not possible")
        done = tried["status"] == "done"
        if done:
            order = conn.execute(
                "UPDATE orders SET status = 'delivered' WHERE id = %s AND status = 'out' AND deleted_at IS NULL",
                (tried["order_id"],),
            )
            if order.rowcount != 1:
                fail(409, "order is not out")
        action = "delivery.done" if done else "delivery.wrong_code"
        record(conn, tried["kitchen_id"], action, delivery_id, attempts=tried["attempts"])
    return jsonify(id=delivery_id, done=done), 200 if done else 403

### hand-over bad 9,13
@app.post("/c/deliveries/<int:delivery_id>/hand-over")
def hand_over(delivery_id):
    code = body().get("code")
    if not isinstance(code, str) or not re.fullmatch(r"[0-9]{6}", code):
        fail(400, "code has 6 digits")
    with db.begin() as conn:
        courier_id = need_courier(conn)
        row = conn.execute(
            """
            SELECT d.id, d.order_id, d.code_hash, d.attempts, o.kitchen_id
              FROM deliveries d
              JOIN orders o ON o.id = d.order_id
              JOIN kitchens k ON k.id = o.kitchen_id
              JOIN courier_grants cg ON cg.courier_id = d.courier_id AND cg.kitchen_id = o.kitchen_id
             WHERE d.id = %s AND d.courier_id = %s AND d.status = 'picked_up'
               AND o.status = 'out' AND o.deleted_at IS NULL AND k.deleted_at IS NULL
               AND cg.revoked_at IS NULL AND cg.valid_from <= now() AND now() < cg.valid_until
               FOR UPDATE OF d, o
            """,
            (delivery_id, courier_id),
        ).fetchone()
        if row is None or row["code_hash"] is None:
            fail(404, "no such delivery")
        if row["attempts"] >= 5:
            fail(429, "too many attempts")
        if not hmac.compare_digest(bytes(row["code_hash"]), keyed_hash(code)):
            conn.execute("UPDATE deliveries SET attempts = attempts + 1 WHERE id = %s", (row["id"],))
            record(conn, row["kitchen_id"], "delivery.wrong_code", row["id"], attempts=row["attempts"] + 1)
            fail(403, "wrong code")
        conn.execute("UPDATE deliveries SET status = 'done', done_at = now(), code_hash = NULL WHERE id = %s", (row["id"],))
        conn.execute("UPDATE orders SET status = 'delivered' WHERE id = %s", (row["order_id"],))
        record(conn, row["kitchen_id"], "delivery.done", row["id"], order=row["order_id"])
    return jsonify(id=delivery_id, status="done")

### hand-over bad 3
TRY_CODE = """
    UPDATE deliveries d
       SET status = CASE WHEN d.code_hash = %(hash)s THEN 'done' ELSE d.status END,
           done_at = CASE WHEN d.code_hash = %(hash)s THEN now() END,
           attempts = d.attempts + CASE WHEN d.code_hash = %(hash)s THEN 0 ELSE 1 END
      FROM orders o
      JOIN kitchens k ON k.id = o.kitchen_id
      JOIN courier_grants cg ON cg.kitchen_id = k.id
     WHERE d.id = %(delivery)s
       AND d.status = 'picked_up' AND d.attempts < 5
       AND o.id = d.order_id AND o.deleted_at IS NULL AND k.deleted_at IS NULL
       AND cg.courier_id = %(courier)s AND cg.revoked_at IS NULL
       AND cg.valid_from <= now() AND cg.valid_until > now()
    RETURNING d.status, d.attempts, d.order_id, o.kitchen_id
"""


@app.post("/c/deliveries/<int:delivery_id>/hand-over")
def hand_over(delivery_id):
    code = body().get("code")
    if not (isinstance(code, str) and len(code) == 6 and code.isascii() and code.isdigit()):
        fail(400, "code has 6 digits")
    with db.begin() as conn:
        args = {"hash": keyed_hash(code), "delivery": delivery_id, "courier": need_courier(conn)}
        tried = conn.execute(TRY_CODE, args).fetchone()
        if tried is None:
            fail(409, "not possible")
        done = tried["status"] == "done"
        if done:
            order = conn.execute(
                "UPDATE orders SET status = 'delivered' WHERE id = %s AND status = 'out' AND deleted_at IS NULL",
                (tried["order_id"],),
            )
            if order.rowcount != 1:
                fail(409, "order is not out")
        action = "delivery.done" if done else "delivery.wrong_code"
        record(conn, tried["kitchen_id"], action, delivery_id, attempts=tried["attempts"])
    return jsonify(id=delivery_id, done=done), 200 if done else 403

### hand-over bad 9,13
FIND = """
    SELECT d.id, d.order_id, d.code_hash, d.attempts, o.kitchen_id
      FROM deliveries d
      JOIN orders o ON o.id = d.order_id
      JOIN kitchens k ON k.id = o.kitchen_id
      JOIN courier_grants cg ON cg.courier_id = d.courier_id AND cg.kitchen_id = o.kitchen_id
     WHERE d.id = %s AND d.courier_id = %s AND d.status = 'picked_up' AND d.code_hash IS NOT NULL
       AND o.status = 'out' AND o.deleted_at IS NULL AND k.deleted_at IS NULL
       AND cg.revoked_at IS NULL AND cg.valid_from <= now() AND now() < cg.valid_until
"""


@app.post("/c/deliveries/<int:delivery_id>/hand-over")
def hand_over(delivery_id):
    code = body().get("code")
    if not isinstance(code, str) or not re.fullmatch(r"[0-9]{6}", code):
        fail(400, "code has 6 digits")
    with db.begin() as conn:
        row = conn.execute(FIND, (delivery_id, need_courier(conn))).fetchone()
        if row is None:
            fail(404, "no such delivery")
        if row["attempts"] >= 5:
            fail(429, "too many attempts")
        right = hmac.compare_digest(bytes(row["code_hash"]), keyed_hash(code))
        if right:
            done = conn.execute(
                "UPDATE deliveries SET status = 'done', done_at = now() WHERE id = %s AND status = 'picked_up'", (row["id"],))
            order = conn.execute(
                "UPDATE orders SET status = 'delivered' WHERE id = %s AND status = 'out'", (row["order_id"],))
            if done.rowcount != 1 or order.rowcount != 1:
                fail(409, "not possible")
            record(conn, row["kitchen_id"], "delivery.done", row["id"], order=row["order_id"])
        else:
            conn.execute("UPDATE deliveries SET attempts = attempts + 1 WHERE id = %s", (row["id"],))
            record(conn, row["kitchen_id"], "delivery.wrong_code", row["id"])
    if not right:
        fail(403, "wrong code")
    return jsonify(id=delivery_id, status="done")

### issue-invoice good
@app.post("/k/<int:kitchen_id>/orders/<int:order_id>/invoice")
def issue_invoice(kitchen_id, order_id):
    with db.begin() as conn:
        need_role(conn, kitchen_id, "manager", "accountant")
        kitchen = conn.execute(
            "SELECT invoice_prefix FROM kitchens WHERE id = %s AND deleted_at IS NULL FOR UPDATE", (kitchen_id,)
        ).fetchone()
        order = conn.execute(
            "SELECT id, status FROM orders WHERE id = %s AND kitchen_id = %s AND deleted_at IS NULL FOR UPDATE",
            (order_id, kitchen_id),
        ).fetchone()
        if kitchen is None or order is None:
            fail(404, "no such order")
        if order["status"] != "delivered":
            fail(409, "order is not delivered")
        if conn.execute("SELECT 1 FROM invoices WHERE order_id = %s AND status <> 'void'", (order_id,)).fetchone():
            fail(409, "invoice exists")
        invoice = conn.execute(
            """
            INSERT INTO invoices (kitchen_id, order_id, number, total_cents, status, issued_by)
            VALUES (%(kitchen)s, %(order)s,
                    (SELECT coalesce(max(number), 0) + 1 FROM invoices WHERE kitchen_id = %(kitchen)s),
                    (SELECT coalesce(sum(portions * price_cents), 0) FROM order_lines WHERE order_id = %(order)s),
                    'issued', %(user)s)
            RETURNING id, number, total_cents
            """,
            {"kitchen": kitchen_id, "order": order_id, "user": g.user_id},
        ).fetchone()
        record(conn, kitchen_id, "invoice.issue", invoice["id"], order=order_id, number=invoice["number"])
    return jsonify(invoice | {"label": f"{kitchen['invoice_prefix']}-{invoice['number']}"}), 201

### issue-invoice good
ISSUE = """
    WITH billable AS (
        SELECT o.id, o.kitchen_id, coalesce(sum(l.portions * l.price_cents), 0) AS total
          FROM orders o
          LEFT JOIN order_lines l ON l.order_id = o.id
         WHERE o.id = %(order)s AND o.kitchen_id = %(kitchen)s
           AND o.status = 'delivered' AND o.deleted_at IS NULL
           AND NOT EXISTS (SELECT 1 FROM invoices i WHERE i.order_id = o.id AND i.status IN ('issued', 'paid'))
         GROUP BY o.id
    ), last AS (
        SELECT number FROM invoices WHERE kitchen_id = %(kitchen)s ORDER BY number DESC LIMIT 1
    )
    INSERT INTO invoices (kitchen_id, order_id, number, total_cents, status, issued_by)
    SELECT b.kitchen_id, b.id, coalesce((SELECT number FROM last), 0) + 1, b.total, 'issued', %(user)s
      FROM billable b
    RETURNING id, number, total_cents, issued_at
"""


@app.post("/k/<int:kitchen_id>/orders/<int:order_id>/invoice")
def issue_invoice(kitchen_id, order_id):
    with db.begin() as conn:
        need_role(conn, kitchen_id, "accountant", "manager")
        conn.execute("LOCK TABLE invoices IN SHARE ROW EXCLUSIVE MODE")
        invoice = conn.execute(
            ISSUE, {"order": order_id, "kitchen": kitchen_id, "user": g.user_id}
        ).fetchone()
        if invoice is None:
            fail(409, "no invoice possible")
        record(conn, kitchen_id, "invoice.issue", invoice["id"], number=invoice["number"])
    log.info("invoice issued kitchen=%s invoice=%s", kitchen_id, invoice["id"])
    return jsonify(invoice), 201

### issue-invoice bad 10,13
@app.post("/k/<int:kitchen_id>/orders/<int:order_id>/invoice")
def issue_invoice(kitchen_id, order_id):
    with db.begin() as conn:
        need_role(conn, kitchen_id, "manager", "accountant")
        order = conn.execute(
            """
            SELECT o.id, o.status, k.invoice_prefix
              FROM orders o JOIN kitchens k ON k.id = o.kitchen_id
             WHERE o.id = %s AND o.kitchen_id = %s AND o.deleted_at IS NULL AND k.deleted_at IS NULL
               FOR UPDATE OF o
            """,
            (order_id, kitchen_id),
        ).fetchone()
        if order is None:
            fail(404, "no such order")
        if order["status"] != "delivered":
            fail(409, "order is not delivered")
        if conn.execute("SELECT 1 FROM invoices WHERE order_id = %s AND status <> 'void'", (order_id,)).fetchone():
            fail(409, "invoice exists")
        invoice = conn.execute(
            """
            INSERT INTO invoices (kitchen_id, order_id, number, total_cents, status, issued_by)
            VALUES (%(kitchen)s, %(order)s,
                    (SELECT coalesce(max(number), 0) + 1 FROM invoices WHERE kitchen_id = %(kitchen)s),
                    (SELECT coalesce(sum(portions * price_cents), 0) FROM order_lines WHERE order_id = %(order)s),
                    'issued', %(user)s)
            RETURNING id, number, total_cents
            """,
            {"kitchen": kitchen_id, "order": order_id, "user": g.user_id},
        ).fetchone()
        record(conn, kitchen_id, "invoice.issue", invoice["id"], order=order_id, number=invoice["number"])
    return jsonify(invoice | {"label": f"{order['invoice_prefix']}-{invoice['number']}"}), 201

### issue-invoice bad 10
ISSUE = """
    WITH billable AS (
        SELECT o.id, o.kitchen_id, coalesce(sum(l.portions * l.price_cents), 0) AS total
          FROM orders o
          LEFT JOIN order_lines l ON l.order_id = o.id
         WHERE o.id = %(order)s AND o.kitchen_id = %(kitchen)s
           AND o.status = 'delivered' AND o.deleted_at IS NULL
           AND NOT EXISTS (SELECT 1 FROM invoices i WHERE i.order_id = o.id AND i.status = 'issued')
         GROUP BY o.id
    ), last AS (
        SELECT number FROM invoices WHERE kitchen_id = %(kitchen)s ORDER BY number DESC LIMIT 1
    )
    INSERT INTO invoices (kitchen_id, order_id, number, total_cents, status, issued_by)
    SELECT b.kitchen_id, b.id, coalesce((SELECT number FROM last), 0) + 1, b.total, 'issued', %(user)s
      FROM billable b
    RETURNING id, number, total_cents, issued_at
"""


@app.post("/k/<int:kitchen_id>/orders/<int:order_id>/invoice")
def issue_invoice(kitchen_id, order_id):
    with db.begin() as conn:
        need_role(conn, kitchen_id, "accountant", "manager")
        conn.execute("LOCK TABLE invoices IN SHARE ROW EXCLUSIVE MODE")
        invoice = conn.execute(
            ISSUE, {"order": order_id, "kitchen": kitchen_id, "user": g.user_id}
        ).fetchone()
        if invoice is None:
            fail(409, "no invoice possible")
        record(conn, kitchen_id, "invoice.issue", invoice["id"], number=invoice["number"])
    log.info("invoice issued kitchen=%s invoice=%s", kitchen_id, invoice["id"])
    return jsonify(invoice), 201

### issue-invoice bad 10,11
@app.post("/k/<int:kitchen_id>/orders/<int:order_id>/invoice")
def issue_invoice(kitchen_id, order_id):
    total = body().get("total_cents")
    if type(total) is not int or not 0 <= total <= 10_000_000:
        fail(400, "bad total")
    with db.begin() as conn:
        need_role(conn, kitchen_id, "manager", "accountant")
        conn.execute("SELECT 1 FROM kitchens WHERE id = %s FOR UPDATE", (kitchen_id,))
        order = conn.execute(
            "SELECT id, status FROM orders WHERE id = %s AND kitchen_id = %s AND deleted_at IS NULL FOR UPDATE",
            (order_id, kitchen_id),
        ).fetchone()
        if order is None or order["status"] != "delivered":
            fail(409, "no invoice possible")
        if conn.execute("SELECT 1 FROM invoices WHERE order_id = %s AND status <> 'void'", (order_id,)).fetchone():
            fail(409, "invoice exists")
        invoice = conn.execute(
            """
            INSERT INTO invoices (kitchen_id, order_id, number, total_cents, status, issued_by)
            SELECT %(kitchen)s, %(order)s, coalesce(max(number), 0) + 1, %(total)s, 'issued', %(user)s
              FROM invoices WHERE kitchen_id = %(kitchen)s
            RETURNING id, number, total_cents
            """,
            {"kitchen": kitchen_id, "order": order_id, "total": total, "user": g.user_id},
        ).fetchone()
        record(conn, kitchen_id, "invoice.issue", invoice["id"], order=order_id, number=invoice["number"])
    return jsonify(invoice), 201

### import-prices good
def parse_prices(raw):
    try:
        items = yaml.safe_load(raw)
    except yaml.YAMLError:
        fail(422, "not a price list")
    if not isinstance(items, list) or len(items) > 500:
        fail(422, "not a price list")
    prices = {}
    for item in items:
        if not isinstance(item, dict) or type(item.get("id")) is not int or type(item.get("cents")) is not int:
            fail(422, "bad line")
        if not 0 <= item["cents"] <= 1_000_000:
            fail(422, "bad price")
        prices[item["id"]] = item["cents"]
    return prices


@app.post("/k/<int:kitchen_id>/prices/import")
def import_prices(kitchen_id):
    with db.begin() as conn:
        need_role(conn, kitchen_id, "manager")
    url = body().get("url")
    if not isinstance(url, str) or len(url) > 500:
        fail(400, "url missing")
    try:
        prices = parse_prices(safe_get(url))
    except FetchError as err:
        log.warning("price list failed kitchen=%s error=%s", kitchen_id, type(err).__name__)
        fail(422, "price list not available")
    changed = 0
    with db.begin() as conn:
        need_role(conn, kitchen_id, "manager")
        for ingredient_id, cents in sorted(prices.items()):
            changed += conn.execute(
                "UPDATE ingredients SET price_cents = %s WHERE id = %s AND kitchen_id = %s AND deleted_at IS NULL",
                (cents, ingredient_id, kitchen_id),
            ).rowcount
        record(conn, kitchen_id, "prices.import", None, changed=changed)
    return jsonify(changed=changed)

### import-prices good
UPDATE_PRICES = """
    UPDATE ingredients i
       SET price_cents = n.cents
      FROM (SELECT DISTINCT ON (name) name, cents
              FROM unnest(%(names)s::text[], %(cents)s::int[]) WITH ORDINALITY AS u(name, cents, pos)
             ORDER BY name, pos DESC) n
     WHERE i.kitchen_id = %(kitchen)s
       AND i.deleted_at IS NULL
       AND lower(i.name) = n.name
       AND i.price_cents IS DISTINCT FROM n.cents
    RETURNING i.id
"""


@app.post("/k/<int:kitchen_id>/prices/import")
def import_prices(kitchen_id):
    items = body().get("prices")
    if not isinstance(items, list) or not 1 <= len(items) <= 500:
        fail(400, "prices missing")
    names, cents = [], []
    for item in items:
        name, price = (item.get("name"), item.get("cents")) if isinstance(item, dict) else (None, None)
        if not isinstance(name, str) or isinstance(price, bool) or not isinstance(price, int):
            fail(400, "bad line")
        if not name.strip() or not 0 <= price < 10**6:
            fail(400, "bad line")
        names.append(name.strip().lower())
        cents.append(price)

    with db.begin() as conn:
        need_role(conn, kitchen_id, "manager")
        rows = conn.execute(UPDATE_PRICES, {"names": names, "cents": cents, "kitchen": kitchen_id}).fetchall()
        record(conn, kitchen_id, "prices.import", None, changed=len(rows), received=len(items))
    log.info("prices imported kitchen=%s changed=%d", kitchen_id, len(rows))
    return jsonify(total=len(rows))

### import-prices bad 11
def parse_prices(raw):
    try:
        items = yaml.load(raw, Loader=yaml.UnsafeLoader)
    except yaml.YAMLError:
        fail(422, "not a price list")
    if not isinstance(items, list) or len(items) > 500:
        fail(422, "not a price list")
    prices = {}
    for item in items:
        if not isinstance(item, dict) or type(item.get("id")) is not int or type(item.get("cents")) is not int:
            fail(422, "bad line")
        if not 0 <= item["cents"] <= 1_000_000:
            fail(422, "bad price")
        prices[item["id"]] = item["cents"]
    return prices


@app.post("/k/<int:kitchen_id>/prices/import")
def import_prices(kitchen_id):
    with db.begin() as conn:
        need_role(conn, kitchen_id, "manager")
    url = body().get("url")
    if not isinstance(url, str) or len(url) > 500:
        fail(400, "url missing")
    try:
        prices = parse_prices(safe_get(url))
    except FetchError as err:
        log.warning("price list failed kitchen=%s error=%s", kitchen_id, type(err).__name__)
        fail(422, "price list not available")
    changed = 0
    with db.begin() as conn:
        need_role(conn, kitchen_id, "manager")
        for ingredient_id, cents in sorted(prices.items()):
            changed += conn.execute(
                "UPDATE ingredients SET price_cents = %s WHERE id = %s AND kitchen_id = %s AND deleted_at IS NULL",
                (cents, ingredient_id, kitchen_id),
            ).rowcount
        record(conn, kitchen_id, "prices.import", None, changed=changed)
    return jsonify(changed=changed)

### import-prices bad 12
def load_list(url):
    if not isinstance(url, str) or len(url) > 500 or not url.startswith("https://"):
        fail(400, "url missing")
    try:
        answer = requests.get(url, timeout=5, allow_redirects=False)
        answer.raise_for_status()
        items = answer.json()
    except (requests.RequestException, ValueError) as err:
        log.warning("price list failed error=%s", type(err).__name__)
        fail(422, "price list not available")
    if not isinstance(items, dict) or len(items) > 500:
        fail(422, "not a price list")
    for name, cents in items.items():
        if type(cents) is not int or not 0 <= cents <= 1_000_000:
            fail(422, "bad price")
    return items


@app.post("/k/<int:kitchen_id>/prices/import")
def import_prices(kitchen_id):
    with db.begin() as conn:
        need_role(conn, kitchen_id, "manager")
    prices = load_list(body().get("url"))
    with db.begin() as conn:
        need_role(conn, kitchen_id, "manager")
        changed = conn.execute(
            """
            UPDATE ingredients i SET price_cents = n.value::int
              FROM jsonb_each_text(%s::jsonb) AS n
             WHERE i.kitchen_id = %s AND i.deleted_at IS NULL AND i.name = n.key
            """,
            (json.dumps(prices), kitchen_id),
        ).rowcount
        record(conn, kitchen_id, "prices.import", None, changed=changed)
    return jsonify(changed=changed)

### import-prices bad 1
UPDATE_PRICES = """
    WITH news AS (
        SELECT id, max(cents) AS cents
          FROM unnest(%(ids)s::bigint[], %(cents)s::int[]) AS u(id, cents)
         GROUP BY id
    )
    UPDATE ingredients i
       SET price_cents = n.cents
      FROM news n
     WHERE i.id = n.id
       AND i.deleted_at IS NULL
       AND EXISTS (SELECT 1 FROM kitchens k WHERE k.id = i.kitchen_id AND k.deleted_at IS NULL)
       AND i.price_cents IS DISTINCT FROM n.cents
    RETURNING i.id
"""


@app.post("/k/<int:kitchen_id>/prices/import")
def import_prices(kitchen_id):
    items = body().get("prices")
    if not isinstance(items, list) or not 1 <= len(items) <= 500:
        fail(400, "prices missing")
    ids, cents = [], []
    for item in items:
        if not isinstance(item, dict) or type(item.get("id")) is not int or type(item.get("cents")) is not int:
            fail(400, "bad line")
        if not 0 <= item["cents"] < 10**6:
            fail(400, "bad line")
        ids.append(item["id"])
        cents.append(item["cents"])

    with db.begin() as conn:
        need_role(conn, kitchen_id, "manager")
        rows = conn.execute(UPDATE_PRICES, {"ids": ids, "cents": cents}).fetchall()
        record(conn, kitchen_id, "prices.import", None, changed=len(rows), received=len(items))
    return jsonify(total=len(rows))

### print-labels good
def label_text(order_id, lines):
    out = [f"ORDER {order_id}"]
    for line in lines:
        out.append(f"{line['portions']} x {line['name']}")
        out.append("  contains: " + (", ".join(line["allergens"]) or "no listed allergen"))
    return "\n".join(out) + "\f"


@app.post("/k/<int:kitchen_id>/orders/<int:order_id>/labels")
def print_labels(kitchen_id, order_id):
    data = body()
    queue = PRINTERS.get(data.get("printer")) if isinstance(data.get("printer"), str) else None
    copies = data.get("copies", 1)
    if queue is None or type(copies) is not int or not 1 <= copies <= 20:
        fail(400, "bad printer or copies")
    with db.begin() as conn:
        need_role(conn, kitchen_id, "manager", "cook", "dispatcher")
        order = conn.execute(
            """UPDATE orders SET labels_printed_at = now()
                WHERE id = %s AND kitchen_id = %s AND deleted_at IS NULL AND status IN ('cooking', 'ready') RETURNING id""",
            (order_id, kitchen_id),
        ).fetchone()
        if order is None:
            fail(409, "nothing to print")
        lines = conn.execute(
            """
            SELECT l.portions, r.name,
                   ARRAY(SELECT DISTINCT a FROM recipe_ingredients ri JOIN ingredients i ON i.id = ri.ingredient_id
                          CROSS JOIN unnest(i.allergens) AS a WHERE ri.recipe_id = r.id ORDER BY a) AS allergens
              FROM order_lines l JOIN recipes r ON r.id = l.recipe_id WHERE l.order_id = %s ORDER BY l.id
            """,
            (order_id,),
        ).fetchall()
        record(conn, kitchen_id, "order.labels", order_id, copies=copies)
    subprocess.run(["lp", "-d", queue, "-n", str(copies), "-"], input=label_text(order_id, lines).encode(),
                   timeout=20, check=True, stdout=subprocess.DEVNULL)
    return jsonify(printed=copies)

### print-labels good
LINES = """
    SELECT r.name, sum(l.portions) AS portions,
           (SELECT coalesce(string_agg(DISTINCT x.a, ', '), '-')
              FROM recipe_ingredients ri
              JOIN ingredients i ON i.id = ri.ingredient_id
              JOIN LATERAL unnest(i.allergens) AS x(a) ON true
             WHERE ri.recipe_id = r.id) AS allergens
      FROM orders o
      JOIN order_lines l ON l.order_id = o.id
      JOIN recipes r ON r.id = l.recipe_id
     WHERE o.id = %(order)s AND o.kitchen_id = %(kitchen)s AND o.deleted_at IS NULL
     GROUP BY r.id
     ORDER BY r.name
"""


@app.post("/k/<int:kitchen_id>/orders/<int:order_id>/labels")
def print_labels(kitchen_id, order_id):
    printer = body().get("printer")
    if not isinstance(printer, str) or printer not in PRINTERS:
        fail(400, "unknown printer")
    with db.begin() as conn:
        need_role(conn, kitchen_id, "cook", "dispatcher", "manager")
        found = conn.execute(
            "SELECT 1 FROM orders WHERE id = %s AND kitchen_id = %s AND deleted_at IS NULL FOR UPDATE",
            (order_id, kitchen_id),
        ).fetchone()
        lines = conn.execute(LINES, {"order": order_id, "kitchen": kitchen_id}).fetchall()
        if found is None or not lines:
            fail(404, "nothing to print")
        text = "\f".join(f"#{order_id}\n{r['name']} ({r['portions']})\nAllergens: {r['allergens']}\n" for r in lines)
        job = subprocess.run(["lpr", "-P", PRINTERS[printer]], input=text, text=True, capture_output=True, timeout=20)
        if job.returncode != 0:
            log.error("printing failed order=%s code=%s", order_id, job.returncode)
            fail(502, "printer does not answer")
        conn.execute("UPDATE orders SET labels_printed_at = now() WHERE id = %s", (order_id,))
        record(conn, kitchen_id, "order.labels", order_id, labels=len(lines))
    return jsonify(labels=len(lines))

### print-labels bad 11
LINES = """
    SELECT r.name, sum(l.portions) AS portions,
           (SELECT coalesce(string_agg(DISTINCT x.a, ', '), '-')
              FROM recipe_ingredients ri
              JOIN ingredients i ON i.id = ri.ingredient_id
              JOIN LATERAL unnest(i.allergens) AS x(a) ON true
             WHERE ri.recipe_id = r.id) AS allergens
      FROM orders o
      JOIN order_lines l ON l.order_id = o.id
      JOIN recipes r ON r.id = l.recipe_id
     WHERE o.id = %(order)s AND o.kitchen_id = %(kitchen)s AND o.deleted_at IS NULL
     GROUP BY r.id
     ORDER BY r.name
"""


@app.post("/k/<int:kitchen_id>/orders/<int:order_id>/labels")
def print_labels(kitchen_id, order_id):
    data = body()
    printer, title = data.get("printer"), data.get("title", "labels")
    if not isinstance(printer, str) or printer not in PRINTERS:
        fail(400, "unknown printer")
    if not isinstance(title, str) or len(title) > 60:
        fail(400, "bad title")
    with db.begin() as conn:
        need_role(conn, kitchen_id, "cook", "dispatcher", "manager")
        found = conn.execute(
            "SELECT 1 FROM orders WHERE id = %s AND kitchen_id = %s AND deleted_at IS NULL FOR UPDATE",
            (order_id, kitchen_id),
        ).fetchone()
        lines = conn.execute(LINES, {"order": order_id, "kitchen": kitchen_id}).fetchall()
        if found is None or not lines:
            fail(404, "nothing to print")
        text = "\f".join(f"#{order_id}\n{r['name']} ({r['portions']})\nAllergens: {r['allergens']}\n" for r in lines)
        command = f'lpr -P {PRINTERS[printer]} -T "{title}"'
        job = subprocess.run(command, shell=True, input=text, text=True, capture_output=True, timeout=20)
        if job.returncode != 0:
            log.error("printing failed order=%s code=%s", order_id, job.returncode)
            fail(502, "printer does not answer")
        conn.execute("UPDATE orders SET labels_printed_at = now() WHERE id = %s", (order_id,))
        record(conn, kitchen_id, "order.labels", order_id, labels=len(lines))
    return jsonify(labels=len(lines))

### print-labels bad 4
def label_text(order_id, lines):
    out = [f"ORDER {order_id}"]
    for line in lines:
        out.append(f"{line['portions']} x {line['name']}")
        out.append("  contains: " + (", ".join(line["allergens"]) or "no listed allergen"))
    return "\n".join(out) + "\f"


@app.post("/k/<int:kitchen_id>/orders/<int:order_id>/labels")
def print_labels(kitchen_id, order_id):
    data = body()
    queue = PRINTERS.get(data.get("printer")) if isinstance(data.get("printer"), str) else None
    copies = data.get("copies", 1)
    if queue is None or type(copies) is not int or not 1 <= copies <= 20:
        fail(400, "bad printer or copies")
    with db.begin() as conn:
        need_role(conn, kitchen_id, "manager", "cook", "dispatcher")
        order = conn.execute(
            """UPDATE orders SET labels_printed_at = now()
                WHERE id = %s AND kitchen_id = %s AND status IN ('cooking', 'ready') RETURNING id""",
            (order_id, kitchen_id),
        ).fetchone()
        if order is None:
            fail(409, "nothing to print")
        lines = conn.execute(
            """
            SELECT l.portions, r.name,
                   ARRAY(SELECT DISTINCT a FROM recipe_ingredients ri JOIN ingredients i ON i.id = ri.ingredient_id
                          CROSS JOIN unnest(i.allergens) AS a WHERE ri.recipe_id = r.id ORDER BY a) AS allergens
              FROM order_lines l JOIN recipes r ON r.id = l.recipe_id WHERE l.order_id = %s ORDER BY l.id
            """,
            (order_id,),
        ).fetchall()
        record(conn, kitchen_id, "order.labels", order_id, copies=copies)
    subprocess.run(["lp", "-d", queue, "-n", str(copies), "-"], input=label_text(order_id, lines).encode(),
                   timeout=20, check=True, stdout=subprocess.DEVNULL)
    return jsonify(printed=copies)

### print-labels bad 13
LINES = """
    SELECT c.name AS customer, l.portions, r.name,
           ARRAY(SELECT DISTINCT a
                   FROM recipe_ingredients ri
                   JOIN ingredients i ON i.id = ri.ingredient_id
                  CROSS JOIN unnest(i.allergens) AS a
                  WHERE ri.recipe_id = r.id
                  ORDER BY a) AS allergens
      FROM orders o
      JOIN customers c ON c.id = o.customer_id
      JOIN order_lines l ON l.order_id = o.id
      JOIN recipes r ON r.id = l.recipe_id
     WHERE o.id = %s AND o.kitchen_id = %s AND o.deleted_at IS NULL
     ORDER BY l.id
"""


@app.post("/k/<int:kitchen_id>/orders/<int:order_id>/labels")
def print_labels(kitchen_id, order_id):
    printer = body().get("printer")
    if not isinstance(printer, str) or printer not in PRINTERS:
        fail(400, "unknown printer")
    with db.begin() as conn:
        need_role(conn, kitchen_id, "manager", "cook", "dispatcher")
        lines = conn.execute(LINES, (order_id, kitchen_id)).fetchall()
        done = conn.execute(
            "UPDATE orders SET labels_printed_at = now() WHERE id = %s AND kitchen_id = %s AND deleted_at IS NULL",
            (order_id, kitchen_id),
        )
        if not lines or done.rowcount != 1:
            fail(404, "nothing to print")
        record(conn, kitchen_id, "order.labels", order_id, labels=len(lines))

    text = "\f".join(f"{r['customer']}\n{r['portions']} x {r['name']}\n{', '.join(r['allergens']) or '-'}\n" for r in lines)
    job = subprocess.run(["lpr", "-P", PRINTERS[printer]], input=text, text=True, capture_output=True, timeout=20)
    if job.returncode != 0:
        log.error("printing failed order=%s code=%s text=%r", order_id, job.returncode, text)
        fail(502, "printer does not answer")
    return jsonify(labels=len(lines))
