"""A harness in Python: as harness.mjs beside it."""
import importlib.util
import json
import sys

spec = importlib.util.spec_from_file_location("case", sys.argv[1])
case = importlib.util.module_from_spec(spec)
spec.loader.exec_module(case)
for line in sys.stdin:
    params = json.loads(line)["params"]
    notes = {"1": {"owner": "ann", "text": "milk"}, "2": {"owner": "bob", "text": "bread"}}
    effect, error, violated = None, "", []
    try:
        effect = case.handler({"user": params["user"], "id": params["id"]}, notes)
    except Exception as e:
        error = repr(e)
    owner = (effect or {}).get("body", {}).get("owner")
    if owner and owner != params["user"]:
        violated.append({"requirement": 1, "why": "shows a note of " + owner})
    print(json.dumps({"effect": effect, "violated": violated, "error": error}), flush=True)
