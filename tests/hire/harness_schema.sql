CREATE TABLE users (
  id INTEGER PRIMARY KEY, company_id INTEGER NOT NULL, depot_id INTEGER,   -- of managers and auditors NULL
  name TEXT NOT NULL, role TEXT NOT NULL,           -- clerk, manager, auditor
  pin_hash TEXT NOT NULL
);
CREATE TABLE depots (id INTEGER PRIMARY KEY, company_id INTEGER NOT NULL, name TEXT NOT NULL);
CREATE TABLE customers (
  id INTEGER PRIMARY KEY, company_id INTEGER NOT NULL, name TEXT NOT NULL, email TEXT NOT NULL,
  iban TEXT NOT NULL, deleted_at TEXT
);
CREATE TABLE machines (
  id INTEGER PRIMARY KEY, company_id INTEGER NOT NULL, depot_id INTEGER NOT NULL REFERENCES depots,
  label TEXT NOT NULL, kind TEXT NOT NULL, day_rate INTEGER NOT NULL, cost_price INTEGER NOT NULL,
  status TEXT NOT NULL DEFAULT 'ready',             -- ready, repair
  deleted_at TEXT
);
CREATE TABLE hires (
  id INTEGER PRIMARY KEY, company_id INTEGER NOT NULL, depot_id INTEGER NOT NULL,   -- the machine's depot
  machine_id INTEGER NOT NULL REFERENCES machines, customer_id INTEGER NOT NULL REFERENCES customers,
  starts_on TEXT NOT NULL, ends_on TEXT NOT NULL,   -- the day after the last one
  status TEXT NOT NULL,                             -- reserved, out, returned, cancelled
  price INTEGER NOT NULL, note TEXT NOT NULL, opened_by INTEGER NOT NULL, deleted_at TEXT
);
CREATE TABLE refunds (
  id INTEGER PRIMARY KEY, company_id INTEGER NOT NULL, hire_id INTEGER NOT NULL REFERENCES hires,
  amount INTEGER NOT NULL, status TEXT NOT NULL,    -- requested, paid, void
  requested_by INTEGER NOT NULL, decided_by INTEGER
);
CREATE TABLE links (        -- lets a customer see a hire without a session
  id INTEGER PRIMARY KEY, company_id INTEGER NOT NULL, hire_id INTEGER NOT NULL REFERENCES hires,
  token_hash TEXT NOT NULL, ends_at TEXT NOT NULL, revoked_at TEXT
);
CREATE TABLE covers (       -- a clerk stands in at another depot of the company
  id INTEGER PRIMARY KEY, company_id INTEGER NOT NULL, user_id INTEGER NOT NULL REFERENCES users,
  depot_id INTEGER NOT NULL REFERENCES depots, starts_at TEXT NOT NULL, ends_at TEXT NOT NULL, revoked_at TEXT
);
CREATE TABLE events (
  id INTEGER PRIMARY KEY, company_id INTEGER NOT NULL, hire_id INTEGER NOT NULL, user_id INTEGER NOT NULL,
  at TEXT NOT NULL, what TEXT NOT NULL
);
