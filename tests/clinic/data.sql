-- The rows that the clinic cases are proven on. Never shown to a reviewer.
--
-- Every key says what it is: network.table.number, as n1.pat.12. Names and other texts hold the key of their row, so
-- an oracle finds a row by a mention of it, in a concatenated text too. Confidential values are Greek letters, which
-- nothing else uses.
-- Networks n1 and n2 are for attacks. n3 is quiet: few rows, nothing voided or erased, no confidential
-- value where the column may be NULL, so that a flaw shows nothing there.
-- Staff d = 1..6 hold the d-th duty at clinic 1 (reception, nurse, physician, pharmacist, laboratory, manager);
-- 10+d until 09:31, 20+d since this very moment (09:30), 40+d until this very moment, 50+d suspended, 60+d from 09:31
-- on; 70+d at clinic 2, 80+d at clinic 6; 90+d held the duty in 2024 and hold another one now; 80 never held any;
-- 30 is a locum with all duties in both n1 and n2; 101.. are physicians and nurses of clinic 1.

CREATE SCHEMA make;
CREATE FUNCTION make.id(o int, tab text, n int) RETURNS text IMMUTABLE LANGUAGE sql
  AS $$ SELECT 'n' || o || '.' || tab || '.' || n $$;
CREATE FUNCTION make.secret(what text) RETURNS text IMMUTABLE LANGUAGE sql
  AS $$ SELECT translate(left(md5(what), 14), '0123456789abcdef', 'αβγδεζηθικλμνξοπ') $$;

INSERT INTO networks VALUES ('n1', 'Northern Care'), ('n2', 'Harbour Health'), ('n3', 'Valley Practices');
INSERT INTO deployment VALUES ('mail_password', 'SEALED-0b51'), ('licence', 'SEALED-77ac');

INSERT INTO clinics (id, network_id, branch_of, name, zone, day_cap)
SELECT make.id(o, 'cl', n), 'n' || o,
  CASE WHEN n IN (2, 3) THEN make.id(o, 'cl', 1) WHEN n IN (4, 5) THEN make.id(o, 'cl', n - 2)
       WHEN n = 7 AND o < 3 THEN make.id(3 - o, 'cl', 2) END,         -- 7 was sold to the other network
  'Clinic ' || make.id(o, 'cl', n),
  CASE WHEN o = 3 THEN 'Asia/Tokyo' ELSE (ARRAY['Pacific/Honolulu', 'Pacific/Kiritimati', 'Europe/Lisbon', 'Pacific/Kiritimati',
    'Europe/Lisbon', 'Asia/Tokyo', 'Pacific/Honolulu'])[n] END,
  CASE n WHEN 2 THEN 4 ELSE 500 END
FROM generate_series(1, 3) AS o, generate_series(1, 7) AS n;

INSERT INTO staff (id, full_name, email, mobile, password_digest, totp_seed)
SELECT make.id(o, 'st', n), (ARRAY['Ayla', 'Bruno', 'Chidi', 'Dana', 'Emre', 'Farah'])[1 + n * 5 % 6] || ' ' || make.id(o, 'st', n),
  make.id(o, 'st', n) || '@medlane.example', CASE WHEN n % 3 <> 0 OR o = 3 THEN '+1 555 ' || n END,
  make.secret('pw' || o || '/' || n), CASE WHEN o < 3 THEN make.secret('totp' || o || '/' || n) END
FROM generate_series(1, 3) AS o, generate_series(1, CASE o WHEN 3 THEN 110 ELSE 230 END) AS n;

INSERT INTO postings (id, clinic_id, staff_id, duty, during, suspended_at)
SELECT make.id(o, 'po', (b + d) * 10), make.id(o, 'cl', c), make.id(o, 'st', b + d), (enum_range(NULL::duty))[d], during::tstzrange, s
FROM generate_series(1, 3) AS o, generate_series(1, 6) AS d, (VALUES
  (0, 1, '[2024-01-01 00:00Z,)', NULL::timestamptz), (10, 1, '[2024-01-01 00:00Z,2025-06-16 09:31Z)', NULL),
  (20, 1, '[2025-06-16 09:30Z,)', NULL), (40, 1, '[2024-01-01 00:00Z,2025-06-16 09:30Z)', NULL),
  (50, 1, '[2024-01-01 00:00Z,)', '2025-06-10 00:00Z'), (60, 1, '[2025-06-16 09:31Z,)', NULL),
  (70, 2, '[2024-01-01 00:00Z,)', NULL), (80, 6, '[2024-01-01 00:00Z,)', NULL),
  (90, 1, '[2024-01-01 00:00Z,2024-12-01 00:00Z)', NULL)) AS x (b, c, during, s);
INSERT INTO postings (id, clinic_id, staff_id, duty, during)
SELECT make.id(o, 'po', (90 + d) * 10 + 1), make.id(o, 'cl', 1), make.id(o, 'st', 90 + d), (enum_range(NULL::duty))[d % 6 + 1], '[2025-01-01 00:00Z,)'::tstzrange
FROM generate_series(1, 3) AS o, generate_series(1, 6) AS d
UNION ALL
SELECT make.id(2, 'po', 399), make.id(2, 'cl', 7), make.id(1, 'st', 30), 'physician'::duty, '[2024-06-01 00:00Z,)'::tstzrange
UNION ALL
SELECT make.id(at, 'po', 300 + 10 * o + d), make.id(at, 'cl', 1), make.id(o, 'st', 30), (enum_range(NULL::duty))[d], '[2024-06-01 00:00Z,)'::tstzrange
FROM (VALUES (1, 1), (1, 2), (2, 1), (2, 2), (3, 3)) AS x (o, at), generate_series(1, 6) AS d
UNION ALL                                   -- 37: at the desks of two clinics; 38: a physician of two; 39: at the desk of one, a nurse of the other; 40: of four
SELECT make.id(o, 'po', x.n), make.id(o, 'cl', c), make.id(o, 'st', s), duty::duty, '[2024-02-01 00:00Z,)'
FROM generate_series(1, 3) AS o, (VALUES (381, 1, 38, 'physician'), (382, 2, 38, 'physician'), (391, 2, 39, 'reception'), (392, 1, 39, 'nurse'),
  (371, 1, 37, 'reception'), (372, 2, 37, 'reception'), (401, 1, 40, 'nurse'), (404, 2, 40, 'nurse'), (402, 4, 40, 'nurse'), (403, 5, 40, 'manager'), (393, 2, 39, 'manager'), (394, 2, 39, 'pharmacist')) AS x (n, c, s, duty)
UNION ALL                                   -- 14: came and went ninety times
SELECT make.id(o, 'po', 50000 + i), make.id(o, 'cl', 1), make.id(o, 'st', 14), 'pharmacist', tstzrange(t, t + interval '9 hours')
FROM generate_series(1, 2) AS o, generate_series(1, 90) AS i, LATERAL (SELECT timestamptz '2023-01-01 08:00Z' + i * interval '2 days') AS x (t)
UNION ALL
SELECT make.id(o, 'po', n * 10), make.id(o, 'cl', 1), make.id(o, 'st', n), CASE WHEN n % 2 = 0 THEN 'nurse' ELSE 'physician' END::duty, '[2024-03-01 00:00Z,)'::tstzrange
FROM generate_series(1, 3) AS o, generate_series(101, CASE o WHEN 3 THEN 110 ELSE 230 END) AS n;

INSERT INTO patients (id, network_id, full_name, born_on, phone, national_id, insurance_no, erased_at)
SELECT make.id(o, 'pat', n), 'n' || o, (ARRAY['Gia', 'Hugo', 'Ines', 'Jonas', 'Kaja'])[1 + n % 5] || ' ' || make.id(o, 'pat', n),
  date '1950-01-01' + n * 97 % 20000, CASE WHEN n % 4 <> 0 OR o = 3 THEN '+1 556 ' || n END,
  CASE WHEN o < 3 THEN make.secret('nat' || o || '/' || n) END, CASE WHEN o < 3 THEN make.secret('ins' || o || '/' || n) END,
  CASE WHEN o < 3 AND n % 13 = 0 THEN timestamptz '2025-05-01 00:00Z' END
FROM generate_series(1, 3) AS o, generate_series(1, CASE o WHEN 3 THEN 24 ELSE 260 END) AS n;

-- What the patients 1..60 allow goes by n % 20; 8 and more of it stands on an edge of time.
INSERT INTO consents (id, patient_id, clinic_id, scope, during, withdrawn_at)
SELECT make.id(o, 'con', p * 10 + i), make.id(o, 'pat', p), make.id(o, 'cl', c), scope, during::tstzrange, w
FROM generate_series(1, 3) AS o, generate_series(1, CASE o WHEN 3 THEN 20 ELSE 60 END) AS p JOIN (VALUES
  (1, 1, 1, 'everything', '[2025-01-01 00:00Z,)', NULL::timestamptz), (2, 1, 1, 'everything', '[2025-01-01 00:00Z,2025-06-16 09:30Z)', NULL),
  (3, 1, 1, 'everything', '[2025-01-01 00:00Z,)', '2025-06-01 00:00Z'), (4, 1, 1, 'everything', '[2025-06-16 09:31Z,)', NULL),
  (5, 1, 1, 'everything', '[2025-01-01 00:00Z,2026-01-01 00:00Z)', NULL), (6, 1, 1, 'laboratory', '[2025-01-01 00:00Z,)', NULL),
  (8, 1, 1, 'medication', '[2025-01-01 00:00Z,)', NULL), (9, 1, 2, 'everything', '[2025-01-01 00:00Z,)', NULL),
  (10, 1, 1, 'everything', '[2025-06-16 09:30Z,)', NULL), (12, 1, 1, 'everything', '[2025-01-01 00:00Z,2025-02-01 00:00Z)', NULL),
  (12, 2, 1, 'laboratory', '[2025-01-01 00:00Z,)', NULL), (12, 3, 1, 'medication', '[2025-01-01 00:00Z,2025-03-01 00:00Z)', NULL),
  (14, 1, 1, 'everything', '[2025-01-01 00:00Z,2025-06-16 09:31Z)', NULL), (16, 1, 1, 'medication', '[2025-01-01 00:00Z,)', '2025-06-02 00:00Z'),
  (16, 2, 1, 'laboratory', '[2025-01-01 00:00Z,2025-06-16 09:30Z)', NULL), (11, 1, 1, 'laboratory', '[2025-06-16 09:31Z,)', NULL),
  (18, 1, 1, 'medication', '[2025-01-01 00:00Z,2025-06-16 09:30Z)', NULL), (17, 1, 3, 'everything', '[2025-01-01 00:00Z,)', NULL)
) AS x (p20, i, c, scope, during, w) ON p20 = p % 20;

INSERT INTO glass_breaks (id, patient_id, staff_id, during, closed_at)
SELECT make.id(o, 'gb', n), make.id(o, 'pat', p), make.id(o, 'st', s), during::tstzrange, c
FROM generate_series(1, 3) AS o, (VALUES
  (1, 1, 83, '[2025-06-16 09:00Z,2025-06-16 10:00Z)', NULL::timestamptz), (2, 2, 83, '[2025-06-16 08:00Z,2025-06-16 09:30Z)', NULL),
  (3, 3, 83, '[2025-06-16 09:00Z,2025-06-16 10:00Z)', '2025-06-16 09:10Z'), (4, 4, 83, '[2025-06-16 09:31Z,2025-06-16 10:31Z)', NULL),
  (5, 6, 80, '[2025-06-16 09:30Z,2025-06-16 10:30Z)', NULL), (6, 9, 3, '[2025-06-16 09:00Z,2025-06-16 10:00Z)', NULL),
  (7, 7, 83, '[2025-06-16 09:00Z,2025-06-16 10:00Z)', NULL), (8, 21, 4, '[2025-06-16 09:00Z,2025-06-16 10:00Z)', NULL),
  (9, 22, 6, '[2025-06-16 08:00Z,2025-06-16 09:00Z)', '2025-06-16 08:30Z'), (10, 12, 80, '[2025-06-16 09:00Z,2025-06-16 09:31Z)', NULL)
) AS x (n, p, s, during, c);
INSERT INTO glass_breaks (id, patient_id, staff_id, during, closed_at, reviewed_by, reviewed_at)
SELECT make.id(o, 'gb', n), make.id(o, 'pat', 1 + n % CASE o WHEN 3 THEN 20 ELSE 60 END), make.id(o, 'st', (ARRAY[3, 83, 6, 30, 2])[1 + n % 5]), tstzrange(t, t + interval '1 hour'),
  t + interval '40 minutes', CASE WHEN n % 4 = 0 THEN make.id(o, 'st', 16) END, CASE WHEN n % 4 = 0 THEN t + interval '1 day' END
FROM generate_series(1, 3) AS o, generate_series(101, CASE o WHEN 3 THEN 125 ELSE 280 END) AS n,
  LATERAL (SELECT timestamptz '2025-05-01 00:00Z' + n * interval '3 hours') AS x (t);

INSERT INTO shifts (id, clinic_id, staff_id, during, state, voided_at)
SELECT make.id(o, 'sh', n), make.id(o, 'cl', CASE WHEN n > 400 THEN 2 ELSE 1 END), make.id(o, 'st', CASE WHEN n > 400 THEN 73 WHEN o = 3 THEN 101 + n % 10 ELSE 101 + n % 130 END),
  tstzrange(t, t + interval '8 hours'), (ARRAY['draft', 'published', 'confirmed', 'dropped'])[1 + n / 2 % 4],
  CASE WHEN o < 3 AND n % 11 = 0 THEN timestamptz '2025-06-12 00:00Z' END
FROM generate_series(1, 3) AS o, generate_series(1, 420) AS n,
  LATERAL (SELECT timestamptz '2025-06-16 18:00Z' + CASE WHEN n > 400 THEN n - 400 WHEN o = 3 THEN n / 10 ELSE n / 130 END * interval '1 day') AS x (t)
WHERE o < 3 OR n <= 30 OR n > 410;

-- 38 has worked at clinic 2 between two shifts at clinic 1.
INSERT INTO shifts (id, clinic_id, staff_id, during, state)
SELECT make.id(o, 'sh', 500 + i), make.id(o, 'cl', CASE i WHEN 2 THEN 2 ELSE 1 END), make.id(o, 'st', 38),
  tstzrange(t, t + interval '8 hours'), 'confirmed'
FROM generate_series(1, 3) AS o, generate_series(1, 3) AS i, LATERAL (SELECT timestamptz '2025-06-15 19:00Z' + i * interval '1 day') AS x (t);

-- Day 2025-06-15 of clinic 1 in n1 and n2 (10:00Z to 10:00Z) has 133, on its edges too; in n3 the day is 2025-06-16.
INSERT INTO appointments (id, clinic_id, patient_id, staff_id, slot, state, remark, voided_at)
SELECT make.id(o, 'app', n), make.id(o, 'cl', c), make.id(o, 'pat', 1 + n % CASE o WHEN 3 THEN 20 ELSE 60 END), make.id(o, 'st', s),
  tstzrange(t, t + interval '10 minutes'),
  (ARRAY['booked', 'booked', 'arrived', 'in_room', 'finished', 'missed', 'cancelled', 'booked'])[1 + n % 8]::visit_state,
  'Remark ' || make.id(o, 'app', n), CASE WHEN o < 3 AND n % 9 = 0 THEN timestamptz '2025-06-11 00:00Z' END
FROM generate_series(1, 3) AS o, generate_series(1, 460) AS n, LATERAL (SELECT
  CASE WHEN n <= 200 THEN 1 WHEN n <= 250 THEN 2 WHEN n <= 300 THEN 6 ELSE 3 + n % 5 END,
  CASE WHEN o = 3 THEN 101 + n % 10 WHEN n <= 200 THEN 101 + n % 130 WHEN n <= 250 THEN 73 ELSE 83 END,
  CASE WHEN n = 131 THEN timestamptz '2025-06-15 10:00Z' WHEN n = 134 THEN '2025-06-16 10:00Z' WHEN n = 133 THEN '2025-06-16 09:00Z'
       WHEN n = 136 THEN '2025-06-15 09:50Z' WHEN o = 3 THEN timestamptz '2025-06-15 15:00Z' + n * interval '20 minutes'
       WHEN n <= 130 THEN timestamptz '2025-06-15 18:00Z' + n % 60 * interval '10 minutes'
       ELSE timestamptz '2025-06-16 18:00Z' + n * interval '7 hours' END) AS x (c, s, t)
WHERE o < 3 OR n <= 24 OR n BETWEEN 201 AND 210;
-- Days to book: 2025-06-20 at clinic 1, and day 2025-06-21 of clinic 2 (from 2025-06-20 10:00Z
-- on), which has room for one more; its day 2025-06-29 is full.
INSERT INTO appointments (id, clinic_id, patient_id, staff_id, slot, state, voided_at)
SELECT make.id(o, 'app', n), make.id(o, 'cl', c), make.id(o, 'pat', 17), make.id(o, 'st', s), tstzrange(t, t + interval '30 minutes'), state::visit_state, v
FROM generate_series(1, 3) AS o, (VALUES
  (501, 1, 3, timestamptz '2025-06-20 20:00Z', 'booked', NULL::timestamptz), (502, 1, 3, '2025-06-20 21:00Z', 'cancelled', NULL),
  (503, 1, 3, '2025-06-20 22:00Z', 'booked', '2025-06-10 00:00Z'), (504, 1, 3, '2025-06-20 23:00Z', 'missed', NULL),
  (505, 2, 73, '2025-06-20 10:00Z', 'booked', NULL), (506, 2, 73, '2025-06-20 13:00Z', 'booked', NULL), (507, 2, 73, '2025-06-21 09:30Z', 'booked', NULL),
  (508, 2, 73, '2025-06-20 15:00Z', 'cancelled', NULL), (509, 2, 73, '2025-06-20 09:00Z', 'booked', NULL), (510, 2, 73, '2025-06-21 10:00Z', 'booked', NULL),
  (511, 1, 3, '2025-06-21 20:00Z', 'booked', NULL), (512, 1, 102, '2025-06-20 20:00Z', 'booked', NULL), (513, 1, 3, '2025-06-16 09:00Z', 'in_room', NULL),
  (514, 1, 3, '2025-06-20 19:00Z', 'arrived', NULL), (515, 1, 13, '2025-06-16 08:30Z', 'booked', NULL), (516, 2, 38, '2025-06-26 18:00Z', 'booked', NULL),
  (517, 1, 38, '2025-06-27 18:00Z', 'booked', NULL), (518, 1, 53, '2025-06-09 18:00Z', 'booked', NULL), (520, 2, 38, '2025-06-22 12:00Z', 'booked', NULL), (530, 1, 73, '2025-06-22 20:00Z', 'booked', NULL), (531, 1, 4, '2025-06-22 20:00Z', 'booked', NULL),
  (521, 2, 73, '2025-06-28 10:00Z', 'booked', NULL), (522, 2, 73, '2025-06-28 12:00Z', 'arrived', NULL), (523, 2, 73, '2025-06-28 13:00Z', 'booked', NULL),
  (524, 2, 73, '2025-06-29 09:00Z', 'booked', NULL), (525, 2, 73, '2025-06-28 15:00Z', 'missed', NULL)) AS x (n, c, s, t, state, v)
WHERE o < 3 OR v IS NULL;

-- Encounter k of patient p is p * 200 + k: the first at clinic 1, the second at clinic 2, the third at clinic 1, and so
-- on; those of each fifth patient at clinic 6. Patient 7 has 130, in n3 12.
INSERT INTO encounters (id, clinic_id, patient_id, author_id, follows_id, state, opened_at, signed_at, summary, private_note, voided_at)
SELECT make.id(o, 'enc', p * 200 + k), make.id(o, 'cl', c), make.id(o, 'pat', p), make.id(o, 'st', a), CASE WHEN k > 1 THEN make.id(o, 'enc', p * 200 + k - 1) END,
  s, t, CASE WHEN s <> 'open' THEN t + interval '1 hour' END, CASE WHEN o = 3 OR (p + k) % 6 <> 0 THEN 'Summary ' || make.id(o, 'enc', p * 200 + k) END,
  CASE WHEN o < 3 THEN make.secret('note' || o || '/' || p * 200 + k) END,
  CASE WHEN o < 3 AND (p + k) % 7 = 0 THEN timestamptz '2025-06-09 00:00Z' END
FROM generate_series(1, 3) AS o, generate_series(1, CASE o WHEN 3 THEN 20 ELSE 60 END) AS p,
  generate_series(1, CASE WHEN p <> 7 THEN 3 WHEN o = 3 THEN 12 ELSE 130 END) AS k,
  LATERAL (SELECT CASE WHEN p % 5 = 0 THEN 6 WHEN k = 2 OR k % 10 = 0 THEN 2 ELSE 1 END) AS x (c),
  LATERAL (SELECT CASE c WHEN 6 THEN 83 WHEN 2 THEN 73 ELSE CASE k % 3 WHEN 0 THEN CASE p % 4 WHEN 0 THEN 3 WHEN 1 THEN 13 WHEN 2 THEN 43 ELSE 53 END ELSE 3 END END,
    CASE WHEN k % 3 = 0 THEN CASE WHEN p % 8 = 4 THEN 'amended' ELSE 'open' END ELSE 'signed' END,
    timestamptz '2025-01-10 09:00Z' + p * interval '1 hour' + k * interval '1 day') AS y (a, s, t);

INSERT INTO prescriptions (id, encounter_id, drug, units, state, usable, voided_at)
SELECT make.id(o, 'rx', n), e.id, (ARRAY['Amoxil', 'Bisol', 'Codal'])[1 + n % 3] || ' ' || make.id(o, 'rx', n), 10 + p % 20,
  (ARRAY['draft', 'issued', 'issued', 'closed', 'cancelled'])[1 + CASE p WHEN 7 THEN CASE k % 10 WHEN 3 THEN 3 ELSE 1 END ELSE (p + k) % 5 END],
  CASE WHEN o = 3 THEN '[2025-06-01,2025-07-01)' WHEN p % 12 = 8 THEN '[2025-01-01,2025-06-17)'
    ELSE (ARRAY['[2025-06-01,2025-07-01)', '[2025-06-16,2025-07-01)', '[2025-01-01,2025-06-16)', '[2025-01-01,2025-06-15)', '[2025-06-15,)',
    '[2025-06-15,2025-06-18)'])[1 + p % 6] END::daterange,
  CASE WHEN o < 3 AND (p * 2 + k) % 11 = 0 THEN timestamptz '2025-06-08 00:00Z' END
FROM generate_series(1, 3) AS o JOIN encounters e ON e.id LIKE 'n' || o || '.%',
  LATERAL (SELECT split_part(e.id, '.', 3)::int) AS x (n), LATERAL (SELECT n / 200, n % 200) AS y (p, k);

-- One more of clinic 2 for patients with a consent of each kind.
INSERT INTO prescriptions (id, encounter_id, drug, units, state, usable)
SELECT make.id(o, 'rx', 990000 + p), make.id(o, 'enc', p * 200 + 2), 'Dexil ' || make.id(o, 'rx', 990000 + p), 20, 'issued', '[2025-06-01,2025-07-01)'
FROM generate_series(1, 3) AS o, unnest(ARRAY[1, 2, 3, 6, 8, 16, 18]) AS p;

INSERT INTO dispensings (id, prescription_id, staff_id, units, handed_at)
SELECT replace(r.id, 'rx', 'dis') || i, r.id, left(r.id, 2) || '.st.4',
  CASE r.state WHEN 'closed' THEN r.units / 2 ELSE 3 END, timestamptz '2025-06-10 10:00Z' + i * interval '1 hour'
FROM prescriptions r, generate_series(1, CASE r.state WHEN 'closed' THEN 2 ELSE 1 END) AS i
WHERE r.state = 'closed' OR r.state = 'issued' AND split_part(r.id, '.', 3)::int % 3 <> 0;

-- Two tests an encounter; patient 7 has glucose only, and encounter 1601 (patient 8) a panel of 100 that is measured.
INSERT INTO lab_tests (id, encounter_id, analyte, state, value, raw_trace, measured_at, released_by, voided_at)
SELECT make.id(o, 'lab', n * 1000 + j), e.id, a, s, CASE WHEN s IN ('measured', 'released') THEN 3 + (p * 7 + k * 3 + j) % 50 / 10.0 END,
  CASE WHEN o < 3 AND s IN ('measured', 'released') THEN make.secret('raw' || o || '/' || n || j) END,
  CASE WHEN s IN ('measured', 'released') THEN e.opened_at + j * interval '10 minutes' END, CASE WHEN s = 'released' THEN make.id(o, 'st', 3) END,
  CASE WHEN o < 3 AND (p * 3 + k + j) % 17 = 0 THEN timestamptz '2025-06-08 00:00Z' END
FROM generate_series(1, 3) AS o JOIN encounters e ON e.id LIKE 'n' || o || '.%',
  LATERAL (SELECT split_part(e.id, '.', 3)::int) AS x (n), LATERAL (SELECT n / 200, n % 200) AS y (p, k),
  generate_series(1, CASE WHEN p = 7 THEN 1 WHEN n = 1601 AND o < 3 THEN 100 ELSE 2 END) AS j,
  LATERAL (SELECT CASE WHEN j > 2 THEN 'panel' WHEN j = 1 THEN 'glucose' ELSE 'ferritin' END,
    CASE WHEN p = 7 THEN CASE WHEN k % 8 = 0 THEN 'measured' ELSE 'released' END WHEN n = 1601 AND j > 2 THEN 'measured'
      ELSE (ARRAY['ordered', 'collected', 'measured', 'released', 'released'])[1 + (p / 5 + p + k + j) % 5] END) AS z (a, s);

-- Open encounters of a locum and of authors who are no physicians of the clinic now.
INSERT INTO encounters (id, clinic_id, patient_id, author_id, opened_at, private_note)
SELECT make.id(o, 'enc', n), make.id(o, 'cl', 1), make.id(o, 'pat', 17), CASE WHEN n = 99001 AND o = 2 THEN 'n1.st.30' ELSE make.id(o, 'st', a) END,
  timestamptz '2024-09-15 09:00Z', CASE WHEN o < 3 THEN make.secret('note' || n || o) END
FROM generate_series(1, 3) AS o, (VALUES (99001, 30), (99002, 93), (99003, 73), (99004, 4)) AS x (n, a);

CREATE INDEX ON postings (staff_id);
CREATE INDEX ON glass_breaks (patient_id);
CREATE INDEX ON encounters (patient_id);
CREATE INDEX ON prescriptions (encounter_id);
CREATE INDEX ON dispensings (prescription_id);
CREATE INDEX ON lab_tests (encounter_id);

-- What oracles look mentions up in. dead: the row counts as gone.
CREATE TABLE make.rows AS
  SELECT id AS key, network_id AS net, 'cl' AS tab, id AS clinic, NULL::text AS patient, false AS dead FROM clinics
  UNION ALL SELECT p.id, c.network_id, 'po', c.id, NULL, false FROM postings p JOIN clinics c ON c.id = p.clinic_id
  UNION ALL SELECT id, NULL, 'st', NULL, NULL, false FROM staff
  UNION ALL SELECT id, network_id, 'pat', NULL, id, erased_at IS NOT NULL FROM patients
  UNION ALL SELECT c.id, p.network_id, 'con', c.clinic_id, p.id, p.erased_at IS NOT NULL FROM consents c JOIN patients p ON p.id = c.patient_id
  UNION ALL SELECT g.id, p.network_id, 'gb', NULL, p.id, p.erased_at IS NOT NULL FROM glass_breaks g JOIN patients p ON p.id = g.patient_id
  UNION ALL SELECT s.id, left(s.id, 2), 'sh', s.clinic_id, NULL, s.voided_at IS NOT NULL FROM shifts s
  UNION ALL SELECT a.id, p.network_id, 'app', a.clinic_id, p.id, a.voided_at IS NOT NULL OR p.erased_at IS NOT NULL FROM appointments a JOIN patients p ON p.id = a.patient_id;
INSERT INTO make.rows SELECT e.id, p.network_id, 'enc', e.clinic_id, p.id, e.voided_at IS NOT NULL OR p.erased_at IS NOT NULL FROM encounters e JOIN patients p ON p.id = e.patient_id;
INSERT INTO make.rows SELECT x.id, k.net, 'rx', k.clinic, k.patient, k.dead OR x.voided_at IS NOT NULL FROM prescriptions x JOIN make.rows k ON k.key = x.encounter_id;
INSERT INTO make.rows SELECT x.id, k.net, 'lab', k.clinic, k.patient, k.dead OR x.voided_at IS NOT NULL FROM lab_tests x JOIN make.rows k ON k.key = x.encounter_id;
INSERT INTO make.rows SELECT x.id, k.net, 'dis', k.clinic, k.patient, k.dead FROM dispensings x JOIN make.rows k ON k.key = x.prescription_id;
ALTER TABLE make.rows ADD PRIMARY KEY (key);

-- Whether somebody holds one of the duties (NULL: any) at a clinic (NULL: any of the network); timely: in force now.
CREATE FUNCTION make.posted(who text, net text, at text, duties text[], timely boolean) RETURNS boolean STABLE LANGUAGE plpgsql AS $$
BEGIN
  RETURN EXISTS (SELECT 1 FROM postings p JOIN clinics c ON c.id = p.clinic_id
    WHERE p.staff_id = who AND c.network_id = net AND (at IS NULL OR c.id = at) AND (duties IS NULL OR p.duty::text = ANY (duties))
      AND (NOT timely OR p.suspended_at IS NULL AND p.during @> frozen.now()));
END $$;

-- Whether the SPEC lets somebody be shown a row.
CREATE FUNCTION make.may_see(who text, k make.rows, timely boolean) RETURNS boolean STABLE LANGUAGE plpgsql AS $$
BEGIN
  IF k.tab IN ('cl', 'st') THEN RETURN true; END IF;
  IF k.tab IN ('app', 'sh', 'po', 'con') THEN RETURN make.posted(who, k.net, k.clinic, NULL, timely); END IF;
  IF k.tab = 'gb' THEN RETURN make.posted(who, k.net, NULL, '{manager}', timely); END IF;
  IF EXISTS (SELECT 1 FROM glass_breaks g WHERE g.patient_id = k.patient AND g.staff_id = who
    AND (NOT timely OR g.closed_at IS NULL AND g.during @> frozen.now())) THEN RETURN true; END IF;
  IF k.tab = 'pat' THEN RETURN make.posted(who, k.net, NULL, NULL, timely); END IF;
  RETURN make.posted(who, k.net, k.clinic, ARRAY['nurse', 'physician'] ||
      CASE WHEN k.tab IN ('rx', 'dis') THEN ARRAY['pharmacist'] WHEN k.tab = 'lab' THEN ARRAY['laboratory'] END, timely)
    OR EXISTS (SELECT 1 FROM consents c WHERE c.patient_id = k.patient
      AND (c.scope = 'everything' OR c.scope = CASE k.tab WHEN 'lab' THEN 'laboratory' WHEN 'enc' THEN '' ELSE 'medication' END)
      AND (NOT timely OR c.withdrawn_at IS NULL AND c.during @> frozen.now())
      AND make.posted(who, k.net, c.clinic_id, '{nurse,physician}', timely));
END $$;

-- The rows that the result mentions. The tables result and changes are the proof's own.
CREATE FUNCTION make.shown() RETURNS SETOF make.rows STABLE LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT k.* FROM (SELECT DISTINCT m[1] AS key FROM result r, regexp_matches(r.doc::text, 'n\d\.[a-z]+\.\d+', 'g') AS m) s
    JOIN make.rows k ON k.key = s.key;
END $$;

-- What was written, with the clinic whose staff may write it and the duties that may.
CREATE FUNCTION make.written() RETURNS TABLE (tab text, old jsonb, new jsonb, clinic text, duties text[]) STABLE LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT c.tab, c.old, c.new,
    CASE WHEN c.tab IN ('appointments', 'consents', 'shifts', 'encounters') THEN d.doc ->> 'clinic_id'
         WHEN c.tab IN ('prescriptions', 'lab_tests') THEN (SELECT e.clinic_id FROM encounters e WHERE e.id = d.doc ->> 'encounter_id')
         WHEN c.tab = 'dispensings' THEN (SELECT e.clinic_id FROM prescriptions r JOIN encounters e ON e.id = r.encounter_id WHERE r.id = d.doc ->> 'prescription_id') END,
    CASE c.tab WHEN 'appointments' THEN '{reception,manager}' WHEN 'consents' THEN '{reception,manager}' WHEN 'shifts' THEN '{manager}'
      WHEN 'encounters' THEN '{physician}' WHEN 'prescriptions' THEN CASE c.new ->> 'state' WHEN 'closed' THEN '{pharmacist}' ELSE '{physician}' END
      WHEN 'dispensings' THEN '{pharmacist}' WHEN 'lab_tests' THEN CASE c.new ->> 'state' WHEN 'released' THEN '{physician}' ELSE '{laboratory}' END
      WHEN 'glass_breaks' THEN '{manager}' END::text[]
  FROM changes c, LATERAL (SELECT coalesce(c.new, c.old)) AS d (doc);
END $$;
