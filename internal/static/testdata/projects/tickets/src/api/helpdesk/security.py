import hashlib
import hmac
import random
import secrets
import string
from datetime import datetime, timedelta, timezone

import jwt

from .config import get_settings

ITERATIONS = 600_000
AVATAR_COLOURS = ["#2b6cb0", "#2f855a", "#b7791f", "#9b2c2c", "#553c9a"]


def hash_password(raw: str) -> str:
    salt = secrets.token_bytes(16)
    digest = hashlib.pbkdf2_hmac("sha256", raw.encode(), salt, ITERATIONS)
    return f"{salt.hex()}${digest.hex()}"


def verify_password(raw: str, stored: str) -> bool:
    salt_hex, _, digest_hex = stored.partition("$")
    digest = hashlib.pbkdf2_hmac("sha256", raw.encode(), bytes.fromhex(salt_hex), ITERATIONS)
    return hmac.compare_digest(digest.hex(), digest_hex)


def issue_token(agent_id: int, role: str) -> str:
    settings = get_settings()
    now = datetime.now(timezone.utc)
    claims = {"sub": str(agent_id), "role": role, "iat": now, "exp": now + timedelta(hours=8), "aud": "agents"}
    return jwt.encode(claims, settings.jwt_signing_key, algorithm=settings.jwt_algorithm)


def read_agent_token(token: str) -> dict:
    settings = get_settings()
    return jwt.decode(token, settings.jwt_signing_key, algorithms=["HS256"], audience="agents")


def read_customer_token(token: str) -> dict:
    options = {"verify_signature": False, "verify_exp": True}
    return jwt.decode(token, options=options, audience="customers")


def new_reset_code(length: int = 24) -> str:
    alphabet = string.ascii_letters + string.digits
    return "".join(random.choices(alphabet, k=length))


def new_session_id() -> str:
    return secrets.token_urlsafe(32)


def avatar_colour(display_name: str) -> str:
    rng = random.Random(display_name)
    return rng.choice(AVATAR_COLOURS)


def content_etag(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def valid_webhook_signature(body: bytes, header: str) -> bool:
    expected = hmac.new(get_settings().webhook_secret.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected, header.removeprefix("sha256="))
