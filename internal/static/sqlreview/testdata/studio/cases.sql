--- list-rooms good
SELECT r.id, r.name, r.hourly_cents
FROM rooms r
WHERE r.studio_id = :studio_id
  AND r.retired_at IS NULL
ORDER BY r.name
LIMIT 100;
--- own-bookings good
SELECT b.id, b.starts_at, b.ends_at, b.status, r.name AS room
FROM bookings b
JOIN rooms r ON r.id = b.room_id
WHERE r.studio_id = :studio_id
  AND b.customer_id = :user_id
  AND b.deleted_at IS NULL
  AND r.retired_at IS NULL
ORDER BY b.starts_at DESC
LIMIT LEAST(COALESCE(:page_size, 20), 100);
--- create-room good
INSERT INTO rooms (id, studio_id, name, door_code, hourly_cents)
SELECT gen_random_uuid(), m.studio_id, :name, :door_code, :hourly_cents
FROM memberships m
WHERE m.studio_id = :studio_id
  AND m.user_id = :user_id
  AND m.role IN ('owner', 'manager')
  AND (m.expires_at IS NULL OR m.expires_at > now())
RETURNING id;
--- confirm good
UPDATE bookings b
SET status = 'confirmed'
FROM rooms r
WHERE b.id = :booking_id
  AND r.id = b.room_id
  AND r.studio_id = :studio_id
  AND r.retired_at IS NULL
  AND b.deleted_at IS NULL
  AND b.customer_id = :user_id
  AND b.status = 'held'
RETURNING b.id, b.status;
--- cancel-by-manager good
UPDATE bookings b
SET status = 'cancelled'
FROM rooms r, memberships m
WHERE b.id = :booking_id
  AND r.id = b.room_id
  AND r.studio_id = :studio_id
  AND r.retired_at IS NULL
  AND b.deleted_at IS NULL
  AND b.status IN ('held', 'confirmed')
  AND m.studio_id = r.studio_id
  AND m.user_id = :user_id
  AND m.role IN ('owner', 'manager')
  AND (m.expires_at IS NULL OR m.expires_at > now());
--- redeem good
UPDATE vouchers
SET redeemed_at = now(), redeemed_by = :user_id
WHERE studio_id = :studio_id
  AND code = :code
  AND redeemed_at IS NULL
  AND valid_from <= now() AND now() < valid_until
RETURNING value_cents;
--- refund good
WITH allowed AS (
  SELECT m.user_id FROM memberships m
  WHERE m.studio_id = :studio_id AND m.user_id = :user_id AND m.role = 'owner'
    AND (m.expires_at IS NULL OR m.expires_at > now())
), done AS (
  UPDATE payments p
  SET refunded_at = now()
  FROM bookings b
  JOIN rooms r ON r.id = b.room_id
  WHERE p.id = :payment_id
    AND b.id = p.booking_id
    AND b.deleted_at IS NULL
    AND r.studio_id = :studio_id
    AND r.retired_at IS NULL
    AND p.refunded_at IS NULL
    AND EXISTS (SELECT 1 FROM allowed)
  RETURNING p.id
)
INSERT INTO audit_entries (studio_id, actor_id, action, subject_id)
SELECT :studio_id, :user_id, 'refund', done.id FROM done;
--- revenue good
SELECT count(*) AS bookings, coalesce(sum(b.price_cents), 0) AS cents
FROM bookings b
JOIN rooms r ON r.id = b.room_id AND r.studio_id = :studio_id AND r.retired_at IS NULL
WHERE b.deleted_at IS NULL
  AND b.status = 'finished'
  AND b.starts_at >= :from AND b.starts_at < :to
  AND EXISTS (SELECT 1 FROM memberships m WHERE m.studio_id = r.studio_id AND m.user_id = :user_id
              AND m.role IN ('owner','manager') AND (m.expires_at IS NULL OR m.expires_at > now()));
--- engineers-day good
SELECT b.id, b.starts_at, r.name, u.full_name AS customer
FROM bookings b
JOIN rooms r ON r.id = b.room_id
JOIN users u ON u.id = b.customer_id
WHERE b.engineer_id = :user_id
  AND r.studio_id = :studio_id
  AND b.deleted_at IS NULL AND r.retired_at IS NULL
  AND b.status IN ('confirmed', 'running')
  AND b.starts_at::date = current_date
ORDER BY b.starts_at
LIMIT 50;
--- book good
INSERT INTO bookings (id, room_id, customer_id, starts_at, ends_at, status, price_cents)
SELECT gen_random_uuid(), r.id, :user_id, :starts_at, :ends_at, 'held',
       r.hourly_cents * ceil(extract(epoch FROM (:ends_at::timestamptz - :starts_at::timestamptz)) / 3600)
FROM rooms r
JOIN memberships m ON m.studio_id = r.studio_id
WHERE r.id = :room_id
  AND r.studio_id = :studio_id
  AND r.retired_at IS NULL
  AND m.user_id = :user_id AND (m.expires_at IS NULL OR m.expires_at > now())
  AND NOT EXISTS (
    SELECT 1 FROM bookings o
    WHERE o.room_id = r.id AND o.deleted_at IS NULL AND o.status <> 'cancelled'
      AND tstzrange(o.starts_at, o.ends_at) && tstzrange(:starts_at, :ends_at))
RETURNING id;
--- door-code good
SELECT r.door_code
FROM rooms r
JOIN bookings b ON b.room_id = r.id
WHERE b.id = :booking_id
  AND r.studio_id = :studio_id
  AND r.retired_at IS NULL AND b.deleted_at IS NULL
  AND b.status = 'confirmed'
  AND (b.customer_id = :user_id OR b.engineer_id = :user_id);
--- list-rooms bad 2
SELECT r.id, r.name, r.hourly_cents FROM rooms r WHERE r.studio_id = :studio_id ORDER BY r.name LIMIT 100;
--- list-rooms bad 8
SELECT r.id, r.name, r.hourly_cents FROM rooms r WHERE r.studio_id = :studio_id AND r.retired_at IS NULL ORDER BY r.name LIMIT :page_size;
--- own-bookings bad 1
SELECT b.id, b.starts_at, b.ends_at, b.status, r.name AS room
FROM bookings b
JOIN rooms r ON r.id = b.room_id
WHERE b.customer_id = :customer_id AND b.deleted_at IS NULL AND r.retired_at IS NULL
ORDER BY b.starts_at DESC
LIMIT 50;
--- confirm bad 6
UPDATE bookings b
SET status = 'confirmed'
FROM rooms r
WHERE b.id = :booking_id AND r.id = b.room_id AND r.studio_id = :studio_id AND r.retired_at IS NULL
  AND b.deleted_at IS NULL AND b.customer_id = :user_id
RETURNING b.id, b.status;
--- create-room bad 4
INSERT INTO rooms (id, studio_id, name, door_code, hourly_cents)
SELECT gen_random_uuid(), m.studio_id, :name, :door_code, :hourly_cents
FROM memberships m
WHERE m.studio_id = :studio_id AND m.user_id = :user_id AND m.role IN ('owner', 'manager')
RETURNING id;
--- redeem bad 7
UPDATE vouchers SET redeemed_at = now(), redeemed_by = :user_id
WHERE studio_id = :studio_id AND code = :code AND valid_from <= now() AND now() < valid_until
RETURNING value_cents;
--- redeem bad 7
UPDATE vouchers SET redeemed_at = now(), redeemed_by = :user_id
WHERE studio_id = :studio_id AND code = :code AND redeemed_at IS NULL AND valid_from <= now() AND now() <= valid_until
RETURNING value_cents;
--- refund bad 9
WITH done AS (
  UPDATE payments p SET refunded_at = now()
  FROM bookings b JOIN rooms r ON r.id = b.room_id
  WHERE p.id = :payment_id AND b.id = p.booking_id AND b.deleted_at IS NULL AND r.studio_id = :studio_id AND r.retired_at IS NULL
  AND EXISTS (SELECT 1 FROM memberships m WHERE m.studio_id = :studio_id AND m.user_id = :user_id AND m.role IN ('owner','manager')
    AND (m.expires_at IS NULL OR m.expires_at > now()))
  RETURNING p.id
)
INSERT INTO audit_entries (studio_id, actor_id, action, subject_id)
SELECT :studio_id, :user_id, 'refund', done.id FROM done;
--- payments bad 3
SELECT p.* FROM payments p JOIN bookings b ON b.id = p.booking_id JOIN rooms r ON r.id = b.room_id
WHERE b.customer_id = :user_id AND r.studio_id = :studio_id AND r.retired_at IS NULL AND b.deleted_at IS NULL LIMIT 50;
--- search bad 10
SELECT r.id, r.name FROM rooms r WHERE r.studio_id = :studio_id AND r.retired_at IS NULL AND r.name ILIKE '%{{q}}%' ORDER BY r.name LIMIT 50;
