CREATE TABLE users (
  id INTEGER PRIMARY KEY, insurer_id INTEGER NOT NULL, name TEXT NOT NULL, email TEXT NOT NULL UNIQUE,
  role TEXT NOT NULL,               -- clerk, adjuster, manager, auditor
  approval_limit INTEGER,           -- managers; NULL: none
  password_hash TEXT NOT NULL,
  reset_hash TEXT, reset_expires_at TEXT,   -- SHA-256 (hex) of the one-time code, and its end
  disabled_at TEXT
);
CREATE TABLE policies (
  id INTEGER PRIMARY KEY, insurer_id INTEGER NOT NULL, number TEXT NOT NULL, holder TEXT NOT NULL,
  iban TEXT NOT NULL, tax_number TEXT NOT NULL,
  starts_on TEXT NOT NULL, ends_on TEXT NOT NULL, cover INTEGER NOT NULL, deleted_at TEXT
);
CREATE TABLE claims (
  id INTEGER PRIMARY KEY, insurer_id INTEGER NOT NULL, policy_id INTEGER NOT NULL REFERENCES policies,
  number TEXT NOT NULL, kind TEXT NOT NULL,          -- motor, home, health
  status TEXT NOT NULL DEFAULT 'open', amount INTEGER NOT NULL DEFAULT 0,
  adjuster_id INTEGER, opened_by INTEGER NOT NULL, loss_on TEXT NOT NULL,
  description TEXT NOT NULL, link TEXT, medical_note TEXT, deleted_at TEXT
);
CREATE TABLE payouts (
  id INTEGER PRIMARY KEY, insurer_id INTEGER NOT NULL, claim_id INTEGER NOT NULL REFERENCES claims,
  amount INTEGER NOT NULL, status TEXT NOT NULL DEFAULT 'requested',   -- requested, approved, void
  requested_by INTEGER NOT NULL, approved_by INTEGER
);
CREATE TABLE documents (
  id INTEGER PRIMARY KEY, insurer_id INTEGER NOT NULL, claim_id INTEGER NOT NULL REFERENCES claims,
  name TEXT NOT NULL, expires_at TEXT, deleted_at TEXT    -- the file is <storage>/<insurer_id>/<name>
);
CREATE TABLE grants (       -- lets another adjuster work on a claim for a while
  id INTEGER PRIMARY KEY, insurer_id INTEGER NOT NULL, claim_id INTEGER NOT NULL REFERENCES claims,
  user_id INTEGER NOT NULL, starts_at TEXT NOT NULL, ends_at TEXT NOT NULL, revoked_at TEXT
);
