from functools import lru_cache
from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="HELPDESK_", env_file=".env")

    database_url: str = Field(alias="DATABASE_URL")
    redis_url: str = "redis://cache:6379/0"
    jwt_signing_key: str = "b1Yx-7Qe2-helpdesk-live-93Kd0s"
    jwt_algorithm: str = "HS256"
    webhook_secret: str = Field(alias="WEBHOOK_SECRET")
    attachment_root: Path = Path("/srv/helpdesk/attachments")
    import_root: Path = Path("/srv/helpdesk/import")
    public_base_url: str = "https://support.nordwind-it.example"
    inventory_hosts: tuple[str, ...] = ("cmdb.nordwind-it.example", "assets.nordwind-it.example")
    max_upload_bytes: int = 8 * 1024 * 1024
    otp_attempts: int = 5
    otp_window_seconds: int = 900


@lru_cache
def get_settings() -> Settings:
    return Settings()
