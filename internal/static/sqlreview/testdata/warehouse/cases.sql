--- stock-list good
SELECT d.label, i.sku, s.quantity
FROM stock s
JOIN depots d ON d.depot_id = s.depot_id
JOIN items i ON i.item_id = s.item_id
WHERE d.company_id = $1 AND i.company_id = $1 AND NOT d.archived AND NOT i.archived
ORDER BY d.label, i.sku
LIMIT 50 OFFSET $3
--- stock-list good
SELECT d.label, i.sku, s.quantity
FROM depots d
JOIN stock s USING (depot_id)
JOIN items i ON i.item_id = s.item_id AND i.archived IS FALSE AND i.company_id = d.company_id
WHERE d.company_id = $1 AND d.archived = false
ORDER BY 1, 2
FETCH FIRST 50 ROWS ONLY
--- stock-list bad 1
SELECT d.label, i.sku, s.quantity
FROM stock s
LEFT JOIN depots d ON d.depot_id = s.depot_id AND d.company_id = $1 AND NOT d.archived
JOIN items i ON i.item_id = s.item_id AND NOT i.archived
ORDER BY 1, 2 LIMIT 50
--- stock-list bad 2
SELECT d.label, i.sku, s.quantity
FROM stock s
JOIN depots d ON d.depot_id = s.depot_id
JOIN items i ON i.item_id = s.item_id
WHERE d.company_id = $1 AND i.company_id = $1 AND NOT d.archived
ORDER BY d.label, i.sku LIMIT 50
--- stock-list bad 9
SELECT d.label, i.sku, s.quantity
FROM stock s
JOIN depots d ON d.depot_id = s.depot_id
JOIN items i ON i.item_id = s.item_id
WHERE d.company_id = $1 AND i.company_id = $1 AND NOT d.archived AND NOT i.archived
ORDER BY d.label FETCH FIRST 50 ROWS WITH TIES
--- stock-list bad 9
SELECT d.label, i.sku, s.quantity
FROM stock s
JOIN depots d ON d.depot_id = s.depot_id
JOIN items i ON i.item_id = s.item_id
WHERE d.company_id = $1 AND i.company_id = $1 AND NOT d.archived AND NOT i.archived
ORDER BY d.label LIMIT $3
--- item-by-sku good
SELECT item_id, sku, title FROM items WHERE company_id = $1 AND sku = $3 AND NOT archived
--- item-by-sku bad 3
SELECT i.* FROM items i WHERE i.company_id = $1 AND i.sku = $3 AND NOT i.archived
--- item-by-sku bad 1
SELECT item_id, sku, title FROM items WHERE sku = $3 AND NOT archived LIMIT 1
--- item-by-sku bad 3
WITH it AS (SELECT * FROM items WHERE company_id = $1 AND NOT archived)
SELECT json_build_object('sku', sku, 'title', title, 'margin', purchase_price) FROM it WHERE sku = $3
--- approve good
WITH done AS (
  UPDATE transfers t SET state = 'approved', revision = t.revision + 1
  FROM depots d
  WHERE t.transfer_id = $3 AND t.company_id = $1 AND t.state = 'requested' AND t.revision = $4 AND t.expires_at > now()
    AND d.depot_id = t.source_depot AND d.company_id = t.company_id AND NOT d.archived
    AND EXISTS (SELECT 1 FROM depot_members m WHERE m.depot_id = d.depot_id AND m.user_id = $2 AND m.access_level = 'supervisor')
  RETURNING t.transfer_id, t.company_id
)
INSERT INTO audit_entries (company_id, user_id, action, subject)
SELECT company_id, $2, 'approve', transfer_id FROM done
RETURNING subject
--- approve bad 4
WITH done AS (
  UPDATE transfers t SET state = 'approved', revision = t.revision + 1
  FROM depots d
  WHERE t.transfer_id = $3 AND t.company_id = $1 AND t.state = 'requested' AND t.revision = $4 AND t.expires_at > now()
    AND d.depot_id = t.source_depot AND d.company_id = t.company_id AND NOT d.archived
    AND EXISTS (SELECT 1 FROM depot_members m WHERE m.depot_id = t.target_depot AND m.user_id = $2 AND m.access_level = 'supervisor')
  RETURNING t.transfer_id, t.company_id
)
INSERT INTO audit_entries (company_id, user_id, action, subject)
SELECT company_id, $2, 'approve', transfer_id FROM done
--- approve bad 4
WITH done AS (
  UPDATE transfers t SET state = 'approved', revision = t.revision + 1
  FROM depots d
  WHERE t.transfer_id = $3 AND t.company_id = $1 AND t.state = 'requested' AND t.revision = $4 AND t.expires_at > now()
    AND d.depot_id = t.source_depot AND d.company_id = t.company_id AND NOT d.archived
    AND EXISTS (SELECT 1 FROM depot_members m WHERE m.depot_id = d.depot_id AND m.user_id = $2 AND m.access_level IN ('picker', 'supervisor'))
  RETURNING t.transfer_id, t.company_id
)
INSERT INTO audit_entries (company_id, user_id, action, subject)
SELECT company_id, $2, 'approve', transfer_id FROM done
--- approve bad 6
WITH done AS (
  UPDATE transfers t SET state = 'approved', revision = t.revision + 1
  FROM depots d
  WHERE t.transfer_id = $3 AND t.company_id = $1 AND t.state = 'requested' AND t.revision = $4
    AND d.depot_id = t.source_depot AND d.company_id = t.company_id AND NOT d.archived
    AND EXISTS (SELECT 1 FROM depot_members m WHERE m.depot_id = d.depot_id AND m.user_id = $2 AND m.access_level = 'supervisor')
  RETURNING t.transfer_id, t.company_id
)
INSERT INTO audit_entries (company_id, user_id, action, subject)
SELECT company_id, $2, 'approve', transfer_id FROM done
--- approve bad 7
UPDATE transfers t SET state = 'approved', revision = t.revision + 1
FROM depots d
WHERE t.transfer_id = $3 AND t.company_id = $1 AND t.state = 'requested' AND t.revision = $4 AND t.expires_at > now()
  AND d.depot_id = t.source_depot AND d.company_id = t.company_id AND NOT d.archived
  AND EXISTS (SELECT 1 FROM depot_members m WHERE m.depot_id = d.depot_id AND m.user_id = $2 AND m.access_level = 'supervisor')
RETURNING t.transfer_id, t.company_id
--- ship good
WITH done AS (
  UPDATE transfers SET state = 'shipped', revision = revision + 1
  WHERE transfer_id = $3 AND company_id = $1 AND state = 'approved' AND revision = $4 AND expires_at > now()
  RETURNING transfer_id
)
INSERT INTO audit_entries (company_id, user_id, action, subject) SELECT $1, $2, 'ship', transfer_id FROM done
--- ship bad 5
WITH done AS (
  UPDATE transfers SET state = 'shipped', revision = revision + 1
  WHERE transfer_id = $3 AND company_id = $1 AND state <> 'shipped' AND revision = $4 AND expires_at > now()
  RETURNING transfer_id
)
INSERT INTO audit_entries (company_id, user_id, action, subject) SELECT $1, $2, 'ship', transfer_id FROM done
--- ship bad 8
WITH done AS (
  UPDATE transfers SET state = 'shipped', revision = revision + 1
  WHERE transfer_id = $3 AND company_id = $1 AND state = 'approved' AND expires_at > now()
  RETURNING transfer_id
)
INSERT INTO audit_entries (company_id, user_id, action, subject) SELECT $1, $2, 'ship', transfer_id FROM done
--- ship bad 6
WITH done AS (
  UPDATE transfers SET state = 'shipped', revision = revision + 1
  WHERE transfer_id = $3 AND company_id = $1 AND state = 'approved' AND revision = $4 AND expires_at >= $5
  RETURNING transfer_id
)
INSERT INTO audit_entries (company_id, user_id, action, subject) SELECT $1, $2, 'ship', transfer_id FROM done
--- upsert-item good
INSERT INTO items (item_id, company_id, sku, title)
VALUES (gen_random_uuid(), $1, $3, $4)
ON CONFLICT (company_id, sku) DO UPDATE SET title = excluded.title WHERE NOT items.archived
RETURNING item_id, sku, title
--- upsert-item bad 3
INSERT INTO items (item_id, company_id, sku, title)
VALUES (gen_random_uuid(), $1, $3, $4)
ON CONFLICT (company_id, sku) DO UPDATE SET title = excluded.title WHERE NOT items.archived
RETURNING *
--- upsert-item bad 1
INSERT INTO items (item_id, company_id, sku, title)
VALUES ($5, $1, $3, $4)
ON CONFLICT (item_id) DO UPDATE SET title = excluded.title WHERE NOT items.archived
RETURNING item_id
--- upsert-item bad 2
INSERT INTO items (item_id, company_id, sku, title)
VALUES (gen_random_uuid(), $1, $3, $4)
ON CONFLICT (company_id, sku) DO UPDATE SET title = excluded.title
RETURNING item_id, sku
--- request good
WITH moved AS (
  UPDATE transfers SET state = 'requested', revision = revision + 1
  WHERE transfer_id = $3 AND company_id = $1 AND requested_by = $2 AND state = 'draft' AND revision = $4
  RETURNING transfer_id, company_id
), logged AS (
  INSERT INTO audit_entries (company_id, user_id, action, subject)
  SELECT company_id, $2, 'request', transfer_id FROM moved
)
SELECT transfer_id FROM moved
--- request bad 1
WITH moved AS (
  UPDATE transfers SET state = 'requested', revision = revision + 1
  WHERE transfer_id = $3 AND state = 'draft' AND revision = $4
  RETURNING transfer_id, company_id
), logged AS (
  INSERT INTO audit_entries (company_id, user_id, action, subject)
  SELECT company_id, $2, 'request', transfer_id FROM moved
)
SELECT transfer_id FROM moved
--- depot-summary good
SELECT d.depot_id, d.label, count(s.item_id) AS kinds
FROM depots d
LEFT JOIN (stock s JOIN items i ON i.item_id = s.item_id AND NOT i.archived AND i.company_id = $1) ON s.depot_id = d.depot_id
WHERE d.company_id = $1 AND NOT d.archived
GROUP BY d.depot_id, d.label ORDER BY d.label LIMIT 50
--- depot-summary bad 2
SELECT d.depot_id, d.label, count(s.item_id) AS kinds
FROM depots d
LEFT JOIN stock s ON s.depot_id = d.depot_id
LEFT JOIN items i ON i.item_id = s.item_id AND i.company_id = $1
WHERE d.company_id = $1 AND NOT d.archived
GROUP BY d.depot_id, d.label ORDER BY d.label LIMIT 50
