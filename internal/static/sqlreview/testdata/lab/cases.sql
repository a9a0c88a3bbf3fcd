--- worklist good
SELECT s.sample_id, s.kind, s.taken_at, p.initials,
       count(r.result_id) FILTER (WHERE r.stage = 'entered') AS to_check
FROM samples s
JOIN patients p ON p.patient_id = s.patient_id AND p.erased_at IS NULL
LEFT JOIN results r ON r.sample_id = s.sample_id
WHERE p.lab_id = @lab_id
  AND s.erased_at IS NULL
  AND s.discard_after > now()
GROUP BY s.sample_id, s.kind, s.taken_at, p.initials
ORDER BY s.taken_at
LIMIT 500
--- worklist bad 2
SELECT s.sample_id, s.kind, s.taken_at, p.initials
FROM samples s
JOIN patients p ON p.patient_id = s.patient_id
WHERE p.lab_id = @lab_id AND s.erased_at IS NULL AND s.discard_after > now()
ORDER BY s.taken_at LIMIT 500
--- worklist bad 1
SELECT s.sample_id, s.kind, s.taken_at
FROM samples s
WHERE s.erased_at IS NULL AND s.discard_after > now()
  AND s.patient_id = @patient_id
  AND EXISTS (SELECT 1 FROM technicians t WHERE t.technician_id = @technician_id AND t.lab_id = @lab_id AND t.left_at IS NULL)
ORDER BY s.taken_at LIMIT 500
--- worklist bad 8
SELECT s.sample_id, s.kind, s.taken_at
FROM samples s
JOIN patients p ON p.patient_id = s.patient_id AND p.erased_at IS NULL AND p.lab_id = @lab_id
WHERE s.erased_at IS NULL AND s.discard_after > now()
ORDER BY s.taken_at
FETCH FIRST (@n) ROWS ONLY
--- values good
SELECT r.analyte, r.value, r.stage, s.taken_at
FROM results r
JOIN samples s ON s.sample_id = r.sample_id AND s.erased_at IS NULL
JOIN patients p ON p.patient_id = s.patient_id AND p.erased_at IS NULL
JOIN access_permits a ON a.patient_id = p.patient_id
JOIN technicians t ON t.technician_id = a.technician_id AND t.lab_id = p.lab_id
WHERE p.patient_id = @patient_id AND p.lab_id = @lab_id
  AND a.technician_id = @technician_id AND t.left_at IS NULL
  AND a.granted_at <= now() AND (a.lapses_at IS NULL OR a.lapses_at > now())
  AND r.stage <> 'withdrawn'
ORDER BY s.taken_at DESC, r.analyte
LIMIT 500
--- values good
WITH permitted AS (
    SELECT a.patient_id
    FROM access_permits a
    INNER JOIN technicians t USING (technician_id)
    WHERE a.technician_id = @technician_id AND t.lab_id = @lab_id AND t.left_at IS NULL
      AND COALESCE(a.lapses_at, 'infinity'::timestamptz) > now()
), latest AS (
    SELECT r.sample_id, r.analyte, r.value,
           row_number() OVER (PARTITION BY s.patient_id, r.analyte ORDER BY s.taken_at DESC) AS n
    FROM results r
    JOIN samples s ON s.sample_id = r.sample_id
    JOIN patients p ON p.patient_id = s.patient_id
    WHERE s.erased_at IS NULL AND p.erased_at IS NULL AND p.lab_id = @lab_id
      AND p.patient_id IN (SELECT patient_id FROM permitted)
      AND r.stage IN ('checked', 'released')
)
SELECT l.sample_id, l.analyte, l.value FROM latest l WHERE l.n = 1 ORDER BY l.analyte LIMIT 200
--- values bad 4
SELECT r.analyte, r.value, r.stage, s.taken_at
FROM results r
JOIN samples s ON s.sample_id = r.sample_id AND s.erased_at IS NULL
JOIN patients p ON p.patient_id = s.patient_id AND p.erased_at IS NULL
JOIN access_permits a ON a.patient_id = p.patient_id
JOIN technicians t ON t.technician_id = @technician_id AND t.lab_id = p.lab_id AND t.left_at IS NULL
WHERE p.patient_id = @patient_id AND p.lab_id = @lab_id
  AND a.granted_at <= now() AND (a.lapses_at IS NULL OR a.lapses_at > now())
ORDER BY s.taken_at DESC LIMIT 500
--- values bad 4
SELECT r.analyte, r.value, r.stage, s.taken_at
FROM results r
JOIN samples s ON s.sample_id = r.sample_id AND s.erased_at IS NULL
JOIN patients p ON p.patient_id = s.patient_id AND p.erased_at IS NULL
WHERE p.patient_id = @patient_id AND p.lab_id = @lab_id
  AND EXISTS (SELECT 1 FROM access_permits a JOIN technicians t ON t.technician_id = a.technician_id
              WHERE a.technician_id = @technician_id AND a.patient_id = p.patient_id AND t.left_at IS NULL)
ORDER BY s.taken_at DESC LIMIT 500
--- values bad 4
SELECT r.analyte, r.value, r.stage, s.taken_at
FROM results r
JOIN samples s ON s.sample_id = r.sample_id AND s.erased_at IS NULL
JOIN patients p ON p.patient_id = s.patient_id AND p.erased_at IS NULL
WHERE p.patient_id = @patient_id AND p.lab_id = @lab_id
  AND EXISTS (SELECT 1 FROM access_permits a JOIN technicians t ON t.technician_id = a.technician_id
              WHERE a.technician_id = @technician_id AND t.left_at IS NULL AND (a.lapses_at IS NULL OR a.lapses_at > now()))
ORDER BY s.taken_at DESC LIMIT 500
--- check good
UPDATE results r
SET stage = 'checked', checked_by = t.technician_id, rev = r.rev + 1
FROM samples s
JOIN patients p ON p.patient_id = s.patient_id
JOIN technicians t ON t.lab_id = p.lab_id
WHERE r.result_id = @result_id AND s.sample_id = r.sample_id
  AND r.stage = 'entered' AND r.entered_by <> t.technician_id AND r.rev = @rev
  AND s.erased_at IS NULL AND p.erased_at IS NULL AND p.lab_id = @lab_id
  AND t.technician_id = @technician_id AND t.grade IN ('senior', 'director') AND t.left_at IS NULL
RETURNING r.result_id, r.stage, r.rev
--- check bad 5
UPDATE results r
SET stage = 'checked', checked_by = t.technician_id, rev = r.rev + 1
FROM samples s
JOIN patients p ON p.patient_id = s.patient_id
JOIN technicians t ON t.lab_id = p.lab_id
WHERE r.result_id = @result_id AND s.sample_id = r.sample_id
  AND r.stage = 'entered' AND r.rev = @rev
  AND s.erased_at IS NULL AND p.erased_at IS NULL AND p.lab_id = @lab_id
  AND t.technician_id = @technician_id AND t.grade IN ('senior', 'director') AND t.left_at IS NULL
RETURNING r.result_id
--- check bad 5
UPDATE results r
SET stage = 'checked', checked_by = t.technician_id
FROM samples s
JOIN patients p ON p.patient_id = s.patient_id
JOIN technicians t ON t.lab_id = p.lab_id
WHERE r.result_id = @result_id AND s.sample_id = r.sample_id
  AND r.stage = 'entered' AND r.entered_by <> t.technician_id
  AND s.erased_at IS NULL AND p.erased_at IS NULL AND p.lab_id = @lab_id
  AND t.technician_id = @technician_id AND t.grade <> 'trainee' AND t.left_at IS NULL
RETURNING r.result_id
--- check bad 7
UPDATE results r
SET stage = 'checked', checked_by = t.technician_id
FROM samples s
JOIN patients p ON p.patient_id = s.patient_id
JOIN technicians t ON t.lab_id = p.lab_id
WHERE r.result_id = @result_id AND s.sample_id = r.sample_id
  AND r.stage = 'entered' AND r.entered_by <> t.technician_id
  AND s.erased_at IS NULL AND p.erased_at IS NULL AND p.lab_id = @lab_id
  AND t.technician_id = @technician_id AND t.grade IN ('senior', 'director')
RETURNING r.result_id
--- release good
UPDATE results
SET stage = 'released', released_at = now()
WHERE result_id = @result_id
  AND stage = 'checked'
  AND sample_id IN (
    SELECT s.sample_id FROM samples s JOIN patients p ON p.patient_id = s.patient_id
    WHERE p.lab_id = @lab_id AND s.erased_at IS NULL AND p.erased_at IS NULL)
  AND EXISTS (SELECT 1 FROM technicians WHERE technician_id = @technician_id AND lab_id = @lab_id AND grade = 'director' AND left_at IS NULL)
RETURNING result_id, released_at
--- release bad 6
UPDATE results
SET stage = 'released', released_at = now()
WHERE result_id = @result_id
  AND stage = 'checked'
  AND sample_id IN (
    SELECT s.sample_id FROM samples s JOIN patients p ON p.patient_id = s.patient_id
    WHERE p.lab_id = @lab_id AND s.erased_at IS NULL AND p.erased_at IS NULL)
  AND EXISTS (SELECT 1 FROM technicians WHERE technician_id = @technician_id AND lab_id = @lab_id AND grade IN ('director', 'senior') AND left_at IS NULL)
RETURNING result_id
--- release bad 5
UPDATE results
SET stage = 'released', released_at = now()
WHERE result_id = @result_id
  AND stage IN ('entered', 'checked')
  AND sample_id IN (
    SELECT s.sample_id FROM samples s JOIN patients p ON p.patient_id = s.patient_id
    WHERE p.lab_id = @lab_id AND s.erased_at IS NULL AND p.erased_at IS NULL)
  AND EXISTS (SELECT 1 FROM technicians WHERE technician_id = @technician_id AND lab_id = @lab_id AND grade = 'director' AND left_at IS NULL)
RETURNING result_id
--- find-patient good
SELECT p.patient_id, p.initials, p.birth_date
FROM patients p
WHERE p.lab_id = @lab_id AND p.erased_at IS NULL
  AND (p.insurance_no = @insurance_no OR p.initials = @initials AND p.birth_date = @birth_date)
LIMIT 20
--- find-patient bad 3
SELECT p.patient_id, p.initials, p.birth_date, left(p.insurance_no, 3) || '***' AS insurance
FROM patients p
WHERE p.lab_id = @lab_id AND p.erased_at IS NULL AND p.initials = @initials
LIMIT 20
--- find-patient bad 9
SELECT p.patient_id, p.initials, p.birth_date FROM patients p
WHERE p.lab_id = @lab_id AND p.erased_at IS NULL AND p.initials IN (${initials})
LIMIT 20
