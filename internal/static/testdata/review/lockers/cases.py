### reveal-pin good
def reveal_pin(session, parcel_id):
    parcel = store.parcel(parcel_id)
    require_company(session, parcel)
    if session.operator.role != "supervisor":
        raise Forbidden("supervisors only")
    log_event(session, parcel, "pin revealed")
    return {"id": parcel.id, "pin": parcel.pin}
### reveal-pin bad 2
def reveal_pin(session, parcel_id):
    parcel = store.parcel(parcel_id)
    require_company(session, parcel)
    if session.operator.role == "viewer":
        raise Forbidden("supervisors only")
    log_event(session, parcel, "pin revealed")
    return {"id": parcel.id, "pin": parcel.pin}
### reveal-pin bad 1
def reveal_pin(session, parcel_id):
    if session.operator.role != "supervisor":
        raise Forbidden("supervisors only")
    parcel = store.parcel(parcel_id)
    log_event(session, parcel, "pin revealed")
    return {"id": parcel.id, "pin": parcel.pin}
### reveal-pin bad 3
def reveal_pin(session, parcel_id):
    parcel = store.parcel(parcel_id)
    require_company(session, parcel)
    if session.operator.role != "supervisor":
        raise Forbidden("supervisors only")
    logging.info("pin %s of parcel %s shown to %s", parcel.pin, parcel.id, session.operator.id)
    log_event(session, parcel, "pin revealed")
    return {"id": parcel.id, "pin": parcel.pin}
### overview good
def overview(session, status=None):
    rows = []
    for parcel in store.parcels(session.operator.company_id):
        if status is None or parcel.status == status:
            rows.append({"id": parcel.id, "recipient": parcel.recipient, "status": parcel.status})
    return rows
### overview bad 3
def overview(session, status=None):
    rows = []
    for parcel in store.parcels(session.operator.company_id):
        if status is None or parcel.status == status:
            rows.append({"id": parcel.id, "recipient": parcel.recipient, "phone": parcel.phone, "status": parcel.status})
    return rows
### overview bad 3
def overview(session, status=None):
    return [vars(parcel) for parcel in store.parcels(session.operator.company_id) if status in (None, parcel.status)]
### collect good
def collect(session, parcel_id):
    parcel = store.parcel(parcel_id)
    require_company(session, parcel)
    if session.operator.role not in ("agent", "supervisor"):
        raise Forbidden("agents only")
    if parcel.status != "notified":
        raise Conflict("not ready")
    expected = parcel.version
    parcel.status = "collected"
    if not store.update(parcel, expected):
        raise Conflict("already collected")
    log_event(session, parcel, "collected")
    return parcel.id
### collect bad 4
def collect(session, parcel_id):
    parcel = store.parcel(parcel_id)
    require_company(session, parcel)
    if session.operator.role not in ("agent", "supervisor"):
        raise Forbidden("agents only")
    if parcel.status != "notified":
        raise Conflict("not ready")
    parcel.status = "collected"
    store.save(parcel)
    log_event(session, parcel, "collected")
    return parcel.id
### collect bad 11
def collect(session, parcel_id):
    parcel = store.parcel(parcel_id)
    require_company(session, parcel)
    if session.operator.role not in ("agent", "supervisor"):
        raise Forbidden("agents only")
    if parcel.status != "notified":
        raise Conflict("not ready")
    expected = parcel.version
    parcel.status = "collected"
    if not store.update(parcel, expected):
        raise Conflict("already collected")
    return parcel.id
### collect bad 2
def collect(session, parcel_id):
    parcel = store.parcel(parcel_id)
    require_company(session, parcel)
    if parcel.status != "notified":
        raise Conflict("not ready")
    expected = parcel.version
    parcel.status = "collected"
    if not store.update(parcel, expected):
        raise Conflict("already collected")
    log_event(session, parcel, "collected")
    return parcel.id
### events good
def events(session, parcel_id, limit=50):
    parcel = store.parcel(parcel_id)
    if parcel.company_id != session.operator.company_id:
        raise NotFound(parcel_id)
    cursor = store.db.execute(
        "SELECT operator_id, what, at FROM events WHERE parcel_id = ? ORDER BY id DESC LIMIT ?",
        (parcel.id, min(int(limit), 200)),
    )
    return cursor.fetchall()
### events bad 5
def events(session, parcel_id, order="id"):
    parcel = store.parcel(parcel_id)
    require_company(session, parcel)
    cursor = store.db.execute(
        f"SELECT operator_id, what, at FROM events WHERE parcel_id = ? ORDER BY {order} DESC LIMIT 200",
        (parcel.id,),
    )
    return cursor.fetchall()
### events bad 1
def events(session, parcel_id):
    cursor = store.db.execute(
        "SELECT operator_id, what, at FROM events WHERE parcel_id = ? ORDER BY id DESC LIMIT 200",
        (parcel_id,),
    )
    return cursor.fetchall()
### label good
def label(session, parcel_id, name):
    parcel = store.parcel(parcel_id)
    require_company(session, parcel)
    path = os.path.realpath(os.path.join(LABEL_DIR, name))
    if os.path.commonpath([path, os.path.realpath(LABEL_DIR)]) != os.path.realpath(LABEL_DIR):
        raise NotFound(name)
    with open(path, "rb") as f:
        return f.read()
### label bad 7
def label(session, parcel_id, name):
    parcel = store.parcel(parcel_id)
    require_company(session, parcel)
    path = os.path.normpath(os.path.join(LABEL_DIR, name))
    with open(path, "rb") as f:
        return f.read()
### search-rules good
def search_rules(session, pattern):
    done = subprocess.run(
        ["grep", "-rnF", "-e", pattern, "--", RULES_DIR],
        capture_output=True, text=True, timeout=5,
    )
    return done.stdout.splitlines()[:100]
### search-rules bad 6
def search_rules(session, pattern):
    done = subprocess.run(
        f"grep -rn '{pattern}' {RULES_DIR}", shell=True,
        capture_output=True, text=True, timeout=5,
    )
    return done.stdout.splitlines()[:100]
### search-rules bad 6
def search_rules(session, pattern):
    done = subprocess.run(
        ["grep", "-rn", pattern, RULES_DIR],
        capture_output=True, text=True, timeout=5,
    )
    return done.stdout.splitlines()[:100]
### set-password good
def set_password(session, operator_id, password):
    if session.operator.id != operator_id:
        raise Forbidden("own password only")
    salt = secrets.token_bytes(16)
    digest = hashlib.scrypt(password.encode(), salt=salt, n=2**14, r=8, p=1)
    store.db.execute("UPDATE operators SET password_hash = ?, salt = ? WHERE id = ?", (digest, salt, operator_id))
### set-password bad 8
def set_password(session, operator_id, password):
    if session.operator.id != operator_id:
        raise Forbidden("own password only")
    digest = hashlib.sha256(password.encode()).digest()
    store.db.execute("UPDATE operators SET password_hash = ? WHERE id = ?", (digest, operator_id))
### set-password bad 8
def set_password(session, operator_id, password):
    if session.operator.id != operator_id:
        raise Forbidden("own password only")
    salt = b"lockers"
    digest = hashlib.scrypt(password.encode(), salt=salt, n=2**14, r=8, p=1)
    store.db.execute("UPDATE operators SET password_hash = ?, salt = ? WHERE id = ?", (digest, salt, operator_id))
### open-link good
def open_link(parcel_id, issued, signature):
    message = f"{parcel_id}.{issued}".encode()
    expected = hmac.new(SIGNING_KEY, message, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected, signature):
        raise Forbidden("bad link")
    if time.time() - int(issued) > 48 * 3600:
        raise Forbidden("expired")
    return {"id": parcel_id, "status": store.parcel(parcel_id).status}
### open-link bad 9
def open_link(parcel_id, issued, signature):
    message = f"{parcel_id}.{issued}".encode()
    expected = hmac.new(SIGNING_KEY, message, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected, signature):
        raise Forbidden("bad link")
    return {"id": parcel_id, "status": store.parcel(parcel_id).status}
### open-link bad 9
def open_link(parcel_id, issued, signature):
    message = f"{parcel_id}.{issued}".encode()
    expected = hmac.new(SIGNING_KEY, message, hashlib.sha256).hexdigest()
    if signature and expected.startswith(signature):
        if time.time() - int(issued) <= 48 * 3600:
            return {"id": parcel_id, "status": store.parcel(parcel_id).status}
    raise Forbidden("bad link")
### import-draft good
def import_draft(session, raw):
    if session.operator.role not in ("agent", "supervisor"):
        raise Forbidden("agents only")
    data = json.loads(raw)
    parcel = Parcel(company_id=session.operator.company_id, recipient=str(data["recipient"]), phone=str(data["phone"]), status="stored")
    store.save(parcel)
    log_event(session, parcel, "imported")
    return parcel.id
### import-draft bad 10
def import_draft(session, raw):
    if session.operator.role not in ("agent", "supervisor"):
        raise Forbidden("agents only")
    data = pickle.loads(base64.b64decode(raw))
    parcel = Parcel(company_id=session.operator.company_id, recipient=str(data["recipient"]), phone=str(data["phone"]), status="stored")
    store.save(parcel)
    log_event(session, parcel, "imported")
    return parcel.id
### import-draft bad 1
def import_draft(session, raw):
    if session.operator.role not in ("agent", "supervisor"):
        raise Forbidden("agents only")
    data = json.loads(raw)
    parcel = Parcel(**data)
    store.save(parcel)
    log_event(session, parcel, "imported")
    return parcel.id
