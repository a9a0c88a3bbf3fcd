--- my-payslips good
SELECT p.payslip_id, r.period, p.gross, p.net
FROM payslips p
JOIN pay_runs r ON r.pay_run_id = p.pay_run_id
WHERE p.employee_id = $2
  AND r.employer_id = $1
  AND r.status = 'paid'
  AND NOT p.is_deleted
  AND NOT r.is_deleted
ORDER BY lower(r.period) DESC
LIMIT 24
--- my-payslips bad 4
SELECT p.payslip_id, r.period, p.gross, p.net
FROM payslips p
JOIN pay_runs r ON r.pay_run_id = p.pay_run_id
WHERE p.employee_id = $3
  AND r.employer_id = $1
  AND r.status = 'paid'
  AND NOT p.is_deleted
  AND NOT r.is_deleted
ORDER BY lower(r.period) DESC
LIMIT 24
--- my-payslips bad 4
SELECT p.payslip_id, r.period, p.gross, p.net
FROM payslips p
JOIN pay_runs r ON r.pay_run_id = p.pay_run_id
WHERE (p.employee_id = $2
   OR EXISTS (SELECT 1 FROM role_grants g WHERE g.employer_id = $1 AND g.employee_id = $2 AND g.role = 'payroll_admin'))
  AND p.employee_id = $3
  AND r.employer_id = $1 AND NOT p.is_deleted AND NOT r.is_deleted
ORDER BY lower(r.period) DESC
LIMIT 24
--- payslips-of good
SELECT p.payslip_id, r.period, p.gross, p.net
FROM payslips p
JOIN pay_runs r ON r.pay_run_id = p.pay_run_id AND r.employer_id = $1 AND r.is_deleted = false
WHERE p.employee_id = $3
  AND p.is_deleted = false
  AND ($3 = $2
       OR EXISTS (SELECT 1 FROM role_grants g
                  WHERE g.employer_id = $1 AND g.employee_id = $2 AND g.role = 'payroll_admin'
                    AND g.starts_at <= now() AND (g.ends_at IS NULL OR g.ends_at > now())))
ORDER BY lower(r.period) DESC
LIMIT 50
--- payslips-of bad 1
SELECT p.payslip_id, r.period, p.gross, p.net
FROM payslips p
JOIN pay_runs r ON r.pay_run_id = p.pay_run_id AND r.is_deleted = false
WHERE p.employee_id = $3
  AND p.is_deleted = false
  AND EXISTS (SELECT 1 FROM role_grants g
              WHERE g.employer_id = $1 AND g.employee_id = $2 AND g.role = 'payroll_admin'
                AND g.starts_at <= now() AND (g.ends_at IS NULL OR g.ends_at > now()))
ORDER BY lower(r.period) DESC
LIMIT 50
--- payslips-of bad 8
SELECT p.payslip_id, r.period, p.gross, p.net
FROM payslips p
JOIN pay_runs r ON r.pay_run_id = p.pay_run_id AND r.employer_id = $1 AND r.is_deleted = false
WHERE p.employee_id = $3
  AND p.is_deleted = false
  AND EXISTS (SELECT 1 FROM role_grants g
              WHERE g.employer_id = $1 AND g.employee_id = $2 AND g.role = 'payroll_admin'
                AND g.starts_at <= now() AND (g.ends_at IS NULL OR g.ends_at > now()))
ORDER BY lower(r.period) DESC
LIMIT COALESCE($4, 50)
--- approve good
WITH approver AS (
  SELECT g.employee_id
  FROM role_grants g
  JOIN employees e ON e.employee_id = g.employee_id AND e.employer_id = g.employer_id
  WHERE g.employer_id = $1 AND g.employee_id = $2 AND g.role = 'payroll_admin'
    AND g.starts_at <= now() AND (g.ends_at IS NULL OR g.ends_at > now())
    AND NOT e.is_deleted
  LIMIT 1
), changed AS (
  UPDATE pay_runs r
  SET status = 'approved', approved_by = a.employee_id, approved_at = now()
  FROM approver a
  WHERE r.pay_run_id = $3 AND r.employer_id = $1 AND r.status = 'submitted'
    AND NOT r.is_deleted AND r.created_by <> a.employee_id
  RETURNING r.pay_run_id, r.employer_id, r.approved_by
)
INSERT INTO audit_log (employer_id, actor_id, action, subject_id)
SELECT c.employer_id, c.approved_by, 'pay_run.approve', c.pay_run_id
FROM changed c
RETURNING subject_id
--- approve bad 5
WITH approver AS (
  SELECT g.employee_id FROM role_grants g
  WHERE g.employer_id = $1 AND g.employee_id = $2 AND g.role = 'payroll_admin'
    AND g.starts_at <= now() AND (g.ends_at IS NULL OR g.ends_at > now())
), changed AS (
  UPDATE pay_runs r
  SET status = 'approved', approved_by = a.employee_id, approved_at = now()
  FROM approver a
  WHERE r.pay_run_id = $3 AND r.employer_id = $1 AND r.status = 'submitted' AND NOT r.is_deleted
  RETURNING r.pay_run_id, r.employer_id, r.approved_by
)
INSERT INTO audit_log (employer_id, actor_id, action, subject_id)
SELECT c.employer_id, c.approved_by, 'pay_run.approve', c.pay_run_id FROM changed c
RETURNING subject_id
--- approve bad 5
WITH approver AS (
  SELECT g.employee_id FROM role_grants g
  WHERE g.employer_id = $1 AND g.employee_id = $2 AND g.role IN ('payroll_admin', 'hr_partner')
    AND g.starts_at <= now() AND (g.ends_at IS NULL OR g.ends_at > now())
), changed AS (
  UPDATE pay_runs r
  SET status = 'approved', approved_by = a.employee_id, approved_at = now()
  FROM approver a
  WHERE r.pay_run_id = $3 AND r.employer_id = $1 AND r.status = 'submitted' AND NOT r.is_deleted AND r.created_by <> $2
  RETURNING r.pay_run_id, r.employer_id, r.approved_by
)
INSERT INTO audit_log (employer_id, actor_id, action, subject_id)
SELECT c.employer_id, c.approved_by, 'pay_run.approve', c.pay_run_id FROM changed c
--- approve bad 7
WITH approver AS (
  SELECT g.employee_id FROM role_grants g
  WHERE g.employer_id = $1 AND g.employee_id = $2 AND g.role = 'payroll_admin'
    AND g.starts_at <= now() AND (g.ends_at IS NULL OR g.ends_at > now())
)
UPDATE pay_runs r
SET status = 'approved', approved_by = a.employee_id, approved_at = now()
FROM approver a
WHERE r.pay_run_id = $3 AND r.employer_id = $1 AND r.status = 'submitted' AND NOT r.is_deleted AND r.created_by <> $2
RETURNING r.pay_run_id
--- org good
WITH RECURSIVE tree AS (
  SELECT d.department_id, d.name, d.parent_id, 1 AS depth
  FROM departments d
  WHERE d.employer_id = $1 AND d.department_id = $3
  UNION ALL
  SELECT c.department_id, c.name, c.parent_id, t.depth + 1
  FROM departments c
  JOIN tree t ON c.parent_id = t.department_id
  WHERE c.employer_id = $1 AND t.depth < 6
)
SELECT t.department_id, t.name, t.depth,
       (SELECT count(*) FROM employees e
        WHERE e.department_id = t.department_id AND e.employer_id = $1 AND NOT e.is_deleted AND e.terminated_on IS NULL) AS headcount
FROM tree t
ORDER BY t.depth, t.name
LIMIT 50
--- org bad 1
WITH RECURSIVE tree AS (
  SELECT d.department_id, d.name, 1 AS depth
  FROM departments d
  WHERE d.department_id = $3
  UNION ALL
  SELECT c.department_id, c.name, t.depth + 1
  FROM departments c
  JOIN tree t ON c.parent_id = t.department_id
  WHERE t.depth < 6
)
SELECT t.department_id, t.name, t.depth FROM tree t
ORDER BY t.depth, t.name
LIMIT 50
--- org bad 2
SELECT d.department_id, d.name, count(e.employee_id) AS headcount
FROM departments d
LEFT JOIN employees e ON e.department_id = d.department_id AND e.employer_id = $1 AND e.terminated_on IS NULL
WHERE d.employer_id = $1
GROUP BY d.department_id, d.name
ORDER BY d.name
LIMIT 50
--- directory good
SELECT e.employee_id, e.full_name, e.work_email, d.name AS department
FROM employees e
JOIN departments d ON d.department_id = e.department_id AND d.employer_id = e.employer_id
WHERE e.employer_id = $1 AND e.is_deleted IS FALSE
  AND (e.terminated_on IS NULL OR e.terminated_on > current_date)
  AND ($3::text IS NULL OR e.full_name ILIKE '%' || $3 || '%')
ORDER BY e.full_name
LIMIT LEAST($4::int, 50)
--- directory bad 3
SELECT json_build_object('id', e.employee_id, 'name', e.full_name, 'bank', right(e.iban, 4)) AS person
FROM employees e
WHERE e.employer_id = $1 AND NOT e.is_deleted
ORDER BY e.full_name
LIMIT 50
--- directory bad 9
SELECT e.employee_id, e.full_name FROM employees e
WHERE e.employer_id = $1 AND NOT e.is_deleted AND e.full_name LIKE '%${name}%'
ORDER BY e.full_name LIMIT 50
--- void good
WITH hit AS (
  UPDATE pay_runs SET status = 'void'
  WHERE pay_run_id = $3 AND employer_id = $1 AND NOT is_deleted AND status NOT IN ('paid', 'void')
    AND EXISTS (SELECT 1 FROM role_grants g WHERE g.employer_id = pay_runs.employer_id AND g.employee_id = $2 AND g.role = 'payroll_admin'
                AND g.starts_at <= now() AND (g.ends_at IS NULL OR g.ends_at > now()))
  RETURNING pay_run_id
)
INSERT INTO audit_log (employer_id, actor_id, action, subject_id)
SELECT $1, $2, 'pay_run.void', pay_run_id FROM hit
--- void bad 6
WITH hit AS (
  UPDATE pay_runs SET status = 'void'
  WHERE pay_run_id = $3 AND employer_id = $1 AND NOT is_deleted AND status <> 'void'
    AND EXISTS (SELECT 1 FROM role_grants g WHERE g.employer_id = pay_runs.employer_id AND g.employee_id = $2 AND g.role = 'payroll_admin'
                AND g.starts_at <= now() AND (g.ends_at IS NULL OR g.ends_at > now()))
  RETURNING pay_run_id
)
INSERT INTO audit_log (employer_id, actor_id, action, subject_id)
SELECT $1, $2, 'pay_run.void', pay_run_id FROM hit
