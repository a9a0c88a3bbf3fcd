--- desk-board good
SELECT p.id, p.caption, p.state, p.shot_on, p.faces_cleared, d.name AS desk, ph.credit_line,
       held.until AS embargoed_until,
       count(*) OVER (PARTITION BY p.desk_id, p.state) AS in_this_pile
FROM picture p
JOIN desk d          ON d.id = p.desk_id
JOIN photographer ph ON ph.id = p.photographer_id
LEFT JOIN LATERAL (
    SELECT max(e.until) AS until
    FROM embargo e
    WHERE e.picture_id = p.id AND e.lifted_at IS NULL AND e.until > now()
) held ON true
WHERE p.paper_id = my_paper()
  AND my_rank(p.desk_id) IS NOT NULL
  AND p.state IN ('draft', 'filed')
  AND p.deleted_at IS NULL
ORDER BY p.shot_on DESC, p.id DESC
LIMIT LEAST(:page_size::int, 60) OFFSET :skip::int;

--- desk-board good
WITH my_desks AS (
    SELECT k.id, k.name, m.rank
    FROM desk_member m
    JOIN desk k ON k.id = m.desk_id
    WHERE m.staff_id = my_self()
      AND m.during @> now()
      AND k.paper_id = my_paper()
      AND k.dissolved_at IS NULL
      AND (:desk::bigint IS NULL OR k.id = :desk::bigint)
)
SELECT p.id, p.caption, p.state, p.shot_on, p.faces_cleared, md.name AS desk, ph.credit_line,
       md.rank = 'chief' AND p.state = 'filed' AND p.faces_cleared
         AND p.filed_by IS DISTINCT FROM my_self() AS can_release
FROM my_desks md
JOIN picture p       ON p.desk_id = md.id
JOIN photographer ph ON ph.id = p.photographer_id
WHERE p.deleted_at IS NULL
  AND p.state = ANY (ARRAY['draft', 'filed', 'spiked']::picture_state[])
  AND p.id < COALESCE(:before_id::bigint, 9223372036854775807)
ORDER BY p.id DESC
LIMIT 60;

--- desk-board bad 2
WITH my_desks AS (
    SELECT DISTINCT ON (k.id) k.id, k.name, m.rank
    FROM desk_member m
    JOIN desk k ON k.id = m.desk_id
    WHERE m.staff_id = my_self()
      AND k.paper_id = my_paper()
      AND k.dissolved_at IS NULL
      AND (:desk::bigint IS NULL OR k.id = :desk::bigint)
    ORDER BY k.id, lower(m.during) DESC
)
SELECT p.id, p.caption, p.state, p.shot_on, p.faces_cleared, md.name AS desk, ph.credit_line,
       md.rank = 'chief' AND p.state = 'filed' AND p.faces_cleared
         AND p.filed_by IS DISTINCT FROM my_self() AS can_release
FROM my_desks md
JOIN picture p       ON p.desk_id = md.id
JOIN photographer ph ON ph.id = p.photographer_id
WHERE p.deleted_at IS NULL
  AND p.state = ANY (ARRAY['draft', 'filed', 'spiked']::picture_state[])
  AND p.id < COALESCE(:before_id::bigint, 9223372036854775807)
ORDER BY p.id DESC
LIMIT 60;

--- desk-board bad 5
SELECT p.id, COALESCE(nullif(btrim(p.caption), ''), p.source_note, '(no caption yet)') AS caption,
       p.state, p.shot_on, p.faces_cleared, d.name AS desk, ph.credit_line,
       held.until AS embargoed_until,
       count(*) OVER (PARTITION BY p.desk_id, p.state) AS in_this_pile
FROM picture p
JOIN desk d          ON d.id = p.desk_id
JOIN photographer ph ON ph.id = p.photographer_id
LEFT JOIN LATERAL (
    SELECT max(e.until) AS until
    FROM embargo e
    WHERE e.picture_id = p.id AND e.lifted_at IS NULL AND e.until > now()
) held ON true
WHERE p.paper_id = my_paper()
  AND my_rank(p.desk_id) IS NOT NULL
  AND p.state IN ('draft', 'filed')
  AND p.deleted_at IS NULL
ORDER BY p.shot_on DESC, p.id DESC
LIMIT LEAST(:page_size::int, 60) OFFSET :skip::int;

--- desk-board bad 6
SELECT p.id, p.caption, p.state, p.shot_on, p.faces_cleared, d.name AS desk, ph.credit_line,
       held.until AS embargoed_until,
       count(*) OVER (PARTITION BY p.desk_id, p.state) AS in_this_pile
FROM picture p
JOIN desk d          ON d.id = p.desk_id AND d.dissolved_at IS NULL
JOIN photographer ph ON ph.id = p.photographer_id
LEFT JOIN LATERAL (
    SELECT max(e.until) AS until
    FROM embargo e
    WHERE e.picture_id = p.id AND e.lifted_at IS NULL AND e.until > now()
) held ON true
WHERE p.paper_id = my_paper()
  AND my_rank(p.desk_id) IS NOT NULL
  AND (p.state = 'draft' OR p.state = 'filed' AND p.deleted_at IS NULL)
ORDER BY p.shot_on DESC, p.id DESC
LIMIT LEAST(:page_size::int, 60) OFFSET :skip::int;

--- archive-search good
SELECT p.id, p.caption, p.place, p.shot_on, p.state, ph.credit_line, p.preview_key, p.original_key,
       (SELECT count(*) FROM licence l WHERE l.picture_id = p.id AND l.state = 'granted') AS licences_sold
FROM picture p
JOIN photographer ph ON ph.id = p.photographer_id
WHERE p.paper_id = my_paper()
  AND p.deleted_at IS NULL
  AND p.state IN ('released', 'withdrawn')
  AND (NOT embargoed(p.id) OR my_rank(p.desk_id) IS NOT NULL)
  AND (strpos(lower(p.caption), lower(:q)) > 0
       OR strpos(lower(p.place), lower(:q)) > 0
       OR lower(ph.credit_line) = lower(:q))
  AND p.shot_on BETWEEN COALESCE(:from_day::date, '-infinity') AND COALESCE(:to_day::date, 'infinity')
ORDER BY p.shot_on DESC, p.id DESC
LIMIT LEAST(:page_size::int, 60) OFFSET :skip::int;

--- archive-search good
CREATE FUNCTION search_archive(p_q text, p_order text, p_limit int)
RETURNS TABLE (id bigint, caption text, place text, shot_on date, credit_line text, preview_key text)
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_column text := CASE p_order WHEN 'place' THEN 'place' WHEN 'caption' THEN 'caption' ELSE 'shot_on' END;
BEGIN
    RETURN QUERY EXECUTE format($q$
        SELECT p.id, p.caption, p.place, p.shot_on, ph.credit_line, p.preview_key
        FROM picture p
        JOIN photographer ph ON ph.id = p.photographer_id
        WHERE p.paper_id = my_paper()
          AND p.deleted_at IS NULL
          AND p.state IN ('released', 'withdrawn')
          AND (my_rank(p.desk_id) IS NOT NULL
               OR NOT EXISTS (SELECT 1 FROM embargo e
                              WHERE e.picture_id = p.id AND e.lifted_at IS NULL AND e.until > now()))
          AND p.caption ILIKE '%%' || $1 || '%%' ESCAPE '!'
        ORDER BY p.%I, p.id
        LIMIT $2 $q$, v_column)
    USING replace(replace(replace(p_q, '!', '!!'), '%', '!%'), '_', '!_'),
          LEAST(COALESCE(p_limit, 20), 60);
END $$;

--- archive-search bad 13
CREATE FUNCTION search_archive(p_q text, p_order text, p_limit int)
RETURNS TABLE (id bigint, caption text, place text, shot_on date, credit_line text, preview_key text)
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_order text := COALESCE(nullif(p_order, ''), 'shot_on');
BEGIN
    RETURN QUERY EXECUTE format($q$
        SELECT p.id, p.caption, p.place, p.shot_on, ph.credit_line, p.preview_key
        FROM picture p
        JOIN photographer ph ON ph.id = p.photographer_id
        WHERE p.paper_id = my_paper()
          AND p.deleted_at IS NULL
          AND p.state IN ('released', 'withdrawn')
          AND (my_rank(p.desk_id) IS NOT NULL
               OR NOT EXISTS (SELECT 1 FROM embargo e
                              WHERE e.picture_id = p.id AND e.lifted_at IS NULL AND e.until > now()))
          AND p.caption ILIKE '%%' || $1 || '%%' ESCAPE '!'
        ORDER BY p.%s, p.id
        LIMIT $2 $q$, v_order)
    USING replace(replace(replace(p_q, '!', '!!'), '%', '!%'), '_', '!_'),
          LEAST(COALESCE(p_limit, 20), 60);
END $$;

--- archive-search bad 3
SELECT p.id, p.caption, p.place, p.shot_on, p.state, ph.credit_line, p.preview_key, p.original_key,
       (SELECT count(*) FROM licence l WHERE l.picture_id = p.id AND l.state = 'granted') AS licences_sold
FROM picture p
JOIN photographer ph ON ph.id = p.photographer_id
LEFT JOIN LATERAL (
    SELECT e.until, e.lifted_at
    FROM embargo e
    WHERE e.picture_id = p.id
    ORDER BY e.id DESC
    LIMIT 1
) em ON true
WHERE p.paper_id = my_paper()
  AND p.deleted_at IS NULL
  AND p.state IN ('released', 'withdrawn')
  AND (em.until IS NULL OR em.until <= now() OR em.lifted_at IS NOT NULL OR my_rank(p.desk_id) IS NOT NULL)
  AND (strpos(lower(p.caption), lower(:q)) > 0
       OR strpos(lower(p.place), lower(:q)) > 0)
  AND p.shot_on BETWEEN COALESCE(:from_day::date, '-infinity') AND COALESCE(:to_day::date, 'infinity')
ORDER BY p.shot_on DESC, p.id DESC
LIMIT LEAST(:page_size::int, 60) OFFSET :skip::int;

--- archive-search bad 2
SELECT p.id, p.caption, p.place, p.shot_on, p.state, ph.credit_line, p.preview_key,
       (SELECT count(*) FROM licence l WHERE l.picture_id = p.id AND l.state = 'granted') AS licences_sold
FROM picture p
JOIN photographer ph ON ph.id = p.photographer_id
WHERE p.paper_id = my_paper()
  AND p.deleted_at IS NULL
  AND p.state NOT IN ('draft', 'spiked')
  AND (NOT embargoed(p.id) OR my_rank(p.desk_id) IS NOT NULL)
  AND (strpos(lower(p.caption), lower(:q)) > 0
       OR strpos(lower(p.place), lower(:q)) > 0
       OR lower(ph.credit_line) = lower(:q))
  AND p.shot_on BETWEEN COALESCE(:from_day::date, '-infinity') AND COALESCE(:to_day::date, 'infinity')
ORDER BY p.shot_on DESC, p.id DESC
LIMIT LEAST(:page_size::int, 60) OFFSET :skip::int;

--- exchange-window good
SELECT p.id, p.caption, ph.credit_line, p.shot_on, p.preview_key, o.name AS paper
FROM picture p
JOIN paper o         ON o.id = p.paper_id
JOIN photographer ph ON ph.id = p.photographer_id
WHERE my_self() IS NOT NULL
  AND p.paper_id <> my_paper()
  AND p.state = 'released'
  AND p.deleted_at IS NULL
  AND p.offered_from <= now()
  AND NOT embargoed(p.id)
  AND (:owner::bigint IS NULL OR p.paper_id = :owner::bigint)
ORDER BY p.offered_from DESC, p.id DESC
LIMIT LEAST(GREATEST(COALESCE(:page_size::int, 30), 1), 60) OFFSET GREATEST(:skip::int, 0);

--- exchange-window good
WITH running AS (
    SELECT DISTINCT e.picture_id FROM embargo e WHERE e.lifted_at IS NULL AND e.until > now()
), on_offer AS (
    SELECT p.id, p.caption, p.photographer_id, p.shot_on, p.preview_key, p.paper_id,
           row_number() OVER (PARTITION BY p.paper_id ORDER BY p.offered_from DESC, p.id DESC) AS nth
    FROM picture p
    LEFT JOIN running r ON r.picture_id = p.id
    WHERE r.picture_id IS NULL
      AND p.offered_from IS NOT NULL AND p.offered_from <= now()
      AND p.state = 'released'
      AND p.deleted_at IS NULL
)
SELECT f.id, f.caption, ph.credit_line, f.shot_on, f.preview_key, o.name AS paper
FROM on_offer f
JOIN paper o         ON o.id = f.paper_id
JOIN photographer ph ON ph.id = f.photographer_id
WHERE f.nth <= 8
  AND EXISTS (SELECT 1 FROM staff s WHERE s.id = my_self() AND s.paper_id = my_paper())
ORDER BY o.name, f.nth, f.id
FETCH FIRST 60 ROWS ONLY;

--- exchange-window bad 1
SELECT p.id, p.caption, ph.credit_line, p.shot_on, p.preview_key, o.name AS paper
FROM picture p
JOIN paper o         ON o.id = p.paper_id
JOIN photographer ph ON ph.id = p.photographer_id
WHERE my_self() IS NOT NULL
  AND p.paper_id <> my_paper()
  AND p.state = 'released'
  AND p.deleted_at IS NULL
  AND p.offered_from IS NOT NULL
  AND NOT embargoed(p.id)
  AND (:owner::bigint IS NULL OR p.paper_id = :owner::bigint)
ORDER BY p.offered_from DESC, p.id DESC
LIMIT LEAST(GREATEST(COALESCE(:page_size::int, 30), 1), 60) OFFSET GREATEST(:skip::int, 0);

--- exchange-window bad 3
WITH running AS (
    SELECT DISTINCT e.picture_id FROM embargo e WHERE e.lifted_at IS NULL AND e.until::date > current_date
), on_offer AS (
    SELECT p.id, p.caption, p.photographer_id, p.shot_on, p.preview_key, p.paper_id,
           row_number() OVER (PARTITION BY p.paper_id ORDER BY p.offered_from DESC, p.id DESC) AS nth
    FROM picture p
    LEFT JOIN running r ON r.picture_id = p.id
    WHERE r.picture_id IS NULL
      AND p.offered_from IS NOT NULL AND p.offered_from <= now()
      AND p.state = 'released'
      AND p.deleted_at IS NULL
)
SELECT f.id, f.caption, ph.credit_line, f.shot_on, f.preview_key, o.name AS paper
FROM on_offer f
JOIN paper o         ON o.id = f.paper_id
JOIN photographer ph ON ph.id = f.photographer_id
WHERE f.nth <= 8
  AND EXISTS (SELECT 1 FROM staff s WHERE s.id = my_self() AND s.paper_id = my_paper())
ORDER BY o.name, f.nth, f.id
FETCH FIRST 60 ROWS ONLY;

--- exchange-window bad 7
WITH on_offer AS (
    SELECT p.id, p.caption, p.photographer_id, p.shot_on, p.preview_key, p.paper_id,
           row_number() OVER (PARTITION BY p.paper_id ORDER BY p.offered_from DESC, p.id DESC) AS nth
    FROM picture p
    WHERE p.offered_from <= now()
      AND p.state = 'released'
      AND p.deleted_at IS NULL
      AND NOT embargoed(p.id)
)
SELECT f.id, f.caption, ph.credit_line, f.shot_on, f.preview_key, o.name AS paper
FROM on_offer f
JOIN paper o         ON o.id = f.paper_id
JOIN photographer ph ON ph.id = f.photographer_id
WHERE f.nth <= LEAST(:per_paper::int, 60)
  AND my_self() IS NOT NULL
ORDER BY o.name, f.nth, f.id;

--- licences-held good
SELECT l.id, l.channel, l.during, l.state, l.max_uses - u.used AS uses_left,
       p.id AS picture_id, o.name AS owner,
       CASE WHEN NOT x.held THEN p.caption END     AS caption,
       CASE WHEN NOT x.held THEN ph.credit_line END AS credit_line,
       CASE WHEN NOT x.held THEN p.preview_key END AS preview_key,
       CASE WHEN NOT x.held
             AND l.state = 'granted'
             AND l.during @> paper_today()
             AND u.used < l.max_uses
            THEN p.original_key END AS original_key
FROM licence l
JOIN picture p       ON p.id = l.picture_id AND p.deleted_at IS NULL
JOIN paper o         ON o.id = p.paper_id
JOIN photographer ph ON ph.id = p.photographer_id
CROSS JOIN LATERAL (SELECT count(*) AS used FROM licence_use lu WHERE lu.licence_id = l.id) u
CROSS JOIN LATERAL (SELECT embargoed(p.id) AS held) x
WHERE l.to_paper = my_paper()
ORDER BY upper(l.during), l.id
LIMIT LEAST(:page_size::int, 60) OFFSET :skip::int;

--- licences-held good
WITH spent AS (
    SELECT lu.licence_id, count(*) AS used, max(lu.used_at) AS last_used
    FROM licence_use lu
    JOIN licence l ON l.id = lu.licence_id AND l.to_paper = my_paper()
    GROUP BY lu.licence_id
)
SELECT l.id, l.channel, upper(l.during) - paper_today() AS days_left,
       l.max_uses - COALESCE(s.used, 0) AS uses_left, s.last_used,
       p.id AS picture_id, p.caption, ph.credit_line, p.shot_on, p.original_key
FROM licence l
JOIN picture p       ON p.id = l.picture_id
JOIN photographer ph ON ph.id = p.photographer_id
LEFT JOIN spent s    ON s.licence_id = l.id
WHERE l.to_paper = my_paper()
  AND l.state = 'granted'
  AND paper_today() <@ l.during
  AND COALESCE(s.used, 0) < l.max_uses
  AND p.deleted_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM embargo e
                  WHERE e.picture_id = p.id AND e.lifted_at IS NULL AND e.until > now())
  AND l.id > COALESCE(:after_id::bigint, 0)
ORDER BY l.id
LIMIT 60;

--- licences-held bad 4
SELECT l.id, l.channel, l.during, l.state, l.max_uses - u.used AS uses_left,
       p.id AS picture_id, o.name AS owner,
       CASE WHEN NOT x.held THEN p.caption END     AS caption,
       CASE WHEN NOT x.held THEN ph.credit_line END AS credit_line,
       CASE WHEN NOT x.held THEN p.preview_key END AS preview_key,
       CASE WHEN NOT x.held
             AND l.state = 'granted'
             AND upper(l.during) > paper_today()
             AND u.used < l.max_uses
            THEN p.original_key END AS original_key
FROM licence l
JOIN picture p       ON p.id = l.picture_id AND p.deleted_at IS NULL
JOIN paper o         ON o.id = p.paper_id
JOIN photographer ph ON ph.id = p.photographer_id
CROSS JOIN LATERAL (SELECT count(*) AS used FROM licence_use lu WHERE lu.licence_id = l.id) u
CROSS JOIN LATERAL (SELECT embargoed(p.id) AS held) x
WHERE l.to_paper = my_paper()
ORDER BY upper(l.during), l.id
LIMIT LEAST(:page_size::int, 60) OFFSET :skip::int;

--- licences-held bad 3
WITH spent AS (
    SELECT lu.licence_id, count(*) AS used, max(lu.used_at) AS last_used
    FROM licence_use lu
    JOIN licence l ON l.id = lu.licence_id AND l.to_paper = my_paper()
    GROUP BY lu.licence_id
)
SELECT l.id, l.channel, upper(l.during) - paper_today() AS days_left,
       l.max_uses - COALESCE(s.used, 0) AS uses_left, s.last_used,
       p.id AS picture_id, p.caption, ph.credit_line, p.shot_on, p.original_key
FROM licence l
JOIN picture p       ON p.id = l.picture_id
JOIN photographer ph ON ph.id = p.photographer_id
LEFT JOIN spent s    ON s.licence_id = l.id
WHERE l.to_paper = my_paper()
  AND l.state = 'granted'
  AND paper_today() <@ l.during
  AND COALESCE(s.used, 0) < l.max_uses
  AND p.deleted_at IS NULL
  AND l.id > COALESCE(:after_id::bigint, 0)
ORDER BY l.id
LIMIT LEAST(:page_size::int, 60);

--- licences-held bad 1
SELECT l.id, l.channel, l.during, l.state, l.max_uses - u.used AS uses_left,
       p.id AS picture_id, o.name AS owner,
       CASE WHEN NOT x.held THEN p.caption END     AS caption,
       CASE WHEN NOT x.held THEN ph.credit_line END AS credit_line,
       CASE WHEN NOT x.held THEN p.preview_key END AS preview_key,
       (SELECT jsonb_agg(jsonb_build_object('to', t.name, 'days', other.during, 'uses', other.max_uses) ORDER BY other.id)
          FROM licence other
          JOIN paper t ON t.id = other.to_paper
         WHERE other.picture_id = l.picture_id
           AND other.id <> l.id
           AND other.channel = l.channel
           AND other.during && l.during
           AND other.state = 'granted') AS also_running_in
FROM licence l
JOIN picture p       ON p.id = l.picture_id AND p.deleted_at IS NULL
JOIN paper o         ON o.id = p.paper_id
JOIN photographer ph ON ph.id = p.photographer_id
CROSS JOIN LATERAL (SELECT count(*) AS used FROM licence_use lu WHERE lu.licence_id = l.id) u
CROSS JOIN LATERAL (SELECT embargoed(p.id) AS held) x
WHERE l.to_paper = my_paper()
ORDER BY upper(l.during), l.id
LIMIT LEAST(:page_size::int, 60) OFFSET :skip::int;

--- royalty-statement good
SELECT r.id, r.booked_at, r.amount, r.paid_at, pa.name AS paper, p.id AS picture_id,
       CASE WHEN p.deleted_at IS NULL THEN p.caption END AS caption,
       CASE WHEN p.deleted_at IS NULL THEN p.shot_on END AS shot_on,
       sum(r.amount) OVER (ORDER BY r.booked_at, r.id) AS running_total
FROM royalty r
JOIN sale s    ON s.id = r.sale_id
JOIN licence l ON l.id = s.licence_id
JOIN picture p ON p.id = l.picture_id
JOIN paper pa  ON pa.id = r.paper_id
WHERE r.photographer_id = my_photographer()
  AND (:paper::bigint IS NULL OR r.paper_id = :paper::bigint)
ORDER BY r.booked_at DESC, r.id DESC
LIMIT LEAST(:page_size::int, 60) OFFSET :skip::int;

--- royalty-statement good
WITH mine AS (
    SELECT r.id, r.paper_id, r.amount, r.paid_at, date_trunc('month', r.booked_at AT TIME ZONE pa.tz)::date AS month,
           pa.name AS paper, p.id AS picture_id, p.caption, p.deleted_at
    FROM royalty r
    JOIN paper pa  ON pa.id = r.paper_id
    JOIN sale s    ON s.id = r.sale_id
    JOIN licence l ON l.id = s.licence_id
    JOIN picture p ON p.id = l.picture_id
    WHERE r.photographer_id = my_photographer()
)
SELECT m.month, m.paper_id, m.paper, count(*) AS bookings, sum(m.amount) AS earned,
       COALESCE(sum(m.amount) FILTER (WHERE m.paid_at IS NULL), 0) AS still_open,
       array_agg(DISTINCT m.picture_id) AS pictures,
       string_agg(DISTINCT m.caption, ' / ') FILTER (WHERE m.deleted_at IS NULL) AS captions
FROM mine m
GROUP BY m.month, m.paper_id, m.paper
ORDER BY m.month DESC, m.paper_id
LIMIT 36;

--- royalty-statement bad 10
SELECT r.id, r.booked_at, r.amount, r.paid_at, pa.name AS paper, p.id AS picture_id,
       CASE WHEN p.deleted_at IS NULL THEN p.caption END AS caption,
       round(100 * r.amount / nullif(s.price, 0), 1) AS percent,
       sum(r.amount) OVER (ORDER BY r.booked_at, r.id) AS running_total
FROM royalty r
JOIN sale s    ON s.id = r.sale_id
JOIN licence l ON l.id = s.licence_id
JOIN picture p ON p.id = l.picture_id
JOIN paper pa  ON pa.id = r.paper_id
WHERE r.photographer_id = my_photographer()
  AND (:paper::bigint IS NULL OR r.paper_id = :paper::bigint)
ORDER BY r.booked_at DESC, r.id DESC
LIMIT LEAST(:page_size::int, 60) OFFSET :skip::int;

--- royalty-statement bad 6
WITH mine AS (
    SELECT r.id, r.paper_id, r.amount, r.paid_at, date_trunc('month', r.booked_at AT TIME ZONE pa.tz)::date AS month,
           pa.name AS paper, p.id AS picture_id, p.caption
    FROM royalty r
    JOIN paper pa  ON pa.id = r.paper_id
    JOIN sale s    ON s.id = r.sale_id
    JOIN licence l ON l.id = s.licence_id
    JOIN picture p ON p.id = l.picture_id
    WHERE r.photographer_id = my_photographer()
)
SELECT m.month, m.paper_id, m.paper, count(*) AS bookings, sum(m.amount) AS earned,
       COALESCE(sum(m.amount) FILTER (WHERE m.paid_at IS NULL), 0) AS still_open,
       array_agg(DISTINCT m.picture_id) AS pictures,
       string_agg(DISTINCT m.caption, ' / ') AS captions
FROM mine m
GROUP BY m.month, m.paper_id, m.paper
ORDER BY m.month DESC, m.paper_id
LIMIT 36;

--- royalty-statement bad 10
WITH totals AS (
    SELECT r.photographer_id, r.paper_id, date_trunc('month', r.booked_at AT TIME ZONE pa.tz)::date AS month,
           count(*) AS bookings, sum(r.amount) AS earned
    FROM royalty r
    JOIN paper pa ON pa.id = r.paper_id
    GROUP BY 1, 2, 3
), placed AS (
    SELECT t.*, max(t.earned) OVER w AS best_of_month,
           rank() OVER (w ORDER BY t.earned DESC) AS place
    FROM totals t
    WINDOW w AS (PARTITION BY t.paper_id, t.month)
)
SELECT k.month, k.paper_id, pa.name AS paper, k.bookings, k.earned, k.place, k.best_of_month
FROM placed k
JOIN paper pa ON pa.id = k.paper_id
WHERE k.photographer_id = my_photographer()
ORDER BY k.month DESC, k.paper_id
LIMIT 36;

--- open-link good
UPDATE link k
SET views = k.views + 1
FROM picture p
JOIN paper o         ON o.id = p.paper_id
JOIN photographer ph ON ph.id = p.photographer_id
WHERE k.token_hash = sha256(convert_to(:token, 'UTF8'))
  AND k.expires_at > now()
  AND k.revoked_at IS NULL
  AND k.views < k.max_views
  AND p.id = k.picture_id
  AND p.state = 'released'
  AND p.deleted_at IS NULL
  AND NOT embargoed(p.id)
RETURNING p.id, p.caption, ph.credit_line, p.shot_on, p.preview_key, o.name AS paper;

--- open-link good
CREATE FUNCTION open_link(p_token text)
RETURNS TABLE (id bigint, caption text, credit_line text, shot_on date, preview_key text)
LANGUAGE plpgsql AS $$
DECLARE
    k link%ROWTYPE;
BEGIN
    SELECT * INTO k FROM link
    WHERE token_hash = sha256(convert_to(p_token, 'UTF8'))
    FOR UPDATE;
    IF NOT FOUND OR k.revoked_at IS NOT NULL OR k.expires_at <= clock_timestamp() OR k.views >= k.max_views THEN
        RETURN;
    END IF;

    RETURN QUERY
    SELECT p.id, p.caption, ph.credit_line, p.shot_on, p.preview_key
    FROM picture p
    JOIN photographer ph ON ph.id = p.photographer_id
    WHERE p.id = k.picture_id
      AND p.state = 'released'
      AND p.deleted_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM embargo e
                      WHERE e.picture_id = p.id AND e.lifted_at IS NULL AND e.until > now());
    IF FOUND THEN
        UPDATE link SET views = views + 1 WHERE link.id = k.id;
    END IF;
END $$;

--- open-link bad 12
CREATE FUNCTION open_link(p_token text)
RETURNS TABLE (id bigint, caption text, credit_line text, shot_on date, preview_key text)
LANGUAGE plpgsql AS $$
DECLARE
    k link%ROWTYPE;
BEGIN
    SELECT * INTO k FROM link
    WHERE token_hash = sha256(convert_to(p_token, 'UTF8'));
    IF NOT FOUND OR k.revoked_at IS NOT NULL OR k.expires_at <= clock_timestamp() OR k.views >= k.max_views THEN
        RETURN;
    END IF;

    RETURN QUERY
    SELECT p.id, p.caption, ph.credit_line, p.shot_on, p.preview_key
    FROM picture p
    JOIN photographer ph ON ph.id = p.photographer_id
    WHERE p.id = k.picture_id
      AND p.state = 'released'
      AND p.deleted_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM embargo e
                      WHERE e.picture_id = p.id AND e.lifted_at IS NULL AND e.until > now());
    IF FOUND THEN
        UPDATE link SET views = views + 1 WHERE link.id = k.id;
    END IF;
END $$;

--- open-link bad 11
WITH opened AS (
    UPDATE link k
    SET views = k.views + 1
    WHERE k.token_hash = sha256(convert_to(:token, 'UTF8'))
      AND k.expires_at > now()
      AND k.revoked_at IS NULL
      AND k.views < k.max_views
    RETURNING k.picture_id, k.max_views - k.views AS left_over
)
SELECT p.id, p.caption, ph.credit_line, p.shot_on, p.preview_key, o.name AS paper
FROM opened k
JOIN picture p       ON p.id = k.picture_id
JOIN paper o         ON o.id = p.paper_id
JOIN photographer ph ON ph.id = p.photographer_id
WHERE p.state = 'released'
  AND p.deleted_at IS NULL
  AND NOT embargoed(p.id);

--- open-link bad 3
UPDATE link k
SET views = k.views + 1
FROM picture p
JOIN paper o         ON o.id = p.paper_id
JOIN photographer ph ON ph.id = p.photographer_id
LEFT JOIN embargo e  ON e.picture_id = p.id
WHERE k.token_hash = sha256(convert_to(:token, 'UTF8'))
  AND k.expires_at > now()
  AND k.revoked_at IS NULL
  AND k.views < k.max_views
  AND p.id = k.picture_id
  AND p.state = 'released'
  AND p.deleted_at IS NULL
  AND (e.id IS NULL OR e.lifted_at IS NOT NULL OR e.until <= now())
RETURNING p.id, p.caption, ph.credit_line, p.shot_on, p.preview_key, o.name AS paper;

--- record-use good
BEGIN;
SELECT l.id, l.max_uses
FROM licence l
JOIN picture p ON p.id = l.picture_id AND p.deleted_at IS NULL
WHERE l.id = :licence
  AND l.to_paper = my_paper()
FOR UPDATE OF l;

WITH used AS (
    INSERT INTO licence_use (licence_id, staff_id, page_label)
    SELECT l.id, my_self(), left(:page_label::text, 80)
    FROM licence l
    JOIN picture p ON p.id = l.picture_id
    WHERE l.id = :licence
      AND l.to_paper = my_paper()
      AND l.state = 'granted'
      AND l.during @> paper_today()
      AND p.deleted_at IS NULL
      AND NOT embargoed(p.id)
      AND (SELECT count(*) FROM licence_use lu WHERE lu.licence_id = l.id) < l.max_uses
    RETURNING id, licence_id
)
SELECT u.id AS use_id, p.original_key, ph.credit_line
FROM used u
JOIN licence l       ON l.id = u.licence_id
JOIN picture p       ON p.id = l.picture_id
JOIN photographer ph ON ph.id = p.photographer_id;
COMMIT;

--- record-use good
CREATE FUNCTION use_picture(p_licence bigint, p_page text)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    l      licence%ROWTYPE;
    v_key  text;
    v_used bigint;
BEGIN
    SELECT * INTO l FROM licence WHERE id = p_licence AND to_paper = my_paper() FOR UPDATE;
    IF NOT FOUND OR l.state <> 'granted' OR NOT l.during @> paper_today() THEN
        RAISE EXCEPTION 'no such thing';
    END IF;

    SELECT count(*) INTO v_used FROM licence_use u WHERE u.licence_id = l.id;
    IF v_used >= l.max_uses THEN
        RAISE EXCEPTION 'no such thing';
    END IF;

    SELECT p.original_key INTO v_key
    FROM picture p
    WHERE p.id = l.picture_id AND p.deleted_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM embargo e
                      WHERE e.picture_id = p.id AND e.until > now() AND e.lifted_at IS NULL);
    IF v_key IS NULL THEN
        RAISE EXCEPTION 'no such thing';
    END IF;

    INSERT INTO licence_use (licence_id, staff_id, page_label) VALUES (l.id, my_self(), p_page);
    RETURN v_key;
END $$;

--- record-use bad 12
WITH mine AS (
    SELECT l.id, l.picture_id, l.max_uses
    FROM licence l
    WHERE l.id = :licence
      AND l.to_paper = my_paper()
      AND l.state = 'granted'
      AND l.during @> paper_today()
    FOR UPDATE
), used AS (
    INSERT INTO licence_use (licence_id, staff_id, page_label)
    SELECT m.id, my_self(), left(:page_label::text, 80)
    FROM mine m
    JOIN picture p ON p.id = m.picture_id
    WHERE p.deleted_at IS NULL
      AND NOT embargoed(p.id)
      AND (SELECT count(*) FROM licence_use lu WHERE lu.licence_id = m.id) < m.max_uses
    RETURNING id, licence_id
)
SELECT u.id AS use_id, p.original_key, ph.credit_line
FROM used u
JOIN mine m          ON m.id = u.licence_id
JOIN picture p       ON p.id = m.picture_id
JOIN photographer ph ON ph.id = p.photographer_id;

--- record-use bad 4
BEGIN;
SELECT l.id, l.max_uses
FROM licence l
JOIN picture p ON p.id = l.picture_id AND p.deleted_at IS NULL
WHERE l.id = :licence
  AND l.to_paper = my_paper()
FOR UPDATE OF l;

WITH used AS (
    INSERT INTO licence_use (licence_id, staff_id, page_label)
    SELECT l.id, my_self(), left(:page_label::text, 80)
    FROM licence l
    JOIN picture p ON p.id = l.picture_id
    WHERE l.id = :licence
      AND l.to_paper = my_paper()
      AND l.state = 'granted'
      AND l.during @> paper_today()
      AND p.deleted_at IS NULL
      AND NOT embargoed(p.id)
      AND (SELECT count(*) FROM licence_use lu
           WHERE lu.licence_id = l.id AND lu.staff_id = my_self()) < l.max_uses
    RETURNING id, licence_id
)
SELECT u.id AS use_id, p.original_key, ph.credit_line
FROM used u
JOIN licence l       ON l.id = u.licence_id
JOIN picture p       ON p.id = l.picture_id
JOIN photographer ph ON ph.id = p.photographer_id;
COMMIT;

--- record-use bad 3
CREATE FUNCTION use_picture(p_licence bigint, p_page text)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    l      licence%ROWTYPE;
    v_key  text;
    v_used bigint;
BEGIN
    SELECT * INTO l FROM licence WHERE id = p_licence AND to_paper = my_paper() FOR UPDATE;
    IF NOT FOUND OR l.state <> 'granted' OR NOT l.during @> paper_today() THEN
        RAISE EXCEPTION 'no such thing';
    END IF;

    SELECT count(*) INTO v_used FROM licence_use u WHERE u.licence_id = l.id;
    IF v_used >= l.max_uses THEN
        RAISE EXCEPTION 'no such thing';
    END IF;

    SELECT p.original_key INTO v_key
    FROM picture p
    WHERE p.id = l.picture_id AND p.deleted_at IS NULL
      AND p.state IN ('released', 'withdrawn');
    IF v_key IS NULL THEN
        RAISE EXCEPTION 'no such thing';
    END IF;

    INSERT INTO licence_use (licence_id, staff_id, page_label) VALUES (l.id, my_self(), p_page);
    RETURN v_key;
END $$;

--- release-picture good
UPDATE picture p
SET state = 'released', released_by = my_self(), released_at = now()
WHERE p.id = ANY (:pictures::bigint[])
  AND p.paper_id = my_paper()
  AND my_rank(p.desk_id) = 'chief'
  AND p.state = 'filed'
  AND p.faces_cleared
  AND p.filed_by IS DISTINCT FROM my_self()
  AND p.deleted_at IS NULL
RETURNING p.id, p.caption, p.released_at;

--- release-picture good
CREATE FUNCTION release_picture(p_picture bigint, p_offer boolean)
RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE
    v picture%ROWTYPE;
BEGIN
    SELECT p.* INTO v
    FROM picture p
    JOIN desk_member m ON m.desk_id = p.desk_id
    JOIN desk k        ON k.id = m.desk_id
    WHERE p.id = p_picture
      AND p.deleted_at IS NULL
      AND m.staff_id = my_self()
      AND m.rank = 'chief'
      AND now() <@ m.during
      AND k.dissolved_at IS NULL
      AND k.paper_id = my_paper()
    FOR UPDATE OF p;

    IF NOT FOUND OR v.state <> 'filed' OR NOT v.faces_cleared OR v.filed_by IS NOT DISTINCT FROM my_self() THEN
        RAISE EXCEPTION 'no such thing';
    END IF;

    UPDATE picture
    SET state = 'released', released_by = my_self(), released_at = now(),
        offered_from = CASE WHEN p_offer THEN now() + interval '1 hour' ELSE offered_from END
    WHERE id = v.id;
    RETURN now();
END $$;

--- release-picture bad 2
WITH chiefed AS (
    SELECT m.desk_id
    FROM desk_member m
    JOIN desk k ON k.id = m.desk_id
    WHERE m.staff_id = my_self()
      AND m.during @> now()
      AND m.rank = 'chief'
      AND k.paper_id = my_paper()
      AND k.dissolved_at IS NULL
)
UPDATE picture p
SET state = 'released', released_by = my_self(), released_at = now()
WHERE p.id = ANY (:pictures::bigint[])
  AND p.paper_id = my_paper()
  AND my_rank(p.desk_id) IS NOT NULL
  AND EXISTS (SELECT 1 FROM chiefed)
  AND p.state = 'filed'
  AND p.faces_cleared
  AND p.filed_by IS DISTINCT FROM my_self()
  AND p.deleted_at IS NULL
RETURNING p.id, p.caption, p.released_at;

--- release-picture bad 8
UPDATE picture p
SET state = 'released', released_by = my_self(), released_at = now()
WHERE p.id = ANY (:pictures::bigint[])
  AND p.paper_id = my_paper()
  AND my_rank(p.desk_id) = 'chief'
  AND (p.state = 'filed' OR p.state = 'withdrawn' AND p.released_by IS NOT NULL)
  AND p.faces_cleared
  AND p.filed_by IS DISTINCT FROM my_self()
  AND p.deleted_at IS NULL
RETURNING p.id, p.caption, p.released_at;

--- release-picture bad 8
CREATE FUNCTION release_picture(p_picture bigint, p_offer boolean)
RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE
    v picture%ROWTYPE;
BEGIN
    SELECT p.* INTO v
    FROM picture p
    JOIN desk_member m ON m.desk_id = p.desk_id
    JOIN desk k        ON k.id = m.desk_id
    WHERE p.id = p_picture
      AND p.deleted_at IS NULL
      AND m.staff_id = my_self()
      AND m.rank = 'chief'
      AND now() <@ m.during
      AND k.dissolved_at IS NULL
      AND k.paper_id = my_paper()
    FOR UPDATE OF p;

    IF NOT FOUND OR v.state <> 'filed' OR (p_offer AND NOT v.faces_cleared)
       OR v.filed_by IS NOT DISTINCT FROM my_self() THEN
        RAISE EXCEPTION 'no such thing';
    END IF;

    UPDATE picture
    SET state = 'released', released_by = my_self(), released_at = now(),
        offered_from = CASE WHEN p_offer THEN now() + interval '1 hour' ELSE offered_from END
    WHERE id = v.id;
    RETURN now();
END $$;

--- invoice-sale good
WITH billed AS (
    UPDATE sale s
    SET state = 'invoiced', invoiced_by = my_self(), invoiced_at = now()
    FROM licence l
    JOIN picture p  ON p.id = l.picture_id
    JOIN contract c ON c.photographer_id = p.photographer_id AND c.paper_id = p.paper_id
    WHERE s.id = :sale
      AND l.id = s.licence_id
      AND l.state = 'granted'
      AND p.paper_id = my_paper()
      AND p.deleted_at IS NULL
      AND my_rank(p.desk_id) IN ('editor', 'chief')
      AND c.cancelled_at IS NULL
      AND c.during @> paper_today()
      AND s.state = 'prepared'
      AND s.prepared_by <> my_self()
    RETURNING s.id, p.photographer_id, p.paper_id, round(s.price * c.share, 2) AS due
), booked AS (
    INSERT INTO royalty (sale_id, photographer_id, paper_id, amount)
    SELECT b.id, b.photographer_id, b.paper_id, b.due FROM billed b
    RETURNING id, sale_id, amount
)
SELECT b.sale_id, b.id AS royalty_id, b.amount FROM booked b;

--- invoice-sale good
CREATE FUNCTION invoice_sale(p_sale bigint)
RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    s       sale%ROWTYPE;
    v_pic   picture%ROWTYPE;
    v_share numeric;
BEGIN
    SELECT sa.* INTO s FROM sale sa WHERE sa.id = p_sale FOR UPDATE;
    IF NOT FOUND OR s.state <> 'prepared' OR s.prepared_by = my_self() THEN
        RAISE EXCEPTION 'no such thing';
    END IF;

    SELECT p.* INTO v_pic
    FROM licence l
    JOIN picture p ON p.id = l.picture_id
    WHERE l.id = s.licence_id
      AND l.state = 'granted'
      AND p.deleted_at IS NULL
      AND p.paper_id = my_paper();
    IF NOT FOUND OR COALESCE(my_rank(v_pic.desk_id), 'contributor') = 'contributor' THEN
        RAISE EXCEPTION 'no such thing';
    END IF;

    SELECT c.share INTO v_share
    FROM contract c
    WHERE c.paper_id = v_pic.paper_id
      AND c.photographer_id = v_pic.photographer_id
      AND c.cancelled_at IS NULL
      AND paper_today() <@ c.during;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such thing';
    END IF;

    UPDATE sale SET state = 'invoiced', invoiced_by = my_self(), invoiced_at = now() WHERE id = s.id;
    INSERT INTO royalty (sale_id, photographer_id, paper_id, amount)
    VALUES (s.id, v_pic.photographer_id, v_pic.paper_id, round(s.price * v_share, 2));
    RETURN round(s.price * v_share, 2);
END $$;

--- invoice-sale bad 12
BEGIN;
WITH ready AS (
    SELECT s.id, p.photographer_id, p.paper_id, round(s.price * c.share, 2) AS due
    FROM sale s
    JOIN licence l  ON l.id = s.licence_id AND l.state = 'granted'
    JOIN picture p  ON p.id = l.picture_id AND p.deleted_at IS NULL
    JOIN contract c ON c.photographer_id = p.photographer_id AND c.paper_id = p.paper_id
    WHERE s.id = :sale
      AND p.paper_id = my_paper()
      AND my_rank(p.desk_id) IN ('editor', 'chief')
      AND c.cancelled_at IS NULL
      AND c.during @> paper_today()
      AND s.state = 'prepared'
      AND s.prepared_by <> my_self()
      AND NOT EXISTS (SELECT 1 FROM royalty r WHERE r.sale_id = s.id)
), booked AS (
    INSERT INTO royalty (sale_id, photographer_id, paper_id, amount)
    SELECT b.id, b.photographer_id, b.paper_id, b.due FROM ready b
    RETURNING id, sale_id, amount
), billed AS (
    UPDATE sale s
    SET state = 'invoiced', invoiced_by = my_self(), invoiced_at = now()
    FROM ready b
    WHERE s.id = b.id
    RETURNING s.id
)
SELECT k.sale_id, k.id AS royalty_id, k.amount FROM booked k JOIN billed b ON b.id = k.sale_id;
COMMIT;

--- invoice-sale bad 9
WITH billed AS (
    UPDATE sale s
    SET state = 'invoiced', invoiced_by = my_self(), invoiced_at = now()
    FROM licence l
    JOIN picture p  ON p.id = l.picture_id
    JOIN contract c ON c.photographer_id = p.photographer_id AND c.paper_id = p.paper_id
    WHERE s.id = :sale
      AND l.id = s.licence_id
      AND l.state = 'granted'
      AND p.paper_id = my_paper()
      AND p.deleted_at IS NULL
      AND my_rank(p.desk_id) IN ('editor', 'chief')
      AND c.cancelled_at IS NULL
      AND c.during @> p.shot_on
      AND s.state = 'prepared'
      AND s.prepared_by <> my_self()
    RETURNING s.id, p.photographer_id, p.paper_id, round(s.price * c.share, 2) AS due
), booked AS (
    INSERT INTO royalty (sale_id, photographer_id, paper_id, amount)
    SELECT b.id, b.photographer_id, b.paper_id, b.due FROM billed b
    RETURNING id, sale_id, amount
)
SELECT b.sale_id, b.id AS royalty_id, b.amount FROM booked b;

--- invoice-sale bad 2
CREATE FUNCTION invoice_sale(p_sale bigint)
RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    s       sale%ROWTYPE;
    v_pic   picture%ROWTYPE;
    v_share numeric;
BEGIN
    SELECT sa.* INTO s FROM sale sa WHERE sa.id = p_sale FOR UPDATE;
    IF NOT FOUND OR s.state <> 'prepared' OR s.prepared_by = my_self() THEN
        RAISE EXCEPTION 'no such thing';
    END IF;

    SELECT p.* INTO v_pic
    FROM licence l
    JOIN picture p ON p.id = l.picture_id
    WHERE l.id = s.licence_id
      AND l.state = 'granted'
      AND p.deleted_at IS NULL
      AND p.paper_id = my_paper();
    IF NOT FOUND OR my_rank(v_pic.desk_id) = 'contributor' THEN
        RAISE EXCEPTION 'no such thing';
    END IF;

    SELECT c.share INTO v_share
    FROM contract c
    WHERE c.paper_id = v_pic.paper_id
      AND c.photographer_id = v_pic.photographer_id
      AND c.cancelled_at IS NULL
      AND paper_today() <@ c.during;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such thing';
    END IF;

    UPDATE sale SET state = 'invoiced', invoiced_by = my_self(), invoiced_at = now() WHERE id = s.id;
    INSERT INTO royalty (sale_id, photographer_id, paper_id, amount)
    VALUES (s.id, v_pic.photographer_id, v_pic.paper_id, round(s.price * v_share, 2));
    RETURN round(s.price * v_share, 2);
END $$;

--- lift-embargo good
UPDATE embargo e
SET lifted_at = now(), lifted_by = my_self()
FROM picture p
WHERE e.id = :embargo
  AND p.id = e.picture_id
  AND p.paper_id = my_paper()
  AND p.deleted_at IS NULL
  AND my_rank(p.desk_id) = 'chief'
  AND e.set_by <> my_self()
  AND e.lifted_at IS NULL
  AND e.until > now()
RETURNING e.id, e.picture_id, e.lifted_at;

--- lift-embargo good
CREATE FUNCTION lift_embargoes(p_picture bigint)
RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    v_desk  bigint;
    v_count int;
BEGIN
    SELECT p.desk_id INTO v_desk
    FROM picture p
    JOIN desk k ON k.id = p.desk_id
    WHERE p.id = p_picture AND k.paper_id = my_paper() AND p.deleted_at IS NULL
    FOR SHARE OF p;
    IF NOT FOUND OR my_rank(v_desk) IS DISTINCT FROM 'chief' THEN
        RAISE EXCEPTION 'no such thing';
    END IF;

    PERFORM 1 FROM embargo e
    WHERE e.picture_id = p_picture AND e.lifted_at IS NULL AND e.until > now() AND e.set_by = my_self();
    IF FOUND THEN
        RAISE EXCEPTION 'no such thing';
    END IF;

    UPDATE embargo e
    SET lifted_at = now(), lifted_by = my_self()
    WHERE e.picture_id = p_picture
      AND e.lifted_at IS NULL
      AND e.until > now()
      AND e.set_by <> my_self();
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;

--- lift-embargo bad 2
UPDATE embargo e
SET lifted_at = now(), lifted_by = my_self()
FROM picture p
JOIN desk k ON k.id = :desk
WHERE e.id = :embargo
  AND p.id = e.picture_id
  AND p.paper_id = k.paper_id
  AND p.paper_id = my_paper()
  AND p.deleted_at IS NULL
  AND my_rank(k.id) = 'chief'
  AND e.set_by <> my_self()
  AND e.lifted_at IS NULL
  AND e.until > now()
RETURNING e.id, e.picture_id, e.lifted_at;

--- lift-embargo bad 3
CREATE FUNCTION lift_embargoes(p_picture bigint)
RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    v_desk  bigint;
    v_count int;
BEGIN
    SELECT p.desk_id INTO v_desk
    FROM picture p
    JOIN desk k ON k.id = p.desk_id
    WHERE p.id = p_picture AND k.paper_id = my_paper() AND p.deleted_at IS NULL
    FOR SHARE OF p;
    IF NOT FOUND OR my_rank(v_desk) IS DISTINCT FROM 'chief' THEN
        RAISE EXCEPTION 'no such thing';
    END IF;

    PERFORM 1 FROM embargo e
    WHERE e.picture_id = p_picture AND e.lifted_at IS NULL AND e.until > now() AND e.set_by <> my_self();
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such thing';
    END IF;

    UPDATE embargo e
    SET lifted_at = now(), lifted_by = my_self()
    WHERE e.picture_id = p_picture
      AND e.lifted_at IS NULL
      AND e.until > now();
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;

--- lift-embargo bad 5
WITH lifted AS (
    UPDATE embargo e
    SET lifted_at = now(), lifted_by = my_self()
    FROM picture p
    WHERE e.id = :embargo
      AND p.id = e.picture_id
      AND p.paper_id = my_paper()
      AND p.deleted_at IS NULL
      AND my_rank(p.desk_id) = 'chief'
      AND e.set_by <> my_self()
      AND e.lifted_at IS NULL
      AND e.until > now()
    RETURNING e.id, e.lifted_at, to_jsonb(p) - ARRAY['source_note', 'original_key', 'deleted_at'] AS picture
)
SELECT l.id, l.lifted_at, l.picture,
       (SELECT count(*) - 1 FROM embargo o
         WHERE o.picture_id = (l.picture ->> 'id')::bigint AND o.lifted_at IS NULL AND o.until > now()) AS still_running
FROM lifted l;

--- grant-licence good
BEGIN;
SELECT p.id
FROM picture p
JOIN licence l ON l.picture_id = p.id
WHERE l.id = :licence
  AND p.paper_id = my_paper()
  AND p.deleted_at IS NULL
  AND my_rank(p.desk_id) >= 'editor'
FOR UPDATE OF p;

UPDATE licence l
SET state = 'granted', decided_by = my_self(), decided_at = now()
FROM picture p
WHERE l.id = :licence
  AND l.state = 'requested'
  AND p.id = l.picture_id
  AND p.paper_id = my_paper()
  AND my_rank(p.desk_id) >= 'editor'
  AND p.state = 'released'
  AND p.deleted_at IS NULL
  AND NOT embargoed(p.id)
  AND NOT EXISTS (
        SELECT 1 FROM licence o
        WHERE o.picture_id = l.picture_id
          AND o.id <> l.id
          AND o.channel = l.channel
          AND o.state = 'granted'
          AND o.during && l.during
          AND (o.exclusive OR l.exclusive))
RETURNING l.id, l.to_paper, l.channel, l.during;
COMMIT;

--- grant-licence good
CREATE FUNCTION grant_licence(p_licence bigint)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_pic picture%ROWTYPE;
    l     licence%ROWTYPE;
BEGIN
    SELECT p.* INTO v_pic
    FROM picture p
    WHERE p.id = (SELECT picture_id FROM licence WHERE id = p_licence)
      AND p.paper_id = my_paper()
    FOR UPDATE;
    IF NOT FOUND
       OR v_pic.deleted_at IS NOT NULL
       OR v_pic.state <> 'released'
       OR embargoed(v_pic.id)
       OR COALESCE(my_rank(v_pic.desk_id) NOT IN ('editor', 'chief'), true) THEN
        RETURN false;
    END IF;

    SELECT * INTO l FROM licence WHERE id = p_licence FOR UPDATE;
    IF l.state <> 'requested' THEN
        RETURN false;
    END IF;

    PERFORM 1
    FROM licence o
    WHERE o.picture_id = v_pic.id
      AND o.channel = l.channel
      AND o.state = 'granted'
      AND o.during && l.during
      AND (l.exclusive OR o.exclusive);
    IF FOUND THEN
        RETURN false;
    END IF;

    UPDATE licence SET state = 'granted', decided_by = my_self(), decided_at = now() WHERE id = l.id;
    RETURN true;
END $$;

--- grant-licence bad 4
BEGIN;
SELECT p.id
FROM picture p
JOIN licence l ON l.picture_id = p.id
WHERE l.id = :licence
  AND p.paper_id = my_paper()
  AND p.deleted_at IS NULL
  AND my_rank(p.desk_id) >= 'editor'
FOR UPDATE OF p;

UPDATE licence l
SET state = 'granted', decided_by = my_self(), decided_at = now()
FROM picture p
WHERE l.id = :licence
  AND l.state = 'requested'
  AND p.id = l.picture_id
  AND p.paper_id = my_paper()
  AND my_rank(p.desk_id) >= 'editor'
  AND p.state = 'released'
  AND p.deleted_at IS NULL
  AND NOT embargoed(p.id)
  AND NOT EXISTS (
        SELECT 1 FROM licence o
        WHERE o.picture_id = l.picture_id
          AND o.id <> l.id
          AND o.channel = l.channel
          AND o.state = 'granted'
          AND o.during && l.during
          AND o.exclusive)
RETURNING l.id, l.to_paper, l.channel, l.during;
COMMIT;

--- grant-licence bad 12
UPDATE licence l
SET state = 'granted', decided_by = my_self(), decided_at = now()
FROM picture p
WHERE l.id = :licence
  AND l.state = 'requested'
  AND p.id = l.picture_id
  AND p.paper_id = my_paper()
  AND my_rank(p.desk_id) >= 'editor'
  AND p.state = 'released'
  AND p.deleted_at IS NULL
  AND NOT embargoed(p.id)
  AND NOT EXISTS (
        SELECT 1 FROM licence o
        WHERE o.picture_id = l.picture_id
          AND o.id <> l.id
          AND o.channel = l.channel
          AND o.state = 'granted'
          AND o.during && l.during
          AND (o.exclusive OR l.exclusive))
RETURNING l.id, l.to_paper, l.channel, l.during;

--- grant-licence bad 4
CREATE FUNCTION grant_licence(p_licence bigint)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_pic picture%ROWTYPE;
    l     licence%ROWTYPE;
BEGIN
    SELECT p.* INTO v_pic
    FROM picture p
    WHERE p.id = (SELECT picture_id FROM licence WHERE id = p_licence)
      AND p.paper_id = my_paper()
    FOR UPDATE;
    IF NOT FOUND
       OR v_pic.deleted_at IS NOT NULL
       OR v_pic.state <> 'released'
       OR embargoed(v_pic.id)
       OR COALESCE(my_rank(v_pic.desk_id) NOT IN ('editor', 'chief'), true) THEN
        RETURN false;
    END IF;

    SELECT * INTO l FROM licence WHERE id = p_licence FOR UPDATE;
    IF l.state IN ('granted', 'revoked') THEN
        RETURN false;
    END IF;

    PERFORM 1
    FROM licence o
    WHERE o.picture_id = v_pic.id
      AND o.channel = l.channel
      AND o.state = 'granted'
      AND o.during && l.during
      AND (l.exclusive OR o.exclusive);
    IF FOUND THEN
        RETURN false;
    END IF;

    UPDATE licence SET state = 'granted', decided_by = my_self(), decided_at = now() WHERE id = l.id;
    RETURN true;
END $$;
