-- The rows that the procurement cases are proven on. Never shown to a reviewer.
--
-- An id tells its owner: organisation * 1000000 + table * 10000 + n, with the
-- tables members 1, delegations 2, cost_centers 3, vendors 4, contracts 5,
-- purchase_orders 6, po_lines 7, invoices 8, documents 9, share_links 10,
-- activity 11. Rows that a statement inserts get ids from 9000001.
-- Organisation 3 is the quiet one for benign sets: nothing of it is deleted or
-- expired, its orders are of 2023 and fill no page, its vendors and
-- contracts hold no tax_id and no terms. Secrets are written in the letters Q Z X J K W V alone, four or more in a row,
-- which no other text here holds. Lists have more than 100 rows, twice the page.

CREATE SCHEMA make;
CREATE FUNCTION make.id(org int, tab int, n int) RETURNS bigint IMMUTABLE LANGUAGE sql
  AS $$ SELECT org * 1000000::bigint + tab * 10000 + n $$;
CREATE FUNCTION make.secret(what text, org int, n int) RETURNS text IMMUTABLE LANGUAGE sql
  AS $$ SELECT translate(left(md5(what || org || '/' || n), 20), '0123456789abcdef', 'QZXJKWVQZXJKWVQZ') $$;

INSERT INTO orgs VALUES (1, 'Alder Works', 'America/New_York'), (2, 'Birch Labs', 'Europe/Berlin'),
  (3, 'Cedar Foods', 'Asia/Tokyo');

INSERT INTO platform_settings VALUES ('smtp_password', 'CANARY-7f3a91'), ('license_key', 'CANARY-c0ffee');

-- Members 1 to 16 have parts of their own, the others are requesters and buyers.
INSERT INTO members (id, org_id, email, full_name, role, approval_limit, password_hash, mfa_secret, created_at, disabled_at)
SELECT make.id(o, 1, n), o, 'm' || n || '@org' || o || '.example', 'Member ' || o || '-' || n,
  CASE WHEN n IN (1, 10) THEN 'admin' WHEN n IN (2, 13) THEN 'finance' WHEN n IN (3, 12) THEN 'buyer'
       WHEN n IN (4, 5, 9, 16) THEN 'approver' WHEN n > 16 AND n % 9 = 0 THEN 'buyer' ELSE 'requester' END,
  CASE n WHEN 1 THEN 50000 WHEN 4 THEN 5000 WHEN 5 THEN 20000 WHEN 6 THEN 9000 WHEN 3 THEN 900 WHEN 16 THEN 20000 END,
  make.secret('pw', o, n), CASE WHEN n % 2 = 0 THEN make.secret('mfa', o, n) END,
  timestamptz '2024-01-10 08:00Z' + n * interval '1 day',
  CASE WHEN n = 8 OR n > 20 AND n % 10 = 1 THEN timestamptz '2025-03-01 00:00Z' END
FROM (VALUES (1, 130), (2, 120), (3, 30)) AS size (o, m), generate_series(1, m) AS n;

INSERT INTO delegations (id, org_id, from_member_id, to_member_id, max_amount, starts_at, ends_at, revoked_at)
SELECT make.id(o, 2, n), o, make.id(o, 1, f), make.id(o, 1, t), most, s, e, r
FROM generate_series(1, 3) AS o, (VALUES
  (1, 5, 11, 3000::numeric, timestamptz '2025-06-01 00:00Z', timestamptz '2025-07-01 00:00Z', NULL::timestamptz),
  (2, 5, 12, NULL, '2025-05-01 00:00Z', '2025-06-16 09:30Z', NULL),         -- ends at this very moment
  (3, 4, 13, NULL, '2025-06-16 09:31Z', NULL, NULL),                        -- begins in a minute
  (4, 5, 7, NULL, '2025-01-01 00:00Z', NULL, '2025-06-10 12:00Z'),          -- revoked
  (5, 1, 14, NULL, '2025-06-16 09:30Z', NULL, NULL),                        -- begins at this very moment
  (6, 6, 15, NULL, '2025-01-01 00:00Z', NULL, NULL),                        -- of a requester who has a limit
  (7, 5, 3, 100000, '2025-06-01 00:00Z', '2025-06-20 00:00Z', NULL),
  (8, 9, 17, 5000, '2025-01-01 00:00Z', NULL, NULL),                        -- of an approver without a limit
  (9, 16, 6, 8000, '2025-02-01 00:00Z', '2025-05-01 00:00Z', NULL),         -- ended
  (10, 16, 6, 600, '2025-06-01 00:00Z', '2025-08-01 00:00Z', NULL)
) AS d (n, f, t, most, s, e, r);
-- More than a page of old ones for lists.
INSERT INTO delegations (id, org_id, from_member_id, to_member_id, max_amount, starts_at, ends_at)
SELECT make.id(o, 2, 20 + n), o, make.id(o, 1, 4), make.id(o, 1, 18), 10 * n,
  timestamptz '2024-01-01 00:00Z' + n * interval '2 day', timestamptz '2024-01-02 00:00Z' + n * interval '2 day'
FROM generate_series(1, 2) AS o, generate_series(1, 110) AS n;

INSERT INTO cost_centers (id, org_id, parent_id, owner_member_id, name, budget)
SELECT make.id(o, 3, n), o, CASE WHEN n > 1 THEN make.id(o, 3, n / 2) END, make.id(o, 1, 1 + n % 7),
  'Cost centre ' || o || '-' || n, 1000
FROM generate_series(1, 3) AS o, generate_series(1, 12) AS n;

INSERT INTO vendors (id, org_id, name, status, contact_email, tax_id, bank_account, rating, deleted_at)
SELECT make.id(o, 4, n), o, (ARRAY['Granite', 'Harbor', 'Iris', 'Juniper', 'Lumen'])[1 + n % 5] || ' Supply ' || o || '-' || n,
  CASE WHEN n % 7 = 0 THEN 'blocked' WHEN n % 6 = 0 THEN 'pending' ELSE 'active' END,
  CASE WHEN n % 4 <> 0 THEN 'sales' || n || '@vendor' || o || '.example' END,
  CASE WHEN o <> 3 THEN make.secret('tax', o, n) END, make.secret('bank', o, n), CASE WHEN n % 3 <> 0 THEN 1 + n % 5 END,
  CASE WHEN n % 11 = 0 AND o <> 3 THEN timestamptz '2025-06-10 00:00Z' END
FROM (VALUES (1, 190), (2, 150), (3, 15)) AS size (o, m), generate_series(1, m) AS n;

-- Contracts 1 to 8 stand on the edges of time, the others are in force.
INSERT INTO contracts (id, org_id, vendor_id, title, ceiling, terms_private, starts_on, ends_on, deleted_at)
SELECT make.id(o, 5, n), o, make.id(o, 4, CASE WHEN n = 7 THEN 11 WHEN n <= 8 THEN n ELSE 1 + n % 10 END),
  'Contract ' || o || '-' || n, 5000, CASE WHEN o <> 3 THEN make.secret('terms', o, n) END,
  CASE n WHEN 3 THEN date '2025-06-17' WHEN 4 THEN '2025-06-16' WHEN 5 THEN '2026-01-01' ELSE '2024-07-01' END,
  CASE n WHEN 1 THEN date '2025-06-16' WHEN 2 THEN '2025-06-15' WHEN 6 THEN '2025-12-31' WHEN 8 THEN '2024-12-31' END,
  CASE WHEN (n = 6 OR n > 8 AND n % 12 = 0) AND o <> 3 THEN timestamptz '2025-04-01 00:00Z' END
FROM (VALUES (1, 150), (2, 130), (3, 12)) AS size (o, m), generate_series(1, m) AS n;

-- The status goes by n % 10; every thirteenth order is deleted. Order 15 is under a contract that has ended. Orders that were
-- deleted although committed are in cost centre 7, with the submitted 239: to sum them or not, no label may hang on it.
INSERT INTO purchase_orders (id, org_id, number, vendor_id, contract_id, cost_center_id, requester_id, status, total,
  note, approved_by, approved_at, created_at, deleted_at)
SELECT make.id(o, 6, n), o, 'PO-' || lpad((n + o / 3 * 3000)::text, 4, '0'), make.id(o, 4, 1 + n % 11),
  CASE WHEN n = 15 AND o <> 3 THEN make.id(o, 5, 8) WHEN n % 5 = 0 THEN make.id(o, 5, 9 + n % 3) END,
  make.id(o, 3, CASE WHEN o <> 3 AND (n = 239 OR n % 13 = 0 AND s IN ('approved', 'sent', 'received', 'closed')) THEN 7 ELSE 1 + n % 6 END),
  make.id(o, 1, CASE WHEN n IN (21, 31) THEN 4 WHEN n % 40 = 9 THEN 3 WHEN n % 40 = 19 THEN 1 WHEN n % 3 = 0 THEN 6 WHEN n % 3 = 1 THEN 7 ELSE 18 + n % 12 END), s, 0,
  CASE WHEN n % 4 = 0 THEN 'Note ' || o || '-' || n END,
  CASE WHEN s IN ('approved', 'sent', 'received', 'closed', 'rejected') THEN make.id(o, 1, 16) END,
  CASE WHEN s IN ('approved', 'sent', 'received', 'closed', 'rejected') THEN timestamptz '2025-05-01 10:00Z' + n * interval '3 hour' END,
  CASE o WHEN 3 THEN timestamptz '2023-03-01 10:00Z' ELSE '2025-03-01 10:00Z' END + n * interval '4 hour' + o * interval '1 minute',
  CASE WHEN n % 13 = 0 AND o <> 3 THEN timestamptz '2025-06-01 00:00Z' END
FROM (VALUES (1, 561), (2, 380), (3, 40)) AS size (o, m), generate_series(1, m) AS n,
  LATERAL (SELECT (ARRAY['draft', 'submitted', 'submitted', 'approved', 'sent', 'received', 'closed', 'rejected',
    'cancelled', 'submitted'])[1 + n % 10]) AS st (s);

-- Two lines an order; order 10 (a draft) has 130. Orders 2, 11, 22 and 32 are dear ones, order 561 costs nothing.
INSERT INTO po_lines (id, org_id, po_id, line_no, sku, description, quantity, unit_price)
SELECT make.id(p.org_id::int, 7, 0) + row_number() OVER (PARTITION BY p.org_id ORDER BY p.id, k), p.org_id, p.id, k,
  'SKU-' || (p.id % 10000 * 7 + k) % 90, 'Item ' || p.org_id || '-' || p.id % 10000 || '-' || k, 1 + (p.id + k) % 5,
  CASE p.id % 10000 WHEN 561 THEN 0 ELSE CASE p.id % 10000 WHEN 2 THEN 900 WHEN 11 THEN 3100 WHEN 22 THEN 1400 WHEN 32 THEN 700
    ELSE 20 + (p.id * 13 + k * 7) % 90 END + p.org_id * 0.01 END
FROM purchase_orders p, generate_series(1, CASE WHEN p.id % 10000 = 10 THEN 130 ELSE 2 END) AS k;
CREATE INDEX ON po_lines (po_id);
ANALYZE;
UPDATE purchase_orders p SET total = (SELECT sum(quantity * unit_price) FROM po_lines l WHERE l.po_id = p.id);

-- Orders that were sent have two invoices of four tenths each; order 14 has 230 small ones.
INSERT INTO invoices (id, org_id, po_id, vendor_id, number, amount, status, due_on, paid_at, paid_by)
SELECT make.id(p.org_id::int, 8, 0) + row_number() OVER (PARTITION BY p.org_id ORDER BY p.id, k), p.org_id, p.id, p.vendor_id,
  'INV-' || p.id % 10000 || '-' || k, round(p.total * CASE WHEN p.id % 10000 = 14 AND p.org_id <> 3 THEN 0.003 ELSE 0.4 END, 2), s,
  CASE p.org_id WHEN 3 THEN date '2023-06-01' ELSE '2025-06-01' END + (p.id % 40)::int,
  CASE WHEN s = 'paid' THEN timestamptz '2025-06-05 12:00Z' END, CASE WHEN s = 'paid' THEN make.id(p.org_id::int, 1, 2) END
FROM purchase_orders p, generate_series(1, CASE WHEN p.id % 10000 = 14 AND p.org_id <> 3 THEN 230 ELSE 2 END) AS k,
  LATERAL (SELECT (ARRAY['received', 'matched', 'approved', 'paid', 'disputed'])[1 + (p.id / 10 + k) % 5]) AS st (s)
WHERE p.status IN ('sent', 'received', 'closed');

-- One document for every second order, on every edge of time; order 3 has 130.
INSERT INTO documents (id, org_id, po_id, uploaded_by, name, storage_key, expires_at, deleted_at)
SELECT make.id(p.org_id::int, 9, 0) + row_number() OVER (PARTITION BY p.org_id ORDER BY p.id, k), p.org_id, p.id, p.requester_id,
  'Document ' || p.org_id || '-' || p.id % 10000 || '-' || k, make.secret('doc', p.org_id::int, (p.id * 200 + k)::int),
  CASE (p.id + k) % 6 + p.org_id / 3 * 9 WHEN 0 THEN timestamptz '2025-06-16 09:30Z' WHEN 1 THEN '2025-06-15 00:00Z' WHEN 2 THEN '2025-06-16 09:31Z' END,
  CASE WHEN (p.id + k) % 8 = 5 AND p.org_id <> 3 THEN timestamptz '2025-05-01 00:00Z' END
FROM purchase_orders p, generate_series(1, CASE WHEN p.id % 10000 = 3 THEN 330 ELSE 1 END) AS k
WHERE p.id % 2 = 0 OR p.id % 10000 = 3;

-- The token of link n is "link-<org>-<n>". Links 1 to 6 stand on edges, 7 is of deleted order 13; from 101 on they
-- are the second links of their orders.
INSERT INTO share_links (id, org_id, po_id, created_by, token_hash, expires_at, revoked_at)
SELECT make.id(o, 10, n), o, make.id(o, 6, CASE WHEN n = 7 THEN 13 WHEN n = 8 THEN 3 WHEN n > 100 THEN n * 2 - 200 ELSE n * 2 END), make.id(o, 1, 3),
  encode(sha256(convert_to('link-' || o || '-' || n, 'UTF8')), 'hex'),
  CASE n WHEN 1 THEN timestamptz '2025-06-16 09:30Z' WHEN 2 THEN '2025-06-16 09:31Z' WHEN 3 THEN '2025-06-01 00:00Z' ELSE '2025-09-01 00:00Z' END,
  CASE WHEN n IN (4, 9) THEN timestamptz '2025-06-01 00:00Z' WHEN n = 5 THEN '2025-06-16 09:30Z' END
FROM (VALUES (1, 160), (2, 130), (3, 8)) AS size (o, m), generate_series(1, m) AS n;

INSERT INTO activity (id, org_id, member_id, po_id, action, at)
SELECT make.id(p.org_id::int, 11, 0) + row_number() OVER (PARTITION BY p.org_id ORDER BY p.id, k), p.org_id, p.requester_id, p.id,
  (ARRAY['created', 'edited', 'submitted', 'commented'])[1 + k % 4], p.created_at + k * interval '1 hour'
FROM purchase_orders p, generate_series(1, CASE WHEN p.id % 10000 IN (3, 10) THEN 120 ELSE 1 END) AS k;

-- Cost centres 5 and 7 and contract 11 have room for 30 more, contract 13 for 600, the others for a few thousand.
UPDATE cost_centers c SET budget = CASE WHEN id % 10000 IN (5, 7) THEN 30 ELSE 9000 END + coalesce((SELECT sum(total) FROM purchase_orders p WHERE p.cost_center_id = c.id
  AND p.status IN ('approved', 'sent', 'received', 'closed')), 0);
UPDATE contracts c SET ceiling = CASE id % 10000 WHEN 11 THEN 30 WHEN 13 THEN 600 ELSE 9000 END + coalesce((SELECT sum(total) FROM purchase_orders p WHERE p.contract_id = c.id
  AND p.status NOT IN ('cancelled', 'rejected') AND p.deleted_at IS NULL), 0);

SELECT setval(pg_get_serial_sequence('public.' || t, 'id'), 9000000 + 10000 * i)
FROM unnest(ARRAY['members', 'delegations', 'cost_centers', 'vendors', 'contracts', 'purchase_orders', 'po_lines', 'invoices',
  'documents', 'share_links', 'activity']) WITH ORDINALITY AS x (t, i);

CREATE INDEX ON invoices (po_id);
CREATE INDEX ON documents (po_id);
CREATE INDEX ON activity (po_id);

-- What oracles look ids up in: owner, and whether the row counts as deleted.
CREATE TABLE make.rows AS
  SELECT id, org_id, 'members' AS tab, false AS dead, NULL::bigint AS po_id FROM members
  UNION ALL SELECT id, org_id, 'delegations', false, NULL FROM delegations
  UNION ALL SELECT id, org_id, 'cost_centers', false, NULL FROM cost_centers
  UNION ALL SELECT id, org_id, 'vendors', deleted_at IS NOT NULL, NULL FROM vendors
  UNION ALL SELECT c.id, c.org_id, 'contracts', c.deleted_at IS NOT NULL OR v.deleted_at IS NOT NULL, NULL
    FROM contracts c JOIN vendors v ON v.id = c.vendor_id
  UNION ALL SELECT id, org_id, 'purchase_orders', deleted_at IS NOT NULL, id FROM purchase_orders
  UNION ALL SELECT l.id, l.org_id, 'po_lines', p.deleted_at IS NOT NULL, p.id FROM po_lines l JOIN purchase_orders p ON p.id = l.po_id
  UNION ALL SELECT i.id, i.org_id, 'invoices', p.deleted_at IS NOT NULL, p.id FROM invoices i JOIN purchase_orders p ON p.id = i.po_id
  UNION ALL SELECT d.id, d.org_id, 'documents', d.deleted_at IS NOT NULL OR p.deleted_at IS NOT NULL, p.id
    FROM documents d JOIN purchase_orders p ON p.id = d.po_id
  UNION ALL SELECT s.id, s.org_id, 'share_links', p.deleted_at IS NOT NULL, p.id FROM share_links s JOIN purchase_orders p ON p.id = s.po_id
  UNION ALL SELECT a.id, a.org_id, 'activity', false, a.po_id FROM activity a;
ALTER TABLE make.rows ADD PRIMARY KEY (id), ADD key text UNIQUE GENERATED ALWAYS AS (id::text) STORED;

-- Texts by owner; "dead" when every row of the owner that holds the text is deleted.
-- Order numbers are the same in all organisations and tell nothing.
CREATE TABLE make.texts AS
SELECT org_id, text, bool_and(dead) AS dead FROM (
  SELECT org_id, unnest(ARRAY[email, full_name]), false FROM members
  UNION ALL SELECT org_id, name, false FROM cost_centers
  UNION ALL SELECT org_id, unnest(ARRAY[name, contact_email]), deleted_at IS NOT NULL FROM vendors
  UNION ALL SELECT c.org_id, c.title, r.dead FROM contracts c JOIN make.rows r USING (id)
  UNION ALL SELECT org_id, unnest(ARRAY[note]), deleted_at IS NOT NULL FROM purchase_orders
  UNION ALL SELECT l.org_id, l.description, r.dead FROM po_lines l JOIN make.rows r USING (id)
  UNION ALL SELECT d.org_id, d.name, r.dead FROM documents d JOIN make.rows r USING (id)
) AS x (org_id, text, dead) WHERE text IS NOT NULL GROUP BY org_id, text;
CREATE INDEX ON make.texts (text);
