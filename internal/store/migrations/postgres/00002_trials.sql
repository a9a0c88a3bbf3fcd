-- +goose Up
-- Columns without NOT NULL: rows that others wrote hold the first seven alone.
ALTER TABLE evaluations ADD COLUMN run_id TEXT;
ALTER TABLE evaluations ADD COLUMN trial_key TEXT;
ALTER TABLE evaluations ADD COLUMN trial_index BIGINT;
ALTER TABLE evaluations ADD COLUMN app TEXT;
ALTER TABLE evaluations ADD COLUMN query TEXT;
ALTER TABLE evaluations ADD COLUMN family TEXT;
ALTER TABLE evaluations ADD COLUMN prompt TEXT;
ALTER TABLE evaluations ADD COLUMN twin TEXT;
ALTER TABLE evaluations ADD COLUMN outcome TEXT;
ALTER TABLE evaluations ADD COLUMN status TEXT;
ALTER TABLE evaluations ADD COLUMN violates TEXT;
ALTER TABLE evaluations ADD COLUMN cwes TEXT;
ALTER TABLE evaluations ADD COLUMN reason BIGINT;
ALTER TABLE evaluations ADD COLUMN confidence DOUBLE PRECISION;
ALTER TABLE evaluations ADD COLUMN detail TEXT;
ALTER TABLE evaluations ADD COLUMN served TEXT;
ALTER TABLE evaluations ADD COLUMN finish_reason TEXT;
ALTER TABLE evaluations ADD COLUMN tries BIGINT;
ALTER TABLE evaluations ADD COLUMN tokens_in BIGINT;
ALTER TABLE evaluations ADD COLUMN tokens_out BIGINT;
ALTER TABLE evaluations ADD COLUMN usd DOUBLE PRECISION;
ALTER TABLE evaluations ADD COLUMN priced BIGINT;
ALTER TABLE evaluations ADD COLUMN latency_ms BIGINT;
ALTER TABLE evaluations ADD COLUMN reply TEXT;
ALTER TABLE evaluations ADD COLUMN case_hash TEXT;
ALTER TABLE evaluations ADD COLUMN spec_hash TEXT;
ALTER TABLE evaluations ADD COLUMN prompt_hash TEXT;
ALTER TABLE evaluations ADD COLUMN settings_hash TEXT;
ALTER TABLE evaluations ADD COLUMN settings TEXT;

-- One run holds one row for a trial.
CREATE UNIQUE INDEX evaluations_run_trial ON evaluations (run_id, trial_key);
CREATE INDEX evaluations_trial ON evaluations (trial_key, status);
-- Summary reads this index and never the rows.
CREATE INDEX evaluations_summary ON evaluations (run_id, model_name, prompt, twin, app, family, expected_result, outcome, reason, tokens_in, tokens_out, usd, priced, latency_ms);

-- Evaluations of earlier runs that a run counts as its own.
CREATE TABLE reused (
    run_id TEXT NOT NULL,
    trial_key TEXT NOT NULL,
    evaluation_id BIGINT NOT NULL,
    PRIMARY KEY (run_id, trial_key)
);

CREATE TABLE attempts (
    run_id TEXT NOT NULL,
    trial_key TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    started TEXT NOT NULL,
    latency_ms BIGINT NOT NULL,
    served TEXT NOT NULL,
    finish_reason TEXT NOT NULL,
    tokens_in BIGINT NOT NULL,
    tokens_out BIGINT NOT NULL,
    usd DOUBLE PRECISION NOT NULL,
    priced INTEGER NOT NULL,
    http_status INTEGER NOT NULL,
    error TEXT NOT NULL,
    PRIMARY KEY (run_id, trial_key, attempt)
);

CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    started TEXT NOT NULL,
    ended TEXT NOT NULL,
    command TEXT NOT NULL,
    score_version TEXT NOT NULL,
    state TEXT NOT NULL,
    planned BIGINT NOT NULL,
    reused BIGINT NOT NULL,
    correct BIGINT NOT NULL,
    wrong BIGINT NOT NULL,
    refused BIGINT NOT NULL,
    malformed BIGINT NOT NULL,
    errored BIGINT NOT NULL,
    skipped BIGINT NOT NULL,
    tokens_in BIGINT NOT NULL,
    tokens_out BIGINT NOT NULL,
    usd DOUBLE PRECISION NOT NULL,
    priced INTEGER NOT NULL
);
