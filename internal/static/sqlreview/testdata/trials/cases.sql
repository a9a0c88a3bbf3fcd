--- subjects good
SELECT s.id, s.number, s.initials, s.withdrawn_at
FROM subject s
JOIN site i ON i.id = s.site_id
JOIN site_staff st ON st.site_id = i.id AND st.account_id = :account
WHERE i.study_id = :study AND NOT s.removed
  AND st.active_from <= now() AND (st.active_to IS NULL OR st.active_to > now())
ORDER BY s.number, s.id LIMIT 100;
--- enter good
WITH v AS (
  UPDATE visit v SET state = 'done', entered_by = :account
  FROM subject s, site i, study y
  WHERE v.id = :visit AND s.id = v.subject_id AND NOT s.removed AND i.id = s.site_id AND i.study_id = :study
    AND y.id = i.study_id AND y.locked_at IS NULL
    AND v.state = 'planned'
    AND EXISTS (SELECT 1 FROM site_staff st WHERE st.site_id = i.id AND st.account_id = :account AND st.role IN ('coordinator','investigator')
                AND st.active_from <= now() AND (st.active_to IS NULL OR st.active_to > now()))
  RETURNING v.id)
INSERT INTO change_log (study_id, account_id, what, visit_id) SELECT :study, :account, 'done', id FROM v;
--- sign good
CREATE FUNCTION sign(p_study int, p_account int, p_visit int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE r record;
BEGIN
  SELECT v.id, v.entered_by, i.id AS site INTO r
  FROM visit v JOIN subject s ON s.id = v.subject_id AND NOT s.removed JOIN site i ON i.id = s.site_id JOIN study y ON y.id = i.study_id
  WHERE v.id = p_visit AND i.study_id = p_study AND y.locked_at IS NULL AND v.state = 'done' FOR UPDATE OF v;
  IF NOT FOUND THEN RAISE EXCEPTION 'none'; END IF;
  IF r.entered_by = p_account THEN RAISE EXCEPTION 'own'; END IF;
  IF NOT EXISTS (SELECT 1 FROM site_staff st WHERE st.site_id = r.site AND st.account_id = p_account AND st.role = 'investigator'
       AND now() >= st.active_from AND (st.active_to IS NULL OR now() < st.active_to)) THEN RAISE EXCEPTION 'role'; END IF;
  UPDATE visit SET state = 'signed', signed_by = p_account, signed_at = now() WHERE id = r.id;
  INSERT INTO change_log (study_id, account_id, what, visit_id) VALUES (p_study, p_account, 'sign', r.id);
END $$;
--- counts good
SELECT i.name, count(*) FILTER (WHERE v.state = 'signed') AS signed, count(*) AS visits
FROM site i JOIN subject s ON s.site_id = i.id AND s.removed = false JOIN visit v ON v.subject_id = s.id
WHERE i.study_id = :study
  AND i.id IN (SELECT st.site_id FROM site_staff st WHERE st.account_id = :account AND st.active_from <= now() AND COALESCE(st.active_to, 'infinity') > now())
GROUP BY i.id, i.name ORDER BY i.name, i.id LIMIT 100;
--- subjects bad 2
SELECT s.id, s.number, s.initials FROM subject s JOIN site i ON i.id = s.site_id
JOIN site_staff st ON st.site_id = i.id AND st.account_id = :account
WHERE i.study_id = :study AND NOT s.removed AND st.active_from <= now()
ORDER BY s.number, s.id LIMIT 100;
--- enter bad 6
WITH v AS (
  UPDATE visit v SET state = 'done', entered_by = :account
  FROM subject s, site i
  WHERE v.id = :visit AND s.id = v.subject_id AND NOT s.removed AND i.id = s.site_id AND i.study_id = :study AND v.state = 'planned'
    AND EXISTS (SELECT 1 FROM site_staff st WHERE st.site_id = i.id AND st.account_id = :account AND st.role IN ('coordinator','investigator')
                AND st.active_from <= now() AND (st.active_to IS NULL OR st.active_to > now()))
  RETURNING v.id)
INSERT INTO change_log (study_id, account_id, what, visit_id) SELECT :study, :account, 'done', id FROM v;
--- counts bad 4
SELECT i.name, count(*) AS visits
FROM site i JOIN subject s ON s.site_id = i.id JOIN visit v ON v.subject_id = s.id
WHERE i.study_id = :study
  AND i.id IN (SELECT st.site_id FROM site_staff st WHERE st.account_id = :account AND st.active_from <= now() AND COALESCE(st.active_to, 'infinity') > now())
GROUP BY i.id, i.name ORDER BY i.name, i.id LIMIT 100;
--- enter bad 2
WITH v AS (
  UPDATE visit v SET state = 'done', entered_by = :account
  FROM subject s, site i, study y
  WHERE v.id = :visit AND s.id = v.subject_id AND NOT s.removed AND i.id = s.site_id AND i.study_id = :study
    AND y.id = i.study_id AND y.locked_at IS NULL AND v.state = 'planned'
    AND EXISTS (SELECT 1 FROM site_staff st WHERE st.site_id = i.id AND st.account_id = :account
                AND st.active_from <= now() AND (st.active_to IS NULL OR st.active_to > now()))
  RETURNING v.id)
INSERT INTO change_log (study_id, account_id, what, visit_id) SELECT :study, :account, 'done', id FROM v;
