-- What the lettings cases are proven on. No reviewer sees it.
--
-- Every id is kit.id(agency, table, n): ten digits that tell the agency, the
-- table (accounts 1, portfolios 2, grants 3, properties 4, ownerships 5, units 6,
-- leases 7, occupants 8, payments 9, contractors 10, tickets 11, viewings 12,
-- files 13, messages 14) and a number. New rows are numbered from 900000 on.
-- Accounts of "agency" 8 work for several agencies. Agency 3 is the calm one:
-- nothing archived, ended or hidden there, no list as long as a page.
-- Hidden texts are spelt with the letters Q X Z J V alone. Floor rents, and no
-- other amount, end in 77777.

CREATE SCHEMA kit;
CREATE FUNCTION kit.id(a int, t int, n int) RETURNS bigint IMMUTABLE LANGUAGE sql
  AS $$ SELECT a * 1000000000::bigint + t * 1000000 + n $$;
CREATE FUNCTION kit.agency(id bigint) RETURNS int IMMUTABLE LANGUAGE sql AS $$ SELECT (id / 1000000000)::int $$;
CREATE FUNCTION kit.n(id bigint) RETURNS int IMMUTABLE LANGUAGE sql AS $$ SELECT (id % 1000000)::int $$;
CREATE FUNCTION kit.hidden(what text, a int, n int) RETURNS text IMMUTABLE LANGUAGE sql
  AS $$ SELECT translate(left(md5(what || a || '.' || n), 18), '0123456789abcdef', 'QXZJVQXZJVQXZJVQ') $$;

-- Agency 1 is behind UTC, agency 2 before it.
INSERT INTO agencies VALUES (1, 'Almond Street Homes', 'America/Los_Angeles'), (2, 'Bellflower Lets', 'Pacific/Auckland'),
  (3, 'Cobbler Row', 'Africa/Accra');
INSERT INTO vault VALUES ('bank gateway', 'CANARY-51ab'), ('signing key', 'CANARY-90ef');

-- Accounts 1 to 20 are staff, 21 to 40 owners, from 101 on occupants.
INSERT INTO accounts
SELECT kit.id(a, 1, n), 'Person ' || a || '-' || n, 'p' || n || '@a' || a || '.example', CASE WHEN n % 3 > 0 THEN '+1 555 ' || a || lpad(n::text, 4, '0') END,
  kit.hidden('digest', a, n), CASE WHEN a <> 3 THEN kit.hidden('card', a, n) END, CASE WHEN a <> 3 AND n % 2 = 0 THEN kit.hidden('refund', a, n) END
FROM (VALUES (1, 480), (2, 360), (3, 160), (8, 9)) AS size (a, m), generate_series(1, m) AS n;

-- 1 over 2 and 3; 2 over 4 and 5; 3 over 6 and 7.
INSERT INTO portfolios SELECT kit.id(a, 2, n), a, CASE WHEN n > 1 THEN kit.id(a, 2, n / 2) END, 'Portfolio ' || a || '-' || n
FROM generate_series(1, 3) AS a, generate_series(1, 7) AS n;
INSERT INTO portfolio_tree
WITH RECURSIVE up (low, high) AS (SELECT id, id FROM portfolios UNION ALL SELECT low, p.parent_id FROM up JOIN portfolios p ON p.id = high WHERE p.parent_id IS NOT NULL)
SELECT high, low FROM up;

INSERT INTO grants (id, account_id, portfolio_id, role, first_day, last_day, withdrawn)
SELECT kit.id(a, 3, k), kit.id(a, 1, n), kit.id(a, 2, p), r, f, l, w
FROM generate_series(1, 3) AS a, (VALUES
  (1, 1, 1, 'manager', date '2024-01-01', NULL::date, false),
  (2, 2, 1, 'bookkeeper', '2024-01-01', NULL, false),
  (3, 3, 1, 'agent', '2024-01-01', '2026-01-01', false),
  (4, 4, 1, 'viewer', '2024-01-01', NULL, false),
  (5, 5, 2, 'manager', '2024-01-01', NULL, false),            -- a manager here,
  (6, 5, 3, 'viewer', '2024-01-01', NULL, false),             -- a viewer there
  (7, 6, 4, 'agent', '2024-01-01', NULL, false),
  (8, 7, 1, 'manager', '2024-01-01', '2025-05-31', false),    -- past
  (9, 8, 1, 'manager', '2025-06-17', NULL, false),            -- from tomorrow on
  (10, 9, 1, 'manager', '2024-01-01', NULL, true),            -- withdrawn
  (11, 10, 1, 'manager', '2024-01-01', '2025-06-16', false),  -- today for the last time
  (12, 11, 2, 'bookkeeper', '2024-01-01', NULL, false),
  (13, 11, 3, 'agent', '2024-01-01', NULL, false),
  (14, 12, 1, 'viewer', '2024-01-01', NULL, false),           -- a viewer who was a manager
  (15, 12, 1, 'manager', '2024-01-01', '2025-05-31', false),
  (16, 13, 7, 'manager', '2024-01-01', NULL, false),
  (17, 14, 1, 'agent', '2025-06-16', NULL, false),            -- from today on
  (18, 16, 1, 'viewer', '2024-01-01', NULL, false),           -- a viewer whose bookkeeper's grant was withdrawn
  (19, 16, 1, 'bookkeeper', '2024-01-01', NULL, true),
  (20, 17, 1, 'viewer', '2024-01-01', NULL, false),           -- a viewer, and an agent from tomorrow on
  (21, 17, 1, 'agent', '2025-06-17', NULL, false),
  (22, 18, 1, 'viewer', '2024-01-01', NULL, false),           -- a viewer with a second grant below
  (23, 18, 2, 'agent', '2024-01-01', NULL, false),
  (24, 19, 1, 'agent', '2024-01-01', '2025-06-15', false),    -- until yesterday
  (25, 20, 4, 'viewer', '2024-01-01', NULL, false),           -- here today,
  (26, 20, 3, 'manager', '2024-01-01', NULL, true),           -- withdrawn there,
  (27, 20, 5, 'manager', '2024-01-01', '2025-05-31', false)   -- and past there
) AS g (k, n, p, r, f, l, w);
-- Who works for several: 1 manages in both, 2 is agent in 1 and manager in 2, 3 viewer in 1 and bookkeeper in 2.
INSERT INTO grants (id, account_id, portfolio_id, role, first_day)
SELECT kit.id(a, 3, 30 + n), kit.id(8, 1, n), kit.id(a, 2, 1), r, '2024-01-01'
FROM (VALUES (1, 1, 'manager'), (2, 1, 'manager'), (1, 2, 'agent'), (2, 2, 'manager'), (1, 3, 'viewer'), (2, 3, 'bookkeeper')) AS g (a, n, r);
-- Many more for lists.
INSERT INTO grants (id, account_id, portfolio_id, role, first_day, last_day, withdrawn)
SELECT kit.id(a, 3, 100 + n), kit.id(a, 1, 101 + n), kit.id(a, 2, 1 + n % 7), (ARRAY['viewer', 'agent', 'bookkeeper'])[1 + n % 3],
  date '2024-03-01' + n, CASE WHEN n % 5 = 0 THEN date '2025-06-01' + n % 40 END, n % 9 = 4
FROM (VALUES (1, 90), (2, 70)) AS size (a, m), generate_series(1, m) AS n;

INSERT INTO properties
SELECT kit.id(a, 4, n), a, kit.id(a, 2, 1 + (n - 1) % 7), (ARRAY['Fern', 'Gull', 'Hazel', 'Iron', 'Lark'])[1 + n % 5] || ' Street ' || a || '-' || n,
  CASE WHEN a <> 3 THEN kit.hidden('alarm', a, n) END, n % 8 = 0 AND a <> 3
FROM (VALUES (1, 21), (2, 14), (3, 7)) AS size (a, m), generate_series(1, m) AS n;

-- Owner 21 has properties 1 to 4, 22 the others; 23 to 26 on the edges of time.
INSERT INTO ownerships
SELECT kit.id(a, 5, k), kit.id(a, 4, p), kit.id(a, 1, o), s, f, l
FROM generate_series(1, 3) AS a, (VALUES
  (1, 1, 21, 10000, date '2020-01-01', NULL::date), (2, 2, 21, 6000, '2020-01-01', NULL), (3, 2, 27, 4000, '2020-01-01', NULL),
  (4, 3, 21, 5000, '2020-01-01', NULL), (5, 3, 23, 5000, '2020-01-01', '2025-06-16'), (6, 4, 21, 10000, '2020-01-01', NULL),
  (7, 5, 22, 2500, '2020-01-01', NULL), (8, 5, 24, 2500, '2025-06-17', NULL), (9, 5, 25, 2500, '2020-01-01', '2025-06-15'),
  (10, 5, 26, 2500, '2025-06-16', NULL), (11, 6, 22, 10000, '2020-01-01', NULL), (12, 7, 22, 10000, '2020-01-01', '2025-05-31'),
  (13, 7, 21, 10000, '2025-06-01', NULL), (14, 1, 22, 1000, '2018-01-01', '2019-12-31')
) AS w (k, p, o, s, f, l);
INSERT INTO ownerships SELECT kit.id(a, 5, 100 + n), kit.id(a, 4, n), kit.id(a, 1, 22), 10000, '2021-01-01', NULL
FROM (VALUES (1, 21), (2, 14)) AS size (a, m), generate_series(8, m) AS n;
-- Account 4 of agency 8 owns in agencies 1 and 2.
INSERT INTO ownerships SELECT kit.id(a, 5, 200 + n), kit.id(a, 4, n), kit.id(8, 1, 4), 100, '2021-01-01', NULL
FROM generate_series(1, 2) AS a, generate_series(9, 11) AS n;

INSERT INTO units
SELECT kit.id(a, 6, n), kit.id(a, 4, 1 + (n - 1) % p), 'Flat ' || a || '-' || n, 1 + n % 4, (ARRAY['let', 'vacant', 'let', 'vacant', 'blocked'])[1 + n % 5],
  90000 + n * 500, CASE WHEN a <> 3 THEN 77777 + 100000 * (n % 2) END, CASE WHEN a <> 3 AND n % 2 = 1 THEN kit.hidden('safe', a, n) END,
  n % 9 = 0 AND a <> 3
FROM (VALUES (1, 168, 21), (2, 112, 14), (3, 21, 7)) AS size (a, m, p), generate_series(1, m) AS n;

-- One lease a unit, its stage by n % 8; then a second one for each unit: former ones, and new ones for 2026.
INSERT INTO leases
SELECT kit.id(a, 7, n), kit.id(a, 6, 1 + (n - 1) % u), 'L' || lpad((n + a * 700)::text, 5, '0'), st,
  CASE WHEN n > u AND st = 'ended' THEN date '2021-02-01' WHEN n > u THEN date '2026-07-01' WHEN st IN ('draft', 'offered', 'void') THEN date '2025-07-01'
       WHEN st = 'ended' THEN date '2023-01-01' ELSE date '2024-07-01' + 30 * (n % 9) END,
  CASE WHEN n > u AND st = 'ended' THEN date '2022-01-31' WHEN n > u THEN date '2027-06-30' WHEN st IN ('draft', 'offered', 'void') THEN date '2026-06-30'
       WHEN st = 'ended' THEN date '2024-12-31' WHEN n % 3 = 0 THEN NULL ELSE date '2026-06-30' + n % 2 END,
  80000 + n * 100, 160000 + n * 200, 1 + n % 3, n % 11 = 0 AND a <> 3
FROM (VALUES (1, 168), (2, 112), (3, 21)) AS size (a, u), generate_series(1, 2 * u) AS n,
  LATERAL (SELECT CASE WHEN n <= u THEN (ARRAY['draft', 'offered', 'signed', 'running', 'running', 'noticed', 'ended', 'void'])[1 + n % 8]
    WHEN n % 6 = 0 THEN 'offered' WHEN n % 6 = 1 THEN 'draft' ELSE 'ended' END) AS x (st);
-- A third offered lease for units whose first one ends or is open: 1 to 8 share days with it or do not.
INSERT INTO leases
SELECT kit.id(a, 7, 500 + k), kit.id(a, 6, u), 'N' || lpad((k + a * 70)::text, 5, '0'), 'offered', f, l, 99000, 198000, 1, false
FROM generate_series(1, 3) AS a, (VALUES (1, 4, date '2026-07-01', date '2027-06-30'), (2, 4, '2026-06-30', '2027-06-30'), (3, 12, '2027-01-01', '2027-12-31'),
  (4, 16, '2025-07-01', '2026-06-30'), (5, 16, '2026-06-30', NULL), (6, 7, '2025-08-01', NULL), (7, 7, '2025-07-15', '2025-08-01'), (8, 21, '2026-09-01', NULL),
  (9, 11, '2024-01-01', '2024-08-29')) AS n (k, u, f, l);
-- Sixty drafts of one reference for unit 57: nothing keeps references apart.
INSERT INTO leases
SELECT kit.id(1, 7, 600 + k), kit.id(1, 6, 57), 'D00001', 'draft', date '2027-07-01', NULL, 99000, 198000, 1, false FROM generate_series(1, 60) AS k;

-- Two occupants for the first lease of each unit, 70 for lease 12. The second one of lease 4 left yesterday, of 5 leaves
-- today, of 10 comes tomorrow, of 13 came today. Account 5 of agency 8 lives in lease 3 of agencies 1 and 2.
INSERT INTO occupants
SELECT kit.id(kit.agency(l.id), 8, (row_number() OVER (PARTITION BY kit.agency(l.id) ORDER BY l.id, g))::int), l.id,
  kit.id(kit.agency(l.id), 1, CASE WHEN g = 1 THEN 100 + n WHEN g = 2 THEN 100 + n + u ELSE 100 + g END),
  CASE WHEN g = 2 AND n = 10 THEN date '2025-06-17' WHEN g = 2 AND n = 13 THEN '2025-06-16' ELSE l.starts_on END,
  CASE WHEN g = 2 AND n = 4 THEN date '2025-06-15' WHEN g = 2 AND n = 5 THEN '2025-06-16' WHEN l.stage = 'ended' THEN l.ends_on END
FROM (VALUES (1, 168), (2, 112), (3, 21)) AS size (a, u), generate_series(1, u) AS n
JOIN LATERAL (SELECT * FROM leases x WHERE x.id = kit.id(a, 7, n)) AS l ON true,
  generate_series(1, CASE WHEN n = 12 AND a <> 3 THEN 70 ELSE 2 END) AS g;
INSERT INTO occupants SELECT kit.id(a, 8, 900), kit.id(a, 7, 3), kit.id(8, 1, 5), date '2024-07-01', NULL FROM generate_series(1, 2) AS a;
-- One for each of the sixty drafts.
INSERT INTO occupants SELECT kit.id(1, 8, 600 + k), kit.id(1, 7, 600 + k), kit.id(1, 1, 440 + k % 40), date '2027-07-01', NULL FROM generate_series(1, 60) AS k;

-- Each lease that was ever signed has a settled deposit, settled rents, and one that is due; lease 12 has 70 more. Some
-- are reversed or waived, the deposit of lease 14 among them. Ended and noticed leases with n % 16 = 5 or 6 have a refund of a part already.
INSERT INTO payments
SELECT kit.id(kit.agency(l.id), 9, (row_number() OVER (PARTITION BY kit.agency(l.id) ORDER BY l.id, g))::int), l.id,
  CASE WHEN g = 1 THEN 'deposit' WHEN g = 5 THEN 'refund' WHEN g = 6 THEN 'fee' ELSE 'rent' END,
  CASE WHEN g = 1 THEN l.deposit_cents WHEN g = 5 THEN l.deposit_cents / 2 WHEN g > 6 THEN 1000 + g ELSE l.rent_cents END,
  CASE WHEN kit.agency(l.id) = 3 THEN date '2025-05-01' WHEN g = 4 THEN date '2025-06-01' + kit.n(l.id) % 30 ELSE date '2025-01-01' + 31 * g % 150 END,
  CASE WHEN g = 1 AND kit.n(l.id) = 14 AND kit.agency(l.id) <> 3 THEN 'reversed' WHEN g = 1 THEN 'settled' WHEN g = 4 OR g = 5 AND kit.n(l.id) % 16 = 6 THEN 'due' WHEN g = 3 AND kit.n(l.id) % 4 = 3 THEN 'reversed' WHEN g = 6 THEN 'waived' WHEN g > 6 AND g % 2 = 0 THEN 'due' ELSE 'settled' END,
  CASE WHEN g NOT IN (4, 6) AND (g <> 5 OR kit.n(l.id) % 16 <> 6) THEN timestamptz '2025-05-05 12:00Z' + g * interval '1 day' END,
  kit.id(kit.agency(l.id), 1, 2), CASE WHEN g < 4 THEN 'B' || kit.n(l.id) || '/' || g END,
  CASE WHEN kit.agency(l.id) <> 3 AND g < 4 THEN kit.hidden('payer', kit.agency(l.id), kit.n(l.id) * 100 + g) END
FROM leases l, generate_series(1, CASE WHEN kit.n(l.id) = 12 AND kit.agency(l.id) <> 3 THEN 76 ELSE 6 END) AS g
WHERE l.stage IN ('signed', 'running', 'noticed', 'ended') AND (g <> 5 OR kit.n(l.id) % 16 IN (5, 6)) AND (g <> 6 OR kit.n(l.id) % 5 = 0);

-- Contractors 1 to 3 are vetted until today, yesterday, tomorrow.
INSERT INTO contractors
SELECT kit.id(a, 10, n), a, (ARRAY['Otter', 'Pike', 'Robin', 'Swift'])[1 + n % 4] || ' Repairs ' || a || '-' || n, (ARRAY['electrician', 'painter', 'plumber', 'plumber', 'plumber'])[1 + n % 5],
  4000 + n * 50, CASE WHEN a <> 3 THEN kit.hidden('settle', a, n) END,
  CASE WHEN a = 3 THEN date '2027-01-01' WHEN n = 1 THEN '2025-06-16' WHEN n = 2 THEN '2025-06-15' WHEN n = 3 THEN '2025-06-17' WHEN n % 10 = 5 THEN '2025-01-31' ELSE '2026-01-01' END,
  n % 7 = 0 AND a <> 3
FROM (VALUES (1, 125), (2, 66), (3, 12)) AS size (a, m), generate_series(1, m) AS n;

-- Two tickets a unit, their stage by n; unit 5 has 70 more. Opened by the unit's occupants.
INSERT INTO tickets
SELECT kit.id(a, 11, n), kit.id(a, 6, CASE WHEN n > 2 * u THEN 5 ELSE 1 + (n - 1) % u END),
  kit.id(a, 1, CASE WHEN n > 2 * u THEN 105 ELSE 101 + (n - 1) % u END), (ARRAY['Boiler', 'Damp wall', 'Lock', 'Sink', 'Window'])[1 + n % 5] || ' ' || a || '-' || n, st,
  CASE WHEN st NOT IN ('open', 'closed') THEN kit.id(a, 10, 1 + n % 12) END, CASE WHEN st NOT IN ('open', 'assigned', 'closed') THEN 20000 + n * 100 END,
  CASE WHEN a <> 3 AND n % 2 = 0 THEN 'Remark ' || a || '-' || n END, CASE a WHEN 3 THEN timestamptz '2025-05-01 06:00Z' ELSE '2025-02-01 06:00Z' END + n * interval '7 hours', 1 + n % 3,
  n % 13 = 0 AND a <> 3
FROM (VALUES (1, 168, 406), (2, 112, 294), (3, 21, 42)) AS size (a, u, m), generate_series(1, m) AS n,
  LATERAL (SELECT (ARRAY['open', 'assigned', 'quoted', 'approved', 'finished', 'closed', 'quoted'])[1 + (n + n / 7) % 7]) AS x (st);

-- Five viewings for every third unit, hours apart on the days around now; 60 for unit 2.
INSERT INTO viewings
SELECT kit.id(a, 12, (row_number() OVER (PARTITION BY a ORDER BY u, g))::int), kit.id(a, 6, u), 'Visitor ' || a || '-' || u || '-' || g,
  timestamptz '2025-06-16 08:00Z' + g * interval '3 hours' + u * interval '1 minute', timestamptz '2025-06-16 09:00Z' + g * interval '3 hours' + u * interval '1 minute',
  (ARRAY['booked', 'asked', 'held', 'dropped', 'booked'])[1 + g % 5], kit.id(a, 1, CASE g % 5 WHEN 1 THEN NULL ELSE 3 END), CASE WHEN a <> 3 THEN kit.hidden('pin', a, u * 100 + g) END
FROM (VALUES (1, 168), (2, 112), (3, 21)) AS size (a, m), generate_series(2, m, 3) AS u, generate_series(0, CASE WHEN u = 2 AND a <> 3 THEN 59 ELSE 4 END) AS g;

-- Unit 4: 801 is booked, 802 shares half an hour with it, 803 begins as it ends, 805 shares half an hour with 803. 804 is of an archived unit.
INSERT INTO viewings
SELECT kit.id(a, 12, 800 + k), kit.id(a, 6, u), 'Visitor ' || a || '-x' || k, timestamptz '2025-06-18 10:00Z' + f * interval '1 minute', timestamptz '2025-06-18 11:00Z' + f * interval '1 minute',
  CASE k WHEN 1 THEN 'booked' ELSE 'asked' END, CASE k WHEN 1 THEN kit.id(a, 1, 3) END, CASE WHEN a <> 3 THEN kit.hidden('pin', a, 80000 + k) END
FROM generate_series(1, 3) AS a, (VALUES (1, 4, 0), (2, 4, 30), (3, 4, 60), (4, 9, 0), (5, 4, 90)) AS x (k, u, f);

-- One file a property and one for each of the first leases, on every edge of time; property 5 and lease 12 have many.
INSERT INTO files
SELECT kit.id(a, 13, (row_number() OVER (PARTITION BY a ORDER BY k, o, g))::int), p, l, 'File ' || a || '-' || k || '-' || o || '-' || g, CASE WHEN a <> 3 THEN kit.hidden('blob', a, k * 100000 + o * 100 + g) END,
  CASE WHEN a <> 3 AND (o + g) % 7 = 1 THEN timestamptz '2025-06-16 09:31Z' WHEN a <> 3 AND (o + g) % 7 = 2 THEN '2025-06-16 09:30Z' ELSE '2025-01-01 00:00Z' END,
  CASE WHEN a = 3 THEN NULL WHEN (o + g) % 7 = 3 THEN timestamptz '2025-06-16 09:30Z' WHEN (o + g) % 7 = 4 THEN '2025-06-16 09:31Z' WHEN (o + g) % 7 = 5 THEN '2025-03-01 00:00Z' END,
  (o + g) % 9 = 4 AND a <> 3
FROM (
  SELECT kit.agency(id) AS a, 1 AS k, kit.n(id) AS o, g, id AS p, NULL::bigint AS l
  FROM properties, generate_series(1, CASE WHEN kit.n(id) = 5 AND kit.agency(id) <> 3 THEN 100 WHEN kit.agency(id) = 3 THEN 1 ELSE 8 END) AS g
  UNION ALL
  SELECT kit.agency(x.id), 2, kit.n(x.id), g, u.property_id, x.id
  FROM leases x JOIN units u ON u.id = x.unit_id, generate_series(1, CASE WHEN kit.n(x.id) = 12 AND kit.agency(x.id) <> 3 THEN 140 WHEN kit.agency(x.id) = 3 THEN 1 ELSE 8 END) AS g WHERE kit.n(x.id) <= 40 OR kit.n(x.id) BETWEEN 169 AND 175
) AS f;

-- Six messages for each of the first leases, 100 for lease 12.
INSERT INTO messages
SELECT kit.id(kit.agency(x.id), 14, (row_number() OVER (PARTITION BY kit.agency(x.id) ORDER BY x.id, g))::int), x.id,
  kit.id(kit.agency(x.id), 1, CASE WHEN g % 2 = 0 THEN 3 ELSE 100 + kit.n(x.id) END), 'Message ' || kit.agency(x.id) || '-' || kit.n(x.id) || '-' || g,
  g % 4 = 0 AND kit.agency(x.id) <> 3, timestamptz '2025-04-01 10:00Z' + g * interval '11 hours' + kit.n(x.id) * interval '1 minute', g % 5 = 0 AND kit.agency(x.id) <> 3
FROM leases x, generate_series(1, CASE WHEN kit.n(x.id) = 12 AND kit.agency(x.id) <> 3 THEN 100 ELSE 6 END) AS g WHERE kit.n(x.id) <= 60;

SELECT setval(pg_get_serial_sequence('public.' || t, 'id'), 900000)
FROM unnest(ARRAY['accounts', 'portfolios', 'grants', 'properties', 'ownerships', 'units', 'leases', 'occupants', 'payments', 'contractors', 'tickets', 'viewings', 'files', 'messages']) AS t;

CREATE INDEX ON units (property_id);
CREATE INDEX ON leases (unit_id);
CREATE INDEX ON occupants (lease_id);
CREATE INDEX ON occupants (account_id);
CREATE INDEX ON payments (lease_id);
CREATE INDEX ON tickets (unit_id);
CREATE INDEX ON viewings (unit_id);
CREATE INDEX ON files (property_id);
CREATE INDEX ON messages (lease_id);

-- Where each row belongs, and whether it counts as archived.
CREATE TABLE kit.rows AS
WITH u AS (SELECT x.*, p.portfolio_id, x.archived OR p.archived AS gone FROM units x JOIN properties p ON p.id = x.property_id),
l AS (SELECT x.*, u.property_id, u.portfolio_id, x.archived OR u.gone AS gone FROM leases x JOIN u ON u.id = x.unit_id)
SELECT id, kit.agency(id) AS agency_id, 'accounts' AS tab, false AS gone, NULL::bigint AS portfolio_id, NULL::bigint AS property_id, NULL::bigint AS lease_id FROM accounts WHERE kit.agency(id) <> 8
UNION ALL SELECT id, agency_id, 'portfolios', false, id, NULL, NULL FROM portfolios
UNION ALL SELECT id, kit.agency(id), 'grants', false, portfolio_id, NULL, NULL FROM grants
UNION ALL SELECT id, agency_id, 'properties', archived, portfolio_id, id, NULL FROM properties
UNION ALL SELECT o.id, p.agency_id, 'ownerships', p.archived, p.portfolio_id, p.id, NULL FROM ownerships o JOIN properties p ON p.id = o.property_id
UNION ALL SELECT id, kit.agency(id), 'units', gone, portfolio_id, property_id, NULL FROM u
UNION ALL SELECT id, kit.agency(id), 'leases', gone, portfolio_id, property_id, id FROM l
UNION ALL SELECT o.id, kit.agency(o.id), 'occupants', l.gone, l.portfolio_id, l.property_id, l.id FROM occupants o JOIN l ON l.id = o.lease_id
UNION ALL SELECT y.id, kit.agency(y.id), 'payments', l.gone, l.portfolio_id, l.property_id, l.id FROM payments y JOIN l ON l.id = y.lease_id
UNION ALL SELECT id, agency_id, 'contractors', archived, NULL, NULL, NULL FROM contractors
UNION ALL SELECT t.id, kit.agency(t.id), 'tickets', t.archived OR u.gone, u.portfolio_id, u.property_id, NULL FROM tickets t JOIN u ON u.id = t.unit_id
UNION ALL SELECT v.id, kit.agency(v.id), 'viewings', u.gone, u.portfolio_id, u.property_id, NULL FROM viewings v JOIN u ON u.id = v.unit_id
UNION ALL SELECT f.id, kit.agency(f.id), 'files', f.archived OR p.archived OR coalesce(l.gone, false), p.portfolio_id, p.id, l.id
  FROM files f JOIN properties p ON p.id = f.property_id LEFT JOIN l ON l.id = f.lease_id
UNION ALL SELECT m.id, kit.agency(m.id), 'messages', m.archived OR l.gone, l.portfolio_id, l.property_id, l.id FROM messages m JOIN l ON l.id = m.lease_id;
ALTER TABLE kit.rows ADD PRIMARY KEY (id), ADD key text UNIQUE GENERATED ALWAYS AS (id::text) STORED;

-- Texts that only one row holds, with that row.
CREATE TABLE kit.texts AS
SELECT x.word, r.* FROM (
  SELECT id, display_name FROM accounts UNION ALL SELECT id, email FROM accounts UNION ALL SELECT id, title FROM portfolios
  UNION ALL SELECT id, street FROM properties UNION ALL SELECT id, label FROM units UNION ALL SELECT id, reference FROM leases UNION ALL SELECT id, firm FROM contractors
  UNION ALL SELECT id, summary FROM tickets UNION ALL SELECT id, visitor FROM viewings UNION ALL SELECT id, title FROM files UNION ALL SELECT id, body FROM messages
) AS x (id, word) JOIN kit.rows r USING (id);
CREATE INDEX ON kit.texts (word);

-- What keeps an account from a portfolio: 3 no grant reaches it, 4 none with such a role, 9 none of these counts today;
-- NULL: nothing.
CREATE FUNCTION kit.bar(staff bigint, portfolio bigint, roles text[], agency bigint) RETURNS int STABLE LANGUAGE plpgsql AS $$
DECLARE fit int;
BEGIN
  SELECT max(CASE WHEN g.role <> ALL (roles) THEN 1
    WHEN g.withdrawn OR g.first_day > agency_day(agency) OR g.last_day < agency_day(agency) THEN 2 ELSE 3 END) INTO fit
  FROM before.grants g JOIN before.portfolio_tree t ON t.upper_id = g.portfolio_id WHERE t.lower_id = portfolio AND g.account_id = staff;
  RETURN CASE coalesce(fit, 0) WHEN 0 THEN 3 WHEN 1 THEN 4 WHEN 2 THEN 9 END;
END $$;

-- Which roles read a table's rows, and which write such a row.
CREATE FUNCTION kit.readers(tab text) RETURNS text[] IMMUTABLE LANGUAGE sql AS $$
  SELECT CASE WHEN tab IN ('leases', 'occupants', 'files', 'messages') THEN ARRAY['agent', 'bookkeeper', 'manager']
    WHEN tab = 'payments' THEN ARRAY['bookkeeper', 'manager'] WHEN tab IN ('grants', 'ownerships') THEN ARRAY['manager']
    ELSE ARRAY['viewer', 'agent', 'bookkeeper', 'manager'] END $$;
CREATE FUNCTION kit.writers(tab text, old jsonb, new jsonb) RETURNS text[] IMMUTABLE LANGUAGE sql AS $$
  SELECT CASE WHEN tab = 'payments' THEN ARRAY['bookkeeper', 'manager']
    WHEN tab = 'leases' AND coalesce(new ->> 'stage', '') NOT IN ('draft', 'offered') AND old -> 'stage' IS DISTINCT FROM new -> 'stage' THEN ARRAY['manager']
    WHEN tab = 'tickets' AND old ->> 'stage' = 'quoted' AND old -> 'stage' IS DISTINCT FROM new -> 'stage' THEN ARRAY['manager']
    WHEN tab IN ('viewings', 'messages', 'tickets', 'leases') THEN ARRAY['agent', 'manager'] ELSE ARRAY['manager'] END $$;
-- The table that a number's own column says, and the row that a changed row hangs on.
CREATE FUNCTION kit.home(doc jsonb) RETURNS bigint IMMUTABLE LANGUAGE sql AS $$
  SELECT coalesce(doc ->> 'lease_id', doc ->> 'unit_id', doc ->> 'property_id', doc ->> 'portfolio_id', doc ->> 'id')::bigint $$;
