-- +goose Up
-- Which suite made a run: older ones are all Bench's.
ALTER TABLE runs ADD COLUMN suite TEXT NOT NULL DEFAULT 'Bench';

-- One row is one trial of an auditor on a project, written as it ends.
CREATE TABLE audits (
    run_id TEXT NOT NULL,
    trial_key TEXT NOT NULL,
    timestamp TEXT NOT NULL,
    project TEXT NOT NULL,
    auditor TEXT NOT NULL,
    trial_index INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    detail TEXT NOT NULL,
    version TEXT NOT NULL,
    model TEXT NOT NULL,
    tries INTEGER NOT NULL,
    early_ends INTEGER NOT NULL,
    tokens_in INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    turns INTEGER NOT NULL,
    usd REAL NOT NULL,
    priced INTEGER NOT NULL,
    wall_ms INTEGER NOT NULL,
    kept BLOB NOT NULL,
    PRIMARY KEY (run_id, trial_key)
);
CREATE INDEX audits_trial ON audits (trial_key, outcome);
