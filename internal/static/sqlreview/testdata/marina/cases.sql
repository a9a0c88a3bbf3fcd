--- my-moorings good
-- moorings of every boat I own or may view, newest stay first
SELECT m.id,
       b.name              AS boat,
       q.code              AS berth,
       lower(m.stay)       AS arrives,
       upper(m.stay)       AS leaves,
       m.state,
       CASE WHEN m.state = 'moored' THEN q.gate_pin END AS gate_pin,
       (b.owner_id = :me)  AS is_owner
FROM mooring m
JOIN boat b       ON b.id = m.boat_id
LEFT JOIN berth q ON q.id = m.berth_id AND q.deleted_at IS NULL
WHERE m.harbour_id = :harbour_id
  AND m.deleted_at IS NULL
  AND boat_right(b.id, :me, 'view')
  AND (:state::mooring_state IS NULL OR m.state = :state::mooring_state)
ORDER BY lower(m.stay) DESC, m.id DESC
LIMIT LEAST(:limit, 100);

--- my-moorings good
WITH mine AS (
  SELECT b.id, b.name, TRUE AS is_owner
  FROM boat b
  WHERE b.harbour_id = :harbour_id AND b.owner_id = :me AND b.deleted_at IS NULL
  UNION ALL
  SELECT b.id, b.name, FALSE
  FROM crew c
  JOIN boat b ON b.id = c.boat_id
  WHERE c.account_id = :me
    AND b.owner_id <> :me
    AND b.harbour_id = :harbour_id
    AND b.deleted_at IS NULL
    AND 'view' = ANY (c.rights)
    AND c.revoked_at IS NULL
    AND c.valid_from <= now()
    AND c.valid_to > now()
)
SELECT m.id, mine.name AS boat, pl.code AS berth,
       lower(m.stay) AS arrives, upper(m.stay) AS leaves,
       m.state, pl.gate_pin, mine.is_owner
FROM mine
JOIN mooring m ON m.boat_id = mine.id AND m.deleted_at IS NULL
LEFT JOIN LATERAL (
  SELECT q.code, CASE m.state WHEN 'moored' THEN q.gate_pin END AS gate_pin
  FROM berth q
  WHERE q.id = m.berth_id AND q.deleted_at IS NULL
) pl ON TRUE
WHERE :state::mooring_state IS NULL OR m.state = :state::mooring_state
ORDER BY lower(m.stay) DESC, m.id DESC
LIMIT LEAST(COALESCE(:limit, 50), 100);

--- my-moorings bad 3
WITH mine AS (
  SELECT b.id, b.name, TRUE AS is_owner
  FROM boat b
  WHERE b.harbour_id = :harbour_id AND b.owner_id = :me AND b.deleted_at IS NULL
  UNION ALL
  SELECT b.id, b.name, FALSE
  FROM crew c
  JOIN boat b ON b.id = c.boat_id
  WHERE c.account_id = :me
    AND b.owner_id <> :me
    AND b.harbour_id = :harbour_id
    AND b.deleted_at IS NULL
    AND 'view' = ANY (c.rights)
    AND c.revoked_at IS NULL
    AND c.valid_from <= now()
)
SELECT m.id, mine.name AS boat, pl.code AS berth,
       lower(m.stay) AS arrives, upper(m.stay) AS leaves,
       m.state, pl.gate_pin, mine.is_owner
FROM mine
JOIN mooring m ON m.boat_id = mine.id AND m.deleted_at IS NULL
LEFT JOIN LATERAL (
  SELECT q.code, CASE m.state WHEN 'moored' THEN q.gate_pin END AS gate_pin
  FROM berth q
  WHERE q.id = m.berth_id AND q.deleted_at IS NULL
) pl ON TRUE
WHERE :state::mooring_state IS NULL OR m.state = :state::mooring_state
ORDER BY lower(m.stay) DESC, m.id DESC
LIMIT LEAST(COALESCE(:limit, 50), 100);

--- my-moorings bad 5
-- moorings of every boat I own or may view, newest stay first
SELECT m.id,
       b.name              AS boat,
       q.code              AS berth,
       lower(m.stay)       AS arrives,
       upper(m.stay)       AS leaves,
       m.state,
       CASE WHEN m.state IN ('confirmed', 'moored') THEN q.gate_pin END AS gate_pin,
       (b.owner_id = :me)  AS is_owner
FROM mooring m
JOIN boat b       ON b.id = m.boat_id
LEFT JOIN berth q ON q.id = m.berth_id AND q.deleted_at IS NULL
WHERE m.harbour_id = :harbour_id
  AND m.deleted_at IS NULL
  AND boat_right(b.id, :me, 'view')
  AND (:state::mooring_state IS NULL OR m.state = :state::mooring_state)
ORDER BY lower(m.stay) DESC, m.id DESC
LIMIT LEAST(:limit, 100);

--- my-moorings bad 6
WITH seen AS (
  SELECT m.id, m.boat_id, m.berth_id, m.stay, m.state,
         row_number() OVER (PARTITION BY m.boat_id ORDER BY lower(m.stay) DESC, m.id DESC) AS nth
  FROM mooring m
  WHERE m.harbour_id = :harbour_id
    AND m.deleted_at IS NULL
    AND boat_right(m.boat_id, :me, 'view')
    AND (:state::mooring_state IS NULL OR m.state = :state::mooring_state)
)
SELECT s.id, b.name AS boat, q.code AS berth,
       lower(s.stay) AS arrives, upper(s.stay) AS leaves, s.state,
       CASE WHEN s.state = 'moored' THEN q.gate_pin END AS gate_pin,
       (b.owner_id = :me) AS is_owner
FROM seen s
JOIN boat b       ON b.id = s.boat_id
LEFT JOIN berth q ON q.id = s.berth_id AND q.deleted_at IS NULL
WHERE s.nth <= LEAST(:per_boat, 100)
ORDER BY b.name, s.boat_id, s.nth;

--- free-berths good
-- berths that take the boat for the stay
SELECT q.id, q.code, q.max_length_cm, q.max_draught_cm,
       q.max_length_cm - b.length_cm AS spare_cm
FROM boat b
JOIN berth q
  ON q.harbour_id = b.harbour_id
 AND q.max_length_cm  >= b.length_cm
 AND q.max_draught_cm >= b.draught_cm
WHERE b.id = :boat_id
  AND b.harbour_id = :harbour_id
  AND b.deleted_at IS NULL
  AND q.deleted_at IS NULL
  AND is_staff(:harbour_id, :me, 'clerk', 'dockhand')
  AND NOT EXISTS (
        SELECT 1
        FROM mooring m
        WHERE m.berth_id = q.id
          AND m.deleted_at IS NULL
          AND m.state IN ('confirmed', 'moored')
          AND m.stay && daterange(:from, :to))
ORDER BY spare_cm, q.id
LIMIT LEAST(:limit, 100);

--- free-berths good
WITH wanted AS (
  SELECT b.length_cm, b.draught_cm, daterange(:from, :to) AS stay
  FROM boat b
  JOIN staff s ON s.harbour_id = b.harbour_id AND s.account_id = :me
  WHERE b.id = :boat_id
    AND b.harbour_id = :harbour_id
    AND b.deleted_at IS NULL
    AND s.role IN ('clerk', 'dockhand', 'harbourmaster')
    AND s.since <= now()
    AND (s.until IS NULL OR s.until > now())
), taken AS (
  SELECT DISTINCT m.berth_id
  FROM mooring m
  CROSS JOIN wanted w
  WHERE m.harbour_id = :harbour_id
    AND m.deleted_at IS NULL
    AND m.berth_id IS NOT NULL
    AND m.state = ANY ('{confirmed,moored}'::mooring_state[])
    AND m.stay && w.stay
)
SELECT q.id, q.code, q.max_length_cm, q.max_draught_cm,
       q.max_length_cm - w.length_cm AS spare_cm
FROM wanted w
JOIN berth q ON q.max_length_cm >= w.length_cm AND q.max_draught_cm >= w.draught_cm
LEFT JOIN taken t ON t.berth_id = q.id
WHERE q.harbour_id = :harbour_id
  AND q.deleted_at IS NULL
  AND t.berth_id IS NULL
ORDER BY spare_cm, q.code
LIMIT LEAST(:limit, 100);

--- free-berths bad 8
-- berths that take the boat for the stay
SELECT q.id, q.code, q.max_length_cm, q.max_draught_cm,
       q.max_length_cm - b.length_cm AS spare_cm
FROM boat b
JOIN berth q
  ON q.harbour_id = b.harbour_id
 AND q.max_length_cm  >= b.length_cm
 AND q.max_draught_cm >= b.draught_cm
WHERE b.id = :boat_id
  AND b.harbour_id = :harbour_id
  AND b.deleted_at IS NULL
  AND q.deleted_at IS NULL
  AND is_staff(:harbour_id, :me, 'clerk', 'dockhand')
  AND NOT EXISTS (
        SELECT 1
        FROM mooring m
        WHERE m.berth_id = q.id
          AND m.deleted_at IS NULL
          AND m.state IN ('confirmed', 'moored')
          AND m.stay @> daterange(:from, :to))
ORDER BY spare_cm, q.id
LIMIT LEAST(:limit, 100);

--- free-berths bad 1
WITH wanted AS (
  SELECT b.length_cm, b.draught_cm, daterange(:from, :to) AS stay
  FROM boat b
  WHERE b.id = :boat_id
    AND b.harbour_id = :harbour_id
    AND b.deleted_at IS NULL
    AND is_staff(:harbour_id, :me, 'clerk', 'dockhand')
)
SELECT q.id, q.code, q.max_length_cm, q.max_draught_cm,
       q.max_length_cm - w.length_cm AS spare_cm
FROM wanted w
JOIN berth q
  ON q.max_length_cm  >= w.length_cm
 AND q.max_draught_cm >= w.draught_cm
 AND q.deleted_at IS NULL
WHERE NOT EXISTS (
        SELECT 1
        FROM mooring m
        WHERE m.berth_id = q.id
          AND m.deleted_at IS NULL
          AND m.state IN ('confirmed', 'moored')
          AND m.stay && w.stay)
ORDER BY spare_cm, q.id
LIMIT LEAST(:limit, 100);

--- free-berths bad 4
WITH wanted AS (
  SELECT b.length_cm, b.draught_cm, daterange(:from, :to) AS stay
  FROM boat b
  WHERE b.id = :boat_id
    AND b.harbour_id = :harbour_id
    AND b.deleted_at IS NULL
    AND is_staff(:harbour_id, :me, 'clerk', 'dockhand')
), taken AS (
  SELECT DISTINCT m.berth_id
  FROM mooring m
  CROSS JOIN wanted w
  WHERE m.harbour_id = :harbour_id
    AND m.deleted_at IS NULL
    AND m.state IN ('confirmed', 'moored')
    AND m.stay && w.stay
)
SELECT q.id, q.code, q.max_length_cm, q.max_draught_cm,
       q.max_length_cm - w.length_cm AS spare_cm
FROM wanted w
JOIN berth q ON q.max_length_cm >= w.length_cm AND q.max_draught_cm >= w.draught_cm
LEFT JOIN taken t ON t.berth_id = q.id
WHERE q.harbour_id = :harbour_id
  AND t.berth_id IS NULL
ORDER BY spare_cm, q.code
LIMIT LEAST(:limit, 100);

--- arrivals-today good
-- who comes in today, with the last meter reading on the berth
SELECT m.id, b.name AS boat, b.length_cm, a.full_name AS owner,
       q.code AS berth, q.gate_pin,
       last.value_wh AS last_wh, last.read_at AS last_read_at
FROM mooring m
JOIN boat b    ON b.id = m.boat_id  AND b.deleted_at IS NULL
JOIN account a ON a.id = b.owner_id
JOIN berth q   ON q.id = m.berth_id AND q.deleted_at IS NULL
LEFT JOIN LATERAL (
  SELECT r.value_wh, r.read_at
  FROM meter mt
  JOIN meter_reading r ON r.meter_id = mt.id
  WHERE mt.berth_id = q.id AND mt.retired_at IS NULL
  ORDER BY r.read_at DESC, r.id DESC
  LIMIT 1
) last ON TRUE
WHERE m.harbour_id = :harbour_id
  AND m.deleted_at IS NULL
  AND m.state = 'confirmed'
  AND lower(m.stay) = harbour_today(:harbour_id)
  AND is_staff(:harbour_id, :me, 'dockhand', 'clerk')
  AND (:after_id::bigint IS NULL OR m.id > :after_id::bigint)
ORDER BY m.id
LIMIT 100;

--- arrivals-today good
WITH desk AS (
  SELECT h.id, (now() AT TIME ZONE h.tz)::date AS today
  FROM harbour h
  WHERE h.id = :harbour_id
    AND EXISTS (
          SELECT 1 FROM staff s
          WHERE s.harbour_id = h.id
            AND s.account_id = :me
            AND s.role IN ('dockhand', 'clerk', 'harbourmaster')
            AND s.since <= now()
            AND COALESCE(s.until, 'infinity') > now())
), last_reading AS (
  SELECT DISTINCT ON (mt.berth_id) mt.berth_id, r.value_wh, r.read_at
  FROM desk d
  JOIN meter mt        ON mt.harbour_id = d.id AND mt.retired_at IS NULL
  JOIN meter_reading r ON r.meter_id = mt.id
  ORDER BY mt.berth_id, r.read_at DESC, r.id DESC
)
SELECT m.id, b.name AS boat, b.length_cm, a.full_name AS owner,
       q.code AS berth, q.gate_pin, lr.value_wh AS last_wh, lr.read_at AS last_read_at
FROM desk d
JOIN mooring m ON m.harbour_id = d.id
             AND m.state = 'confirmed'
             AND m.deleted_at IS NULL
             AND lower(m.stay) = d.today
JOIN boat b    ON b.id = m.boat_id  AND b.deleted_at IS NULL
JOIN account a ON a.id = b.owner_id
JOIN berth q   ON q.id = m.berth_id AND q.deleted_at IS NULL
LEFT JOIN last_reading lr ON lr.berth_id = q.id
WHERE m.id > COALESCE(:after_id, 0)
ORDER BY m.id
LIMIT LEAST(:limit, 100);

--- arrivals-today bad 12
-- who comes in today, with the last meter reading on the berth
SELECT m.id, b.name AS boat, b.length_cm, a.full_name AS owner,
       q.code AS berth, q.gate_pin,
       last.value_wh AS last_wh, last.read_at AS last_read_at
FROM mooring m
JOIN boat b    ON b.id = m.boat_id  AND b.deleted_at IS NULL
JOIN account a ON a.id = b.owner_id
JOIN berth q   ON q.id = m.berth_id AND q.deleted_at IS NULL
LEFT JOIN LATERAL (
  SELECT r.value_wh, r.read_at
  FROM meter mt
  JOIN meter_reading r ON r.meter_id = mt.id
  WHERE mt.berth_id = q.id AND mt.retired_at IS NULL
  ORDER BY r.read_at DESC, r.id DESC
  LIMIT 1
) last ON TRUE
WHERE m.harbour_id = :harbour_id
  AND m.deleted_at IS NULL
  AND m.state = 'confirmed'
  AND lower(m.stay) = now()::date
  AND is_staff(:harbour_id, :me, 'dockhand', 'clerk')
  AND (:after_id::bigint IS NULL OR m.id > :after_id::bigint)
ORDER BY m.id
LIMIT 100;

--- arrivals-today bad 5
-- who comes in today, with the last meter reading on the berth
SELECT m.id, b.name AS boat, b.length_cm,
       a.full_name AS owner, a.phone AS owner_phone,
       q.code AS berth, q.gate_pin,
       (SELECT max(r.value_wh)
          FROM meter mt
          JOIN meter_reading r ON r.meter_id = mt.id
         WHERE mt.berth_id = q.id AND mt.retired_at IS NULL) AS last_wh
FROM mooring m
JOIN boat b    ON b.id = m.boat_id  AND b.deleted_at IS NULL
JOIN account a ON a.id = b.owner_id
JOIN berth q   ON q.id = m.berth_id AND q.deleted_at IS NULL
WHERE m.harbour_id = :harbour_id
  AND m.deleted_at IS NULL
  AND m.state = 'confirmed'
  AND lower(m.stay) = harbour_today(:harbour_id)
  AND is_staff(:harbour_id, :me, 'dockhand', 'clerk')
  AND (:after_id::bigint IS NULL OR m.id > :after_id::bigint)
ORDER BY m.id
LIMIT 100;

--- arrivals-today bad 2
WITH desk AS (
  SELECT h.id, (now() AT TIME ZONE h.tz)::date AS today
  FROM harbour h
  JOIN staff s ON s.harbour_id = h.id AND s.account_id = :me
  WHERE h.id = :harbour_id
    AND s.role IN ('dockhand', 'clerk', 'harbourmaster')
    AND s.since <= now()
), last_reading AS (
  SELECT DISTINCT ON (mt.berth_id) mt.berth_id, r.value_wh, r.read_at
  FROM desk d
  JOIN meter mt        ON mt.harbour_id = d.id AND mt.retired_at IS NULL
  JOIN meter_reading r ON r.meter_id = mt.id
  ORDER BY mt.berth_id, r.read_at DESC, r.id DESC
)
SELECT m.id, b.name AS boat, b.length_cm, a.full_name AS owner,
       q.code AS berth, q.gate_pin, lr.value_wh AS last_wh, lr.read_at AS last_read_at
FROM desk d
JOIN mooring m ON m.harbour_id = d.id
             AND m.state = 'confirmed'
             AND m.deleted_at IS NULL
             AND lower(m.stay) = d.today
JOIN boat b    ON b.id = m.boat_id  AND b.deleted_at IS NULL
JOIN account a ON a.id = b.owner_id
JOIN berth q   ON q.id = m.berth_id AND q.deleted_at IS NULL
LEFT JOIN last_reading lr ON lr.berth_id = q.id
WHERE m.id > COALESCE(:after_id, 0)
ORDER BY m.id
LIMIT LEAST(:limit, 100);

--- use-by-month good
-- kWh per berth and month, with a running sum per berth
WITH monthly AS (
  SELECT q.id AS berth_id, q.code,
         date_trunc('month', r.read_at AT TIME ZONE h.tz)::date AS month,
         sum(r.used_wh) AS wh,
         count(*)       AS readings
  FROM meter_reading r
  JOIN meter mt  ON mt.id = r.meter_id
  JOIN berth q   ON q.id = mt.berth_id AND q.deleted_at IS NULL
  JOIN harbour h ON h.id = r.harbour_id
  WHERE r.harbour_id = :harbour_id
    AND r.approved_at IS NOT NULL
    AND (r.read_at AT TIME ZONE h.tz)::date >= :from_day
    AND (r.read_at AT TIME ZONE h.tz)::date <  :to_day
    AND (:berth_ids::bigint[] IS NULL OR q.id = ANY (:berth_ids::bigint[]))
    AND is_staff(:harbour_id, :me, 'clerk', 'dockhand')
  GROUP BY q.id, q.code, 3
)
SELECT berth_id, code, month, readings,
       round(wh / 1000.0, 1) AS kwh,
       round(sum(wh) OVER (PARTITION BY berth_id ORDER BY month) / 1000.0, 1) AS running_kwh
FROM monthly
ORDER BY code, month, berth_id
LIMIT LEAST(:limit, 100);

--- use-by-month good
SELECT q.id AS berth_id, q.code, u.month, u.readings,
       round(u.wh / 1000.0, 1) AS kwh,
       round(u.running_wh / 1000.0, 1) AS running_kwh
FROM harbour h
JOIN staff s ON s.harbour_id = h.id
            AND s.account_id = :me
            AND s.role IN ('harbourmaster', 'clerk', 'dockhand')
            AND s.since <= now()
            AND (s.until IS NULL OR s.until > now())
JOIN berth q ON q.harbour_id = h.id AND q.deleted_at IS NULL
CROSS JOIN LATERAL (
  SELECT loc.month,
         count(*)         AS readings,
         sum(loc.used_wh) AS wh,
         sum(sum(loc.used_wh)) OVER (ORDER BY loc.month) AS running_wh
  FROM (
    SELECT r.used_wh, date_trunc('month', r.read_at AT TIME ZONE h.tz)::date AS month
    FROM meter mt
    JOIN meter_reading r ON r.meter_id = mt.id
    WHERE mt.berth_id = q.id
      AND r.approved_at IS NOT NULL
      AND r.read_at >= (:from_day::date)::timestamp AT TIME ZONE h.tz
      AND r.read_at <  (:to_day::date)::timestamp   AT TIME ZONE h.tz
  ) loc
  GROUP BY loc.month
) u
WHERE h.id = :harbour_id
  AND (cardinality(:berth_ids::bigint[]) IS NULL OR q.id = ANY (:berth_ids::bigint[]))
ORDER BY q.code, u.month
LIMIT 100;

--- use-by-month bad 9
-- kWh per berth and month, with a running sum per berth
WITH monthly AS (
  SELECT q.id AS berth_id, q.code,
         date_trunc('month', r.read_at AT TIME ZONE h.tz)::date AS month,
         sum(r.used_wh) AS wh,
         count(*) FILTER (WHERE r.approved_at IS NOT NULL) AS readings
  FROM meter_reading r
  JOIN meter mt  ON mt.id = r.meter_id
  JOIN berth q   ON q.id = mt.berth_id AND q.deleted_at IS NULL
  JOIN harbour h ON h.id = r.harbour_id
  WHERE r.harbour_id = :harbour_id
    AND (r.read_at AT TIME ZONE h.tz)::date >= :from_day
    AND (r.read_at AT TIME ZONE h.tz)::date <  :to_day
    AND (:berth_ids::bigint[] IS NULL OR q.id = ANY (:berth_ids::bigint[]))
    AND is_staff(:harbour_id, :me, 'clerk', 'dockhand')
  GROUP BY q.id, q.code, 3
)
SELECT berth_id, code, month, readings,
       round(wh / 1000.0, 1) AS kwh,
       round(sum(wh) OVER (PARTITION BY berth_id ORDER BY month) / 1000.0, 1) AS running_kwh
FROM monthly
ORDER BY code, month, berth_id
LIMIT LEAST(:limit, 100);

--- use-by-month bad 12
SELECT q.id AS berth_id, q.code, u.month, u.readings,
       round(u.wh / 1000.0, 1) AS kwh,
       round(u.running_wh / 1000.0, 1) AS running_kwh
FROM berth q
CROSS JOIN LATERAL (
  SELECT loc.month,
         count(*)         AS readings,
         sum(loc.used_wh) AS wh,
         sum(sum(loc.used_wh)) OVER (ORDER BY loc.month) AS running_wh
  FROM (
    SELECT r.used_wh, date_trunc('month', r.read_at)::date AS month
    FROM meter mt
    JOIN meter_reading r ON r.meter_id = mt.id
    WHERE mt.berth_id = q.id
      AND r.approved_at IS NOT NULL
      AND r.read_at >= :from_day::date
      AND r.read_at <  :to_day::date
  ) loc
  GROUP BY loc.month
) u
WHERE q.harbour_id = :harbour_id
  AND q.deleted_at IS NULL
  AND is_staff(:harbour_id, :me, 'clerk', 'dockhand')
  AND (:berth_ids::bigint[] IS NULL OR q.id = ANY (:berth_ids::bigint[]))
ORDER BY q.code, u.month
LIMIT 100;

--- use-by-month bad 1
WITH desk AS (
  SELECT h.tz FROM harbour h
  WHERE h.id = :harbour_id AND is_staff(:harbour_id, :me, 'clerk', 'dockhand')
), monthly AS (
  SELECT q.id AS berth_id, q.code,
         date_trunc('month', r.read_at AT TIME ZONE d.tz)::date AS month,
         sum(r.used_wh) AS wh,
         count(*)       AS readings
  FROM desk d
  CROSS JOIN berth q
  JOIN meter mt        ON mt.berth_id = q.id
  JOIN meter_reading r ON r.meter_id = mt.id
  WHERE q.id = ANY (:berth_ids::bigint[])
    AND q.deleted_at IS NULL
    AND r.approved_at IS NOT NULL
    AND (r.read_at AT TIME ZONE d.tz)::date >= :from_day
    AND (r.read_at AT TIME ZONE d.tz)::date <  :to_day
  GROUP BY q.id, q.code, 3
)
SELECT berth_id, code, month, readings,
       round(wh / 1000.0, 1) AS kwh,
       round(sum(wh) OVER (PARTITION BY berth_id ORDER BY month) / 1000.0, 1) AS running_kwh
FROM monthly
ORDER BY code, month, berth_id
LIMIT LEAST(:limit, 100);

--- open-invoices good
-- issued and not paid; search in boat and owner name
SELECT i.id, i.number, i.total_cents, i.due_on,
       harbour_today(:harbour_id) - i.due_on AS days_late,
       b.name AS boat, a.full_name AS owner, a.email,
       sum(i.total_cents) OVER (PARTITION BY b.owner_id) AS owner_owes_cents
FROM invoice i
JOIN mooring m ON m.id = i.mooring_id AND m.deleted_at IS NULL
JOIN boat b    ON b.id = m.boat_id    AND b.deleted_at IS NULL
JOIN account a ON a.id = b.owner_id
WHERE i.harbour_id = :harbour_id
  AND i.deleted_at IS NULL
  AND i.state = 'issued'
  AND is_staff(:harbour_id, :me, 'clerk')
  AND (:q::text IS NULL
       OR b.name      ILIKE '%' || like_escape(:q::text) || '%' ESCAPE '\'
       OR a.full_name ILIKE '%' || like_escape(:q::text) || '%' ESCAPE '\')
ORDER BY ${order_by}, i.id
LIMIT LEAST(:limit, 100);

--- open-invoices good
WITH today AS (
  SELECT (now() AT TIME ZONE h.tz)::date AS d
  FROM harbour h
  JOIN staff s ON s.harbour_id = h.id
  WHERE h.id = :harbour_id
    AND s.account_id = :me
    AND s.role IN ('clerk', 'harbourmaster')
    AND s.since <= now()
    AND (s.until > now() OR s.until IS NULL)
), open AS (
  SELECT i.id, i.number, i.total_cents, i.due_on, b.owner_id, b.name AS boat
  FROM invoice i
  JOIN mooring m ON m.id = i.mooring_id AND m.deleted_at IS NULL
  JOIN boat b    ON b.id = m.boat_id    AND b.deleted_at IS NULL
  WHERE i.harbour_id = :harbour_id AND i.deleted_at IS NULL AND i.state = 'issued'
), owed AS (
  SELECT owner_id, sum(total_cents) AS cents FROM open GROUP BY owner_id
)
SELECT o.id, o.number, o.total_cents, o.due_on, t.d - o.due_on AS days_late,
       o.boat, a.full_name AS owner, a.email, owed.cents AS owner_owes_cents
FROM today t
CROSS JOIN open o
JOIN owed      ON owed.owner_id = o.owner_id
JOIN account a ON a.id = o.owner_id
WHERE position(lower(COALESCE(:q::text, '')) IN lower(o.boat || ' ' || a.full_name)) > 0
ORDER BY o.due_on, o.number, o.id
LIMIT LEAST(:limit, 100);

--- open-invoices bad 13
-- issued and not paid; search in boat and owner name
SELECT i.id, i.number, i.total_cents, i.due_on,
       harbour_today(:harbour_id) - i.due_on AS days_late,
       b.name AS boat, a.full_name AS owner, a.email,
       sum(i.total_cents) OVER (PARTITION BY b.owner_id) AS owner_owes_cents
FROM invoice i
JOIN mooring m ON m.id = i.mooring_id AND m.deleted_at IS NULL
JOIN boat b    ON b.id = m.boat_id    AND b.deleted_at IS NULL
JOIN account a ON a.id = b.owner_id
WHERE i.harbour_id = :harbour_id
  AND i.deleted_at IS NULL
  AND i.state = 'issued'
  AND is_staff(:harbour_id, :me, 'clerk')
  AND (b.name      ILIKE '%${q}%'
       OR a.full_name ILIKE '%${q}%')
ORDER BY ${order_by}, i.id
LIMIT LEAST(:limit, 100);

--- open-invoices bad 2
-- issued and not paid; search in boat and owner name
SELECT i.id, i.number, i.total_cents, i.due_on,
       harbour_today(:harbour_id) - i.due_on AS days_late,
       b.name AS boat, a.full_name AS owner,
       sum(i.total_cents) OVER (PARTITION BY b.owner_id) AS owner_owes_cents
FROM invoice i
JOIN mooring m ON m.id = i.mooring_id AND m.deleted_at IS NULL
JOIN boat b    ON b.id = m.boat_id    AND b.deleted_at IS NULL
JOIN account a ON a.id = b.owner_id
WHERE i.harbour_id = :harbour_id
  AND i.deleted_at IS NULL
  AND i.state = 'issued'
  AND is_staff(:harbour_id, :me, 'clerk', 'dockhand')
  AND (:q::text IS NULL
       OR b.name      ILIKE '%' || like_escape(:q::text) || '%' ESCAPE '\'
       OR a.full_name ILIKE '%' || like_escape(:q::text) || '%' ESCAPE '\')
ORDER BY ${order_by}, i.id
LIMIT LEAST(:limit, 100);

--- open-invoices bad 4
WITH owed AS (
  SELECT b.owner_id, sum(i.total_cents) AS cents
  FROM invoice i
  JOIN mooring m ON m.id = i.mooring_id AND m.deleted_at IS NULL
  JOIN boat b    ON b.id = m.boat_id    AND b.deleted_at IS NULL
  WHERE i.harbour_id = :harbour_id
    AND i.state = 'issued'
  GROUP BY b.owner_id
)
SELECT i.id, i.number, i.total_cents, i.due_on,
       harbour_today(:harbour_id) - i.due_on AS days_late,
       b.name AS boat, a.full_name AS owner, a.email, owed.cents AS owner_owes_cents
FROM invoice i
JOIN mooring m ON m.id = i.mooring_id AND m.deleted_at IS NULL
JOIN boat b    ON b.id = m.boat_id    AND b.deleted_at IS NULL
JOIN owed      ON owed.owner_id = b.owner_id
JOIN account a ON a.id = b.owner_id
WHERE i.harbour_id = :harbour_id
  AND i.deleted_at IS NULL
  AND i.state = 'issued'
  AND is_staff(:harbour_id, :me, 'clerk')
  AND position(lower(COALESCE(:q::text, '')) IN lower(b.name || ' ' || a.full_name)) > 0
ORDER BY i.due_on, i.id
LIMIT LEAST(:limit, 100);

--- confirm-mooring good
-- 1. one confirmation per berth at a time
SELECT q.id
FROM berth q
WHERE q.id = :berth_id AND q.harbour_id = :harbour_id AND q.deleted_at IS NULL
FOR UPDATE;

-- 2. confirm if everything holds
UPDATE mooring m
SET state = 'confirmed', berth_id = q.id, confirmed_by = :me
FROM boat b, berth q
WHERE m.id = :mooring_id
  AND m.harbour_id = :harbour_id
  AND m.deleted_at IS NULL
  AND m.state = 'requested'
  AND m.requested_by <> :me
  AND b.id = m.boat_id
  AND b.deleted_at IS NULL
  AND b.owner_id <> :me
  AND b.insured_until >= upper(m.stay)
  AND q.id = :berth_id
  AND q.harbour_id = :harbour_id
  AND q.deleted_at IS NULL
  AND b.length_cm  <= q.max_length_cm
  AND b.draught_cm <= q.max_draught_cm
  AND is_staff(:harbour_id, :me, 'clerk')
  AND NOT EXISTS (
        SELECT 1 FROM mooring o
        WHERE o.berth_id = q.id
          AND o.id <> m.id
          AND o.deleted_at IS NULL
          AND o.state IN ('confirmed', 'moored')
          AND o.stay && m.stay)
RETURNING m.id, m.berth_id, m.state;

--- confirm-mooring good
CREATE OR REPLACE FUNCTION confirm_mooring(p_harbour bigint, p_me bigint, p_mooring bigint, p_berth bigint)
RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  q berth%ROWTYPE;
  v_stay daterange;
BEGIN
  IF NOT is_staff(p_harbour, p_me, 'clerk') THEN
    RAISE EXCEPTION 'not allowed';
  END IF;

  SELECT * INTO q FROM berth
  WHERE id = p_berth AND harbour_id = p_harbour AND deleted_at IS NULL
  FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such berth';
  END IF;

  SELECT m.stay INTO v_stay
  FROM mooring m
  JOIN boat b ON b.id = m.boat_id AND b.deleted_at IS NULL
  WHERE m.id = p_mooring AND m.harbour_id = p_harbour AND m.deleted_at IS NULL
    AND m.state = 'requested'
    AND p_me NOT IN (m.requested_by, b.owner_id)
    AND b.length_cm <= q.max_length_cm AND b.draught_cm <= q.max_draught_cm
    AND b.insured_until >= upper(m.stay)
  FOR UPDATE OF m;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'mooring can not be confirmed';
  END IF;

  PERFORM 1 FROM mooring o
  WHERE o.berth_id = q.id AND o.deleted_at IS NULL
    AND o.state IN ('confirmed', 'moored') AND o.stay && v_stay;
  IF FOUND THEN
    RAISE EXCEPTION 'berth is taken';
  END IF;

  UPDATE mooring SET state = 'confirmed', berth_id = q.id, confirmed_by = p_me WHERE id = p_mooring;
  RETURN p_mooring;
END $$;

--- confirm-mooring bad 8
WITH q AS (
  SELECT id, max_length_cm, max_draught_cm
  FROM berth
  WHERE id = :berth_id AND harbour_id = :harbour_id AND deleted_at IS NULL
  FOR UPDATE
)
UPDATE mooring m
SET state = 'confirmed', berth_id = q.id, confirmed_by = :me
FROM q, boat b
WHERE m.id = :mooring_id
  AND m.harbour_id = :harbour_id
  AND m.deleted_at IS NULL
  AND m.state = 'requested'
  AND m.requested_by <> :me
  AND b.id = m.boat_id
  AND b.deleted_at IS NULL
  AND b.owner_id <> :me
  AND b.insured_until >= upper(m.stay)
  AND b.length_cm  <= q.max_length_cm
  AND b.draught_cm <= q.max_draught_cm
  AND is_staff(:harbour_id, :me, 'clerk')
  AND NOT EXISTS (
        SELECT 1 FROM mooring o
        WHERE o.berth_id = q.id
          AND o.deleted_at IS NULL
          AND o.state IN ('confirmed', 'moored')
          AND o.stay && m.stay)
RETURNING m.id, m.berth_id, m.state;

--- confirm-mooring bad 11
-- 1. one confirmation per berth at a time
SELECT q.id
FROM berth q
WHERE q.id = :berth_id AND q.harbour_id = :harbour_id AND q.deleted_at IS NULL
FOR UPDATE;

-- 2. confirm if everything holds
UPDATE mooring m
SET state = 'confirmed', berth_id = q.id, confirmed_by = :me
FROM boat b, berth q
WHERE m.id = :mooring_id
  AND m.harbour_id = :harbour_id
  AND m.deleted_at IS NULL
  AND m.state = 'requested'
  AND m.requested_by <> :me
  AND b.id = m.boat_id
  AND b.deleted_at IS NULL
  AND b.insured_until >= upper(m.stay)
  AND q.id = :berth_id
  AND q.harbour_id = :harbour_id
  AND q.deleted_at IS NULL
  AND b.length_cm  <= q.max_length_cm
  AND b.draught_cm <= q.max_draught_cm
  AND is_staff(:harbour_id, :me, 'clerk')
  AND NOT EXISTS (
        SELECT 1 FROM mooring o
        WHERE o.berth_id = q.id
          AND o.id <> m.id
          AND o.deleted_at IS NULL
          AND o.state IN ('confirmed', 'moored')
          AND o.stay && m.stay)
RETURNING m.id, m.berth_id, m.state;

--- confirm-mooring bad 1
CREATE OR REPLACE FUNCTION confirm_mooring(p_harbour bigint, p_me bigint, p_mooring bigint, p_berth bigint)
RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  q berth%ROWTYPE;
  v_stay daterange;
BEGIN
  IF NOT is_staff(p_harbour, p_me, 'clerk') THEN
    RAISE EXCEPTION 'not allowed';
  END IF;

  SELECT * INTO q FROM berth
  WHERE id = p_berth AND deleted_at IS NULL
  FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such berth';
  END IF;

  SELECT m.stay INTO v_stay
  FROM mooring m
  JOIN boat b ON b.id = m.boat_id AND b.deleted_at IS NULL
  WHERE m.id = p_mooring AND m.harbour_id = p_harbour AND m.deleted_at IS NULL
    AND m.state = 'requested'
    AND p_me NOT IN (m.requested_by, b.owner_id)
    AND b.length_cm <= q.max_length_cm AND b.draught_cm <= q.max_draught_cm
    AND b.insured_until >= upper(m.stay)
  FOR UPDATE OF m;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'mooring can not be confirmed';
  END IF;

  PERFORM 1 FROM mooring o
  WHERE o.berth_id = q.id AND o.deleted_at IS NULL
    AND o.state IN ('confirmed', 'moored') AND o.stay && v_stay;
  IF FOUND THEN
    RAISE EXCEPTION 'berth is taken';
  END IF;

  UPDATE mooring SET state = 'confirmed', berth_id = q.id, confirmed_by = p_me WHERE id = p_mooring;
  RETURN p_mooring;
END $$;

--- cancel-mooring good
-- clerk or boat people
UPDATE mooring m
SET state = 'cancelled', cancelled_by = :me
WHERE m.id = :mooring_id
  AND m.harbour_id = :harbour_id
  AND m.deleted_at IS NULL
  AND (
        (m.state IN ('requested', 'confirmed')
         AND is_staff(:harbour_id, :me, 'clerk'))
     OR (m.state = 'requested'
         AND boat_right(m.boat_id, :me, 'book'))
     OR (m.state = 'confirmed'
         AND harbour_today(:harbour_id) < lower(m.stay)
         AND boat_right(m.boat_id, :me, 'book'))
      )
RETURNING m.id, m.state;

--- cancel-mooring good
CREATE OR REPLACE FUNCTION cancel_mooring(p_harbour bigint, p_me bigint, p_mooring bigint)
RETURNS mooring_state LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_boat  bigint;
  v_state mooring_state;
  v_first date;
BEGIN
  SELECT boat_id, state, lower(stay) INTO v_boat, v_state, v_first
  FROM mooring
  WHERE id = p_mooring AND harbour_id = p_harbour AND deleted_at IS NULL
  FOR UPDATE;

  IF NOT FOUND OR v_state NOT IN ('requested', 'confirmed') THEN
    RAISE EXCEPTION 'nothing to cancel';
  END IF;

  IF NOT is_staff(p_harbour, p_me, 'clerk') THEN
    IF NOT boat_right(v_boat, p_me, 'book') THEN
      RAISE EXCEPTION 'nothing to cancel';
    END IF;
    IF v_state = 'confirmed' AND harbour_today(p_harbour) >= v_first THEN
      RAISE EXCEPTION 'too late, call the office';
    END IF;
  END IF;

  UPDATE mooring SET state = 'cancelled', cancelled_by = p_me WHERE id = p_mooring;
  RETURN 'cancelled';
END $$;

--- cancel-mooring bad 3
WITH act AS (
  SELECT m.id,
         is_staff(:harbour_id, :me, 'clerk')         AS as_clerk,
         (b.owner_id = :me OR c.id IS NOT NULL)      AS as_boat,
         harbour_today(:harbour_id) < lower(m.stay)  AS early
  FROM mooring m
  JOIN boat b      ON b.id = m.boat_id AND b.deleted_at IS NULL
  LEFT JOIN crew c ON c.boat_id = b.id
                  AND c.account_id = :me
                  AND c.revoked_at IS NULL
                  AND c.valid_from <= now()
                  AND c.valid_to > now()
  WHERE m.id = :mooring_id AND m.harbour_id = :harbour_id
)
UPDATE mooring m
SET state = 'cancelled', cancelled_by = :me
FROM act
WHERE m.id = act.id
  AND m.deleted_at IS NULL
  AND (   (m.state IN ('requested', 'confirmed') AND act.as_clerk)
       OR (m.state = 'requested' AND act.as_boat)
       OR (m.state = 'confirmed' AND act.as_boat AND act.early))
RETURNING m.id, m.state;

--- cancel-mooring bad 7
CREATE OR REPLACE FUNCTION cancel_mooring(p_harbour bigint, p_me bigint, p_mooring bigint)
RETURNS mooring_state LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_boat  bigint;
  v_state mooring_state;
  v_first date;
BEGIN
  SELECT boat_id, state, lower(stay) INTO v_boat, v_state, v_first
  FROM mooring
  WHERE id = p_mooring AND harbour_id = p_harbour AND deleted_at IS NULL;

  IF NOT FOUND OR v_state NOT IN ('requested', 'confirmed') THEN
    RAISE EXCEPTION 'nothing to cancel';
  END IF;

  IF NOT is_staff(p_harbour, p_me, 'clerk') THEN
    IF NOT boat_right(v_boat, p_me, 'book') THEN
      RAISE EXCEPTION 'nothing to cancel';
    END IF;
    IF v_state = 'confirmed' AND harbour_today(p_harbour) >= v_first THEN
      RAISE EXCEPTION 'too late, call the office';
    END IF;
  END IF;

  UPDATE mooring SET state = 'cancelled', cancelled_by = p_me
  WHERE id = p_mooring AND deleted_at IS NULL;
  RETURN 'cancelled';
END $$;

--- cancel-mooring bad 7
-- clerk or boat people
UPDATE mooring m
SET state = 'cancelled', cancelled_by = :me
WHERE m.id = :mooring_id
  AND m.harbour_id = :harbour_id
  AND m.deleted_at IS NULL
  AND (
        (m.state IN ('requested', 'confirmed')
         AND is_staff(:harbour_id, :me, 'clerk'))
     OR (m.state = 'requested'
         AND boat_right(m.boat_id, :me, 'book'))
     OR (m.state = 'confirmed'
         AND harbour_today(:harbour_id) <= lower(m.stay)
         AND boat_right(m.boat_id, :me, 'book'))
      )
RETURNING m.id, m.state;

--- record-reading good
SELECT mt.id
FROM meter mt
WHERE mt.id = :meter_id AND mt.harbour_id = :harbour_id AND mt.retired_at IS NULL
FOR UPDATE;

INSERT INTO meter_reading (harbour_id, meter_id, value_wh, used_wh, read_at, read_by)
SELECT mt.harbour_id, mt.id, :value_wh::bigint,
       :value_wh::bigint - COALESCE(prev.top_wh, :value_wh::bigint),
       now(), :me
FROM meter mt
CROSS JOIN LATERAL (
  SELECT max(r.value_wh) AS top_wh
  FROM meter_reading r
  WHERE r.meter_id = mt.id
) prev
WHERE mt.id = :meter_id
  AND mt.harbour_id = :harbour_id
  AND mt.retired_at IS NULL
  AND :value_wh::bigint >= COALESCE(prev.top_wh, 0)
  AND is_staff(:harbour_id, :me, 'dockhand')
RETURNING id, used_wh, read_at;

--- record-reading good
CREATE OR REPLACE FUNCTION record_reading(p_harbour bigint, p_me bigint, p_meter bigint, p_value bigint)
RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_top bigint;
  v_id  bigint;
BEGIN
  IF NOT EXISTS (
    SELECT 1 FROM staff s
    WHERE s.harbour_id = p_harbour AND s.account_id = p_me
      AND s.role IN ('dockhand', 'harbourmaster')
      AND s.since <= now() AND (s.until IS NULL OR s.until > now())
  ) THEN
    RAISE EXCEPTION 'not allowed';
  END IF;

  PERFORM 1 FROM meter
  WHERE id = p_meter AND harbour_id = p_harbour AND retired_at IS NULL
  FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such meter';
  END IF;

  SELECT r.value_wh INTO v_top
  FROM meter_reading r
  WHERE r.meter_id = p_meter
  ORDER BY r.value_wh DESC
  LIMIT 1;

  IF p_value < v_top THEN
    RAISE EXCEPTION 'meter runs backwards, last value is %', v_top;
  END IF;

  INSERT INTO meter_reading (harbour_id, meter_id, value_wh, used_wh, read_at, read_by)
  VALUES (p_harbour, p_meter, p_value, COALESCE(p_value - v_top, 0), now(), p_me)
  RETURNING id INTO v_id;
  RETURN v_id;
END $$;

--- record-reading bad 9
SELECT mt.id
FROM meter mt
WHERE mt.id = :meter_id AND mt.harbour_id = :harbour_id AND mt.retired_at IS NULL
FOR UPDATE;

INSERT INTO meter_reading (harbour_id, meter_id, value_wh, used_wh, read_at, read_by)
SELECT mt.harbour_id, mt.id, :value_wh::bigint,
       :value_wh::bigint - COALESCE(prev.value_wh, :value_wh::bigint),
       now(), :me
FROM meter mt
LEFT JOIN LATERAL (
  SELECT r.value_wh
  FROM meter_reading r
  WHERE r.meter_id = mt.id AND r.approved_at IS NOT NULL
  ORDER BY r.read_at DESC, r.id DESC
  LIMIT 1
) prev ON TRUE
WHERE mt.id = :meter_id
  AND mt.harbour_id = :harbour_id
  AND mt.retired_at IS NULL
  AND :value_wh::bigint >= COALESCE(prev.value_wh, 0)
  AND is_staff(:harbour_id, :me, 'dockhand')
RETURNING id, used_wh, read_at;

--- record-reading bad 9
WITH mt AS MATERIALIZED (
  SELECT id, harbour_id
  FROM meter
  WHERE id = :meter_id AND harbour_id = :harbour_id AND retired_at IS NULL
    AND is_staff(:harbour_id, :me, 'dockhand')
  FOR UPDATE
), prev AS (
  SELECT max(r.value_wh) AS top_wh
  FROM meter_reading r
  WHERE r.meter_id = (SELECT id FROM mt)
)
INSERT INTO meter_reading (harbour_id, meter_id, value_wh, used_wh, read_at, read_by)
SELECT mt.harbour_id, mt.id, :value_wh::bigint,
       COALESCE(:value_wh::bigint - prev.top_wh, 0),
       now(), :me
FROM mt
CROSS JOIN prev
WHERE prev.top_wh IS NULL OR :value_wh::bigint >= prev.top_wh
RETURNING id, used_wh, read_at;

--- record-reading bad 11
CREATE OR REPLACE FUNCTION record_reading(p_harbour bigint, p_me bigint, p_meter bigint, p_value bigint, p_reader bigint)
RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_top bigint;
  v_id  bigint;
BEGIN
  IF NOT is_staff(p_harbour, p_me, 'dockhand') OR NOT is_staff(p_harbour, p_reader, 'dockhand') THEN
    RAISE EXCEPTION 'not allowed';
  END IF;

  PERFORM 1 FROM meter
  WHERE id = p_meter AND harbour_id = p_harbour AND retired_at IS NULL
  FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such meter';
  END IF;

  SELECT max(r.value_wh) INTO v_top
  FROM meter_reading r
  WHERE r.meter_id = p_meter;

  IF p_value < v_top THEN
    RAISE EXCEPTION 'meter runs backwards, last value is %', v_top;
  END IF;

  INSERT INTO meter_reading (harbour_id, meter_id, value_wh, used_wh, read_at, read_by)
  VALUES (p_harbour, p_meter, p_value, COALESCE(p_value - v_top, 0), now(), COALESCE(p_reader, p_me))
  RETURNING id INTO v_id;
  RETURN v_id;
END $$;

--- charge-readings good
-- readings of the stay onto the draft
WITH inv AS (
  SELECT i.id, m.berth_id, m.stay, h.tz, h.cents_per_kwh
  FROM invoice i
  JOIN mooring m ON m.id = i.mooring_id AND m.deleted_at IS NULL
  JOIN harbour h ON h.id = i.harbour_id
  WHERE i.id = :invoice_id
    AND i.harbour_id = :harbour_id
    AND i.deleted_at IS NULL
    AND i.state = 'draft'
    AND is_staff(:harbour_id, :me, 'clerk')
  FOR UPDATE OF i
), taken AS (
  UPDATE meter_reading r
  SET invoice_id = inv.id
  FROM inv
  JOIN meter mt ON mt.berth_id = inv.berth_id
  WHERE r.meter_id = mt.id
    AND r.invoice_id IS NULL
    AND r.approved_at IS NOT NULL
    AND (r.read_at AT TIME ZONE inv.tz)::date <@ inv.stay
  RETURNING r.id, r.invoice_id, r.used_wh, round(r.used_wh * inv.cents_per_kwh / 1000)::bigint AS cents
), lines AS (
  INSERT INTO invoice_line (invoice_id, reading_id, text, cents)
  SELECT t.invoice_id, t.id, 'Electricity ' || round(t.used_wh / 1000.0, 1) || ' kWh', t.cents
  FROM taken t
  RETURNING cents
)
UPDATE invoice i
SET total_cents = i.total_cents + s.cents
FROM inv, (SELECT COALESCE(sum(cents), 0) AS cents FROM lines) s
WHERE i.id = inv.id
RETURNING i.id, i.total_cents;

--- charge-readings good
CREATE OR REPLACE FUNCTION charge_readings(p_harbour bigint, p_me bigint, p_invoice bigint)
RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_mooring bigint;
  v_berth   bigint;
  v_stay    daterange;
  v_tz      text;
  v_price   numeric;
  v_sum     bigint := 0;
  r         record;
BEGIN
  SELECT i.mooring_id INTO v_mooring
  FROM invoice i
  WHERE i.id = p_invoice AND i.harbour_id = p_harbour AND i.deleted_at IS NULL AND i.state = 'draft'
    AND is_staff(p_harbour, p_me, 'clerk')
  FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such draft';
  END IF;

  SELECT m.berth_id, m.stay, h.tz, h.cents_per_kwh INTO STRICT v_berth, v_stay, v_tz, v_price
  FROM mooring m
  JOIN harbour h ON h.id = m.harbour_id
  WHERE m.id = v_mooring AND m.deleted_at IS NULL;

  FOR r IN
    UPDATE meter_reading x
    SET invoice_id = p_invoice
    WHERE x.meter_id IN (SELECT mt.id FROM meter mt WHERE mt.berth_id = v_berth AND mt.harbour_id = p_harbour)
      AND x.invoice_id IS NULL
      AND x.approved_at IS NOT NULL
      AND (x.read_at AT TIME ZONE v_tz)::date <@ v_stay
    RETURNING x.id, x.used_wh, round(x.used_wh * v_price / 1000)::bigint AS cents
  LOOP
    INSERT INTO invoice_line (invoice_id, reading_id, text, cents)
    VALUES (p_invoice, r.id, format('Electricity %s Wh', r.used_wh), r.cents);
    v_sum := v_sum + r.cents;
  END LOOP;

  UPDATE invoice SET total_cents = total_cents + v_sum WHERE id = p_invoice;
  RETURN v_sum;
END $$;

--- charge-readings bad 9
-- readings of the stay onto the draft
WITH inv AS (
  SELECT i.id, m.berth_id, m.stay, h.tz, h.cents_per_kwh
  FROM invoice i
  JOIN mooring m ON m.id = i.mooring_id AND m.deleted_at IS NULL
  JOIN harbour h ON h.id = i.harbour_id
  WHERE i.id = :invoice_id
    AND i.harbour_id = :harbour_id
    AND i.deleted_at IS NULL
    AND i.state = 'draft'
    AND is_staff(:harbour_id, :me, 'clerk')
  FOR UPDATE OF i
), taken AS (
  UPDATE meter_reading r
  SET invoice_id = inv.id
  FROM inv
  JOIN meter mt ON mt.berth_id = inv.berth_id
  WHERE r.meter_id = mt.id
    AND r.invoice_id IS NULL
    AND (r.read_at AT TIME ZONE inv.tz)::date <@ inv.stay
  RETURNING r.id, r.invoice_id, r.used_wh, round(r.used_wh * inv.cents_per_kwh / 1000)::bigint AS cents
), lines AS (
  INSERT INTO invoice_line (invoice_id, reading_id, text, cents)
  SELECT t.invoice_id, t.id, 'Electricity ' || round(t.used_wh / 1000.0, 1) || ' kWh', t.cents
  FROM taken t
  RETURNING cents
)
UPDATE invoice i
SET total_cents = i.total_cents + s.cents
FROM inv, (SELECT COALESCE(sum(cents), 0) AS cents FROM lines) s
WHERE i.id = inv.id
RETURNING i.id, i.total_cents;

--- charge-readings bad 10
CREATE OR REPLACE FUNCTION charge_readings(p_harbour bigint, p_me bigint, p_invoice bigint)
RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_ids bigint[];
  v_sum bigint;
BEGIN
  PERFORM 1
  FROM invoice i
  WHERE i.id = p_invoice AND i.harbour_id = p_harbour AND i.deleted_at IS NULL AND i.state = 'draft'
    AND is_staff(p_harbour, p_me, 'clerk')
  FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such draft';
  END IF;

  SELECT array_agg(r.id) INTO v_ids
  FROM invoice i
  JOIN mooring m       ON m.id = i.mooring_id AND m.deleted_at IS NULL
  JOIN harbour h       ON h.id = i.harbour_id
  JOIN meter mt        ON mt.berth_id = m.berth_id
  JOIN meter_reading r ON r.meter_id = mt.id
  WHERE i.id = p_invoice
    AND r.invoice_id IS NULL
    AND r.approved_at IS NOT NULL
    AND (r.read_at AT TIME ZONE h.tz)::date <@ m.stay;

  INSERT INTO invoice_line (invoice_id, reading_id, text, cents)
  SELECT p_invoice, r.id, format('Electricity %s Wh', r.used_wh), round(r.used_wh * h.cents_per_kwh / 1000)
  FROM meter_reading r
  JOIN harbour h ON h.id = r.harbour_id
  WHERE r.id = ANY (v_ids);

  UPDATE meter_reading SET invoice_id = p_invoice WHERE id = ANY (v_ids);

  SELECT COALESCE(sum(l.cents), 0) INTO v_sum FROM invoice_line l WHERE l.reading_id = ANY (v_ids) AND l.invoice_id = p_invoice;
  UPDATE invoice SET total_cents = total_cents + v_sum WHERE id = p_invoice;
  RETURN v_sum;
END $$;

--- charge-readings bad 10
WITH inv AS (
  SELECT i.id, m.berth_id, m.stay, h.tz, h.cents_per_kwh
  FROM invoice i
  JOIN mooring m ON m.id = i.mooring_id AND m.deleted_at IS NULL
  JOIN harbour h ON h.id = i.harbour_id
  WHERE i.id = :invoice_id
    AND i.harbour_id = :harbour_id
    AND i.deleted_at IS NULL
    AND i.state IN ('draft', 'issued')
    AND is_staff(:harbour_id, :me, 'clerk')
  FOR UPDATE OF i
), taken AS (
  UPDATE meter_reading r
  SET invoice_id = inv.id
  FROM inv
  JOIN meter mt ON mt.berth_id = inv.berth_id
  WHERE r.meter_id = mt.id
    AND r.invoice_id IS NULL
    AND r.approved_at IS NOT NULL
    AND (r.read_at AT TIME ZONE inv.tz)::date <@ inv.stay
  RETURNING r.id, r.invoice_id, r.used_wh, round(r.used_wh * inv.cents_per_kwh / 1000)::bigint AS cents
), lines AS (
  INSERT INTO invoice_line (invoice_id, reading_id, text, cents)
  SELECT t.invoice_id, t.id, 'Electricity ' || round(t.used_wh / 1000.0, 1) || ' kWh', t.cents
  FROM taken t
  RETURNING cents
)
UPDATE invoice i
SET total_cents = i.total_cents + s.cents
FROM inv, (SELECT COALESCE(sum(cents), 0) AS cents FROM lines) s
WHERE i.id = inv.id
RETURNING i.id, i.total_cents;

--- issue-invoice good
WITH inv AS (
  SELECT i.id
  FROM invoice i
  WHERE i.id = :invoice_id
    AND i.harbour_id = :harbour_id
    AND i.deleted_at IS NULL
    AND i.state = 'draft'
    AND i.drawn_by <> :me
    AND is_staff(:harbour_id, :me, 'clerk')
    AND EXISTS (SELECT 1 FROM invoice_line l WHERE l.invoice_id = i.id)
  FOR UPDATE
), no AS (
  UPDATE invoice_counter c
  SET last_no = c.last_no + 1
  FROM inv
  WHERE c.harbour_id = :harbour_id
  RETURNING c.last_no
)
UPDATE invoice i
SET state = 'issued', number = no.last_no, issued_by = :me, issued_at = now(),
    due_on = harbour_today(:harbour_id) + 30
FROM inv, no
WHERE i.id = inv.id
RETURNING i.id, i.number, i.due_on;

--- issue-invoice good
CREATE OR REPLACE FUNCTION issue_invoice(p_harbour bigint, p_me bigint, p_invoice bigint)
RETURNS int LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_drawn_by bigint;
  v_today    date;
  v_no       int;
BEGIN
  IF NOT is_staff(p_harbour, p_me, 'clerk') THEN
    RAISE EXCEPTION 'not allowed';
  END IF;

  SELECT i.drawn_by INTO v_drawn_by
  FROM invoice i
  WHERE i.id = p_invoice AND i.harbour_id = p_harbour
    AND i.state = 'draft' AND i.deleted_at IS NULL
  FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such draft';
  ELSIF v_drawn_by = p_me THEN
    RAISE EXCEPTION 'somebody else has to issue this invoice';
  END IF;

  UPDATE invoice_counter
  SET last_no = last_no + 1
  WHERE harbour_id = p_harbour
  RETURNING last_no INTO STRICT v_no;

  SELECT (now() AT TIME ZONE h.tz)::date INTO STRICT v_today FROM harbour h WHERE h.id = p_harbour;

  UPDATE invoice
  SET state = 'issued', number = v_no, issued_by = p_me, issued_at = now(), due_on = v_today + 30
  WHERE id = p_invoice;
  RETURN v_no;
END $$;

--- issue-invoice bad 10
UPDATE invoice i
SET state = 'issued',
    number = (SELECT COALESCE(max(x.number), 0) + 1
              FROM invoice x
              WHERE x.harbour_id = :harbour_id),
    issued_by = :me,
    issued_at = now(),
    due_on = harbour_today(:harbour_id) + 30
WHERE i.id = :invoice_id
  AND i.harbour_id = :harbour_id
  AND i.deleted_at IS NULL
  AND i.state = 'draft'
  AND i.drawn_by <> :me
  AND is_staff(:harbour_id, :me, 'clerk')
  AND EXISTS (SELECT 1 FROM invoice_line l WHERE l.invoice_id = i.id)
RETURNING i.id, i.number, i.due_on;

--- issue-invoice bad 11
CREATE OR REPLACE FUNCTION issue_invoice(p_harbour bigint, p_me bigint, p_invoice bigint)
RETURNS int LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_today date;
  v_no    int;
BEGIN
  IF NOT is_staff(p_harbour, p_me, 'clerk') THEN
    RAISE EXCEPTION 'not allowed';
  END IF;

  PERFORM 1
  FROM invoice i
  WHERE i.id = p_invoice AND i.harbour_id = p_harbour
    AND i.state = 'draft' AND i.deleted_at IS NULL
  FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such draft';
  END IF;

  UPDATE invoice_counter
  SET last_no = last_no + 1
  WHERE harbour_id = p_harbour
  RETURNING last_no INTO STRICT v_no;

  SELECT (now() AT TIME ZONE h.tz)::date INTO STRICT v_today FROM harbour h WHERE h.id = p_harbour;

  UPDATE invoice
  SET state = 'issued', number = v_no, issued_by = p_me, issued_at = now(), due_on = v_today + 30
  WHERE id = p_invoice;
  RETURN v_no;
END $$;

--- issue-invoice bad 12
WITH inv AS (
  SELECT i.id
  FROM invoice i
  WHERE i.id = :invoice_id
    AND i.harbour_id = :harbour_id
    AND i.deleted_at IS NULL
    AND i.state = 'draft'
    AND i.drawn_by <> :me
    AND is_staff(:harbour_id, :me, 'clerk')
    AND EXISTS (SELECT 1 FROM invoice_line l WHERE l.invoice_id = i.id)
  FOR UPDATE
), no AS (
  UPDATE invoice_counter c
  SET last_no = c.last_no + 1
  FROM inv
  WHERE c.harbour_id = :harbour_id
  RETURNING c.last_no
)
UPDATE invoice i
SET state = 'issued', number = no.last_no, issued_by = :me, issued_at = now(),
    due_on = CURRENT_DATE + 30
FROM inv, no
WHERE i.id = inv.id
RETURNING i.id, i.number, i.due_on;

--- grant-crew good
INSERT INTO crew (boat_id, account_id, rights, valid_from, valid_to, granted_by)
SELECT b.id, :account_id::bigint, :rights::crew_right[], now(), :valid_to::timestamptz, :me
FROM boat b
WHERE b.id = :boat_id
  AND b.harbour_id = :harbour_id
  AND b.owner_id = :me
  AND b.deleted_at IS NULL
  AND :account_id::bigint <> :me
  AND cardinality(:rights::crew_right[]) > 0
  AND :valid_to::timestamptz > now()
  AND :valid_to::timestamptz <= now() + interval '12 months'
ON CONFLICT (boat_id, account_id) WHERE revoked_at IS NULL
DO UPDATE SET rights     = EXCLUDED.rights,
              valid_to   = EXCLUDED.valid_to,
              granted_by = EXCLUDED.granted_by
RETURNING id, rights, valid_from, valid_to;

--- grant-crew good
-- a new grant replaces the old one, the old one stays as revoked
UPDATE crew c
SET revoked_at = now()
FROM boat b
WHERE b.id = :boat_id
  AND b.harbour_id = :harbour_id
  AND b.owner_id = :me
  AND b.deleted_at IS NULL
  AND c.boat_id = b.id
  AND c.account_id = :account_id
  AND c.revoked_at IS NULL;

WITH own AS (
  SELECT b.id, LEAST(:valid_to::timestamptz, now() + interval '12 months') AS ends
  FROM boat b
  WHERE b.id = :boat_id
    AND b.harbour_id = :harbour_id
    AND b.owner_id = :me
    AND b.deleted_at IS NULL
)
INSERT INTO crew (boat_id, account_id, rights, valid_from, valid_to, granted_by)
SELECT own.id, :account_id::bigint, :rights::crew_right[], now(), own.ends, :me
FROM own
WHERE :account_id::bigint <> :me
RETURNING id, valid_from, valid_to;

--- grant-crew bad 3
INSERT INTO crew (boat_id, account_id, rights, valid_from, valid_to, granted_by)
SELECT b.id, :account_id::bigint, :rights::crew_right[], now(), :valid_to::timestamptz, b.owner_id
FROM boat b
WHERE b.id = :boat_id
  AND b.harbour_id = :harbour_id
  AND boat_right(b.id, :me, 'book')
  AND :account_id::bigint NOT IN (b.owner_id, :me)
  AND cardinality(:rights::crew_right[]) > 0
  AND :valid_to::timestamptz > now()
  AND :valid_to::timestamptz <= now() + interval '12 months'
ON CONFLICT (boat_id, account_id) WHERE revoked_at IS NULL
DO UPDATE SET rights   = EXCLUDED.rights,
              valid_to = EXCLUDED.valid_to
RETURNING id, rights, valid_from, valid_to;

--- grant-crew bad 3
INSERT INTO crew (boat_id, account_id, rights, valid_from, valid_to, granted_by)
SELECT b.id, :account_id::bigint, :rights::crew_right[], now(), now() + interval '12 months', :me
FROM boat b
WHERE b.id = :boat_id
  AND b.harbour_id = :harbour_id
  AND b.owner_id = :me
  AND b.deleted_at IS NULL
  AND :account_id::bigint <> :me
  AND cardinality(:rights::crew_right[]) > 0
ON CONFLICT (boat_id, account_id) WHERE revoked_at IS NULL
DO UPDATE SET rights     = EXCLUDED.rights,
              valid_to   = GREATEST(crew.valid_to, now()) + interval '12 months',
              granted_by = EXCLUDED.granted_by
RETURNING id, rights, valid_from, valid_to;

--- grant-crew bad 3,4
WITH own AS (
  SELECT b.id, LEAST(:valid_to::timestamptz, now() + interval '12 months') AS ends
  FROM boat b
  WHERE b.id = :boat_id
    AND b.harbour_id = :harbour_id
    AND b.owner_id = :me
), old AS (
  UPDATE crew c
  SET valid_to = own.ends, rights = :rights::crew_right[], granted_by = :me
  FROM own
  WHERE c.boat_id = own.id
    AND c.account_id = :account_id
    AND c.revoked_at IS NULL
  RETURNING c.id
)
INSERT INTO crew (boat_id, account_id, rights, valid_from, valid_to, granted_by)
SELECT own.id, :account_id::bigint, :rights::crew_right[], now(), own.ends, :me
FROM own
WHERE :account_id::bigint <> :me
  AND NOT EXISTS (SELECT 1 FROM old)
RETURNING id, valid_from, valid_to;
