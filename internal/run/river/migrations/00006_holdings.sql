-- +goose Up
-- What a worker has under way of a run at a provider: so many tries, and the most that they may
-- cost together. It is charged when the worker is gone.
CREATE TABLE spread_holdings (
    run_id TEXT NOT NULL,
    provider TEXT NOT NULL,
    worker TEXT NOT NULL,
    turn BIGINT NOT NULL,               -- the worker's last one that was committed
    tries BIGINT NOT NULL,
    most DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (run_id, provider, worker)
) WITH (fillfactor = 50);
INSERT INTO spread_holdings SELECT run_id, provider, worker, 0, count(*), sum((lease->>'Most')::double precision) FROM spread_leases GROUP BY 1, 2, 3;
DROP TABLE spread_leases;
