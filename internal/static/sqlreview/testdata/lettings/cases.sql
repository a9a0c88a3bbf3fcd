--- approve-invoice good
UPDATE invoices i
SET status = 'approved',
    decided_by = :user_id,
    decided_at = now()
WHERE i.id = :invoice_id
  AND i.agency_id = :agency_id
  AND i.deleted_at IS NULL
  AND i.status = 'pending_approval'
  AND i.created_by <> :user_id
  AND EXISTS (
    SELECT 1
    FROM user_roles ur
    JOIN users u ON u.id = ur.user_id
    WHERE ur.user_id = :user_id
      AND ur.agency_id = i.agency_id
      AND ur.role IN ('accountant', 'director')
      AND ur.approval_limit >= i.amount
      AND u.is_active
  )
RETURNING i.id, i.status, i.decided_at
--- approve-invoice good
WITH approver AS (
  SELECT ur.user_id, ur.agency_id, max(ur.approval_limit) AS approval_limit
  FROM user_roles ur
  JOIN users u ON u.id = ur.user_id AND u.agency_id = ur.agency_id AND u.is_active = true
  WHERE ur.user_id = :user_id AND ur.agency_id = :agency_id AND ur.role IN ('accountant', 'director')
  GROUP BY ur.user_id, ur.agency_id
)
UPDATE invoices AS i
SET status = 'approved', decided_by = a.user_id, decided_at = CURRENT_TIMESTAMP
FROM approver AS a
WHERE i.id = :invoice_id AND i.agency_id = a.agency_id AND i.status = 'pending_approval'
  AND i.created_by <> a.user_id AND i.amount <= a.approval_limit AND i.deleted_at IS NULL
RETURNING i.id
--- approve-invoice bad 6
UPDATE invoices i
SET status = 'approved', decided_by = :user_id, decided_at = now()
WHERE i.id = :invoice_id AND i.agency_id = :agency_id AND i.deleted_at IS NULL AND i.status = 'pending_approval'
  AND i.created_by <> :user_id
  AND EXISTS (
    SELECT 1 FROM user_roles ur JOIN users u ON u.id = ur.user_id
    WHERE ur.user_id = :user_id AND ur.agency_id = i.agency_id AND ur.role IN ('accountant', 'director') AND u.is_active)
RETURNING i.id
--- approve-invoice bad 7
UPDATE invoices i
SET status = 'approved', decided_by = :user_id, decided_at = now()
WHERE i.id = :invoice_id AND i.agency_id = :agency_id AND i.deleted_at IS NULL AND i.status = 'pending_approval'
  AND EXISTS (
    SELECT 1 FROM user_roles ur JOIN users u ON u.id = ur.user_id
    WHERE ur.user_id = :user_id AND ur.agency_id = i.agency_id AND ur.role IN ('accountant', 'director')
      AND ur.approval_limit >= i.amount AND u.is_active)
RETURNING i.id
--- approve-invoice bad 10
UPDATE invoices i
SET status = 'approved', decided_by = :user_id, decided_at = now()
WHERE i.id = :invoice_id AND i.agency_id = :agency_id AND i.deleted_at IS NULL AND i.status = 'pending_approval'
  AND i.created_by <> :user_id
  AND EXISTS (
    SELECT 1 FROM user_roles ur
    WHERE ur.user_id = :user_id AND ur.agency_id = i.agency_id AND ur.role IN ('accountant', 'director')
      AND ur.approval_limit >= i.amount)
RETURNING i.id
--- approve-invoice bad 5
UPDATE invoices i
SET status = 'approved', decided_by = :user_id, decided_at = now()
WHERE i.id = :invoice_id AND i.agency_id = :agency_id AND i.deleted_at IS NULL AND i.status = 'pending_approval'
  AND i.created_by <> :user_id
  AND EXISTS (
    SELECT 1 FROM user_roles ur JOIN users u ON u.id = ur.user_id
    WHERE ur.user_id = :user_id AND ur.role IN ('accountant', 'director') AND ur.approval_limit >= i.amount AND u.is_active)
RETURNING i.id
--- approve-invoice bad 8
UPDATE invoices i
SET status = 'approved', decided_by = :user_id, decided_at = now()
WHERE i.id = :invoice_id AND i.agency_id = :agency_id AND i.deleted_at IS NULL AND i.status IN ('draft', 'pending_approval')
  AND i.created_by <> :user_id
  AND EXISTS (
    SELECT 1 FROM user_roles ur JOIN users u ON u.id = ur.user_id
    WHERE ur.user_id = :user_id AND ur.agency_id = i.agency_id AND ur.role IN ('accountant', 'director')
      AND ur.approval_limit >= i.amount AND u.is_active)
RETURNING i.id
--- overdue good
SELECT i.id, i.amount, i.due_at, p.address, t.renter_name,
       sum(i.amount) OVER (PARTITION BY p.id) AS open_for_property
FROM invoices i
JOIN tenancies t ON t.id = i.tenancy_id AND t.deleted_at IS NULL
JOIN properties p ON p.id = t.property_id AND p.agency_id = i.agency_id AND p.deleted_at IS NULL
WHERE i.agency_id = :agency_id
  AND i.deleted_at IS NULL
  AND i.status = 'approved'
  AND i.due_at < now()
ORDER BY i.due_at
LIMIT LEAST(GREATEST(:page_size, 1), 100)
OFFSET :offset
--- overdue bad 2
SELECT i.id, i.amount, i.due_at, p.address
FROM invoices i
JOIN tenancies t ON t.id = i.tenancy_id
JOIN properties p ON p.id = t.property_id AND p.agency_id = i.agency_id AND p.deleted_at IS NULL
WHERE i.agency_id = :agency_id AND i.deleted_at IS NULL AND i.status = 'approved' AND i.due_at < now()
ORDER BY i.due_at
LIMIT LEAST(:page_size, 100)
--- overdue bad 4
SELECT i.id, i.amount, i.due_at, p.address
FROM invoices i
JOIN tenancies t ON t.id = i.tenancy_id AND t.deleted_at IS NULL
JOIN properties p ON p.id = t.property_id AND p.agency_id = i.agency_id AND p.deleted_at IS NULL
WHERE i.agency_id = :agency_id AND i.deleted_at IS NULL AND i.status = 'approved' AND i.due_at < now()
ORDER BY i.due_at
LIMIT :page_size OFFSET :offset
--- overdue bad 9
SELECT i.id, i.amount, i.due_at, p.address
FROM invoices i
JOIN tenancies t ON t.id = i.tenancy_id AND t.deleted_at IS NULL
JOIN properties p ON p.id = t.property_id AND p.agency_id = i.agency_id AND p.deleted_at IS NULL
WHERE i.agency_id = :agency_id AND i.deleted_at IS NULL AND i.status = 'approved' AND i.due_at < now()
ORDER BY ${sort} LIMIT 100
--- overdue bad 1
SELECT i.id, i.amount, i.due_at, p.address
FROM properties p
JOIN tenancies t ON t.property_id = p.id AND t.deleted_at IS NULL
LEFT JOIN invoices i ON i.tenancy_id = t.id AND i.agency_id = :agency_id AND i.deleted_at IS NULL AND i.status = 'approved' AND i.due_at < now()
WHERE p.deleted_at IS NULL
ORDER BY i.due_at
LIMIT 100
--- property-card good
SELECT p.id, p.address,
       (SELECT json_agg(json_build_object('renter', x.renter_name, 'from', x.starts_on) ORDER BY x.starts_on DESC)
        FROM (SELECT t.renter_name, t.starts_on FROM tenancies t
              WHERE t.property_id = p.id AND t.deleted_at IS NULL
              ORDER BY t.starts_on DESC LIMIT 20) x) AS tenancies,
       (SELECT count(*) FROM viewings v WHERE v.property_id = p.id AND v.cancelled_at IS NULL AND upper(v.slot) > now()) AS upcoming
FROM properties p
WHERE p.id = :property_id AND p.agency_id = :agency_id AND p.deleted_at IS NULL
--- property-card bad 3
SELECT p.id, p.address, jsonb_strip_nulls(to_jsonb(p)) AS raw
FROM properties p
WHERE p.id = :property_id AND p.agency_id = :agency_id AND p.deleted_at IS NULL
--- property-card bad 1
SELECT p.id, p.address, t.renter_name
FROM tenancies t
JOIN properties p ON p.id = t.property_id AND p.deleted_at IS NULL
WHERE t.id = :tenancy_id AND t.deleted_at IS NULL
  AND (:agency_id IS NOT NULL)
--- property-card bad 1
SELECT p.id, p.address
FROM properties p
WHERE p.id = :property_id AND p.deleted_at IS NULL
  AND p.agency_id = COALESCE(:agency_id, p.agency_id)
--- book-viewing good
INSERT INTO viewings (id, property_id, negotiator_id, slot)
SELECT gen_random_uuid(), p.id, u.id, tstzrange(:from, :to, '[)')
FROM properties p
JOIN users u ON u.agency_id = p.agency_id
WHERE p.id = :property_id AND p.agency_id = :agency_id AND p.deleted_at IS NULL
  AND u.id = :user_id AND u.is_active
  AND NOT EXISTS (SELECT 1 FROM viewings v WHERE v.property_id = p.id AND v.cancelled_at IS NULL AND v.slot && tstzrange(:from, :to, '[)'))
RETURNING id
--- book-viewing bad 1
INSERT INTO viewings (id, property_id, negotiator_id, slot)
VALUES (gen_random_uuid(), :property_id, :user_id, tstzrange(:from, :to))
RETURNING id
--- staff good
SELECT u.id, u.name, u.email, string_agg(ur.role, ', ' ORDER BY ur.role) AS roles
FROM users u
LEFT JOIN user_roles ur ON ur.user_id = u.id AND ur.agency_id = u.agency_id
WHERE u.agency_id = :agency_id AND u.is_active
GROUP BY u.id
ORDER BY u.name
LIMIT 100
