"""The rows, files and pages of a fresh state."""
import base64
import hashlib
import hmac
import json
import pathlib
import sqlite3

INSURERS = {1: ("AL", "Alder"), 2: ("BI", "Birch")}
PASTS = "2025-01-10T00:00:00Z"

PAGES = {
    "https://photos.glass.example/a.jpg": (200, {"content-type": "image/jpeg"}, "photo a"),
    "https://photos.glass.example/b.jpg": (302, {"location": "https://files.garage.example/b.jpg"}, ""),
    "https://files.garage.example/b.jpg": (200, {"content-type": "image/jpeg"}, "photo b"),
    "https://photos.glass.example/meta": (302, {"location": "http://169.254.169.254/latest/meta-data"}, ""),
    "https://photos.glass.example/hop": (302, {"location": "https://files.garage.example/hop"}, ""),
    "https://files.garage.example/hop": (302, {"location": "https://ledger.internal/"}, ""),
    "https://photos.glass.example/near": (302, {"location": "/a.jpg"}, ""),
    "https://photos.glass.example/loop": (302, {"location": "https://photos.glass.example/loop"}, ""),
}


def password(text, salt):
    h = hashlib.scrypt(text.encode(), salt=salt, n=4096, r=8, p=1)
    return f"scrypt$4096$8$1${salt.hex()}${h.hex()}"


def code_hash(code):
    return hashlib.sha256(code.encode()).hexdigest()


def sign(fields, key):
    body = json.dumps(fields, separators=(",", ":"), sort_keys=True).encode()
    return base64.urlsafe_b64encode(body).decode() + "." + hmac.new(key, body, "sha256").hexdigest()


def fill(value, key):
    """A parameter's placeholder: {"$link": {...}} is a signed link, {"$cut": n} keeps n characters of its signature,
    {"$sig": text} puts another in its place; {"$bytes": text} is the base64 of the text's bytes."""
    if isinstance(value, dict) and "$link" in value:
        link = sign(value["$link"], key)
        body, sig = link.split(".")
        if "$other" in value:
            body = sign(value["$other"], key).split(".")[0]
        if "$cut" in value:
            sig = sig[:value["$cut"]] + value.get("$pad", "")
        return body + "." + value.get("$sig", sig)
    if isinstance(value, dict) and "$bytes" in value:
        return base64.b64encode(value["$bytes"].encode("latin-1")).decode()
    return value


def build():
    db = sqlite3.connect(":memory:")
    db.executescript((pathlib.Path(__file__).parent / "harness_schema.sql").read_text())

    def put(table, *values):
        db.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(values))})", values)

    for i, (tag, name) in INSURERS.items():
        u, k = i * 100, i * 1000
        people = [(1, "clerk", None), (2, "adjuster", None), (3, "manager", 5000), (4, "auditor", None),
                  (5, "adjuster", None), (6, "manager", 500), (7, "manager", None), (8, "adjuster", None)]
        for n, role, limit in people:
            reset, end = None, None
            if n in (1, 2, 5, 8):
                reset = code_hash(f"code-{u + n}")
                end = {1: "2025-06-16T10:00:00Z", 2: "2025-06-16T09:30:00Z", 5: None, 8: "2025-06-16T08:00:00Z"}[n]
            put("users", u + n, i, f"{name} {role.title()} {n}", f"u{u + n}@{name.lower()}.example", role, limit,
                f"scrypt$4096$8$1${'0' * 30}{u + n:03d}$pwhash{u + n}", reset, end, PASTS if n == 8 else None)
        for n in range(1, 10):
            put("policies", k + n, i, f"{tag}-P{n:03d}", f"{name} Holder {n}", f"DE{i}{n}99887766554433{n}{i}77", f"TAX{i}{n}55512",
                "2025-07-01" if n == 6 else "2024-07-01", "2025-06-15" if n == 5 else "2025-06-16" if n == 4 else "2026-06-30",
                2500 if n == 9 else 20000, PASTS if n == 8 else None)
        for n in range(1, 91):
            claim = claim_row(i, n, tag, name, k, u)
            put("claims", *claim)
        put("payouts", k + 1, i, k + 61, 400, "requested", u + 1, None)
        put("payouts", k + 2, i, k + 61, 300, "requested", u + 3, None)
        put("payouts", k + 3, i, k + 62, 800, "requested", u + 2, None)
        put("payouts", k + 4, i, k + 63, 100, "void", u + 1, None)
        put("payouts", k + 5, i, k + 64, 200, "requested", u + 1, None)
        put("payouts", k + 6, i, k + 2, 200, "requested", u + 1, None)
        put("payouts", k + 7, i, k + 66, 200, "requested", u + 1, None)
        put("payouts", k + 8, i, k + 86, 200, "requested", u + 1, None)
        put("payouts", k + 9, i, k + 62, 200, "void", u + 1, None)
        put("payouts", k + 10, i, k + 61, 200, "approved", u + 1, u + 6)
        put("payouts", k + 11, i, k + 64, 500, "requested", u + 6, None)
        for n in range(1, 61):
            claim = 2 if n <= 30 else n
            end = {3: "2025-06-16T09:30:00Z", 4: "2025-06-16T09:30:01Z", 5: "2025-06-15T23:59:59Z", 6: "2025-06-30T00:00:00Z", 26: "2025-06-16T09:30:00Z"}.get(n)
            put("documents", k + n, i, k + claim, f"{tag}-doc-{n:04d}.txt", end, PASTS if n in (7, 8, 27) else None)
        grants = [(1, 3, 2, "2025-06-01T00:00:00Z", "2025-06-30T00:00:00Z", None),
                  (2, 5, 2, "2025-06-01T00:00:00Z", "2025-06-16T09:30:00Z", None),
                  (3, 7, 2, "2025-06-16T12:00:00Z", "2025-06-30T00:00:00Z", None),
                  (4, 9, 2, "2025-06-01T00:00:00Z", "2025-06-30T00:00:00Z", "2025-06-10T00:00:00Z"),
                  (5, 13, 2, "2025-06-16T09:30:00Z", "2025-06-17T00:00:00Z", None)]
        for n, claim, who, start, end, revoked in grants:
            put("grants", k + n, i, k + claim, u + who, start, end, revoked)
    db.commit()
    return db


def claim_row(i, n, tag, name, k, u):
    status = "open" if n <= 60 or n in (73, 74) else "approved" if n <= 66 or n == 86 else "assessed" if n == 85 else ("assessed", "rejected", "paid", "closed")[n % 4]
    policy = 8 if n in (85, 86) else 9 if n in (71, 72, 73, 74) else n % 7 + 1
    link = f"https://photos.glass.example/{n}" if n % 2 else None
    description = f"{name} case {n}: hail"
    if n == 16:
        description, link = f"{name} <script>alert(1)</script> & \"more\"", "javascript:alert(1)"
    if n == 18:
        link = "https://a.example/\" onmouseover=\"alert(1)"
    if n == 20:
        link = " JavaScript:alert(2)"
    if n == 26:
        description = f"{name} {{number}}</p><img src=x onerror=alert(1)>"
    dead = PASTS if n % 11 == 0 else None
    return (k + n, i, k + policy, f"{tag}-{n:04d}", ("motor", "home", "health")[n % 3], status, 0 if n in (73, 74) else 1000,
            u + (2 if n % 2 == 0 or n == 85 else 5), u + 1, "2025-05-01", description, link, f"diagnosis-{i}{n:02d}" if n % 3 == 2 else None, dead)


TEMPLATE = build()


def files(work):
    for i, (tag, name) in INSURERS.items():
        home = work / "storage" / str(i)
        (home / "notes").mkdir(parents=True)
        for n in (1, 3, 4, 5, 6, 7, 40, 41, 44):
            (home / f"{tag}-doc-{n:04d}.txt").write_text(f"[file of storage/{i}] page {n}\nhail in {name}\n")
        (home / "notes" / "memo.txt").write_text(f"[file of storage/{i}] memo\n" + "".join(f"{name} hail line {n}\n" for n in range(1, 46)))
    ten = work / "storage" / "10"
    ten.mkdir()
    (ten / "ten.txt").write_text("[file of storage/10] ten\n")
    (work / "storage" / "keys.txt").write_text("[file of storage] hail key\n")
    (work / "secret.txt").write_text("[file of work] hail secret\n")


def state(conn):
    out = {}
    for table in ("users", "policies", "claims", "payouts", "documents", "grants"):
        cur = conn.execute(f"SELECT * FROM {table}")
        names = [d[0] for d in cur.description]
        out[table] = {r[0]: dict(zip(names, tuple(r))) for r in cur.fetchall()}
    return out
