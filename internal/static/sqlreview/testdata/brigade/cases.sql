--- claim-queue good
SELECT c.id, c.category, c.amount_cents, c.submitted_at, m.full_name AS claimant,
       co.kind AS callout_kind
FROM claim c
JOIN member m ON m.district_id = c.district_id AND m.id = c.member_id
LEFT JOIN callout co
       ON co.district_id = c.district_id
      AND co.id = c.callout_id
      AND co.deleted_at IS NULL
      AND NOT co.confidential
      AND co.brigade_id = (SELECT me.brigade_id FROM member me
                           WHERE me.id = :actor_id AND me.district_id = :district_id)
WHERE c.district_id = :district_id
  AND c.brigade_id = :p_brigade_id
  AND c.state = 'submitted'
  AND c.deleted_at IS NULL
  AND app.holds(:actor_id, c.brigade_id, 'treasurer')
  AND (c.submitted_at, c.id) > (COALESCE(CAST(:p_after_at AS timestamptz), '-infinity'),
                                COALESCE(CAST(:p_after_id AS bigint), 0))
ORDER BY c.submitted_at, c.id
LIMIT LEAST(CAST(:p_limit AS int), 100);

--- claim-queue good
WITH desk AS (
  SELECT b.district_id, b.id AS brigade_id
  FROM brigade b
  WHERE b.district_id = :district_id
    AND b.id = :p_brigade_id
    AND EXISTS (
      SELECT 1 FROM office o
      WHERE o.district_id = b.district_id
        AND o.brigade_id = b.id
        AND o.member_id = :actor_id
        AND o.role = 'treasurer'
        AND o.revoked_at IS NULL
        AND o.valid_from <= now()
        AND (o.valid_until IS NULL OR now() < o.valid_until))
), waiting AS (
  SELECT c.id, c.district_id, c.member_id, c.category, c.amount_cents, c.submitted_at,
         sum(c.amount_cents) OVER (PARTITION BY c.member_id) AS claimant_waiting_cents,
         count(*) OVER () AS queue_length
  FROM claim c
  JOIN desk d ON d.district_id = c.district_id AND d.brigade_id = c.brigade_id
  WHERE c.state = 'submitted' AND c.deleted_at IS NULL
)
SELECT w.id, w.category, w.amount_cents, w.submitted_at, w.claimant_waiting_cents, w.queue_length,
       m.full_name AS claimant
FROM waiting w
JOIN member m ON m.district_id = w.district_id AND m.id = w.member_id
ORDER BY w.submitted_at, w.id
LIMIT 50 OFFSET GREATEST(COALESCE(CAST(:p_offset AS int), 0), 0);

--- claim-queue bad 1
SELECT c.id, c.category, c.amount_cents, c.submitted_at, m.full_name AS claimant,
       count(*) OVER () AS queue_length
FROM claim c
JOIN member m ON m.district_id = c.district_id AND m.id = c.member_id
WHERE c.brigade_id = :p_brigade_id
  AND c.state = 'submitted'
  AND c.deleted_at IS NULL
  AND app.holds(:actor_id, c.brigade_id, 'treasurer')
  AND (c.submitted_at, c.id) > (COALESCE(CAST(:p_after_at AS timestamptz), '-infinity'),
                                COALESCE(CAST(:p_after_id AS bigint), 0))
ORDER BY c.submitted_at, c.id
LIMIT LEAST(CAST(:p_limit AS int), 100);

--- claim-queue bad 2
WITH desk AS (
  SELECT b.district_id, b.id AS brigade_id
  FROM brigade b
  WHERE b.district_id = :district_id
    AND b.id = :p_brigade_id
    AND EXISTS (
      SELECT 1 FROM office o
      WHERE o.district_id = b.district_id
        AND o.brigade_id = b.id
        AND o.member_id = :actor_id
        AND o.role = 'treasurer'
        AND o.valid_from <= now()
        AND (o.valid_until IS NULL OR now() < o.valid_until))
)
SELECT c.id, c.category, c.amount_cents, c.submitted_at, m.full_name AS claimant,
       sum(c.amount_cents) OVER (PARTITION BY c.member_id) AS claimant_waiting_cents
FROM desk d
JOIN claim c ON c.district_id = d.district_id AND c.brigade_id = d.brigade_id
JOIN member m ON m.district_id = c.district_id AND m.id = c.member_id
WHERE c.state = 'submitted' AND c.deleted_at IS NULL
ORDER BY c.submitted_at, c.id
LIMIT LEAST(CAST(:p_limit AS int), 50);

--- claim-queue bad 6
SELECT c.id, c.state, c.category, c.amount_cents, c.submitted_at, m.full_name AS claimant
FROM claim c
JOIN member m ON m.district_id = c.district_id AND m.id = c.member_id
WHERE c.district_id = :district_id
  AND c.brigade_id = :p_brigade_id
  AND c.state NOT IN ('approved', 'rejected', 'paid')
  AND c.deleted_at IS NULL
  AND app.holds(:actor_id, c.brigade_id, 'treasurer')
  AND c.id > COALESCE(CAST(:p_after_id AS bigint), 0)
ORDER BY c.id
LIMIT LEAST(CAST(:p_limit AS int), 100);

--- member-search good
SELECT m.id, m.full_name, b.name AS brigade, m.status,
       CASE WHEN m.id = :actor_id
              OR app.holds(:actor_id, m.brigade_id, 'captain')
              OR app.is_district_officer(:actor_id, :district_id)
            THEN m.email END AS email
FROM member m
JOIN brigade b ON b.district_id = m.district_id AND b.id = m.brigade_id
WHERE m.district_id = :district_id
  AND m.deleted_at IS NULL
  AND m.full_name ILIKE '%' || app.like_escape(:p_name) || '%'
  AND (CAST(:p_brigade_id AS bigint) IS NULL OR m.brigade_id = :p_brigade_id)
  AND (m.status IN ('probationary', 'active')
       OR m.id = :actor_id
       OR app.holds(:actor_id, m.brigade_id, 'captain')
       OR app.is_district_officer(:actor_id, :district_id))
ORDER BY m.full_name, m.id
LIMIT LEAST(CAST(:p_limit AS int), 100);

--- member-search good
WITH sight AS (
  SELECT b.id AS brigade_id, b.district_id, b.name,
         (app.holds(:actor_id, b.id, 'captain')
          OR app.is_district_officer(:actor_id, :district_id)) AS full_view
  FROM brigade b
  WHERE b.district_id = :district_id
)
SELECT m.id, m.full_name, b.name AS brigade, m.status, extra.email
FROM sight b
JOIN member m ON m.district_id = b.district_id AND m.brigade_id = b.brigade_id
LEFT JOIN LATERAL (
  SELECT m.email WHERE b.full_view
) extra ON true
WHERE m.deleted_at IS NULL
  AND starts_with(lower(m.full_name), lower(:p_prefix))
  AND (b.full_view OR m.status NOT IN ('suspended', 'resigned'))
ORDER BY ${o_sort} ${o_dir}, m.id
LIMIT 40 OFFSET 40 * LEAST(GREATEST(COALESCE(CAST(:p_page AS int), 0), 0), 500);

--- member-search bad 12
SELECT m.id, m.full_name, b.name AS brigade, m.status,
       CASE WHEN m.id = :actor_id
              OR app.holds(:actor_id, m.brigade_id, 'captain')
              OR app.is_district_officer(:actor_id, :district_id)
            THEN m.email END AS email
FROM member m
JOIN brigade b ON b.district_id = m.district_id AND b.id = m.brigade_id
WHERE m.district_id = :district_id
  AND m.deleted_at IS NULL
  AND (m.full_name ILIKE '%${p_name}%' OR b.name ILIKE app.like_escape(:p_brigade) || '%')
  AND (m.status IN ('probationary', 'active')
       OR app.holds(:actor_id, m.brigade_id, 'captain')
       OR app.is_district_officer(:actor_id, :district_id))
ORDER BY ${o_sort} ${o_dir}, m.id
LIMIT LEAST(CAST(:p_limit AS int), 100);

--- member-search bad 6
WITH sight AS (
  SELECT b.id AS brigade_id, b.district_id, b.name,
         (app.holds(:actor_id, b.id, 'captain')
          OR app.is_district_officer(:actor_id, :district_id)) AS full_view
  FROM brigade b
  WHERE b.district_id = :district_id
)
SELECT m.id, m.full_name, b.name AS brigade, m.status,
       CASE WHEN b.full_view OR m.id = :actor_id THEN m.email END AS email
FROM sight b
JOIN member m ON m.district_id = b.district_id AND m.brigade_id = b.brigade_id
WHERE m.deleted_at IS NULL
  AND starts_with(lower(m.full_name), lower(:p_prefix))
  AND (CAST(:p_status AS member_status) IS NULL OR m.status = CAST(:p_status AS member_status))
ORDER BY ${o_sort} ${o_dir}, m.id
LIMIT LEAST(CAST(:p_limit AS int), 100);

--- member-search bad 4
SELECT (to_jsonb(m) - 'medical_note' - 'iban' - 'deleted_at' - 'email')
         || jsonb_build_object('brigade', b.name) AS entry
FROM member m
JOIN brigade b ON b.district_id = m.district_id AND b.id = m.brigade_id
WHERE m.district_id = :district_id
  AND m.deleted_at IS NULL
  AND m.full_name ILIKE app.like_escape(:p_name) || '%'
  AND (m.status IN ('probationary', 'active')
       OR app.holds(:actor_id, m.brigade_id, 'captain')
       OR app.is_district_officer(:actor_id, :district_id))
ORDER BY m.full_name, m.id
LIMIT LEAST(CAST(:p_limit AS int), 100);

--- expiring-qualifications good
WITH clock AS (
  SELECT app.local_day(now(), :district_id) AS today
)
SELECT q.id, m.full_name, qt.code, q.expires_on, q.expires_on - k.today AS days_left
FROM clock k
CROSS JOIN qualification q
JOIN member m ON m.district_id = q.district_id AND m.id = q.member_id
JOIN qualification_type qt ON qt.id = q.type_id
WHERE q.district_id = :district_id
  AND m.brigade_id = :p_brigade_id
  AND q.deleted_at IS NULL
  AND m.deleted_at IS NULL
  AND q.revoked_at IS NULL
  AND q.verified_by IS NOT NULL
  AND q.expires_on BETWEEN k.today AND k.today + LEAST(GREATEST(CAST(:p_days AS int), 0), 365)
  AND NOT EXISTS (
    SELECT 1 FROM qualification n
    WHERE n.district_id = q.district_id AND n.member_id = q.member_id AND n.type_id = q.type_id
      AND n.deleted_at IS NULL AND n.revoked_at IS NULL AND n.verified_by IS NOT NULL
      AND (n.expires_on IS NULL OR n.expires_on > q.expires_on))
  AND (app.holds(:actor_id, m.brigade_id, 'captain')
       OR app.is_district_officer(:actor_id, :district_id))
ORDER BY q.expires_on, q.id
LIMIT LEAST(CAST(:p_limit AS int), 100);

--- expiring-qualifications good
WITH area AS (
  SELECT b.district_id, b.id AS brigade_id, (now() AT TIME ZONE d.tz)::date AS today
  FROM district d
  JOIN brigade b ON b.district_id = d.id
  WHERE d.id = :district_id
    AND EXISTS (
      SELECT 1 FROM office o
      WHERE o.district_id = :district_id
        AND o.member_id = :actor_id
        AND ((o.role = 'captain' AND o.brigade_id = b.id)
             OR (o.role = 'district_officer' AND o.brigade_id IS NULL))
        AND o.revoked_at IS NULL
        AND o.valid_from <= now()
        AND COALESCE(o.valid_until, 'infinity') > now())
), latest AS (
  SELECT q.id, q.type_id, q.expires_on, m.full_name, a.brigade_id, a.today,
         row_number() OVER (PARTITION BY q.member_id, q.type_id
                            ORDER BY q.expires_on DESC NULLS FIRST, q.id DESC) AS rn
  FROM area a
  JOIN member m ON m.district_id = a.district_id AND m.brigade_id = a.brigade_id AND m.deleted_at IS NULL
  JOIN qualification q ON q.district_id = m.district_id AND q.member_id = m.id
  WHERE q.deleted_at IS NULL AND q.revoked_at IS NULL AND q.verified_by IS NOT NULL
)
SELECT l.id, l.brigade_id, l.full_name, qt.code, l.expires_on
FROM latest l
JOIN qualification_type qt ON qt.id = l.type_id
WHERE l.rn = 1
  AND l.expires_on >= l.today
  AND l.expires_on < l.today + 90
ORDER BY l.expires_on, l.full_name, l.id
FETCH FIRST 100 ROWS ONLY;

--- expiring-qualifications bad 3
WITH clock AS (
  SELECT app.local_day(now(), :district_id) AS today
), latest AS (
  SELECT DISTINCT ON (q.member_id, q.type_id) q.id, q.type_id, q.expires_on, m.full_name
  FROM qualification q
  JOIN member m ON m.district_id = q.district_id AND m.id = q.member_id
  WHERE q.district_id = :district_id
    AND m.brigade_id = :p_brigade_id
    AND q.deleted_at IS NULL
    AND q.revoked_at IS NULL
    AND q.verified_by IS NOT NULL
    AND (app.holds(:actor_id, m.brigade_id, 'captain')
         OR app.is_district_officer(:actor_id, :district_id))
  ORDER BY q.member_id, q.type_id, q.expires_on DESC NULLS FIRST, q.id DESC
)
SELECT l.id, l.full_name, qt.code, l.expires_on, l.expires_on - k.today AS days_left
FROM latest l
JOIN qualification_type qt ON qt.id = l.type_id
CROSS JOIN clock k
WHERE l.expires_on BETWEEN k.today AND k.today + LEAST(GREATEST(CAST(:p_days AS int), 0), 365)
ORDER BY l.expires_on, l.id
LIMIT LEAST(CAST(:p_limit AS int), 100);

--- expiring-qualifications bad 5
WITH clock AS (
  SELECT app.local_day(now(), :district_id) AS today
)
SELECT q.id, m.full_name, qt.code, q.expires_on, q.expires_on - k.today AS days_left
FROM clock k
CROSS JOIN qualification q
JOIN member m ON m.district_id = q.district_id AND m.id = q.member_id
JOIN qualification_type qt ON qt.id = q.type_id
WHERE q.district_id = :district_id
  AND m.brigade_id = :p_brigade_id
  AND q.deleted_at IS NULL
  AND m.deleted_at IS NULL
  AND q.revoked_at IS NULL
  AND q.verified_by IS NOT NULL
  AND q.expires_on BETWEEN k.today AND k.today + GREATEST(CAST(:p_days AS int), 0)
  AND (app.holds(:actor_id, m.brigade_id, 'captain')
       OR app.is_district_officer(:actor_id, :district_id))
ORDER BY q.expires_on, q.id
LIMIT COALESCE(CAST(:p_limit AS int), 100);

--- expiring-qualifications bad 2
WITH area AS (
  SELECT b.district_id, b.id AS brigade_id
  FROM brigade b
  WHERE b.district_id = :district_id
    AND EXISTS (
      SELECT 1 FROM office o
      WHERE o.district_id = b.district_id
        AND o.member_id = :actor_id
        AND ((o.role = 'captain' AND o.brigade_id = b.id)
             OR (o.role = 'district_officer' AND o.brigade_id IS NULL))
        AND o.revoked_at IS NULL
        AND o.valid_from <= now()
        AND COALESCE(o.valid_until, 'infinity') > now())
)
SELECT q.id, a.brigade_id, m.full_name, qt.code, q.expires_on,
       q.expires_on - CURRENT_DATE AS days_left
FROM area a
JOIN member m ON m.district_id = a.district_id AND m.brigade_id = a.brigade_id AND m.deleted_at IS NULL
JOIN qualification q ON q.district_id = m.district_id AND q.member_id = m.id
JOIN qualification_type qt ON qt.id = q.type_id
WHERE q.deleted_at IS NULL AND q.revoked_at IS NULL AND q.verified_by IS NOT NULL
  AND q.expires_on BETWEEN CURRENT_DATE AND CURRENT_DATE + 90
ORDER BY q.expires_on, q.id
LIMIT LEAST(CAST(:p_limit AS int), 100);

--- callout-log good
SELECT co.id, co.kind, co.place, co.opened_at, co.state,
       CASE WHEN co.state = 'open' AND app.holds(:actor_id, co.brigade_id, 'captain')
            THEN co.caller_phone END AS caller_phone,
       count(a.member_id) AS attended,
       sum(EXTRACT(epoch FROM COALESCE(a.left_at, co.closed_at, now()) - a.turned_out_at)) / 3600 AS hours
FROM callout co
LEFT JOIN attendance a ON a.district_id = co.district_id AND a.callout_id = co.id
WHERE co.district_id = :district_id
  AND co.brigade_id = :p_brigade_id
  AND co.deleted_at IS NULL
  AND (app.holds(:actor_id, co.brigade_id, 'captain')
       OR app.is_district_officer(:actor_id, :district_id)
       OR EXISTS (SELECT 1 FROM attendance mine
                  WHERE mine.district_id = co.district_id AND mine.callout_id = co.id
                    AND mine.member_id = :actor_id)
       OR (NOT co.confidential
           AND EXISTS (SELECT 1 FROM member me
                       WHERE me.district_id = co.district_id AND me.id = :actor_id
                         AND me.brigade_id = co.brigade_id)))
GROUP BY co.id
ORDER BY co.opened_at DESC, co.id DESC
LIMIT LEAST(CAST(:p_limit AS int), 100);

--- callout-log good
WITH viewer AS (
  SELECT b.district_id, b.id AS brigade_id,
         app.holds(:actor_id, b.id, 'captain') AS is_captain,
         EXISTS (SELECT 1 FROM member me
                 WHERE me.district_id = b.district_id AND me.brigade_id = b.id
                   AND me.id = :actor_id AND me.deleted_at IS NULL) AS is_member
  FROM brigade b
  WHERE b.district_id = :district_id AND b.id = :p_brigade_id
)
SELECT co.id, co.kind, co.place, co.opened_at, co.closed_at, crew.names, crew.strength
FROM viewer v
JOIN callout co ON co.district_id = v.district_id AND co.brigade_id = v.brigade_id
CROSS JOIN LATERAL (
  SELECT array_agg(m.full_name ORDER BY a.turned_out_at, m.id) AS names,
         count(*) AS strength,
         COALESCE(bool_or(a.member_id = :actor_id), false) AS was_there
  FROM attendance a
  JOIN member m ON m.district_id = a.district_id AND m.id = a.member_id
  WHERE a.district_id = co.district_id AND a.callout_id = co.id
) crew
WHERE co.deleted_at IS NULL
  AND (v.is_captain OR crew.was_there OR (v.is_member AND co.confidential IS FALSE))
  AND co.id < COALESCE(CAST(:p_before_id AS bigint), 9223372036854775807)
ORDER BY co.id DESC
LIMIT 30;

--- callout-log bad 6
WITH viewer AS (
  SELECT b.district_id, b.id AS brigade_id
  FROM brigade b
  WHERE b.district_id = :district_id AND b.id = :p_brigade_id
    AND (app.holds(:actor_id, b.id, 'captain')
         OR app.is_district_officer(:actor_id, :district_id)
         OR EXISTS (SELECT 1 FROM member me
                    WHERE me.district_id = b.district_id AND me.brigade_id = b.id
                      AND me.id = :actor_id AND me.deleted_at IS NULL))
)
SELECT co.id, co.kind, co.place, co.opened_at, co.closed_at, co.confidential, crew.names, crew.strength
FROM viewer v
JOIN callout co ON co.district_id = v.district_id AND co.brigade_id = v.brigade_id
CROSS JOIN LATERAL (
  SELECT array_agg(m.full_name ORDER BY a.turned_out_at, m.id) AS names, count(*) AS strength
  FROM attendance a
  JOIN member m ON m.district_id = a.district_id AND m.id = a.member_id
  WHERE a.district_id = co.district_id AND a.callout_id = co.id
) crew
WHERE co.deleted_at IS NULL
  AND co.id < COALESCE(CAST(:p_before_id AS bigint), 9223372036854775807)
ORDER BY co.id DESC
LIMIT 30;

--- callout-log bad 4
SELECT co.id, co.kind, co.place, co.opened_at, co.state,
       CASE WHEN app.holds(:actor_id, co.brigade_id, 'captain')
            THEN co.caller_phone END AS caller_phone,
       count(a.member_id) AS attended
FROM callout co
LEFT JOIN attendance a ON a.district_id = co.district_id AND a.callout_id = co.id
WHERE co.district_id = :district_id
  AND co.brigade_id = :p_brigade_id
  AND co.deleted_at IS NULL
  AND (app.holds(:actor_id, co.brigade_id, 'captain')
       OR app.is_district_officer(:actor_id, :district_id)
       OR (NOT co.confidential
           AND EXISTS (SELECT 1 FROM member me
                       WHERE me.district_id = co.district_id AND me.id = :actor_id
                         AND me.brigade_id = co.brigade_id)))
GROUP BY co.id
ORDER BY co.opened_at DESC, co.id DESC
LIMIT LEAST(CAST(:p_limit AS int), 100);

--- callout-log bad 3
WITH mine AS (
  SELECT a.district_id, a.callout_id
  FROM attendance a
  WHERE a.district_id = :district_id AND a.member_id = :actor_id
)
SELECT co.id, co.kind, co.place, co.opened_at, co.state,
       mine.callout_id IS NOT NULL AS was_there,
       (SELECT count(*) FROM attendance x
        WHERE x.district_id = co.district_id AND x.callout_id = co.id) AS attended
FROM callout co
LEFT JOIN mine ON mine.district_id = co.district_id AND mine.callout_id = co.id
WHERE co.district_id = :district_id
  AND co.brigade_id = :p_brigade_id
  AND (app.holds(:actor_id, co.brigade_id, 'captain')
       OR mine.callout_id IS NOT NULL
       OR (NOT co.confidential
           AND EXISTS (SELECT 1 FROM member me
                       WHERE me.district_id = co.district_id AND me.id = :actor_id
                         AND me.brigade_id = co.brigade_id AND me.deleted_at IS NULL)))
ORDER BY co.opened_at DESC, co.id DESC
LIMIT LEAST(CAST(:p_limit AS int), 100);

--- open-shifts good
SELECT s.id, lower(s.during) AS starts, upper(s.during) AS ends, qt.code AS needs,
       s.seats - taken.n AS seats_left
FROM shift s
JOIN member me ON me.district_id = s.district_id AND me.brigade_id = s.brigade_id
LEFT JOIN qualification_type qt ON qt.id = s.required_type_id
CROSS JOIN LATERAL (
  SELECT count(*)::int AS n FROM booking k
  WHERE k.district_id = s.district_id AND k.shift_id = s.id AND k.cancelled_at IS NULL
) taken
WHERE s.district_id = :district_id
  AND me.id = :actor_id
  AND s.deleted_at IS NULL
  AND s.published_at IS NOT NULL
  AND lower(s.during) > now()
  AND taken.n < s.seats
ORDER BY lower(s.during), s.id
LIMIT LEAST(CAST(:p_limit AS int), 100);

--- open-shifts good
WITH home AS (
  SELECT m.district_id, m.brigade_id, d.tz
  FROM member m
  JOIN district d ON d.id = m.district_id
  WHERE m.id = :actor_id AND m.district_id = :district_id AND m.deleted_at IS NULL
), load AS (
  SELECT k.district_id, k.shift_id, count(*) AS n, bool_or(k.member_id = :actor_id) AS mine
  FROM booking k
  JOIN home h ON h.district_id = k.district_id
  JOIN shift ks ON ks.district_id = k.district_id AND ks.id = k.shift_id AND ks.brigade_id = h.brigade_id
  WHERE k.cancelled_at IS NULL AND ks.published_at IS NOT NULL AND ks.deleted_at IS NULL
  GROUP BY k.district_id, k.shift_id
)
SELECT s.id, to_char(lower(s.during) AT TIME ZONE h.tz, 'YYYY-MM-DD HH24:MI') AS local_start,
       s.seats, COALESCE(l.n, 0) AS booked, COALESCE(l.mine, false) AS mine
FROM home h
JOIN shift s ON s.district_id = h.district_id AND s.brigade_id = h.brigade_id
LEFT JOIN load l ON l.district_id = s.district_id AND l.shift_id = s.id
WHERE s.published_at IS NOT NULL AND s.deleted_at IS NULL
  AND s.during && tstzrange(CAST(:p_from AS timestamptz), CAST(:p_to AS timestamptz), '[)')
  AND lower(s.during) > now()
ORDER BY lower(s.during), s.id
LIMIT 60;

--- open-shifts bad 6
SELECT s.id, lower(s.during) AS starts, upper(s.during) AS ends, qt.code AS needs,
       s.seats - taken.n AS seats_left
FROM shift s
LEFT JOIN qualification_type qt ON qt.id = s.required_type_id
CROSS JOIN LATERAL (
  SELECT count(*)::int AS n FROM booking k
  WHERE k.district_id = s.district_id AND k.shift_id = s.id AND k.cancelled_at IS NULL
) taken
WHERE s.district_id = :district_id
  AND s.brigade_id = :p_brigade_id
  AND s.deleted_at IS NULL
  AND s.published_at IS NOT NULL
  AND lower(s.during) > now()
  AND taken.n < s.seats
ORDER BY lower(s.during), s.id
LIMIT LEAST(CAST(:p_limit AS int), 100);

--- open-shifts bad 3
WITH home AS (
  SELECT m.district_id, m.brigade_id
  FROM member m
  WHERE m.id = :actor_id AND m.district_id = :district_id AND m.deleted_at IS NULL
)
SELECT s.id, lower(s.during) AS starts, upper(s.during) AS ends, s.seats,
       count(k.id) FILTER (WHERE k.cancelled_at IS NULL) AS booked
FROM home h
JOIN shift s ON s.district_id = h.district_id AND s.brigade_id = h.brigade_id
LEFT JOIN booking k ON k.district_id = s.district_id AND k.shift_id = s.id
WHERE s.published_at IS NOT NULL
  AND lower(s.during) > now()
GROUP BY s.id
HAVING count(k.id) FILTER (WHERE k.cancelled_at IS NULL) < s.seats
ORDER BY lower(s.during), s.id
LIMIT LEAST(CAST(:p_limit AS int), 100);

--- open-shifts bad 5
WITH home AS (
  SELECT m.district_id, m.brigade_id
  FROM member m
  WHERE m.id = :actor_id AND m.district_id = :district_id AND m.deleted_at IS NULL
)
SELECT s.id, lower(s.during) AS starts, upper(s.during) AS ends, qt.code AS needs, s.seats,
       (SELECT count(*) FROM booking k
        WHERE k.district_id = s.district_id AND k.shift_id = s.id AND k.cancelled_at IS NULL) AS booked
FROM home h
JOIN shift s ON s.district_id = h.district_id AND s.brigade_id = h.brigade_id
LEFT JOIN qualification_type qt ON qt.id = s.required_type_id
WHERE s.published_at IS NOT NULL
  AND s.deleted_at IS NULL
  AND s.during && tstzrange(CAST(:p_from AS timestamptz), CAST(:p_to AS timestamptz), '[)')
  AND lower(s.during) > now()
ORDER BY lower(s.during), s.id;

--- claim-totals good
SELECT b.id, b.name,
       count(c.id) AS claims,
       COALESCE(sum(c.amount_cents) FILTER (WHERE c.state = 'paid'), 0) AS paid_cents,
       COALESCE(sum(c.amount_cents) FILTER (WHERE c.state IN ('submitted', 'approved')), 0) AS pending_cents
FROM brigade b
LEFT JOIN claim c
       ON c.district_id = b.district_id
      AND c.brigade_id = b.id
      AND c.state <> 'draft'
      AND c.deleted_at IS NULL
WHERE b.district_id = :district_id
  AND app.is_district_officer(:actor_id, :district_id)
GROUP BY b.id, b.name
ORDER BY b.name, b.id
LIMIT 100;

--- claim-totals good
WITH visible AS (
  SELECT c.brigade_id, c.state, c.amount_cents,
         EXTRACT(year FROM c.submitted_at AT TIME ZONE d.tz)::int AS local_year
  FROM claim c
  JOIN district d ON d.id = c.district_id
  WHERE c.district_id = :district_id
    AND c.deleted_at IS NULL
    AND c.state IN ('submitted', 'approved', 'rejected', 'paid')
    AND (app.is_district_officer(:actor_id, :district_id)
         OR app.holds(:actor_id, c.brigade_id, 'captain')
         OR app.holds(:actor_id, c.brigade_id, 'treasurer'))
)
SELECT v.brigade_id, b.name,
       sum(v.amount_cents) AS total_cents,
       rank() OVER (ORDER BY sum(v.amount_cents) DESC) AS place,
       jsonb_build_object('paid', count(*) FILTER (WHERE v.state = 'paid'),
                          'rejected', count(*) FILTER (WHERE v.state = 'rejected')) AS outcome
FROM visible v
JOIN brigade b ON b.id = v.brigade_id AND b.district_id = :district_id
WHERE v.local_year = :p_year
GROUP BY v.brigade_id, b.name
ORDER BY place, v.brigade_id
LIMIT 100;

--- claim-totals bad 6
SELECT b.id, b.name,
       count(c.id) AS claims,
       COALESCE(sum(c.amount_cents) FILTER (WHERE c.state = 'paid'), 0) AS paid_cents,
       COALESCE(sum(c.amount_cents) FILTER (WHERE c.state NOT IN ('paid', 'rejected')), 0) AS pending_cents
FROM brigade b
LEFT JOIN claim c
       ON c.district_id = b.district_id
      AND c.brigade_id = b.id
      AND c.deleted_at IS NULL
WHERE b.district_id = :district_id
  AND app.is_district_officer(:actor_id, :district_id)
GROUP BY b.id, b.name
ORDER BY b.name, b.id
LIMIT 100;

--- claim-totals bad 1
WITH visible AS (
  SELECT c.district_id, c.brigade_id, c.state, c.amount_cents
  FROM claim c
  WHERE c.deleted_at IS NULL
    AND c.state <> 'draft'
    AND (app.is_district_officer(:actor_id, c.district_id)
         OR app.holds(:actor_id, c.brigade_id, 'captain')
         OR app.holds(:actor_id, c.brigade_id, 'treasurer'))
)
SELECT b.id, b.name,
       sum(v.amount_cents) AS total_cents,
       count(*) FILTER (WHERE v.state = 'paid') AS paid,
       rank() OVER (ORDER BY sum(v.amount_cents) DESC) AS place
FROM visible v
JOIN brigade b ON b.district_id = v.district_id AND b.id = v.brigade_id
GROUP BY b.id, b.name
ORDER BY place, b.id
LIMIT 100;

--- claim-totals bad 3
WITH sums AS (
  SELECT c.brigade_id, c.district_id,
         sum(c.amount_cents) AS total_cents,
         sum(c.amount_cents) FILTER (WHERE c.state = 'paid') AS paid_cents,
         count(*) AS claims
  FROM claim c
  WHERE c.district_id = :district_id
    AND c.state <> 'draft'
  GROUP BY c.brigade_id, c.district_id
)
SELECT b.id, b.name, s.claims, s.total_cents, COALESCE(s.paid_cents, 0) AS paid_cents
FROM brigade b
JOIN sums s ON s.district_id = b.district_id AND s.brigade_id = b.id
WHERE b.district_id = :district_id
  AND (app.is_district_officer(:actor_id, :district_id)
       OR app.holds(:actor_id, b.id, 'treasurer'))
ORDER BY s.total_cents DESC, b.id
LIMIT 100;

--- decide-claim good
WITH decided AS (
  UPDATE claim c
  SET state = CASE WHEN :p_approve THEN 'approved'::claim_state ELSE 'rejected'::claim_state END,
      decided_by = :actor_id,
      decided_at = now(),
      decision_note = :p_note
  WHERE c.district_id = :district_id
    AND c.id = :p_claim_id
    AND c.deleted_at IS NULL
    AND c.state = 'submitted'
    AND c.member_id <> :actor_id
    AND app.holds(:actor_id, c.brigade_id, 'treasurer')
    AND NOT EXISTS (
      SELECT 1 FROM delegation d
      WHERE d.district_id = c.district_id AND d.brigade_id = c.brigade_id
        AND d.to_member_id = :actor_id AND d.from_member_id = c.member_id
        AND d.revoked_at IS NULL
        AND d.valid_from <= now() AND now() < d.valid_until)
  RETURNING c.id, c.district_id, c.state, c.decided_at
), noted AS (
  INSERT INTO audit_log (district_id, actor_id, action, subject, subject_id)
  SELECT x.district_id, :actor_id, x.state::text, 'claim', x.id FROM decided x
)
SELECT id, state, decided_at FROM decided;

--- decide-claim good
SELECT c.id
FROM claim c
WHERE c.district_id = :district_id
  AND c.id = :p_claim_id
  AND c.deleted_at IS NULL
  AND c.state = 'submitted'
  AND c.member_id IS DISTINCT FROM :actor_id
  AND EXISTS (
    SELECT 1 FROM office o
    WHERE o.brigade_id = c.brigade_id AND o.district_id = c.district_id
      AND o.member_id = :actor_id AND o.role = 'treasurer'
      AND o.revoked_at IS NULL AND o.valid_from <= now()
      AND (o.valid_until IS NULL OR o.valid_until > now()))
  AND c.member_id NOT IN (
    SELECT d.from_member_id FROM delegation d
    WHERE d.district_id = c.district_id AND d.brigade_id = c.brigade_id
      AND d.to_member_id = :actor_id AND d.revoked_at IS NULL)
FOR UPDATE OF c;

INSERT INTO audit_log (district_id, actor_id, action, subject, subject_id)
SELECT c.district_id, :actor_id, 'decide', 'claim', c.id
FROM claim c
WHERE c.district_id = :district_id AND c.id = :p_claim_id
  AND c.state = 'submitted' AND c.deleted_at IS NULL;

UPDATE claim
SET state = CASE WHEN :p_verdict = 'approve' THEN 'approved' ELSE 'rejected' END::claim_state,
    decided_by = :actor_id, decided_at = now(), decision_note = left(:p_note, 500)
WHERE district_id = :district_id AND id = :p_claim_id
  AND state = 'submitted' AND deleted_at IS NULL
RETURNING id, state, decided_at;

--- decide-claim bad 8
WITH decided AS (
  UPDATE claim c
  SET state = CASE WHEN :p_approve THEN 'approved'::claim_state ELSE 'rejected'::claim_state END,
      decided_by = :actor_id,
      decided_at = now(),
      decision_note = :p_note
  WHERE c.district_id = :district_id
    AND c.id = :p_claim_id
    AND c.deleted_at IS NULL
    AND c.state = 'submitted'
    AND c.member_id <> :actor_id
    AND app.holds(:actor_id, c.brigade_id, 'treasurer')
  RETURNING c.id, c.district_id, c.state, c.decided_at
), noted AS (
  INSERT INTO audit_log (district_id, actor_id, action, subject, subject_id)
  SELECT x.district_id, :actor_id, x.state::text, 'claim', x.id FROM decided x
)
SELECT id, state, decided_at FROM decided;

--- decide-claim bad 7
WITH decided AS (
  UPDATE claim c
  SET state = CAST(:p_outcome AS claim_state),
      decided_by = :actor_id,
      decided_at = now(),
      decision_note = :p_note
  WHERE c.district_id = :district_id
    AND c.id = :p_claim_id
    AND c.deleted_at IS NULL
    AND c.state = 'submitted'
    AND CAST(:p_outcome AS claim_state) IN ('approved', 'rejected', 'draft')
    AND c.member_id <> :actor_id
    AND app.holds(:actor_id, c.brigade_id, 'treasurer')
    AND NOT EXISTS (
      SELECT 1 FROM delegation d
      WHERE d.district_id = c.district_id AND d.brigade_id = c.brigade_id
        AND d.to_member_id = :actor_id AND d.from_member_id = c.member_id
        AND d.revoked_at IS NULL
        AND d.valid_from <= now() AND now() < d.valid_until)
  RETURNING c.id, c.district_id, c.state
), noted AS (
  INSERT INTO audit_log (district_id, actor_id, action, subject, subject_id)
  SELECT x.district_id, :actor_id, x.state::text, 'claim', x.id FROM decided x
)
SELECT id, state FROM decided;

--- decide-claim bad 13
WITH decided AS (
  UPDATE claim c
  SET state = CASE WHEN :p_approve THEN 'approved'::claim_state ELSE 'rejected'::claim_state END,
      decided_by = :actor_id,
      decided_at = now(),
      decision_note = :p_note
  WHERE c.district_id = :district_id
    AND c.id = ANY (CAST(:p_claim_ids AS bigint[]))
    AND c.deleted_at IS NULL
    AND c.state = 'submitted'
    AND c.member_id <> :actor_id
    AND app.holds(:actor_id, c.brigade_id, 'treasurer')
    AND NOT EXISTS (
      SELECT 1 FROM delegation d
      WHERE d.district_id = c.district_id AND d.brigade_id = c.brigade_id
        AND d.to_member_id = :actor_id AND d.from_member_id = c.member_id
        AND d.revoked_at IS NULL
        AND d.valid_from <= now() AND now() < d.valid_until)
  RETURNING c.id, c.district_id, c.state
), noted AS (
  INSERT INTO audit_log (district_id, actor_id, action, subject, subject_id)
  SELECT x.district_id, :actor_id, 'approve', 'claim', x.id
  FROM decided x
  WHERE x.state = 'approved'
)
SELECT count(*) AS decided, count(*) FILTER (WHERE state = 'approved') AS approved FROM decided;

--- decide-claim bad 7,11
SELECT c.id
FROM claim c
WHERE c.district_id = :district_id
  AND c.id = :p_claim_id
  AND c.deleted_at IS NULL
  AND c.state = 'submitted'
  AND c.member_id <> :actor_id
  AND app.holds(:actor_id, c.brigade_id, 'treasurer')
  AND NOT EXISTS (
    SELECT 1 FROM delegation d
    WHERE d.district_id = c.district_id AND d.brigade_id = c.brigade_id
      AND d.to_member_id = :actor_id AND d.from_member_id = c.member_id
      AND d.revoked_at IS NULL
      AND d.valid_from <= now() AND now() < d.valid_until);

WITH decided AS (
  UPDATE claim
  SET state = CASE WHEN :p_approve THEN 'approved'::claim_state ELSE 'rejected'::claim_state END,
      decided_by = :actor_id, decided_at = now(), decision_note = :p_note
  WHERE district_id = :district_id AND id = :p_claim_id AND deleted_at IS NULL
  RETURNING id, district_id, state
), noted AS (
  INSERT INTO audit_log (district_id, actor_id, action, subject, subject_id)
  SELECT x.district_id, :actor_id, x.state::text, 'claim', x.id FROM decided x
)
SELECT id, state FROM decided;

--- pay-claims good
WITH due AS (
  SELECT c.id, c.district_id
  FROM claim c
  WHERE c.district_id = :district_id
    AND c.id = ANY (CAST(:p_claim_ids AS bigint[]))
    AND c.state = 'approved'
    AND c.deleted_at IS NULL
    AND c.member_id <> :actor_id
    AND c.decided_by <> :actor_id
    AND app.holds(:actor_id, c.brigade_id, 'treasurer')
    AND NOT EXISTS (
      SELECT 1 FROM delegation d
      WHERE d.district_id = c.district_id AND d.brigade_id = c.brigade_id
        AND d.from_member_id = c.member_id AND d.to_member_id = :actor_id
        AND d.revoked_at IS NULL AND d.valid_from <= now() AND d.valid_until > now())
  ORDER BY c.id
  LIMIT 100
  FOR UPDATE OF c SKIP LOCKED
), paid AS (
  UPDATE claim c SET state = 'paid', paid_at = now()
  FROM due
  WHERE c.id = due.id AND c.district_id = due.district_id AND c.state = 'approved'
  RETURNING c.id, c.district_id, c.member_id, c.amount_cents
), slip AS (
  INSERT INTO claim_payment (claim_id, district_id, paid_by, amount_cents)
  SELECT p.id, p.district_id, :actor_id, p.amount_cents FROM paid p
), noted AS (
  INSERT INTO audit_log (district_id, actor_id, action, subject, subject_id)
  SELECT p.district_id, :actor_id, 'pay', 'claim', p.id FROM paid p
)
SELECT p.id, p.amount_cents, m.full_name,
       CASE WHEN m.deleted_at IS NULL THEN m.iban END AS iban
FROM paid p
JOIN member m ON m.district_id = p.district_id AND m.id = p.member_id
ORDER BY p.id
LIMIT 100;

--- pay-claims good
CREATE FUNCTION app.pay_claim(i_actor bigint, i_district bigint, p_claim bigint) RETURNS timestamptz
LANGUAGE plpgsql AS $$
DECLARE
  k claim;
  done timestamptz;
BEGIN
  SELECT * INTO k FROM claim c
  WHERE c.district_id = i_district AND c.id = p_claim AND c.deleted_at IS NULL
  FOR UPDATE;
  IF NOT FOUND OR NOT app.holds(i_actor, k.brigade_id, 'treasurer') THEN
    RAISE EXCEPTION 'not found';
  END IF;
  IF k.state <> 'approved' THEN
    RAISE EXCEPTION 'claim is not approved';
  END IF;
  IF k.decided_by IS NULL OR i_actor IN (k.decided_by, k.member_id) THEN
    RAISE EXCEPTION 'a second person is needed';
  END IF;
  PERFORM 1 FROM delegation d
  WHERE d.district_id = i_district AND d.brigade_id = k.brigade_id
    AND d.from_member_id = k.member_id AND d.to_member_id = i_actor
    AND d.revoked_at IS NULL AND now() >= d.valid_from AND now() < d.valid_until;
  IF FOUND THEN
    RAISE EXCEPTION 'delegate of the claimant';
  END IF;
  UPDATE claim SET state = 'paid', paid_at = now()
  WHERE district_id = i_district AND id = k.id
  RETURNING paid_at INTO done;
  INSERT INTO claim_payment (claim_id, district_id, paid_by, amount_cents)
  VALUES (k.id, i_district, i_actor, k.amount_cents);
  INSERT INTO audit_log (district_id, actor_id, action, subject, subject_id)
  VALUES (i_district, i_actor, 'pay', 'claim', k.id);
  RETURN done;
END $$;

--- pay-claims bad 8
WITH paid AS (
  UPDATE claim c SET state = 'paid', paid_at = now()
  WHERE c.district_id = :district_id
    AND c.id = ANY (CAST(:p_claim_ids AS bigint[]))
    AND c.state = 'approved'
    AND c.deleted_at IS NULL
    AND c.member_id <> :actor_id
    AND app.holds(:actor_id, c.brigade_id, 'treasurer')
    AND NOT EXISTS (
      SELECT 1 FROM delegation d
      WHERE d.district_id = c.district_id AND d.brigade_id = c.brigade_id
        AND d.from_member_id = c.member_id AND d.to_member_id = :actor_id
        AND d.revoked_at IS NULL AND d.valid_from <= now() AND d.valid_until > now())
  RETURNING c.id, c.district_id, c.amount_cents
), slip AS (
  INSERT INTO claim_payment (claim_id, district_id, paid_by, amount_cents)
  SELECT p.id, p.district_id, :actor_id, p.amount_cents FROM paid p
), noted AS (
  INSERT INTO audit_log (district_id, actor_id, action, subject, subject_id)
  SELECT p.district_id, :actor_id, 'pay', 'claim', p.id FROM paid p
)
SELECT count(*) AS paid, COALESCE(sum(amount_cents), 0) AS total_cents FROM paid;

--- pay-claims bad 3
CREATE FUNCTION app.pay_claim(i_actor bigint, i_district bigint, p_claim bigint) RETURNS timestamptz
LANGUAGE plpgsql AS $$
DECLARE
  k claim;
BEGIN
  SELECT * INTO k FROM claim c
  WHERE c.district_id = i_district AND c.id = p_claim
  FOR UPDATE;
  IF NOT FOUND OR NOT app.holds(i_actor, k.brigade_id, 'treasurer') THEN
    RAISE EXCEPTION 'not found';
  END IF;
  IF k.state <> 'approved' OR k.decided_by IS NULL OR i_actor IN (k.decided_by, k.member_id) THEN
    RAISE EXCEPTION 'not payable by this person';
  END IF;
  IF EXISTS (SELECT 1 FROM delegation d
             WHERE d.district_id = i_district AND d.brigade_id = k.brigade_id
               AND d.from_member_id = k.member_id AND d.to_member_id = i_actor
               AND d.revoked_at IS NULL AND now() >= d.valid_from AND now() < d.valid_until) THEN
    RAISE EXCEPTION 'delegate of the claimant';
  END IF;
  UPDATE claim SET state = 'paid', paid_at = now() WHERE district_id = i_district AND id = k.id;
  INSERT INTO claim_payment (claim_id, district_id, paid_by, amount_cents)
  VALUES (k.id, i_district, i_actor, k.amount_cents);
  INSERT INTO audit_log (district_id, actor_id, action, subject, subject_id)
  VALUES (i_district, i_actor, 'pay', 'claim', k.id);
  RETURN now();
END $$;

--- pay-claims bad 1
WITH paid AS (
  UPDATE claim c SET state = 'paid', paid_at = now()
  WHERE c.id = ANY (CAST(:p_claim_ids AS bigint[]))
    AND c.state = 'approved'
    AND c.deleted_at IS NULL
    AND :actor_id NOT IN (c.member_id, c.decided_by)
    AND app.holds(:actor_id, c.brigade_id, 'treasurer')
    AND NOT EXISTS (
      SELECT 1 FROM delegation d
      WHERE d.district_id = c.district_id AND d.brigade_id = c.brigade_id
        AND d.from_member_id = c.member_id AND d.to_member_id = :actor_id
        AND d.revoked_at IS NULL AND d.valid_from <= now() AND d.valid_until > now())
  RETURNING c.id, c.district_id, c.amount_cents
), slip AS (
  INSERT INTO claim_payment (claim_id, district_id, paid_by, amount_cents)
  SELECT p.id, p.district_id, :actor_id, p.amount_cents FROM paid p
), noted AS (
  INSERT INTO audit_log (district_id, actor_id, action, subject, subject_id)
  SELECT p.district_id, :actor_id, 'pay', 'claim', p.id FROM paid p
)
SELECT count(*) AS paid, COALESCE(sum(amount_cents), 0) AS total_cents FROM paid;

--- book-shift good
SELECT s.id
FROM shift s
WHERE s.district_id = :district_id
  AND s.id = :p_shift_id
  AND s.deleted_at IS NULL
  AND s.published_at IS NOT NULL
  AND lower(s.during) > now()
FOR UPDATE;

INSERT INTO booking (district_id, shift_id, member_id, booked_by)
SELECT s.district_id, s.id, m.id, :actor_id
FROM shift s
JOIN member m ON m.district_id = s.district_id AND m.brigade_id = s.brigade_id
WHERE s.district_id = :district_id
  AND s.id = :p_shift_id
  AND s.deleted_at IS NULL AND s.published_at IS NOT NULL AND lower(s.during) > now()
  AND m.id = :p_member_id
  AND m.deleted_at IS NULL
  AND m.status = 'active'
  AND (m.id = :actor_id OR app.holds(:actor_id, s.brigade_id, 'captain'))
  AND (s.required_type_id IS NULL OR EXISTS (
        SELECT 1 FROM qualification q
        WHERE q.district_id = m.district_id AND q.member_id = m.id
          AND q.type_id = s.required_type_id
          AND q.deleted_at IS NULL AND q.revoked_at IS NULL AND q.verified_by IS NOT NULL
          AND q.issued_on <= app.local_day(lower(s.during), s.district_id)
          AND (q.expires_on IS NULL OR q.expires_on >= app.local_day(upper(s.during), s.district_id))))
  AND (SELECT count(*) FROM booking k
       WHERE k.district_id = s.district_id AND k.shift_id = s.id AND k.cancelled_at IS NULL) < s.seats
ON CONFLICT (shift_id, member_id) WHERE cancelled_at IS NULL DO NOTHING
RETURNING id, shift_id, member_id, booked_at;

--- book-shift good
CREATE FUNCTION app.book_me(i_actor bigint, i_district bigint, p_shift bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  s shift;
  span daterange;
  taken int;
  new_id bigint;
BEGIN
  SELECT * INTO s FROM shift x
  WHERE x.id = p_shift AND x.district_id = i_district AND x.deleted_at IS NULL
  FOR NO KEY UPDATE;
  IF NOT FOUND OR s.published_at IS NULL OR lower(s.during) <= now() THEN
    RAISE EXCEPTION 'no such shift';
  END IF;
  PERFORM 1 FROM member m
  WHERE m.id = i_actor AND m.district_id = i_district AND m.brigade_id = s.brigade_id
    AND m.status = 'active' AND m.deleted_at IS NULL;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such shift';
  END IF;
  IF s.required_type_id IS NOT NULL THEN
    span := daterange(app.local_day(lower(s.during), i_district), app.local_day(upper(s.during), i_district), '[]');
    PERFORM 1 FROM qualification q
    WHERE q.district_id = i_district AND q.member_id = i_actor AND q.type_id = s.required_type_id
      AND q.verified_by IS NOT NULL AND q.revoked_at IS NULL AND q.deleted_at IS NULL
      AND (q.expires_on IS NULL OR q.expires_on >= q.issued_on)
      AND daterange(q.issued_on, q.expires_on, '[]') @> span;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'not qualified for the whole shift';
    END IF;
  END IF;
  SELECT count(*) INTO taken FROM booking k
  WHERE k.district_id = i_district AND k.shift_id = s.id AND k.cancelled_at IS NULL;
  IF taken >= s.seats THEN
    RAISE EXCEPTION 'shift is full';
  END IF;
  INSERT INTO booking (district_id, shift_id, member_id, booked_by)
  VALUES (i_district, s.id, i_actor, i_actor)
  RETURNING id INTO new_id;
  RETURN new_id;
END $$;

--- book-shift bad 11
WITH locked AS (
  SELECT s.id, s.district_id, s.brigade_id, s.during, s.seats, s.required_type_id
  FROM shift s
  WHERE s.district_id = :district_id
    AND s.id = :p_shift_id
    AND s.deleted_at IS NULL
    AND s.published_at IS NOT NULL
    AND lower(s.during) > now()
  FOR UPDATE
), taken AS (
  SELECT count(*) AS n
  FROM booking k
  JOIN locked l ON l.district_id = k.district_id AND l.id = k.shift_id
  WHERE k.cancelled_at IS NULL
)
INSERT INTO booking (district_id, shift_id, member_id, booked_by)
SELECT l.district_id, l.id, m.id, :actor_id
FROM locked l
CROSS JOIN taken t
JOIN member m ON m.district_id = l.district_id AND m.brigade_id = l.brigade_id
WHERE m.id = :actor_id
  AND m.deleted_at IS NULL
  AND m.status = 'active'
  AND t.n < l.seats
  AND (l.required_type_id IS NULL OR EXISTS (
        SELECT 1 FROM qualification q
        WHERE q.district_id = m.district_id AND q.member_id = m.id
          AND q.type_id = l.required_type_id
          AND q.deleted_at IS NULL AND q.revoked_at IS NULL AND q.verified_by IS NOT NULL
          AND q.issued_on <= app.local_day(lower(l.during), l.district_id)
          AND (q.expires_on IS NULL OR q.expires_on >= app.local_day(upper(l.during), l.district_id))))
ON CONFLICT (shift_id, member_id) WHERE cancelled_at IS NULL DO NOTHING
RETURNING id, shift_id, booked_at;

--- book-shift bad 9
CREATE FUNCTION app.book_me(i_actor bigint, i_district bigint, p_shift bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  s shift;
  first_day date;
  new_id bigint;
BEGIN
  SELECT * INTO s FROM shift x
  WHERE x.id = p_shift AND x.district_id = i_district AND x.deleted_at IS NULL
  FOR NO KEY UPDATE;
  IF NOT FOUND OR s.published_at IS NULL OR lower(s.during) <= now() THEN
    RAISE EXCEPTION 'no such shift';
  END IF;
  PERFORM 1 FROM member m
  WHERE m.id = i_actor AND m.district_id = i_district AND m.brigade_id = s.brigade_id
    AND m.status = 'active' AND m.deleted_at IS NULL;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such shift';
  END IF;
  first_day := app.local_day(lower(s.during), i_district);
  IF s.required_type_id IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM qualification q
      WHERE q.district_id = i_district AND q.member_id = i_actor AND q.type_id = s.required_type_id
        AND q.verified_by IS NOT NULL AND q.revoked_at IS NULL AND q.deleted_at IS NULL
        AND q.issued_on <= first_day
        AND COALESCE(q.expires_on, 'infinity'::date) >= first_day) THEN
    RAISE EXCEPTION 'not qualified';
  END IF;
  IF (SELECT count(*) FROM booking k
      WHERE k.district_id = i_district AND k.shift_id = s.id AND k.cancelled_at IS NULL) >= s.seats THEN
    RAISE EXCEPTION 'shift is full';
  END IF;
  INSERT INTO booking (district_id, shift_id, member_id, booked_by)
  VALUES (i_district, s.id, i_actor, i_actor)
  RETURNING id INTO new_id;
  RETURN new_id;
END $$;

--- book-shift bad 3
SELECT s.id
FROM shift s
WHERE s.district_id = :district_id
  AND s.id = :p_shift_id
  AND s.deleted_at IS NULL
  AND s.published_at IS NOT NULL
  AND lower(s.during) > now()
FOR UPDATE;

INSERT INTO booking (district_id, shift_id, member_id, booked_by)
SELECT s.district_id, s.id, m.id, :actor_id
FROM shift s
JOIN member m ON m.district_id = s.district_id AND m.brigade_id = s.brigade_id
LEFT JOIN LATERAL (
  SELECT q.id
  FROM qualification q
  WHERE q.district_id = m.district_id AND q.member_id = m.id
    AND q.type_id = s.required_type_id
    AND q.revoked_at IS NULL AND q.verified_by IS NOT NULL
    AND q.issued_on <= app.local_day(lower(s.during), s.district_id)
    AND (q.expires_on IS NULL OR q.expires_on >= app.local_day(upper(s.during), s.district_id))
  LIMIT 1
) fit ON true
WHERE s.district_id = :district_id
  AND s.id = :p_shift_id
  AND m.id = :p_member_id
  AND m.deleted_at IS NULL
  AND m.status = 'active'
  AND (m.id = :actor_id OR app.holds(:actor_id, s.brigade_id, 'captain'))
  AND (s.required_type_id IS NULL OR fit.id IS NOT NULL)
  AND (SELECT count(*) FROM booking k
       WHERE k.district_id = s.district_id AND k.shift_id = s.id AND k.cancelled_at IS NULL) < s.seats
ON CONFLICT (shift_id, member_id) WHERE cancelled_at IS NULL DO NOTHING
RETURNING id, shift_id, member_id, booked_at;

--- lend-equipment good
SELECT e.id
FROM equipment e
WHERE e.district_id = :district_id
  AND e.id = :p_equipment_id
  AND e.deleted_at IS NULL
  AND app.holds(:actor_id, e.brigade_id, 'quartermaster')
FOR UPDATE;

INSERT INTO equipment_loan (district_id, equipment_id, member_id, lent_by, due_at)
SELECT e.district_id, e.id, m.id, :actor_id, CAST(:p_due_at AS timestamptz)
FROM equipment e
JOIN member m ON m.district_id = e.district_id AND m.brigade_id = e.brigade_id
WHERE e.district_id = :district_id
  AND e.id = :p_equipment_id
  AND e.deleted_at IS NULL
  AND e.state = 'in_service'
  AND e.inspected_on BETWEEN app.local_day(now(), e.district_id) - 365
                         AND app.local_day(now(), e.district_id)
  AND app.holds(:actor_id, e.brigade_id, 'quartermaster')
  AND m.id = :p_member_id
  AND m.id <> :actor_id
  AND m.deleted_at IS NULL
  AND m.status = 'active'
  AND CAST(:p_due_at AS timestamptz) > now()
  AND CAST(:p_due_at AS timestamptz) <= now() + interval '14 days'
  AND NOT EXISTS (
    SELECT 1 FROM equipment_loan l
    WHERE l.district_id = e.district_id AND l.equipment_id = e.id AND l.returned_at IS NULL)
RETURNING id, equipment_id, member_id, due_at;

--- lend-equipment good
CREATE FUNCTION app.lend(i_actor bigint, i_district bigint, p_equipment bigint, p_borrower bigint, p_days int)
RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE
  kit equipment;
  today date := app.local_day(now(), i_district);
  due timestamptz;
BEGIN
  SELECT * INTO kit FROM equipment e
  WHERE e.id = p_equipment AND e.district_id = i_district AND e.deleted_at IS NULL
  FOR NO KEY UPDATE;
  IF NOT FOUND OR NOT app.holds(i_actor, kit.brigade_id, 'quartermaster') THEN
    RAISE EXCEPTION 'not found';
  END IF;
  IF kit.state <> 'in_service' OR kit.inspected_on IS NULL
     OR kit.inspected_on < today - 365 OR kit.inspected_on > today THEN
    RAISE EXCEPTION 'not fit for lending';
  END IF;
  IF p_days IS NULL OR p_days NOT BETWEEN 1 AND 14 THEN
    RAISE EXCEPTION 'bad term';
  END IF;
  IF p_borrower IS NULL OR p_borrower = i_actor OR NOT EXISTS (
      SELECT 1 FROM member m
      WHERE m.id = p_borrower AND m.district_id = i_district AND m.brigade_id = kit.brigade_id
        AND m.status = 'active' AND m.deleted_at IS NULL) THEN
    RAISE EXCEPTION 'no such borrower';
  END IF;
  IF EXISTS (SELECT 1 FROM equipment_loan l
             WHERE l.equipment_id = kit.id AND l.district_id = i_district AND l.returned_at IS NULL) THEN
    RAISE EXCEPTION 'already lent';
  END IF;
  due := now() + make_interval(days => p_days);
  INSERT INTO equipment_loan (district_id, equipment_id, member_id, lent_by, due_at)
  VALUES (i_district, kit.id, p_borrower, i_actor, due);
  RETURN due;
END $$;

--- lend-equipment bad 11
INSERT INTO equipment_loan (district_id, equipment_id, member_id, lent_by, due_at)
SELECT e.district_id, e.id, m.id, :actor_id, CAST(:p_due_at AS timestamptz)
FROM equipment e
JOIN member m ON m.district_id = e.district_id AND m.brigade_id = e.brigade_id
WHERE e.district_id = :district_id
  AND e.id = :p_equipment_id
  AND e.deleted_at IS NULL
  AND e.state = 'in_service'
  AND e.inspected_on BETWEEN app.local_day(now(), e.district_id) - 365
                         AND app.local_day(now(), e.district_id)
  AND app.holds(:actor_id, e.brigade_id, 'quartermaster')
  AND m.id = :p_member_id
  AND m.id <> :actor_id
  AND m.deleted_at IS NULL
  AND m.status = 'active'
  AND CAST(:p_due_at AS timestamptz) > now()
  AND CAST(:p_due_at AS timestamptz) <= now() + interval '14 days'
  AND NOT EXISTS (
    SELECT 1 FROM equipment_loan l
    WHERE l.district_id = e.district_id AND l.equipment_id = e.id AND l.returned_at IS NULL)
RETURNING id, equipment_id, member_id, due_at;

--- lend-equipment bad 8
CREATE FUNCTION app.lend(i_actor bigint, i_district bigint, p_equipment bigint, p_borrower bigint, p_days int)
RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE
  kit equipment;
  today date := app.local_day(now(), i_district);
  due timestamptz;
BEGIN
  SELECT * INTO kit FROM equipment e
  WHERE e.id = p_equipment AND e.district_id = i_district AND e.deleted_at IS NULL
  FOR UPDATE;
  IF NOT FOUND OR NOT app.holds(i_actor, kit.brigade_id, 'quartermaster') THEN
    RAISE EXCEPTION 'not found';
  END IF;
  IF kit.state <> 'in_service' OR kit.inspected_on IS NULL
     OR kit.inspected_on NOT BETWEEN today - 365 AND today THEN
    RAISE EXCEPTION 'not fit for lending';
  END IF;
  IF p_days IS NULL OR p_days NOT BETWEEN 1 AND 14 THEN
    RAISE EXCEPTION 'bad term';
  END IF;
  PERFORM 1 FROM member m
  WHERE m.id = p_borrower AND m.district_id = i_district AND m.brigade_id = kit.brigade_id
    AND m.status = 'active' AND m.deleted_at IS NULL;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such borrower';
  END IF;
  PERFORM 1 FROM equipment_loan l
  WHERE l.equipment_id = kit.id AND l.district_id = i_district AND l.returned_at IS NULL;
  IF FOUND THEN
    RAISE EXCEPTION 'already lent';
  END IF;
  due := now() + make_interval(days => p_days);
  INSERT INTO equipment_loan (district_id, equipment_id, member_id, lent_by, due_at)
  VALUES (i_district, kit.id, p_borrower, i_actor, due);
  RETURN due;
END $$;

--- lend-equipment bad 9
SELECT e.id
FROM equipment e
WHERE e.district_id = :district_id
  AND e.id = :p_equipment_id
  AND e.deleted_at IS NULL
  AND app.holds(:actor_id, e.brigade_id, 'quartermaster')
FOR UPDATE;

INSERT INTO equipment_loan (district_id, equipment_id, member_id, lent_by, due_at)
SELECT e.district_id, e.id, m.id, :actor_id, LEAST(CAST(:p_due_at AS timestamptz), now() + interval '14 days')
FROM equipment e
JOIN member m ON m.district_id = e.district_id AND m.id = :p_member_id
WHERE e.district_id = :district_id
  AND e.id = :p_equipment_id
  AND e.deleted_at IS NULL
  AND e.state = 'in_service'
  AND e.inspected_on BETWEEN app.local_day(now(), e.district_id) - 365
                         AND app.local_day(now(), e.district_id)
  AND m.id <> :actor_id
  AND m.deleted_at IS NULL
  AND m.status = 'active'
  AND CAST(:p_due_at AS timestamptz) > now()
  AND NOT EXISTS (
    SELECT 1 FROM equipment_loan l
    WHERE l.district_id = e.district_id AND l.equipment_id = e.id AND l.returned_at IS NULL)
RETURNING id, equipment_id, member_id, due_at;

--- delegate-office good
WITH term AS (
  SELECT GREATEST(COALESCE(CAST(:p_from AS timestamptz), now()), now()) AS starts,
         CAST(:p_until AS timestamptz) AS ends
), granted AS (
  INSERT INTO delegation (district_id, brigade_id, role, from_member_id, to_member_id, valid_from, valid_until)
  SELECT o.district_id, o.brigade_id, o.role, o.member_id, m.id, t.starts, t.ends
  FROM term t
  CROSS JOIN office o
  JOIN member m ON m.district_id = o.district_id AND m.brigade_id = o.brigade_id
  WHERE o.district_id = :district_id
    AND o.brigade_id = :p_brigade_id
    AND o.member_id = :actor_id
    AND o.role = CAST(:p_role AS office_role)
    AND o.role IN ('captain', 'treasurer', 'quartermaster')
    AND o.revoked_at IS NULL
    AND o.valid_from <= now()
    AND (o.valid_until IS NULL OR o.valid_until > now())
    AND m.id = :p_delegate_id
    AND m.id <> o.member_id
    AND m.status = 'active'
    AND m.deleted_at IS NULL
    AND t.ends > t.starts
    AND t.ends <= t.starts + interval '30 days'
    AND (o.valid_until IS NULL OR t.ends <= o.valid_until)
  ORDER BY o.valid_until DESC NULLS FIRST, o.id
  LIMIT 1
  RETURNING id, district_id, brigade_id, role, valid_from, valid_until
), noted AS (
  INSERT INTO audit_log (district_id, actor_id, action, subject, subject_id)
  SELECT g.district_id, :actor_id, 'delegate', 'delegation', g.id FROM granted g
)
SELECT id, brigade_id, role, valid_from, valid_until FROM granted;

--- delegate-office good
CREATE FUNCTION app.delegate(i_actor bigint, i_district bigint, p_office bigint, p_to bigint, p_days int)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  own office;
  stop timestamptz;
  new_id bigint;
BEGIN
  SELECT * INTO own FROM office o
  WHERE o.id = p_office AND o.district_id = i_district AND o.member_id = i_actor
    AND o.role <> 'district_officer' AND o.brigade_id IS NOT NULL
    AND o.revoked_at IS NULL AND o.valid_from <= now()
    AND (o.valid_until IS NULL OR o.valid_until > now())
  FOR SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such office';
  END IF;
  IF p_days IS NULL OR p_days < 1 OR p_days > 30 THEN
    RAISE EXCEPTION 'a delegation runs from 1 to 30 days';
  END IF;
  stop := LEAST(now() + make_interval(days => p_days), own.valid_until);
  INSERT INTO delegation (district_id, brigade_id, role, from_member_id, to_member_id, valid_from, valid_until)
  SELECT own.district_id, own.brigade_id, own.role, i_actor, m.id, now(), stop
  FROM member m
  WHERE m.id = p_to AND m.district_id = i_district AND m.brigade_id = own.brigade_id
    AND m.id <> i_actor AND m.status = 'active' AND m.deleted_at IS NULL
  RETURNING id INTO new_id;
  IF new_id IS NULL THEN
    RAISE EXCEPTION 'no such member';
  END IF;
  INSERT INTO audit_log (district_id, actor_id, action, subject, subject_id)
  VALUES (i_district, i_actor, 'delegate', 'delegation', new_id);
  RETURN new_id;
END $$;

--- delegate-office bad 10
WITH term AS (
  SELECT GREATEST(COALESCE(CAST(:p_from AS timestamptz), now()), now()) AS starts,
         CAST(:p_until AS timestamptz) AS ends
), granted AS (
  INSERT INTO delegation (district_id, brigade_id, role, from_member_id, to_member_id, valid_from, valid_until)
  SELECT m.district_id, m.brigade_id, CAST(:p_role AS office_role), :actor_id, m.id, t.starts, t.ends
  FROM term t
  CROSS JOIN member m
  WHERE m.district_id = :district_id
    AND m.brigade_id = :p_brigade_id
    AND m.id = :p_delegate_id
    AND m.id <> :actor_id
    AND m.status = 'active'
    AND m.deleted_at IS NULL
    AND CAST(:p_role AS office_role) IN ('captain', 'treasurer', 'quartermaster')
    AND app.holds(:actor_id, m.brigade_id, CAST(:p_role AS office_role))
    AND t.ends > t.starts
    AND t.ends <= t.starts + interval '30 days'
    AND NOT EXISTS (
      SELECT 1 FROM office o
      WHERE o.district_id = m.district_id AND o.brigade_id = m.brigade_id
        AND o.role = CAST(:p_role AS office_role)
        AND o.revoked_at IS NULL AND o.valid_from <= now()
        AND o.valid_until > now() AND o.valid_until < t.ends)
  RETURNING id, district_id, brigade_id, role, valid_from, valid_until
), noted AS (
  INSERT INTO audit_log (district_id, actor_id, action, subject, subject_id)
  SELECT g.district_id, :actor_id, 'delegate', 'delegation', g.id FROM granted g
)
SELECT id, brigade_id, role, valid_from, valid_until FROM granted;

--- delegate-office bad 10
CREATE FUNCTION app.delegate(i_actor bigint, i_district bigint, p_office bigint, p_to bigint, p_days int)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  own office;
  new_id bigint;
BEGIN
  SELECT * INTO own FROM office o
  WHERE o.id = p_office AND o.district_id = i_district AND o.member_id = i_actor
    AND o.role <> 'district_officer' AND o.brigade_id IS NOT NULL
    AND o.revoked_at IS NULL AND o.valid_from <= now()
    AND (o.valid_until IS NULL OR o.valid_until > now());
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such office';
  END IF;
  IF p_days IS NULL OR p_days < 1 OR p_days > 30 THEN
    RAISE EXCEPTION 'a delegation runs from 1 to 30 days';
  END IF;
  INSERT INTO delegation (district_id, brigade_id, role, from_member_id, to_member_id, valid_from, valid_until)
  SELECT own.district_id, own.brigade_id, own.role, i_actor, m.id, now(), now() + make_interval(days => p_days)
  FROM member m
  WHERE m.id = p_to AND m.district_id = i_district AND m.brigade_id = own.brigade_id
    AND m.id <> i_actor AND m.status = 'active' AND m.deleted_at IS NULL
  RETURNING id INTO new_id;
  IF new_id IS NULL THEN
    RAISE EXCEPTION 'no such member';
  END IF;
  INSERT INTO audit_log (district_id, actor_id, action, subject, subject_id)
  VALUES (i_district, i_actor, 'delegate', 'delegation', new_id);
  RETURN new_id;
END $$;

--- delegate-office bad 13
INSERT INTO delegation (district_id, brigade_id, role, from_member_id, to_member_id, valid_from, valid_until)
SELECT o.district_id, o.brigade_id, o.role, o.member_id, m.id, now(), CAST(:p_until AS timestamptz)
FROM office o
JOIN member m ON m.district_id = o.district_id AND m.brigade_id = o.brigade_id
WHERE o.district_id = :district_id
  AND o.brigade_id = :p_brigade_id
  AND o.member_id = :actor_id
  AND o.role = CAST(:p_role AS office_role)
  AND o.role IN ('captain', 'treasurer', 'quartermaster')
  AND o.revoked_at IS NULL
  AND o.valid_from <= now()
  AND (o.valid_until IS NULL OR o.valid_until > now())
  AND m.id = :p_delegate_id
  AND m.id <> :actor_id
  AND m.status = 'active'
  AND m.deleted_at IS NULL
  AND CAST(:p_until AS timestamptz) > now()
  AND CAST(:p_until AS timestamptz) <= now() + interval '30 days'
  AND (o.valid_until IS NULL OR CAST(:p_until AS timestamptz) <= o.valid_until)
ORDER BY o.valid_until DESC NULLS FIRST
LIMIT 1
RETURNING id, brigade_id, role, valid_from, valid_until;

--- submit-claim good
UPDATE claim c
SET state = 'submitted', submitted_at = now()
WHERE c.district_id = :district_id
  AND c.id = :p_claim_id
  AND c.member_id = :actor_id
  AND c.state = 'draft'
  AND c.deleted_at IS NULL
  AND (c.callout_id IS NULL OR EXISTS (
        SELECT 1 FROM attendance a
        JOIN callout co ON co.district_id = a.district_id AND co.id = a.callout_id
        WHERE a.district_id = c.district_id AND a.callout_id = c.callout_id
          AND a.member_id = c.member_id
          AND co.deleted_at IS NULL))
RETURNING c.id, c.state, c.submitted_at, c.amount_cents;

--- submit-claim good
WITH mine AS (
  SELECT c.id, c.district_id, c.state
  FROM claim c
  WHERE c.district_id = :district_id
    AND c.id = ANY (CAST(:p_claim_ids AS bigint[]))
    AND c.member_id = :actor_id
    AND c.deleted_at IS NULL
    AND c.state IN ('draft', 'rejected')
  ORDER BY c.id
  LIMIT 50
  FOR UPDATE
), moved AS (
  UPDATE claim c
  SET state = CASE mine.state WHEN 'draft' THEN 'submitted'::claim_state ELSE 'draft'::claim_state END,
      submitted_at = CASE mine.state WHEN 'draft' THEN now() END
  FROM mine
  WHERE c.district_id = mine.district_id AND c.id = mine.id AND c.state = mine.state
  RETURNING c.id, c.state, c.category, c.amount_cents
)
SELECT id, state, category, amount_cents,
       sum(amount_cents) OVER (PARTITION BY state) AS cents_in_state
FROM moved
ORDER BY id
LIMIT 50;

--- submit-claim bad 7
UPDATE claim c
SET state = 'submitted', submitted_at = now(), decided_by = NULL, decided_at = NULL
WHERE c.district_id = :district_id
  AND c.id = :p_claim_id
  AND c.member_id = :actor_id
  AND c.state IN ('draft', 'rejected')
  AND c.deleted_at IS NULL
  AND (c.callout_id IS NULL OR EXISTS (
        SELECT 1 FROM attendance a
        JOIN callout co ON co.district_id = a.district_id AND co.id = a.callout_id
        WHERE a.district_id = c.district_id AND a.callout_id = c.callout_id
          AND a.member_id = c.member_id
          AND co.deleted_at IS NULL))
RETURNING c.id, c.state, c.submitted_at, c.amount_cents;

--- submit-claim bad 3
UPDATE claim c
SET state = 'submitted', submitted_at = now()
WHERE c.district_id = :district_id
  AND c.id = ANY (CAST(:p_claim_ids AS bigint[]))
  AND c.member_id = :actor_id
  AND c.state = 'draft'
  AND (c.callout_id IS NULL OR EXISTS (
        SELECT 1 FROM attendance a
        JOIN callout co ON co.district_id = a.district_id AND co.id = a.callout_id
        WHERE a.district_id = c.district_id AND a.callout_id = c.callout_id
          AND a.member_id = :actor_id
          AND co.deleted_at IS NULL))
RETURNING c.id, c.state, c.submitted_at;

--- submit-claim bad 12
CREATE FUNCTION app.submit_mine(i_actor bigint, i_district bigint, p_category text, p_max int) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
  cond text := '';
  moved int;
BEGIN
  IF p_category IS NOT NULL THEN
    cond := format(' AND c.category = ''%s''', p_category);
  END IF;
  EXECUTE 'UPDATE claim c SET state = ''submitted'', submitted_at = now()'
       || ' WHERE c.district_id = $1 AND c.member_id = $2'
       || ' AND c.state = ''draft'' AND c.deleted_at IS NULL'
       || ' AND c.amount_cents <= $3' || cond
  USING i_district, i_actor, COALESCE(p_max, 100000);
  GET DIAGNOSTICS moved = ROW_COUNT;
  RETURN moved;
END $$;
