import json
import os
import subprocess


class Fault(Exception):
    pass


def quote(text):
    return "'" + text.replace("'", "''") + "'"


def rows(sql):
    done = subprocess.run(
        ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", os.environ["DATABASE_URL"]],
        input="SELECT json_agg(t) FROM (%s) t;" % sql, capture_output=True, text=True)
    if done.returncode:
        raise Fault(done.stderr)
    return json.loads(done.stdout.strip() or "null") or []


def run(sql):
    done = subprocess.run(
        ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", os.environ["DATABASE_URL"]],
        input=sql, capture_output=True, text=True)
    if done.returncode:
        raise Fault(done.stderr)


def migrate():
    run("CREATE TABLE IF NOT EXISTS notes_kept (id serial PRIMARY KEY, owner text NOT NULL, body text NOT NULL);"
        "CREATE TABLE IF NOT EXISTS drawn (owner text NOT NULL, sum int NOT NULL)")
