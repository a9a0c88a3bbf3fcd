--- board good
SELECT t.trip_id, t.state, t.customer, t.leaves_at, k.plate
FROM trips t
JOIN depots d ON d.depot_id = t.depot_id AND d.carrier_id = :carrier AND NOT d.archived
LEFT JOIN trucks k ON k.truck_id = t.truck_id AND k.depot_id = t.depot_id AND NOT k.archived
WHERE NOT t.archived
  AND t.leaves_at >= date_trunc('day', now()) AND t.leaves_at < date_trunc('day', now()) + interval '7 days'
  AND EXISTS (
      SELECT FROM depot_roles r
      WHERE r.depot_id = d.depot_id AND r.user_id = :me
        AND r.valid_from <= now() AND (r.valid_to IS NULL OR r.valid_to > now()))
ORDER BY t.leaves_at
LIMIT 200
--- board good
WITH mine AS (
    SELECT DISTINCT r.depot_id
    FROM depot_roles r
    JOIN depots d USING (depot_id)
    WHERE r.user_id = :me
      AND now() >= r.valid_from AND now() < COALESCE(r.valid_to, 'infinity')
      AND d.carrier_id = :carrier
      AND d.archived = false
)
SELECT m.depot_id, s.trip_id, s.state, s.leaves_at
FROM mine m
CROSS JOIN LATERAL (
    SELECT t.trip_id, t.state, t.leaves_at
    FROM trips t
    WHERE t.depot_id = m.depot_id AND t.archived IS FALSE AND t.state <> 'cancelled'
    ORDER BY t.leaves_at
    LIMIT 10
) s
ORDER BY s.leaves_at
LIMIT 200
--- board bad 3
SELECT t.trip_id, t.state, t.customer, t.leaves_at
FROM trips t
JOIN depots d ON d.depot_id = t.depot_id AND d.carrier_id = :carrier AND NOT d.archived
LEFT JOIN depot_roles r ON r.depot_id = d.depot_id AND r.user_id = :me AND r.valid_from <= now() AND (r.valid_to IS NULL OR r.valid_to > now())
WHERE NOT t.archived
ORDER BY t.leaves_at
LIMIT 200
--- board bad 3
SELECT t.trip_id, t.state, t.customer, t.leaves_at
FROM trips t
JOIN depots d ON d.depot_id = t.depot_id AND d.carrier_id = :carrier AND NOT d.archived
JOIN depot_roles r ON r.depot_id = d.depot_id AND r.user_id = :me AND r.valid_from <= now() AND r.valid_to IS NOT NULL
WHERE NOT t.archived
ORDER BY t.leaves_at
LIMIT 200
--- board bad 2
SELECT t.trip_id, t.state, t.customer, k.plate
FROM trips t
JOIN depots d ON d.depot_id = t.depot_id AND d.carrier_id = :carrier
JOIN trucks k ON k.truck_id = t.truck_id AND NOT k.archived
WHERE NOT t.archived
  AND EXISTS (SELECT FROM depot_roles r WHERE r.depot_id = d.depot_id AND r.user_id = :me
        AND r.valid_from <= now() AND (r.valid_to IS NULL OR r.valid_to > now()))
ORDER BY t.leaves_at
LIMIT 200
--- board bad 7
SELECT t.trip_id, t.state, t.customer
FROM trips t
JOIN depots d ON d.depot_id = t.depot_id AND d.carrier_id = :carrier AND NOT d.archived
WHERE NOT t.archived
  AND EXISTS (SELECT FROM depot_roles r WHERE r.depot_id = d.depot_id AND r.user_id = :me
        AND r.valid_from <= now() AND (r.valid_to IS NULL OR r.valid_to > now()))
ORDER BY t.leaves_at
LIMIT GREATEST(:n, 200)
--- dispatch good
WITH allowed AS (
    SELECT r.depot_id
    FROM depot_roles r
    JOIN depots d ON d.depot_id = r.depot_id
    WHERE r.user_id = :me AND r.role IN ('dispatcher', 'manager')
      AND r.valid_from <= now() AND (r.valid_to IS NULL OR now() < r.valid_to)
      AND d.carrier_id = :carrier AND NOT d.archived
), moved AS (
    UPDATE trips t
    SET state = 'dispatched', version = t.version + 1
    WHERE t.trip_id = :trip AND t.version = :version AND t.state = 'planned' AND NOT t.archived
      AND t.depot_id IN (SELECT depot_id FROM allowed)
    RETURNING t.trip_id, t.version
), noted AS (
    INSERT INTO trip_events (trip_id, actor_id, what)
    SELECT m.trip_id, :me, 'dispatched' FROM moved m
    RETURNING trip_id
)
SELECT m.trip_id, m.version FROM moved m
--- dispatch bad 4
WITH allowed AS (
    SELECT r.depot_id
    FROM depot_roles r
    JOIN depots d ON d.depot_id = r.depot_id
    WHERE r.user_id = :me
      AND r.valid_from <= now() AND (r.valid_to IS NULL OR now() < r.valid_to)
      AND d.carrier_id = :carrier AND NOT d.archived
)
UPDATE trips t
SET state = 'dispatched', version = t.version + 1
WHERE t.trip_id = :trip AND t.version = :version AND t.state = 'planned' AND NOT t.archived
  AND t.depot_id IN (SELECT depot_id FROM allowed)
RETURNING t.trip_id, t.version
--- dispatch bad 5
WITH allowed AS (
    SELECT r.depot_id FROM depot_roles r JOIN depots d ON d.depot_id = r.depot_id
    WHERE r.user_id = :me AND r.role IN ('dispatcher', 'manager') AND r.valid_from <= now() AND (r.valid_to IS NULL OR now() < r.valid_to)
      AND d.carrier_id = :carrier AND NOT d.archived
)
UPDATE trips t SET state = 'dispatched', version = t.version + 1
WHERE t.trip_id = :trip AND t.version = :version AND t.state IN ('planned', 'cancelled') AND NOT t.archived
  AND t.depot_id IN (SELECT depot_id FROM allowed)
RETURNING t.trip_id
--- dispatch bad 8
WITH allowed AS (
    SELECT r.depot_id FROM depot_roles r JOIN depots d ON d.depot_id = r.depot_id
    WHERE r.user_id = :me AND r.role IN ('dispatcher', 'manager') AND r.valid_from <= now() AND (r.valid_to IS NULL OR now() < r.valid_to)
      AND d.carrier_id = :carrier AND NOT d.archived
)
UPDATE trips t SET state = 'dispatched', version = t.version + 1
WHERE t.trip_id = :trip AND t.version >= :version AND t.state = 'planned' AND NOT t.archived
  AND t.depot_id IN (SELECT depot_id FROM allowed)
RETURNING t.trip_id
--- dispatch bad 1
WITH allowed AS (
    SELECT r.depot_id FROM depot_roles r JOIN depots d ON d.depot_id = r.depot_id
    WHERE r.user_id = :me AND r.role IN ('dispatcher', 'manager') AND r.valid_from <= now() AND (r.valid_to IS NULL OR now() < r.valid_to)
      AND NOT d.archived
)
UPDATE trips t SET state = 'dispatched', version = t.version + 1
WHERE t.trip_id = :trip AND t.version = :version AND t.state = 'planned' AND NOT t.archived
  AND t.depot_id IN (SELECT depot_id FROM allowed)
RETURNING t.trip_id
--- reprice good
UPDATE trips AS t
   SET price_cents = :price, version = version + 1
  FROM depots d
  JOIN depot_roles r ON r.depot_id = d.depot_id
 WHERE d.depot_id = t.depot_id
   AND d.carrier_id = :carrier AND d.archived IS NOT TRUE
   AND r.user_id = :me AND r.role = 'manager'
   AND r.valid_from <= now() AND COALESCE(r.valid_to > now(), true)
   AND t.trip_id = :trip AND t.version = :seen AND t.state IN ('planned', 'dispatched') AND t.archived IS NOT TRUE
RETURNING t.trip_id, t.price_cents, t.version
--- reprice bad 4
UPDATE trips AS t
   SET price_cents = :price, version = version + 1
  FROM depots d
  JOIN depot_roles r ON r.depot_id = d.depot_id
 WHERE d.depot_id = t.depot_id
   AND d.carrier_id = :carrier AND d.archived IS NOT TRUE
   AND r.user_id = :me AND r.role IN ('dispatcher', 'manager')
   AND r.valid_from <= now() AND (r.valid_to IS NULL OR r.valid_to > now())
   AND t.trip_id = :trip AND t.version = :seen AND t.state IN ('planned', 'dispatched') AND t.archived IS NOT TRUE
RETURNING t.trip_id
--- cancel bad 5
UPDATE trips t SET state = 'cancelled', version = t.version + 1
FROM depots d
WHERE t.trip_id = :trip AND t.version = :seen AND NOT t.archived AND t.state <> 'invoiced'
  AND d.depot_id = t.depot_id AND d.carrier_id = :carrier AND NOT d.archived
  AND EXISTS (SELECT 1 FROM depot_roles r WHERE r.depot_id = t.depot_id AND r.user_id = :me AND r.role IN ('dispatcher','manager')
              AND r.valid_from <= now() AND (r.valid_to IS NULL OR r.valid_to > now()))
--- crew good
SELECT u.user_id, u.full_name, array_agg(DISTINCT r.role ORDER BY r.role) AS roles
FROM users u
JOIN depot_roles r ON r.user_id = u.user_id AND r.valid_from <= now() AND (r.valid_to IS NULL OR r.valid_to > now())
JOIN depots d ON d.depot_id = r.depot_id AND d.carrier_id = u.carrier_id AND NOT d.archived
WHERE u.carrier_id = :carrier AND u.active
GROUP BY u.user_id, u.full_name
ORDER BY u.full_name
LIMIT 200
--- crew bad 6
SELECT to_jsonb(u) - 'pw_digest' AS account
FROM users u
WHERE u.carrier_id = :carrier AND u.active
ORDER BY u.full_name
LIMIT 200
--- crew bad 9
SELECT u.user_id, u.full_name FROM users u
WHERE u.carrier_id = :carrier AND u.active AND u.full_name ILIKE '${q}%'
ORDER BY u.full_name LIMIT 200
