### show good
def show_document(req):
    doc = load_document(req.args.get("id"))
    if doc is None or not can_read(req.user, doc):
        return Response(404, "not found")
    return json_response(200, {"id": doc.id, "title": doc.title, "body": doc.body, "status": doc.status})
### show bad 1
def show_document(req):
    doc = load_document(req.args.get("id"))
    if doc is None:
        return Response(404, "not found")
    return json_response(200, {"id": doc.id, "title": doc.title, "body": doc.body, "status": doc.status})
### show bad 6
def show_document(req):
    doc = load_document(req.args.get("id"))
    if doc is None or not can_read(req.user, doc):
        return Response(404, "not found")
    return json_response(200, vars(doc))
### search good
def search(req):
    term = req.args.get("q", "")
    try:
        size = int(req.args.get("size", "20"))
    except ValueError:
        return Response(400, "bad size")
    size = max(1, min(size, 100))
    rows = db().execute(
        "SELECT id, title, status FROM documents "
        "WHERE tenant_id = ? AND deleted_at IS NULL AND status = 'published' AND title LIKE ? "
        "ORDER BY id DESC LIMIT ?",
        (req.user.tenant_id, f"%{term}%", size),
    ).fetchall()
    return json_response(200, [{"id": r[0], "title": r[1], "status": r[2]} for r in rows])
### search bad 3
def search(req):
    term = req.args.get("q", "")
    rows = db().execute(
        f"SELECT id, title, status FROM documents WHERE tenant_id = ? AND deleted_at IS NULL AND status = 'published' AND title LIKE '%{term}%' ORDER BY id DESC LIMIT 100",
        (req.user.tenant_id,),
    ).fetchall()
    return json_response(200, [{"id": r[0], "title": r[1]} for r in rows])
### search bad 2
def search(req):
    term = req.args.get("q", "")
    rows = db().execute(
        "SELECT id, title, status FROM documents WHERE deleted_at IS NULL AND status = 'published' AND title LIKE ? ORDER BY id DESC LIMIT 100",
        (f"%{term}%",),
    ).fetchall()
    return json_response(200, [{"id": r[0], "title": r[1]} for r in rows])
### search bad 2
def search(req):
    rows = db().execute(
        "SELECT id, title FROM documents WHERE tenant_id = ? AND status = 'published' AND title LIKE ? ORDER BY id DESC LIMIT 100",
        (req.user.tenant_id, "%" + req.args.get("q", "") + "%"),
    ).fetchall()
    return json_response(200, [{"id": r[0], "title": r[1]} for r in rows])
### search bad 7
def search(req):
    size = int(req.args.get("size", "20"))
    rows = db().execute(
        "SELECT id, title FROM documents WHERE tenant_id = ? AND deleted_at IS NULL AND status = 'published' ORDER BY id DESC LIMIT ?",
        (req.user.tenant_id, size),
    ).fetchall()
    return json_response(200, [{"id": r[0], "title": r[1]} for r in rows])
### attachment good
def attachment(req):
    name = req.args.get("name", "")
    path = (UPLOAD_ROOT / str(req.user.tenant_id) / name).resolve()
    if not path.is_relative_to((UPLOAD_ROOT / str(req.user.tenant_id)).resolve()) or not path.is_file():
        return Response(404, "not found")
    return Response(200, path.read_bytes(), {"Content-Type": "application/octet-stream"})
### attachment good
def attachment(req):
    name = os.path.basename(req.args.get("name", ""))
    if not re.fullmatch(r"[\w-]{1,64}\.(pdf|png)", name):
        return Response(400, "bad name")
    full = os.path.join(UPLOAD_ROOT, name)
    with open(full, "rb") as f:
        return Response(200, f.read())
### attachment bad 4
def attachment(req):
    name = req.args.get("name", "")
    if name.startswith("/"):
        return Response(400, "bad name")
    with open(os.path.join(UPLOAD_ROOT, name), "rb") as f:
        return Response(200, f.read())
### attachment bad 4
def attachment(req):
    name = req.args.get("name", "").replace("../", "")
    path = UPLOAD_ROOT / name
    return Response(200, path.read_bytes())
### share good
def open_share_link(req):
    doc_id, expires, sig = req.args.get("d", ""), req.args.get("e", ""), req.args.get("s", "")
    expected = hmac.new(LINK_KEY, f"{doc_id}:{expires}".encode(), hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected, sig):
        return Response(403, "invalid link")
    if int(expires) < time.time():
        return Response(410, "expired")
    doc = load_document(doc_id)
    if doc is None or doc.deleted_at is not None or doc.tenant_id != req.user.tenant_id or not can_read(req.user, doc):
        return Response(404, "not found")
    return json_response(200, {"title": doc.title, "body": doc.body})
### share bad 5
def open_share_link(req):
    doc_id, expires, sig = req.args.get("d", ""), req.args.get("e", ""), req.args.get("s", "")
    expected = hmac.new(LINK_KEY, f"{doc_id}:{expires}".encode(), hashlib.sha256).hexdigest()
    if expected != sig:
        return Response(403, "invalid link")
    if int(expires) < time.time():
        return Response(410, "expired")
    doc = load_document(doc_id)
    if doc is None or not can_read(req.user, doc):
        return Response(404, "not found")
    return json_response(200, {"title": doc.title, "body": doc.body})
### share bad 5
def open_share_link(req):
    doc_id, expires, sig = req.args.get("d", ""), req.args.get("e", ""), req.args.get("s", "")
    expected = hmac.new(LINK_KEY, f"{doc_id}:{expires}".encode(), hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected, sig):
        return Response(403, "invalid link")
    doc = load_document(doc_id)
    if doc is None or not can_read(req.user, doc):
        return Response(404, "not found")
    return json_response(200, {"title": doc.title, "body": doc.body})
### rename good
def rename(req):
    doc = load_document(req.form["id"])
    if doc is None or not can_edit(req.user, doc):
        return Response(404, "not found")
    db().execute("UPDATE documents SET title = ? WHERE id = ? AND tenant_id = ? AND deleted_at IS NULL",
                 (req.form["title"][:200], doc.id, req.user.tenant_id))
    audit(req.user, "rename", doc.id)
    return json_response(200, {"id": doc.id})
### rename bad 1
def rename(req):
    doc = load_document(req.form["id"])
    if doc is None or not can_read(req.user, doc):
        return Response(404, "not found")
    db().execute("UPDATE documents SET title = ? WHERE id = ? AND tenant_id = ? AND deleted_at IS NULL",
                 (req.form["title"][:200], doc.id, req.user.tenant_id))
    audit(req.user, "rename", doc.id)
    return json_response(200, {"id": doc.id})
### rename bad 1
def rename(req):
    doc = load_document(req.form["id"])
    db().execute("UPDATE documents SET title = ? WHERE id = ? AND tenant_id = ? AND deleted_at IS NULL",
                 (req.form["title"][:200], doc.id, req.user.tenant_id))
    if not can_edit(req.user, doc):
        return Response(404, "not found")
    return json_response(200, {"id": doc.id})
### publish good
def publish(req):
    doc = load_document(req.form["id"])
    if doc is None or not can_edit(req.user, doc):
        return Response(404, "not found")
    if req.user.role != "admin":
        return Response(403, "admins only")
    done = db().execute("UPDATE documents SET status = 'published' WHERE id = ? AND tenant_id = ? AND deleted_at IS NULL AND status = 'review'",
                        (doc.id, req.user.tenant_id))
    if done.rowcount != 1:
        return Response(409, "not in review")
    audit(req.user, "publish", doc.id)
    return json_response(200, {"id": doc.id, "status": "published"})
### publish bad 9
def publish(req):
    doc = load_document(req.form["id"])
    if doc is None or not can_edit(req.user, doc):
        return Response(404, "not found")
    if req.user.role == "reader":
        return Response(403, "admins only")
    db().execute("UPDATE documents SET status = 'published' WHERE id = ? AND tenant_id = ? AND deleted_at IS NULL AND status = 'review'",
                        (doc.id, req.user.tenant_id))
    audit(req.user, "publish", doc.id)
    return json_response(200, {"id": doc.id, "status": "published"})
### publish bad 9
def publish(req):
    doc = load_document(req.form["id"])
    if doc is None or not can_edit(req.user, doc):
        return Response(404, "not found")
    if req.user.role != "admin":
        return Response(403, "admins only")
    db().execute("UPDATE documents SET status = 'published' WHERE id = ? AND tenant_id = ? AND deleted_at IS NULL",
                        (doc.id, req.user.tenant_id))
    audit(req.user, "publish", doc.id)
    return json_response(200, {"id": doc.id, "status": "published"})
### publish bad 9
def publish(req):
    doc = load_document(req.form["id"])
    if doc is None or not can_edit(req.user, doc):
        return Response(404, "not found")
    if req.user.role != "admin":
        return Response(403, "admins only")
    db().execute("UPDATE documents SET status = 'published' WHERE id = ? AND tenant_id = ? AND deleted_at IS NULL AND status = 'review'",
                        (doc.id, req.user.tenant_id))
    return json_response(200, {"id": doc.id, "status": "published"})
### import good
def import_from_url(req):
    url = urllib.parse.urlsplit(req.form["url"])
    if url.scheme != "https" or not url.hostname or not is_public_host(url.hostname):
        return Response(400, "refused")
    data = fetch_url(url.geturl())
    db().execute("INSERT INTO documents (tenant_id, owner_id, title, body, status) VALUES (?, ?, ?, ?, 'draft')",
                 (req.user.tenant_id, req.user.id, req.form["title"], data.decode("utf-8", "replace")))
    return json_response(201, {"ok": True})
### import bad 8
def import_from_url(req):
    url = req.form["url"]
    if not url.startswith("https://"):
        return Response(400, "refused")
    data = fetch_url(url)
    db().execute("INSERT INTO documents (tenant_id, owner_id, title, body, status) VALUES (?, ?, ?, ?, 'draft')",
                 (req.user.tenant_id, req.user.id, req.form["title"], data.decode("utf-8", "replace")))
    return json_response(201, {"ok": True})
### preview good
def preview(req):
    doc = load_document(req.args.get("id"))
    if doc is None or not can_read(req.user, doc):
        return Response(404, "not found")
    page = "<h1>" + html.escape(doc.title) + "</h1><pre>" + html.escape(doc.body) + "</pre>"
    return Response(200, page, {"Content-Type": "text/html"})
### preview bad 10
def preview(req):
    doc = load_document(req.args.get("id"))
    if doc is None or not can_read(req.user, doc):
        return Response(404, "not found")
    page = "<h1>" + html.escape(doc.title) + "</h1><pre>" + doc.body + "</pre>"
    return Response(200, page, {"Content-Type": "text/html"})
