"""The rows of a fresh state. Ids have seven digits: company, table, number; every text of a company holds its name."""
import datetime
import hashlib
import pathlib
import sqlite3

NAMES = {1: "Nordex", 2: "Sylva"}
HIRE, MACHINE, CUSTOMER, REFUND, LINK, COVER = 1, 2, 3, 4, 5, 6
PAST = "2025-05-02T08:00:00Z"


def ident(company, table, n):
    return company * 1000000 + table * 100000 + n


def price(rate, starts, ends):
    n = (datetime.date.fromisoformat(ends) - datetime.date.fromisoformat(starts)).days
    return rate * min(n, 7) + rate * max(n - 7, 0) * 4 // 5


def token(company, n):
    return f"tok-{company}-{n}-abcdefghijklmnop"


# machine, customer, starts_on, ends_on, status, deleted
HIRES = {
    1: (1, 1, "2025-06-14", "2025-06-20", "out", 0), 2: (1, 2, "2025-06-24", "2025-06-28", "reserved", 0),
    3: (3, 1, "2025-06-18", "2025-06-22", "reserved", 0), 4: (2, 3, "2025-06-14", "2025-06-21", "out", 0),
    5: (2, 1, "2025-06-21", "2025-06-25", "reserved", 0), 6: (5, 2, "2025-06-10", "2025-06-15", "returned", 0),
    7: (5, 2, "2025-06-18", "2025-06-20", "cancelled", 0), 8: (5, 4, "2025-06-20", "2025-06-26", "reserved", 1),
    9: (4, 3, "2025-06-01", "2025-06-09", "returned", 0), 10: (11, 6, "2025-06-25", "2025-07-05", "reserved", 0),
    11: (6, 4, "2025-06-17", "2025-06-19", "reserved", 0), 12: (9, 1, "2025-06-20", "2025-06-22", "reserved", 0),
    13: (3, 5, "2025-06-01", "2025-06-05", "returned", 0), 14: (5, 2, "2025-06-05", "2025-06-08", "returned", 0),
    15: (3, 7, "2025-06-24", "2025-06-26", "reserved", 0), 16: (13, 1, "2025-06-12", "2025-06-18", "out", 0),
    17: (5, 4, "2025-06-01", "2025-06-03", "returned", 1), 18: (13, 8, "2025-06-20", "2025-06-24", "reserved", 0),
    19: (15, 1, "2025-06-13", "2025-06-17", "out", 1),
}


def build():
    db = sqlite3.connect(":memory:")
    db.executescript((pathlib.Path(__file__).parent / "harness_schema.sql").read_text())

    def put(table, *values):
        db.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(values))})", values)

    for c, name in NAMES.items():
        for n in (1, 2, 3):
            put("depots", c * 10 + n, c, f"{name} yard {n}")
        for n, role, depot in ((1, "clerk", 1), (2, "clerk", 2), (3, "manager", 0), (4, "auditor", 0), (5, "manager", 0), (6, "clerk", 3),
                               (7, "clerk", 2), (8, "clerk", 1)):
            put("users", c * 100 + n, c, c * 10 + depot if depot else None, f"{name} {role} {n}", role, f"pin$hash{c}{n}")
        customers = {6: f"=HYPERLINK(\"http://x.example\",\"{name}\")", 7: f"<img src=x onerror=alert(1) alt={name}>", 8: f"-{name}+1"}
        for n in range(1, 9):
            put("customers", ident(c, CUSTOMER, n), c, customers.get(n, f"{name} customer {n}"), f"c{n}@{name.lower()}.example",
                f"FR{c}{n}88776655443322110099{c}{n}5" if n == 6 else f"DE{c}{n}887766554433211{c}{n}5", PAST if n == 5 else None)
        rates = {}
        for n in range(1, 16):
            rates[n] = 40 + 10 * n
            put("machines", ident(c, MACHINE, n), c, c * 10 + 2 - n % 2, f"{name} machine {n}", ("digger", "lift", "mixer")[n % 3], rates[n],
                70000 + c * 1000 + n, "repair" if n == 7 else "ready", PAST if n == 9 else None)
        old = {n: (n % 6 + 1, n % 4 + 1, f"2025-{n % 4 + 1:02d}-{n % 26 + 1:02d}", f"2025-{n % 4 + 1:02d}-{n % 26 + 3:02d}", "returned", n % 17 == 0)
               for n in range(31, 131)}
        for n, (m, customer, starts, ends, status, dead) in {**HIRES, **old}.items():
            note = {10: "=1+1", 15: "<b onmouseover=alert(2)>", 18: "@SUM(1)", 3: "\t=2+2", 11: "seen\r=3+3"}.get(n, f"hire {n}")
            put("hires", ident(c, HIRE, n), c, c * 10 + 2 - m % 2, ident(c, MACHINE, m), ident(c, CUSTOMER, customer), starts, ends, status,
                price(rates[m], starts, ends), note + " " + name, c * 100 + (1 if m % 2 else 2), PAST if dead else None)
        for n, hire, amount, status, by, decided in (
                (1, 6, 100, "requested", 1, None), (2, 6, 50, "requested", 3, None), (3, 9, 80, "requested", 2, None), (4, 14, 60, "paid", 1, 3),
                (5, 14, 40, "void", 1, 3), (6, 17, 20, "requested", 1, None), (7, 13, 30, "requested", 5, None), (8, 9, 20, "requested", 5, None)):
            put("refunds", ident(c, REFUND, n), c, ident(c, HIRE, hire), amount, status, c * 100 + by, decided and c * 100 + decided)
        for n, hire, ends, revoked in ((1, 1, "2025-06-20T00:00:00Z", None), (2, 2, "2025-06-16T09:30:00Z", None), (3, 3, "2025-06-30T00:00:00Z", PAST),
                                       (4, 8, "2025-06-30T00:00:00Z", None), (5, 4, "2025-06-16T09:30:01Z", None), (6, 15, "2025-06-30T00:00:00Z", None),
                                       (7, 12, "2025-06-30T00:00:00Z", None)):
            put("links", ident(c, LINK, n), c, ident(c, HIRE, hire), hashlib.sha256(token(c, n).encode()).hexdigest(), ends, revoked)
        for n, user, depot, starts, ends, revoked in (
                (1, 1, 3, "2025-06-01T00:00:00Z", "2025-06-10T00:00:00Z", None), (2, 6, 1, "2025-06-01T00:00:00Z", "2025-06-30T00:00:00Z", None),
                (3, 6, 2, "2025-06-01T00:00:00Z", "2025-06-16T09:30:00Z", None), (4, 2, 1, "2025-06-16T09:30:01Z", "2025-06-30T00:00:00Z", None),
                (5, 1, 2, "2025-06-01T00:00:00Z", "2025-06-30T00:00:00Z", PAST)):
            put("covers", ident(c, COVER, n), c, c * 100 + user, c * 10 + depot, starts, ends, revoked)
    db.commit()
    return db


TEMPLATE = build()
TABLES = ("users", "depots", "customers", "machines", "hires", "refunds", "links", "covers", "events")


def state(conn):
    out = {}
    for table in TABLES:
        cur = conn.execute(f"SELECT * FROM {table}")
        names = [d[0] for d in cur.description]
        out[table] = {r[0]: dict(zip(names, tuple(r))) for r in cur.fetchall()}
    return out


def watch(conn):
    """Notes from now on each hire of which an UPDATE finds a row, in its transaction."""
    conn.execute("CREATE TEMP TABLE updated (hire_id INTEGER)")
    for table, hire in (("hires", "id"), ("refunds", "hire_id"), ("links", "hire_id")):
        conn.execute(f"CREATE TEMP TRIGGER {table}_updated AFTER UPDATE ON {table} BEGIN INSERT INTO updated VALUES (new.{hire}); END")


def updated(conn):
    """The hires that were noted since it was last asked."""
    return {r[0] for r in conn.execute("DELETE FROM updated RETURNING hire_id").fetchall()}
