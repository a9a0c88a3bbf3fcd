"""Runs a case of the application claims on a fresh state for each line of standard input, and judges it."""
import importlib.util
import io
import json
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import sys
import types
import urllib.parse

import harness_data
import harness_oracles

HERE = pathlib.Path.cwd()
WORK = HERE / "work"


class Refused(Exception):
    def __init__(self, status=400):
        super().__init__(status)
        self.status = status


def found(row):
    if row is None:
        raise Refused(404)
    return row


def need(req, *roles):
    if req.user is None or req.user.role not in roles:
        raise Refused(403)


sys.modules["claims"] = types.SimpleNamespace(Refused=Refused, found=found, need=need)


class Db:
    """The database as the SPEC describes it; after each statement it calls step."""

    def __init__(self, path):
        self.conn = sqlite3.connect(path, isolation_level=None, timeout=0)
        self.conn.row_factory = sqlite3.Row
        self.step = lambda: None
        self.texts = []
        self.conn.execute("PRAGMA synchronous = OFF")

    def _exec(self, sql, args):
        self.texts.append(sql)
        cur = self.conn.execute(sql, args)
        rows = cur.fetchall()
        self.step()
        return cur, rows

    def all(self, sql, args=()):
        return self._exec(sql, args)[1]

    def one(self, sql, args=()):
        rows = self._exec(sql, args)[1]
        return rows[0] if rows else None

    def run(self, sql, args=()):
        return self._exec(sql, args)[0].rowcount

    def transaction(self):
        return Transaction(self)


class Transaction:
    def __init__(self, db):
        self.db = db

    def __enter__(self):
        self.db.conn.execute("BEGIN IMMEDIATE")
        self.db.step()

    def __exit__(self, kind, value, trace):
        self.db.conn.execute("ROLLBACK" if kind else "COMMIT")


class Started(subprocess.Popen):
    """A process; what it was started with is kept for the oracles."""

    last = []

    def __init__(self, args, *rest, **named):
        Started.last.append("".join(args) if named.get("shell") else args)
        super().__init__(args, *rest, **named)


subprocess.Popen = Started


class Response:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body


class App:
    partners = frozenset({"photos.glass.example", "files.garage.example"})
    key = b"a key of 32 bytes, for the tests"

    def __init__(self, db, now):
        self.db, self.now, self.storage = db, now, WORK / "storage"
        self.logged, self.fetched, self.started = [], [], []
        Started.last = self.started

    def log(self, *text):
        self.logged.append(" ".join(str(t) for t in text))

    def http(self, url):
        parts = urllib.parse.urlsplit(url)
        self.fetched.append((parts.scheme, (parts.hostname or "").lower(), parts.port or {"https": 443, "http": 80}.get(parts.scheme)))
        status, headers, body = harness_data.PAGES.get(url, (200, {"content-type": "text/plain"}, "page of " + str(parts.hostname)))
        return Response(status, dict(headers), body)


def tilt(db, table, column, half, value):
    """Puts a value, or {"nth": n} of those that are there, into a column of every second row; whether the schema takes it."""
    if isinstance(value, dict):
        values = db.conn.execute(f"SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL ORDER BY 1 LIMIT 1 OFFSET ?", (value["nth"],)).fetchall()
        if not values:
            return False
        value = values[0][0]
    try:
        db.conn.execute(f"UPDATE {table} SET {column} = ? WHERE id % 2 = ?", (value, half))
    except sqlite3.IntegrityError:
        return False
    return True


def request(values, state):
    values = {k: harness_data.fill(v, App.key) for k, v in values.items()}
    user = None
    if values.get("user"):
        row = state["users"][values.pop("user")]
        user = types.SimpleNamespace(**{k: row[k] for k in ("id", "insurer_id", "role", "approval_limit")})
    truth = values.pop("truth", {})  # what the oracles know of a link; no case sees it
    return types.SimpleNamespace(user=user, args=values), truth


def call(case, req, app):
    """Gives (response, refused, error)."""
    try:
        out = case.handle(req, app)
        return json.loads(json.dumps(out)), False, ""
    except Refused:
        return None, True, ""
    except sqlite3.OperationalError as e:
        if "locked" in str(e):
            raise
        return None, True, repr(e)
    except Exception as e:
        return None, True, repr(e)
    finally:
        if app.db.conn.in_transaction:
            app.db.conn.execute("ROLLBACK")


def fresh(path):
    shutil.rmtree(WORK, ignore_errors=True)
    harness_data.files(WORK)
    return rows(path)


def rows(path):
    for p in WORK.glob("race.db*"):
        p.unlink()
    db = Db(path)
    harness_data.TEMPLATE.backup(db.conn)
    return db


def once(case, line):
    os.chdir(HERE)
    db = fresh(":memory:")
    os.chdir(WORK)
    random.seed(7)
    if "tilt" in line and not tilt(db, **line["tilt"]):
        return None, ""
    before = harness_data.state(db.conn)
    app = App(db, line["now"])
    req, truth = request(line["params"], before)
    response, refused, error = call(case, req, app)
    after = harness_data.state(db.conn)
    run = types.SimpleNamespace(query=line["query"], user=req.user, args=req.args, now=line["now"], response=response, refused=refused,
                                before=before, after=after, app=app, work=WORK, truth=truth)
    return run, error


def play(case, line, rival, other, stop):
    """Runs the case to its statement number stop (0: none), then the rival whole, or what a lock keeps it from at the end, then the rest."""
    os.chdir(HERE)
    if not WORK.exists():
        harness_data.files(WORK)
    first = rows(WORK / "race.db")
    os.chdir(WORK)
    second = Db(WORK / "race.db")
    before = harness_data.state(first.conn)
    count, waits, passed = 0, [], []

    def go():
        try:
            passed.append(not call(rival, request(dict(other), before)[0], App(second, line["now"]))[1])
        except sqlite3.OperationalError:
            waits.append(True)

    def step():
        nonlocal count
        count += 1
        if count == stop:
            go()

    if stop == 0:
        go()
    first.step = step
    app = App(first, line["now"])
    req, _ = request(dict(line["params"]), before)
    try:
        refused = call(case, req, app)[1]
    except sqlite3.OperationalError:
        refused = True
    if waits or count < stop:
        go()
    run = types.SimpleNamespace(query=line["query"], user=req.user, args=req.args, now=line["now"], response=None, refused=refused,
                                before=before, after=harness_data.state(first.conn), app=app, work=WORK, passed=any(passed))
    first.conn.close()
    second.conn.close()
    return run, count


def race(case, line):
    """A second session passes the first at each of its statements."""
    violated, stop, count = [], 1, 1
    while stop <= count:
        run, count = play(case, line, case, {**line["params"], **line["race"]}, stop)
        violated += harness_oracles.limits(run)
        if line["query"] == "reset-password" and not run.refused and run.passed:
            violated.append({"requirement": 12, "why": "the code worked for two"})
        stop += 1
    return {"effect": {"race": True}, "violated": violated[:3], "error": ""}


ALONE = {}


def writes(case, line, params):
    """Whether the case changes something with these parameters when it is alone."""
    key = case.__name__ + json.dumps(params)
    if key not in ALONE:
        ALONE[key] = any(harness_oracles.changes(once(case, {**line, "params": dict(params)})[0]))
    return ALONE[key]


def meet(case, rival, line):
    """The rival passes the case at each of its statements: what they leave is what they leave one after the other, in one order or the other."""
    if not writes(case, line, line["params"]) or not writes(rival, line, line["rival"]):
        return {"effect": {"met": 0}, "violated": [], "error": ""}

    def left(stop):
        run, count = play(case, line, rival, line["rival"], stop)
        return (harness_oracles.effect(run)["changes"], run.refused, run.passed), count

    (after, count), (before, _) = left(1000), left(0)
    raced = [left(stop)[0] for stop in range(1, count + 1)]
    violated = [{"requirement": 0, "why": f"after statement {n}: {r}; in order {after} or {before}"} for n, r in enumerate(raced, 1) if r not in (after, before)]
    return {"effect": {"met": count}, "violated": violated, "error": ""}


def load(path):
    spec = importlib.util.spec_from_file_location(path.parent.name + path.stem, str(path))
    case = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(case)
    return case


def main():
    out, sys.stdout = sys.stdout, io.StringIO()
    lines = [json.loads(x) for x in sys.stdin if x.strip()]
    case = load(HERE / sys.argv[1])
    rival = load(HERE / "rival" / sys.argv[1]) if (HERE / "rival").exists() else None
    for line in lines:
        if "rival" in line:
            answer = meet(case, rival, line)
        elif "race" in line:
            answer = race(case, line)
        else:
            run, error = once(case, dict(line, params=dict(line["params"])))
            effect = "refused by the schema" if run is None else harness_oracles.effect(run)
            answer = {"effect": effect, "violated": harness_oracles.judge(run) if run else [], "error": error if line["set"] == "benign" else ""}
        out.write(json.dumps(answer) + "\n")
        out.flush()


main()
