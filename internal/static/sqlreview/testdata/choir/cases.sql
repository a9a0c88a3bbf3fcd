--- singers good
SELECT s.singer_id, u.real_name, s.voice, s.office
FROM singer s
JOIN app_user u ON u.user_id = s.user_id
WHERE s.choir_id = :choir
  AND (s.left_on IS NULL OR s.left_on > current_date)
  AND EXISTS (SELECT 1 FROM singer me WHERE me.choir_id = :choir AND me.user_id = :uid
              AND (me.left_on IS NULL OR me.left_on > (SELECT (now() AT TIME ZONE c.zone)::date FROM choir c WHERE c.choir_id = :choir)))
ORDER BY s.voice, u.real_name, s.singer_id
LIMIT 200;
--- rehearsals good
SELECT r.rehearsal_id, r.begins_at, r.room, a.answer
FROM singer me
JOIN rehearsal r ON r.choir_id = me.choir_id
LEFT JOIN attendance a ON a.rehearsal_id = r.rehearsal_id AND a.singer_id = me.singer_id
WHERE me.choir_id = :choir AND me.user_id = :uid
  AND (me.left_on IS NULL OR me.left_on > now()::date)
  AND r.cancelled_at IS NULL
  AND r.begins_at >= now()
ORDER BY r.begins_at, r.rehearsal_id
LIMIT LEAST(coalesce(:n, 50), 200);
--- answer good
INSERT INTO attendance (rehearsal_id, singer_id, answer, excuse)
SELECT r.rehearsal_id, me.singer_id, :answer, :excuse
FROM rehearsal r
JOIN singer me ON me.choir_id = r.choir_id
WHERE r.rehearsal_id = :rehearsal AND r.choir_id = :choir
  AND r.cancelled_at IS NULL AND r.begins_at > now()
  AND me.user_id = :uid AND (me.left_on IS NULL OR me.left_on > current_date)
ON CONFLICT (rehearsal_id, singer_id) DO UPDATE
SET answer = EXCLUDED.answer, excuse = EXCLUDED.excuse, changed_at = now()
RETURNING rehearsal_id, answer;
--- cancel good
UPDATE rehearsal r
SET cancelled_at = now(), cancelled_by = me.singer_id
FROM singer me
WHERE r.rehearsal_id = :rehearsal
  AND r.choir_id = :choir
  AND r.cancelled_at IS NULL
  AND me.choir_id = r.choir_id
  AND me.user_id = :uid
  AND me.office = 'conductor'
  AND (me.left_on IS NULL OR me.left_on > current_date)
RETURNING r.rehearsal_id;
--- copies good
UPDATE score s
SET copies = :copies
WHERE s.score_id = :score AND s.choir_id = :choir AND NOT s.deleted
  AND :copies >= (SELECT count(*) FROM lending l WHERE l.score_id = s.score_id AND l.returned_at IS NULL)
  AND EXISTS (SELECT FROM singer me WHERE me.choir_id = :choir AND me.user_id = :uid
              AND me.office IN ('librarian', 'conductor') AND (me.left_on IS NULL OR me.left_on > current_date));
--- lend good
CREATE FUNCTION lend(p_choir int, p_uid int, p_score int, p_singer int, p_due date) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  v_score score%ROWTYPE;
  v_id int;
BEGIN
  PERFORM 1 FROM singer me WHERE me.choir_id = p_choir AND me.user_id = p_uid
     AND me.office IN ('librarian','conductor') AND (me.left_on IS NULL OR me.left_on > current_date);
  IF NOT FOUND THEN RAISE EXCEPTION 'no'; END IF;
  SELECT * INTO v_score FROM score WHERE score_id = p_score AND choir_id = p_choir AND NOT deleted FOR UPDATE;
  IF NOT FOUND THEN RAISE EXCEPTION 'no score'; END IF;
  IF (SELECT count(*) FROM lending l WHERE l.score_id = v_score.score_id AND l.returned_at IS NULL) >= v_score.copies THEN
    RAISE EXCEPTION 'all lent';
  END IF;
  INSERT INTO lending (score_id, singer_id, due_on)
  SELECT v_score.score_id, s.singer_id, p_due FROM singer s
  WHERE s.singer_id = p_singer AND s.choir_id = p_choir AND (s.left_on IS NULL OR s.left_on > current_date)
  RETURNING lending_id INTO v_id;
  RETURN v_id;
END $$;
--- waive good
WITH w AS (
  UPDATE dues d SET phase = 'waived', waived_by = me.singer_id, waive_note = :note
  FROM singer s, singer me
  WHERE d.dues_id = :dues AND s.singer_id = d.singer_id AND s.choir_id = :choir
    AND me.choir_id = :choir AND me.user_id = :uid AND me.office = 'treasurer'
    AND (me.left_on IS NULL OR me.left_on > current_date)
    AND d.singer_id <> me.singer_id
    AND d.phase = 'open'
  RETURNING d.dues_id
)
INSERT INTO journal (choir_id, user_id, verb, ref)
SELECT :choir, :uid, 'waive', w.dues_id FROM w
RETURNING ref;
--- own-dues good
SELECT d.season, d.cents, d.phase
FROM dues d JOIN singer me ON me.singer_id = d.singer_id
WHERE me.choir_id = :choir AND me.user_id = :uid AND (me.left_on IS NULL OR me.left_on > current_date)
ORDER BY d.season DESC, d.dues_id
LIMIT 200;
--- scores good
SELECT s.score_id, s.title, s.copies,
       s.copies - (SELECT count(*) FROM lending l WHERE l.score_id = s.score_id AND l.returned_at IS NULL) AS free
FROM score s
WHERE s.choir_id = :choir AND s.deleted = false
  AND s.title ILIKE '%' || replace(replace(replace(:q, '\', '\\'), '%', '\%'), '_', '\_') || '%'
  AND :uid IN (SELECT me.user_id FROM singer me WHERE me.choir_id = :choir AND (me.left_on IS NULL OR me.left_on > current_date))
ORDER BY s.title, s.score_id
LIMIT 100;
--- voices good
SELECT s.voice, count(*) AS singers
FROM singer s
WHERE s.choir_id = :choir AND (s.left_on IS NULL OR s.left_on > current_date)
  AND EXISTS (SELECT 1 FROM singer me WHERE me.choir_id = s.choir_id AND me.user_id = :uid AND (me.left_on IS NULL OR me.left_on > current_date))
GROUP BY s.voice
ORDER BY s.voice;
--- voices bad 1
SELECT s.voice, count(*) AS singers
FROM singer s
WHERE s.choir_id = :c AND (s.left_on IS NULL OR s.left_on > current_date)
GROUP BY s.voice
ORDER BY s.voice;
--- waive bad 7
WITH w AS (
  UPDATE dues d SET phase = 'waived', waived_by = me.singer_id, waive_note = :note
  FROM singer s, singer me
  WHERE d.dues_id = :dues AND s.singer_id = d.singer_id AND s.choir_id = :choir
    AND me.choir_id = :choir AND me.user_id = :uid AND me.office = 'treasurer'
    AND (me.left_on IS NULL OR me.left_on > current_date)
    AND d.phase = 'open'
  RETURNING d.dues_id
)
INSERT INTO journal (choir_id, user_id, verb, ref)
SELECT :choir, :uid, 'waive', w.dues_id FROM w
RETURNING ref;
--- cancel bad 2
UPDATE rehearsal r
SET cancelled_at = now(), cancelled_by = me.singer_id
FROM singer me
WHERE r.rehearsal_id = :rehearsal AND r.choir_id = :choir AND r.cancelled_at IS NULL
  AND me.choir_id = r.choir_id AND me.user_id = :uid AND me.office = 'conductor'
RETURNING r.rehearsal_id;
--- cancel bad 3
UPDATE rehearsal r
SET cancelled_at = now(), cancelled_by = me.singer_id
FROM singer me
WHERE r.rehearsal_id = :rehearsal AND r.choir_id = :choir AND r.cancelled_at IS NULL
  AND me.choir_id = r.choir_id AND me.user_id = :uid AND me.office <> 'none' AND (me.left_on IS NULL OR me.left_on > current_date)
RETURNING r.rehearsal_id;
--- singers bad 5
SELECT s.singer_id, u.* FROM singer s JOIN app_user u ON u.user_id = s.user_id
WHERE s.choir_id = :choir AND (s.left_on IS NULL OR s.left_on > current_date)
  AND EXISTS (SELECT 1 FROM singer me WHERE me.choir_id = :choir AND me.user_id = :uid AND (me.left_on IS NULL OR me.left_on > current_date))
ORDER BY s.singer_id LIMIT 200;
