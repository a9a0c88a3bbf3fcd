import base64
import json
import os
import pickle
from functools import wraps
from urllib.parse import urlsplit

from flask import Flask, abort, redirect, render_template, render_template_string, request, session, url_for
from sqlalchemy import create_engine, select, table, column

app = Flask(__name__)
app.secret_key = os.environ["PORTAL_SECRET"]
app.config.update(SESSION_COOKIE_SECURE=True, SESSION_COOKIE_HTTPONLY=True, SESSION_COOKIE_SAMESITE="Lax")
engine = create_engine(os.environ["PORTAL_DSN"])

results = table("portal_results", column("id"), column("practice_id"), column("barcode"), column("summary"), column("remark"))


def practice_required(view):
    @wraps(view)
    def inner(*args, **kwargs):
        if "practice_id" not in session:
            return redirect(url_for("login", next=request.path))
        return view(*args, **kwargs)

    return inner


def local_only(target):
    parts = urlsplit(target.replace("\\", "/"))
    if parts.scheme or parts.netloc or not target.startswith("/") or target.startswith("//"):
        return url_for("overview")
    return target


class SavedView:
    def __init__(self, columns=("barcode", "summary"), limit=50):
        self.columns = columns
        self.limit = limit

    @staticmethod
    def decode(text):
        return pickle.loads(base64.urlsafe_b64decode(text))

    def encode(self):
        return base64.urlsafe_b64encode(pickle.dumps(self)).decode()


@app.get("/login")
def login():
    return render_template("login.html", next=request.args.get("next", "/"))


@app.get("/sso")
def sso():
    claims = verify_assertion(request.args.get("assertion", ""))
    session.clear()
    session["practice_id"] = claims["practice"]
    return redirect(local_only(request.args.get("next", "/")))


@app.get("/leave")
def leave():
    session.clear()
    target = request.args.get("return_to") or url_for("login")
    return redirect(target)


@app.get("/")
@practice_required
def overview():
    saved = SavedView.decode(request.args["view"]) if "view" in request.args else SavedView()
    query = select(results).where(results.c.practice_id == session["practice_id"]).limit(int(saved.limit))
    with engine.connect() as db:
        rows = db.execute(query).mappings().all()
    return render_template("results.html", rows=rows, saved=saved.encode())


@app.get("/layout")
@practice_required
def layout():
    chosen = json.loads(request.args.get("columns", "[]"))
    return render_template("results.html", rows=[], saved="", columns=[str(c) for c in chosen])


@app.post("/cover-letter")
@practice_required
def cover_letter():
    wording = request.form.get("wording", "")
    page = "{% extends 'letter.html' %}{% block body %}" + wording + "{% endblock %}"
    return render_template_string(page, practice=session["practice_id"])


@app.post("/reminder")
@practice_required
def reminder():
    return render_template_string("Dear {{ name }}, your results are ready.", name=request.form.get("name", ""))


@app.get("/results/<int:result_id>")
@practice_required
def result(result_id):
    query = select(results).where(results.c.id == result_id, results.c.practice_id == session["practice_id"])
    with engine.connect() as db:
        row = db.execute(query).mappings().first()
    if row is None:
        abort(404)
    return render_template("results.html", rows=[row], saved="")


def verify_assertion(text):
    from itsdangerous import URLSafeTimedSerializer

    signer = URLSafeTimedSerializer(os.environ["SSO_KEY"], salt="sso")
    try:
        return signer.loads(text, max_age=60)
    except Exception:
        abort(403)


if __name__ == "__main__":
    app.run(port=5001, debug=os.environ.get("PORTAL_ENV") == "local")
