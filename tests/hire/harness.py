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


def load():
    """The files of the case, as a server that starts reads them."""
    for name in [m for m in sys.modules if m.startswith("hire.") and m != "hire.core"]:
        del sys.modules[name]
    harness_core.ROUTES.clear()
    for path in sorted((HERE / "hire").glob("*.py")):
        importlib.import_module(f"hire.{path.stem}")


def fresh(path):
    for p in HERE.glob("race.db*"):
        p.unlink()
    db = harness_core.Db(path)
    harness_data.TEMPLATE.backup(db.conn)
    return db


def request(values, state):
    user = None
    if values.get("as"):
        row = state["users"][values["as"]]
        user = types.SimpleNamespace(**{k: row[k] for k in ("id", "company_id", "depot_id", "role")})
    args = json.loads(json.dumps(values.get("args", {})))
    return types.SimpleNamespace(user=user, args=args)


def call(values, db, now, cache):
    """One request: what the oracles need to know of it."""
    before = harness_data.state(db.conn)
    req = request(values, before)
    app = harness_core.App(db, values.get("now", now), cache)
    run = types.SimpleNamespace(user=req.user, args=dict(req.args), to=values["to"], now=app.now, before=before, app=app, response=None,
                                refused=False, error="", statements=len(db.texts))
    db.fail = values.get("fail")
    try:
        run.response = json.loads(json.dumps(harness_core.ROUTES[values["to"]](req, app)))
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
    run.after = harness_data.state(db.conn)
    run.texts = db.texts[run.statements:]
    return run


def once(line):
    load()
    db, cache, runs = fresh(":memory:"), {}, []
    for values in line["params"]["calls"]:
        if "sql" in values:  # what another part of the application does between two requests
            db.conn.execute(values["sql"])
            continue
        random.seed(7)
        runs.append(call(values, db, line["now"], cache))
    violated = [v for run in runs for v in harness_oracles.judge(run)]
    return {"effect": [harness_oracles.effect(run) for run in runs], "violated": violated[:6],
            "error": next((r.error for r in runs if r.error), "") if line["set"] == "benign" else ""}


def race(line):
    """Runs the last request to each of its statements, then the second session's whole, then the rest of the first."""
    violated, stop = [], 1
    while True:
        load()
        first, cache = fresh(HERE / "race.db"), {}
        second = harness_core.Db(HERE / "race.db")
        *earlier, last = line["params"]["calls"]
        for values in earlier:
            call(values, first, line["now"], cache)
        before = harness_data.state(first.conn)
        count, waits = 0, []

        def go():
            try:
                call({**last, **line["race"]}, second, line["now"], cache)
            except sqlite3.OperationalError:
                waits.append(True)

        def step():
            nonlocal count
            count += 1
            if count == stop:
                go()

        first.step = step
        try:
            call(last, first, line["now"], cache)
        except sqlite3.OperationalError:
            pass
        if waits:
            go()
        violated += harness_oracles.limits(before, harness_data.state(first.conn))
        first.conn.close()
        second.conn.close()
        if count < stop:
            return {"effect": {"race": True}, "violated": violated[:3], "error": ""}
        stop += 1


def main():
    out, sys.stdout = sys.stdout, io.StringIO()
    sys.path.insert(0, str(HERE))
    for text in sys.stdin:
        if text.strip():
            line = json.loads(text)
            out.write(json.dumps(race(line) if "race" in line else once(line)) + "\n")
            out.flush()


main()
