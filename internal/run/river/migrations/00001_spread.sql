-- +goose Up
-- One run that is spread over workers: its budget is one row.
CREATE TABLE spread_runs (
    run_id TEXT PRIMARY KEY,
    identity TEXT NOT NULL,             -- of what is planned
    budget DOUBLE PRECISION NOT NULL,   -- USD; Infinity for none
    spent DOUBLE PRECISION NOT NULL DEFAULT 0,
    reserved DOUBLE PRECISION NOT NULL DEFAULT 0,
    unsure DOUBLE PRECISION NOT NULL DEFAULT 0, -- part of spent that was charged because nobody knows
    over DOUBLE PRECISION NOT NULL DEFAULT 0,   -- by how much tries cost more than their most
    dearest JSONB NOT NULL DEFAULT '{}', -- by reviewer: the most that a try has cost, where that is more than was said
    remaining BIGINT NOT NULL,          -- jobs without an outcome
    retries BIGINT NOT NULL DEFAULT 0,
    config JSONB NOT NULL,
    stopped TEXT NOT NULL DEFAULT '',   -- why nothing more is sent at all
    ended TIMESTAMPTZ
);

-- Why nothing more is sent to a provider or a reviewer; the budget's own reason.
CREATE TABLE spread_stops (
    run_id TEXT NOT NULL,
    scope TEXT NOT NULL,                -- provider, reviewer, budget
    name TEXT NOT NULL,
    why TEXT NOT NULL,
    at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (run_id, scope, name)
);

-- The pace of a provider, shared by all workers and runs.
CREATE TABLE spread_providers (
    provider TEXT PRIMARY KEY,
    most DOUBLE PRECISION NOT NULL,     -- tries at once, as the user asked
    slots DOUBLE PRECISION NOT NULL,    -- tries at once, as the provider takes them
    in_flight BIGINT NOT NULL DEFAULT 0,
    sent BIGINT NOT NULL DEFAULT 0,
    lowered BIGINT NOT NULL DEFAULT 0,  -- sent when slots was last halved
    until TIMESTAMPTZ NOT NULL DEFAULT '-infinity' -- nothing is sent before
) WITH (fillfactor = 50);

-- A try under way: a slot of its provider, and the most that it may cost.
CREATE TABLE spread_leases (
    run_id TEXT NOT NULL,
    trial_key TEXT NOT NULL,
    provider TEXT NOT NULL,
    worker TEXT NOT NULL,
    reviewer TEXT NOT NULL,
    most DOUBLE PRECISION NOT NULL,
    number BIGINT NOT NULL,
    expires TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (run_id, trial_key)
);
CREATE INDEX spread_leases_worker ON spread_leases (worker);

-- What is known of trials that wait for another try.
CREATE TABLE spread_tries (
    run_id TEXT NOT NULL,
    trial_key TEXT NOT NULL,
    tries BIGINT NOT NULL,
    kept JSONB NOT NULL,
    PRIMARY KEY (run_id, trial_key)
);

-- Trials that were planned and never begun.
CREATE TABLE spread_skipped (
    run_id TEXT NOT NULL,
    trial_key TEXT NOT NULL,
    expected TEXT NOT NULL,
    why TEXT NOT NULL,
    PRIMARY KEY (run_id, trial_key)
);

-- Who is there. A row that is no longer written is a worker that died.
CREATE TABLE spread_workers (
    worker TEXT PRIMARY KEY,
    seen BIGINT NOT NULL                -- counts the times that it said so
);

-- What auditors reported.
CREATE TABLE spread_audits (
    run_id TEXT NOT NULL,
    audit_key TEXT NOT NULL,
    result BYTEA NOT NULL,
    PRIMARY KEY (run_id, audit_key)
);
