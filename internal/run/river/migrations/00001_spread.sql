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

-- Asks for slots and budget for tries, in the order given. Each is answered by
-- "go", by "stop" with the reason (the trial is skipped), or by "wait"; after one
-- that has to wait, the others are not answered. Rows are always locked in one
-- order: provider, run, leases.
-- +goose StatementBegin
CREATE FUNCTION spread_reserve(p_run TEXT, p_worker TEXT, p_provider TEXT, p_keys TEXT[], p_reviewers TEXT[], p_most DOUBLE PRECISION[], p_hold INTERVAL)
RETURNS TABLE (verdict TEXT, why TEXT, wait_ms BIGINT) LANGUAGE plpgsql AS $$
DECLARE
    p spread_providers;
    r spread_runs;
    now_ TIMESTAMPTZ;
    stop TEXT;
    stops BOOLEAN;
    lost BOOLEAN;
    most_ DOUBLE PRECISION;
    granted BIGINT := 0;
    added DOUBLE PRECISION := 0;
BEGIN
    -- The lock first: what is read after it is read as those before us left it.
    SELECT * INTO p FROM spread_providers s WHERE s.provider = p_provider FOR UPDATE;
    SELECT * INTO r FROM spread_runs s WHERE s.run_id = p_run FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no run % is spread over workers', p_run;
    END IF;
    now_ := clock_timestamp();
    stops := EXISTS (SELECT FROM spread_stops s WHERE s.run_id = p_run);
    lost := EXISTS (SELECT FROM spread_leases s WHERE s.run_id = p_run AND s.trial_key = ANY(p_keys));
    FOR i IN 1 .. cardinality(p_keys) LOOP
        stop := r.stopped;
        most_ := greatest(p_most[i], (r.dearest->>p_reviewers[i])::float8);
        IF stop = '' AND stops THEN
            SELECT s.why INTO stop FROM spread_stops s WHERE s.run_id = p_run AND
                (s.scope = 'provider' AND s.name = p_provider OR s.scope = 'reviewer' AND s.name = p_reviewers[i]) LIMIT 1;
        END IF;
        wait_ms := 0; why := COALESCE(stop, '');
        IF why <> '' THEN
            verdict := 'stop';
        ELSIF p.until > now_ THEN
            verdict := 'wait'; wait_ms := ceil(extract(epoch FROM p.until - now_) * 1000);
        ELSIF p.in_flight + granted >= floor(p.slots) THEN
            verdict := 'wait';
        ELSIF most_ > 0 AND r.spent + r.reserved + added + most_ > r.budget + 1e-12 THEN
            IF r.reserved + added > 1e-12 THEN
                verdict := 'wait'; -- what is in flight may put something back
            ELSE
                verdict := 'stop';
                why := format('the budget of $%s is used up ($%s spent, the next one may cost $%s)',
                    round(r.budget::numeric, 2), round(r.spent::numeric, 4), round(most_::numeric, 4));
                INSERT INTO spread_stops (run_id, scope, name, why) VALUES (p_run, 'budget', '', spread_reserve.why) ON CONFLICT DO NOTHING;
            END IF;
        ELSE
            -- A lease that is there already is that of a worker that is gone.
            IF lost THEN
                PERFORM spread_charge_lost(p_run, p_keys[i]);
            END IF;
            INSERT INTO spread_leases VALUES (p_run, p_keys[i], p_provider, p_worker, p_reviewers[i], most_, p.sent + granted + 1, now_ + p_hold);
            granted := granted + 1;
            added := added + most_;
            verdict := 'go';
        END IF;
        RETURN NEXT;
        EXIT WHEN verdict = 'wait';
    END LOOP;
    IF granted > 0 THEN
        UPDATE spread_providers s SET in_flight = s.in_flight + granted, sent = s.sent + granted WHERE s.provider = p_provider;
        UPDATE spread_runs s SET reserved = s.reserved + added WHERE s.run_id = p_run;
    END IF;
END $$;
-- +goose StatementEnd

-- Takes back the lease of a try whose worker is gone. Nobody knows what the try
-- cost, so it is charged in full.
-- +goose StatementBegin
CREATE FUNCTION spread_charge_lost(p_run TEXT, p_key TEXT) RETURNS BOOLEAN LANGUAGE plpgsql AS $$
DECLARE l spread_leases;
BEGIN
    DELETE FROM spread_leases s WHERE s.run_id = p_run AND s.trial_key = p_key RETURNING * INTO l;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE spread_providers s SET in_flight = greatest(0, s.in_flight - 1) WHERE s.provider = l.provider;
    UPDATE spread_runs s SET reserved = s.reserved - l.most, spent = s.spent + l.most, unsure = s.unsure + l.most WHERE s.run_id = p_run;
    RETURN true;
END $$;
-- +goose StatementEnd

-- Settles tries that ended: their slots are free, and their reserve is replaced by
-- what they cost. The pace is that of internal/run: one slot more for every full
-- round that went well, half of them, once, for a burst of complaints.
-- +goose StatementBegin
CREATE FUNCTION spread_settle(p_run TEXT, p_worker TEXT, p_provider TEXT, p_keys TEXT[], p_cost DOUBLE PRECISION[], p_unsure DOUBLE PRECISION[],
    p_throttled BOOLEAN[], p_pause_ms BIGINT[], p_done BIGINT, p_retries BIGINT)
RETURNS BIGINT LANGUAGE plpgsql AS $$
DECLARE
    p spread_providers;
    r spread_runs;
    l spread_leases;
    left_ BIGINT;
BEGIN
    SELECT * INTO p FROM spread_providers s WHERE s.provider = p_provider FOR UPDATE;
    SELECT * INTO r FROM spread_runs s WHERE s.run_id = p_run FOR UPDATE;
    FOR i IN 1 .. cardinality(p_keys) LOOP
        DELETE FROM spread_leases s WHERE s.run_id = p_run AND s.trial_key = p_keys[i] AND s.worker = p_worker RETURNING * INTO l;
        IF NOT FOUND THEN
            CONTINUE; -- settled before, or taken for lost and charged in full
        END IF;
        p.in_flight := greatest(0, p.in_flight - 1);
        r.reserved := r.reserved - l.most;
        r.spent := r.spent + p_cost[i];
        r.unsure := r.unsure + p_unsure[i];
        IF p_cost[i] > l.most THEN
            r.over := r.over + p_cost[i] - l.most;
            r.dearest := r.dearest || jsonb_build_object(l.reviewer, p_cost[i]);
        END IF;
        IF NOT p_throttled[i] THEN
            p.slots := least(p.most, p.slots + 1 / p.slots);
            CONTINUE;
        END IF;
        IF l.number > p.lowered THEN
            p.slots := greatest(1, p.slots / 2);
            p.lowered := p.sent;
        END IF;
        p.until := greatest(p.until, clock_timestamp() + p_pause_ms[i] * INTERVAL '1 millisecond');
    END LOOP;
    UPDATE spread_providers s SET in_flight = p.in_flight, slots = p.slots, lowered = p.lowered, until = p.until WHERE s.provider = p_provider;
    UPDATE spread_runs s SET reserved = CASE WHEN abs(r.reserved) < 1e-9 THEN 0 ELSE r.reserved END, spent = r.spent, unsure = r.unsure, over = r.over, dearest = r.dearest,
        remaining = s.remaining - p_done, retries = s.retries + p_retries WHERE s.run_id = p_run RETURNING s.remaining INTO left_;
    RETURN left_;
END $$;
-- +goose StatementEnd

-- Takes back what a worker held that is gone, and all that expired.
-- +goose StatementBegin
CREATE FUNCTION spread_bury(p_worker TEXT) RETURNS BIGINT LANGUAGE plpgsql AS $$
DECLARE
    l RECORD;
    n BIGINT := 0;
BEGIN
    FOR l IN SELECT DISTINCT s.provider, s.run_id FROM spread_leases s WHERE s.worker = p_worker OR s.expires < now() ORDER BY 1, 2 LOOP
        PERFORM 1 FROM spread_providers s WHERE s.provider = l.provider FOR UPDATE;
    END LOOP;
    FOR l IN SELECT DISTINCT s.run_id FROM spread_leases s WHERE s.worker = p_worker OR s.expires < now() ORDER BY 1 LOOP
        PERFORM 1 FROM spread_runs s WHERE s.run_id = l.run_id FOR UPDATE;
    END LOOP;
    FOR l IN SELECT s.run_id, s.trial_key FROM spread_leases s WHERE s.worker = p_worker OR s.expires < now() ORDER BY 1, 2 LOOP
        IF spread_charge_lost(l.run_id, l.trial_key) THEN
            n := n + 1;
        END IF;
    END LOOP;
    RETURN n;
END $$;
-- +goose StatementEnd
