--- list-visits good
SELECT v.id, v.starts_at, v.status, p.full_name
FROM visits v
JOIN patients p ON p.id = v.patient_id AND p.clinic_id = :clinic_id AND p.deleted_at IS NULL
WHERE v.clinic_id = :clinic_id AND v.deleted_at IS NULL
ORDER BY v.starts_at, v.id
LIMIT LEAST(:page_size, 200)
--- list-visits good
WITH mine AS (
  SELECT * FROM patients WHERE clinic_id = :clinic_id AND deleted_at IS NULL
)
SELECT v.id, v.starts_at, m.full_name
FROM mine m JOIN visits v ON v.patient_id = m.id AND v.clinic_id = m.clinic_id
WHERE v.deleted_at IS NULL
ORDER BY v.starts_at LIMIT 200
--- list-visits bad 1
SELECT v.id, v.starts_at, v.status, p.full_name
FROM visits v
JOIN patients p ON p.id = v.patient_id AND p.clinic_id = v.clinic_id AND p.deleted_at IS NULL
WHERE v.clinic_id = v.clinic_id AND v.deleted_at IS NULL
ORDER BY v.starts_at, v.id
LIMIT LEAST(:page_size, 200)
--- list-visits bad 3
SELECT v.id, v.starts_at, v.status, p.full_name
FROM visits v
LEFT JOIN patients p ON p.id = v.patient_id AND p.clinic_id = :clinic_id
WHERE v.clinic_id = :clinic_id AND v.deleted_at IS NULL
ORDER BY v.starts_at, v.id
LIMIT 100
--- list-visits bad 5
SELECT v.id, v.starts_at, p.full_name
FROM (SELECT * FROM patients WHERE clinic_id = :clinic_id AND deleted_at IS NULL ORDER BY id LIMIT 200) p
JOIN visits v ON v.patient_id = p.id AND v.clinic_id = :clinic_id
WHERE v.deleted_at IS NULL
--- list-visits bad 1
SELECT v.id, v.starts_at, v.status
FROM visits v
WHERE v.clinic_id = :clinic_id AND v.deleted_at IS NULL AND v.status = 'booked'
   OR v.status = 'arrived' AND v.deleted_at IS NULL
ORDER BY v.starts_at LIMIT 200
--- search-patients good
SELECT id, full_name, born FROM patients
WHERE clinic_id = :clinic_id AND deleted_at IS NULL AND full_name ILIKE '%' || :q || '%'
ORDER BY full_name LIMIT LEAST(GREATEST(:n, 1), 200)
--- search-patients bad 2
SELECT id, full_name, born FROM patients
WHERE clinic_id = :clinic_id AND deleted_at IS NULL AND full_name ILIKE '%${q}%'
ORDER BY full_name LIMIT 200
--- search-patients bad 4
SELECT to_jsonb(p) - 'national_id' AS patient FROM patients p
WHERE p.clinic_id = :clinic_id AND p.deleted_at IS NULL AND p.full_name ILIKE '%' || :q || '%'
ORDER BY p.full_name LIMIT 200
--- search-patients bad 5
SELECT id, full_name, born FROM patients
WHERE clinic_id = :clinic_id AND deleted_at IS NULL AND full_name ILIKE '%' || :q || '%'
ORDER BY full_name LIMIT COALESCE(:n, 200)
--- search-patients bad 1
SELECT id, full_name, born FROM patients
WHERE clinic_id = COALESCE(:only_clinic, clinic_id) AND deleted_at IS NULL
ORDER BY full_name LIMIT 200
--- cancel-visit good
UPDATE visits v SET status = 'cancelled'
WHERE v.id = :visit_id AND v.clinic_id = :clinic_id AND v.deleted_at IS NULL AND v.status = 'booked'
  AND EXISTS (SELECT 1 FROM staff_roles r
              WHERE r.staff_id = :staff_id AND r.clinic_id = v.clinic_id
                AND r.role IN ('physician', 'director')
                AND r.valid_from <= now() AND (r.valid_until IS NULL OR r.valid_until > now()))
RETURNING v.id, v.status
--- cancel-visit good
WITH boss AS (
  SELECT clinic_id FROM staff_roles
  WHERE staff_id = :staff_id AND clinic_id = :clinic_id AND role = ANY (ARRAY['physician', 'director'])
    AND now() >= valid_from AND now() < COALESCE(valid_until, 'infinity')
)
UPDATE visits SET status = 'cancelled'
FROM boss
WHERE visits.id = :visit_id AND visits.clinic_id = boss.clinic_id
  AND visits.deleted_at IS NULL AND visits.status IN ('booked')
RETURNING visits.id
--- cancel-visit bad 8
UPDATE visits v SET status = 'cancelled'
WHERE v.id = :visit_id AND v.clinic_id = :clinic_id AND v.deleted_at IS NULL AND v.status NOT IN ('finished', 'cancelled')
  AND EXISTS (SELECT 1 FROM staff_roles r
              WHERE r.staff_id = :staff_id AND r.clinic_id = v.clinic_id
                AND r.role IN ('physician', 'director')
                AND r.valid_from <= now() AND (r.valid_until IS NULL OR r.valid_until > now()))
RETURNING v.id, v.status
--- cancel-visit bad 7
UPDATE visits v SET status = 'cancelled'
WHERE v.id = :visit_id AND v.clinic_id = :clinic_id AND v.deleted_at IS NULL AND v.status = 'booked'
  AND EXISTS (SELECT 1 FROM staff_roles r
              WHERE r.staff_id = :staff_id AND r.clinic_id = v.clinic_id
                AND r.role IN ('physician', 'director')
                AND r.valid_from <= now() AND (r.valid_until IS NULL OR r.valid_until >= now()))
RETURNING v.id, v.status
--- cancel-visit bad 6
UPDATE visits v SET status = 'cancelled'
WHERE v.id = :visit_id AND v.clinic_id = :clinic_id AND v.deleted_at IS NULL AND v.status = 'booked'
  AND EXISTS (SELECT 1 FROM staff_roles r
              WHERE r.staff_id = :staff_id AND r.clinic_id = v.clinic_id
                AND r.role <> 'reception'
                AND r.valid_from <= now() AND (r.valid_until IS NULL OR r.valid_until > now()))
RETURNING v.id, v.status
--- cancel-visit bad 6
UPDATE visits v SET status = 'cancelled'
WHERE v.id = :visit_id AND v.clinic_id = :clinic_id AND v.deleted_at IS NULL AND v.status = 'booked'
  AND EXISTS (SELECT 1 FROM staff_roles r
              WHERE r.staff_id = v.physician_id AND r.clinic_id = v.clinic_id
                AND r.role IN ('physician', 'director')
                AND r.valid_from <= now() AND (r.valid_until IS NULL OR r.valid_until > now()))
RETURNING v.id, v.status
--- set-fee good
UPDATE visits SET fee_cents = :fee
WHERE id = :visit_id AND clinic_id = :clinic_id AND deleted_at IS NULL
  AND :staff_id IN (SELECT r.staff_id FROM staff_roles r
     WHERE r.clinic_id = :clinic_id AND r.role IN ('director', 'physician')
       AND tstzrange(r.valid_from, r.valid_until) @> now())
--- set-fee bad 6
UPDATE visits SET fee_cents = :fee
WHERE id = :visit_id AND clinic_id = :clinic_id AND deleted_at IS NULL
--- set-fee bad 6
UPDATE visits SET fee_cents = :fee
WHERE id = :visit_id AND clinic_id = :clinic_id AND deleted_at IS NULL
  AND EXISTS (SELECT 1 FROM staff_roles r
     WHERE r.staff_id = :staff_id AND r.role IN ('director', 'physician')
       AND tstzrange(r.valid_from, r.valid_until) @> now())
--- set-fee bad 7
UPDATE visits SET fee_cents = :fee
WHERE id = :visit_id AND clinic_id = :clinic_id AND deleted_at IS NULL
  AND EXISTS (SELECT 1 FROM staff_roles r
     WHERE r.staff_id = :staff_id AND r.clinic_id = :clinic_id AND r.role IN ('director', 'physician')
       AND r.valid_from <= now() AND r.valid_until IS NOT NULL)
--- visit-notes good
SELECT n.id, n.body, s.full_name
FROM notes n
JOIN visits v ON v.id = n.visit_id
JOIN staff s ON s.id = n.author_id AND s.clinic_id = v.clinic_id AND s.deleted_at IS NULL
WHERE n.visit_id = :visit_id AND v.clinic_id = :clinic_id AND v.deleted_at IS NULL
ORDER BY n.created_at LIMIT 200
--- visit-notes bad 1
SELECT n.id, n.body FROM notes n
WHERE n.visit_id = :visit_id
  AND EXISTS (SELECT 1 FROM visits v WHERE v.clinic_id = :clinic_id AND v.deleted_at IS NULL)
ORDER BY n.created_at LIMIT 200
--- visit-notes bad 4
SELECT n.id, n.body, s.*
FROM notes n
JOIN visits v ON v.id = n.visit_id
JOIN staff s ON s.id = n.author_id AND s.clinic_id = v.clinic_id AND s.deleted_at IS NULL
WHERE n.visit_id = :visit_id AND v.clinic_id = :clinic_id AND v.deleted_at IS NULL
ORDER BY n.created_at LIMIT 200
--- count-visits good
SELECT status, count(*) FROM visits
WHERE clinic_id = :clinic_id AND deleted_at IS NULL GROUP BY status
--- count-visits bad 3
SELECT status, count(*) FROM visits WHERE clinic_id = :clinic_id GROUP BY status
--- count-visits bad 1
SELECT c.id, (SELECT count(*) FROM visits v WHERE v.deleted_at IS NULL) AS n
FROM clinics c WHERE c.id = :clinic_id
--- start-treatment good
UPDATE visits SET status = 'in_treatment'
WHERE id = :visit_id AND clinic_id = :clinic_id AND deleted_at IS NULL AND status = 'arrived'
--- start-treatment bad 8
UPDATE visits SET status = 'in_treatment'
WHERE id = :visit_id AND clinic_id = :clinic_id AND deleted_at IS NULL AND status IN ('booked', 'arrived')
--- start-treatment bad 3
UPDATE visits SET status = 'in_treatment'
WHERE id = :visit_id AND clinic_id = :clinic_id AND status = 'arrived'
RETURNING id, status
