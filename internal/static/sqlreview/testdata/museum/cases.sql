--- tree good
WITH RECURSIVE below AS (
  SELECT department_id, title FROM departments WHERE department_id = $3 AND museum_id = $1
  UNION ALL
  SELECT d.department_id, d.title FROM departments d JOIN below b ON d.parent_id = b.department_id WHERE d.museum_id = $1
)
SELECT department_id, title FROM below ORDER BY title LIMIT 40
--- tree bad 1
WITH RECURSIVE below AS (
  SELECT department_id, title FROM departments WHERE department_id = $3 AND museum_id = $1
  UNION ALL
  SELECT d.department_id, d.title FROM departments d JOIN below b ON d.parent_id = b.department_id
)
SELECT department_id, title FROM below ORDER BY title LIMIT 40
--- tree bad 5
WITH RECURSIVE below AS (
  SELECT department_id, title FROM departments WHERE department_id = $3 AND museum_id = $1
  UNION ALL
  SELECT d.department_id, d.title FROM departments d JOIN below b ON d.parent_id = b.department_id WHERE d.museum_id = $1
)
SELECT department_id, title FROM below ORDER BY title
--- objects good
SELECT o.object_id, o.title, latest.stage
FROM objects o
LEFT JOIN LATERAL (
  SELECT l.stage FROM loans l WHERE l.object_id = o.object_id AND l.museum_id = o.museum_id ORDER BY l.loan_id DESC LIMIT 1
) latest ON true
WHERE o.museum_id = $1 AND o.deaccessioned_on IS NULL
ORDER BY o.title LIMIT 40
--- objects bad 3
SELECT o.object_id, o.title, latest.stage
FROM objects o
LEFT JOIN LATERAL (
  SELECT l.stage FROM loans l WHERE l.object_id = o.object_id AND l.museum_id = o.museum_id AND o.deaccessioned_on IS NULL ORDER BY l.loan_id DESC LIMIT 1
) latest ON true
WHERE o.museum_id = $1
ORDER BY o.title LIMIT 40
--- objects bad 1
SELECT o.object_id, o.title, rank() OVER (ORDER BY n.c DESC) AS place
FROM objects o
JOIN (SELECT l.object_id, count(*) AS c FROM loans l GROUP BY l.object_id) n ON n.object_id = o.object_id
WHERE o.museum_id = $1 AND o.deaccessioned_on IS NULL
ORDER BY place LIMIT 40
--- objects bad 4
SELECT o.object_id, json_agg(o) FROM objects o
WHERE o.museum_id = $1 AND o.deaccessioned_on IS NULL
GROUP BY o.object_id ORDER BY o.object_id LIMIT 40
--- objects bad 5
SELECT x.object_id, x.title FROM (
  SELECT o.object_id, o.title FROM objects o WHERE o.museum_id = $1 AND o.deaccessioned_on IS NULL LIMIT $3
) x ORDER BY x.title
--- objects bad 2
SELECT o.object_id, o.title FROM objects o
WHERE o.museum_id = $1 AND o.deaccessioned_on IS NULL AND o.title ILIKE '%${term}%'
ORDER BY o.title LIMIT 40
--- agree good
UPDATE loans l SET stage = 'agreed', lock_version = l.lock_version + 1
FROM objects o
JOIN department_staff s ON s.department_id = o.department_id
WHERE l.loan_id = $3 AND l.museum_id = $1 AND l.stage = 'asked' AND l.lock_version = $4
  AND o.object_id = l.object_id AND o.museum_id = l.museum_id AND o.deaccessioned_on IS NULL
  AND s.employee_id = $2 AND s.rank IN ('head', 'curator')
RETURNING l.loan_id, l.stage, l.lock_version
--- agree bad 6
UPDATE loans l SET stage = 'agreed', lock_version = l.lock_version + 1
FROM objects o
JOIN department_staff s ON s.department_id = o.department_id
WHERE l.loan_id = $3 AND l.museum_id = $1 AND l.stage = 'asked' AND l.lock_version = $4
  AND o.object_id = l.object_id AND o.museum_id = l.museum_id AND o.deaccessioned_on IS NULL
  AND s.employee_id = $2
RETURNING l.loan_id, l.stage, l.lock_version
--- agree bad 6
UPDATE loans l SET stage = 'agreed', lock_version = l.lock_version + 1
FROM objects o
WHERE l.loan_id = $3 AND l.museum_id = $1 AND l.stage = 'asked' AND l.lock_version = $4
  AND o.object_id = l.object_id AND o.museum_id = l.museum_id AND o.deaccessioned_on IS NULL
  AND EXISTS (SELECT 1 FROM department_staff s WHERE s.employee_id = $2 AND s.rank IN ('head', 'curator'))
RETURNING l.loan_id, l.stage, l.lock_version
--- agree bad 7
UPDATE loans l SET stage = 'agreed', lock_version = l.lock_version + 1
FROM objects o
JOIN department_staff s ON s.department_id = o.department_id
WHERE l.loan_id = $3 AND l.museum_id = $1 AND l.stage <> 'back' AND l.lock_version = $4
  AND o.object_id = l.object_id AND o.museum_id = l.museum_id AND o.deaccessioned_on IS NULL
  AND s.employee_id = $2 AND s.rank IN ('head', 'curator')
RETURNING l.loan_id
--- agree bad 8
UPDATE loans l SET stage = 'agreed', lock_version = $4 + 1
FROM objects o
JOIN department_staff s ON s.department_id = o.department_id
WHERE l.loan_id = $3 AND l.museum_id = $1 AND l.stage = 'asked'
  AND o.object_id = l.object_id AND o.museum_id = l.museum_id AND o.deaccessioned_on IS NULL
  AND s.employee_id = $2 AND s.rank IN ('head', 'curator')
RETURNING l.loan_id
--- ask good
INSERT INTO loans (loan_id, museum_id, object_id, borrower, stage, asked_by)
SELECT $5, o.museum_id, o.object_id, $4, 'asked', $2
FROM objects o WHERE o.object_id = $3 AND o.museum_id = $1 AND o.deaccessioned_on IS NULL
RETURNING loan_id
--- ask bad 1
INSERT INTO loans (loan_id, museum_id, object_id, borrower, stage, asked_by)
VALUES ($5, $1, $3, $4, 'asked', $2)
RETURNING loan_id
--- ask bad 3
INSERT INTO loans (loan_id, museum_id, object_id, borrower, stage, asked_by)
SELECT $5, o.museum_id, o.object_id, $4, 'asked', $2
FROM objects o WHERE o.object_id = $3 AND o.museum_id = $1
RETURNING loan_id
--- back good
UPDATE loans SET stage = 'back', lock_version = lock_version + 1
WHERE loan_id = $3 AND museum_id = $1 AND stage = 'out' AND lock_version = $4
RETURNING loan_id
--- back bad 1
UPDATE loans SET stage = 'back', lock_version = lock_version + 1
WHERE loan_id = $3 AND (museum_id = $1 OR borrower = $5) AND stage = 'out' AND lock_version = $4
RETURNING loan_id
