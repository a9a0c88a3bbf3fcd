--- refund good
UPDATE orders o
SET state = 'refunded'
FROM events e
WHERE o.id = :order_id AND e.id = o.event_id AND e.operator_id = :operator_id
  AND o.state = 'paid' AND o.removed = false
  AND EXISTS (SELECT 1 FROM staff s WHERE s.id = :staff_id AND s.operator_id = e.operator_id AND s.level IN ('desk','boss') AND s.blocked = false)
RETURNING o.id, o.total_cents
--- refund bad 5
UPDATE orders o
SET state = 'refunded'
FROM events e
WHERE o.id = :order_id AND e.id = o.event_id AND e.operator_id = :operator_id
  AND o.state = 'paid' AND o.removed = false
  AND EXISTS (SELECT 1 FROM staff s WHERE s.id = :staff_id AND s.operator_id = e.operator_id AND s.level IN ('desk','boss'))
RETURNING o.id, o.total_cents
--- refund bad 5
UPDATE orders o
SET state = 'refunded'
FROM events e, staff s
WHERE o.id = :order_id AND e.id = o.event_id AND e.operator_id = :operator_id
  AND o.state IN ('cart', 'paid') AND NOT o.removed
  AND s.id = :staff_id AND s.operator_id = e.operator_id AND s.level <> 'door' AND NOT s.blocked
RETURNING o.id
--- refund bad 1
UPDATE orders o
SET state = 'refunded'
WHERE o.id = :order_id AND o.state = 'paid' AND NOT o.removed
  AND EXISTS (SELECT 1 FROM staff s WHERE s.id = :staff_id AND s.operator_id = :operator_id AND s.level IN ('desk','boss') AND NOT s.blocked)
RETURNING o.id
--- scan good
UPDATE tickets t
SET scanned_at = now()
FROM orders o
JOIN events e ON e.id = o.event_id
JOIN staff s ON s.operator_id = e.operator_id
WHERE t.barcode = :barcode AND t.order_id = o.id
  AND t.scanned_at IS NULL AND NOT t.removed AND NOT o.removed AND o.state = 'paid'
  AND e.operator_id = :operator_id AND e.doors_at <= now()
  AND s.id = :staff_id AND NOT s.blocked
RETURNING t.id, t.seat
--- scan bad 6
UPDATE tickets t
SET scanned_at = now()
FROM orders o
JOIN events e ON e.id = o.event_id
JOIN staff s ON s.operator_id = e.operator_id
WHERE t.barcode = :barcode AND t.order_id = o.id
  AND NOT t.removed AND NOT o.removed AND o.state = 'paid'
  AND e.operator_id = :operator_id AND e.doors_at <= now()
  AND s.id = :staff_id AND NOT s.blocked
RETURNING t.id, t.seat
--- scan bad 6
UPDATE tickets t
SET scanned_at = now()
FROM orders o
JOIN events e ON e.id = o.event_id
JOIN staff s ON s.operator_id = e.operator_id
WHERE t.barcode = :barcode AND t.order_id = o.id
  AND t.scanned_at IS NULL AND NOT t.removed AND NOT o.removed AND o.state <> 'refunded'
  AND e.operator_id = :operator_id AND e.doors_at <= now()
  AND s.id = :staff_id AND NOT s.blocked
RETURNING t.id, t.seat
--- order good
INSERT INTO orders (id, event_id, buyer_email, state, total_cents)
SELECT nextval('order_ids'), e.id, :email, 'cart', :total
FROM events e
WHERE e.id = :event_id AND e.operator_id = :operator_id AND NOT e.hidden
  AND e.on_sale_from <= now() AND now() < e.on_sale_until
RETURNING id
--- order bad 7
INSERT INTO orders (id, event_id, buyer_email, state, total_cents)
SELECT nextval('order_ids'), e.id, :email, 'cart', :total
FROM events e
WHERE e.id = :event_id AND e.operator_id = :operator_id AND NOT e.hidden
  AND e.on_sale_until > now()
RETURNING id
--- order bad 7
INSERT INTO orders (id, event_id, buyer_email, state, total_cents)
SELECT nextval('order_ids'), e.id, :email, 'cart', :total
FROM events e
WHERE e.id = :event_id AND e.operator_id = :operator_id AND NOT e.hidden
  AND :client_time BETWEEN e.on_sale_from AND e.on_sale_until
RETURNING id
--- list good
SELECT o.id, o.buyer_email, o.state, o.total_cents, count(t.id) AS seats
FROM orders o
JOIN events e ON e.id = o.event_id
LEFT JOIN tickets t ON t.order_id = o.id AND NOT t.removed
WHERE e.operator_id = :operator_id AND e.id = :event_id AND NOT o.removed
GROUP BY o.id, o.buyer_email, o.state, o.total_cents
HAVING count(t.id) > 0 OR o.state = 'cart'
ORDER BY o.id DESC
LIMIT 250
--- list good
SELECT * FROM (
  SELECT o.id, o.state, o.total_cents, row_number() OVER (ORDER BY o.created_at DESC) AS rn
  FROM orders o
  WHERE NOT o.removed AND o.event_id IN (SELECT e.id FROM events e WHERE e.operator_id = :operator_id)
) ranked
WHERE rn <= 250
--- list bad 4
SELECT o.id, o.state, o.total_cents, row_number() OVER (PARTITION BY o.event_id ORDER BY o.created_at DESC) AS rn
FROM orders o
JOIN events e ON e.id = o.event_id AND e.operator_id = :operator_id
WHERE NOT o.removed
--- list bad 2
SELECT o.id, o.buyer_email, count(t.id) AS seats
FROM orders o
JOIN events e ON e.id = o.event_id
LEFT JOIN tickets t ON t.order_id = o.id
WHERE e.operator_id = :operator_id AND NOT o.removed AND NOT COALESCE(t.removed, false)
GROUP BY o.id, o.buyer_email
UNION ALL
SELECT o.id, o.buyer_email, 0
FROM orders o JOIN events e ON e.id = o.event_id
WHERE e.operator_id = :operator_id AND o.state = 'cart'
LIMIT 250
--- list bad 3
SELECT o.id, t.seat, t.barcode
FROM tickets t
JOIN orders o ON o.id = t.order_id AND NOT o.removed
JOIN events e ON e.id = o.event_id AND e.operator_id = :operator_id
WHERE NOT t.removed AND e.id = :event_id
ORDER BY t.id LIMIT 250
--- list good
SELECT o.id, t.seat, CASE WHEN s.level IN ('desk', 'boss') THEN t.barcode END AS barcode
FROM staff s
JOIN events e ON e.operator_id = s.operator_id
JOIN orders o ON o.event_id = e.id AND NOT o.removed
JOIN tickets t ON t.order_id = o.id AND NOT t.removed
WHERE s.id = :staff_id AND s.operator_id = :operator_id AND NOT s.blocked AND e.id = :event_id
ORDER BY t.id LIMIT 250
--- list bad 8
EXECUTE 'SELECT o.id FROM orders o JOIN events e ON e.id = o.event_id WHERE e.operator_id = ' || p_operator_id || ' AND NOT o.removed AND o.buyer_email = ''' || p_email || ''' LIMIT 250'
