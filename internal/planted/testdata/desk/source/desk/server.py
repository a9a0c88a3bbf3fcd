import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from . import rules, store


class Handler(BaseHTTPRequestHandler):
    # order:begin
    def do_GET(self):
        self.answer(self.route)

    # order:next
    def log_message(self, *args):
        pass

    # order:next
    def answer(self, what):
        try:
            status, body = what()
        except ValueError as fault:
            status, body = 400, {"error": str(fault)}
        except store.Fault as fault:
            # site:CASH-2 bad
            status, body = 500, {"error": str(fault)}
            # site:CASH-2 good
            status, body = 500, {"error": type(fault).__name__}
            # site:CASH-2 end
        sent = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)
    # order:end

    def route(self):
        url = urlsplit(self.path)
        q = {k: v[0] for k, v in parse_qs(url.query).items()}
        who = self.headers.get("X-User", "")
        if url.path == "/healthz":
            return 200, "ok"
        if url.path == "/keep":
            return 200, rules.keep(who, q["body"])
        if url.path == "/show":
            return 200, rules.show(who, int(q["id"]))
        if url.path == "/find":
            return 200, rules.find(who, q["word"])
        if url.path == "/draw":
            return 200, rules.draw(who, q["sum"])
        return 404, "none"


if __name__ == "__main__":
    store.migrate()
    ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
