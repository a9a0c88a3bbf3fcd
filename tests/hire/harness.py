"""Runs a change of the application hire on a fresh state for each line of standard input, and judges it."""
import importlib
import io
import json
import pathlib
import random
import sqlite3
import sys
import types

import harness_core
import harness_data
import harness_oracles

HERE = pathlib.Path.cwd()


def load(home=HERE):
    """The routes of the case whose files are below home, as a server that starts reads them."""
    for name in [m for m in sys.modules if m == "hire" or m.startswith("hire.") and m != "hire.core"]:
        del sys.modules[name]
    sys.path[0] = str(home)
    harness_core.ROUTES.clear()
    for path in sorted((home / "hire").glob("*.py")):
        importlib.import_module(f"hire.{path.stem}")
    return dict(harness_core.ROUTES)


def fresh(path):
    for p in HERE.glob("race.db*"):
        p.unlink()
    db = harness_core.Db(path)
    harness_data.TEMPLATE.backup(db.conn)
    harness_data.watch(db.conn)
    return db


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
    user = None
    if values.get("as"):
        row = state["users"][values["as"]]
        user = types.SimpleNamespace(**{k: row[k] for k in ("id", "company_id", "depot_id", "role")})
    args = json.loads(json.dumps(values.get("args", {})))
    return types.SimpleNamespace(user=user, args=args)


def call(routes, values, db, now, cache):
    """One request: what the oracles need to know of it."""
    before = harness_data.state(db.conn)
    req = request(values, before)
    app = harness_core.App(db, values.get("now", now), cache)
    run = types.SimpleNamespace(user=req.user, args=dict(req.args), to=values["to"], now=app.now, before=before, app=app, response=None,
                                refused=False, error="", statements=len(db.texts))
    harness_data.updated(db.conn)
    db.fail = values.get("fail")
    try:
        run.response = json.loads(json.dumps(routes[values["to"]](req, app)))
    except harness_core.Refused:
        run.refused = True
    except sqlite3.OperationalError as e:
        if "locked" in str(e):
            raise
        run.refused, run.error = True, repr(e)
    except Exception as e:
        run.refused, run.error = True, repr(e)
    finally:
        db.fail = None
        if db.conn.in_transaction:
            db.conn.execute("ROLLBACK")
    run.after, run.updated = harness_data.state(db.conn), harness_data.updated(db.conn)
    run.texts = db.texts[run.statements:]
    return run


def once(line):
    db, runs = fresh(":memory:"), []
    if "tilt" in line and not tilt(db, **line["tilt"]):
        return {"effect": "refused by the schema", "violated": [], "error": ""}
    calls(load(), line["params"]["calls"], db, line["now"], {}, runs.append)
    violated = [v for run in runs for v in harness_oracles.judge(run)]
    return {"effect": [harness_oracles.effect(run) for run in runs], "violated": violated[:6],
            "error": next((r.error for r in runs if r.error), "") if line["set"] == "benign" else ""}


def calls(routes, values, db, now, cache, each=lambda run: None):
    for one in values:
        if "sql" in one:  # what another part of the application does between two requests
            db.conn.execute(one["sql"])
            continue
        random.seed(7)
        each(call(routes, one, db, now, cache))


def play(line, case, rival, other, stop):
    """Runs the last request to its statement number stop (0: none), then the rival's last whole, or what a lock keeps it from at the
    end, then the rest."""
    first, second, cache = fresh(HERE / "race.db"), harness_core.Db(HERE / "race.db"), {}
    harness_data.watch(second.conn)
    *earlier, last = line["params"]["calls"]
    calls(case, earlier, first, line["now"], cache)
    *earlier, theirs = other
    calls(rival, earlier, first, line["now"], cache)
    before = harness_data.state(first.conn)
    count, waits, passed = 0, [], []

    def go():
        try:
            passed.append(call(rival, theirs, second, line["now"], cache).refused)
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
    try:
        refused = call(case, last, first, line["now"], cache).refused
    except sqlite3.OperationalError:
        refused = True
    if waits or count < stop:
        go()
    after = harness_data.state(first.conn)
    first.conn.close()
    second.conn.close()
    return before, after, [refused, passed], count


def race(line):
    """A second session passes the last request at each of its statements."""
    violated, stop, count, last = [], 1, 1, line["params"]["calls"][-1]
    while stop <= count:
        routes = load()
        before, after, _, count = play(line, routes, routes, [{**last, **line["race"]}], stop)
        violated += harness_oracles.limits(before, after)
        stop += 1
    return {"effect": {"race": True}, "violated": violated[:3], "error": ""}


def writing(values):
    """The calls up to the last one that may write; none when none does."""
    return values[:max((n for n, one in enumerate(values, 1) if one.get("to", "").startswith("POST")), default=0)]


ALONE = {}


def writes(who, routes, values, now):
    """Whether the last of these calls changes something when it is alone."""
    key = who + json.dumps(values)
    if key not in ALONE:
        runs = []
        calls(routes, values, fresh(":memory:"), now, {}, runs.append)
        ALONE[key] = bool(runs) and any(harness_oracles.changes(runs[-1].before, runs[-1].after))
    return ALONE[key]


def meet(line):
    """The rival passes the case at each of its statements: what they leave is what they leave one after the other, in one order or the other."""
    case, rival, mine, theirs = load(), load(HERE / "rival"), writing(line["params"]["calls"]), writing(line["rival"]["calls"])
    if not writes("case", case, mine, line["now"]) or not writes("rival", rival, theirs, line["now"]):
        return {"effect": {"met": 0}, "violated": [], "error": ""}

    def left(stop):
        before, after, refused, count = play({"now": line["now"], "params": {"calls": mine}}, case, rival, theirs, stop)
        run = types.SimpleNamespace(before=before, after=after, response=None, refused=False, app=types.SimpleNamespace(mails=[]))
        return (harness_oracles.effect(run)["changes"], refused), count

    (after, count), (before, _) = left(1000), left(0)
    raced = [left(stop)[0] for stop in range(1, count + 1)]
    violated = [{"requirement": 0, "why": f"after statement {n}: {r}; in order {after} or {before}"} for n, r in enumerate(raced, 1) if r not in (after, before)]
    return {"effect": {"met": count}, "violated": violated, "error": ""}


def main():
    out, sys.stdout = sys.stdout, io.StringIO()
    sys.path.insert(0, str(HERE))
    for text in sys.stdin:
        if text.strip():
            line = json.loads(text)
            out.write(json.dumps(meet(line) if "rival" in line else race(line) if "race" in line else once(line)) + "\n")
            out.flush()


main()
