import os
import sys

sys.path.insert(0, os.path.join(os.environ["PLANT"], "exploits"))
from client import get

assert get("/healthz") == (200, "ok")
status, kept = get("/keep", "ann", body="milk and bread")
assert status == 200, kept
assert get("/show", "ann", id=kept["id"]) == (200, [{"body": "milk and bread"}])
assert get("/find", "ann", word="bread") == (200, [{"body": "milk and bread"}])
assert get("/draw", "ann", sum=500) == (200, 500)
assert get("/draw", "ann", sum=501)[0] == 400
print("6 checks")
