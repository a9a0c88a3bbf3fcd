### show-invoice good
@app.get("/invoices/<int:invoice_id>")
def show_invoice(invoice_id):
    account = current_account()
    invoice = invoice_for(account, invoice_id)
    lines = db.all(
        "SELECT description, amount_cents FROM invoice_lines WHERE invoice_id = %s ORDER BY id LIMIT 50",
        (invoice["id"],),
    )
    return reply({
        "id": invoice["id"],
        "status": invoice["status"],
        "total": invoice["total_cents"],
        "due": invoice["due_on"].isoformat(),
        "lines": lines,
    })
### show-invoice good
@app.get("/invoices/<int:invoice_id>")
def show_invoice(invoice_id):
    account = current_account()
    require_role(account, "parent", "bursar", "admin")
    row = db.one(
        """
        SELECT id, status, total_cents, due_on, parent_id
          FROM invoices
         WHERE id = %(id)s AND school_id = %(school)s
        """,
        {"id": invoice_id, "school": account.school_id},
    )
    if row is None or (account.role == "parent" and row["parent_id"] != account.id):
        return reply({"error": "not found"}, 404)
    return reply({k: row[k] for k in ("id", "status", "total_cents", "due_on")})
### show-invoice bad 2
@app.get("/invoices/<int:invoice_id>")
def show_invoice(invoice_id):
    account = current_account()
    require_role(account, "parent", "bursar", "admin")
    row = db.one(
        """
        SELECT id, status, total_cents, due_on, parent_id
          FROM invoices
         WHERE id = %(id)s AND school_id = %(school)s
        """,
        {"id": invoice_id, "school": account.school_id},
    )
    if row is None:
        return reply({"error": "not found"}, 404)
    return reply({k: row[k] for k in ("id", "status", "total_cents", "due_on")})
### show-invoice bad 1
@app.get("/invoices/<int:invoice_id>")
def show_invoice(invoice_id):
    account = current_account()
    require_role(account, "parent", "bursar", "admin")
    row = db.one(
        """
        SELECT id, status, total_cents, due_on, parent_id
          FROM invoices
         WHERE id = %(id)s
        """,
        {"id": invoice_id, "school": account.school_id},
    )
    if row is None or (account.role == "parent" and row["parent_id"] != account.id):
        return reply({"error": "not found"}, 404)
    return reply({k: row[k] for k in ("id", "status", "total_cents", "due_on")})
### show-invoice bad 3
@app.get("/invoices/<int:invoice_id>")
def show_invoice(invoice_id):
    account = current_account()
    row = db.one(
        """
        SELECT id, status, total_cents, due_on, parent_id
          FROM invoices
         WHERE id = %(id)s AND school_id = %(school)s
        """,
        {"id": invoice_id, "school": account.school_id},
    )
    if row is None or (account.role == "parent" and row["parent_id"] != account.id):
        return reply({"error": "not found"}, 404)
    return reply({k: row[k] for k in ("id", "status", "total_cents", "due_on")})
### show-invoice bad 2,1
@app.get("/invoices/<int:invoice_id>")
def show_invoice(invoice_id):
    account = current_account()
    invoice = db.one("SELECT * FROM invoices WHERE id = %s", (invoice_id,))
    lines = db.all(
        "SELECT description, amount_cents FROM invoice_lines WHERE invoice_id = %s ORDER BY id LIMIT 50",
        (invoice["id"],),
    )
    return reply({
        "id": invoice["id"],
        "status": invoice["status"],
        "total": invoice["total_cents"],
        "due": invoice["due_on"].isoformat(),
        "lines": lines,
    })
### lessons good
@app.get("/lessons")
def my_lessons():
    account = current_account()
    require_role(account, "teacher")
    rows = db.all(
        """
        SELECT l.id, l.starts_at, l.status, s.first_name, s.medical_note
          FROM lessons l
          JOIN students s ON s.id = l.student_id
         WHERE l.teacher_id = %s AND s.school_id = %s
         ORDER BY l.starts_at
         LIMIT 50
        """,
        (account.id, account.school_id),
    )
    return reply(rows)
### lessons good
PAGE = 50

@app.get("/lessons")
def lessons():
    account = current_account()
    try:
        page = max(int(query_arg("page") or 0), 0)
    except ValueError:
        return reply({"error": "page"}, 400)
    sql = ("SELECT l.id, l.starts_at, l.status FROM lessons l JOIN students s ON s.id = l.student_id "
           "WHERE s.school_id = %s")
    params = [account.school_id]
    if account.role == "parent":
        sql += " AND s.parent_id = %s"
        params.append(account.id)
    elif account.role == "teacher":
        sql += " AND l.teacher_id = %s"
        params.append(account.id)
    sql += " ORDER BY l.id LIMIT %s OFFSET %s"
    params += [PAGE, page * PAGE]
    return reply(db.all(sql, params))
### lessons bad 1
@app.get("/lessons")
def my_lessons():
    account = current_account()
    require_role(account, "teacher")
    rows = db.all(
        """
        SELECT l.id, l.starts_at, l.status, s.first_name, s.medical_note
          FROM lessons l
          JOIN students s ON s.id = l.student_id
         WHERE l.teacher_id = %s
         ORDER BY l.starts_at
         LIMIT 50
        """,
        (query_arg("teacher"),),
    )
    return reply(rows)
### lessons bad 9
@app.get("/lessons")
def my_lessons():
    account = current_account()
    require_role(account, "teacher")
    rows = db.all(
        """
        SELECT l.id, l.starts_at, l.status, s.first_name, s.medical_note
          FROM lessons l
          JOIN students s ON s.id = l.student_id
         WHERE l.teacher_id = %s AND s.school_id = %s
         ORDER BY l.starts_at
        """,
        (account.id, account.school_id),
    )
    return reply(rows)
### lessons bad 2
PAGE = 50

@app.get("/lessons")
def lessons():
    account = current_account()
    try:
        page = max(int(query_arg("page") or 0), 0)
    except ValueError:
        return reply({"error": "page"}, 400)
    sql = ("SELECT l.id, l.starts_at, l.status FROM lessons l JOIN students s ON s.id = l.student_id "
           "WHERE s.school_id = %s")
    params = [account.school_id]
    if account.role == "teacher":
        sql += " AND l.teacher_id = %s"
        params.append(account.id)
    sql += " ORDER BY l.id LIMIT %s OFFSET %s"
    params += [PAGE, page * PAGE]
    return reply(db.all(sql, params))
### lessons bad 13
PAGE = 50

@app.get("/lessons")
def lessons():
    account = current_account()
    try:
        page = max(int(query_arg("page") or 0), 0)
    except ValueError:
        return reply({"error": "page"}, 400)
    sql = ("SELECT l.id, l.starts_at, l.status FROM lessons l JOIN students s ON s.id = l.student_id "
           "WHERE s.school_id = %s")
    params = [account.school_id]
    if account.role == "parent":
        sql += " AND s.parent_id = %s"
        params.append(account.id)
    elif account.role == "teacher":
        sql += " AND l.teacher_id = %s"
        params.append(account.id)
    sql += f" ORDER BY {query_arg('sort')} LIMIT %s OFFSET %s"
    params += [PAGE, page * PAGE]
    return reply(db.all(sql, params))
### refund good
@app.post("/invoices/<int:invoice_id>/refunds")
def refund(invoice_id):
    account = current_account()
    require_role(account, "bursar", "admin")
    cents = json_body().get("cents")
    if not isinstance(cents, int) or cents <= 0:
        return reply({"error": "cents"}, 400)
    with db.transaction():
        changed = db.run(
            """
            UPDATE invoices
               SET refunded_cents = refunded_cents + %(c)s, version = version + 1
             WHERE id = %(id)s AND school_id = %(school)s AND status = 'paid'
               AND refunded_cents + %(c)s <= total_cents
            """,
            {"c": cents, "id": invoice_id, "school": account.school_id},
        )
        if changed != 1:
            return reply({"error": "not possible"}, 409)
        log_change(account, "refund", invoice_id)
    return reply({"refunded": cents})
### refund good
@app.post("/invoices/<int:invoice_id>/refunds")
def refund(invoice_id):
    account = current_account()
    require_role(account, "bursar", "admin")
    cents = int(json_body()["cents"])
    if cents < 1:
        return reply({"error": "cents"}, 400)
    with db.transaction():
        inv = db.one(
            "SELECT id, status, total_cents, refunded_cents FROM invoices WHERE id = %s AND school_id = %s FOR UPDATE",
            (invoice_id, account.school_id),
        )
        if inv is None:
            return reply({"error": "not found"}, 404)
        left = inv["total_cents"] - inv["refunded_cents"]
        if inv["status"] != "paid" or cents > left:
            return reply({"error": "not possible"}, 409)
        db.run("UPDATE invoices SET refunded_cents = refunded_cents + %s WHERE id = %s", (cents, inv["id"]))
        log_change(account, "refund", inv["id"])
    return reply({"refunded": cents})
### refund bad 5
@app.post("/invoices/<int:invoice_id>/refunds")
def refund(invoice_id):
    account = current_account()
    require_role(account, "bursar", "admin")
    cents = json_body().get("cents")
    if not isinstance(cents, int) or cents <= 0:
        return reply({"error": "cents"}, 400)
    with db.transaction():
        changed = db.run(
            """
            UPDATE invoices
               SET refunded_cents = refunded_cents + %(c)s, version = version + 1
             WHERE id = %(id)s AND school_id = %(school)s AND status = 'paid'
            """,
            {"c": cents, "id": invoice_id, "school": account.school_id},
        )
        if changed != 1:
            return reply({"error": "not possible"}, 409)
        log_change(account, "refund", invoice_id)
    return reply({"refunded": cents})
### refund bad 5
@app.post("/invoices/<int:invoice_id>/refunds")
def refund(invoice_id):
    account = current_account()
    require_role(account, "bursar", "admin")
    cents = int(json_body()["cents"])
    if cents < 1:
        return reply({"error": "cents"}, 400)
    with db.transaction():
        inv = db.one(
            "SELECT id, status, total_cents, refunded_cents FROM invoices WHERE id = %s AND school_id = %s",
            (invoice_id, account.school_id),
        )
        if inv is None:
            return reply({"error": "not found"}, 404)
        left = inv["total_cents"] - inv["refunded_cents"]
        if inv["status"] != "paid" or cents > left:
            return reply({"error": "not possible"}, 409)
        db.run("UPDATE invoices SET refunded_cents = refunded_cents + %s WHERE id = %s", (cents, inv["id"]))
        log_change(account, "refund", inv["id"])
    return reply({"refunded": cents})
### refund bad 5
@app.post("/invoices/<int:invoice_id>/refunds")
def refund(invoice_id):
    account = current_account()
    require_role(account, "bursar", "admin")
    cents = json_body().get("cents")
    if not isinstance(cents, int):
        return reply({"error": "cents"}, 400)
    with db.transaction():
        changed = db.run(
            """
            UPDATE invoices
               SET refunded_cents = refunded_cents + %(c)s, version = version + 1
             WHERE id = %(id)s AND school_id = %(school)s AND status = 'paid'
               AND refunded_cents + %(c)s <= total_cents
            """,
            {"c": cents, "id": invoice_id, "school": account.school_id},
        )
        if changed != 1:
            return reply({"error": "not possible"}, 409)
        log_change(account, "refund", invoice_id)
    return reply({"refunded": cents})
### refund bad 4
@app.post("/invoices/<int:invoice_id>/refunds")
def refund(invoice_id):
    account = current_account()
    cents = json_body().get("cents")
    if not isinstance(cents, int) or cents <= 0:
        return reply({"error": "cents"}, 400)
    with db.transaction():
        changed = db.run(
            """
            UPDATE invoices
               SET refunded_cents = refunded_cents + %(c)s, version = version + 1
             WHERE id = %(id)s AND school_id = %(school)s AND status = 'paid'
               AND refunded_cents + %(c)s <= total_cents
            """,
            {"c": cents, "id": invoice_id, "school": account.school_id},
        )
        if changed != 1:
            return reply({"error": "not possible"}, 409)
        log_change(account, "refund", invoice_id)
    return reply({"refunded": cents})
### refund bad 11
@app.post("/invoices/<int:invoice_id>/refunds")
def refund(invoice_id):
    account = current_account()
    require_role(account, "bursar", "admin")
    cents = int(json_body()["cents"])
    if cents < 1:
        return reply({"error": "cents"}, 400)
    with db.transaction():
        inv = db.one(
            "SELECT id, status, total_cents, refunded_cents FROM invoices WHERE id = %s AND school_id = %s FOR UPDATE",
            (invoice_id, account.school_id),
        )
        if inv is None:
            return reply({"error": "not found"}, 404)
        left = inv["total_cents"] - inv["refunded_cents"]
        if inv["status"] != "paid" or cents > left:
            return reply({"error": "not possible"}, 409)
        db.run("UPDATE invoices SET refunded_cents = refunded_cents + %s WHERE id = %s", (cents, inv["id"]))
    return reply({"refunded": cents})
### refund bad 6
@app.post("/invoices/<int:invoice_id>/refunds")
def refund(invoice_id):
    account = current_account()
    require_role(account, "bursar", "admin")
    cents = int(json_body()["cents"])
    if cents < 1:
        return reply({"error": "cents"}, 400)
    with db.transaction():
        inv = db.one(
            "SELECT id, status, total_cents, refunded_cents FROM invoices WHERE id = %s AND school_id = %s FOR UPDATE",
            (invoice_id, account.school_id),
        )
        if inv is None:
            return reply({"error": "not found"}, 404)
        left = inv["total_cents"] - inv["refunded_cents"]
        if cents > left:
            return reply({"error": "not possible"}, 409)
        db.run("UPDATE invoices SET refunded_cents = refunded_cents + %s WHERE id = %s", (cents, inv["id"]))
        log_change(account, "refund", inv["id"])
    return reply({"refunded": cents})
### void good
@app.post("/invoices/<int:invoice_id>/void")
def void_invoice(invoice_id):
    account = current_account()
    require_role(account, "bursar", "admin")
    with db.transaction():
        row = db.one(
            "UPDATE invoices SET status = 'void' WHERE id = %s AND school_id = %s AND status = 'open' RETURNING id",
            (invoice_id, account.school_id),
        )
        if row is None:
            return reply({"error": "not open"}, 409)
        log_change(account, "void", row["id"])
    return reply({"id": row["id"], "status": "void"})
### void good
@app.post("/invoices/<int:invoice_id>/void")
def void_invoice(invoice_id):
    account = current_account()
    if account.role not in ("bursar", "admin"):
        return reply({"error": "forbidden"}, 403)
    invoice = invoice_for(account, invoice_id)
    with db.transaction():
        if db.run("UPDATE invoices SET status = 'void' WHERE id = %s AND status = 'open'", (invoice["id"],)) == 0:
            return reply({"error": "not open"}, 409)
        log_change(account, "void", invoice["id"])
    return reply({"status": "void"})
### void bad 4
@app.post("/invoices/<int:invoice_id>/void")
def void_invoice(invoice_id):
    account = current_account()
    if account.role == "parent":
        return reply({"error": "forbidden"}, 403)
    invoice = invoice_for(account, invoice_id)
    with db.transaction():
        if db.run("UPDATE invoices SET status = 'void' WHERE id = %s AND status = 'open'", (invoice["id"],)) == 0:
            return reply({"error": "not open"}, 409)
        log_change(account, "void", invoice["id"])
    return reply({"status": "void"})
### void bad 6
@app.post("/invoices/<int:invoice_id>/void")
def void_invoice(invoice_id):
    account = current_account()
    require_role(account, "bursar", "admin")
    with db.transaction():
        row = db.one(
            "UPDATE invoices SET status = 'void' WHERE id = %s AND school_id = %s RETURNING id",
            (invoice_id, account.school_id),
        )
        if row is None:
            return reply({"error": "not open"}, 409)
        log_change(account, "void", row["id"])
    return reply({"id": row["id"], "status": "void"})
### void bad 1
@app.post("/invoices/<int:invoice_id>/void")
def void_invoice(invoice_id):
    account = current_account()
    require_role(account, "bursar", "admin")
    with db.transaction():
        row = db.one(
            "UPDATE invoices SET status = 'void' WHERE id = %s AND status = 'open' RETURNING id",
            (invoice_id,),
        )
        if row is None:
            return reply({"error": "not open"}, 409)
        log_change(account, "void", row["id"])
    return reply({"id": row["id"], "status": "void"})
### void bad 11
@app.post("/invoices/<int:invoice_id>/void")
def void_invoice(invoice_id):
    account = current_account()
    require_role(account, "bursar", "admin")
    with db.transaction():
        row = db.one(
            "UPDATE invoices SET status = 'void' WHERE id = %s AND school_id = %s AND status = 'open' RETURNING id",
            (invoice_id, account.school_id),
        )
        if row is None:
            return reply({"error": "not open"}, 409)
    return reply({"id": row["id"], "status": "void"})
### voucher good
@app.post("/vouchers/redeem")
def redeem_voucher():
    account = current_account()
    code = str(json_body().get("code", ""))[:40]
    row = db.one(
        """
        UPDATE vouchers SET uses_left = uses_left - 1
         WHERE code = %s AND school_id = %s AND uses_left > 0 AND valid_until >= current_date
        RETURNING code
        """,
        (code, account.school_id),
    )
    if row is None:
        return reply({"error": "voucher"}, 409)
    return reply({"code": row["code"]})
### voucher good
@app.post("/vouchers/redeem")
def redeem_voucher():
    account = current_account()
    code = json_body().get("code")
    with db.transaction():
        voucher = db.one(
            "SELECT code, uses_left, valid_until FROM vouchers WHERE code = %s AND school_id = %s FOR UPDATE",
            (code, account.school_id),
        )
        if not voucher or voucher["uses_left"] < 1 or voucher["valid_until"] < date.today():
            return reply({"error": "voucher"}, 409)
        db.run("UPDATE vouchers SET uses_left = uses_left - 1 WHERE code = %s", (voucher["code"],))
    return reply({"code": voucher["code"]})
### voucher bad 7
@app.post("/vouchers/redeem")
def redeem_voucher():
    account = current_account()
    code = str(json_body().get("code", ""))[:40]
    row = db.one(
        """
        UPDATE vouchers SET uses_left = uses_left - 1
         WHERE code = %s AND school_id = %s AND uses_left > 0
        RETURNING code
        """,
        (code, account.school_id),
    )
    if row is None:
        return reply({"error": "voucher"}, 409)
    return reply({"code": row["code"]})
### voucher bad 7
@app.post("/vouchers/redeem")
def redeem_voucher():
    account = current_account()
    code = json_body().get("code")
    with db.transaction():
        voucher = db.one(
            "SELECT code, uses_left, valid_until FROM vouchers WHERE code = %s AND school_id = %s FOR UPDATE",
            (code, account.school_id),
        )
        if not voucher or voucher["uses_left"] < 1:
            return reply({"error": "voucher"}, 409)
        db.run("UPDATE vouchers SET uses_left = uses_left - 1 WHERE code = %s", (voucher["code"],))
    return reply({"code": voucher["code"]})
### voucher bad 7
@app.post("/vouchers/redeem")
def redeem_voucher():
    account = current_account()
    code = str(json_body().get("code", ""))[:40]
    row = db.one(
        """
        UPDATE vouchers SET uses_left = uses_left - 1
         WHERE code = %s AND school_id = %s AND valid_until >= current_date
        RETURNING code
        """,
        (code, account.school_id),
    )
    if row is None:
        return reply({"error": "voucher"}, 409)
    return reply({"code": row["code"]})
### cancel-lesson good
@app.post("/lessons/<int:lesson_id>/cancel")
def cancel_lesson(lesson_id):
    account = current_account()
    require_role(account, "parent")
    changed = db.run(
        """
        UPDATE lessons l SET status = 'cancelled'
          FROM students s
         WHERE l.id = %s AND s.id = l.student_id AND s.parent_id = %s AND s.school_id = %s
           AND l.status = 'planned' AND l.starts_at > now() + interval '24 hours'
        """,
        (lesson_id, account.id, account.school_id),
    )
    if not changed:
        return reply({"error": "too late"}, 409)
    return reply({}, 200)
### cancel-lesson good
@app.post("/lessons/<int:lesson_id>/cancel")
def cancel_lesson(lesson_id):
    account = current_account()
    lesson = db.one(
        "SELECT l.id, l.starts_at FROM lessons l JOIN students s ON s.id = l.student_id"
        " WHERE l.id = %s AND s.parent_id = %s AND s.school_id = %s",
        (lesson_id, account.id, account.school_id),
    )
    if lesson is None:
        return reply({"error": "not found"}, 404)
    if lesson["starts_at"] - datetime.now(timezone.utc) < timedelta(hours=24):
        return reply({"error": "too late"}, 409)
    db.run("UPDATE lessons SET status = 'cancelled' WHERE id = %s AND status = 'planned'", (lesson["id"],))
    return reply({}, 200)
### cancel-lesson bad 10
@app.post("/lessons/<int:lesson_id>/cancel")
def cancel_lesson(lesson_id):
    account = current_account()
    require_role(account, "parent")
    changed = db.run(
        """
        UPDATE lessons l SET status = 'cancelled'
          FROM students s
         WHERE l.id = %s AND s.id = l.student_id AND s.parent_id = %s AND s.school_id = %s
           AND l.status = 'planned'
        """,
        (lesson_id, account.id, account.school_id),
    )
    if not changed:
        return reply({"error": "too late"}, 409)
    return reply({}, 200)
### cancel-lesson bad 10
@app.post("/lessons/<int:lesson_id>/cancel")
def cancel_lesson(lesson_id):
    account = current_account()
    lesson = db.one(
        "SELECT l.id, l.starts_at FROM lessons l JOIN students s ON s.id = l.student_id"
        " WHERE l.id = %s AND s.parent_id = %s AND s.school_id = %s",
        (lesson_id, account.id, account.school_id),
    )
    if lesson is None:
        return reply({"error": "not found"}, 404)
    if lesson["starts_at"] - datetime.now(timezone.utc) < timedelta(0):
        return reply({"error": "too late"}, 409)
    db.run("UPDATE lessons SET status = 'cancelled' WHERE id = %s AND status = 'planned'", (lesson["id"],))
    return reply({}, 200)
### cancel-lesson bad 2
@app.post("/lessons/<int:lesson_id>/cancel")
def cancel_lesson(lesson_id):
    account = current_account()
    require_role(account, "parent")
    changed = db.run(
        """
        UPDATE lessons l SET status = 'cancelled'
          FROM students s
         WHERE l.id = %s AND s.id = l.student_id AND s.school_id = %s
           AND l.status = 'planned' AND l.starts_at > now() + interval '24 hours'
        """,
        (lesson_id, account.school_id),
    )
    if not changed:
        return reply({"error": "too late"}, 409)
    return reply({}, 200)
### send-code good
# public
@app.post("/login/code")
def send_code():
    email = str(json_body().get("email", "")).strip().lower()
    account = db.one("SELECT id, email FROM accounts WHERE email = %s", (email,))
    if account is not None:
        code = f"{secrets.randbelow(1_000_000):06d}"
        db.run(
            "INSERT INTO login_codes (account_id, code_hash, expires_at, attempts) VALUES (%s, %s, now() + interval '10 minutes', 0)",
            (account["id"], hash_code(code)),
        )
        mailer.send_code(account["email"], code)
    return reply({"sent": True}, 202)
### send-code bad 12
# public
@app.post("/login/code")
def send_code():
    email = str(json_body().get("email", "")).strip().lower()
    account = db.one("SELECT id, email FROM accounts WHERE email = %s", (email,))
    if account is not None:
        code = f"{random.randint(0, 999999):06d}"
        db.run(
            "INSERT INTO login_codes (account_id, code_hash, expires_at, attempts) VALUES (%s, %s, now() + interval '10 minutes', 0)",
            (account["id"], hash_code(code)),
        )
        mailer.send_code(account["email"], code)
    return reply({"sent": True}, 202)
### send-code bad 12
# public
@app.post("/login/code")
def send_code():
    email = str(json_body().get("email", "")).strip().lower()
    account = db.one("SELECT id, email FROM accounts WHERE email = %s", (email,))
    if account is not None:
        code = f"{secrets.randbelow(1_000_000):06d}"
        db.run(
            "INSERT INTO login_codes (account_id, code_hash, expires_at, attempts) VALUES (%s, %s, now() + interval '10 minutes', 0)",
            (account["id"], code),
        )
        mailer.send_code(account["email"], code)
    return reply({"sent": True}, 202)
### verify-code good
# public
@app.post("/login/verify")
def verify_code():
    body = json_body()
    with db.transaction():
        row = db.one(
            "UPDATE login_codes SET attempts = attempts + 1"
            " WHERE id = %s AND attempts < 5 AND expires_at > now() RETURNING account_id, code_hash",
            (body.get("id"),),
        )
    if row is None or not hmac.compare_digest(row["code_hash"], hash_code(str(body.get("code", "")))):
        return reply({"error": "code"}, 401)
    db.run("DELETE FROM login_codes WHERE id = %s", (body.get("id"),))
    session["account_id"] = row["account_id"]
    return reply({"ok": True})
### verify-code bad 12
# public
@app.post("/login/verify")
def verify_code():
    body = json_body()
    with db.transaction():
        row = db.one(
            "UPDATE login_codes SET attempts = attempts + 1"
            " WHERE id = %s AND expires_at > now() RETURNING account_id, code_hash",
            (body.get("id"),),
        )
    if row is None or not hmac.compare_digest(row["code_hash"], hash_code(str(body.get("code", "")))):
        return reply({"error": "code"}, 401)
    db.run("DELETE FROM login_codes WHERE id = %s", (body.get("id"),))
    session["account_id"] = row["account_id"]
    return reply({"ok": True})
### verify-code bad 12
# public
@app.post("/login/verify")
def verify_code():
    body = json_body()
    with db.transaction():
        row = db.one(
            "UPDATE login_codes SET attempts = attempts + 1"
            " WHERE id = %s AND attempts < 5 RETURNING account_id, code_hash",
            (body.get("id"),),
        )
    if row is None or not hmac.compare_digest(row["code_hash"], hash_code(str(body.get("code", "")))):
        return reply({"error": "code"}, 401)
    db.run("DELETE FROM login_codes WHERE id = %s", (body.get("id"),))
    session["account_id"] = row["account_id"]
    return reply({"ok": True})
### pdf good
@app.get("/invoices/<int:invoice_id>/pdf")
def invoice_pdf(invoice_id):
    account = current_account()
    invoice = invoice_for(account, invoice_id)
    path = PDF_DIR / f"{invoice['id']}.pdf"
    if not path.is_file():
        return reply({"error": "not found"}, 404)
    return send_file(path, mimetype="application/pdf")
### pdf bad 14
@app.get("/invoices/<int:invoice_id>/pdf")
def invoice_pdf(invoice_id):
    account = current_account()
    invoice = invoice_for(account, invoice_id)
    path = PDF_DIR / query_arg("file")
    if not path.is_file():
        return reply({"error": "not found"}, 404)
    return send_file(path, mimetype="application/pdf")
### pdf bad 2
@app.get("/invoices/<int:invoice_id>/pdf")
def invoice_pdf(invoice_id):
    account = current_account()
    path = PDF_DIR / f"{invoice_id}.pdf"
    if not path.is_file():
        return reply({"error": "not found"}, 404)
    return send_file(path, mimetype="application/pdf")
### edit good
@app.put("/invoices/<int:invoice_id>")
def edit_invoice(invoice_id):
    account = current_account()
    require_role(account, "bursar", "admin")
    body = json_body()
    try:
        due = date.fromisoformat(body["due"])
        version = int(body["version"])
    except (KeyError, TypeError, ValueError):
        return reply({"error": "bad request"}, 400)
    with db.transaction():
        n = db.run(
            "UPDATE invoices SET due_on = %s, version = version + 1"
            " WHERE id = %s AND school_id = %s AND status = 'open' AND version = %s",
            (due, invoice_id, account.school_id, version),
        )
        if n == 0:
            return reply({"error": "changed meanwhile"}, 409)
        log_change(account, "edit", invoice_id)
    return reply({"version": version + 1})
### edit bad 15
@app.put("/invoices/<int:invoice_id>")
def edit_invoice(invoice_id):
    account = current_account()
    require_role(account, "bursar", "admin")
    body = json_body()
    try:
        due = date.fromisoformat(body["due"])
        version = int(body["version"])
    except (KeyError, TypeError, ValueError):
        return reply({"error": "bad request"}, 400)
    with db.transaction():
        n = db.run(
            "UPDATE invoices SET due_on = %s, version = version + 1"
            " WHERE id = %s AND school_id = %s AND status = 'open'",
            (due, invoice_id, account.school_id),
        )
        if n == 0:
            return reply({"error": "changed meanwhile"}, 409)
        log_change(account, "edit", invoice_id)
    return reply({"version": version + 1})
### edit bad 16
@app.put("/invoices/<int:invoice_id>")
def edit_invoice(invoice_id):
    account = current_account()
    require_role(account, "bursar", "admin")
    body = json_body()
    try:
        due = date.fromisoformat(body["due"])
        version = int(body["version"])
    except Exception as exc:
        return reply({"error": str(exc)}, 400)
    with db.transaction():
        n = db.run(
            "UPDATE invoices SET due_on = %s, version = version + 1"
            " WHERE id = %s AND school_id = %s AND status = 'open' AND version = %s",
            (due, invoice_id, account.school_id, version),
        )
        if n == 0:
            return reply({"error": "changed meanwhile"}, 409)
        log_change(account, "edit", invoice_id)
    return reply({"version": version + 1})
### edit bad 11
@app.put("/invoices/<int:invoice_id>")
def edit_invoice(invoice_id):
    account = current_account()
    require_role(account, "bursar", "admin")
    body = json_body()
    try:
        due = date.fromisoformat(body["due"])
        version = int(body["version"])
    except (KeyError, TypeError, ValueError):
        return reply({"error": "bad request"}, 400)
    with db.transaction():
        n = db.run(
            "UPDATE invoices SET due_on = %s, version = version + 1"
            " WHERE id = %s AND school_id = %s AND status = 'open' AND version = %s",
            (due, invoice_id, account.school_id, version),
        )
        if n == 0:
            return reply({"error": "changed meanwhile"}, 409)
    return reply({"version": version + 1})
### students good
@app.get("/students")
def students():
    account = current_account()
    require_role(account, "parent")
    rows = db.all(
        "SELECT id, first_name, medical_note FROM students WHERE parent_id = %s AND school_id = %s ORDER BY first_name LIMIT 50",
        (account.id, account.school_id),
    )
    return reply(rows)
### students good
@app.get("/students")
def students():
    account = current_account()
    require_role(account, "bursar", "admin")
    rows = db.all(
        "SELECT s.id, s.first_name, a.full_name AS parent FROM students s JOIN accounts a ON a.id = s.parent_id"
        " WHERE s.school_id = %s ORDER BY s.id LIMIT 50",
        (account.school_id,),
    )
    return reply({"students": rows})
### students good
# public
@app.get("/instruments")
def instruments():
    return reply(db.all("SELECT id, name FROM instruments ORDER BY name LIMIT 50", ()))
### students bad 8
@app.get("/students")
def students():
    account = current_account()
    require_role(account, "bursar", "admin")
    rows = db.all(
        "SELECT s.id, s.first_name, s.medical_note, a.full_name AS parent FROM students s JOIN accounts a ON a.id = s.parent_id"
        " WHERE s.school_id = %s ORDER BY s.id LIMIT 50",
        (account.school_id,),
    )
    return reply({"students": rows})
### students bad 8
@app.get("/students")
def students():
    account = current_account()
    require_role(account, "bursar", "admin")
    rows = db.all(
        "SELECT s.id, s.first_name, a.full_name AS parent, a.pin_hash FROM students s JOIN accounts a ON a.id = s.parent_id"
        " WHERE s.school_id = %s ORDER BY s.id LIMIT 50",
        (account.school_id,),
    )
    return reply({"students": rows})
### students bad 2
@app.get("/students")
def students():
    account = current_account()
    require_role(account, "parent")
    rows = db.all(
        "SELECT id, first_name, medical_note FROM students WHERE school_id = %s ORDER BY first_name LIMIT 50",
        (account.school_id,),
    )
    return reply(rows)
