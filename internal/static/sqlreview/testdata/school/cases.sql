--- course-list good
SELECT c.id, c.title, count(e.id) AS participants
FROM courses c
LEFT JOIN enrolments e ON e.course_id = c.id AND e.removed_on IS NULL
WHERE c.school_id = :school_id AND c.removed_on IS NULL
GROUP BY c.id, c.title ORDER BY c.title, c.id LIMIT 100
--- course-list bad 3
SELECT c.id, c.title, count(e.id) AS participants
FROM courses c
LEFT JOIN enrolments e ON e.course_id = c.id
WHERE c.school_id = :school_id AND c.removed_on IS NULL
GROUP BY c.id, c.title ORDER BY c.title, c.id LIMIT 100
--- course-list bad 1
SELECT c.id, c.title, count(e.id) AS participants
FROM courses c
LEFT JOIN enrolments e ON e.course_id = c.id AND e.removed_on IS NULL AND c.school_id = :school_id
WHERE c.removed_on IS NULL
GROUP BY c.id, c.title ORDER BY c.title, c.id LIMIT 100
--- course-list bad 2
SELECT c.id, c.title FROM courses c
WHERE c.school_id = :school_id AND c.removed_on IS NULL
ORDER BY ${sort} LIMIT 100
--- set-grade good
CREATE OR REPLACE FUNCTION set_grade(p_school_id int, p_caller_id int, p_grade_id int, p_points int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_course int;
  v_state text;
BEGIN
  SELECT e.course_id, g.state INTO v_course, v_state
  FROM grades g
  JOIN enrolments e ON e.id = g.enrolment_id AND e.removed_on IS NULL
  JOIN courses c ON c.id = e.course_id AND c.removed_on IS NULL
  WHERE g.id = p_grade_id AND c.school_id = p_school_id
  FOR UPDATE OF g;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such grade';
  END IF;
  IF NOT EXISTS (SELECT 1 FROM teaching t WHERE t.course_id = v_course AND t.person_id = p_caller_id AND t.duty = 'lead') THEN
    RAISE EXCEPTION 'not the lead teacher';
  END IF;
  IF v_state <> 'draft' THEN
    RAISE EXCEPTION 'grade is final';
  END IF;
  UPDATE grades SET points = p_points, given_by = p_caller_id WHERE id = p_grade_id;
END $$;
--- set-grade bad 5
CREATE OR REPLACE FUNCTION set_grade(p_school_id int, p_caller_id int, p_grade_id int, p_points int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_course int;
  v_state text;
BEGIN
  SELECT e.course_id, g.state INTO v_course, v_state
  FROM grades g
  JOIN enrolments e ON e.id = g.enrolment_id AND e.removed_on IS NULL
  JOIN courses c ON c.id = e.course_id AND c.removed_on IS NULL
  WHERE g.id = p_grade_id AND c.school_id = p_school_id
  FOR UPDATE OF g;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such grade';
  END IF;
  IF NOT EXISTS (SELECT 1 FROM teaching t WHERE t.course_id = v_course AND t.duty = 'lead') THEN
    RAISE EXCEPTION 'not the lead teacher';
  END IF;
  IF v_state <> 'draft' THEN
    RAISE EXCEPTION 'grade is final';
  END IF;
  UPDATE grades SET points = p_points, given_by = p_caller_id WHERE id = p_grade_id;
END $$;
--- set-grade bad 6
CREATE OR REPLACE FUNCTION set_grade(p_school_id int, p_caller_id int, p_grade_id int, p_points int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_course int;
BEGIN
  SELECT e.course_id INTO v_course
  FROM grades g
  JOIN enrolments e ON e.id = g.enrolment_id AND e.removed_on IS NULL
  JOIN courses c ON c.id = e.course_id AND c.removed_on IS NULL
  WHERE g.id = p_grade_id AND c.school_id = p_school_id
  FOR UPDATE OF g;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such grade';
  END IF;
  IF NOT EXISTS (SELECT 1 FROM teaching t WHERE t.course_id = v_course AND t.person_id = p_caller_id AND t.duty = 'lead') THEN
    RAISE EXCEPTION 'not the lead teacher';
  END IF;
  UPDATE grades SET points = p_points, given_by = p_caller_id WHERE id = p_grade_id;
END $$;
--- set-grade bad 1
CREATE OR REPLACE FUNCTION set_grade(p_school_id int, p_caller_id int, p_grade_id int, p_points int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM teaching t JOIN courses c ON c.id = t.course_id
    WHERE c.school_id = p_school_id AND c.removed_on IS NULL AND t.person_id = p_caller_id AND t.duty = 'lead';
  IF NOT FOUND THEN
    RAISE EXCEPTION 'not a lead teacher';
  END IF;
  UPDATE grades SET points = p_points, given_by = p_caller_id WHERE id = p_grade_id AND state = 'draft';
END $$;
--- set-grade good
UPDATE grades g SET points = :points, given_by = :caller_id
FROM enrolments e, courses c, teaching t
WHERE g.id = :grade_id AND g.state = 'draft'
  AND e.id = g.enrolment_id AND e.removed_on IS NULL
  AND c.id = e.course_id AND c.school_id = :school_id AND c.removed_on IS NULL
  AND t.course_id = c.id AND t.person_id = :caller_id AND t.duty = 'lead'
--- set-grade bad 5
UPDATE grades g SET points = :points, given_by = :caller_id
FROM enrolments e, courses c, teaching t
WHERE g.id = :grade_id AND g.state = 'draft'
  AND e.id = g.enrolment_id AND e.removed_on IS NULL
  AND c.id = e.course_id AND c.school_id = :school_id AND c.removed_on IS NULL
  AND t.course_id = c.id AND t.person_id = :caller_id
--- enrol good
INSERT INTO enrolments (course_id, person_id)
SELECT c.id, p.id
FROM courses c JOIN people p ON p.school_id = c.school_id
WHERE c.id = :course_id AND c.school_id = :school_id AND c.removed_on IS NULL AND c.phase = 'open'
  AND c.enrol_opens <= now() AND now() < c.enrol_closes
  AND p.id = :caller_id AND p.removed_on IS NULL
ON CONFLICT (course_id, person_id) DO NOTHING
RETURNING id
--- enrol bad 7
INSERT INTO enrolments (course_id, person_id)
SELECT c.id, p.id
FROM courses c JOIN people p ON p.school_id = c.school_id
WHERE c.id = :course_id AND c.school_id = :school_id AND c.removed_on IS NULL AND c.phase = 'open'
  AND now() BETWEEN c.enrol_opens AND c.enrol_closes
  AND p.id = :caller_id AND p.removed_on IS NULL
ON CONFLICT (course_id, person_id) DO NOTHING
RETURNING id
--- enrol bad 7
INSERT INTO enrolments (course_id, person_id)
SELECT c.id, p.id
FROM courses c JOIN people p ON p.school_id = c.school_id
WHERE c.id = :course_id AND c.school_id = :school_id AND c.removed_on IS NULL
  AND c.enrol_opens <= now() AND now() < c.enrol_closes
  AND p.id = :caller_id AND p.removed_on IS NULL
ON CONFLICT (course_id, person_id) DO NOTHING
RETURNING id
--- enrol bad 7
INSERT INTO enrolments (course_id, person_id)
SELECT c.id, p.id
FROM courses c JOIN people p ON p.school_id = c.school_id
WHERE c.id = :course_id AND c.school_id = :school_id AND c.removed_on IS NULL AND c.phase = 'open'
  AND c.enrol_opens <= :requested_at AND :requested_at < c.enrol_closes
  AND p.id = :caller_id AND p.removed_on IS NULL
ON CONFLICT (course_id, person_id) DO NOTHING
RETURNING id
--- enrol bad 1
INSERT INTO enrolments (course_id, person_id)
SELECT c.id, :caller_id
FROM courses c
WHERE c.id = :course_id AND c.removed_on IS NULL AND c.phase = 'open'
  AND c.enrol_opens <= now() AND now() < c.enrol_closes
RETURNING id
--- grade-stats good
SELECT c.id, c.title, avg(g.points) AS mean, count(DISTINCT e.id) AS n
FROM courses c
JOIN enrolments e ON e.course_id = c.id AND e.removed_on IS NULL
JOIN grades g ON g.enrolment_id = e.id
WHERE c.school_id = :school_id AND c.removed_on IS NULL
GROUP BY c.id, c.title HAVING count(DISTINCT e.id) >= 5
ORDER BY c.id LIMIT 100
--- grade-stats bad 8
SELECT c.id, c.title, avg(g.points) AS mean, count(DISTINCT e.id) AS n
FROM courses c
JOIN enrolments e ON e.course_id = c.id AND e.removed_on IS NULL
JOIN grades g ON g.enrolment_id = e.id
WHERE c.school_id = :school_id AND c.removed_on IS NULL
GROUP BY c.id, c.title
ORDER BY c.id LIMIT 100
--- grade-stats bad 8
SELECT c.id, c.title, avg(g.points) AS mean
FROM courses c
JOIN enrolments e ON e.course_id = c.id AND e.removed_on IS NULL
JOIN grades g ON g.enrolment_id = e.id
WHERE c.school_id = :school_id AND c.removed_on IS NULL
GROUP BY c.id, c.title HAVING count(*) > 3
ORDER BY c.id LIMIT 100
--- grade-stats bad 1
SELECT c.id, c.title, avg(g.points) OVER () AS overall
FROM courses c
JOIN enrolments e ON e.course_id = c.id AND e.removed_on IS NULL
JOIN grades g ON g.enrolment_id = e.id
WHERE c.removed_on IS NULL AND (c.school_id = :school_id OR :school_id IS NULL)
ORDER BY c.id LIMIT 100
--- people good
SELECT p.id, p.name, p.email FROM people p
WHERE p.school_id = :school_id AND p.removed_on IS NULL
  AND p.id NOT IN (SELECT e.person_id FROM enrolments e WHERE e.course_id = :course_id AND e.removed_on IS NULL)
ORDER BY p.name LIMIT 100
--- people bad 4
SELECT json_agg(x) FROM (SELECT p.* FROM people p WHERE p.school_id = :school_id AND p.removed_on IS NULL ORDER BY p.name LIMIT 100) x
--- people bad 9
SELECT json_agg(json_build_object('id', p.id, 'name', p.name) ORDER BY p.name)
FROM people p WHERE p.school_id = :school_id AND p.removed_on IS NULL
LIMIT 100
--- people bad 1
SELECT p.id, p.name FROM people p WHERE p.school_id = :school_id AND p.removed_on IS NULL
UNION ALL
SELECT p.id, p.name FROM people p JOIN teaching t ON t.person_id = p.id WHERE p.removed_on IS NULL
ORDER BY 2 LIMIT 100
--- find-person good
CREATE FUNCTION find_person(p_school_id int, p_caller_id int, p_field text, p_value text) RETURNS TABLE (id int, name text) LANGUAGE plpgsql AS $$
BEGIN
  IF p_field NOT IN ('name', 'email') THEN
    RAISE EXCEPTION 'bad field';
  END IF;
  RETURN QUERY EXECUTE format('SELECT p.id, p.name FROM people p WHERE p.school_id = $1 AND p.removed_on IS NULL AND p.%I = $2 ORDER BY p.id LIMIT 100', p_field)
    USING p_school_id, p_value;
END $$;
--- find-person bad 2
CREATE FUNCTION find_person(p_school_id int, p_caller_id int, p_field text, p_value text) RETURNS TABLE (id int, name text) LANGUAGE plpgsql AS $$
BEGIN
  IF p_field NOT IN ('name', 'email') THEN
    RAISE EXCEPTION 'bad field';
  END IF;
  RETURN QUERY EXECUTE 'SELECT p.id, p.name FROM people p WHERE p.school_id = $1 AND p.removed_on IS NULL AND p.name = ''' || p_value || ''' ORDER BY p.id LIMIT 100'
    USING p_school_id;
END $$;
--- find-person bad 2
CREATE FUNCTION find_person(p_school_id int, p_caller_id int, p_field text, p_value text) RETURNS TABLE (id int, name text) LANGUAGE plpgsql AS $$
DECLARE q text;
BEGIN
  q := format('SELECT p.id, p.name FROM people p WHERE p.school_id = %L AND p.removed_on IS NULL AND p.%s = %L ORDER BY p.id LIMIT 100', p_school_id, p_field, p_value);
  RETURN QUERY EXECUTE q;
END $$;
--- release good
UPDATE grades g SET state = 'released'
WHERE g.id = :grade_id AND g.state = 'draft'
  AND EXISTS (
    SELECT 1 FROM enrolments e JOIN courses c ON c.id = e.course_id JOIN teaching t ON t.course_id = c.id
    WHERE e.id = g.enrolment_id AND e.removed_on IS NULL AND c.removed_on IS NULL
      AND c.school_id = :school_id AND t.person_id = :caller_id AND t.duty = 'lead')
RETURNING g.id, g.state
--- release bad 4
UPDATE grades g SET state = 'released'
WHERE g.id = :grade_id AND g.state = 'draft'
  AND EXISTS (
    SELECT 1 FROM enrolments e JOIN courses c ON c.id = e.course_id JOIN teaching t ON t.course_id = c.id
    WHERE e.id = g.enrolment_id AND e.removed_on IS NULL AND c.removed_on IS NULL
      AND c.school_id = :school_id AND t.person_id = :caller_id AND t.duty = 'lead')
RETURNING g.*
--- release bad 5
UPDATE grades g SET state = 'released'
WHERE g.id = :grade_id AND g.state = 'draft'
  AND EXISTS (
    SELECT 1 FROM courses c JOIN teaching t ON t.course_id = c.id
    WHERE c.removed_on IS NULL
      AND c.school_id = :school_id AND t.person_id = :caller_id AND t.duty = 'lead')
RETURNING g.id, g.state
