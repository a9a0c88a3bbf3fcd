--- list good
SELECT t.id, t.pickup_at, t.stage, k.plate, d.name AS driver
FROM transports t
LEFT JOIN trucks k ON k.id = t.truck_id AND k.haulier_id = t.haulier_id
LEFT JOIN drivers d ON d.id = t.driver_id AND d.haulier_id = t.haulier_id
WHERE t.haulier_id = @haulier_id AND t.archived_at IS NULL
  AND k.archived_at IS NULL AND d.archived_at IS NULL
  AND EXISTS (SELECT 1 FROM operators o WHERE o.id = @operator_id AND o.haulier_id = @haulier_id AND o.disabled_at IS NULL)
ORDER BY t.pickup_at, t.id
LIMIT LEAST(@page_size, 250);
--- plan good
WITH op AS (
  SELECT o.id FROM operators o WHERE o.id = @operator_id AND o.haulier_id = @haulier_id AND o.disabled_at IS NULL AND 'plan' = ANY (o.permissions)
), upd AS (
  UPDATE transports t SET stage = 'planned', truck_id = k.id, driver_id = d.id, row_version = t.row_version + 1
  FROM op, trucks k, drivers d
  WHERE t.id = @transport_id AND t.haulier_id = @haulier_id AND t.archived_at IS NULL
    AND t.stage = 'draft' AND t.row_version = @row_version
    AND k.id = @truck_id AND k.haulier_id = @haulier_id AND k.archived_at IS NULL
    AND k.inspection_until >= t.pickup_at::date AND k.max_kg >= t.weight_kg
    AND d.id = @driver_id AND d.haulier_id = @haulier_id AND d.archived_at IS NULL
    AND d.licence_valid_until >= t.pickup_at::date
  RETURNING t.id
)
INSERT INTO transport_events (transport_id, operator_id, kind)
SELECT upd.id, @operator_id, 'planned' FROM upd
RETURNING transport_id;
--- void good
WITH upd AS (
  UPDATE transports t SET stage = 'voided', row_version = row_version + 1
  WHERE t.id = @id AND t.haulier_id = @haulier_id AND t.archived_at IS NULL AND t.stage IN ('draft','planned') AND t.row_version = @row_version
    AND EXISTS (SELECT 1 FROM operators o WHERE o.id = @operator_id AND o.haulier_id = t.haulier_id AND o.disabled_at IS NULL AND o.permissions @> ARRAY['finance'])
  RETURNING t.id)
INSERT INTO transport_events (transport_id, operator_id, kind) SELECT id, @operator_id, 'voided' FROM upd;
--- trucks good
SELECT k.id, k.plate, k.max_kg, k.inspection_until FROM trucks k
WHERE k.haulier_id = @haulier_id AND k.archived_at IS NULL
  AND @operator_id IN (SELECT o.id FROM operators o WHERE o.haulier_id = @haulier_id AND o.disabled_at IS NULL)
ORDER BY k.plate, k.id LIMIT 250;
--- create good
WITH n AS (
  INSERT INTO transports (id, haulier_id, pickup_at, weight_kg, price_cents)
  SELECT gen_random_uuid(), o.haulier_id, @pickup_at, @weight_kg, 0 FROM operators o
  WHERE o.id = @operator_id AND o.haulier_id = @haulier_id AND o.disabled_at IS NULL
  RETURNING id)
INSERT INTO transport_events (transport_id, operator_id, kind) SELECT id, @operator_id, 'created' FROM n RETURNING transport_id;
--- events good
SELECT e.id, e.kind, e.at, o.name
FROM transport_events e
JOIN transports t ON t.id = e.transport_id AND t.haulier_id = @haulier_id AND t.archived_at IS NULL
JOIN operators o ON o.id = e.operator_id AND o.haulier_id = t.haulier_id
WHERE t.id = @id AND EXISTS (SELECT 1 FROM operators me WHERE me.id = @operator_id AND me.haulier_id = @haulier_id AND me.disabled_at IS NULL)
ORDER BY e.at, e.id LIMIT 250;
--- month good
SELECT date_trunc('month', t.pickup_at) AS month, count(*) AS n, sum(t.price_cents) AS cents
FROM transports t
WHERE t.haulier_id = @haulier_id AND t.archived_at IS NULL AND t.stage = 'invoiced'
  AND EXISTS (SELECT 1 FROM operators o WHERE o.id = @operator_id AND o.haulier_id = @haulier_id AND o.disabled_at IS NULL)
GROUP BY 1 ORDER BY 1 LIMIT 250;
--- archive good
WITH a AS (
UPDATE transports t SET archived_at = now()
WHERE t.id = @id AND t.haulier_id = @haulier_id AND t.archived_at IS NULL AND t.stage IN ('voided','invoiced')
  AND EXISTS (SELECT 1 FROM operators o WHERE o.id = @operator_id AND o.haulier_id = @haulier_id AND o.disabled_at IS NULL)
RETURNING t.id)
INSERT INTO transport_events (transport_id, operator_id, kind) SELECT a.id, @operator_id, 'archived' FROM a;
--- void bad 3
WITH upd AS (
  UPDATE transports t SET stage = 'voided', row_version = row_version + 1
  WHERE t.id = @id AND t.haulier_id = @haulier_id AND t.archived_at IS NULL AND t.stage IN ('draft','planned') AND t.row_version = @row_version
  RETURNING t.id)
INSERT INTO transport_events (transport_id, operator_id, kind) SELECT id, @operator_id, 'voided' FROM upd;
--- plan bad 7
UPDATE transports t SET stage = 'planned', row_version = t.row_version + 1
FROM operators o
WHERE t.id = @transport_id AND t.haulier_id = @haulier_id AND t.archived_at IS NULL AND t.stage = 'draft' AND t.row_version = @row_version
 AND o.id = @operator_id AND o.haulier_id = @haulier_id AND o.disabled_at IS NULL AND 'plan' = ANY (o.permissions);
