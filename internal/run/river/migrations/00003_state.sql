-- +goose Up
-- Budget and pace are decided upon by internal/run, which keeps its own state here.
DROP FUNCTION IF EXISTS spread_reserve, spread_charge_lost, spread_settle, spread_bury;

ALTER TABLE spread_runs ADD COLUMN account JSONB; -- run.Budget
-- What is in flight while the tables change is charged in full.
UPDATE spread_runs SET account = jsonb_build_object('Spent', spent + reserved, 'Unsure', unsure + reserved, 'Over', over, 'Dearest', dearest);
ALTER TABLE spread_runs ALTER COLUMN account SET DEFAULT '{}', ALTER COLUMN account SET NOT NULL,
    DROP COLUMN spent, DROP COLUMN reserved, DROP COLUMN unsure, DROP COLUMN over, DROP COLUMN dearest;

ALTER TABLE spread_providers ADD COLUMN pace JSONB; -- run.RateLimiter
UPDATE spread_providers SET pace = jsonb_build_object('Most', most::bigint);
ALTER TABLE spread_providers ALTER COLUMN pace SET NOT NULL,
    DROP COLUMN most, DROP COLUMN slots, DROP COLUMN in_flight, DROP COLUMN sent, DROP COLUMN lowered, DROP COLUMN until;

DELETE FROM spread_leases;
ALTER TABLE spread_leases DROP COLUMN reviewer, DROP COLUMN most, DROP COLUMN number,
    ADD COLUMN ask BIGINT NOT NULL,  -- by which its worker knows it
    ADD COLUMN lease JSONB NOT NULL; -- run.Lease

-- Jobs are enqueued in many transactions: missing says how many are still to come. Of a
-- run that was stopped meanwhile none comes any more.
ALTER TABLE spread_runs ADD COLUMN missing BIGINT NOT NULL DEFAULT 0;
ALTER TABLE spread_runs ADD COLUMN outstanding BIGINT GENERATED ALWAYS AS (remaining - CASE WHEN stopped <> '' THEN missing ELSE 0 END) STORED;

-- Nothing looks into the arguments and metadata of jobs, and these indexes cost more than
-- all the rest of a job.
DROP INDEX IF EXISTS river_job_args_index;
DROP INDEX IF EXISTS river_job_metadata_index;
