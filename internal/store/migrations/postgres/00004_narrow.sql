-- +goose Up
-- Each index costs every row a page: a trial is looked up by its key, a run's rows by the run, the newest of them by their number.
CREATE UNIQUE INDEX evaluations_of_trial ON evaluations (trial_key, run_id);
CREATE INDEX evaluations_of_run ON evaluations (run_id, id);
DROP INDEX evaluations_run_trial;
DROP INDEX evaluations_trial;
DROP INDEX evaluations_summary;

-- Attempts stand in the row that they led to: audit.Attempt as JSON.
ALTER TABLE evaluations ADD COLUMN attempts TEXT;
ALTER TABLE audits ADD COLUMN attempts TEXT NOT NULL DEFAULT '';
CREATE TEMP TABLE attempts_of ON COMMIT DROP AS SELECT run_id, trial_key, json_agg(json_build_object(
    'Started', coalesce(nullif(started, ''), '0001-01-01T00:00:00Z'), 'Latency', latency_ms * 1000000, 'Model', served, 'FinishReason', finish_reason,
    'Usage', json_build_object('TokensIn', tokens_in, 'TokensOut', tokens_out, 'USD', usd, 'Priced', priced <> 0),
    'HTTPStatus', http_status, 'Error', error) ORDER BY attempt)::text AS all_of_them
    FROM attempts GROUP BY run_id, trial_key;
UPDATE evaluations e SET attempts = a.all_of_them FROM attempts_of a WHERE a.trial_key = e.trial_key AND a.run_id = e.run_id;
UPDATE audits e SET attempts = a.all_of_them FROM attempts_of a WHERE a.trial_key = e.trial_key AND a.run_id = e.run_id;
DROP TABLE attempts;
