--- my-matters good
-- what I can see, with document count and my minutes this month
SELECT m.id, m.title, m.state, m.opened_at,
       docs.n              AS documents,
       COALESCE(t.mins, 0) AS my_minutes
FROM matter m
CROSS JOIN LATERAL (
  SELECT count(*) AS n
  FROM document d
  WHERE d.matter_id = m.id
    AND d.deleted_at IS NULL
    AND (NOT d.privileged OR on_team(:firm_id, :user_id, m.id, 'read'))
) docs
CROSS JOIN LATERAL (
  SELECT sum(e.minutes) AS mins
  FROM time_entry e
  WHERE e.matter_id = m.id
    AND e.member_id = :user_id
    AND e.deleted_at IS NULL
    AND e.worked_on >= date_trunc('month', firm_today(:firm_id)::timestamp)::date
) t
WHERE m.firm_id = :firm_id
  AND m.deleted_at IS NULL
  AND can_see(:firm_id, :user_id, m.id)
  AND (:state::matter_state IS NULL OR m.state = :state::matter_state)
ORDER BY ${sort_sql}, m.id
LIMIT LEAST(:limit, 50);

--- my-matters good
WITH me AS (
  SELECT u.id, u.role, date_trunc('month', now() AT TIME ZONE f.tz)::date AS month_start
  FROM member u
  JOIN firm f ON f.id = u.firm_id
  WHERE u.id = :user_id AND u.firm_id = :firm_id
    AND u.active_from <= now() AND (u.left_at IS NULL OR u.left_at > now())
), seen AS (
  SELECT m.id, m.title, m.state, m.opened_at, me.id AS me_id, me.month_start, t.member_id IS NOT NULL AS in_team
  FROM me
  JOIN matter m    ON m.firm_id = :firm_id AND m.deleted_at IS NULL
  LEFT JOIN team t ON t.matter_id = m.id AND t.member_id = me.id
                  AND t.from_at <= now() AND (t.until_at IS NULL OR t.until_at > now())
  WHERE (t.member_id IS NOT NULL OR (me.role = 'partner' AND NOT m.secret))
    AND NOT EXISTS (SELECT 1 FROM wall w
                    WHERE w.matter_id = m.id AND w.member_id = me.id AND w.lifted_at IS NULL)
    AND (:state::matter_state IS NULL OR m.state = :state::matter_state)
)
SELECT s.id, s.title, s.state, s.opened_at,
       (SELECT count(*) FROM document d
         WHERE d.matter_id = s.id AND d.deleted_at IS NULL AND (s.in_team OR NOT d.privileged)) AS documents,
       (SELECT COALESCE(sum(e.minutes), 0) FROM time_entry e
         WHERE e.matter_id = s.id AND e.member_id = s.me_id AND e.deleted_at IS NULL
           AND e.worked_on >= s.month_start) AS my_minutes
FROM seen s
ORDER BY s.opened_at DESC NULLS FIRST, s.id DESC
LIMIT LEAST(COALESCE(:limit, 25), 50);

--- my-matters bad 4
WITH me AS (
  SELECT u.id, u.role, date_trunc('month', now() AT TIME ZONE f.tz)::date AS month_start
  FROM member u
  JOIN firm f ON f.id = u.firm_id
  WHERE u.id = :user_id AND u.firm_id = :firm_id
    AND u.active_from <= now() AND (u.left_at IS NULL OR u.left_at > now())
), seen AS (
  SELECT m.id, m.title, m.state, m.opened_at, me.id AS me_id, me.month_start, t.member_id IS NOT NULL AS in_team
  FROM me
  JOIN matter m    ON m.firm_id = :firm_id AND m.deleted_at IS NULL
  LEFT JOIN team t ON t.matter_id = m.id AND t.member_id = me.id
                  AND t.from_at <= now() AND (t.until_at IS NULL OR t.until_at > now())
  LEFT JOIN wall w ON w.matter_id = m.id AND w.member_id = me.id AND w.lifted_at IS NULL
  WHERE (t.member_id IS NOT NULL OR (me.role = 'partner' AND NOT m.secret AND w.id IS NULL))
    AND (:state::matter_state IS NULL OR m.state = :state::matter_state)
)
SELECT s.id, s.title, s.state, s.opened_at,
       (SELECT count(*) FROM document d
         WHERE d.matter_id = s.id AND d.deleted_at IS NULL AND (s.in_team OR NOT d.privileged)) AS documents,
       (SELECT COALESCE(sum(e.minutes), 0) FROM time_entry e
         WHERE e.matter_id = s.id AND e.member_id = s.me_id AND e.deleted_at IS NULL
           AND e.worked_on >= s.month_start) AS my_minutes
FROM seen s
ORDER BY s.opened_at DESC NULLS FIRST, s.id DESC
LIMIT LEAST(COALESCE(:limit, 25), 50);

--- my-matters bad 3
-- what I can see, with document count and my minutes this month
SELECT m.id, m.title, m.state, m.opened_at,
       docs.n              AS documents,
       COALESCE(t.mins, 0) AS my_minutes
FROM matter m
CROSS JOIN LATERAL (
  SELECT count(*) AS n
  FROM document d
  WHERE d.matter_id = m.id
    AND d.deleted_at IS NULL
    AND (NOT d.privileged OR on_team(:firm_id, :user_id, m.id, 'read'))
) docs
CROSS JOIN LATERAL (
  SELECT sum(e.minutes) AS mins
  FROM time_entry e
  WHERE e.matter_id = m.id
    AND e.member_id = :user_id
    AND e.deleted_at IS NULL
    AND e.worked_on >= date_trunc('month', firm_today(:firm_id)::timestamp)::date
) t
WHERE m.firm_id = :firm_id
  AND m.deleted_at IS NULL
  AND (on_team(:firm_id, :user_id, m.id, 'read')
       OR (has_role(:firm_id, :user_id, 'partner') AND NOT walled(:user_id, m.id)))
  AND (:state::matter_state IS NULL OR m.state = :state::matter_state)
ORDER BY ${sort_sql}, m.id
LIMIT LEAST(:limit, 50);

--- my-matters bad 2
WITH mine AS (
  SELECT m.id, m.title, m.state, m.opened_at, t.access
  FROM matter m
  JOIN team t ON t.matter_id = m.id AND t.member_id = :user_id
  WHERE m.firm_id = :firm_id
    AND m.deleted_at IS NULL
    AND t.from_at <= now()
    AND (t.until_at IS NULL OR t.until_at > now())
    AND NOT walled(:user_id, m.id)
    AND (:state::matter_state IS NULL OR m.state = :state::matter_state)
), docs AS (
  SELECT d.matter_id, count(*) AS n
  FROM document d
  WHERE d.matter_id IN (SELECT id FROM mine) AND d.deleted_at IS NULL
  GROUP BY d.matter_id
), mins AS (
  SELECT e.matter_id, sum(e.minutes) AS n
  FROM time_entry e
  WHERE e.member_id = :user_id AND e.deleted_at IS NULL
    AND e.worked_on >= date_trunc('month', firm_today(:firm_id)::timestamp)::date
  GROUP BY e.matter_id
)
SELECT mine.id, mine.title, mine.state, mine.opened_at, mine.access,
       COALESCE(docs.n, 0) AS documents, COALESCE(mins.n, 0) AS my_minutes
FROM mine
LEFT JOIN docs ON docs.matter_id = mine.id
LEFT JOIN mins ON mins.matter_id = mine.id
ORDER BY mine.opened_at DESC NULLS FIRST, mine.id DESC
LIMIT LEAST(:limit, 50);

--- conflict-search good
-- one name, all parties of the firm
SELECT p.id, p.name, p.side, m.id AS matter_id, m.state,
       CASE WHEN can_see(:firm_id, :user_id, m.id) THEN m.title END AS title,
       (SELECT u.full_name
          FROM team t
          JOIN member u ON u.id = t.member_id
         WHERE t.matter_id = m.id AND t.access = 'lead'
           AND t.from_at <= now() AND (t.until_at IS NULL OR t.until_at > now())
         ORDER BY t.from_at, u.id
         LIMIT 1) AS ask
FROM party p
JOIN matter m ON m.id = p.matter_id
WHERE p.firm_id = :firm_id
  AND p.deleted_at IS NULL
  AND m.deleted_at IS NULL
  AND p.name_norm LIKE '%' || like_escape(lower(:q)) || '%' ESCAPE '\'
  AND has_role(:firm_id, :user_id, 'conflicts', 'partner')
ORDER BY (p.name_norm = lower(:q)) DESC, p.id
LIMIT LEAST(:limit, 50);

--- conflict-search good
-- a list of names, hits on both sides of the table first
WITH asked AS (
  SELECT n.name, n.ord
  FROM unnest(:names::text[]) WITH ORDINALITY AS n(name, ord)
  WHERE EXISTS (
    SELECT 1 FROM member u
    WHERE u.id = :user_id AND u.firm_id = :firm_id
      AND u.role IN ('conflicts', 'partner')
      AND u.active_from <= now()
      AND (u.left_at IS NULL OR u.left_at > now()))
), hits AS (
  SELECT a.ord, a.name AS asked_name, p.id, p.name, p.side, m.id AS matter_id, m.state, m.title,
         bool_or(p.side = 'client')  OVER w AND bool_or(p.side = 'adverse') OVER w AS both_sides
  FROM asked a
  JOIN party p  ON position(lower(a.name) IN p.name_norm) > 0
               AND p.firm_id = :firm_id
               AND p.deleted_at IS NULL
  JOIN matter m ON m.id = p.matter_id AND m.deleted_at IS NULL
  WINDOW w AS (PARTITION BY a.ord)
)
SELECT h.ord, h.asked_name, h.id, h.name, h.side, h.matter_id, h.state, h.both_sides,
       CASE WHEN can_see(:firm_id, :user_id, h.matter_id) THEN h.title END AS title
FROM hits h
ORDER BY h.both_sides DESC, h.ord, h.id
LIMIT 50;

--- conflict-search bad 6
-- a list of names, hits on both sides of the table first
WITH asked AS (
  SELECT n.name, n.ord
  FROM unnest(:names::text[]) WITH ORDINALITY AS n(name, ord)
  WHERE has_role(:firm_id, :user_id, 'conflicts', 'partner')
), hits AS (
  SELECT a.ord, a.name AS asked_name, p.id, p.name, p.side, m.id AS matter_id, m.state, m.title, m.secret,
         bool_or(p.side = 'client')  OVER w AND bool_or(p.side = 'adverse') OVER w AS both_sides
  FROM asked a
  JOIN party p  ON position(lower(a.name) IN p.name_norm) > 0
               AND p.firm_id = :firm_id
               AND p.deleted_at IS NULL
  JOIN matter m ON m.id = p.matter_id AND m.deleted_at IS NULL
  WINDOW w AS (PARTITION BY a.ord)
)
SELECT h.ord, h.asked_name, h.id, h.name, h.side, h.matter_id, h.state, h.both_sides,
       CASE WHEN NOT h.secret AND NOT walled(:user_id, h.matter_id) THEN h.title END AS title
FROM hits h
ORDER BY h.both_sides DESC, h.ord, h.id
LIMIT 50;

--- conflict-search bad 13
-- one name, all parties of the firm
SELECT p.id, p.name, p.side, m.id AS matter_id, m.state,
       CASE WHEN can_see(:firm_id, :user_id, m.id) THEN m.title END AS title,
       (SELECT u.full_name
          FROM team t
          JOIN member u ON u.id = t.member_id
         WHERE t.matter_id = m.id AND t.access = 'lead'
           AND t.from_at <= now() AND (t.until_at IS NULL OR t.until_at > now())
         ORDER BY t.from_at, u.id
         LIMIT 1) AS ask
FROM party p
JOIN matter m ON m.id = p.matter_id
WHERE p.firm_id = :firm_id
  AND p.deleted_at IS NULL
  AND m.deleted_at IS NULL
  AND p.name_norm LIKE '%' || lower(:q) || '%'
  AND has_role(:firm_id, :user_id, 'conflicts', 'partner')
ORDER BY (p.name_norm = lower(:q)) DESC, p.id
LIMIT LEAST(:limit, 50);

--- conflict-search bad 1
-- everybody who stands on both sides, starting from the parties of one matter
WITH base AS (
  SELECT p.name_norm, p.side
  FROM party p
  JOIN matter m ON m.id = p.matter_id
  WHERE p.matter_id = :matter_id
    AND p.firm_id = :firm_id
    AND p.deleted_at IS NULL
    AND m.deleted_at IS NULL
    AND has_role(:firm_id, :user_id, 'conflicts', 'partner')
)
SELECT DISTINCT ON (p.id)
       p.id, p.name, p.side, b.side AS side_here, m.id AS matter_id, m.state,
       CASE WHEN can_see(:firm_id, :user_id, m.id) THEN m.title END AS title
FROM base b
JOIN party p  ON p.name_norm = b.name_norm
             AND p.side <> b.side
             AND p.deleted_at IS NULL
JOIN matter m ON m.id = p.matter_id AND m.deleted_at IS NULL
WHERE p.matter_id <> :matter_id
ORDER BY p.id, b.side
LIMIT LEAST(:limit, 50);

--- matter-documents good
SELECT d.id, d.title, d.privileged, d.current_no,
       v.bytes, v.created_at, u.full_name AS created_by,
       CASE WHEN d.locked_until > now() THEN d.locked_by END AS locked_by,
       (SELECT COALESCE(jsonb_agg(jsonb_build_object('id', s.id, 'expires_at', s.expires_at, 'left', s.max_uses - s.uses)), '[]')
          FROM (SELECT x.id, x.expires_at, x.max_uses, x.uses
                  FROM share x
                 WHERE x.document_id = d.id AND x.revoked_at IS NULL AND x.expires_at > now()
                 ORDER BY x.expires_at, x.id
                 LIMIT 50) s) AS shares
FROM document d
LEFT JOIN document_version v ON v.document_id = d.id AND v.no = d.current_no
LEFT JOIN member u           ON u.id = v.created_by
WHERE d.matter_id = :matter_id
  AND d.firm_id = :firm_id
  AND d.deleted_at IS NULL
  AND can_see(:firm_id, :user_id, d.matter_id)
  AND (NOT d.privileged OR on_team(:firm_id, :user_id, d.matter_id, 'read'))
ORDER BY d.title, d.id
LIMIT LEAST(:limit, 50);

--- matter-documents good
WITH sight AS (
  SELECT m.id,
         EXISTS (SELECT 1 FROM team t
                 WHERE t.matter_id = m.id AND t.member_id = u.id
                   AND t.from_at <= now() AND (t.until_at IS NULL OR t.until_at > now())) AS in_team,
         (u.role = 'partner' AND NOT m.secret) AS as_partner
  FROM matter m
  JOIN member u ON u.firm_id = m.firm_id
  WHERE m.id = :matter_id
    AND m.firm_id = :firm_id
    AND m.deleted_at IS NULL
    AND u.id = :user_id
    AND u.active_from <= now()
    AND (u.left_at IS NULL OR u.left_at > now())
    AND NOT EXISTS (SELECT 1 FROM wall w
                    WHERE w.matter_id = m.id AND w.member_id = u.id AND w.lifted_at IS NULL)
), page AS (
  SELECT d.id, d.title, d.privileged, d.current_no, d.locked_by, d.locked_until
  FROM sight g
  JOIN document d ON d.matter_id = g.id AND d.deleted_at IS NULL
  WHERE g.in_team OR (g.as_partner AND NOT d.privileged)
  ORDER BY d.title, d.id
  LIMIT LEAST(:limit, 50)
), ranked AS (
  SELECT s.document_id, s.id, s.expires_at, s.max_uses - s.uses AS uses_left,
         row_number() OVER (PARTITION BY s.document_id ORDER BY s.expires_at, s.id) AS rn
  FROM page p
  JOIN share s ON s.document_id = p.id
  WHERE s.revoked_at IS NULL AND s.expires_at > now()
)
SELECT p.id, p.title, p.privileged, p.current_no, v.bytes, v.created_at, u.full_name AS created_by,
       CASE WHEN p.locked_until > now() THEN p.locked_by END AS locked_by,
       (SELECT jsonb_agg(jsonb_build_object('id', r.id, 'expires_at', r.expires_at, 'left', r.uses_left) ORDER BY r.rn)
          FROM ranked r
         WHERE r.document_id = p.id AND r.rn <= 50) AS shares
FROM page p
LEFT JOIN document_version v ON v.document_id = p.id AND v.no = p.current_no
LEFT JOIN member u           ON u.id = v.created_by
ORDER BY p.title, p.id;

--- matter-documents bad 12
WITH page AS (
  SELECT d.id, d.title, d.privileged, d.current_no, d.locked_by, d.locked_until
  FROM document d
  WHERE d.matter_id = :matter_id
    AND d.firm_id = :firm_id
    AND d.deleted_at IS NULL
    AND can_see(:firm_id, :user_id, d.matter_id)
  ORDER BY d.title, d.id
  LIMIT LEAST(:limit, 50)
), ranked AS (
  SELECT s.document_id, s.id, s.expires_at, s.max_uses - s.uses AS uses_left,
         row_number() OVER (PARTITION BY s.document_id ORDER BY s.expires_at, s.id) AS rn
  FROM page p
  JOIN share s ON s.document_id = p.id
  WHERE s.revoked_at IS NULL AND s.expires_at > now()
)
SELECT p.id, p.title, p.privileged, p.current_no, v.bytes, v.created_at, u.full_name AS created_by,
       CASE WHEN p.locked_until > now() THEN p.locked_by END AS locked_by,
       (SELECT jsonb_agg(jsonb_build_object('id', r.id, 'expires_at', r.expires_at, 'left', r.uses_left) ORDER BY r.rn)
          FROM ranked r
         WHERE r.document_id = p.id AND r.rn <= 50) AS shares
FROM page p
LEFT JOIN document_version v ON v.document_id = p.id AND v.no = p.current_no
LEFT JOIN member u           ON u.id = v.created_by
ORDER BY p.title, p.id;

--- matter-documents bad 6
SELECT d.id, d.title, d.privileged, d.current_no,
       v.bytes, v.sha256, v.storage_key, v.created_at, u.full_name AS created_by,
       CASE WHEN d.locked_until > now() THEN d.locked_by END AS locked_by,
       (SELECT count(*)
          FROM share s
         WHERE s.document_id = d.id AND s.revoked_at IS NULL AND s.expires_at > now()) AS open_shares
FROM document d
LEFT JOIN document_version v ON v.document_id = d.id AND v.no = d.current_no
LEFT JOIN member u           ON u.id = v.created_by
WHERE d.matter_id = :matter_id
  AND d.firm_id = :firm_id
  AND d.deleted_at IS NULL
  AND can_see(:firm_id, :user_id, d.matter_id)
  AND (NOT d.privileged OR on_team(:firm_id, :user_id, d.matter_id, 'read'))
ORDER BY d.title, d.id
LIMIT LEAST(:limit, 50);

--- matter-documents bad 7
SELECT d.id, d.title, d.privileged, d.current_no,
       CASE WHEN d.locked_until > now() THEN d.locked_by END AS locked_by,
       jsonb_agg(jsonb_build_object('no', v.no, 'bytes', v.bytes, 'at', v.created_at, 'by', u.full_name)
                 ORDER BY v.no DESC) FILTER (WHERE v.no IS NOT NULL) AS versions
FROM document d
LEFT JOIN document_version v ON v.document_id = d.id
LEFT JOIN member u           ON u.id = v.created_by
WHERE d.matter_id = :matter_id
  AND d.firm_id = :firm_id
  AND d.deleted_at IS NULL
  AND can_see(:firm_id, :user_id, d.matter_id)
  AND (NOT d.privileged OR on_team(:firm_id, :user_id, d.matter_id, 'read'))
GROUP BY d.id
ORDER BY d.title, d.id
LIMIT LEAST(:limit, 50);

--- unbilled-time good
-- approved and not billed, per matter and member
SELECT m.id AS matter_id,
       CASE WHEN NOT m.secret THEN m.title END AS title,
       u.id AS member_id, u.full_name,
       sum(e.minutes)                                      AS minutes,
       round(sum(e.minutes * e.rate_cents::bigint) / 60.0) AS cents,
       sum(sum(e.minutes)) OVER (PARTITION BY m.id)        AS matter_minutes
FROM time_entry e
JOIN matter m ON m.id = e.matter_id
JOIN member u ON u.id = e.member_id
WHERE e.firm_id = :firm_id
  AND e.state = 'approved'
  AND e.deleted_at IS NULL
  AND m.deleted_at IS NULL
  AND e.worked_on <= COALESCE(:up_to::date, firm_today(:firm_id))
  AND has_role(:firm_id, :user_id, 'billing')
  AND NOT walled(:user_id, m.id)
GROUP BY m.id, m.title, m.secret, u.id, u.full_name
ORDER BY m.id, u.id
LIMIT LEAST(:limit, 50);

--- unbilled-time good
WITH clerk AS (
  SELECT u.id, (now() AT TIME ZONE f.tz)::date AS today
  FROM member u
  JOIN firm f ON f.id = u.firm_id
  WHERE u.id = :user_id AND f.id = :firm_id
    AND u.role = 'billing'
    AND u.active_from <= now()
    AND (u.left_at IS NULL OR u.left_at > now())
), per_member AS (
  SELECT e.matter_id, e.member_id,
         sum(e.minutes)                             AS minutes,
         sum(e.minutes * e.rate_cents::bigint) / 60 AS cents
  FROM clerk c
  JOIN time_entry e ON e.firm_id = :firm_id
  WHERE e.state = 'approved'
    AND e.deleted_at IS NULL
    AND e.worked_on <= LEAST(:up_to::date, c.today)
    AND NOT EXISTS (SELECT 1 FROM wall w
                    WHERE w.matter_id = e.matter_id AND w.member_id = c.id AND w.lifted_at IS NULL)
  GROUP BY e.matter_id, e.member_id
)
SELECT m.id AS matter_id,
       CASE m.secret WHEN false THEN m.title END AS title,
       u.id AS member_id, u.full_name, pm.minutes, round(pm.cents) AS cents,
       sum(pm.minutes) OVER (PARTITION BY m.id) AS matter_minutes
FROM per_member pm
JOIN matter m ON m.id = pm.matter_id AND m.deleted_at IS NULL
JOIN member u ON u.id = pm.member_id
ORDER BY pm.cents DESC, m.id, u.id
LIMIT 50;

--- unbilled-time bad 4
WITH clerk AS (
  SELECT u.id, (now() AT TIME ZONE f.tz)::date AS today
  FROM member u
  JOIN firm f ON f.id = u.firm_id
  WHERE u.id = :user_id AND f.id = :firm_id
    AND u.role = 'billing'
    AND u.active_from <= now()
    AND (u.left_at IS NULL OR u.left_at > now())
), per_member AS (
  SELECT e.matter_id, e.member_id,
         sum(e.minutes)                             AS minutes,
         sum(e.minutes * e.rate_cents::bigint) / 60 AS cents
  FROM clerk c
  JOIN time_entry e ON e.firm_id = :firm_id
  WHERE e.state = 'approved'
    AND e.deleted_at IS NULL
    AND e.worked_on <= LEAST(:up_to::date, c.today)
  GROUP BY e.matter_id, e.member_id
)
SELECT m.id AS matter_id,
       CASE WHEN NOT m.secret AND NOT walled(:user_id, m.id) THEN m.title END AS title,
       u.id AS member_id, u.full_name, pm.minutes, round(pm.cents) AS cents,
       sum(pm.minutes) OVER (PARTITION BY m.id) AS matter_minutes
FROM per_member pm
JOIN matter m ON m.id = pm.matter_id AND m.deleted_at IS NULL
JOIN member u ON u.id = pm.member_id
ORDER BY pm.cents DESC, m.id, u.id
LIMIT 50;

--- unbilled-time bad 6
-- approved and not billed, per matter and member
SELECT m.id AS matter_id, m.title,
       u.id AS member_id, u.full_name,
       sum(e.minutes)                                      AS minutes,
       round(sum(e.minutes * e.rate_cents::bigint) / 60.0) AS cents,
       sum(sum(e.minutes)) OVER (PARTITION BY m.id)        AS matter_minutes
FROM time_entry e
JOIN matter m ON m.id = e.matter_id
JOIN member u ON u.id = e.member_id
WHERE e.firm_id = :firm_id
  AND e.state = 'approved'
  AND e.deleted_at IS NULL
  AND m.deleted_at IS NULL
  AND e.worked_on <= COALESCE(:up_to::date, firm_today(:firm_id))
  AND has_role(:firm_id, :user_id, 'billing')
  AND NOT walled(:user_id, m.id)
GROUP BY m.id, m.title, u.id, u.full_name
ORDER BY m.id, u.id
LIMIT LEAST(:limit, 50);

--- unbilled-time bad 5
SELECT m.id AS matter_id,
       CASE WHEN NOT m.secret THEN m.title END AS title,
       t.member_id, t.full_name, t.minutes, t.cents,
       sum(t.minutes) OVER (PARTITION BY m.id) AS matter_minutes
FROM matter m
CROSS JOIN LATERAL (
  SELECT u.id AS member_id, u.full_name,
         sum(e.minutes)                                      AS minutes,
         round(sum(e.minutes * e.rate_cents::bigint) / 60.0) AS cents
  FROM time_entry e
  JOIN member u ON u.id = e.member_id
  WHERE e.matter_id = m.id
    AND e.state = 'approved'
    AND e.worked_on <= COALESCE(:up_to::date, firm_today(:firm_id))
  GROUP BY u.id, u.full_name
) t
WHERE m.firm_id = :firm_id
  AND m.deleted_at IS NULL
  AND has_role(:firm_id, :user_id, 'billing')
  AND NOT walled(:user_id, m.id)
ORDER BY m.id, t.member_id
LIMIT LEAST(:limit, 50);

--- time-sheet good
-- my days, empty ones too
SELECT g.day::date AS day,
       (SELECT COALESCE(sum(e.minutes), 0)
          FROM time_entry e
         WHERE e.member_id = me.id AND e.worked_on = g.day::date AND e.deleted_at IS NULL) AS minutes,
       (SELECT jsonb_agg(jsonb_build_object('id', x.id, 'matter_id', x.matter_id, 'minutes', x.minutes,
                                            'state', x.state, 'title', x.title, 'narrative', x.narrative) ORDER BY x.id)
          FROM (SELECT e.id, e.matter_id, e.minutes, e.state,
                       CASE WHEN s.ok THEN m.title END     AS title,
                       CASE WHEN s.ok THEN e.narrative END AS narrative
                  FROM time_entry e
                  JOIN matter m ON m.id = e.matter_id
                  CROSS JOIN LATERAL (SELECT can_see(:firm_id, :user_id, e.matter_id) AS ok) s
                 WHERE e.member_id = me.id AND e.worked_on = g.day::date AND e.deleted_at IS NULL
                 ORDER BY e.id
                 LIMIT 50) x) AS entries
FROM member me
CROSS JOIN LATERAL generate_series(
  COALESCE(:from_day::date, firm_today(:firm_id) - 6)::timestamp,
  COALESCE(:to_day::date,   firm_today(:firm_id))::timestamp,
  interval '1 day') AS g(day)
WHERE me.id = :user_id
  AND me.firm_id = :firm_id
  AND me.active_from <= now()
  AND (me.left_at IS NULL OR me.left_at > now())
ORDER BY g.day DESC
LIMIT 50;

--- time-sheet good
WITH me AS (
  SELECT u.id, (now() AT TIME ZONE f.tz)::date AS today
  FROM member u
  JOIN firm f ON f.id = u.firm_id
  WHERE u.id = :user_id AND u.firm_id = :firm_id
    AND u.active_from <= now()
    AND COALESCE(u.left_at, 'infinity') > now()
), mine AS (
  SELECT e.id, e.matter_id, e.worked_on, e.minutes, e.state, e.narrative,
         sum(e.minutes) OVER (PARTITION BY e.worked_on) AS day_minutes,
         can_see(:firm_id, :user_id, e.matter_id)       AS sight
  FROM me
  JOIN time_entry e ON e.member_id = me.id AND e.deleted_at IS NULL
  WHERE e.worked_on BETWEEN COALESCE(:from_day, me.today - 6) AND COALESCE(:to_day, me.today)
)
SELECT x.id, x.matter_id, x.worked_on, x.minutes, x.day_minutes, x.state,
       m.title,
       CASE WHEN x.sight THEN x.narrative END AS narrative
FROM mine x
LEFT JOIN matter m ON m.id = x.matter_id AND x.sight
ORDER BY x.worked_on DESC, x.id DESC
LIMIT LEAST(:limit, 50);

--- time-sheet bad 3,4,6
WITH me AS (
  SELECT u.id, (now() AT TIME ZONE f.tz)::date AS today
  FROM member u
  JOIN firm f ON f.id = u.firm_id
  WHERE u.id = :user_id AND u.firm_id = :firm_id
    AND u.active_from <= now()
    AND COALESCE(u.left_at, 'infinity') > now()
), mine AS (
  SELECT e.id, e.matter_id, e.worked_on, e.minutes, e.state, e.narrative,
         sum(e.minutes) OVER (PARTITION BY e.worked_on) AS day_minutes
  FROM me
  JOIN time_entry e ON e.member_id = me.id AND e.deleted_at IS NULL
  WHERE e.worked_on BETWEEN COALESCE(:from_day, me.today - 6) AND COALESCE(:to_day, me.today)
)
SELECT x.id, x.matter_id, x.worked_on, x.minutes, x.day_minutes, x.state,
       m.title,
       CASE WHEN m.id IS NOT NULL THEN x.narrative END AS narrative
FROM mine x
LEFT JOIN matter m ON m.id = x.matter_id
                  AND m.firm_id = :firm_id
                  AND m.deleted_at IS NULL
ORDER BY x.worked_on DESC, x.id DESC
LIMIT LEAST(:limit, 50);

--- time-sheet bad 11
WITH me AS (
  SELECT u.id
  FROM member u
  WHERE u.id = :user_id AND u.firm_id = :firm_id
    AND u.active_from <= now()
    AND (u.left_at IS NULL OR u.left_at > now())
), mine AS (
  SELECT e.id, e.matter_id, e.worked_on, e.minutes, e.state, e.narrative,
         sum(e.minutes) OVER (PARTITION BY e.worked_on) AS day_minutes,
         can_see(:firm_id, :user_id, e.matter_id)       AS sight
  FROM me
  JOIN time_entry e ON e.member_id = me.id AND e.deleted_at IS NULL
  WHERE e.worked_on BETWEEN COALESCE(:from_day, CURRENT_DATE - 6) AND COALESCE(:to_day, CURRENT_DATE)
)
SELECT x.id, x.matter_id, x.worked_on, x.minutes, x.day_minutes, x.state,
       m.title,
       CASE WHEN x.sight THEN x.narrative END AS narrative
FROM mine x
LEFT JOIN matter m ON m.id = x.matter_id AND x.sight
ORDER BY x.worked_on DESC, x.id DESC
LIMIT LEAST(:limit, 50);

--- time-sheet bad 7
-- my days, empty ones too
SELECT g.day::date AS day,
       COALESCE(t.minutes, 0) AS minutes,
       COALESCE(t.drafts, 0)  AS drafts,
       t.matters
FROM member me
CROSS JOIN LATERAL generate_series(
  COALESCE(:from_day::date, firm_today(:firm_id) - 6)::timestamp,
  COALESCE(:to_day::date,   firm_today(:firm_id))::timestamp,
  interval '1 day') AS g(day)
LEFT JOIN LATERAL (
  SELECT sum(e.minutes)                            AS minutes,
         count(*) FILTER (WHERE e.state = 'draft') AS drafts,
         count(DISTINCT e.matter_id)               AS matters
  FROM time_entry e
  WHERE e.member_id = me.id
    AND e.worked_on = g.day::date
    AND e.deleted_at IS NULL
) t ON TRUE
WHERE me.id = :user_id
  AND me.firm_id = :firm_id
  AND me.active_from <= now()
  AND (me.left_at IS NULL OR me.left_at > now())
ORDER BY g.day DESC
LIMIT COALESCE(:limit, 50);

--- open-matter good
-- 1. nobody adds parties or decides checks meanwhile
SELECT m.id FROM matter m
WHERE m.id = :matter_id AND m.firm_id = :firm_id AND m.deleted_at IS NULL
FOR UPDATE;

-- 2. open on a good clearance
UPDATE matter m
SET state = 'open', opened_at = now(), opened_by = :user_id
WHERE m.id = :matter_id
  AND m.firm_id = :firm_id
  AND m.deleted_at IS NULL
  AND m.state = 'intake'
  AND on_team(:firm_id, :user_id, m.id, 'lead')
  AND EXISTS (
        SELECT 1
        FROM conflict_check c
        WHERE c.matter_id = m.id
          AND c.id = (SELECT max(x.id) FROM conflict_check x WHERE x.matter_id = m.id)
          AND c.outcome IN ('clear', 'waived')
          AND c.decided_at IS NOT NULL
          AND c.valid_until > now()
          AND c.decided_by NOT IN (c.asked_by, :user_id)
          AND NOT EXISTS (SELECT 1 FROM party p
                          WHERE p.matter_id = m.id
                            AND p.deleted_at IS NULL
                            AND p.added_at >= c.decided_at))
RETURNING m.id, m.state, m.opened_at;

--- open-matter good
CREATE OR REPLACE FUNCTION open_matter(p_firm bigint, p_user bigint, p_matter bigint)
RETURNS timestamptz LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_state matter_state;
  c       conflict_check%ROWTYPE;
BEGIN
  SELECT m.state INTO v_state
  FROM matter m
  WHERE m.id = p_matter AND m.firm_id = p_firm AND m.deleted_at IS NULL
  FOR UPDATE;

  IF v_state IS DISTINCT FROM 'intake' OR NOT on_team(p_firm, p_user, p_matter, 'lead') THEN
    RAISE EXCEPTION 'matter can not be opened';
  END IF;

  SELECT * INTO c
  FROM conflict_check x
  WHERE x.matter_id = p_matter
  ORDER BY x.id DESC
  LIMIT 1;

  IF NOT FOUND OR c.decided_at IS NULL OR c.outcome IS NULL OR c.outcome = 'refused' THEN
    RAISE EXCEPTION 'no clearance';
  END IF;
  IF c.valid_until IS NULL OR c.valid_until <= now() THEN
    RAISE EXCEPTION 'clearance has run out';
  END IF;
  IF c.decided_by IS NULL OR c.decided_by = p_user OR c.decided_by = c.asked_by THEN
    RAISE EXCEPTION 'clearance by somebody else is needed';
  END IF;
  IF EXISTS (SELECT 1 FROM party p
             WHERE p.matter_id = p_matter AND p.deleted_at IS NULL AND p.added_at >= c.decided_at) THEN
    RAISE EXCEPTION 'parties were added after the clearance';
  END IF;

  UPDATE matter SET state = 'open', opened_at = now(), opened_by = p_user WHERE id = p_matter;
  RETURN now();
END $$;

--- open-matter bad 9
-- 1. nobody adds parties or decides checks meanwhile
SELECT m.id FROM matter m
WHERE m.id = :matter_id AND m.firm_id = :firm_id AND m.deleted_at IS NULL
FOR UPDATE;

-- 2. open on a good clearance
WITH last_check AS (
  SELECT DISTINCT ON (c.matter_id) c.matter_id, c.outcome, c.asked_by, c.decided_by, c.decided_at, c.valid_until
  FROM conflict_check c
  WHERE c.matter_id = :matter_id
    AND c.firm_id = :firm_id
    AND c.outcome IS NOT NULL
  ORDER BY c.matter_id, c.id DESC
)
UPDATE matter m
SET state = 'open', opened_at = now(), opened_by = :user_id
FROM last_check c
WHERE m.id = c.matter_id
  AND m.firm_id = :firm_id
  AND m.deleted_at IS NULL
  AND m.state = 'intake'
  AND on_team(:firm_id, :user_id, m.id, 'lead')
  AND c.outcome IN ('clear', 'waived')
  AND c.decided_at IS NOT NULL
  AND c.valid_until > now()
  AND c.decided_by NOT IN (c.asked_by, :user_id)
  AND NOT EXISTS (SELECT 1 FROM party p
                  WHERE p.matter_id = m.id
                    AND p.deleted_at IS NULL
                    AND p.added_at >= c.decided_at)
RETURNING m.id, m.state, m.opened_at;

--- open-matter bad 10
CREATE OR REPLACE FUNCTION open_matter(p_firm bigint, p_user bigint, p_matter bigint)
RETURNS timestamptz LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_state matter_state;
  c       conflict_check%ROWTYPE;
BEGIN
  SELECT m.state INTO v_state
  FROM matter m
  WHERE m.id = p_matter AND m.firm_id = p_firm AND m.deleted_at IS NULL
  FOR UPDATE;

  IF v_state IS DISTINCT FROM 'intake' OR NOT on_team(p_firm, p_user, p_matter, 'lead') THEN
    RAISE EXCEPTION 'matter can not be opened';
  END IF;

  SELECT * INTO c
  FROM conflict_check x
  WHERE x.matter_id = p_matter
  ORDER BY x.id DESC
  LIMIT 1;

  IF NOT FOUND OR c.decided_at IS NULL OR c.outcome IS NULL OR c.outcome = 'refused' THEN
    RAISE EXCEPTION 'no clearance';
  END IF;
  IF c.valid_until IS NULL OR c.valid_until <= now() THEN
    RAISE EXCEPTION 'clearance has run out';
  END IF;
  IF c.decided_by IS NULL OR c.decided_by = c.asked_by THEN
    RAISE EXCEPTION 'clearance by somebody else is needed';
  END IF;
  IF EXISTS (SELECT 1 FROM party p
             WHERE p.matter_id = p_matter AND p.deleted_at IS NULL AND p.added_at >= c.decided_at) THEN
    RAISE EXCEPTION 'parties were added after the clearance';
  END IF;

  UPDATE matter SET state = 'open', opened_at = now(), opened_by = p_user WHERE id = p_matter;
  RETURN now();
END $$;

--- open-matter bad 2
-- 1. nobody adds parties or decides checks meanwhile
SELECT m.id FROM matter m
WHERE m.id = :matter_id AND m.firm_id = :firm_id AND m.deleted_at IS NULL
FOR UPDATE;

-- 2. open on a good clearance
UPDATE matter m
SET state = 'open', opened_at = now(), opened_by = :user_id
WHERE m.id = :matter_id
  AND m.firm_id = :firm_id
  AND m.deleted_at IS NULL
  AND m.state = 'intake'
  AND (on_team(:firm_id, :user_id, m.id, 'lead')
       OR (has_role(:firm_id, :user_id, 'partner') AND can_see(:firm_id, :user_id, m.id)))
  AND EXISTS (
        SELECT 1
        FROM conflict_check c
        WHERE c.matter_id = m.id
          AND c.id = (SELECT max(x.id) FROM conflict_check x WHERE x.matter_id = m.id)
          AND c.outcome IN ('clear', 'waived')
          AND c.decided_at IS NOT NULL
          AND c.valid_until > now()
          AND c.decided_by NOT IN (c.asked_by, :user_id)
          AND NOT EXISTS (SELECT 1 FROM party p
                          WHERE p.matter_id = m.id
                            AND p.deleted_at IS NULL
                            AND p.added_at >= c.decided_at))
RETURNING m.id, m.state, m.opened_at;

--- log-time good
-- 1. my entries one after the other
SELECT u.id FROM member u WHERE u.id = :user_id AND u.firm_id = :firm_id FOR UPDATE;

-- 2. log if the day still has room
INSERT INTO time_entry (firm_id, matter_id, member_id, worked_on, minutes, narrative, rate_cents)
SELECT m.firm_id, m.id, u.id, :worked_on::date, :minutes::int, :narrative, u.rate_cents
FROM matter m
JOIN member u ON u.id = :user_id AND u.firm_id = m.firm_id
WHERE m.id = :matter_id
  AND m.firm_id = :firm_id
  AND m.deleted_at IS NULL
  AND m.state = 'open'
  AND on_team(:firm_id, :user_id, m.id, 'work')
  AND :worked_on::date BETWEEN firm_today(:firm_id) - 14 AND firm_today(:firm_id)
  AND :minutes::int + (
        SELECT COALESCE(sum(e.minutes), 0)
        FROM time_entry e
        WHERE e.member_id = u.id
          AND e.worked_on = :worked_on::date
          AND e.deleted_at IS NULL) <= 1440
RETURNING id, worked_on, minutes;

--- log-time good
CREATE OR REPLACE FUNCTION log_time(p_firm bigint, p_user bigint, p_matter bigint, p_day date, p_minutes int, p_text text)
RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_today date;
  v_rate  int;
  v_sum   bigint;
  v_id    bigint;
BEGIN
  SELECT u.rate_cents INTO v_rate
  FROM member u
  WHERE u.id = p_user AND u.firm_id = p_firm
    AND u.active_from <= now() AND (u.left_at IS NULL OR u.left_at > now())
  FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'not a member';
  END IF;

  PERFORM 1 FROM matter m
  WHERE m.id = p_matter AND m.firm_id = p_firm AND m.deleted_at IS NULL AND m.state = 'open'
    AND on_team(p_firm, p_user, m.id, 'work');
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such open matter';
  END IF;

  SELECT (now() AT TIME ZONE f.tz)::date INTO STRICT v_today FROM firm f WHERE f.id = p_firm;
  IF p_day IS NULL OR p_day > v_today OR p_day < v_today - 14 THEN
    RAISE EXCEPTION 'day % is out of range', p_day;
  END IF;

  SELECT COALESCE(sum(e.minutes), 0) INTO v_sum
  FROM time_entry e
  WHERE e.member_id = p_user AND e.worked_on = p_day AND e.deleted_at IS NULL;
  IF p_minutes IS NULL OR v_sum + p_minutes > 1440 THEN
    RAISE EXCEPTION 'a day has 1440 minutes';
  END IF;

  INSERT INTO time_entry (firm_id, matter_id, member_id, worked_on, minutes, narrative, rate_cents)
  VALUES (p_firm, p_matter, p_user, p_day, p_minutes, p_text, v_rate)
  RETURNING id INTO v_id;
  RETURN v_id;
END $$;

--- log-time bad 11
WITH me AS (
  SELECT u.id, u.firm_id, u.rate_cents
  FROM member u
  WHERE u.id = :user_id AND u.firm_id = :firm_id
  FOR UPDATE
), used AS (
  SELECT COALESCE(sum(e.minutes), 0) AS minutes
  FROM time_entry e
  JOIN me ON me.id = e.member_id
  WHERE e.worked_on = :worked_on::date AND e.deleted_at IS NULL
)
INSERT INTO time_entry (firm_id, matter_id, member_id, worked_on, minutes, narrative, rate_cents)
SELECT m.firm_id, m.id, me.id, :worked_on::date, :minutes::int, :narrative, me.rate_cents
FROM me
CROSS JOIN used
JOIN matter m ON m.firm_id = me.firm_id
WHERE m.id = :matter_id
  AND m.deleted_at IS NULL
  AND m.state = 'open'
  AND on_team(:firm_id, :user_id, m.id, 'work')
  AND :worked_on::date BETWEEN firm_today(:firm_id) - 14 AND firm_today(:firm_id)
  AND used.minutes + :minutes::int <= 1440
RETURNING id, worked_on, minutes;

--- log-time bad 2
-- 1. my entries one after the other
SELECT u.id FROM member u WHERE u.id = :user_id AND u.firm_id = :firm_id FOR UPDATE;

-- 2. log if the day still has room
INSERT INTO time_entry (firm_id, matter_id, member_id, worked_on, minutes, narrative, rate_cents)
SELECT m.firm_id, m.id, u.id, :worked_on::date, :minutes::int, :narrative, u.rate_cents
FROM matter m
JOIN member u ON u.id = :user_id AND u.firm_id = m.firm_id
WHERE m.id = :matter_id
  AND m.firm_id = :firm_id
  AND m.deleted_at IS NULL
  AND m.state = 'open'
  AND can_see(:firm_id, :user_id, m.id)
  AND :worked_on::date BETWEEN firm_today(:firm_id) - 14 AND firm_today(:firm_id)
  AND :minutes::int + (
        SELECT COALESCE(sum(e.minutes), 0)
        FROM time_entry e
        WHERE e.member_id = u.id
          AND e.worked_on = :worked_on::date
          AND e.deleted_at IS NULL) <= 1440
RETURNING id, worked_on, minutes;

--- log-time bad 10,11
CREATE OR REPLACE FUNCTION log_time(p_firm bigint, p_user bigint, p_matter bigint, p_author bigint, p_day date, p_minutes int, p_text text)
RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_author bigint := COALESCE(p_author, p_user);
  v_today  date := firm_today(p_firm);
  v_rate   int;
  v_sum    bigint;
  v_id     bigint;
BEGIN
  SELECT u.rate_cents INTO v_rate
  FROM member u
  WHERE u.id = v_author AND u.firm_id = p_firm
  FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'not a member';
  END IF;

  PERFORM 1 FROM matter m
  WHERE m.id = p_matter AND m.firm_id = p_firm AND m.deleted_at IS NULL AND m.state = 'open'
    AND on_team(p_firm, p_user, m.id, 'work')
    AND on_team(p_firm, v_author, m.id, 'work');
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such open matter';
  END IF;

  IF p_day IS NULL OR p_day > v_today OR p_day < v_today - 14 THEN
    RAISE EXCEPTION 'day % is out of range', p_day;
  END IF;

  SELECT COALESCE(sum(e.minutes), 0) INTO v_sum
  FROM time_entry e
  WHERE e.member_id = v_author AND e.worked_on = p_day AND e.deleted_at IS NULL;
  IF p_minutes IS NULL OR v_sum + p_minutes > 1440 THEN
    RAISE EXCEPTION 'a day has 1440 minutes';
  END IF;

  INSERT INTO time_entry (firm_id, matter_id, member_id, worked_on, minutes, narrative, rate_cents)
  VALUES (p_firm, p_matter, v_author, p_day, p_minutes, p_text, v_rate)
  RETURNING id INTO v_id;
  RETURN v_id;
END $$;

--- approve-time good
UPDATE time_entry e
SET state = 'approved', approved_by = :user_id, approved_at = now()
FROM matter m
WHERE e.id = ANY (:entry_ids::bigint[])
  AND e.firm_id = :firm_id
  AND e.deleted_at IS NULL
  AND e.state = 'submitted'
  AND e.member_id <> :user_id
  AND m.id = e.matter_id
  AND m.deleted_at IS NULL
  AND m.state IN ('open', 'closed')
  AND on_team(:firm_id, :user_id, m.id, 'lead')
RETURNING e.id, e.matter_id, e.minutes;

--- approve-time good
-- all submitted entries of one matter up to a day
CREATE OR REPLACE FUNCTION approve_time(p_firm bigint, p_user bigint, p_matter bigint, p_up_to date)
RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_minutes bigint;
BEGIN
  PERFORM 1
  FROM matter m
  JOIN team t   ON t.matter_id = m.id AND t.member_id = p_user AND t.access = 'lead'
  JOIN member u ON u.id = t.member_id AND u.firm_id = m.firm_id
  WHERE m.id = p_matter AND m.firm_id = p_firm AND m.deleted_at IS NULL
    AND m.state IN ('open', 'closed')
    AND t.from_at <= now() AND (t.until_at IS NULL OR t.until_at > now())
    AND u.active_from <= now() AND (u.left_at IS NULL OR u.left_at > now())
    AND NOT EXISTS (SELECT 1 FROM wall w
                    WHERE w.matter_id = m.id AND w.member_id = u.id AND w.lifted_at IS NULL)
  FOR SHARE OF m;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'not allowed';
  END IF;

  WITH done AS (
    UPDATE time_entry e
    SET state = 'approved', approved_by = p_user, approved_at = now()
    WHERE e.matter_id = p_matter
      AND e.firm_id = p_firm
      AND e.worked_on <= p_up_to
      AND e.state = 'submitted'
      AND e.deleted_at IS NULL
      AND e.member_id <> p_user
    RETURNING e.minutes
  )
  SELECT COALESCE(sum(minutes), 0) INTO v_minutes FROM done;
  RETURN v_minutes;
END $$;

--- approve-time bad 8
WITH todo AS (
  SELECT e.id, e.matter_id
  FROM time_entry e
  JOIN matter m ON m.id = e.matter_id
  WHERE e.id = ANY (:entry_ids::bigint[])
    AND e.firm_id = :firm_id
    AND e.deleted_at IS NULL
    AND e.state = 'submitted'
    AND e.member_id <> :user_id
    AND m.deleted_at IS NULL
    AND m.state IN ('open', 'closed')
    AND on_team(:firm_id, :user_id, m.id, 'lead')
)
UPDATE time_entry e
SET state = 'approved', approved_by = :user_id, approved_at = now()
FROM todo
WHERE e.id = todo.id
  AND e.deleted_at IS NULL
RETURNING e.id, e.matter_id, e.minutes;

--- approve-time bad 10
UPDATE time_entry e
SET state = 'approved', approved_by = :user_id, approved_at = now()
FROM matter m, member a
WHERE e.id = ANY (:entry_ids::bigint[])
  AND e.firm_id = :firm_id
  AND e.deleted_at IS NULL
  AND e.state = 'submitted'
  AND a.id = e.member_id
  AND a.firm_id = e.firm_id
  AND m.id = e.matter_id
  AND m.deleted_at IS NULL
  AND m.state IN ('open', 'closed')
  AND on_team(:firm_id, :user_id, m.id, 'lead')
RETURNING e.id, e.matter_id, a.full_name AS author, e.minutes;

--- approve-time bad 2,4
UPDATE time_entry e
SET state = 'approved', approved_by = :user_id, approved_at = now()
FROM matter m
WHERE e.id = ANY (:entry_ids::bigint[])
  AND e.firm_id = :firm_id
  AND e.deleted_at IS NULL
  AND e.state = 'submitted'
  AND e.member_id <> :user_id
  AND m.id = e.matter_id
  AND m.deleted_at IS NULL
  AND m.state IN ('open', 'closed')
  AND on_team(:firm_id, :user_id, :matter_id, 'lead')
RETURNING e.id, e.matter_id, e.minutes;

--- new-version good
-- check in: next number, lock is given back
WITH d AS (
  UPDATE document d
  SET current_no = d.current_no + 1, locked_by = NULL, locked_until = NULL
  WHERE d.id = :document_id
    AND d.firm_id = :firm_id
    AND d.deleted_at IS NULL
    AND d.locked_by = :user_id
    AND d.locked_until > now()
    AND on_team(:firm_id, :user_id, d.matter_id, 'work')
  RETURNING d.id, d.current_no
)
INSERT INTO document_version (document_id, no, storage_key, sha256, bytes, created_by, created_at)
SELECT d.id, d.current_no, :storage_key, :sha256, :bytes, :user_id, now()
FROM d
RETURNING document_id, no, created_at;

--- new-version good
CREATE OR REPLACE FUNCTION new_version(p_firm bigint, p_user bigint, p_document bigint, p_key text, p_sha text, p_bytes bigint)
RETURNS int LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  d document%ROWTYPE;
BEGIN
  SELECT * INTO d
  FROM document
  WHERE id = p_document AND firm_id = p_firm AND deleted_at IS NULL
  FOR UPDATE;

  IF NOT FOUND OR NOT on_team(p_firm, p_user, d.matter_id, 'work') THEN
    RAISE EXCEPTION 'no such document';
  END IF;
  IF d.locked_by IS DISTINCT FROM p_user OR d.locked_until IS NULL OR d.locked_until <= now() THEN
    RAISE EXCEPTION 'check the document out first';
  END IF;

  INSERT INTO document_version (document_id, no, storage_key, sha256, bytes, created_by, created_at)
  VALUES (d.id, d.current_no + 1, p_key, p_sha, p_bytes, p_user, now());

  UPDATE document SET current_no = d.current_no + 1 WHERE id = d.id;
  RETURN d.current_no + 1;
END $$;

--- new-version bad 12
CREATE OR REPLACE FUNCTION new_version(p_firm bigint, p_user bigint, p_document bigint, p_key text, p_sha text, p_bytes bigint)
RETURNS int LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  d document%ROWTYPE;
BEGIN
  SELECT * INTO d
  FROM document
  WHERE id = p_document AND firm_id = p_firm AND deleted_at IS NULL
  FOR UPDATE;

  IF NOT FOUND OR NOT on_team(p_firm, p_user, d.matter_id, 'work') THEN
    RAISE EXCEPTION 'no such document';
  END IF;
  IF d.locked_by <> p_user AND d.locked_until > now() THEN
    RAISE EXCEPTION 'somebody else has checked the document out';
  END IF;

  INSERT INTO document_version (document_id, no, storage_key, sha256, bytes, created_by, created_at)
  VALUES (d.id, d.current_no + 1, p_key, p_sha, p_bytes, p_user, now());

  UPDATE document SET current_no = d.current_no + 1 WHERE id = d.id;
  RETURN d.current_no + 1;
END $$;

--- new-version bad 12
WITH next AS (
  SELECT d.id, COALESCE(max(v.no), 0) + 1 AS no
  FROM document d
  LEFT JOIN document_version v ON v.document_id = d.id
  WHERE d.id = :document_id
    AND d.firm_id = :firm_id
    AND d.deleted_at IS NULL
    AND d.locked_by = :user_id
    AND d.locked_until > now()
    AND on_team(:firm_id, :user_id, d.matter_id, 'work')
  GROUP BY d.id
), ins AS (
  INSERT INTO document_version (document_id, no, storage_key, sha256, bytes, created_by, created_at)
  SELECT next.id, next.no, :storage_key, :sha256, :bytes, :user_id, now()
  FROM next
  ON CONFLICT (document_id, no) DO UPDATE
    SET storage_key = EXCLUDED.storage_key, sha256 = EXCLUDED.sha256, bytes = EXCLUDED.bytes,
        created_by = EXCLUDED.created_by, created_at = EXCLUDED.created_at
  RETURNING document_id, no
)
UPDATE document d
SET current_no = ins.no, locked_by = NULL, locked_until = NULL
FROM ins
WHERE d.id = ins.document_id
RETURNING d.id, d.current_no;

--- new-version bad 2,4
-- check in: next number, lock is given back
WITH d AS (
  UPDATE document d
  SET current_no = d.current_no + 1, locked_by = NULL, locked_until = NULL
  FROM matter m
  WHERE d.id = :document_id
    AND d.firm_id = :firm_id
    AND d.deleted_at IS NULL
    AND m.id = d.matter_id
    AND m.deleted_at IS NULL
    AND d.locked_by = :user_id
    AND d.locked_until > now()
  RETURNING d.id, d.current_no
)
INSERT INTO document_version (document_id, no, storage_key, sha256, bytes, created_by, created_at)
SELECT d.id, d.current_no, :storage_key, :sha256, :bytes, :user_id, now()
FROM d
RETURNING document_id, no, created_at;

--- redeem-share good
-- public: the token is all we get
WITH used AS (
  UPDATE share s
  SET uses = s.uses + 1
  FROM document d
  JOIN matter m ON m.id = d.matter_id
  WHERE s.token_hash = encode(sha256(convert_to(:token, 'UTF8')), 'hex')
    AND s.revoked_at IS NULL
    AND s.expires_at > now()
    AND s.uses < s.max_uses
    AND d.id = s.document_id
    AND d.deleted_at IS NULL
    AND NOT d.privileged
    AND m.deleted_at IS NULL
  RETURNING s.id AS share_id, d.id AS document_id, d.current_no, d.title
), logged AS (
  INSERT INTO access_log (document_id, no, share_id, at)
  SELECT u.document_id, u.current_no, u.share_id, now()
  FROM used u
  RETURNING document_id, no
)
SELECT u.title, v.storage_key, v.bytes
FROM used u
JOIN logged l           ON l.document_id = u.document_id
JOIN document_version v ON v.document_id = l.document_id AND v.no = l.no;

--- redeem-share good
CREATE OR REPLACE FUNCTION redeem_share(p_token text)
RETURNS TABLE (title text, storage_key text, bytes bigint) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  s record;
BEGIN
  SELECT x.id, x.document_id, x.uses, x.max_uses, x.expires_at, x.revoked_at INTO s
  FROM share x
  WHERE x.token_hash = encode(sha256(convert_to(p_token, 'UTF8')), 'hex')
  FOR UPDATE;
  IF NOT FOUND OR s.revoked_at IS NOT NULL OR s.expires_at <= now() OR s.uses >= s.max_uses THEN
    RETURN;
  END IF;

  RETURN QUERY
  WITH doc AS (
    SELECT d.id, d.title, v.no, v.storage_key, v.bytes
    FROM document d
    JOIN matter m           ON m.id = d.matter_id AND m.deleted_at IS NULL
    JOIN document_version v ON v.document_id = d.id AND v.no = d.current_no
    WHERE d.id = s.document_id AND d.deleted_at IS NULL AND d.privileged = false
  ), logged AS (
    INSERT INTO access_log (document_id, no, share_id, at)
    SELECT doc.id, doc.no, s.id, now() FROM doc
  )
  SELECT doc.title, doc.storage_key, doc.bytes FROM doc;

  IF FOUND THEN
    UPDATE share SET uses = share.uses + 1 WHERE share.id = s.id;
  END IF;
END $$;

--- redeem-share bad 12
CREATE OR REPLACE FUNCTION redeem_share(p_token text)
RETURNS TABLE (title text, storage_key text, bytes bigint) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  s record;
BEGIN
  SELECT x.id, x.document_id, x.uses, x.max_uses, x.expires_at, x.revoked_at INTO s
  FROM share x
  WHERE x.token_hash = encode(sha256(convert_to(p_token, 'UTF8')), 'hex');
  IF NOT FOUND OR s.revoked_at IS NOT NULL OR s.expires_at <= now() OR s.uses >= s.max_uses THEN
    RETURN;
  END IF;

  RETURN QUERY
  WITH doc AS (
    SELECT d.id, d.title, v.no, v.storage_key, v.bytes
    FROM document d
    JOIN matter m           ON m.id = d.matter_id AND m.deleted_at IS NULL
    JOIN document_version v ON v.document_id = d.id AND v.no = d.current_no
    WHERE d.id = s.document_id AND d.deleted_at IS NULL AND d.privileged = false
  ), logged AS (
    INSERT INTO access_log (document_id, no, share_id, at)
    SELECT doc.id, doc.no, s.id, now() FROM doc
  )
  SELECT doc.title, doc.storage_key, doc.bytes FROM doc;

  IF FOUND THEN
    UPDATE share SET uses = share.uses + 1 WHERE share.id = s.id;
  END IF;
END $$;

--- redeem-share bad 6
-- public: the token is all we get
WITH used AS (
  UPDATE share s
  SET uses = s.uses + 1
  FROM document d
  JOIN matter m ON m.id = d.matter_id
  WHERE s.token_hash = encode(sha256(convert_to(:token, 'UTF8')), 'hex')
    AND s.revoked_at IS NULL
    AND s.expires_at > now()
    AND s.uses < s.max_uses
    AND d.id = s.document_id
    AND d.deleted_at IS NULL
    AND NOT d.privileged
    AND m.deleted_at IS NULL
  RETURNING d.id AS document_id, d.current_no, d.title, s.max_uses - s.uses AS uses_left
)
SELECT u.title, u.uses_left, v.storage_key, v.bytes
FROM used u
JOIN document_version v ON v.document_id = u.document_id AND v.no = u.current_no;

--- redeem-share bad 5
-- public: the token is all we get
WITH used AS (
  UPDATE share s
  SET uses = s.uses + 1
  FROM document d
  WHERE s.token_hash = encode(sha256(convert_to(:token, 'UTF8')), 'hex')
    AND s.revoked_at IS NULL
    AND s.expires_at > now()
    AND s.uses < s.max_uses
    AND d.id = s.document_id
    AND d.deleted_at IS NULL
    AND NOT d.privileged
  RETURNING s.id AS share_id, d.id AS document_id, d.current_no, d.title
), logged AS (
  INSERT INTO access_log (document_id, no, share_id, at)
  SELECT u.document_id, u.current_no, u.share_id, now()
  FROM used u
  RETURNING document_id, no
)
SELECT u.title, v.storage_key, v.bytes
FROM used u
JOIN logged l           ON l.document_id = u.document_id
JOIN document_version v ON v.document_id = l.document_id AND v.no = l.no;

--- add-to-team good
INSERT INTO team (matter_id, member_id, access, from_at, until_at, added_by)
SELECT m.id, u.id, :access::team_access, now(), :until_at::timestamptz, :user_id
FROM matter m
JOIN member u ON u.firm_id = m.firm_id
WHERE m.id = :matter_id
  AND m.firm_id = :firm_id
  AND m.deleted_at IS NULL
  AND u.id = :member_id
  AND u.active_from <= now()
  AND (u.left_at IS NULL OR u.left_at > now())
  AND NOT walled(u.id, m.id)
  AND on_team(:firm_id, :user_id, m.id, 'lead')
ON CONFLICT (matter_id, member_id) DO UPDATE
SET access   = EXCLUDED.access,
    from_at  = EXCLUDED.from_at,
    until_at = EXCLUDED.until_at,
    added_by = EXCLUDED.added_by
RETURNING matter_id, member_id, access, until_at;

--- add-to-team good
CREATE OR REPLACE FUNCTION add_to_team(p_firm bigint, p_user bigint, p_matter bigint, p_members bigint[], p_access team_access)
RETURNS int LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_n int;
BEGIN
  IF NOT on_team(p_firm, p_user, p_matter, 'lead') THEN
    RAISE EXCEPTION 'only the lead changes the team';
  END IF;

  WITH fit AS (
    SELECT u.id
    FROM member u
    WHERE u.id = ANY (p_members)
      AND u.firm_id = p_firm
      AND u.active_from <= now()
      AND (u.left_at IS NULL OR u.left_at > now())
    EXCEPT
    SELECT w.member_id
    FROM wall w
    WHERE w.matter_id = p_matter AND w.lifted_at IS NULL
  ), put AS (
    INSERT INTO team AS t (matter_id, member_id, access, from_at, added_by)
    SELECT p_matter, fit.id, p_access, now(), p_user FROM fit
    ON CONFLICT (matter_id, member_id) DO UPDATE
    SET access = p_access, until_at = NULL, added_by = p_user,
        from_at = CASE WHEN t.until_at <= now() THEN now() ELSE t.from_at END
    RETURNING 1
  )
  SELECT count(*) INTO v_n FROM put;
  RETURN v_n;
END $$;

--- add-to-team bad 1,3
CREATE OR REPLACE FUNCTION add_to_team(p_firm bigint, p_user bigint, p_matter bigint, p_members bigint[], p_access team_access)
RETURNS int LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_n int;
BEGIN
  IF NOT on_team(p_firm, p_user, p_matter, 'lead') THEN
    RAISE EXCEPTION 'only the lead changes the team';
  END IF;

  WITH fit AS (
    SELECT u.id
    FROM member u
    WHERE u.id = ANY (p_members)
      AND u.active_from <= now()
      AND (u.left_at IS NULL OR u.left_at > now())
    EXCEPT
    SELECT w.member_id
    FROM wall w
    WHERE w.matter_id = p_matter AND w.lifted_at IS NULL
  ), put AS (
    INSERT INTO team AS t (matter_id, member_id, access, from_at, added_by)
    SELECT p_matter, fit.id, p_access, now(), p_user FROM fit
    ON CONFLICT (matter_id, member_id) DO UPDATE
    SET access = p_access, until_at = NULL, added_by = p_user,
        from_at = CASE WHEN t.until_at <= now() THEN now() ELSE t.from_at END
    RETURNING 1
  )
  SELECT count(*) INTO v_n FROM put;
  RETURN v_n;
END $$;

--- add-to-team bad 3
INSERT INTO team (matter_id, member_id, access, from_at, until_at, added_by)
SELECT m.id, u.id, :access::team_access, now(), :until_at::timestamptz, :user_id
FROM matter m
JOIN member u ON u.firm_id = m.firm_id
WHERE m.id = :matter_id
  AND m.firm_id = :firm_id
  AND m.deleted_at IS NULL
  AND u.id = :member_id
  AND u.active_from <= now()
  AND (u.left_at IS NULL OR u.left_at > now())
  AND NOT walled(:user_id, m.id)
  AND on_team(:firm_id, :user_id, m.id, 'lead')
ON CONFLICT (matter_id, member_id) DO UPDATE
SET access   = EXCLUDED.access,
    from_at  = EXCLUDED.from_at,
    until_at = EXCLUDED.until_at,
    added_by = EXCLUDED.added_by
RETURNING matter_id, member_id, access, until_at;

--- add-to-team bad 2,3
INSERT INTO team (matter_id, member_id, access, from_at, until_at, added_by)
SELECT m.id, u.id, LEAST(:access::team_access, 'work'), now(), :until_at::timestamptz, :user_id
FROM matter m
JOIN member u ON u.firm_id = m.firm_id
WHERE m.id = :matter_id
  AND m.firm_id = :firm_id
  AND m.deleted_at IS NULL
  AND u.id = :member_id
  AND u.active_from <= now()
  AND (u.left_at IS NULL OR u.left_at > now())
  AND NOT walled(u.id, m.id)
  AND on_team(:firm_id, :user_id, m.id, 'work')
ON CONFLICT (matter_id, member_id) DO NOTHING
RETURNING matter_id, member_id, access, until_at;
