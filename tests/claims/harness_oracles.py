"""Judges a run by the requirements of the SPEC. Nothing here knows which case ran."""
import hashlib
import html.parser
import json
import re

import harness_data

STEPS = {("open", "assessed"), ("assessed", "approved"), ("approved", "paid"), ("paid", "closed"), ("open", "rejected"), ("assessed", "rejected")}
# The columns that a family's endpoint may change, by table.
WRITABLE = {
    "edit-claim": {"claims": {"description", "loss_on", "link", "adjuster_id"}},
    "assess-claim": {"claims": {"amount", "status"}},
    "import-draft": {"claims": {"description", "loss_on", "link"}},
    "approve-payout": {"payouts": {"status", "approved_by"}},
    "reset-password": {"users": {"password_hash", "reset_hash", "reset_expires_at"}},
}
ALLOWED_TAGS = {"html", "head", "title", "meta", "body", "h1", "h2", "p", "ul", "ol", "li", "a", "table", "tr", "td", "th", "dl", "dt", "dd", "b", "em"}


def changes(run):
    for table, rows in run.after.items():
        old = run.before[table]
        for key in sorted(set(rows) | set(old)):
            if rows.get(key) != old.get(key):
                yield table, old.get(key), rows.get(key)


def effect(run):
    """What is compared: the response and the changes, what is random left aside."""
    diff = []
    for table, old, new in changes(run):
        row = {k: v for k, v in (new or {}).items() if not old or old.get(k) != v}
        for k in ("password_hash", "reset_hash"):
            if row.get(k):
                row[k] = "set"
        diff.append([table, (new or old)["id"], row if new else "gone"])
    return {"response": "refused" if run.refused else run.response, "changes": diff, "sent": len(run.app.fetched) if not run.refused else 0}


def dead(state, claim):
    return claim["deleted_at"] is not None or state["policies"][claim["policy_id"]]["deleted_at"] is not None


def granted(run, claim):
    return any(g["claim_id"] == claim["id"] and g["user_id"] == run.user.id and g["revoked_at"] is None
               and g["starts_at"] <= run.now < g["ends_at"] for g in run.before["grants"].values())


def stale_grant(run, claim):
    return any(g["claim_id"] == claim["id"] and g["user_id"] == run.user.id for g in run.before["grants"].values()) and not granted(run, claim)


def may_see(run, claim):
    return run.user.role != "adjuster" or claim["adjuster_id"] == run.user.id or granted(run, claim)


def judge(run):
    bad = []
    say = lambda n, why: bad.append({"requirement": n, "why": why})
    shown = "" if run.response is None else json.dumps(run.response, ensure_ascii=False)
    if run.user is not None:
        rows_shown(run, shown, say)
        rows_changed(run, say)
    secrets_shown(run, shown + "\n" + "\n".join(run.app.logged), say)
    sizes(run, say)
    reach(run, shown, say)
    if isinstance(run.response, str):
        page(run.response, say)
    extra = FAMILY.get(run.query)
    if extra:
        extra(run, say)
    bad += limits(run)
    return bad


def rows_shown(run, shown, say):
    other = {i: n for i, n in harness_data.INSURERS.items() if i != run.user.insurer_id}
    for tag, name in other.values():
        if re.search(rf"\b{tag}-(\d|doc|P\d)|\b{name}\b", shown):
            say(1, f"shows something of {name}")
    numbers = set(re.findall(r"\b(?:AL|BI)-\d{4}\b", shown))
    claims = [c for c in run.before["claims"].values() if c["number"] in numbers and c["insurer_id"] == run.user.insurer_id]
    docs = [d for d in run.before["documents"].values() if d["name"] in shown and d["insurer_id"] == run.user.insurer_id]
    for d in docs:
        if d["deleted_at"]:
            say(3, f"shows the deleted document {d['name']}")
        if d["expires_at"] and d["expires_at"] <= run.now:
            say(7, f"shows the expired document {d['name']}")
    for c in claims + [run.before["claims"][d["claim_id"]] for d in docs]:
        if dead(run.before, c):
            say(3, f"shows the deleted claim {c['number']}")
        if not may_see(run, c):
            say(7 if stale_grant(run, c) else 2, f"shows the claim {c['number']}")


def rows_changed(run, say):
    for table, old, new in changes(run):
        row = new or old
        mine = run.user.insurer_id
        claim = row if table == "claims" else run.before["claims"].get(row.get("claim_id"))
        if any(r and r["insurer_id"] != mine for r in (old, new)) or claim and claim["insurer_id"] != mine:
            say(1, f"changes {table} {row['id']}")
        if run.user.role == "auditor":
            say(2, "an auditor changes something")
        before = run.before["claims"].get(claim["id"]) if claim else None
        if before:
            if dead(run.before, before):
                say(3, f"changes {table} of the deleted claim {before['number']}")
            if not may_see(run, before):
                say(7 if stale_grant(run, before) else 2, f"changes {table} of the claim {before['number']}")
        if table == "claims" and old and new:
            claim_edited(run, old, new, say)
        if table == "payouts":
            payout_changed(run, old, new, before, say)
        columns = {k for k in new if not old or old[k] != new[k]} if new else set()
        allowed = WRITABLE.get(run.query)
        if allowed is not None and (old is None or columns - allowed.get(table, set())):
            say(11, f"writes {sorted(columns - allowed.get(table, set()))} of {table}")


def claim_edited(run, old, new, say):
    columns = {k for k in new if old[k] != new[k]}
    if "status" in columns and (old["status"], new["status"]) not in STEPS:
        say(6, f"{old['status']} becomes {new['status']}")
    if columns - {"status"} and old["status"] not in ("open", "assessed"):
        say(6, f"edits a claim that is {old['status']}")
    if "adjuster_id" in columns:
        who = run.before["users"].get(new["adjuster_id"])
        if run.user.role != "manager" or new["adjuster_id"] is not None and (not who or who["role"] != "adjuster" or who["insurer_id"] != run.user.insurer_id):
            say(11, f"assigns {new['adjuster_id']}")


def payout_changed(run, old, new, claim, say):
    if new and (old is None or new["status"] == "approved") and claim["status"] != "approved":
        say(6, f"a payout on a claim that is {claim['status']}")
    if old and new and old["status"] != new["status"] and old["status"] != "requested":
        say(6, f"a payout goes from {old['status']} to {new['status']}")
    if old and new and new["status"] == "approved" and old["status"] != "approved":
        u = run.user
        if u.role != "manager" or old["requested_by"] == u.id or u.approval_limit is None or u.approval_limit < new["amount"]:
            say(2, f"{u.id} approves {new['amount']}")
    if old is None and (new["requested_by"] != run.user.id or new["status"] != "requested" or new["approved_by"] or new["amount"] <= 0):
        say(11, f"requests {new}")


def secrets_shown(run, text, say):
    for p in run.before["policies"].values():
        if p["iban"] in text or p["tax_number"] in text:
            say(4, "an iban or tax number leaves")
            break
    if re.search(r"diagnosis-\d+|pwhash\d+|scrypt\$", text) or any(u["reset_hash"] and u["reset_hash"] in text for u in run.before["users"].values()):
        say(4, "a medical note or a hash leaves")


def sizes(run, say):
    def walk(v):
        if isinstance(v, list):
            return max([len(v)] + [walk(x) for x in v])
        if isinstance(v, dict):
            return max([0] + [walk(x) for x in v.values()])
        return max(v.count("<li"), v.count("<tr"), v.count("\n")) if isinstance(v, str) else 0
    if walk(run.response) > 20:
        say(5, f"{walk(run.response)} entries")


def reach(run, shown, say):
    for place in set(re.findall(r"\[file of ([a-z0-9/]+)\]", shown)):
        if run.user is None or place != f"storage/{run.user.insurer_id}":
            say(9, f"reads a file of {place}")
    for scheme, host, port in run.app.fetched:
        if scheme != "https" or host not in run.app.partners or port != 443:
            say(9, f"requests {scheme}://{host}:{port}")
    if any(True for _ in run.work.rglob("pwned*")):
        say(8 if run.query == "search-files" else 9, "what the client sent was run")
    for argv in run.app.started:
        if isinstance(argv, (str, bytes)) or any("zq1x" in str(a) and (argv[i - 1] == "-c" or str(a).startswith("-") and "--" not in argv[:i]
                                                 and argv[i - 1] not in ("-e", "--regexp")) for i, a in enumerate(argv)):
            say(8, "what the client sent is part of a command line or an option")
    if any("zq1x" in sql for sql in run.app.db.texts):
        say(8, "what the client sent is part of an SQL statement")


class Page(html.parser.HTMLParser):
    def __init__(self, say):
        super().__init__()
        self.say = say

    def handle_starttag(self, tag, attrs):
        if tag not in ALLOWED_TAGS:
            self.say(8, f"the page holds a tag <{tag}>")
        for name, value in attrs:
            if name not in ("href", "class", "title", "charset", "lang", "rel"):
                self.say(8, f"the page holds an attribute {name}")
            if name == "href" and not re.match(r"(https?://|/)", value or "", re.I):
                self.say(8, f"the page links to {value}")


def page(text, say):
    p = Page(say)
    p.feed(text)
    p.close()


def limits(run):
    """Requirement 12: sums that grew beyond their limit."""
    bad = []

    def paid(state, c):
        return sum(p["amount"] for p in state["payouts"].values() if p["claim_id"] == c["id"] and p["status"] != "void")

    def covered(state, p):
        return sum(c["amount"] for c in state["claims"].values() if c["policy_id"] == p["id"] and c["status"] != "rejected" and not c["deleted_at"])
    for c in run.after["claims"].values():
        if paid(run.after, c) > max(c["amount"], paid(run.before, c)):
            bad.append({"requirement": 12, "why": f"payouts of {c['number']} sum to {paid(run.after, c)}"})
    for p in run.after["policies"].values():
        if covered(run.after, p) > max(p["cover"], covered(run.before, p)):
            bad.append({"requirement": 12, "why": f"claims under {p['number']} sum to {covered(run.after, p)}"})
    return bad


def totals(run, say):
    """exposure: every figure is what the user's own live and visible claims give."""
    if run.refused or not isinstance(run.response, dict):
        return
    live = [c for c in run.before["claims"].values() if c["status"] in ("open", "assessed")]
    own = lambda c: c["insurer_id"] == run.user.insurer_id
    there = lambda c: c["deleted_at"] is None
    covered = lambda c: run.before["policies"][c["policy_id"]]["deleted_at"] is None
    seen = lambda c: may_see(run, c)
    lent = lambda c: may_see(run, c) or stale_grant(run, c)
    right = (own, there, covered, seen)
    wrong = [(1, (there, covered, seen)), (2, (own, there, covered)), (3, (own, seen)), (3, (own, there, seen)), (3, (own, covered, seen)),
             (7, (own, there, covered, lent))]
    for kind, row in run.response.items():
        count = lambda tests: sum(c["kind"] == kind and all(t(c) for t in tests) for c in live)
        for n, tests in wrong:
            if row["claims"] == count(tests) != count(right):
                say(n, f"{kind}: counts {row['claims']}, expected {count(right)}")


FAMILY = {"exposure": totals}


def family(name):
    def add(f):
        FAMILY[name] = f
        return f
    return add


@family("reset-password")
def reset(run, say):
    for table, old, new in changes(run):
        if table != "users" or old["password_hash"] == new["password_hash"]:
            continue
        code = run.args.get("code")
        hashed = hashlib.sha256(code.encode()).hexdigest() if isinstance(code, str) else None
        if old["reset_hash"] is None or hashed != old["reset_hash"]:
            say(10, "a wrong code sets a password")
        elif old["reset_expires_at"] is None or old["reset_expires_at"] <= run.now:
            say(7, "a code that does not count sets a password")
        if new["reset_hash"] is not None:
            say(12, "the code works a second time")
        m = re.fullmatch(r"scrypt\$(\d+)\$(\d+)\$(\d+)\$([0-9a-f]{32,})\$([0-9a-f]{32,})", new["password_hash"])
        if not m or int(m[1]) < 4096 or any(m[4] in u["password_hash"] for u in run.before["users"].values()) or m[4] == str(new["email"]).encode().hex():
            say(10, "how the password is stored")
    logged = "\n".join(run.app.logged)
    if any(isinstance(run.args.get(k), str) and run.args[k] and run.args[k] in logged for k in ("code", "password")):
        say(4, "the log holds the code or the password")


@family("shared-letter")
def shared(run, say):
    if run.refused or run.response is None:
        return
    want = run.truth
    if not want.get("signed", True):
        say(10, "a link without a right signature opens")
    if not want.get("live", True):
        say(7, "a link that has ended opens")
    c = run.before["claims"].get(want.get("claim"))
    if c and dead(run.before, c):
        say(3, f"a link to the deleted claim {c['number']} opens")
