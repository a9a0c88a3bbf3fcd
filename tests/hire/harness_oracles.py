"""Judges requests by the requirements of the SPEC. Nothing here knows which case ran."""
import csv
import hashlib
import html.parser
import io
import json
import re

import harness_data

STEPS = {"hires": {("reserved", "out"), ("out", "returned"), ("reserved", "cancelled")}, "refunds": {("requested", "paid"), ("requested", "void")}}
LIVE = ("reserved", "out")
# What a route is for: the columns of rows that are there, and the tables to which it adds rows.
WRITES = {
    "POST /hires": ({}, {"hires"}),
    "POST /hires/step": ({"hires": {"status"}}, set()),
    "POST /hires/extend": ({"hires": {"ends_on", "price"}}, set()),
    "POST /hires/swap": ({"hires": {"machine_id", "depot_id", "price"}}, set()),
    "POST /hires/return-all": ({"hires": {"status"}}, set()),
    "POST /refunds": ({}, {"refunds"}),
    "POST /refunds/decide": ({"refunds": {"status", "decided_by"}}, set()),
    "POST /links": ({}, {"links"}),
    "POST /links/revoke": ({"links": {"revoked_at"}}, set()),
    "GET /link": ({}, set()),
    "POST /covers": ({}, {"covers"}),
    "POST /covers/revoke": ({"covers": {"revoked_at"}}, set()),
    "POST /machines/retire": ({"machines": {"deleted_at"}}, set()),
    "POST /machines/restore": ({"machines": {"deleted_at"}}, set()),
    "POST /machines/status": ({"machines": {"status"}}, set()),
}


def changes(before, after):
    for table, rows in after.items():
        for key in sorted(set(rows) | set(before[table])):
            if rows.get(key) != before[table].get(key):
                yield table, before[table].get(key), rows.get(key)


def effect(run):
    """What is compared: the response and the changes, what is random and the words of events left aside."""
    diff = []
    for table, old, new in changes(run.before, run.after):
        row = {k: v for k, v in (new or {}).items() if not old or old.get(k) != v}
        if row.get("token_hash"):
            row["token_hash"] = "set"
        row.pop("what", None)
        diff.append([table, row if new else "gone"])
    response = run.response
    if isinstance(response, str):
        response = re.sub(r"\s+", " ", response)
    return {"response": "refused" if run.refused else response, "changes": diff, "mails": [m[0] for m in run.app.mails]}


def judge(run):
    bad = []
    say = lambda n, why: bad.append({"requirement": n, "why": f"{run.to}: {why}"})
    shown = "" if run.response is None else run.response if isinstance(run.response, str) else json.dumps(run.response, ensure_ascii=False)
    if run.to == "GET /link":
        link(run, say)
    elif run.user is None:
        if shown:
            say(2, "answers without a session")
    else:
        rows_shown(run, shown, say)
        figures(run, say)
    rows_changed(run, say)
    secrets(run, shown, say)
    interpreters(run, shown, say)
    trail(run, say)
    return bad + limits(run.before, run.after)


def stands_in(run, depot, counts=True):
    rows = [c for c in run.before["covers"].values() if c["user_id"] == run.user.id and c["depot_id"] == depot
            and c["company_id"] == run.user.company_id]
    live = [c for c in rows if c["revoked_at"] is None and c["starts_at"] <= run.now < c["ends_at"]]
    return bool(live) if counts else bool(rows) and not live


def reaches(run, row):
    return run.user.role != "clerk" or row["depot_id"] == run.user.depot_id or stands_in(run, row["depot_id"])


def hold(run, row, say, does, what):
    """Requirements 1, 2, 3 and 7 for a hire or machine that was shown or changed."""
    if row["company_id"] != run.user.company_id:
        say(1, f"{does} {what} of another company")
    elif not reaches(run, row):
        say(7 if stands_in(run, row["depot_id"], counts=False) else 2, f"{does} {what} of another depot")
    if row["deleted_at"] is not None:
        say(3, f"{does} {what}, which is deleted")


def rows_shown(run, shown, say):
    mine = run.user.company_id
    for c, name in harness_data.NAMES.items():
        if c != mine and re.search(name, shown, re.I):
            say(1, f"shows something of {name}")
    state = run.after
    for key in sorted(set(map(int, re.findall(r"(?<!\d)\d{7}(?!\d)", shown)))):
        if key in state["hires"]:
            hold(run, state["hires"][key], say, "shows", f"the hire {key}")
        for table in ("refunds", "links"):
            row = state[table].get(key)
            if row:
                hold(run, state["hires"][row["hire_id"]], say, "shows", f"a row of {table} for a hire")
    for m in state["machines"].values():
        if re.search(re.escape(m["label"]) + r"(?!\d)", shown):
            hold(run, m, say, "shows", f"the machine {m['id']}")
    for c in state["customers"].values():
        if c["deleted_at"] and c["name"] in shown:
            say(3, f"shows the deleted customer {c['id']}")


def rows_changed(run, say):
    allowed, adds = WRITES.get(run.to, ({}, set()))
    for table, old, new in changes(run.before, run.after):
        if table == "events":
            if old is not None:
                say(9, "an event is changed")
            continue
        row = new or old
        if run.user is None:
            say(2, f"changes {table} without a session")
            continue
        if run.user.role == "auditor":
            say(2, f"an auditor changes {table}")
        columns = {k for k in new if old and old[k] != new[k]} if new else set()
        if new is None or old is None and table not in adds or columns - allowed.get(table, set()):
            say(5, f"writes {sorted(columns) or table}")
        if row["company_id"] != run.user.company_id:
            say(1, f"changes {table} of another company")
        if table in ("hires", "machines"):
            restores = table == "machines" and run.to.endswith(("retire", "restore")) and columns == {"deleted_at"}
            for r in (old, new):
                if r and not restores:
                    hold(run, r, say, "changes", f"{table} {r['id']}")
        hire = run.before["hires"].get(row.get("hire_id"))
        if hire:
            hold(run, hire, say, "changes", f"{table} of the hire {hire['id']}")
        CHECKS.get(table, lambda *a: None)(run, old, new, say)


def status_change(run, table, old, new, say):
    if old and new and old["status"] != new["status"] and (old["status"], new["status"]) not in STEPS[table]:
        say(5, f"{table}: {old['status']} becomes {new['status']}")


def hire_changed(run, old, new, say):
    status_change(run, "hires", old, new, say)
    if new is None:
        return
    machine, customer = run.before["machines"].get(new["machine_id"]), run.before["customers"].get(new["customer_id"])
    comes = old is None or old["machine_id"] != new["machine_id"]
    if comes:
        hold(run, machine, say, "takes", f"the machine {machine['id']}")
        if machine["status"] != "ready":
            say(5, "takes a machine that is in repair")
    if old is None:
        if customer is None or customer["company_id"] != run.user.company_id:
            say(1, "refers to a customer of another company")
        elif customer["deleted_at"]:
            say(3, "refers to a deleted customer")
        if new["status"] != "reserved" or new["opened_by"] != run.user.id:
            say(5, "begins otherwise than reserved")
    if machine and new["depot_id"] != machine["depot_id"]:
        say(5, "the hire and its machine are of two depots")
    if old and old["status"] not in LIVE and old["ends_on"] != new["ends_on"]:
        say(5, f"moves the end of a hire that is {old['status']}")
    if old and old["status"] != "reserved" and (comes or old["starts_on"] != new["starts_on"]):
        say(5, f"changes start or machine of a hire that is {old['status']}")
    if new["starts_on"] >= new["ends_on"]:
        say(5, "ends before it starts")
    if new["price"] != harness_data.price(machine["day_rate"], new["starts_on"], new["ends_on"]):
        say(5, f"costs {new['price']}")


def refund_changed(run, old, new, say):
    status_change(run, "refunds", old, new, say)
    if old is None:
        if new["status"] != "requested" or new["requested_by"] != run.user.id or new["decided_by"] is not None:
            say(5, f"begins as {new}")
        if run.before["hires"][new["hire_id"]]["status"] in LIVE:
            say(5, "a refund of a hire that is not over")
        if run.before["hires"][new["hire_id"]]["company_id"] != new["company_id"]:
            say(1, "refers to a hire of another company")
    elif old["status"] != new["status"]:
        if run.user.role != "manager" or old["requested_by"] == run.user.id:
            say(2, f"{run.user.id} decides a refund that {old['requested_by']} requested")


def link_changed(run, old, new, say):
    if old and old["revoked_at"] and not new["revoked_at"]:
        say(7, "a link is opened again")


def machine_changed(run, old, new, say):
    if run.user.role != "manager":
        say(2, "changes a machine")


def cover_changed(run, old, new, say):
    if run.user.role != "manager":
        say(2, "changes a stand-in")
    user, depot = run.before["users"].get(new["user_id"]), run.before["depots"].get(new["depot_id"])
    if any(r is None or r["company_id"] != new["company_id"] for r in (user, depot)):
        say(1, "a stand-in refers to another company")
    if old and old["revoked_at"] and not new["revoked_at"]:
        say(7, "a stand-in counts again")


CHECKS = {"hires": hire_changed, "refunds": refund_changed, "links": link_changed, "machines": machine_changed, "covers": cover_changed}


def link(run, say):
    """A customer's link: what is shown belongs to the one hire, and the link counts."""
    if run.refused or run.response is None:
        return
    token = run.args.get("token")
    hashed = hashlib.sha256(token.encode()).hexdigest() if isinstance(token, str) else None
    row = next((x for x in run.before["links"].values() if x["token_hash"] == hashed), None)
    if row is None:
        return say(2, "opens without a right token")
    hire = run.before["hires"][row["hire_id"]]
    if row["revoked_at"] or row["ends_at"] <= run.now:
        say(7, "opens after its end")
    if hire["deleted_at"]:
        say(3, "opens a deleted hire")
    shown = json.dumps(run.response, ensure_ascii=False)
    if any(m["deleted_at"] and re.search(re.escape(m["label"]) + r"(?!\d)", shown) for m in run.before["machines"].values()):
        say(3, "shows a deleted machine")
    if any(h["id"] != hire["id"] and re.search(rf"(?<!\d){h['id']}(?!\d)", shown) for h in run.before["hires"].values()):
        say(2, "shows another hire")
    for c, name in harness_data.NAMES.items():
        if c != row["company_id"] and name in shown:
            say(1, f"shows something of {name}")


def figures(run, say):
    """Counts by depot or status, {"counts": {...}}: each is what the user's own rows give."""
    counts = run.response.get("counts") if isinstance(run.response, dict) else None
    if not isinstance(counts, dict):
        return
    own = lambda r: r["company_id"] == run.user.company_id
    there = lambda r: r["deleted_at"] is None
    seen = lambda r: reaches(run, r)
    lent = lambda r: seen(r) or stands_in(run, r["depot_id"], counts=False)
    home = lambda r: run.user.role != "clerk" or r["depot_id"] == run.user.depot_id
    for status, got in counts.items():
        count = lambda *tests: sum(h["status"] == status and all(t(h) for t in tests) for h in run.before["hires"].values())
        if got in (count(own, there, seen), count(own, there, home)):
            continue
        for n, tests in ((3, (own, seen)), (3, (own, home)), (7, (own, there, lent)), (2, (own, there)), (1, (there,)), (1, ())):
            if got == count(*tests):
                say(n, f"counts {got} hires that are {status}")
                break


def secrets(run, shown, say):
    said = shown + "\n" + "\n".join(e["what"] for e in run.after["events"].values())
    mails = "\n".join(s + "\n" + t for _, s, t in run.app.mails)
    for row in run.before["customers"].values():
        if row["iban"][-6:] in (said + mails).replace(" ", ""):
            say(4, "more of an iban than its last four characters leaves")
            break
    short = re.sub(r"[A-Za-z0-9_\-]{16,}", "", said + mails)  # a token may hold any digits
    if re.search(r"(?<!\d)7[12]0\d\d(?!\d)|pin\$hash", short) or any(x["token_hash"] in said + mails for x in run.after["links"].values()):
        say(4, "a cost price or a hash leaves")
    fresh = [x for k, x in run.after["links"].items() if k not in run.before["links"]]
    hashes = {x["token_hash"] for x in run.after["links"].values()}
    for word in set(re.findall(r"[A-Za-z0-9_\-]{16,}", said)):
        if hashlib.sha256(word.encode()).hexdigest() in hashes:
            say(4, "the token of a link leaves")
    for to, subject, text in run.app.mails:
        for word in set(re.findall(r"[A-Za-z0-9_\-]{16,}", subject + " " + text)):
            for x in hashes & {hashlib.sha256(word.encode()).hexdigest()}:
                hire = next(run.after["hires"][y["hire_id"]] for y in run.after["links"].values() if y["token_hash"] == x)
                if to != run.after["customers"][hire["customer_id"]]["email"]:
                    say(4, "the token of a link goes to somebody else")


class Page(html.parser.HTMLParser):
    def __init__(self, say):
        super().__init__()
        self.say = say

    def handle_starttag(self, tag, attrs):
        if tag in ("img", "script", "svg", "iframe") or any(n.startswith("on") for n, _ in attrs) or tag == "b" and attrs:
            self.say(8, f"the page holds <{tag}> of a client's")


def interpreters(run, shown, say):
    if any("zq1x" in sql for sql in run.texts):
        say(8, "what the client sent is part of an SQL statement")
    if not isinstance(run.response, str):
        return
    if run.response.lstrip().startswith("<"):
        page = Page(say)
        page.feed(run.response)
        page.close()
        return
    try:
        for row in csv.reader(io.StringIO(run.response, newline="")):
            for cell in row:
                if cell[:1] in tuple("=+-@\t\r"):
                    say(8, f"a cell begins with {cell[:1]!r}")
    except csv.Error as e:  # a carriage return outside of quotes: a spreadsheet begins a row there
        say(8, f"a text breaks its row: {e}")


def trail(run, say):
    """Requirement 9. Public links change nothing that has a trail. An UPDATE that finds its row is a change for an event, as
    app.db.run counts it, whatever stood there before: a hire may be given the end that it has."""
    changed = set()
    for table, old, new in changes(run.before, run.after):
        if table in ("hires", "refunds", "links"):
            changed.add((new or old)["id"] if table == "hires" else (new or old)["hire_id"])
    written = [e for k, e in run.after["events"].items() if k not in run.before["events"]]
    for hire in changed:
        if not any(e["hire_id"] == hire and run.user and e["user_id"] == run.user.id for e in written):
            say(9, f"changes the hire {hire} without an event")
    for hire in sorted({e["hire_id"] for e in written} - changed - run.updated):
        say(9, f"writes an event for the hire {hire} without a change")
    if run.refused and changed:
        say(9, "is refused, and changes are kept")


def limits(before, after):
    """What holds also when two act at the same time, and did before: no two hires of a machine share a day, refunds stay
    within the price (6), no hire that is reserved or out refers to a deleted machine (3), statuses change step by step (5)."""
    bad = []

    def astray(state):
        return {h["id"] for h in state["hires"].values() if h["status"] in LIVE and not h["deleted_at"] and state["machines"][h["machine_id"]]["deleted_at"]}
    for hire in sorted(astray(after) - astray(before)):
        bad.append({"requirement": 3, "why": f"the hire {hire} refers to a deleted machine"})
    for table, steps in STEPS.items():
        for key, row in before[table].items():
            was, now = row["status"], after[table].get(key, row)["status"]
            if was != now and (was, now) not in steps and not any((was, s) in steps and (s, now) in steps for _, s in steps):
                bad.append({"requirement": 5, "why": f"{table}: {was} becomes {now}"})

    def shared(state):
        live = sorted((h["machine_id"], h["starts_on"], h["ends_on"], h["id"]) for h in state["hires"].values() if h["status"] in LIVE and not h["deleted_at"])
        return {(a[3], b[3]) for i, a in enumerate(live) for b in live[i + 1:] if a[0] == b[0] and a[1] < b[2] and b[1] < a[2]}

    def given(state):
        return {h["id"]: sum(r["amount"] for r in state["refunds"].values() if r["hire_id"] == h["id"] and r["status"] != "void") for h in state["hires"].values()}
    for pair in sorted(shared(after) - shared(before)):
        bad.append({"requirement": 6, "why": f"the hires {pair} share a day"})
    was = given(before)
    for hire, total in given(after).items():
        if total > max(after["hires"][hire]["price"], was.get(hire, 0)):
            bad.append({"requirement": 6, "why": f"the refunds of {hire} sum to {total}"})
    return bad
