--- round-today good
SELECT rs.seq, sp.id AS supply_point_id, sp.meter_serial, sp.address, sp.fuel,
       prev.read_on AS last_read_on, prev.value AS last_value
FROM agent me
JOIN utility u        ON u.id = me.utility_id
JOIN round_stop rs    ON rs.agent_id = me.id
                     AND rs.day = (now() AT TIME ZONE u.tz)::date
JOIN supply_point sp  ON sp.id = rs.supply_point_id
                     AND sp.utility_id = me.utility_id
                     AND sp.removed_at IS NULL
LEFT JOIN LATERAL (
    SELECT r.read_on, r.value
    FROM reading r
    WHERE r.supply_point_id = sp.id
      AND r.state = 'accepted'
      AND r.voided_at IS NULL
    ORDER BY r.read_on DESC
    LIMIT 1
) prev ON true
WHERE me.id = :me
  AND me.utility_id = :utility
ORDER BY rs.seq, rs.id
LIMIT LEAST(:page_size::int, 100) OFFSET :skip::int;

--- round-today good
WITH today AS (
    SELECT (now() AT TIME ZONE tz)::date AS day FROM utility WHERE id = :utility
), stops AS (
    SELECT rs.id, rs.seq, sp.id AS sp_id, sp.meter_serial, sp.address, sp.fuel
    FROM round_stop rs
    JOIN today t         ON t.day = rs.day
    JOIN supply_point sp ON sp.id = rs.supply_point_id
    WHERE rs.agent_id = :me
      AND sp.utility_id = :utility
      AND sp.removed_at IS NULL
), ranked AS (
    SELECT r.supply_point_id, r.read_on, r.value,
           row_number() OVER (PARTITION BY r.supply_point_id ORDER BY r.read_on DESC, r.id DESC) AS nth
    FROM reading r
    WHERE r.supply_point_id IN (SELECT sp_id FROM stops)
      AND r.voided_at IS NULL
      AND r.state = 'accepted'
)
SELECT s.seq, s.sp_id AS supply_point_id, s.meter_serial, s.address, s.fuel,
       k.read_on AS last_read_on, k.value AS last_value
FROM stops s
LEFT JOIN ranked k ON k.supply_point_id = s.sp_id AND k.nth = 1
WHERE (s.seq, s.id) > (COALESCE(:after_seq::int, -1), COALESCE(:after_id::bigint, 0))
ORDER BY s.seq, s.id
FETCH FIRST 60 ROWS ONLY;

--- round-today bad 4
WITH stops AS (
    SELECT rs.id, rs.seq, sp.id AS sp_id, sp.meter_serial, sp.address, sp.fuel
    FROM round_stop rs
    JOIN supply_point sp ON sp.id = rs.supply_point_id
    WHERE rs.agent_id = :me
      AND rs.day = current_date
      AND sp.utility_id = :utility
      AND sp.removed_at IS NULL
), ranked AS (
    SELECT r.supply_point_id, r.read_on, r.value,
           row_number() OVER (PARTITION BY r.supply_point_id ORDER BY r.read_on DESC, r.id DESC) AS nth
    FROM reading r
    WHERE r.supply_point_id IN (SELECT sp_id FROM stops)
      AND r.voided_at IS NULL
      AND r.state = 'accepted'
)
SELECT s.seq, s.sp_id AS supply_point_id, s.meter_serial, s.address, s.fuel,
       k.read_on AS last_read_on, k.value AS last_value
FROM stops s
LEFT JOIN ranked k ON k.supply_point_id = s.sp_id AND k.nth = 1
ORDER BY s.seq, s.id
LIMIT LEAST(:page_size::int, 100) OFFSET :skip::int;

--- round-today bad 8
SELECT rs.seq, sp.id AS supply_point_id, sp.meter_serial, sp.address, sp.fuel,
       prev.read_on AS last_read_on, prev.value AS last_value
FROM agent me
JOIN utility u        ON u.id = me.utility_id
JOIN round_stop rs    ON rs.agent_id = me.id
                     AND rs.day = (now() AT TIME ZONE u.tz)::date
JOIN supply_point sp  ON sp.id = rs.supply_point_id
                     AND sp.utility_id = me.utility_id
                     AND sp.removed_at IS NULL
LEFT JOIN LATERAL (
    SELECT r.read_on, r.value
    FROM reading r
    WHERE r.supply_point_id = sp.id
      AND r.state <> 'rejected'
      AND r.voided_at IS NULL
    ORDER BY r.read_on DESC, r.id DESC
    LIMIT 1
) prev ON true
WHERE me.id = :me
  AND me.utility_id = :utility
ORDER BY rs.seq, rs.id
LIMIT LEAST(:page_size::int, 100) OFFSET :skip::int;

--- round-today bad 4
SELECT rs.seq, sp.id AS supply_point_id, sp.meter_serial, sp.address, sp.fuel,
       CASE WHEN NOT acc.protected THEN acc.holder_name END AS ask_for,
       prev.read_on AS last_read_on, prev.value AS last_value
FROM agent me
JOIN utility u        ON u.id = me.utility_id
JOIN round_stop rs    ON rs.agent_id = me.id
                     AND rs.day = (now() AT TIME ZONE u.tz)::date
JOIN supply_point sp  ON sp.id = rs.supply_point_id
                     AND sp.utility_id = me.utility_id
                     AND sp.removed_at IS NULL
LEFT JOIN supply s    ON s.supply_point_id = sp.id AND s.during @> rs.day
LEFT JOIN account acc ON acc.id = s.account_id AND acc.erased_at IS NULL
LEFT JOIN LATERAL (
    SELECT r.read_on, r.value
    FROM reading r
    WHERE r.supply_point_id = sp.id
      AND r.state = 'accepted'
      AND r.voided_at IS NULL
    ORDER BY r.read_on DESC
    LIMIT 1
) prev ON true
WHERE me.id = :me
  AND me.utility_id = :utility
ORDER BY rs.seq, rs.id
LIMIT LEAST(:page_size::int, 100) OFFSET :skip::int;

--- household-bills good
SELECT b.id, acc.number AS account_number, lower(b.period) AS from_day, upper(b.period) - 1 AS to_day,
       b.amount, b.due_on, b.state, live.state AS dispute_state, live.raised_at AS disputed_at
FROM bill b
JOIN account acc ON acc.id = b.account_id
LEFT JOIN LATERAL (
    SELECT d.state, d.raised_at
    FROM dispute d
    WHERE d.bill_id = b.id
    ORDER BY d.raised_at DESC, d.id DESC
    LIMIT 1
) live ON true
WHERE acc.utility_id = :utility
  AND acc.erased_at IS NULL
  AND b.state <> 'draft'
  AND EXISTS (
        SELECT 1 FROM mandate m
        WHERE m.account_id = acc.id
          AND m.person_id = :person
          AND m.revoked_at IS NULL
          AND m.valid @> now())
ORDER BY b.due_on DESC, b.id DESC
LIMIT LEAST(:page_size::int, 100) OFFSET :skip::int;

--- household-bills good
WITH mine AS (
    SELECT DISTINCT acc.id, acc.number
    FROM mandate m
    JOIN account acc ON acc.id = m.account_id
    WHERE m.person_id = :person
      AND now() <@ m.valid
      AND m.revoked_at IS NULL
      AND acc.utility_id = :utility
      AND acc.erased_at IS NULL
), latest_dispute AS (
    SELECT DISTINCT ON (d.bill_id) d.bill_id, d.state, d.raised_at
    FROM dispute d
    JOIN bill b ON b.id = d.bill_id
    WHERE b.account_id IN (SELECT id FROM mine)
    ORDER BY d.bill_id, d.raised_at DESC, d.id DESC
)
SELECT b.id, mine.number AS account_number, lower(b.period) AS from_day, upper(b.period) - 1 AS to_day,
       b.amount, b.due_on, b.state, l.state AS dispute_state, l.raised_at AS disputed_at,
       count(*) OVER (PARTITION BY mine.id) AS bills_on_account
FROM mine
JOIN bill b ON b.account_id = mine.id AND b.state IN ('issued', 'paid', 'cancelled')
LEFT JOIN latest_dispute l ON l.bill_id = b.id
WHERE :account::bigint IS NULL OR mine.id = :account::bigint
ORDER BY b.due_on DESC, b.id DESC
LIMIT CASE WHEN :page_size::int BETWEEN 1 AND 100 THEN :page_size::int ELSE 25 END;

--- household-bills bad 2
SELECT b.id, acc.number AS account_number, lower(b.period) AS from_day, upper(b.period) - 1 AS to_day,
       b.amount, b.due_on, b.state, live.state AS dispute_state, live.raised_at AS disputed_at
FROM bill b
JOIN account acc ON acc.id = b.account_id
LEFT JOIN LATERAL (
    SELECT d.state, d.raised_at
    FROM dispute d
    WHERE d.bill_id = b.id
    ORDER BY d.raised_at DESC, d.id DESC
    LIMIT 1
) live ON true
WHERE acc.utility_id = :utility
  AND acc.erased_at IS NULL
  AND b.state <> 'draft'
  AND EXISTS (
        SELECT 1 FROM mandate m
        WHERE m.account_id = acc.id
          AND m.person_id = :person
          AND m.revoked_at IS NULL
          AND lower(m.valid) <= now())
ORDER BY b.due_on DESC, b.id DESC
LIMIT LEAST(:page_size::int, 100) OFFSET :skip::int;

--- household-bills bad 1
WITH mine AS (
    SELECT DISTINCT acc.id, acc.number
    FROM mandate m
    JOIN account acc ON acc.id = m.account_id
    WHERE m.person_id = :person
      AND now() <@ m.valid
      AND m.revoked_at IS NULL
      AND acc.erased_at IS NULL
), latest_dispute AS (
    SELECT DISTINCT ON (d.bill_id) d.bill_id, d.state, d.raised_at
    FROM dispute d
    JOIN bill b ON b.id = d.bill_id
    WHERE b.account_id IN (SELECT id FROM mine)
    ORDER BY d.bill_id, d.raised_at DESC, d.id DESC
)
SELECT b.id, mine.number AS account_number, lower(b.period) AS from_day, upper(b.period) - 1 AS to_day,
       b.amount, b.due_on, b.state, l.state AS dispute_state, l.raised_at AS disputed_at
FROM mine
JOIN bill b ON b.account_id = mine.id AND b.state IN ('issued', 'paid', 'cancelled')
LEFT JOIN latest_dispute l ON l.bill_id = b.id
ORDER BY b.due_on DESC, b.id DESC
LIMIT LEAST(:page_size::int, 100) OFFSET :skip::int;

--- household-bills bad 7
WITH mine AS (
    SELECT DISTINCT acc.id, acc.number
    FROM mandate m
    JOIN account acc ON acc.id = m.account_id
    WHERE m.person_id = :person
      AND now() <@ m.valid
      AND m.revoked_at IS NULL
      AND acc.utility_id = :utility
      AND acc.erased_at IS NULL
), latest_dispute AS (
    SELECT DISTINCT ON (d.bill_id) d.bill_id, d.state, d.raised_at
    FROM dispute d
    JOIN bill b ON b.id = d.bill_id
    WHERE b.account_id IN (SELECT id FROM mine)
    ORDER BY d.bill_id, d.raised_at DESC, d.id DESC
)
SELECT b.id, mine.number AS account_number, lower(b.period) AS from_day, upper(b.period) - 1 AS to_day,
       b.amount, b.due_on, b.state, l.state AS dispute_state, l.raised_at AS disputed_at
FROM mine
JOIN bill b ON b.account_id = mine.id AND b.state IN ('issued', 'paid', 'cancelled')
LEFT JOIN latest_dispute l ON l.bill_id = b.id
ORDER BY b.due_on DESC, b.id DESC
LIMIT COALESCE(:page_size::int, 100) OFFSET COALESCE(:skip::int, 0);

--- consumption good
WITH readings AS (
    SELECT s.id AS supply_id, sp.meter_serial, sp.fuel, r.read_on, r.value,
           lag(r.value) OVER (PARTITION BY s.id ORDER BY r.read_on) AS prev_value
    FROM account acc
    JOIN supply s        ON s.account_id = acc.id
    JOIN supply_point sp ON sp.id = s.supply_point_id AND sp.removed_at IS NULL
    JOIN reading r       ON r.supply_point_id = sp.id
                        AND s.during @> r.read_on
                        AND r.state = 'accepted'
                        AND r.voided_at IS NULL
    WHERE acc.id = :account
      AND acc.utility_id = :utility
      AND acc.erased_at IS NULL
      AND EXISTS (SELECT 1 FROM mandate m
                  WHERE m.account_id = acc.id AND m.person_id = :person
                    AND m.valid @> now() AND m.revoked_at IS NULL)
)
SELECT date_trunc('month', read_on)::date AS month, fuel, meter_serial,
       sum(value - prev_value) AS used, count(*) AS readings
FROM readings
WHERE prev_value IS NOT NULL
  AND read_on >= COALESCE(:since::date, 'epoch'::date)
GROUP BY 1, supply_id, fuel, meter_serial
ORDER BY month DESC, supply_id
LIMIT LEAST(:page_size::int, 100);

--- consumption good
SELECT sp.fuel, sp.meter_serial, r.read_on, r.value,
       r.value - before.value AS used, r.read_on - before.read_on AS days
FROM mandate m
JOIN account acc     ON acc.id = m.account_id
JOIN supply s        ON s.account_id = acc.id
JOIN supply_point sp ON sp.id = s.supply_point_id
JOIN reading r       ON r.supply_point_id = sp.id
CROSS JOIN LATERAL (
    SELECT p.value, p.read_on
    FROM reading p
    WHERE p.supply_point_id = r.supply_point_id
      AND p.read_on < r.read_on
      AND p.read_on <@ s.during
      AND p.state = 'accepted'
      AND p.voided_at IS NULL
    ORDER BY p.read_on DESC
    LIMIT 1
) before
WHERE m.id = (SELECT min(m2.id) FROM mandate m2
              WHERE m2.account_id = :account AND m2.person_id = :person
                AND m2.revoked_at IS NULL AND m2.valid @> now())
  AND acc.utility_id = :utility
  AND acc.erased_at IS NULL
  AND sp.removed_at IS NULL
  AND r.read_on <@ s.during
  AND r.state = 'accepted'
  AND r.voided_at IS NULL
ORDER BY r.read_on DESC, r.id DESC
LIMIT 50;

--- consumption bad 3
WITH readings AS (
    SELECT s.id AS supply_id, sp.meter_serial, sp.fuel, r.read_on, r.value,
           lag(r.value) OVER (PARTITION BY s.id ORDER BY r.read_on) AS prev_value
    FROM account acc
    JOIN supply s        ON s.account_id = acc.id
    JOIN supply_point sp ON sp.id = s.supply_point_id AND sp.removed_at IS NULL
    JOIN reading r       ON r.supply_point_id = sp.id
                        AND r.read_on >= lower(s.during)
                        AND r.state = 'accepted'
                        AND r.voided_at IS NULL
    WHERE acc.id = :account
      AND acc.utility_id = :utility
      AND acc.erased_at IS NULL
      AND EXISTS (SELECT 1 FROM mandate m
                  WHERE m.account_id = acc.id AND m.person_id = :person
                    AND m.valid @> now() AND m.revoked_at IS NULL)
)
SELECT date_trunc('month', read_on)::date AS month, fuel, meter_serial,
       sum(value - prev_value) AS used, count(*) AS readings
FROM readings
WHERE prev_value IS NOT NULL
  AND read_on >= COALESCE(:since::date, 'epoch'::date)
GROUP BY 1, supply_id, fuel, meter_serial
ORDER BY month DESC, supply_id
LIMIT LEAST(:page_size::int, 100);

--- consumption bad 3
SELECT sp.fuel, sp.meter_serial, r.read_on, r.value,
       r.value - before.value AS used, r.read_on - before.read_on AS days
FROM account acc
JOIN supply s        ON s.account_id = acc.id
JOIN supply_point sp ON sp.id = s.supply_point_id
JOIN reading r       ON r.supply_point_id = sp.id
CROSS JOIN LATERAL (
    SELECT p.value, p.read_on
    FROM reading p
    WHERE p.supply_point_id = r.supply_point_id
      AND p.read_on < r.read_on
      AND p.state = 'accepted'
      AND p.voided_at IS NULL
    ORDER BY p.read_on DESC
    LIMIT 1
) before
WHERE acc.id = :account
  AND acc.utility_id = :utility
  AND acc.erased_at IS NULL
  AND sp.removed_at IS NULL
  AND r.read_on <@ s.during
  AND r.state = 'accepted'
  AND r.voided_at IS NULL
  AND EXISTS (SELECT 1 FROM mandate m
              WHERE m.account_id = acc.id AND m.person_id = :person
                AND m.revoked_at IS NULL AND m.valid @> now())
ORDER BY r.read_on DESC, r.id DESC
LIMIT LEAST(:page_size::int, 100);

--- consumption bad 6
WITH readings AS (
    SELECT s.id AS supply_id, sp.meter_serial, sp.fuel, r.read_on, r.value,
           lag(r.value) OVER (PARTITION BY s.id ORDER BY r.read_on, r.id) AS prev_value
    FROM account acc
    JOIN supply s        ON s.account_id = acc.id
    JOIN supply_point sp ON sp.id = s.supply_point_id AND sp.removed_at IS NULL
    JOIN reading r       ON r.supply_point_id = sp.id
                        AND s.during @> r.read_on
                        AND r.state = 'accepted'
    WHERE acc.id = :account
      AND acc.utility_id = :utility
      AND acc.erased_at IS NULL
      AND EXISTS (SELECT 1 FROM mandate m
                  WHERE m.account_id = acc.id AND m.person_id = :person
                    AND m.valid @> now() AND m.revoked_at IS NULL)
)
SELECT date_trunc('month', read_on)::date AS month, fuel, meter_serial,
       sum(value - prev_value) AS used, count(*) AS readings
FROM readings
WHERE prev_value IS NOT NULL
GROUP BY 1, supply_id, fuel, meter_serial
ORDER BY month DESC, supply_id
LIMIT LEAST(:page_size::int, 100);

--- account-search good
WITH me AS (
    SELECT a.utility_id, a.role = 'supervisor' AS sees_protected, (now() AT TIME ZONE u.tz)::date AS today
    FROM agent a
    JOIN utility u ON u.id = a.utility_id
    WHERE a.id = :me AND a.utility_id = :utility AND a.role IN ('clerk', 'supervisor')
)
SELECT acc.id, acc.number,
       CASE WHEN me.sees_protected OR NOT acc.protected THEN acc.holder_name END AS holder_name,
       CASE WHEN me.sees_protected OR NOT acc.protected THEN acc.phone END AS phone,
       CASE WHEN me.sees_protected OR NOT acc.protected THEN acc.email END AS email,
       acc.closed_on, meters.serials
FROM me
JOIN account acc ON acc.utility_id = me.utility_id AND acc.erased_at IS NULL
LEFT JOIN LATERAL (
    SELECT array_agg(sp.meter_serial ORDER BY sp.id) AS serials
    FROM supply s
    JOIN supply_point sp ON sp.id = s.supply_point_id AND sp.removed_at IS NULL
    WHERE s.account_id = acc.id AND s.during @> me.today
) meters ON true
WHERE acc.number = :q
   OR ((me.sees_protected OR NOT acc.protected)
       AND (strpos(lower(acc.holder_name), lower(:q)) > 0
            OR lower(acc.email) = lower(:q)
            OR acc.phone = :q))
ORDER BY acc.number, acc.id
LIMIT LEAST(:page_size::int, 100) OFFSET :skip::int;

--- account-search good
SELECT acc.id, acc.number, acc.holder_name, acc.phone, acc.email, acc.closed_on,
       (SELECT string_agg(sp.address, '; ' ORDER BY sp.id)
          FROM supply s
          JOIN supply_point sp ON sp.id = s.supply_point_id
         WHERE s.account_id = acc.id AND sp.removed_at IS NULL AND upper_inf(s.during)) AS addresses
FROM account acc
WHERE acc.utility_id = :utility
  AND acc.erased_at IS NULL
  AND EXISTS (SELECT 1 FROM agent me
              WHERE me.id = :me
                AND me.utility_id = acc.utility_id
                AND (me.role = 'supervisor' OR (me.role = 'clerk' AND NOT acc.protected)))
  AND (acc.holder_name ILIKE '%' || regexp_replace(:q, '([\\%_])', '\\\1', 'g') || '%' ESCAPE '\'
       OR starts_with(acc.number, :q))
  AND acc.id > COALESCE(:after_id::bigint, 0)
ORDER BY acc.id
LIMIT 40;

--- account-search bad 5
WITH me AS (
    SELECT a.utility_id, a.role = 'supervisor' AS sees_protected, (now() AT TIME ZONE u.tz)::date AS today
    FROM agent a
    JOIN utility u ON u.id = a.utility_id
    WHERE a.id = :me AND a.utility_id = :utility AND a.role IN ('clerk', 'supervisor')
)
SELECT acc.id, acc.number,
       CASE WHEN me.sees_protected OR NOT acc.protected THEN acc.holder_name END AS holder_name,
       CASE WHEN me.sees_protected OR NOT acc.protected THEN acc.phone END AS phone,
       CASE WHEN me.sees_protected OR NOT acc.protected THEN acc.email END AS email,
       acc.closed_on, meters.serials
FROM me
JOIN account acc ON acc.utility_id = me.utility_id AND acc.erased_at IS NULL
LEFT JOIN LATERAL (
    SELECT array_agg(sp.meter_serial ORDER BY sp.id) AS serials
    FROM supply s
    JOIN supply_point sp ON sp.id = s.supply_point_id AND sp.removed_at IS NULL
    WHERE s.account_id = acc.id AND s.during @> me.today
) meters ON true
WHERE acc.number = :q
   OR strpos(lower(acc.holder_name), lower(:q)) > 0
   OR lower(acc.email) = lower(:q)
   OR acc.phone = :q
ORDER BY acc.number, acc.id
LIMIT LEAST(:page_size::int, 100) OFFSET :skip::int;

--- account-search bad 13
SELECT acc.id, acc.number, acc.holder_name, acc.phone, acc.email, acc.closed_on,
       (SELECT string_agg(sp.address, '; ' ORDER BY sp.id)
          FROM supply s
          JOIN supply_point sp ON sp.id = s.supply_point_id
         WHERE s.account_id = acc.id AND sp.removed_at IS NULL AND upper_inf(s.during)) AS addresses
FROM account acc
WHERE acc.utility_id = :utility
  AND acc.erased_at IS NULL
  AND EXISTS (SELECT 1 FROM agent me
              WHERE me.id = :me
                AND me.utility_id = acc.utility_id
                AND (me.role = 'supervisor' OR (me.role = 'clerk' AND NOT acc.protected)))
  AND (acc.holder_name ILIKE '%' || :q || '%' OR starts_with(acc.number, :q))
  AND acc.id > COALESCE(:after_id::bigint, 0)
ORDER BY acc.id
LIMIT LEAST(:page_size::int, 100);

--- account-search bad 4
SELECT acc.id, acc.number,
       CASE WHEN me.role = 'supervisor' OR NOT acc.protected THEN acc.holder_name END AS holder_name,
       CASE WHEN me.role = 'supervisor' OR NOT acc.protected THEN acc.phone END AS phone,
       acc.closed_on, meters.serials
FROM agent me
JOIN utility u   ON u.id = me.utility_id
JOIN account acc ON acc.utility_id = u.id AND acc.erased_at IS NULL
LEFT JOIN LATERAL (
    SELECT array_agg(sp.meter_serial ORDER BY sp.id) AS serials
    FROM supply s
    JOIN supply_point sp ON sp.id = s.supply_point_id AND sp.removed_at IS NULL
    WHERE s.account_id = acc.id
      AND s.during @> (now() AT TIME ZONE u.tz)::date
) meters ON true
WHERE me.id = :me
  AND me.utility_id = :utility
  AND (acc.number = :q
       OR ((me.role = 'supervisor' OR NOT acc.protected)
           AND strpos(lower(acc.holder_name), lower(:q)) > 0))
ORDER BY acc.number, acc.id
LIMIT LEAST(:page_size::int, 100) OFFSET :skip::int;

--- chase-list good
WITH me AS (
    SELECT a.role, (now() AT TIME ZONE u.tz)::date AS today
    FROM agent a JOIN utility u ON u.id = a.utility_id
    WHERE a.id = :me AND u.id = :utility AND a.role IN ('clerk', 'supervisor')
), owed AS (
    SELECT b.account_id, count(*) AS bills, sum(b.amount) AS total, min(b.due_on) AS oldest
    FROM me
    JOIN account a ON a.utility_id = :utility AND a.erased_at IS NULL
    JOIN bill b    ON b.account_id = a.id
    WHERE b.state = 'issued'
      AND b.due_on < me.today
      AND NOT EXISTS (SELECT 1 FROM dispute d
                      WHERE d.bill_id = b.id AND d.state IN ('open', 'investigating'))
    GROUP BY b.account_id
)
SELECT acc.id AS account_id, acc.number,
       CASE WHEN NOT acc.protected OR me.role = 'supervisor' THEN acc.holder_name END AS holder_name,
       CASE WHEN NOT acc.protected OR me.role = 'supervisor' THEN acc.phone END AS phone,
       o.bills, o.total, o.oldest
FROM owed o
CROSS JOIN me
JOIN account acc ON acc.id = o.account_id
WHERE acc.utility_id = :utility
  AND acc.erased_at IS NULL
  AND o.total >= COALESCE(:at_least::numeric, 0)
ORDER BY ${sortColumn} ${direction}, account_id
LIMIT LEAST(:page_size::int, 100) OFFSET :skip::int;

--- chase-list good
SELECT acc.id AS account_id, acc.number, acc.holder_name, acc.email,
       count(*) AS bills, sum(b.amount) AS total, min(b.due_on) AS oldest,
       jsonb_agg(jsonb_build_object('bill', b.id, 'amount', b.amount, 'due', b.due_on) ORDER BY b.due_on, b.id) AS detail
FROM agent me
JOIN utility u   ON u.id = me.utility_id
JOIN account acc ON acc.utility_id = me.utility_id
JOIN bill b      ON b.account_id = acc.id
LEFT JOIN dispute live ON live.bill_id = b.id AND live.state = ANY (ARRAY['open', 'investigating']::dispute_state[])
WHERE me.id = :me
  AND me.utility_id = :utility
  AND (me.role = 'supervisor' OR me.role = 'clerk' AND NOT acc.protected)
  AND acc.erased_at IS NULL
  AND b.state = 'issued'
  AND b.due_on < (now() AT TIME ZONE u.tz)::date
  AND live.id IS NULL
GROUP BY acc.id
HAVING sum(b.amount) >= COALESCE(:at_least::numeric, 0)
ORDER BY min(b.due_on), acc.id
LIMIT LEAST(GREATEST(:page_size::int, 1), 100);

--- chase-list bad 9
WITH me AS (
    SELECT a.role, (now() AT TIME ZONE u.tz)::date AS today
    FROM agent a JOIN utility u ON u.id = a.utility_id
    WHERE a.id = :me AND u.id = :utility AND a.role IN ('clerk', 'supervisor')
), last_dispute AS (
    SELECT DISTINCT ON (d.bill_id) d.bill_id, d.state
    FROM dispute d
    ORDER BY d.bill_id, d.raised_at DESC, d.id DESC
), owed AS (
    SELECT b.account_id, count(*) AS bills, sum(b.amount) AS total, min(b.due_on) AS oldest
    FROM me
    JOIN account a ON a.utility_id = :utility AND a.erased_at IS NULL
    JOIN bill b    ON b.account_id = a.id
    LEFT JOIN last_dispute ld ON ld.bill_id = b.id
    WHERE b.state = 'issued'
      AND b.due_on < me.today
      AND ld.state IS DISTINCT FROM 'open'
    GROUP BY b.account_id
)
SELECT acc.id AS account_id, acc.number,
       CASE WHEN NOT acc.protected OR me.role = 'supervisor' THEN acc.holder_name END AS holder_name,
       CASE WHEN NOT acc.protected OR me.role = 'supervisor' THEN acc.phone END AS phone,
       o.bills, o.total, o.oldest
FROM owed o
CROSS JOIN me
JOIN account acc ON acc.id = o.account_id
WHERE acc.utility_id = :utility
  AND acc.erased_at IS NULL
ORDER BY ${sortColumn} ${direction}, account_id
LIMIT LEAST(:page_size::int, 100) OFFSET :skip::int;

--- chase-list bad 5
SELECT to_jsonb(acc) - 'bank_ref' - 'protected' AS account,
       count(*) AS bills, sum(b.amount) AS total, min(b.due_on) AS oldest
FROM agent me
JOIN utility u   ON u.id = me.utility_id
JOIN account acc ON acc.utility_id = me.utility_id
JOIN bill b      ON b.account_id = acc.id
LEFT JOIN dispute live ON live.bill_id = b.id AND live.state = ANY (ARRAY['open', 'investigating']::dispute_state[])
WHERE me.id = :me
  AND me.utility_id = :utility
  AND (me.role = 'supervisor' OR me.role = 'clerk' AND NOT acc.protected)
  AND acc.erased_at IS NULL
  AND b.state = 'issued'
  AND b.due_on < (now() AT TIME ZONE u.tz)::date
  AND live.id IS NULL
GROUP BY acc.id
HAVING sum(b.amount) >= COALESCE(:at_least::numeric, 0)
ORDER BY min(b.due_on), acc.id
LIMIT LEAST(:page_size::int, 100);

--- chase-list bad 13
WITH me AS (
    SELECT a.role, (now() AT TIME ZONE u.tz)::date AS today
    FROM agent a JOIN utility u ON u.id = a.utility_id
    WHERE a.id = :me AND u.id = :utility AND a.role IN ('clerk', 'supervisor')
), owed AS (
    SELECT b.account_id, count(*) AS bills, sum(b.amount) AS total, min(b.due_on) AS oldest
    FROM me
    JOIN account a ON a.utility_id = :utility AND a.erased_at IS NULL
    JOIN bill b    ON b.account_id = a.id
    WHERE b.state = 'issued'
      AND b.due_on < me.today - interval '${minDaysLate} days'
      AND NOT EXISTS (SELECT 1 FROM dispute d
                      WHERE d.bill_id = b.id AND d.state IN ('open', 'investigating'))
    GROUP BY b.account_id
)
SELECT acc.id AS account_id, acc.number,
       CASE WHEN NOT acc.protected OR me.role = 'supervisor' THEN acc.holder_name END AS holder_name,
       CASE WHEN NOT acc.protected OR me.role = 'supervisor' THEN acc.phone END AS phone,
       o.bills, o.total, o.oldest
FROM owed o
CROSS JOIN me
JOIN account acc ON acc.id = o.account_id
WHERE acc.utility_id = :utility
  AND acc.erased_at IS NULL
ORDER BY ${sortColumn} ${direction}, account_id
LIMIT LEAST(:page_size::int, 100) OFFSET :skip::int;

--- tariff-quote good
SELECT t.code, t.label, t.unit_price, t.standing_charge,
       round(t.unit_price * :yearly_units::numeric + t.standing_charge * 365, 2) AS yearly_cost,
       upper(t.in_force) AS until
FROM tariff t
JOIN utility u ON u.id = t.utility_id
WHERE u.id = :utility
  AND t.fuel = :fuel
  AND t.published_at <= now()
  AND t.withdrawn_at IS NULL
  AND t.in_force @> (now() AT TIME ZONE u.tz)::date
ORDER BY yearly_cost, t.id
LIMIT LEAST(:page_size::int, 100);

--- tariff-quote good
WITH asked AS (
    SELECT u.id AS utility_id, COALESCE(:on_day::date, (now() AT TIME ZONE u.tz)::date) AS day
    FROM utility u
    WHERE u.id = :utility
      AND COALESCE(:on_day::date, '-infinity'::date) <= (now() AT TIME ZONE u.tz)::date
), priced AS (
    SELECT t.id, t.code, t.label, t.unit_price, t.standing_charge,
           t.unit_price * :yearly_units::numeric + t.standing_charge * 365 AS yearly
    FROM asked a
    JOIN tariff t ON t.utility_id = a.utility_id AND a.day <@ t.in_force
    WHERE t.fuel = :fuel
      AND t.withdrawn_at IS NULL
      AND t.published_at IS NOT NULL AND t.published_at <= now()
)
SELECT p.code, p.label, p.unit_price, p.standing_charge, round(p.yearly, 2) AS yearly_cost,
       round(p.yearly - min(p.yearly) OVER (), 2) AS above_cheapest,
       dense_rank() OVER (ORDER BY p.yearly) AS place
FROM priced p
ORDER BY p.yearly, p.id
LIMIT 100;

--- tariff-quote bad 10
SELECT t.code, t.label, t.unit_price, t.standing_charge,
       round(t.unit_price * :yearly_units::numeric + t.standing_charge * 365, 2) AS yearly_cost,
       upper(t.in_force) AS until
FROM tariff t
JOIN utility u ON u.id = t.utility_id
WHERE u.id = :utility
  AND t.fuel = :fuel
  AND t.published_at IS NOT NULL
  AND t.withdrawn_at IS NULL
  AND t.in_force @> (now() AT TIME ZONE u.tz)::date
ORDER BY yearly_cost, t.id
LIMIT LEAST(:page_size::int, 100);

--- tariff-quote bad 5
WITH asked AS (
    SELECT u.id AS utility_id, (now() AT TIME ZONE u.tz)::date AS day
    FROM utility u
    WHERE u.id = :utility
), priced AS (
    SELECT t.id, t.code, t.label, t.unit_price, t.standing_charge,
           t.unit_price * :yearly_units::numeric + t.standing_charge * 365 AS yearly,
           round(100 * (t.unit_price - t.wholesale_cost) / nullif(t.unit_price, 0)) AS fairness_score
    FROM asked a
    JOIN tariff t ON t.utility_id = a.utility_id AND a.day <@ t.in_force
    WHERE t.fuel = :fuel
      AND t.withdrawn_at IS NULL
      AND t.published_at <= now()
)
SELECT p.code, p.label, p.unit_price, p.standing_charge, round(p.yearly, 2) AS yearly_cost,
       p.fairness_score,
       dense_rank() OVER (ORDER BY p.yearly) AS place
FROM priced p
ORDER BY p.yearly, p.id
LIMIT LEAST(:page_size::int, 100);

--- tariff-quote bad 10
WITH asked AS (
    SELECT u.id AS utility_id, COALESCE(:on_day::date, (now() AT TIME ZONE u.tz)::date) AS day
    FROM utility u
    WHERE u.id = :utility
), priced AS (
    SELECT t.id, t.code, t.label, t.unit_price, t.standing_charge,
           t.unit_price * :yearly_units::numeric + t.standing_charge * 365 AS yearly
    FROM asked a
    JOIN tariff t ON t.utility_id = a.utility_id AND a.day <@ t.in_force
    WHERE t.fuel = :fuel
      AND t.withdrawn_at IS NULL
      AND t.published_at <= now()
)
SELECT p.code, p.label, p.unit_price, p.standing_charge, round(p.yearly, 2) AS yearly_cost,
       round(p.yearly - min(p.yearly) OVER (), 2) AS above_cheapest
FROM priced p
ORDER BY p.yearly, p.id
LIMIT 100;

--- submit-reading good
INSERT INTO reading (supply_point_id, read_on, value, by_person)
SELECT sp.id, :read_on::date, :value::numeric, :person
FROM supply_point sp
JOIN utility u ON u.id = sp.utility_id
WHERE sp.id = :supply_point
  AND sp.utility_id = :utility
  AND sp.removed_at IS NULL
  AND :read_on::date <= (now() AT TIME ZONE u.tz)::date
  AND EXISTS (
        SELECT 1
        FROM supply s
        JOIN account acc ON acc.id = s.account_id AND acc.erased_at IS NULL
        JOIN mandate m   ON m.account_id = acc.id
        WHERE s.supply_point_id = sp.id
          AND s.during @> :read_on::date
          AND m.person_id = :person
          AND m.kind IN ('holder', 'actor')
          AND m.revoked_at IS NULL
          AND m.valid @> now())
  AND NOT EXISTS (
        SELECT 1
        FROM (SELECT r.value FROM reading r
              WHERE r.supply_point_id = sp.id
                AND r.state = 'accepted' AND r.voided_at IS NULL
                AND r.read_on <= :read_on::date
              ORDER BY r.read_on DESC LIMIT 1) latest
        WHERE latest.value > :value::numeric)
RETURNING id, read_on, value, state;

--- submit-reading good
CREATE FUNCTION enter_reading(p_utility bigint, p_person bigint, p_supply_point bigint, p_day date, p_value numeric)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_today date;
    v_floor numeric;
    v_id    bigint;
BEGIN
    SELECT (now() AT TIME ZONE u.tz)::date INTO STRICT v_today FROM utility u WHERE u.id = p_utility;
    IF p_day IS NULL OR p_value IS NULL OR p_day > v_today THEN
        RAISE EXCEPTION 'not found';
    END IF;

    PERFORM 1
    FROM supply s
    JOIN supply_point sp ON sp.id = s.supply_point_id AND sp.removed_at IS NULL
    JOIN account acc     ON acc.id = s.account_id AND acc.erased_at IS NULL
    JOIN mandate m       ON m.account_id = acc.id
    WHERE sp.id = p_supply_point
      AND acc.utility_id = p_utility
      AND p_day <@ s.during
      AND m.person_id = p_person
      AND m.kind <> 'viewer'
      AND now() <@ m.valid
      AND m.revoked_at IS NULL;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'not found';
    END IF;

    SELECT r.value INTO v_floor
    FROM reading r
    WHERE r.supply_point_id = p_supply_point
      AND r.read_on <= p_day
      AND r.state = 'accepted'
      AND r.voided_at IS NULL
    ORDER BY r.read_on DESC
    LIMIT 1;
    IF v_floor > p_value THEN
        RAISE EXCEPTION 'not found';
    END IF;

    INSERT INTO reading (supply_point_id, read_on, value, by_person, state)
    VALUES (p_supply_point, p_day, p_value, p_person, 'submitted')
    RETURNING id INTO v_id;
    RETURN v_id;
END $$;

--- submit-reading bad 2
INSERT INTO reading (supply_point_id, read_on, value, by_person)
SELECT sp.id, :read_on::date, :value::numeric, :person
FROM supply_point sp
JOIN utility u ON u.id = sp.utility_id
WHERE sp.id = :supply_point
  AND sp.utility_id = :utility
  AND sp.removed_at IS NULL
  AND :read_on::date <= (now() AT TIME ZONE u.tz)::date
  AND EXISTS (
        SELECT 1
        FROM supply s
        JOIN account acc ON acc.id = s.account_id AND acc.erased_at IS NULL
        JOIN mandate m   ON m.account_id = acc.id
        WHERE s.supply_point_id = sp.id
          AND s.during @> :read_on::date
          AND m.person_id = :person
          AND m.revoked_at IS NULL
          AND m.valid @> now())
  AND NOT EXISTS (
        SELECT 1
        FROM (SELECT r.value FROM reading r
              WHERE r.supply_point_id = sp.id
                AND r.state = 'accepted' AND r.voided_at IS NULL
                AND r.read_on <= :read_on::date
              ORDER BY r.read_on DESC LIMIT 1) latest
        WHERE latest.value > :value::numeric)
RETURNING id, read_on, value, state;

--- submit-reading bad 3
CREATE FUNCTION enter_reading(p_utility bigint, p_person bigint, p_supply_point bigint, p_day date, p_value numeric)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_today date;
    v_floor numeric;
    v_id    bigint;
BEGIN
    SELECT (now() AT TIME ZONE u.tz)::date INTO STRICT v_today FROM utility u WHERE u.id = p_utility;
    IF p_day IS NULL OR p_value IS NULL OR p_day > v_today THEN
        RAISE EXCEPTION 'not found';
    END IF;

    PERFORM 1
    FROM supply s
    JOIN supply_point sp ON sp.id = s.supply_point_id AND sp.removed_at IS NULL
    JOIN account acc     ON acc.id = s.account_id AND acc.erased_at IS NULL
    JOIN mandate m       ON m.account_id = acc.id
    WHERE sp.id = p_supply_point
      AND acc.utility_id = p_utility
      AND v_today <@ s.during
      AND m.person_id = p_person
      AND m.kind <> 'viewer'
      AND now() <@ m.valid
      AND m.revoked_at IS NULL;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'not found';
    END IF;

    SELECT r.value INTO v_floor
    FROM reading r
    WHERE r.supply_point_id = p_supply_point
      AND r.read_on <= p_day
      AND r.state = 'accepted'
      AND r.voided_at IS NULL
    ORDER BY r.read_on DESC
    LIMIT 1;
    IF v_floor > p_value THEN
        RAISE EXCEPTION 'not found';
    END IF;

    INSERT INTO reading (supply_point_id, read_on, value, by_person)
    VALUES (p_supply_point, p_day, p_value, p_person)
    RETURNING id INTO v_id;
    RETURN v_id;
END $$;

--- submit-reading bad 8
WITH latest AS (
    SELECT r.value
    FROM reading r
    WHERE r.supply_point_id = :supply_point
      AND r.state = 'accepted' AND r.voided_at IS NULL
      AND r.read_on < :read_on::date
    ORDER BY r.read_on DESC
    LIMIT 1
)
INSERT INTO reading (supply_point_id, read_on, value, by_person)
SELECT sp.id, :read_on::date, :value::numeric, :person
FROM supply_point sp
JOIN utility u ON u.id = sp.utility_id
LEFT JOIN latest l ON true
WHERE sp.id = :supply_point
  AND sp.utility_id = :utility
  AND sp.removed_at IS NULL
  AND :read_on::date <= (now() AT TIME ZONE u.tz)::date
  AND :value::numeric >= COALESCE(l.value, 0)
  AND EXISTS (
        SELECT 1
        FROM supply s
        JOIN account acc ON acc.id = s.account_id AND acc.erased_at IS NULL
        JOIN mandate m   ON m.account_id = acc.id
        WHERE s.supply_point_id = sp.id
          AND s.during @> :read_on::date
          AND m.person_id = :person
          AND m.kind IN ('holder', 'actor')
          AND m.revoked_at IS NULL
          AND m.valid @> now())
RETURNING id, read_on, value, state;

--- accept-reading good
CREATE FUNCTION accept_reading(p_utility bigint, p_me bigint, p_reading bigint)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    r reading%ROWTYPE;
BEGIN
    PERFORM 1 FROM agent a
    WHERE a.id = p_me AND a.utility_id = p_utility AND a.role IN ('clerk', 'supervisor');
    IF NOT FOUND THEN
        RETURN false;
    END IF;

    SELECT rd.* INTO r
    FROM reading rd
    JOIN supply_point sp ON sp.id = rd.supply_point_id
    WHERE rd.id = p_reading
      AND sp.utility_id = p_utility
      AND sp.removed_at IS NULL
      AND rd.voided_at IS NULL
    FOR UPDATE OF rd;
    IF NOT FOUND OR r.state <> 'submitted' OR r.by_agent IS NOT DISTINCT FROM p_me THEN
        RETURN false;
    END IF;

    UPDATE reading SET state = 'superseded'
    WHERE supply_point_id = r.supply_point_id
      AND read_on = r.read_on
      AND state = 'accepted'
      AND voided_at IS NULL;

    UPDATE reading SET state = 'accepted', decided_by = p_me, decided_at = now()
    WHERE id = r.id;

    INSERT INTO trace (utility_id, agent_id, what, row_id)
    VALUES (p_utility, p_me, 'reading accepted', r.id);
    RETURN true;
END $$;

--- accept-reading good
WITH target AS (
    SELECT r.id, r.supply_point_id, r.read_on
    FROM reading r
    JOIN supply_point sp ON sp.id = r.supply_point_id
    JOIN agent me        ON me.utility_id = sp.utility_id
    WHERE r.id = :reading
      AND sp.utility_id = :utility
      AND sp.removed_at IS NULL
      AND me.id = :me
      AND me.role <> 'reader'
      AND r.state = 'submitted'
      AND r.voided_at IS NULL
      AND r.by_agent IS DISTINCT FROM me.id
    FOR UPDATE OF r
), old AS (
    UPDATE reading o SET state = 'superseded'
    FROM target t
    WHERE o.supply_point_id = t.supply_point_id
      AND o.read_on = t.read_on
      AND o.state = 'accepted'
      AND o.voided_at IS NULL
    RETURNING o.id
), done AS (
    UPDATE reading r SET state = 'accepted', decided_by = :me, decided_at = now()
    FROM target t
    WHERE r.id = t.id
      AND (SELECT count(*) FROM old) >= 0
    RETURNING r.id
), noted AS (
    INSERT INTO trace (utility_id, agent_id, what, row_id)
    SELECT :utility, :me, 'reading accepted', d.id FROM done d
)
SELECT d.id AS accepted, (SELECT array_agg(id) FROM old) AS superseded FROM done d;

--- accept-reading bad 11
WITH target AS (
    SELECT r.id, r.supply_point_id, r.read_on
    FROM reading r
    JOIN supply_point sp ON sp.id = r.supply_point_id
    JOIN agent me        ON me.utility_id = sp.utility_id
    WHERE r.id = :reading
      AND sp.utility_id = :utility
      AND sp.removed_at IS NULL
      AND me.id = :me
      AND me.role <> 'reader'
      AND r.state = 'submitted'
      AND r.voided_at IS NULL
    FOR UPDATE OF r
), old AS (
    UPDATE reading o SET state = 'superseded'
    FROM target t
    WHERE o.supply_point_id = t.supply_point_id
      AND o.read_on = t.read_on
      AND o.state = 'accepted'
      AND o.voided_at IS NULL
    RETURNING o.id
), done AS (
    UPDATE reading r SET state = 'accepted', decided_by = :me, decided_at = now()
    FROM target t
    WHERE r.id = t.id
      AND (SELECT count(*) FROM old) >= 0
    RETURNING r.id
), noted AS (
    INSERT INTO trace (utility_id, agent_id, what, row_id)
    SELECT :utility, :me, 'reading accepted', d.id FROM done d
)
SELECT d.id AS accepted, (SELECT array_agg(id) FROM old) AS superseded FROM done d;

--- accept-reading bad 12
CREATE FUNCTION accept_reading(p_utility bigint, p_me bigint, p_reading bigint)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    r reading%ROWTYPE;
BEGIN
    PERFORM 1 FROM agent a
    WHERE a.id = p_me AND a.utility_id = p_utility AND a.role IN ('clerk', 'supervisor');
    IF NOT FOUND THEN
        RETURN false;
    END IF;

    SELECT rd.* INTO r
    FROM reading rd
    JOIN supply_point sp ON sp.id = rd.supply_point_id
    WHERE rd.id = p_reading
      AND sp.utility_id = p_utility
      AND sp.removed_at IS NULL
      AND rd.voided_at IS NULL;
    IF NOT FOUND OR r.state <> 'submitted' OR r.by_agent IS NOT DISTINCT FROM p_me THEN
        RETURN false;
    END IF;

    UPDATE reading SET state = 'superseded'
    WHERE supply_point_id = r.supply_point_id
      AND read_on = r.read_on
      AND state = 'accepted'
      AND voided_at IS NULL;

    UPDATE reading SET state = 'accepted', decided_by = p_me, decided_at = now()
    WHERE id = r.id;

    INSERT INTO trace (utility_id, agent_id, what, row_id)
    VALUES (p_utility, p_me, 'reading accepted', r.id);
    RETURN true;
END $$;

--- accept-reading bad 8
BEGIN;
UPDATE reading o
SET state = 'superseded'
FROM reading n
JOIN supply_point sp ON sp.id = n.supply_point_id AND sp.removed_at IS NULL
JOIN agent me        ON me.utility_id = sp.utility_id AND me.role IN ('clerk', 'supervisor')
WHERE n.id = :reading
  AND sp.utility_id = :utility
  AND me.id = :me
  AND n.voided_at IS NULL
  AND o.supply_point_id = n.supply_point_id
  AND o.read_on = n.read_on
  AND o.id <> n.id
  AND o.state = 'accepted'
  AND o.voided_at IS NULL;

WITH done AS (
    UPDATE reading r
    SET state = 'accepted', decided_by = me.id, decided_at = now()
    FROM supply_point sp
    JOIN agent me ON me.utility_id = sp.utility_id AND me.role IN ('clerk', 'supervisor')
    WHERE r.id = :reading
      AND sp.id = r.supply_point_id
      AND sp.utility_id = :utility
      AND sp.removed_at IS NULL
      AND me.id = :me
      AND r.by_agent IS DISTINCT FROM me.id
      AND r.state = 'submitted'
      AND r.voided_at IS NULL
    RETURNING r.id
)
INSERT INTO trace (utility_id, agent_id, what, row_id)
SELECT :utility, :me, 'reading accepted', d.id FROM done d
RETURNING row_id;
COMMIT;

--- raise-dispute good
BEGIN;
SELECT b.id
FROM bill b
JOIN account acc ON acc.id = b.account_id
WHERE b.id = :bill
  AND acc.utility_id = :utility
  AND acc.erased_at IS NULL
  AND b.state IN ('issued', 'paid')
  AND EXISTS (SELECT 1 FROM mandate m
              WHERE m.account_id = acc.id
                AND m.person_id = :person
                AND m.kind IN ('holder', 'actor')
                AND m.valid @> now()
                AND m.revoked_at IS NULL)
FOR UPDATE OF b;

INSERT INTO dispute (bill_id, raised_by, reason)
SELECT b.id, :person, left(:reason::text, 2000)
FROM bill b
JOIN account acc ON acc.id = b.account_id
WHERE b.id = :bill
  AND acc.utility_id = :utility
  AND acc.erased_at IS NULL
  AND b.state IN ('issued', 'paid')
  AND b.issued_at >= now() - interval '1440 hours'
  AND EXISTS (SELECT 1 FROM mandate m
              WHERE m.account_id = acc.id
                AND m.person_id = :person
                AND m.kind IN ('holder', 'actor')
                AND m.valid @> now()
                AND m.revoked_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM dispute d
                  WHERE d.bill_id = b.id
                    AND d.state IN ('open', 'investigating'))
RETURNING id, state, raised_at;
COMMIT;

--- raise-dispute good
CREATE FUNCTION raise_dispute(p_utility bigint, p_person bigint, p_bill bigint, p_reason text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_bill bill%ROWTYPE;
    v_id   bigint;
BEGIN
    SELECT b.* INTO v_bill
    FROM bill b
    WHERE b.id = p_bill
      AND b.account_id IN (
            SELECT m.account_id
            FROM mandate m
            JOIN account acc ON acc.id = m.account_id
            WHERE m.person_id = p_person
              AND m.kind = ANY ('{holder,actor}'::mandate_kind[])
              AND m.revoked_at IS NULL
              AND now() <@ m.valid
              AND acc.utility_id = p_utility
              AND acc.erased_at IS NULL)
    FOR UPDATE;

    IF NOT FOUND
       OR v_bill.state NOT IN ('issued', 'paid')
       OR v_bill.issued_at IS NULL
       OR now() > v_bill.issued_at + 60 * interval '24 hours' THEN
        RAISE EXCEPTION 'not found';
    END IF;

    PERFORM 1 FROM dispute d WHERE d.bill_id = v_bill.id AND d.state NOT IN ('upheld', 'dismissed', 'withdrawn');
    IF FOUND THEN
        RAISE EXCEPTION 'not found';
    END IF;

    INSERT INTO dispute (bill_id, raised_by, reason)
    VALUES (v_bill.id, p_person, p_reason)
    RETURNING id INTO v_id;
    RETURN v_id;
END $$;

--- raise-dispute bad 12
WITH target AS (
    SELECT b.id, b.account_id
    FROM bill b
    JOIN account acc ON acc.id = b.account_id
    WHERE b.id = :bill
      AND acc.utility_id = :utility
      AND acc.erased_at IS NULL
      AND b.state IN ('issued', 'paid')
      AND b.issued_at >= now() - interval '1440 hours'
    FOR UPDATE OF b
)
INSERT INTO dispute (bill_id, raised_by, reason)
SELECT t.id, :person, left(:reason::text, 2000)
FROM target t
WHERE EXISTS (SELECT 1 FROM mandate m
              WHERE m.account_id = t.account_id
                AND m.person_id = :person
                AND m.kind IN ('holder', 'actor')
                AND m.valid @> now()
                AND m.revoked_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM dispute d
                  WHERE d.bill_id = t.id
                    AND d.state IN ('open', 'investigating'))
RETURNING id, state, raised_at;

--- raise-dispute bad 9
BEGIN;
SELECT b.id
FROM bill b
JOIN account acc ON acc.id = b.account_id
WHERE b.id = :bill
  AND acc.utility_id = :utility
  AND acc.erased_at IS NULL
  AND b.state IN ('issued', 'paid')
  AND EXISTS (SELECT 1 FROM mandate m
              WHERE m.account_id = acc.id
                AND m.person_id = :person
                AND m.kind IN ('holder', 'actor')
                AND m.valid @> now()
                AND m.revoked_at IS NULL)
FOR UPDATE OF b;

INSERT INTO dispute (bill_id, raised_by, reason)
SELECT b.id, :person, left(:reason::text, 2000)
FROM bill b
JOIN account acc ON acc.id = b.account_id
WHERE b.id = :bill
  AND acc.utility_id = :utility
  AND acc.erased_at IS NULL
  AND b.state IN ('issued', 'paid')
  AND b.due_on >= current_date - 60
  AND EXISTS (SELECT 1 FROM mandate m
              WHERE m.account_id = acc.id
                AND m.person_id = :person
                AND m.kind IN ('holder', 'actor')
                AND m.valid @> now()
                AND m.revoked_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM dispute d
                  WHERE d.bill_id = b.id
                    AND d.state IN ('open', 'investigating'))
RETURNING id, state, raised_at;
COMMIT;

--- raise-dispute bad 2
CREATE FUNCTION raise_dispute(p_utility bigint, p_person bigint, p_bill bigint, p_reason text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_bill bill%ROWTYPE;
    v_id   bigint;
BEGIN
    SELECT b.* INTO v_bill
    FROM bill b
    WHERE b.id = p_bill
      AND b.account_id IN (
            SELECT m.account_id
            FROM mandate m
            JOIN account acc ON acc.id = m.account_id
            WHERE m.person_id = p_person
              AND m.kind = ANY ('{holder,actor}'::mandate_kind[])
              AND now() <@ m.valid
              AND acc.utility_id = p_utility
              AND acc.erased_at IS NULL)
    FOR UPDATE;

    IF NOT FOUND
       OR v_bill.state NOT IN ('issued', 'paid')
       OR v_bill.issued_at IS NULL
       OR now() > v_bill.issued_at + 60 * interval '24 hours' THEN
        RAISE EXCEPTION 'not found';
    END IF;

    PERFORM 1 FROM dispute d WHERE d.bill_id = v_bill.id AND d.state NOT IN ('upheld', 'dismissed', 'withdrawn');
    IF FOUND THEN
        RAISE EXCEPTION 'not found';
    END IF;

    INSERT INTO dispute (bill_id, raised_by, reason)
    VALUES (v_bill.id, p_person, p_reason)
    RETURNING id INTO v_id;
    RETURN v_id;
END $$;

--- decide-dispute good
WITH ruled AS (
    UPDATE dispute d
    SET state = CAST(:verdict AS dispute_state), decided_at = now(), outcome_note = :note
    FROM bill b
    JOIN account acc ON acc.id = b.account_id
    JOIN agent me    ON me.utility_id = acc.utility_id
    WHERE d.id = :dispute
      AND b.id = d.bill_id
      AND acc.utility_id = :utility
      AND acc.erased_at IS NULL
      AND me.id = :me
      AND me.role IN ('clerk', 'supervisor')
      AND d.handler = me.id
      AND d.state = 'investigating'
      AND b.issued_by IS DISTINCT FROM me.id
      AND :verdict IN ('upheld', 'dismissed')
    RETURNING d.id, d.state, b.account_id
), proposed AS (
    INSERT INTO credit (account_id, dispute_id, amount, proposed_by)
    SELECT r.account_id, r.id, :credit_amount::numeric, :me
    FROM ruled r
    WHERE r.state = 'upheld' AND :credit_amount::numeric > 0
    RETURNING id
), noted AS (
    INSERT INTO trace (utility_id, agent_id, what, row_id)
    SELECT :utility, :me, 'dispute ' || r.state, r.id FROM ruled r
)
SELECT r.id, r.state, (SELECT id FROM proposed) AS credit_id FROM ruled r;

--- decide-dispute good
CREATE FUNCTION give_verdict(p_utility bigint, p_me bigint, p_dispute bigint, p_uphold boolean, p_note text)
RETURNS dispute_state LANGUAGE plpgsql AS $$
DECLARE
    v_state   dispute_state;
    v_verdict dispute_state := CASE WHEN p_uphold THEN 'upheld' ELSE 'dismissed' END;
BEGIN
    IF p_uphold IS NULL OR NOT EXISTS (
        SELECT 1 FROM agent a
        WHERE a.id = p_me AND a.utility_id = p_utility AND a.role <> 'reader') THEN
        RAISE EXCEPTION 'not found';
    END IF;

    SELECT d.state INTO v_state
    FROM dispute d
    JOIN bill b      ON b.id = d.bill_id
    JOIN account acc ON acc.id = b.account_id
    WHERE d.id = p_dispute
      AND d.handler = p_me
      AND (b.issued_by IS NULL OR b.issued_by <> p_me)
      AND acc.utility_id = p_utility
      AND acc.erased_at IS NULL
    FOR UPDATE OF d;
    IF v_state IS DISTINCT FROM 'investigating' THEN
        RAISE EXCEPTION 'not found';
    END IF;

    UPDATE dispute
    SET state = v_verdict, decided_at = clock_timestamp(), outcome_note = p_note
    WHERE id = p_dispute;

    INSERT INTO trace (utility_id, agent_id, what, row_id)
    VALUES (p_utility, p_me, 'dispute ' || v_verdict, p_dispute);
    RETURN v_verdict;
END $$;

--- decide-dispute bad 9
WITH ruled AS (
    UPDATE dispute d
    SET state = CAST(:verdict AS dispute_state), decided_at = now(), outcome_note = :note
    FROM bill b
    JOIN account acc ON acc.id = b.account_id
    JOIN agent me    ON me.utility_id = acc.utility_id
    WHERE d.id = :dispute
      AND b.id = d.bill_id
      AND acc.utility_id = :utility
      AND acc.erased_at IS NULL
      AND me.id = :me
      AND me.role IN ('clerk', 'supervisor')
      AND d.handler = me.id
      AND d.state = 'investigating'
      AND b.issued_by IS DISTINCT FROM me.id
    RETURNING d.id, d.state, b.account_id
), proposed AS (
    INSERT INTO credit (account_id, dispute_id, amount, proposed_by)
    SELECT r.account_id, r.id, :credit_amount::numeric, :me
    FROM ruled r
    WHERE r.state = 'upheld' AND :credit_amount::numeric > 0
    RETURNING id
), noted AS (
    INSERT INTO trace (utility_id, agent_id, what, row_id)
    SELECT :utility, :me, 'dispute ' || r.state, r.id FROM ruled r
)
SELECT r.id, r.state, (SELECT id FROM proposed) AS credit_id FROM ruled r;

--- decide-dispute bad 1
CREATE FUNCTION give_verdict(p_utility bigint, p_me bigint, p_dispute bigint, p_uphold boolean, p_note text, p_template bigint)
RETURNS dispute_state LANGUAGE plpgsql AS $$
DECLARE
    v_state   dispute_state;
    v_note    text := p_note;
    v_verdict dispute_state := CASE WHEN p_uphold THEN 'upheld' ELSE 'dismissed' END;
BEGIN
    IF p_uphold IS NULL OR NOT EXISTS (
        SELECT 1 FROM agent a
        WHERE a.id = p_me AND a.utility_id = p_utility AND a.role <> 'reader') THEN
        RAISE EXCEPTION 'not found';
    END IF;

    SELECT d.state INTO v_state
    FROM dispute d
    JOIN bill b      ON b.id = d.bill_id
    JOIN account acc ON acc.id = b.account_id
    WHERE d.id = p_dispute
      AND d.handler = p_me
      AND (b.issued_by IS NULL OR b.issued_by <> p_me)
      AND acc.utility_id = p_utility
      AND acc.erased_at IS NULL
    FOR UPDATE OF d;
    IF v_state IS DISTINCT FROM 'investigating' THEN
        RAISE EXCEPTION 'not found';
    END IF;

    IF p_note IS NULL THEN
        SELECT t.outcome_note INTO v_note
        FROM dispute t
        JOIN bill tb    ON tb.id = t.bill_id
        JOIN account ta ON ta.id = tb.account_id AND ta.erased_at IS NULL
        WHERE t.id = p_template AND t.state = v_verdict;
    END IF;

    UPDATE dispute
    SET state = v_verdict, decided_at = clock_timestamp(), outcome_note = v_note
    WHERE id = p_dispute;

    INSERT INTO trace (utility_id, agent_id, what, row_id)
    VALUES (p_utility, p_me, 'dispute ' || v_verdict, p_dispute);
    RETURN v_verdict;
END $$;

--- decide-dispute bad 11
BEGIN;
UPDATE dispute d
SET state = CASE WHEN :uphold::boolean THEN 'upheld' ELSE 'dismissed' END::dispute_state,
    decided_at = now(), outcome_note = :note
FROM bill b
JOIN account acc ON acc.id = b.account_id
JOIN agent me    ON me.utility_id = acc.utility_id
WHERE d.id = :dispute
  AND b.id = d.bill_id
  AND acc.utility_id = :utility
  AND acc.erased_at IS NULL
  AND me.id = :me
  AND me.role IN ('clerk', 'supervisor')
  AND d.handler = me.id
  AND d.state = 'investigating'
  AND b.issued_by IS DISTINCT FROM me.id
  AND :uphold::boolean IS NOT NULL;

INSERT INTO trace (utility_id, agent_id, what, row_id)
SELECT acc.utility_id, :me, 'dispute ' || d.state, d.id
FROM dispute d
JOIN bill b      ON b.id = d.bill_id
JOIN account acc ON acc.id = b.account_id
JOIN agent me    ON me.utility_id = acc.utility_id
WHERE d.id = :dispute
  AND acc.utility_id = :utility
  AND acc.erased_at IS NULL
  AND me.id = :me
  AND me.role IN ('clerk', 'supervisor')
  AND d.handler = me.id
  AND d.state IN ('upheld', 'dismissed');
COMMIT;

--- approve-credit good
WITH approved AS (
    UPDATE credit c
    SET approved_by = me.id, approved_at = now()
    FROM dispute d, account acc, agent me
    WHERE c.id = :credit
      AND d.id = c.dispute_id
      AND d.state = 'upheld'
      AND acc.id = c.account_id
      AND acc.utility_id = :utility
      AND acc.erased_at IS NULL
      AND me.id = :me
      AND me.utility_id = acc.utility_id
      AND me.role = 'supervisor'
      AND c.proposed_by <> me.id
      AND c.approved_at IS NULL
      AND c.refused_at IS NULL
    RETURNING c.id, c.account_id, c.amount
), posted AS (
    INSERT INTO ledger (account_id, credit_id, amount)
    SELECT a.account_id, a.id, a.amount FROM approved a
    RETURNING id
), noted AS (
    INSERT INTO trace (utility_id, agent_id, what, row_id)
    SELECT :utility, :me, 'credit approved', a.id FROM approved a
)
SELECT a.id, a.amount, (SELECT id FROM posted) AS ledger_id FROM approved a;

--- approve-credit good
CREATE FUNCTION approve_credit(p_utility bigint, p_me bigint, p_credit bigint)
RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    c credit%ROWTYPE;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM agent WHERE id = p_me AND utility_id = p_utility AND role = 'supervisor') THEN
        RETURN NULL;
    END IF;

    SELECT cr.* INTO c
    FROM credit cr
    JOIN account acc ON acc.id = cr.account_id
    JOIN dispute d   ON d.id = cr.dispute_id
    WHERE cr.id = p_credit
      AND acc.utility_id = p_utility
      AND acc.erased_at IS NULL
      AND d.state = 'upheld'
    FOR UPDATE OF cr;

    IF c.id IS NULL OR c.approved_at IS NOT NULL OR c.refused_at IS NOT NULL OR c.proposed_by = p_me THEN
        RETURN NULL;
    END IF;

    UPDATE credit SET approved_by = p_me, approved_at = now() WHERE id = c.id;
    INSERT INTO ledger (account_id, credit_id, amount) VALUES (c.account_id, c.id, c.amount);
    INSERT INTO trace (utility_id, agent_id, what, row_id) VALUES (p_utility, p_me, 'credit approved', c.id);
    RETURN c.amount;
END $$;

--- approve-credit bad 12
CREATE FUNCTION approve_credit(p_utility bigint, p_me bigint, p_credit bigint)
RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    c credit%ROWTYPE;
BEGIN
    SELECT cr.* INTO c
    FROM credit cr
    JOIN account acc ON acc.id = cr.account_id
    JOIN agent me    ON me.utility_id = acc.utility_id
    JOIN dispute d   ON d.id = cr.dispute_id
    WHERE cr.id = p_credit
      AND acc.utility_id = p_utility
      AND acc.erased_at IS NULL
      AND me.id = p_me
      AND me.role = 'supervisor'
      AND cr.proposed_by <> me.id
      AND cr.approved_at IS NULL
      AND cr.refused_at IS NULL
      AND d.state = 'upheld';
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;

    INSERT INTO ledger (account_id, credit_id, amount)
    SELECT c.account_id, c.id, c.amount
    WHERE NOT EXISTS (SELECT 1 FROM ledger l WHERE l.credit_id = c.id);

    UPDATE credit SET approved_by = p_me, approved_at = now() WHERE id = c.id AND approved_at IS NULL;
    INSERT INTO trace (utility_id, agent_id, what, row_id) VALUES (p_utility, p_me, 'credit approved', c.id);
    RETURN c.amount;
END $$;

--- approve-credit bad 11
WITH approved AS (
    UPDATE credit c
    SET approved_by = me.id, approved_at = now()
    FROM dispute d, account acc, agent me
    WHERE c.id = :credit
      AND d.id = c.dispute_id
      AND d.state NOT IN ('dismissed', 'withdrawn')
      AND acc.id = c.account_id
      AND acc.utility_id = :utility
      AND acc.erased_at IS NULL
      AND me.id = :me
      AND me.utility_id = acc.utility_id
      AND me.role = 'supervisor'
      AND c.proposed_by <> me.id
      AND c.approved_at IS NULL
      AND c.refused_at IS NULL
    RETURNING c.id, c.account_id, c.amount
), posted AS (
    INSERT INTO ledger (account_id, credit_id, amount)
    SELECT a.account_id, a.id, a.amount FROM approved a
    RETURNING id
), noted AS (
    INSERT INTO trace (utility_id, agent_id, what, row_id)
    SELECT :utility, :me, 'credit approved', a.id FROM approved a
)
SELECT a.id, a.amount, (SELECT id FROM posted) AS ledger_id FROM approved a;

--- approve-credit bad 4
CREATE FUNCTION approve_credit(p_utility bigint, p_me bigint, p_credit bigint)
RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    c credit%ROWTYPE;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM agent WHERE id = p_me AND utility_id = p_utility AND role <> 'reader') THEN
        RETURN NULL;
    END IF;

    SELECT cr.* INTO c
    FROM credit cr
    JOIN account acc ON acc.id = cr.account_id
    JOIN dispute d   ON d.id = cr.dispute_id
    WHERE cr.id = p_credit
      AND acc.utility_id = p_utility
      AND acc.erased_at IS NULL
      AND d.state = 'upheld'
    FOR UPDATE OF cr;

    IF c.id IS NULL OR c.approved_at IS NOT NULL OR c.refused_at IS NOT NULL OR c.proposed_by = p_me THEN
        RETURN NULL;
    END IF;

    UPDATE credit SET approved_by = p_me, approved_at = now() WHERE id = c.id;
    INSERT INTO ledger (account_id, credit_id, amount) VALUES (c.account_id, c.id, c.amount);
    INSERT INTO trace (utility_id, agent_id, what, row_id) VALUES (p_utility, p_me, 'credit approved', c.id);
    RETURN c.amount;
END $$;
