"""The modules and objects that the SPEC describes."""
import datetime
import re
import sqlite3
import sys
import types


class Refused(Exception):
    def __init__(self, status=400):
        super().__init__(status)
        self.status = status


MISSING = object()
ROUTES = {}


def route(name):
    def put(f):
        ROUTES[name] = f
        return f
    return put


def value(args, key, default):
    got = args.get(key)
    if got is None:
        if default is MISSING:
            raise Refused(400)
        return default
    return got


def text(args, key, default=MISSING):
    got = value(args, key, default)
    if got is not default and (not isinstance(got, str) or len(got) > 200):
        raise Refused(400)
    return got


def number(args, key, default=MISSING):
    got = value(args, key, default)
    if got is not default and (isinstance(got, bool) or not isinstance(got, int)):
        raise Refused(400)
    return got


def day(args, key):
    got = text(args, key)
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", got):
        raise Refused(400)
    try:
        datetime.date.fromisoformat(got)
    except ValueError:
        raise Refused(400) from None
    return got


sys.modules["hire.core"] = types.SimpleNamespace(Refused=Refused, day=day, number=number, route=route, text=text)


class Db:
    """The database; it calls step after each statement, and fails at what fail names."""

    def __init__(self, path):
        self.conn = sqlite3.connect(path, isolation_level=None, timeout=0)
        self.conn.row_factory = sqlite3.Row
        self.step, self.fail, self.texts = (lambda: None), None, []

    def _exec(self, sql, args):
        self.texts.append(sql)
        if self.fail and re.search(self.fail, sql):
            raise sqlite3.OperationalError("disk I/O error")
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

    def insert(self, sql, args=()):
        return self._exec(sql, args)[0].lastrowid

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


class App:
    def __init__(self, db, now, cache):
        self.db, self.now, self.today, self.cache, self.mails = db, now, now[:10], cache, []

    def mail(self, to, subject, text):
        self.mails.append((to, subject, text))
