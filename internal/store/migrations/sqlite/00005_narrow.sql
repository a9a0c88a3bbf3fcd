-- +goose Up
-- Each index costs every row a page: a trial is looked up by its key, a run's rows by the run.
CREATE UNIQUE INDEX evaluations_of_trial ON evaluations (trial_key, run_id);
CREATE INDEX evaluations_of_run ON evaluations (run_id);
DROP INDEX evaluations_run_trial;
DROP INDEX evaluations_trial;
DROP INDEX evaluations_summary;

-- Attempts stand in the row that they led to: audit.Attempt as JSON.
ALTER TABLE evaluations ADD COLUMN attempts TEXT;
ALTER TABLE audits ADD COLUMN attempts TEXT NOT NULL DEFAULT '';
CREATE TEMP TABLE attempts_of AS SELECT run_id, trial_key, json_group_array(json_object(
    'Started', coalesce(nullif(started, ''), '0001-01-01T00:00:00Z'), 'Latency', latency_ms * 1000000, 'Model', served, 'FinishReason', finish_reason,
    'Usage', json_object('TokensIn', tokens_in, 'TokensOut', tokens_out, 'USD', usd, 'Priced', json(iif(priced, 'true', 'false'))),
    'HTTPStatus', http_status, 'Error', error)) AS all_of_them
    FROM (SELECT * FROM attempts ORDER BY run_id, trial_key, attempt) GROUP BY run_id, trial_key;
CREATE INDEX temp.attempts_of_trial ON attempts_of (trial_key, run_id);
UPDATE evaluations SET attempts = (SELECT all_of_them FROM attempts_of a WHERE a.trial_key = evaluations.trial_key AND a.run_id = evaluations.run_id);
UPDATE audits SET attempts = coalesce((SELECT all_of_them FROM attempts_of a WHERE a.trial_key = audits.trial_key AND a.run_id = audits.run_id), '');
DROP TABLE attempts_of;
DROP TABLE attempts;
