--- my-loans good
SELECT l.id,
       t.name        AS title,
       t.author,
       p.full_name   AS borrower,
       l.due_at,
       l.due_at < now() AS overdue,
       3 - l.renewals AS renewals_left
FROM loans l
JOIN patrons p ON p.id = l.patron_id AND p.deleted_at IS NULL
JOIN items i   ON i.id = l.item_id
JOIN titles t  ON t.id = i.title_id
WHERE l.library_id = :session_library
  AND l.returned_at IS NULL
  AND (l.patron_id = :session_patron OR guards(:session_patron, l.patron_id))
ORDER BY l.due_at, l.id
LIMIT LEAST(:page_size::int, 100)
OFFSET :page_offset::int;
--- my-loans good
WITH household AS (
  SELECT p.id, p.full_name, 0 AS rank
  FROM patrons p
  WHERE p.id = :session_patron
    AND p.library_id = :session_library
    AND p.deleted_at IS NULL
  UNION ALL
  SELECT c.id, c.full_name, 1
  FROM guardianships g
  JOIN patrons c ON c.id = g.child_id
  WHERE g.guardian_id = :session_patron
    AND g.confirmed_at IS NOT NULL
    AND g.revoked_at IS NULL
    AND (g.expires_at IS NULL OR g.expires_at > now())
    AND c.library_id = :session_library
    AND c.deleted_at IS NULL
    AND c.birth_date + interval '16 years' > local_today(:session_library)
)
SELECT m.full_name AS borrower,
       l.id        AS loan_id,
       t.name      AS title,
       l.due_at,
       row_number() OVER (PARTITION BY m.id ORDER BY l.due_at, l.id) AS position
FROM household m
JOIN loans l  ON l.patron_id = m.id AND l.library_id = :session_library AND l.returned_at IS NULL
JOIN items i  ON i.id = l.item_id
JOIN titles t ON t.id = i.title_id
WHERE (l.due_at, l.id) > (:after_due::timestamptz, :after_id::bigint)
ORDER BY l.due_at, l.id
FETCH FIRST 50 ROWS ONLY;
--- my-loans bad 4
WITH household AS (
  SELECT p.id, p.full_name, 0 AS rank
  FROM patrons p
  WHERE p.id = :session_patron
    AND p.library_id = :session_library
    AND p.deleted_at IS NULL
  UNION ALL
  SELECT c.id, c.full_name, 1
  FROM guardianships g
  JOIN patrons c ON c.id = g.child_id
  WHERE g.guardian_id = :session_patron
    AND g.confirmed_at IS NOT NULL
    AND g.revoked_at IS NULL
    AND c.library_id = :session_library
    AND c.deleted_at IS NULL
    AND c.birth_date + interval '16 years' > local_today(:session_library)
)
SELECT m.full_name AS borrower,
       l.id        AS loan_id,
       t.name      AS title,
       l.due_at,
       row_number() OVER (PARTITION BY m.id ORDER BY l.due_at, l.id) AS position
FROM household m
JOIN loans l  ON l.patron_id = m.id AND l.library_id = :session_library AND l.returned_at IS NULL
JOIN items i  ON i.id = l.item_id
JOIN titles t ON t.id = i.title_id
ORDER BY l.due_at, l.id
FETCH FIRST 50 ROWS ONLY;
--- my-loans bad 4,5
SELECT l.id,
       t.name        AS title,
       t.author,
       p.full_name   AS borrower,
       l.due_at,
       l.returned_at,
       CASE WHEN l.returned_at IS NULL THEN 3 - l.renewals END AS renewals_left
FROM loans l
JOIN patrons p ON p.id = l.patron_id AND p.deleted_at IS NULL
JOIN items i   ON i.id = l.item_id
JOIN titles t  ON t.id = i.title_id
WHERE l.library_id = :session_library
  AND (l.returned_at IS NULL OR p.history_opt_in)
  AND (l.patron_id = :session_patron OR guards(:session_patron, l.patron_id))
ORDER BY l.returned_at NULLS FIRST, l.due_at, l.id
LIMIT LEAST(:page_size::int, 100)
OFFSET :page_offset::int;
--- my-loans bad 8
SELECT l.id,
       t.name        AS title,
       t.author,
       p.full_name   AS borrower,
       l.due_at,
       l.due_at < now() AS overdue,
       count(*) OVER (PARTITION BY l.patron_id) AS on_this_card
FROM loans l
JOIN patrons p ON p.id = l.patron_id AND p.deleted_at IS NULL
JOIN items i   ON i.id = l.item_id
JOIN titles t  ON t.id = i.title_id
WHERE l.library_id = :session_library
  AND l.returned_at IS NULL
  AND (l.patron_id = :session_patron OR guards(:session_patron, l.patron_id))
ORDER BY l.due_at, l.id
LIMIT GREATEST(:page_size::int, 1)
OFFSET GREATEST(:page_offset::int, 0);
--- union-availability good
SELECT t.id   AS title_id,
       t.name AS title,
       t.author,
       lib.name AS library,
       b.name   AS branch,
       count(*) AS copies
FROM items i
JOIN branches b    ON b.id = i.branch_id AND b.deleted_at IS NULL
JOIN libraries lib ON lib.id = i.library_id
JOIN titles t      ON t.id = i.title_id
WHERE i.status = 'available'
  AND i.deleted_at IS NULL
  AND t.name ILIKE '%' || :words || '%'
  AND (i.library_id = :session_library
       OR EXISTS (SELECT 1
                  FROM reciprocal_agreements ra
                  WHERE ra.lending_library_id = i.library_id
                    AND ra.borrowing_library_id = :session_library
                    AND ra.valid @> now()
                    AND ra.suspended_at IS NULL))
GROUP BY t.id, lib.id, b.id
ORDER BY t.name, lib.name, t.id, lib.id, b.id
LIMIT LEAST(:page_size::int, 100);
--- union-availability good
WITH reach AS (
  SELECT CAST(:session_library AS bigint) AS library_id
  UNION
  SELECT ra.lending_library_id
  FROM reciprocal_agreements ra
  WHERE ra.borrowing_library_id = :session_library
    AND ra.suspended_at IS NULL
    AND now() <@ ra.valid
), wanted AS (
  SELECT t.id, t.name, t.author, t.published_in
  FROM titles t
  WHERE t.name ILIKE :words || '%'
     OR t.author ILIKE :words || '%'
)
SELECT w.name, w.author, w.published_in,
       sum(s.copies) AS copies,
       jsonb_agg(jsonb_build_object('library', s.library, 'copies', s.copies)
                 ORDER BY s.copies DESC, s.library_id) AS spread
FROM wanted w
CROSS JOIN LATERAL (
  SELECT r.library_id, lib.name AS library, count(*) AS copies
  FROM reach r
  JOIN libraries lib ON lib.id = r.library_id
  JOIN items i       ON i.library_id = r.library_id AND i.title_id = w.id
  JOIN branches b    ON b.id = i.branch_id
  WHERE i.status = 'available'
    AND i.deleted_at IS NULL
    AND b.deleted_at IS NULL
  GROUP BY r.library_id, lib.name
) s
GROUP BY w.id, w.name, w.author, w.published_in
ORDER BY w.name, w.author, w.published_in, w.id
LIMIT 40;
--- union-availability bad 1,2
WITH reach AS (
  SELECT CAST(:session_library AS bigint) AS library_id
  UNION
  SELECT ra.borrowing_library_id
  FROM reciprocal_agreements ra
  WHERE ra.lending_library_id = :session_library
    AND ra.suspended_at IS NULL
    AND ra.valid @> now()
)
SELECT t.id   AS title_id,
       t.name AS title,
       t.author,
       lib.name AS library,
       b.name   AS branch,
       count(*) AS copies
FROM reach r
JOIN items i       ON i.library_id = r.library_id
JOIN branches b    ON b.id = i.branch_id AND b.deleted_at IS NULL
JOIN libraries lib ON lib.id = r.library_id
JOIN titles t      ON t.id = i.title_id
WHERE i.status = 'available'
  AND i.deleted_at IS NULL
  AND t.name ILIKE '%' || :words || '%'
GROUP BY t.id, lib.id, b.id
ORDER BY t.name, lib.name, t.id, lib.id, b.id
LIMIT LEAST(:page_size::int, 100);
--- union-availability bad 2,7
WITH reach AS (
  SELECT CAST(:session_library AS bigint) AS library_id
  UNION
  SELECT ra.lending_library_id
  FROM reciprocal_agreements ra
  WHERE ra.borrowing_library_id = :session_library
    AND ra.suspended_at IS NULL
    AND ra.valid @> now()
)
SELECT t.id, t.name, t.author,
       lib.name AS library,
       count(*) FILTER (WHERE i.status = 'available') AS copies,
       count(DISTINCT b.id) FILTER (WHERE i.status = 'available') AS at_branches
FROM reach r
JOIN libraries lib ON lib.id = r.library_id
JOIN items i       ON i.library_id = r.library_id
JOIN branches b    ON b.id = i.branch_id AND b.deleted_at IS NULL
JOIN titles t      ON t.id = i.title_id
WHERE t.name ILIKE '%' || :words || '%'
GROUP BY t.id, lib.id
HAVING count(*) FILTER (WHERE i.status = 'available') > 0
ORDER BY copies DESC, t.id, lib.id
LIMIT LEAST(:page_size::int, 100);
--- union-availability bad 13
SELECT t.id   AS title_id,
       t.name AS title,
       t.author,
       lib.name AS library,
       b.name   AS branch,
       count(*) AS copies
FROM items i
JOIN branches b    ON b.id = i.branch_id AND b.deleted_at IS NULL
JOIN libraries lib ON lib.id = i.library_id
JOIN titles t      ON t.id = i.title_id
WHERE i.status = 'available'
  AND i.deleted_at IS NULL
  AND to_tsvector('simple', t.name || ' ' || coalesce(t.author, '')) @@ to_tsquery('simple', '${words}:*')
  AND (i.library_id = :session_library
       OR EXISTS (SELECT 1
                  FROM reciprocal_agreements ra
                  WHERE ra.lending_library_id = i.library_id
                    AND ra.borrowing_library_id = :session_library
                    AND ra.valid @> now()
                    AND ra.suspended_at IS NULL))
GROUP BY t.id, lib.id, b.id
ORDER BY t.name, lib.name, t.id, lib.id, b.id
LIMIT LEAST(:page_size::int, 100);
--- union-availability bad 1,2
WITH reach AS (
  SELECT CAST(:session_library AS bigint) AS library_id
  UNION
  SELECT ra.lending_library_id
  FROM reciprocal_agreements ra
  WHERE ra.borrowing_library_id = :session_library
    AND ra.suspended_at IS NULL
    AND ra.valid @> now()
)
SELECT t.name, t.author, lib.name AS library,
       count(*) FILTER (WHERE i.status = 'available') AS copies,
       string_agg(i.barcode, ' ' ORDER BY i.barcode) FILTER (WHERE i.status = 'available') AS request_slip
FROM reach r
JOIN libraries lib ON lib.id = r.library_id
JOIN items i       ON i.library_id = r.library_id AND i.deleted_at IS NULL
JOIN branches b    ON b.id = i.branch_id AND b.deleted_at IS NULL
JOIN titles t      ON t.id = i.title_id
WHERE t.name ILIKE '%' || :words || '%'
GROUP BY t.id, lib.id
ORDER BY copies DESC, t.id, lib.id
LIMIT LEAST(:page_size::int, 100);
--- overdue-contacts good
SELECT l.id AS loan_id,
       p.full_name,
       t.name AS title,
       i.barcode,
       l.due_at,
       local_today(:session_library) - (l.due_at AT TIME ZONE lib.time_zone)::date AS days_late,
       CASE WHEN posted(:session_staff, p.home_branch_id, '{circulation,supervisor}')
            THEN coalesce(p.email, p.phone) END AS contact
FROM loans l
JOIN libraries lib ON lib.id = l.library_id
JOIN patrons p     ON p.id = l.patron_id AND p.deleted_at IS NULL
JOIN items i       ON i.id = l.item_id
JOIN titles t      ON t.id = i.title_id
WHERE l.library_id = :session_library
  AND l.returned_at IS NULL
  AND l.due_at < now()
  AND posted(:session_staff, l.branch_id, '{circulation,supervisor}')
ORDER BY l.due_at, l.id
LIMIT LEAST(:page_size::int, 100);
--- overdue-contacts good
WITH mine AS (
  SELECT DISTINCT sp.branch_id
  FROM staff_postings sp
  JOIN staff s    ON s.id = sp.staff_id
  JOIN branches b ON b.id = sp.branch_id
  WHERE sp.staff_id = :session_staff
    AND sp.role IN ('circulation', 'supervisor')
    AND sp.revoked_at IS NULL
    AND sp.valid_from <= now()
    AND (sp.valid_until IS NULL OR sp.valid_until > now())
    AND s.deactivated_at IS NULL
    AND b.deleted_at IS NULL
    AND b.library_id = :session_library
), late AS (
  SELECT l.patron_id,
         count(*)      AS items_late,
         min(l.due_at) AS since,
         string_agg(t.name, '; ' ORDER BY l.due_at, l.id) AS titles
  FROM loans l
  JOIN mine m   ON m.branch_id = l.branch_id
  JOIN items i  ON i.id = l.item_id
  JOIN titles t ON t.id = i.title_id
  WHERE l.library_id = :session_library
    AND l.returned_at IS NULL
    AND l.due_at < now()
  GROUP BY l.patron_id
)
SELECT p.id, p.full_name, late.items_late, late.since, late.titles,
       CASE WHEN h.branch_id IS NOT NULL THEN p.phone END AS phone,
       CASE WHEN h.branch_id IS NOT NULL THEN p.email END AS email
FROM late
JOIN patrons p   ON p.id = late.patron_id
LEFT JOIN mine h ON h.branch_id = p.home_branch_id
WHERE p.deleted_at IS NULL
ORDER BY late.since, p.id
LIMIT 100;
--- overdue-contacts bad 6
SELECT p.id, p.full_name, p.phone, p.email,
       count(*)      AS items_late,
       min(l.due_at) AS since,
       string_agg(t.name, '; ' ORDER BY l.due_at, l.id) AS titles
FROM loans l
JOIN patrons p ON p.id = l.patron_id AND p.deleted_at IS NULL
JOIN items i   ON i.id = l.item_id
JOIN titles t  ON t.id = i.title_id
WHERE l.library_id = :session_library
  AND l.returned_at IS NULL
  AND l.due_at < now()
  AND posted(:session_staff, l.branch_id, '{circulation,supervisor}')
GROUP BY p.id
ORDER BY since, p.id
LIMIT 100;
--- overdue-contacts bad 3
WITH mine AS (
  SELECT DISTINCT sp.branch_id
  FROM staff_postings sp
  JOIN staff s    ON s.id = sp.staff_id AND s.deactivated_at IS NULL
  JOIN branches b ON b.id = sp.branch_id AND b.deleted_at IS NULL
  WHERE sp.staff_id = :session_staff
    AND sp.role IN ('circulation', 'supervisor')
    AND now() BETWEEN sp.valid_from AND coalesce(sp.valid_until, 'infinity')
    AND b.library_id = :session_library
)
SELECT l.id AS loan_id,
       p.full_name,
       t.name AS title,
       i.barcode,
       l.due_at,
       CASE WHEN posted(:session_staff, p.home_branch_id, '{circulation,supervisor}')
            THEN p.phone END AS phone
FROM loans l
JOIN mine m    ON m.branch_id = l.branch_id
JOIN patrons p ON p.id = l.patron_id AND p.deleted_at IS NULL
JOIN items i   ON i.id = l.item_id
JOIN titles t  ON t.id = i.title_id
WHERE l.library_id = :session_library
  AND l.returned_at IS NULL
  AND l.due_at < now()
ORDER BY l.due_at, l.id
LIMIT LEAST(:page_size::int, 100);
--- overdue-contacts bad 5
SELECT l.id AS loan_id,
       p.full_name,
       t.name AS title,
       i.barcode,
       l.due_at,
       coalesce(l.returned_at, now()) - l.due_at AS late_by,
       CASE WHEN posted(:session_staff, p.home_branch_id, '{circulation,supervisor}')
            THEN coalesce(p.email, p.phone) END AS contact
FROM loans l
JOIN patrons p ON p.id = l.patron_id AND p.deleted_at IS NULL
JOIN items i   ON i.id = l.item_id
JOIN titles t  ON t.id = i.title_id
WHERE l.library_id = :session_library
  AND l.due_at < coalesce(l.returned_at, now())
  AND posted(:session_staff, l.branch_id, '{circulation,supervisor}')
ORDER BY late_by DESC, l.id
LIMIT LEAST(:page_size::int, 100);
--- hold-shelf good
SELECT h.id AS hold_id,
       p.full_name,
       t.name AS title,
       i.barcode,
       h.ready_until AT TIME ZONE lib.time_zone AS collect_by,
       (SELECT count(*)
        FROM holds q
        JOIN patrons qp ON qp.id = q.patron_id AND qp.deleted_at IS NULL
        WHERE q.library_id = h.library_id
          AND q.title_id = h.title_id
          AND q.pickup_branch_id = h.pickup_branch_id
          AND q.status = 'queued'
          AND q.deleted_at IS NULL) AS waiting_here
FROM holds h
JOIN libraries lib ON lib.id = h.library_id
JOIN patrons p     ON p.id = h.patron_id AND p.deleted_at IS NULL
JOIN titles t      ON t.id = h.title_id
LEFT JOIN items i  ON i.id = h.item_id
WHERE h.library_id = :session_library
  AND h.pickup_branch_id = :branch_id
  AND h.status = 'ready'
  AND h.deleted_at IS NULL
  AND posted(:session_staff, h.pickup_branch_id, '{circulation,supervisor}')
ORDER BY h.ready_until, h.id
LIMIT LEAST(:page_size::int, 100);
--- hold-shelf good
WITH shelf AS (
  SELECT h.id, h.patron_id, h.pickup_branch_id, h.ready_until, t.name AS title, p.full_name
  FROM holds h
  JOIN patrons p ON p.id = h.patron_id
  JOIN titles t  ON t.id = h.title_id
  WHERE h.library_id = :session_library
    AND h.deleted_at IS NULL
    AND p.deleted_at IS NULL
    AND h.status = 'ready'
    AND EXISTS (SELECT 1
                FROM staff_postings sp
                JOIN staff s    ON s.id = sp.staff_id AND s.deactivated_at IS NULL
                JOIN branches b ON b.id = sp.branch_id
                               AND b.deleted_at IS NULL
                               AND b.library_id = :session_library
                WHERE sp.staff_id = :session_staff
                  AND sp.branch_id = h.pickup_branch_id
                  AND sp.role IN ('circulation', 'supervisor')
                  AND sp.revoked_at IS NULL
                  AND sp.valid_from <= now()
                  AND coalesce(sp.valid_until > now(), true))
)
SELECT s.pickup_branch_id,
       s.patron_id,
       s.full_name,
       count(*)                                              AS parcels,
       array_agg(s.title ORDER BY s.ready_until, s.id)       AS titles,
       min(s.ready_until)                                    AS first_deadline,
       count(*) FILTER (WHERE s.ready_until <= now())        AS lapsed
FROM shelf s
GROUP BY s.pickup_branch_id, s.patron_id, s.full_name
ORDER BY s.full_name, s.pickup_branch_id, s.patron_id
LIMIT 100 OFFSET :page_offset::int;
--- hold-shelf bad 5
SELECT h.id AS hold_id,
       p.full_name,
       t.name AS title,
       i.barcode,
       h.status,
       h.ready_until AT TIME ZONE lib.time_zone AS collect_by
FROM holds h
JOIN libraries lib ON lib.id = h.library_id
JOIN patrons p     ON p.id = h.patron_id AND p.deleted_at IS NULL
JOIN titles t      ON t.id = h.title_id
LEFT JOIN items i  ON i.id = h.item_id
WHERE h.library_id = :session_library
  AND h.pickup_branch_id = :branch_id
  AND h.status NOT IN ('queued', 'cancelled', 'expired')
  AND h.ready_until > now() - interval '2 days'
  AND h.deleted_at IS NULL
  AND posted(:session_staff, h.pickup_branch_id, '{circulation,supervisor}')
ORDER BY h.ready_until, h.id
LIMIT LEAST(:page_size::int, 100);
--- hold-shelf bad 3
SELECT h.id AS hold_id,
       p.full_name,
       t.name AS title,
       i.barcode,
       h.ready_until,
       row_number() OVER (PARTITION BY h.pickup_branch_id ORDER BY p.full_name, h.id) AS slot
FROM holds h
JOIN patrons p    ON p.id = h.patron_id AND p.deleted_at IS NULL
JOIN titles t     ON t.id = h.title_id
LEFT JOIN items i ON i.id = h.item_id
WHERE h.library_id = :session_library
  AND h.pickup_branch_id = :branch_id
  AND h.status = 'ready'
  AND h.deleted_at IS NULL
  AND posted(:session_staff, h.pickup_branch_id, '{page,circulation,supervisor}')
ORDER BY slot, h.id
LIMIT LEAST(:page_size::int, 100);
--- hold-shelf bad 7
SELECT h.pickup_branch_id,
       p.id AS patron_id,
       p.full_name,
       count(*)                                        AS parcels,
       array_agg(t.name ORDER BY h.ready_until, h.id)  AS titles,
       min(h.ready_until)                              AS first_deadline
FROM holds h
JOIN patrons p ON p.id = h.patron_id
JOIN titles t  ON t.id = h.title_id
WHERE h.library_id = :session_library
  AND h.status = 'ready'
  AND h.deleted_at IS NULL
  AND posted(:session_staff, h.pickup_branch_id, '{circulation,supervisor}')
GROUP BY h.pickup_branch_id, p.id
ORDER BY p.full_name, h.pickup_branch_id, p.id
LIMIT 100 OFFSET :page_offset::int;
--- hold-shelf bad 8
SELECT x.hold_id, x.branch, x.full_name, x.title, x.ready_until
FROM (
  SELECT h.id   AS hold_id,
         b.name AS branch,
         p.full_name,
         t.name AS title,
         h.ready_until,
         row_number() OVER (PARTITION BY h.pickup_branch_id ORDER BY h.ready_until, h.id) AS n
  FROM holds h
  JOIN branches b ON b.id = h.pickup_branch_id AND b.deleted_at IS NULL
  JOIN patrons p  ON p.id = h.patron_id AND p.deleted_at IS NULL
  JOIN titles t   ON t.id = h.title_id
  WHERE h.library_id = :session_library
    AND h.status = 'ready'
    AND h.deleted_at IS NULL
    AND posted(:session_staff, h.pickup_branch_id, '{circulation,supervisor}')
) x
WHERE x.n <= LEAST(:page_size::int, 100)
ORDER BY x.branch, x.n, x.hold_id;
--- patron-search good
SELECT p.id,
       p.full_name,
       p.card_number,
       p.email,
       p.phone,
       b.name AS home_branch,
       (p.blocked_at IS NULL AND p.card_expires_on >= local_today(:session_library)) AS may_borrow,
       (SELECT count(*)
        FROM loans l
        WHERE l.patron_id = p.id
          AND l.library_id = :session_library
          AND l.returned_at IS NULL
          AND posted(:session_staff, l.branch_id, '{circulation,supervisor}')) AS on_loan
FROM patrons p
JOIN branches b ON b.id = p.home_branch_id
WHERE p.library_id = :session_library
  AND p.deleted_at IS NULL
  AND posted(:session_staff, p.home_branch_id, '{circulation,supervisor}')
  AND (p.full_name ILIKE '%' || :q || '%' OR p.card_number = :q)
ORDER BY CASE :sort WHEN 'card' THEN p.card_number
                    WHEN 'branch' THEN b.name
                    ELSE p.full_name END,
         p.id
LIMIT LEAST(:page_size::int, 100);
--- patron-search good
CREATE OR REPLACE FUNCTION search_patrons(
  p_session_library bigint, p_session_staff bigint,
  p_name text, p_sort text, p_descending boolean, p_page int)
RETURNS TABLE (id bigint, full_name text, card_number text, card_expires_on date, blocked boolean)
LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_column text;
  v_dir    text := CASE WHEN p_descending THEN 'DESC' ELSE 'ASC' END;
BEGIN
  v_column := CASE p_sort
                WHEN 'card'    THEN 'card_number'
                WHEN 'expires' THEN 'card_expires_on'
                ELSE 'full_name'
              END;
  RETURN QUERY EXECUTE format(
    'SELECT p.id, p.full_name, p.card_number, p.card_expires_on, p.blocked_at IS NOT NULL
     FROM patrons p
     WHERE p.library_id = $1
       AND p.deleted_at IS NULL
       AND p.full_name ILIKE ''%%'' || $3 || ''%%''
       AND posted($2, p.home_branch_id, ''{circulation,supervisor}'')
     ORDER BY p.%I %s, p.id
     LIMIT 25 OFFSET 25 * GREATEST($4, 0)', v_column, v_dir)
  USING p_session_library, p_session_staff, p_name, p_page;
END
$$;
--- patron-search bad 13
CREATE OR REPLACE FUNCTION search_patrons(
  p_session_library bigint, p_session_staff bigint,
  p_name text, p_sort text, p_descending boolean, p_page int)
RETURNS TABLE (id bigint, full_name text, card_number text, card_expires_on date, blocked boolean)
LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_order text := coalesce(nullif(p_sort, ''), 'full_name');
BEGIN
  IF p_descending THEN
    v_order := v_order || ' DESC';
  END IF;
  RETURN QUERY EXECUTE
    'SELECT p.id, p.full_name, p.card_number, p.card_expires_on, p.blocked_at IS NOT NULL
     FROM patrons p
     WHERE p.library_id = $1
       AND p.deleted_at IS NULL
       AND p.full_name ILIKE ''%'' || $3 || ''%''
       AND posted($2, p.home_branch_id, ''{circulation,supervisor}'')
     ORDER BY p.' || v_order || ', p.id
     LIMIT 25 OFFSET 25 * GREATEST($4, 0)'
  USING p_session_library, p_session_staff, p_name, p_page;
END
$$;
--- patron-search bad 6
SELECT p.id,
       (to_jsonb(p) - 'pin_hash' - 'deleted_at')
         || jsonb_build_object(
              'home_branch', b.name,
              'may_borrow', p.blocked_at IS NULL AND p.card_expires_on >= local_today(:session_library)
            ) AS record
FROM patrons p
JOIN branches b ON b.id = p.home_branch_id
WHERE p.library_id = :session_library
  AND p.deleted_at IS NULL
  AND posted(:session_staff, p.home_branch_id, '{circulation,supervisor}')
  AND (p.full_name ILIKE '%' || :q || '%' OR p.card_number = :q)
ORDER BY p.full_name, p.id
LIMIT LEAST(:page_size::int, 100);
--- patron-search bad 1,3,6,7
SELECT p.id,
       p.full_name,
       p.card_number,
       p.email,
       p.phone,
       b.name AS home_branch,
       (p.blocked_at IS NULL AND p.card_expires_on >= local_today(:session_library)) AS may_borrow
FROM patrons p
JOIN branches b ON b.id = p.home_branch_id
WHERE p.library_id = :session_library
  AND p.deleted_at IS NULL
  AND posted(:session_staff, p.home_branch_id, '{circulation,supervisor}')
  AND p.full_name ILIKE '%' || :q || '%'
   OR p.card_number = :q
ORDER BY CASE :sort WHEN 'card' THEN p.card_number
                    WHEN 'branch' THEN b.name
                    ELSE p.full_name END,
         p.id
LIMIT LEAST(:page_size::int, 100);
--- patron-search bad 3,6
SELECT p.id,
       p.full_name,
       p.card_number,
       p.email,
       p.phone,
       b.name AS home_branch,
       (p.blocked_at IS NULL AND p.card_expires_on >= local_today(:session_library)) AS may_borrow
FROM patrons p
JOIN branches b ON b.id = p.home_branch_id
WHERE p.library_id = :session_library
  AND p.deleted_at IS NULL
  AND posted(:session_staff, :desk_branch_id::bigint, '{circulation,supervisor}')
  AND (p.full_name ILIKE '%' || :q || '%' OR p.card_number = :q)
ORDER BY p.home_branch_id = :desk_branch_id::bigint DESC, p.full_name, p.id
LIMIT LEAST(:page_size::int, 100);
--- place-hold good
CREATE OR REPLACE FUNCTION place_hold(
  p_session_library bigint, p_session_patron bigint,
  p_for_patron bigint, p_title_id bigint, p_pickup_branch bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_patron patrons%ROWTYPE;
  v_active int;
  v_same   int;
  v_hold   bigint;
BEGIN
  IF p_for_patron IS DISTINCT FROM p_session_patron
     AND NOT guards(p_session_patron, p_for_patron) THEN
    RAISE EXCEPTION 'not permitted';
  END IF;

  SELECT * INTO v_patron
  FROM patrons
  WHERE id = p_for_patron AND library_id = p_session_library AND deleted_at IS NULL
  FOR UPDATE;
  IF NOT FOUND
     OR v_patron.blocked_at IS NOT NULL
     OR v_patron.card_expires_on < local_today(p_session_library) THEN
    RAISE EXCEPTION 'card not in good standing';
  END IF;

  IF NOT EXISTS (SELECT 1 FROM branches
                 WHERE id = p_pickup_branch
                   AND library_id = p_session_library
                   AND deleted_at IS NULL) THEN
    RAISE EXCEPTION 'no such pickup branch';
  END IF;

  SELECT count(*), count(*) FILTER (WHERE title_id = p_title_id)
  INTO v_active, v_same
  FROM holds
  WHERE patron_id = v_patron.id AND deleted_at IS NULL AND status IN ('queued', 'ready');
  IF v_active >= 10 OR v_same > 0 THEN
    RAISE EXCEPTION 'hold limit reached';
  END IF;

  INSERT INTO holds (library_id, patron_id, title_id, pickup_branch_id)
  VALUES (p_session_library, v_patron.id, p_title_id, p_pickup_branch)
  RETURNING id INTO v_hold;
  RETURN v_hold;
END
$$;
--- place-hold good
SELECT 1
FROM patrons p
WHERE p.id = :for_patron
  AND p.library_id = :session_library
  AND p.deleted_at IS NULL
  AND (p.id = :session_patron OR guards(:session_patron, p.id))
FOR UPDATE;

INSERT INTO holds (library_id, patron_id, title_id, pickup_branch_id, status)
SELECT p.library_id, p.id, t.id, b.id, 'queued'
FROM patrons p
JOIN branches b ON b.library_id = p.library_id
               AND b.id = :pickup_branch_id
               AND b.deleted_at IS NULL
JOIN titles t   ON t.id = :title_id
WHERE p.id = :for_patron
  AND p.library_id = :session_library
  AND p.deleted_at IS NULL
  AND p.blocked_at IS NULL
  AND p.card_expires_on >= local_today(p.library_id)
  AND (p.id = :session_patron OR guards(:session_patron, p.id))
  AND (SELECT count(*) FROM holds h
       WHERE h.patron_id = p.id AND h.deleted_at IS NULL
         AND h.status IN ('queued', 'ready')) < 10
  AND NOT EXISTS (SELECT 1 FROM holds h
                  WHERE h.patron_id = p.id AND h.deleted_at IS NULL
                    AND h.title_id = t.id AND h.status IN ('queued', 'ready'))
RETURNING id, placed_at;
--- place-hold bad 12
WITH card AS (
  SELECT p.id, p.library_id
  FROM patrons p
  WHERE p.id = :for_patron
    AND p.library_id = :session_library
    AND p.deleted_at IS NULL
    AND p.blocked_at IS NULL
    AND p.card_expires_on >= local_today(:session_library)
    AND (p.id = :session_patron OR guards(:session_patron, p.id))
  FOR UPDATE
)
INSERT INTO holds (library_id, patron_id, title_id, pickup_branch_id, status)
SELECT c.library_id, c.id, t.id, b.id, 'queued'
FROM card c
JOIN branches b ON b.library_id = c.library_id
               AND b.id = :pickup_branch_id
               AND b.deleted_at IS NULL
JOIN titles t   ON t.id = :title_id
WHERE (SELECT count(*) FROM holds h
       WHERE h.patron_id = c.id AND h.deleted_at IS NULL
         AND h.status IN ('queued', 'ready')) < 10
  AND NOT EXISTS (SELECT 1 FROM holds h
                  WHERE h.patron_id = c.id AND h.deleted_at IS NULL
                    AND h.title_id = t.id AND h.status IN ('queued', 'ready'))
RETURNING id, placed_at;
--- place-hold bad 1
CREATE OR REPLACE FUNCTION place_hold(
  p_session_library bigint, p_session_patron bigint,
  p_for_patron bigint, p_title_id bigint, p_pickup_branch bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_patron patrons%ROWTYPE;
  v_branch branches%ROWTYPE;
  v_hold   bigint;
BEGIN
  IF p_for_patron IS DISTINCT FROM p_session_patron
     AND NOT guards(p_session_patron, p_for_patron) THEN
    RAISE EXCEPTION 'not permitted';
  END IF;

  SELECT * INTO v_patron
  FROM patrons
  WHERE id = p_for_patron AND library_id = p_session_library AND deleted_at IS NULL
  FOR UPDATE;
  IF NOT FOUND
     OR v_patron.blocked_at IS NOT NULL
     OR v_patron.card_expires_on < local_today(p_session_library) THEN
    RAISE EXCEPTION 'card not in good standing';
  END IF;

  SELECT * INTO v_branch FROM branches WHERE id = p_pickup_branch AND deleted_at IS NULL;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such pickup branch';
  END IF;

  IF (SELECT count(*) >= 10 OR bool_or(title_id = p_title_id)
      FROM holds
      WHERE patron_id = v_patron.id AND deleted_at IS NULL AND status IN ('queued', 'ready')) THEN
    RAISE EXCEPTION 'hold limit reached';
  END IF;

  INSERT INTO holds (library_id, patron_id, title_id, pickup_branch_id)
  VALUES (p_session_library, v_patron.id, p_title_id, v_branch.id)
  RETURNING id INTO v_hold;
  RETURN v_hold;
END
$$;
--- place-hold bad 10
SELECT 1
FROM patrons p
WHERE p.id = :for_patron
  AND p.library_id = :session_library
  AND p.deleted_at IS NULL
  AND (p.id = :session_patron OR guards(:session_patron, p.id))
FOR UPDATE;

INSERT INTO holds (library_id, patron_id, title_id, pickup_branch_id, status)
SELECT p.library_id, p.id, t.id, b.id, 'queued'
FROM patrons p
JOIN branches b ON b.library_id = p.library_id
               AND b.id = :pickup_branch_id
               AND b.deleted_at IS NULL
JOIN titles t   ON t.id = :title_id
WHERE p.id = :for_patron
  AND p.library_id = :session_library
  AND p.deleted_at IS NULL
  AND p.card_expires_on >= local_today(p.library_id)
  AND (p.id = :session_patron OR guards(:session_patron, p.id))
  AND (SELECT count(*) FROM holds h
       WHERE h.patron_id = p.id AND h.deleted_at IS NULL
         AND h.status IN ('queued', 'ready')) < 10
  AND NOT EXISTS (SELECT 1 FROM holds h
                  WHERE h.patron_id = p.id AND h.deleted_at IS NULL
                    AND h.title_id = t.id AND h.status IN ('queued', 'ready'))
RETURNING id, placed_at;
--- place-hold bad 4
SELECT 1
FROM patrons p
WHERE p.id = :for_patron
  AND p.library_id = :session_library
FOR UPDATE;

INSERT INTO holds (library_id, patron_id, title_id, pickup_branch_id, status)
SELECT p.library_id, p.id, t.id, b.id, 'queued'
FROM patrons p
JOIN branches b ON b.library_id = p.library_id
               AND b.id = :pickup_branch_id
               AND b.deleted_at IS NULL
JOIN titles t   ON t.id = :title_id
LEFT JOIN guardianships g ON g.child_id = p.id
                         AND g.guardian_id = :session_patron
                         AND g.confirmed_at IS NOT NULL
                         AND g.revoked_at IS NULL
                         AND (g.expires_at IS NULL OR g.expires_at > now())
WHERE p.id = :for_patron
  AND p.library_id = :session_library
  AND p.deleted_at IS NULL
  AND p.blocked_at IS NULL
  AND p.card_expires_on >= local_today(p.library_id)
  AND (p.id = :session_patron OR g.child_id IS NOT NULL)
  AND NOT EXISTS (SELECT 1 FROM holds h
                  WHERE h.patron_id = p.id AND h.deleted_at IS NULL
                    AND h.status IN ('queued', 'ready')
                  HAVING count(*) >= 10 OR bool_or(h.title_id = t.id))
RETURNING id, placed_at;
--- check-out good
CREATE OR REPLACE FUNCTION lend_item(
  p_session_library bigint, p_session_staff bigint, p_card_number text, p_barcode text)
RETURNS TABLE (loan_id bigint, due_at timestamptz, full_name text)
LANGUAGE plpgsql AS $$
DECLARE
  v_item items%ROWTYPE;
  v_patron patrons%ROWTYPE;
BEGIN
  SELECT i.* INTO v_item
  FROM items i
  WHERE i.library_id = p_session_library AND i.barcode = p_barcode AND i.deleted_at IS NULL
  FOR UPDATE;
  IF NOT FOUND OR NOT posted(p_session_staff, v_item.branch_id, '{circulation,supervisor}') THEN
    RAISE EXCEPTION 'item not available to this desk';
  END IF;

  SELECT p.* INTO v_patron
  FROM patrons p
  WHERE p.library_id = p_session_library AND p.card_number = p_card_number AND p.deleted_at IS NULL
    AND p.blocked_at IS NULL AND p.card_expires_on >= local_today(p_session_library);
  IF NOT FOUND THEN
    RAISE EXCEPTION 'card not in good standing';
  END IF;

  IF v_item.status = 'on_hold_shelf' THEN
    UPDATE holds h SET status = 'collected'
    WHERE h.library_id = p_session_library AND h.item_id = v_item.id
      AND h.patron_id = v_patron.id AND h.status = 'ready'
      AND h.deleted_at IS NULL AND h.ready_until > now();
    IF NOT FOUND THEN
      RAISE EXCEPTION 'kept for another patron';
    END IF;
  ELSIF v_item.status <> 'available' THEN
    RAISE EXCEPTION 'item is %', v_item.status;
  END IF;

  UPDATE items i SET status = 'on_loan' WHERE i.id = v_item.id;
  RETURN QUERY
    INSERT INTO loans AS l (library_id, item_id, patron_id, branch_id, lent_by, due_at)
    VALUES (p_session_library, v_item.id, v_patron.id, v_item.branch_id, p_session_staff, now() + interval '21 days')
    RETURNING l.id, l.due_at, v_patron.full_name;
END
$$;
--- check-out good
WITH taken AS (
  UPDATE items i
  SET status = 'on_loan'
  FROM patrons p
  WHERE i.library_id = :session_library
    AND i.barcode = :barcode
    AND i.deleted_at IS NULL
    AND i.status = 'available'
    AND posted(:session_staff, i.branch_id, '{circulation,supervisor}')
    AND p.library_id = :session_library
    AND p.card_number = :card_number
    AND p.deleted_at IS NULL
    AND p.blocked_at IS NULL
    AND p.card_expires_on >= local_today(:session_library)
  RETURNING i.id AS item_id, i.library_id, i.branch_id, p.id AS patron_id
)
INSERT INTO loans (library_id, item_id, patron_id, branch_id, lent_by, lent_at, due_at)
SELECT taken.library_id, taken.item_id, taken.patron_id, taken.branch_id,
       :session_staff, now(), now() + interval '21 days'
FROM taken
RETURNING id, lent_at, due_at;
--- check-out bad 12
CREATE OR REPLACE FUNCTION lend_item(
  p_session_library bigint, p_session_staff bigint, p_card_number text, p_barcode text)
RETURNS TABLE (loan_id bigint, due_at timestamptz, full_name text)
LANGUAGE plpgsql AS $$
DECLARE
  v_item items%ROWTYPE;
  v_patron patrons%ROWTYPE;
BEGIN
  SELECT i.* INTO v_item
  FROM items i
  WHERE i.library_id = p_session_library AND i.barcode = p_barcode AND i.deleted_at IS NULL;
  IF NOT FOUND OR NOT posted(p_session_staff, v_item.branch_id, '{circulation,supervisor}') THEN
    RAISE EXCEPTION 'item not available to this desk';
  END IF;

  SELECT p.* INTO v_patron
  FROM patrons p
  WHERE p.library_id = p_session_library AND p.card_number = p_card_number AND p.deleted_at IS NULL
    AND p.blocked_at IS NULL AND p.card_expires_on >= local_today(p_session_library);
  IF NOT FOUND THEN
    RAISE EXCEPTION 'card not in good standing';
  END IF;

  IF v_item.status <> 'available'
     OR EXISTS (SELECT 1 FROM loans l WHERE l.item_id = v_item.id AND l.returned_at IS NULL) THEN
    RAISE EXCEPTION 'item is %', v_item.status;
  END IF;

  UPDATE items i SET status = 'on_loan' WHERE i.id = v_item.id;
  RETURN QUERY
    INSERT INTO loans AS l (library_id, item_id, patron_id, branch_id, lent_by, due_at)
    VALUES (p_session_library, v_item.id, v_patron.id, v_item.branch_id, p_session_staff, now() + interval '21 days')
    RETURNING l.id, l.due_at, v_patron.full_name;
END
$$;
--- check-out bad 10
WITH claim AS (
  UPDATE holds h
  SET status = 'collected'
  FROM items i, patrons p
  WHERE i.id = h.item_id
    AND i.barcode = :barcode
    AND i.library_id = :session_library
    AND i.deleted_at IS NULL
    AND i.status = 'on_hold_shelf'
    AND p.id = h.patron_id
    AND p.card_number = :card_number
    AND p.deleted_at IS NULL
    AND p.blocked_at IS NULL
    AND p.card_expires_on >= local_today(:session_library)
    AND h.library_id = :session_library
    AND h.status = 'ready'
    AND h.deleted_at IS NULL
    AND posted(:session_staff, i.branch_id, '{circulation,supervisor}')
  RETURNING h.item_id, h.patron_id, i.branch_id, i.library_id
), taken AS (
  UPDATE items i
  SET status = 'on_loan'
  FROM claim c
  WHERE i.id = c.item_id AND i.status = 'on_hold_shelf'
  RETURNING i.id, c.patron_id, c.branch_id, c.library_id
)
INSERT INTO loans (library_id, item_id, patron_id, branch_id, lent_by, due_at)
SELECT t.library_id, t.id, t.patron_id, t.branch_id, :session_staff, now() + interval '21 days'
FROM taken t
RETURNING id, due_at;
--- check-out bad 9
WITH taken AS (
  UPDATE items i
  SET status = 'on_loan'
  FROM patrons p
  WHERE i.library_id = :session_library
    AND i.barcode = :barcode
    AND i.deleted_at IS NULL
    AND i.status NOT IN ('on_loan', 'missing', 'withdrawn')
    AND posted(:session_staff, i.branch_id, '{circulation,supervisor}')
    AND p.library_id = :session_library
    AND p.card_number = :card_number
    AND p.deleted_at IS NULL
    AND p.blocked_at IS NULL
    AND p.card_expires_on >= local_today(:session_library)
  RETURNING i.id AS item_id, i.library_id, i.branch_id, p.id AS patron_id
)
INSERT INTO loans (library_id, item_id, patron_id, branch_id, lent_by, lent_at, due_at)
SELECT taken.library_id, taken.item_id, taken.patron_id, taken.branch_id,
       :session_staff, now(), now() + interval '21 days'
FROM taken
RETURNING id, lent_at, due_at;
--- check-out bad 1
WITH borrower AS (
  SELECT p.id
  FROM patrons p
  WHERE p.card_number = :card_number
    AND p.deleted_at IS NULL
    AND p.blocked_at IS NULL
    AND p.card_expires_on >= local_today(p.library_id)
  ORDER BY p.id
  LIMIT 1
), taken AS (
  UPDATE items i
  SET status = 'on_loan'
  FROM borrower
  WHERE i.library_id = :session_library
    AND i.barcode = :barcode
    AND i.deleted_at IS NULL
    AND i.status = 'available'
    AND posted(:session_staff, i.branch_id, '{circulation,supervisor}')
  RETURNING i.id AS item_id, i.library_id, i.branch_id, borrower.id AS patron_id
)
INSERT INTO loans (library_id, item_id, patron_id, branch_id, lent_by, due_at)
SELECT t.library_id, t.item_id, t.patron_id, t.branch_id, :session_staff, now() + interval '21 days'
FROM taken t
RETURNING id, due_at;
--- renew-loan good
UPDATE loans l
SET due_at   = now() + interval '21 days',
    renewals = l.renewals + 1
FROM patrons p, items i
WHERE l.id = :loan_id
  AND l.library_id = :session_library
  AND l.returned_at IS NULL
  AND l.due_at > now()
  AND l.renewals < 3
  AND p.id = l.patron_id
  AND p.deleted_at IS NULL
  AND p.blocked_at IS NULL
  AND p.card_expires_on >= local_today(l.library_id)
  AND (p.id = :session_patron OR guards(:session_patron, p.id))
  AND i.id = l.item_id
  AND i.deleted_at IS NULL
  AND NOT EXISTS (
        SELECT 1
        FROM holds h
        JOIN patrons hp ON hp.id = h.patron_id AND hp.deleted_at IS NULL
        WHERE h.library_id = :session_library
          AND h.title_id = i.title_id
          AND h.status = 'queued'
          AND h.deleted_at IS NULL)
RETURNING l.id, l.due_at, l.renewals;
--- renew-loan good
CREATE OR REPLACE FUNCTION renew_loan(p_session_library bigint, p_session_patron bigint, p_loan_id bigint)
RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE
  v_loan  loans%ROWTYPE;
  v_title bigint;
  v_due   timestamptz;
BEGIN
  SELECT l.* INTO v_loan
  FROM loans l
  WHERE l.id = p_loan_id AND l.library_id = p_session_library AND l.returned_at IS NULL
  FOR UPDATE;
  IF NOT FOUND
     OR NOT (v_loan.patron_id = p_session_patron OR guards(p_session_patron, v_loan.patron_id)) THEN
    RAISE EXCEPTION 'no such loan';
  END IF;
  IF v_loan.due_at <= now() OR v_loan.renewals >= 3 THEN
    RAISE EXCEPTION 'renewal is closed';
  END IF;

  PERFORM 1 FROM patrons p
  WHERE p.id = v_loan.patron_id AND p.deleted_at IS NULL AND p.blocked_at IS NULL
    AND p.card_expires_on >= local_today(p_session_library);
  IF NOT FOUND THEN
    RAISE EXCEPTION 'card not in good standing';
  END IF;

  SELECT i.title_id INTO v_title FROM items i WHERE i.id = v_loan.item_id;
  IF EXISTS (SELECT 1 FROM holds h JOIN patrons hp ON hp.id = h.patron_id
             WHERE h.library_id = p_session_library AND h.title_id = v_title
               AND h.status = 'queued' AND h.deleted_at IS NULL AND hp.deleted_at IS NULL) THEN
    RAISE EXCEPTION 'another reader is waiting';
  END IF;

  UPDATE loans
  SET renewals = v_loan.renewals + 1, due_at = now() + interval '21 days'
  WHERE id = v_loan.id
  RETURNING due_at INTO v_due;
  RETURN v_due;
END
$$;
--- renew-loan bad 10
UPDATE loans l
SET due_at   = l.due_at + interval '21 days',
    renewals = l.renewals + 1
FROM patrons p, items i
WHERE l.id = :loan_id
  AND l.library_id = :session_library
  AND l.returned_at IS NULL
  AND l.due_at > now()
  AND l.renewals < 3
  AND p.id = l.patron_id
  AND p.deleted_at IS NULL
  AND p.blocked_at IS NULL
  AND p.card_expires_on >= local_today(l.library_id)
  AND (p.id = :session_patron OR guards(:session_patron, p.id))
  AND i.id = l.item_id
  AND NOT EXISTS (
        SELECT 1
        FROM holds h
        JOIN patrons hp ON hp.id = h.patron_id AND hp.deleted_at IS NULL
        WHERE h.library_id = :session_library
          AND h.title_id = i.title_id
          AND h.status = 'queued'
          AND h.deleted_at IS NULL)
RETURNING l.id, l.due_at, l.renewals;
--- renew-loan bad 4
WITH wards AS (
  SELECT g.child_id AS id
  FROM guardianships g
  JOIN patrons c ON c.id = g.child_id
  WHERE g.guardian_id = :session_patron
    AND g.revoked_at IS NULL
    AND (g.expires_at IS NULL OR g.expires_at > now())
    AND c.library_id = :session_library
    AND c.deleted_at IS NULL
    AND c.birth_date > local_today(:session_library) - interval '16 years'
  UNION ALL
  SELECT CAST(:session_patron AS bigint)
)
UPDATE loans l
SET due_at   = now() + interval '21 days',
    renewals = l.renewals + 1
FROM wards w, patrons p, items i
WHERE l.id = :loan_id
  AND l.library_id = :session_library
  AND l.patron_id = w.id
  AND l.returned_at IS NULL
  AND l.due_at > now()
  AND l.renewals < 3
  AND p.id = w.id
  AND p.deleted_at IS NULL
  AND p.blocked_at IS NULL
  AND p.card_expires_on >= local_today(:session_library)
  AND i.id = l.item_id
  AND NOT EXISTS (
        SELECT 1
        FROM holds h
        JOIN patrons hp ON hp.id = h.patron_id AND hp.deleted_at IS NULL
        WHERE h.library_id = :session_library
          AND h.title_id = i.title_id
          AND h.status = 'queued'
          AND h.deleted_at IS NULL)
RETURNING l.id, l.due_at, l.renewals;
--- renew-loan bad 12
CREATE OR REPLACE FUNCTION renew_loan(p_session_library bigint, p_session_patron bigint, p_loan_id bigint)
RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE
  v_loan  loans%ROWTYPE;
  v_due   timestamptz;
BEGIN
  SELECT l.* INTO v_loan
  FROM loans l
  JOIN patrons p ON p.id = l.patron_id
  WHERE l.id = p_loan_id AND l.library_id = p_session_library AND l.returned_at IS NULL
    AND (l.patron_id = p_session_patron OR guards(p_session_patron, l.patron_id))
    AND p.deleted_at IS NULL AND p.blocked_at IS NULL
    AND p.card_expires_on >= local_today(p_session_library);
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such loan';
  END IF;
  IF v_loan.due_at <= now() OR v_loan.renewals >= 3 THEN
    RAISE EXCEPTION 'renewal is closed';
  END IF;

  IF EXISTS (SELECT 1 FROM holds h
             JOIN patrons hp ON hp.id = h.patron_id
             JOIN items i    ON i.title_id = h.title_id
             WHERE i.id = v_loan.item_id AND h.library_id = p_session_library
               AND h.status = 'queued' AND h.deleted_at IS NULL AND hp.deleted_at IS NULL) THEN
    RAISE EXCEPTION 'another reader is waiting';
  END IF;

  UPDATE loans
  SET renewals = renewals + 1, due_at = now() + interval '21 days'
  WHERE id = v_loan.id AND returned_at IS NULL
  RETURNING due_at INTO v_due;
  RETURN v_due;
END
$$;
--- take-payment good
CREATE OR REPLACE FUNCTION take_payment(
  p_session_library bigint, p_session_staff bigint,
  p_fine_id bigint, p_amount int, p_method text, p_request_key uuid)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_fine    fines%ROWTYPE;
  v_payment bigint;
BEGIN
  SELECT f.* INTO v_fine
  FROM fines f
  JOIN patrons p ON p.id = f.patron_id AND p.deleted_at IS NULL
  WHERE f.id = p_fine_id AND f.library_id = p_session_library AND f.deleted_at IS NULL
    AND posted(p_session_staff, f.branch_id, '{circulation,finance,supervisor}')
  FOR UPDATE OF f;
  IF NOT FOUND OR v_fine.status <> 'open' THEN
    RAISE EXCEPTION 'fine is not open';
  END IF;
  IF EXISTS (SELECT 1 FROM staff s WHERE s.id = p_session_staff AND s.patron_id = v_fine.patron_id) THEN
    RAISE EXCEPTION 'own account';
  END IF;
  IF v_fine.paid_cents + v_fine.waived_cents + p_amount > v_fine.amount_cents THEN
    RAISE EXCEPTION 'more than is owed';
  END IF;

  INSERT INTO fine_payments (library_id, fine_id, amount_cents, method, taken_by, request_key)
  VALUES (p_session_library, v_fine.id, p_amount, p_method, p_session_staff, p_request_key)
  ON CONFLICT (library_id, request_key) DO NOTHING
  RETURNING id INTO v_payment;
  IF v_payment IS NULL THEN
    RETURN NULL;
  END IF;

  UPDATE fines f
  SET paid_cents = f.paid_cents + p_amount,
      status = CASE WHEN f.paid_cents + f.waived_cents + p_amount = f.amount_cents
                    THEN 'paid'::fine_status ELSE f.status END
  WHERE f.id = v_fine.id;
  INSERT INTO audit_entries (library_id, staff_id, action, subject_id)
  VALUES (p_session_library, p_session_staff, 'payment', v_payment);
  RETURN v_payment;
END
$$;
--- take-payment good
WITH settled AS (
  UPDATE fines f
  SET paid_cents = f.paid_cents + :amount_cents::int,
      status = CASE WHEN f.paid_cents + f.waived_cents + :amount_cents::int = f.amount_cents
                    THEN 'paid'::fine_status ELSE 'open'::fine_status END
  FROM patrons p, staff s
  WHERE f.id = :fine_id
    AND f.library_id = :session_library
    AND f.deleted_at IS NULL
    AND f.status = 'open'
    AND f.paid_cents + f.waived_cents + :amount_cents::int <= f.amount_cents
    AND p.id = f.patron_id
    AND p.deleted_at IS NULL
    AND s.id = :session_staff
    AND s.patron_id IS DISTINCT FROM f.patron_id
    AND posted(s.id, f.branch_id, '{circulation,finance,supervisor}')
  RETURNING f.id, f.library_id
), booked AS (
  INSERT INTO fine_payments (library_id, fine_id, amount_cents, method, taken_by, request_key)
  SELECT settled.library_id, settled.id, :amount_cents::int, :method, :session_staff, :request_key::uuid
  FROM settled
  RETURNING id, library_id
)
INSERT INTO audit_entries (library_id, staff_id, action, subject_id)
SELECT booked.library_id, :session_staff, 'payment', booked.id
FROM booked
RETURNING subject_id AS payment_id;
--- take-payment bad 12
SELECT 1 FROM fines f
WHERE f.id = :fine_id AND f.library_id = :session_library
FOR UPDATE;

WITH target AS (
  SELECT f.id, f.library_id
  FROM fines f
  JOIN patrons p ON p.id = f.patron_id AND p.deleted_at IS NULL
  JOIN staff s   ON s.id = :session_staff AND s.patron_id IS DISTINCT FROM f.patron_id
  WHERE f.id = :fine_id
    AND f.library_id = :session_library
    AND f.deleted_at IS NULL
    AND f.status = 'open'
    AND f.paid_cents + f.waived_cents + :amount_cents::int <= f.amount_cents
    AND posted(:session_staff, f.branch_id, '{circulation,finance,supervisor}')
), booked AS (
  INSERT INTO fine_payments (library_id, fine_id, amount_cents, method, taken_by, request_key)
  SELECT t.library_id, t.id, :amount_cents::int, :method, :session_staff, :request_key::uuid
  FROM target t
  ON CONFLICT (library_id, request_key) DO NOTHING
  RETURNING id
), settled AS (
  UPDATE fines f
  SET paid_cents = f.paid_cents + :amount_cents::int,
      status = CASE WHEN f.paid_cents + f.waived_cents + :amount_cents::int = f.amount_cents
                    THEN 'paid'::fine_status ELSE f.status END
  FROM target t
  WHERE f.id = t.id
  RETURNING f.id, f.library_id
)
INSERT INTO audit_entries (library_id, staff_id, action, subject_id)
SELECT settled.library_id, :session_staff, 'payment', settled.id
FROM settled
RETURNING id;
--- take-payment bad 11
WITH settled AS (
  UPDATE fines f
  SET paid_cents = f.paid_cents + :amount_cents::int,
      status = CASE WHEN f.paid_cents + f.waived_cents + :amount_cents::int = f.amount_cents
                    THEN 'paid'::fine_status ELSE 'open'::fine_status END
  FROM patrons p
  WHERE f.id = :fine_id
    AND f.library_id = :session_library
    AND f.deleted_at IS NULL
    AND f.status = 'open'
    AND f.paid_cents + f.waived_cents + :amount_cents::int <= f.amount_cents
    AND p.id = f.patron_id
    AND p.deleted_at IS NULL
    AND posted(:session_staff, f.branch_id, '{circulation,finance,supervisor}')
  RETURNING f.id, f.library_id
), booked AS (
  INSERT INTO fine_payments (library_id, fine_id, amount_cents, method, taken_by, request_key)
  SELECT settled.library_id, settled.id, :amount_cents::int, :method, :session_staff, :request_key::uuid
  FROM settled
  RETURNING id, library_id
)
INSERT INTO audit_entries (library_id, staff_id, action, subject_id)
SELECT booked.library_id, :session_staff, 'payment', booked.id
FROM booked
RETURNING subject_id AS payment_id;
--- take-payment bad 9
CREATE OR REPLACE FUNCTION take_payment(
  p_session_library bigint, p_session_staff bigint,
  p_fine_id bigint, p_amount int, p_method text, p_request_key uuid)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_fine    fines%ROWTYPE;
  v_payment bigint;
BEGIN
  SELECT f.* INTO v_fine
  FROM fines f
  JOIN patrons p ON p.id = f.patron_id AND p.deleted_at IS NULL
  JOIN staff s   ON s.id = p_session_staff AND s.patron_id IS DISTINCT FROM f.patron_id
  WHERE f.id = p_fine_id AND f.library_id = p_session_library AND f.deleted_at IS NULL
    AND posted(p_session_staff, f.branch_id, '{circulation,finance,supervisor}')
  FOR UPDATE OF f;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such fine';
  END IF;
  IF p_amount > v_fine.amount_cents - v_fine.paid_cents - v_fine.waived_cents THEN
    RAISE EXCEPTION 'more than is owed';
  END IF;

  INSERT INTO fine_payments (library_id, fine_id, amount_cents, method, taken_by, request_key)
  VALUES (p_session_library, v_fine.id, p_amount, p_method, p_session_staff, p_request_key)
  ON CONFLICT (library_id, request_key) DO NOTHING
  RETURNING id INTO v_payment;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;

  UPDATE fines f
  SET paid_cents = f.paid_cents + p_amount,
      status = CASE WHEN f.paid_cents + f.waived_cents + p_amount = f.amount_cents
                    THEN 'paid'::fine_status ELSE f.status END
  WHERE f.id = v_fine.id;
  INSERT INTO audit_entries (library_id, staff_id, action, subject_id)
  VALUES (p_session_library, p_session_staff, 'payment', v_payment);
  RETURN v_payment;
END
$$;
--- decide-waiver good
CREATE OR REPLACE FUNCTION decide_waiver(
  p_session_library bigint, p_session_staff bigint, p_waiver_id bigint, p_approve boolean)
RETURNS waiver_status LANGUAGE plpgsql AS $$
DECLARE
  v_fine   fines%ROWTYPE;
  v_waiver waivers%ROWTYPE;
  v_result waiver_status := CASE WHEN p_approve THEN 'approved' ELSE 'rejected' END;
BEGIN
  SELECT f.* INTO v_fine
  FROM waivers w
  JOIN fines f   ON f.id = w.fine_id AND f.deleted_at IS NULL
  JOIN patrons p ON p.id = f.patron_id AND p.deleted_at IS NULL
  WHERE w.id = p_waiver_id AND w.library_id = p_session_library
  FOR UPDATE OF f;
  IF NOT FOUND OR NOT posted(p_session_staff, v_fine.branch_id, '{supervisor}') THEN
    RAISE EXCEPTION 'no such waiver';
  END IF;

  SELECT w.* INTO v_waiver FROM waivers w WHERE w.id = p_waiver_id AND w.library_id = p_session_library FOR UPDATE;
  IF v_waiver.status <> 'requested' THEN
    RAISE EXCEPTION 'already decided';
  END IF;
  IF v_waiver.requested_by = p_session_staff
     OR EXISTS (SELECT 1 FROM loans l WHERE l.id = v_fine.loan_id AND l.lent_by = p_session_staff)
     OR EXISTS (SELECT 1 FROM staff s WHERE s.id = p_session_staff AND s.patron_id = v_fine.patron_id) THEN
    RAISE EXCEPTION 'a colleague has to decide this';
  END IF;

  IF v_result = 'approved' THEN
    IF v_fine.status <> 'open'
       OR v_fine.paid_cents + v_fine.waived_cents + v_waiver.amount_cents > v_fine.amount_cents THEN
      RAISE EXCEPTION 'balance is too small';
    END IF;
    UPDATE fines
    SET waived_cents = v_fine.waived_cents + v_waiver.amount_cents,
        status = CASE WHEN v_fine.paid_cents + v_fine.waived_cents + v_waiver.amount_cents = v_fine.amount_cents
                      THEN 'waived'::fine_status ELSE 'open'::fine_status END
    WHERE id = v_fine.id;
  END IF;
  UPDATE waivers SET status = v_result, decided_by = p_session_staff, decided_at = now() WHERE id = v_waiver.id;
  INSERT INTO audit_entries (library_id, staff_id, action, subject_id)
  VALUES (p_session_library, p_session_staff, 'waiver-' || v_result, v_waiver.id);
  RETURN v_result;
END
$$;
--- decide-waiver good
SELECT 1
FROM waivers w
JOIN fines f ON f.id = w.fine_id
WHERE w.id = :waiver_id AND w.library_id = :session_library
FOR UPDATE OF f, w;

WITH ready AS (
  SELECT w.id AS waiver_id, w.library_id, w.amount_cents, f.id AS fine_id
  FROM waivers w
  JOIN fines f      ON f.id = w.fine_id
  JOIN patrons p    ON p.id = f.patron_id
  JOIN staff me     ON me.id = :session_staff
  LEFT JOIN loans l ON l.id = f.loan_id
  WHERE w.id = :waiver_id
    AND w.library_id = :session_library
    AND w.status = 'requested'
    AND w.requested_by <> me.id
    AND l.lent_by IS DISTINCT FROM me.id
    AND me.patron_id IS DISTINCT FROM f.patron_id
    AND f.status = 'open'
    AND f.deleted_at IS NULL
    AND p.deleted_at IS NULL
    AND f.paid_cents + f.waived_cents + w.amount_cents <= f.amount_cents
    AND posted(me.id, f.branch_id, '{supervisor}')
), decided AS (
  UPDATE waivers w
  SET status = 'approved', decided_by = :session_staff, decided_at = now()
  FROM ready r
  WHERE w.id = r.waiver_id
  RETURNING w.id
), deducted AS (
  UPDATE fines f
  SET waived_cents = f.waived_cents + r.amount_cents,
      status = CASE WHEN f.paid_cents + f.waived_cents + r.amount_cents = f.amount_cents
                    THEN 'waived'::fine_status ELSE f.status END
  FROM ready r
  WHERE f.id = r.fine_id
  RETURNING f.id
)
INSERT INTO audit_entries (library_id, staff_id, action, subject_id)
SELECT r.library_id, :session_staff, 'waiver-approved', r.waiver_id
FROM ready r
RETURNING subject_id;
--- decide-waiver bad 11
SELECT 1
FROM waivers w
JOIN fines f ON f.id = w.fine_id
WHERE w.id = :waiver_id AND w.library_id = :session_library
FOR UPDATE OF f, w;

WITH ready AS (
  SELECT w.id AS waiver_id, w.library_id, w.amount_cents, f.id AS fine_id
  FROM waivers w
  JOIN fines f      ON f.id = w.fine_id
  JOIN patrons p    ON p.id = f.patron_id
  JOIN staff me     ON me.id = :session_staff
  WHERE w.id = :waiver_id
    AND w.library_id = :session_library
    AND w.status = 'requested'
    AND w.requested_by <> me.id
    AND me.patron_id IS DISTINCT FROM f.patron_id
    AND f.status = 'open'
    AND f.deleted_at IS NULL
    AND p.deleted_at IS NULL
    AND f.paid_cents + f.waived_cents + w.amount_cents <= f.amount_cents
    AND posted(me.id, f.branch_id, '{supervisor}')
), decided AS (
  UPDATE waivers w
  SET status = 'approved', decided_by = :session_staff, decided_at = now()
  FROM ready r
  WHERE w.id = r.waiver_id
  RETURNING w.id
), deducted AS (
  UPDATE fines f
  SET waived_cents = f.waived_cents + r.amount_cents,
      status = CASE WHEN f.paid_cents + f.waived_cents + r.amount_cents = f.amount_cents
                    THEN 'waived'::fine_status ELSE f.status END
  FROM ready r
  WHERE f.id = r.fine_id
  RETURNING f.id
)
INSERT INTO audit_entries (library_id, staff_id, action, subject_id)
SELECT r.library_id, :session_staff, 'waiver-approved', r.waiver_id
FROM ready r
RETURNING subject_id;
--- decide-waiver bad 12
WITH decided AS (
  UPDATE waivers w
  SET status = 'approved', decided_by = :session_staff, decided_at = now()
  FROM fines f
  JOIN patrons p    ON p.id = f.patron_id AND p.deleted_at IS NULL
  JOIN staff me     ON me.id = :session_staff AND me.patron_id IS DISTINCT FROM f.patron_id
  LEFT JOIN loans l ON l.id = f.loan_id
  WHERE w.id = :waiver_id
    AND w.library_id = :session_library
    AND w.status = 'requested'
    AND w.requested_by <> :session_staff
    AND f.id = w.fine_id
    AND f.deleted_at IS NULL
    AND f.status = 'open'
    AND f.paid_cents + f.waived_cents + w.amount_cents <= f.amount_cents
    AND l.lent_by IS DISTINCT FROM me.id
    AND posted(:session_staff, f.branch_id, '{supervisor}')
  RETURNING w.id, w.library_id, w.fine_id, w.amount_cents
), deducted AS (
  UPDATE fines f
  SET waived_cents = f.waived_cents + d.amount_cents,
      status = CASE WHEN f.paid_cents + f.waived_cents + d.amount_cents = f.amount_cents
                    THEN 'waived'::fine_status ELSE f.status END
  FROM decided d
  WHERE f.id = d.fine_id
  RETURNING d.id AS waiver_id, d.library_id
)
INSERT INTO audit_entries (library_id, staff_id, action, subject_id)
SELECT x.library_id, :session_staff, 'waiver-approved', x.waiver_id
FROM deducted x
RETURNING subject_id;
--- decide-waiver bad 3
CREATE OR REPLACE FUNCTION decide_waiver(
  p_session_library bigint, p_session_staff bigint, p_waiver_id bigint, p_approve boolean)
RETURNS waiver_status LANGUAGE plpgsql AS $$
DECLARE
  v_fine   fines%ROWTYPE;
  v_waiver waivers%ROWTYPE;
  v_result waiver_status := CASE WHEN p_approve THEN 'approved' ELSE 'rejected' END;
BEGIN
  SELECT f.* INTO v_fine
  FROM waivers w
  JOIN fines f   ON f.id = w.fine_id AND f.deleted_at IS NULL
  JOIN patrons p ON p.id = f.patron_id AND p.deleted_at IS NULL
  WHERE w.id = p_waiver_id AND w.library_id = p_session_library
  FOR UPDATE OF f;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such waiver';
  END IF;
  IF NOT EXISTS (SELECT 1 FROM branches b
                 WHERE b.library_id = p_session_library
                   AND posted(p_session_staff, b.id, '{supervisor}')) THEN
    RAISE EXCEPTION 'supervisors only';
  END IF;

  SELECT w.* INTO v_waiver FROM waivers w WHERE w.id = p_waiver_id FOR UPDATE;
  IF v_waiver.status <> 'requested' THEN
    RAISE EXCEPTION 'already decided';
  END IF;
  IF v_waiver.requested_by = p_session_staff
     OR EXISTS (SELECT 1 FROM loans l WHERE l.id = v_fine.loan_id AND l.lent_by = p_session_staff)
     OR EXISTS (SELECT 1 FROM staff s WHERE s.id = p_session_staff AND s.patron_id = v_fine.patron_id) THEN
    RAISE EXCEPTION 'a colleague has to decide this';
  END IF;

  IF v_result = 'approved' THEN
    IF v_fine.status <> 'open'
       OR v_fine.paid_cents + v_fine.waived_cents + v_waiver.amount_cents > v_fine.amount_cents THEN
      RAISE EXCEPTION 'balance is too small';
    END IF;
    UPDATE fines
    SET waived_cents = v_fine.waived_cents + v_waiver.amount_cents,
        status = CASE WHEN v_fine.paid_cents + v_fine.waived_cents + v_waiver.amount_cents = v_fine.amount_cents
                      THEN 'waived'::fine_status ELSE 'open'::fine_status END
    WHERE id = v_fine.id;
  END IF;
  UPDATE waivers SET status = v_result, decided_by = p_session_staff, decided_at = now() WHERE id = v_waiver.id;
  INSERT INTO audit_entries (library_id, staff_id, action, subject_id)
  VALUES (p_session_library, p_session_staff, 'waiver-' || v_result, v_waiver.id);
  RETURN v_result;
END
$$;
