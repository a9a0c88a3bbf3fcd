--- my-applications good
SELECT a.id,
       a.title,
       pr.name AS programme,
       a.requested_cents,
       a.submitted_at,
       CASE WHEN a.status IN ('draft', 'submitted', 'withdrawn') OR pr.results_at <= now()
            THEN a.status
            ELSE 'under_review'::app_status END AS status,
       aw.amount_cents AS offered_cents,
       aw.expires_at   AS answer_by
FROM applications a
JOIN programmes pr ON pr.id = a.programme_id
LEFT JOIN awards aw ON aw.application_id = a.id
                   AND aw.deleted_at IS NULL
                   AND aw.status IN ('offered', 'accepted')
                   AND pr.results_at <= now()
WHERE a.foundation_id = ctx_foundation()
  AND a.applicant_id = ctx_person()
  AND a.deleted_at IS NULL
  AND pr.deleted_at IS NULL
ORDER BY a.submitted_at DESC NULLS FIRST, a.id
LIMIT LEAST(:page_size::int, 50)
OFFSET :page_offset::int;
--- my-applications good
WITH mine AS (
  SELECT a.id, a.title, a.statement, a.requested_cents, a.submitted_at, a.status,
         pr.name AS programme,
         coalesce(pr.results_at <= now(), false) AS announced
  FROM applications a
  JOIN programmes pr ON pr.id = a.programme_id AND pr.deleted_at IS NULL
  WHERE a.applicant_id = ctx_person()
    AND a.foundation_id = ctx_foundation()
    AND a.deleted_at IS NULL
    AND (a.id < :before_id::bigint OR :before_id::bigint IS NULL)
)
SELECT m.id, m.programme, m.title, m.statement, m.requested_cents, m.submitted_at,
       CASE WHEN m.announced THEN m.status::text
            WHEN m.status IN ('shortlisted', 'awarded', 'declined') THEN 'under_review'
            ELSE m.status::text END AS status,
       money.granted_cents,
       money.paid_cents
FROM mine m
LEFT JOIN LATERAL (
  SELECT aw.amount_cents AS granted_cents,
         coalesce(sum(p.amount_cents) FILTER (WHERE p.status = 'released'), 0) AS paid_cents
  FROM awards aw
  LEFT JOIN payments p ON p.award_id = aw.id
  WHERE aw.application_id = m.id
    AND aw.applicant_id = ctx_person()
    AND aw.status = 'accepted'
    AND aw.deleted_at IS NULL
  GROUP BY aw.id
  ORDER BY aw.id DESC
  LIMIT 1
) money ON m.announced
ORDER BY m.id DESC
LIMIT 20;
--- my-applications bad 3
WITH mine AS (
  SELECT a.id, a.title, a.requested_cents, a.submitted_at, a.status,
         pr.name AS programme,
         coalesce(pr.results_at <= now(), false) AS announced
  FROM applications a
  JOIN programmes pr ON pr.id = a.programme_id AND pr.deleted_at IS NULL
  WHERE a.applicant_id = ctx_person()
    AND a.foundation_id = ctx_foundation()
    AND a.deleted_at IS NULL
)
SELECT m.id, m.programme, m.title, m.requested_cents, m.submitted_at,
       CASE WHEN m.announced THEN m.status::text
            WHEN m.status IN ('shortlisted', 'awarded', 'declined') THEN 'under_review'
            ELSE m.status::text END AS status,
       aw.amount_cents AS granted_cents,
       aw.expires_at   AS answer_by
FROM mine m
LEFT JOIN LATERAL (
  SELECT w.amount_cents, w.expires_at
  FROM awards w
  WHERE w.application_id = m.id
    AND w.applicant_id = ctx_person()
    AND w.status IN ('offered', 'accepted')
    AND w.deleted_at IS NULL
  ORDER BY w.id DESC
  LIMIT 1
) aw ON true
ORDER BY m.id DESC
LIMIT 20;
--- my-applications bad 6
SELECT a.id,
       (to_jsonb(a) - '{status,panel_id,foundation_id,deleted_at}'::text[])
         || jsonb_build_object(
              'programme', pr.name,
              'status', CASE WHEN a.status IN ('draft', 'submitted', 'withdrawn') OR pr.results_at <= now()
                             THEN a.status
                             ELSE 'under_review'::app_status END) AS file
FROM applications a
JOIN programmes pr ON pr.id = a.programme_id
WHERE a.foundation_id = ctx_foundation()
  AND a.applicant_id = ctx_person()
  AND a.deleted_at IS NULL
  AND pr.deleted_at IS NULL
ORDER BY a.submitted_at DESC NULLS FIRST, a.id
LIMIT LEAST(:page_size::int, 50)
OFFSET :page_offset::int;
--- my-applications bad 7
SELECT a.id,
       a.title,
       pr.name AS programme,
       a.requested_cents,
       CASE WHEN a.status IN ('draft', 'submitted', 'withdrawn') OR pr.results_at <= now()
            THEN a.status
            ELSE 'under_review'::app_status END AS status,
       aw.amount_cents AS offered_cents,
       aw.expires_at   AS answer_by,
       count(*) FILTER (WHERE a.status = 'draft') OVER () AS drafts
FROM applications a
JOIN programmes pr ON pr.id = a.programme_id
LEFT JOIN awards aw ON aw.application_id = a.id
                   AND aw.status IN ('offered', 'accepted')
                   AND pr.results_at <= now()
WHERE a.foundation_id = ctx_foundation()
  AND a.applicant_id = ctx_person()
  AND a.deleted_at IS NULL
  AND pr.deleted_at IS NULL
ORDER BY a.submitted_at DESC NULLS FIRST, a.id, aw.id
LIMIT LEAST(:page_size::int, 50)
OFFSET :page_offset::int;
--- my-applications bad 3
SELECT a.id,
       a.title,
       pr.name AS programme,
       CASE WHEN a.status IN ('draft', 'submitted', 'withdrawn') OR pr.results_at <= now()
            THEN a.status
            ELSE 'under_review'::app_status END AS status,
       rv.done || '/' || rv.total AS reading_progress
FROM applications a
JOIN programmes pr ON pr.id = a.programme_id
CROSS JOIN LATERAL (
  SELECT count(*) FILTER (WHERE r.status = 'submitted') AS done,
         count(*) AS total
  FROM reviews r
  WHERE r.application_id = a.id AND r.status <> 'recused'
) rv
WHERE a.foundation_id = ctx_foundation()
  AND a.applicant_id = ctx_person()
  AND a.deleted_at IS NULL
  AND pr.deleted_at IS NULL
ORDER BY a.submitted_at DESC NULLS FIRST, a.id
LIMIT LEAST(:page_size::int, 50);
--- review-queue good
SELECT r.id      AS review_id,
       r.status,
       a.id      AS application_id,
       a.title,
       a.statement,
       a.requested_cents,
       pn.name   AS panel,
       pn.sits_on,
       pn.sits_on - foundation_today() AS days_left
FROM reviews r
JOIN applications a ON a.id = r.application_id AND a.deleted_at IS NULL
JOIN panels pn      ON pn.id = a.panel_id AND pn.deleted_at IS NULL
WHERE r.foundation_id = ctx_foundation()
  AND r.reviewer_id = ctx_person()
  AND r.status IN ('assigned', 'in_progress')
  AND holds_duty(a.programme_id, '{reviewer}')
  AND NOT in_conflict(a.id)
ORDER BY pn.sits_on, r.id
LIMIT LEAST(:page_size::int, 50);
--- review-queue good
WITH seats AS (
  SELECT DISTINCT m.programme_id
  FROM mandates m
  JOIN programmes pr ON pr.id = m.programme_id
                    AND pr.foundation_id = ctx_foundation()
                    AND pr.deleted_at IS NULL
  WHERE m.person_id = ctx_person()
    AND m.duty = 'reviewer'
    AND m.revoked_at IS NULL
    AND m.granted_at <= now()
    AND (m.ends_at IS NULL OR m.ends_at > now())
), queue AS (
  SELECT r.id AS review_id, r.status, a.id AS application_id, a.title, a.requested_cents,
         pn.name AS panel, pn.sits_on,
         row_number() OVER (PARTITION BY pn.id ORDER BY r.id)  AS nth,
         count(*)     OVER (PARTITION BY pn.id)                AS in_panel
  FROM seats s
  JOIN applications a ON a.programme_id = s.programme_id
  JOIN panels pn      ON pn.id = a.panel_id
  JOIN reviews r      ON r.application_id = a.id
  WHERE a.foundation_id = ctx_foundation()
    AND a.deleted_at IS NULL
    AND pn.deleted_at IS NULL
    AND pn.closed_at IS NULL
    AND r.reviewer_id = ctx_person()
    AND r.status IN ('assigned', 'in_progress')
    AND a.applicant_id <> ctx_person()
    AND NOT EXISTS (SELECT 1 FROM conflicts c
                    WHERE c.application_id = a.id
                      AND c.person_id = ctx_person()
                      AND c.withdrawn_at IS NULL)
)
SELECT q.review_id, q.status, q.application_id, q.title, q.requested_cents,
       q.panel, q.sits_on, q.nth, q.in_panel
FROM queue q
ORDER BY q.sits_on, q.panel, q.nth, q.review_id
FETCH FIRST 50 ROWS ONLY;
--- review-queue bad 4
SELECT r.id      AS review_id,
       r.status,
       a.id      AS application_id,
       a.title,
       a.statement,
       a.requested_cents,
       a.school,
       dense_rank() OVER (ORDER BY a.school) AS school_group,
       pn.name   AS panel,
       pn.sits_on,
       pn.sits_on - foundation_today() AS days_left
FROM reviews r
JOIN applications a ON a.id = r.application_id AND a.deleted_at IS NULL
JOIN panels pn      ON pn.id = a.panel_id AND pn.deleted_at IS NULL
WHERE r.foundation_id = ctx_foundation()
  AND r.reviewer_id = ctx_person()
  AND r.status IN ('assigned', 'in_progress')
  AND holds_duty(a.programme_id, '{reviewer}')
  AND NOT in_conflict(a.id)
ORDER BY pn.sits_on, school_group, r.id
LIMIT LEAST(:page_size::int, 50);
--- review-queue bad 2
WITH seats AS (
  SELECT DISTINCT m.programme_id
  FROM mandates m
  JOIN programmes pr ON pr.id = m.programme_id
                    AND pr.foundation_id = ctx_foundation()
                    AND pr.deleted_at IS NULL
  WHERE m.person_id = ctx_person()
    AND m.duty = 'reviewer'
    AND m.revoked_at IS NULL
    AND m.granted_at <= now()
), queue AS (
  SELECT r.id AS review_id, r.status, a.id AS application_id, a.title, a.requested_cents,
         pn.name AS panel, pn.sits_on,
         row_number() OVER (PARTITION BY pn.id ORDER BY r.id)  AS nth,
         count(*)     OVER (PARTITION BY pn.id)                AS in_panel
  FROM seats s
  JOIN applications a ON a.programme_id = s.programme_id
  JOIN panels pn      ON pn.id = a.panel_id
  JOIN reviews r      ON r.application_id = a.id
  WHERE a.foundation_id = ctx_foundation()
    AND a.deleted_at IS NULL
    AND pn.deleted_at IS NULL
    AND pn.closed_at IS NULL
    AND r.reviewer_id = ctx_person()
    AND r.status IN ('assigned', 'in_progress')
    AND a.applicant_id <> ctx_person()
    AND NOT EXISTS (SELECT 1 FROM conflicts c
                    WHERE c.application_id = a.id
                      AND c.person_id = ctx_person()
                      AND c.withdrawn_at IS NULL)
)
SELECT q.review_id, q.status, q.application_id, q.title, q.requested_cents,
       q.panel, q.sits_on, q.nth, q.in_panel
FROM queue q
ORDER BY q.sits_on, q.panel, q.nth, q.review_id
FETCH FIRST 50 ROWS ONLY;
--- review-queue bad 5
WITH seats AS (
  SELECT DISTINCT m.programme_id
  FROM mandates m
  JOIN programmes pr ON pr.id = m.programme_id
                    AND pr.foundation_id = ctx_foundation()
                    AND pr.deleted_at IS NULL
  WHERE m.person_id = ctx_person()
    AND m.duty = 'reviewer'
    AND m.revoked_at IS NULL
    AND m.granted_at <= now()
    AND (m.ends_at IS NULL OR m.ends_at > now())
), queue AS (
  SELECT r.id AS review_id, r.status, a.id AS application_id, a.title, a.requested_cents,
         pn.name AS panel, pn.sits_on,
         row_number() OVER (PARTITION BY pn.id ORDER BY r.id)  AS nth,
         count(*)     OVER (PARTITION BY pn.id)                AS in_panel
  FROM seats s
  JOIN applications a ON a.programme_id = s.programme_id
  JOIN panels pn      ON pn.id = a.panel_id
  JOIN reviews r      ON r.application_id = a.id
  WHERE a.foundation_id = ctx_foundation()
    AND a.deleted_at IS NULL
    AND pn.deleted_at IS NULL
    AND pn.closed_at IS NULL
    AND r.reviewer_id = ctx_person()
    AND r.status IN ('assigned', 'in_progress')
    AND NOT EXISTS (SELECT 1 FROM conflicts c
                    WHERE c.application_id = a.id
                      AND c.person_id = ctx_person()
                      AND c.withdrawn_at IS NULL
                      AND c.declared_at < pn.sits_on)
)
SELECT q.review_id, q.status, q.application_id, q.title, q.requested_cents,
       q.panel, q.sits_on, q.nth, q.in_panel
FROM queue q
ORDER BY q.sits_on, q.panel, q.nth, q.review_id
FETCH FIRST 50 ROWS ONLY;
--- peer-reviews good
SELECT o.score,
       o.comment,
       o.submitted_at,
       o.score - mine.score AS difference
FROM reviews mine
JOIN applications a ON a.id = mine.application_id AND a.deleted_at IS NULL
JOIN reviews o      ON o.application_id = mine.application_id
                   AND o.reviewer_id <> mine.reviewer_id
                   AND o.status = 'submitted'
WHERE mine.foundation_id = ctx_foundation()
  AND mine.reviewer_id = ctx_person()
  AND mine.application_id = :application_id
  AND mine.status = 'submitted'
  AND holds_duty(a.programme_id, '{reviewer}')
  AND NOT in_conflict(a.id)
ORDER BY o.submitted_at, o.id
LIMIT 50;
--- peer-reviews good
WITH read_by_me AS (
  SELECT r.application_id, r.score, a.title, a.panel_id
  FROM reviews r
  JOIN applications a ON a.id = r.application_id
  WHERE r.reviewer_id = ctx_person()
    AND r.foundation_id = ctx_foundation()
    AND r.status = 'submitted'
    AND a.deleted_at IS NULL
    AND NOT in_conflict(a.id)
    AND holds_duty(a.programme_id, ARRAY['reviewer']::duty[])
)
SELECT m.application_id,
       m.title,
       m.score                                    AS my_score,
       others.n                                   AS peers,
       others.mean                                AS peer_mean,
       m.score - others.mean                      AS deviation,
       others.remarks
FROM read_by_me m
LEFT JOIN LATERAL (
  SELECT count(*) AS n,
         round(avg(o.score), 2) AS mean,
         jsonb_agg(jsonb_build_object('score', o.score, 'comment', o.comment)
                   ORDER BY o.submitted_at, o.id) AS remarks
  FROM reviews o
  WHERE o.application_id = m.application_id
    AND o.foundation_id = ctx_foundation()
    AND o.status = 'submitted'
    AND o.reviewer_id <> ctx_person()
) others ON true
ORDER BY abs(m.score - others.mean) DESC NULLS LAST, m.application_id
LIMIT LEAST(:page_size::int, 50);
--- peer-reviews bad 4
WITH read_by_me AS (
  SELECT r.application_id, r.score, a.title, a.panel_id
  FROM reviews r
  JOIN applications a ON a.id = r.application_id
  WHERE r.reviewer_id = ctx_person()
    AND r.foundation_id = ctx_foundation()
    AND r.status <> 'recused'
    AND a.deleted_at IS NULL
    AND NOT in_conflict(a.id)
    AND holds_duty(a.programme_id, ARRAY['reviewer']::duty[])
)
SELECT m.application_id,
       m.title,
       m.score                                    AS my_score,
       others.n                                   AS peers,
       others.mean                                AS peer_mean,
       m.score - others.mean                      AS deviation,
       CASE WHEN m.score IS NOT NULL THEN others.remarks END AS remarks
FROM read_by_me m
LEFT JOIN LATERAL (
  SELECT count(*) AS n,
         round(avg(o.score), 2) AS mean,
         jsonb_agg(jsonb_build_object('score', o.score, 'comment', o.comment)
                   ORDER BY o.submitted_at, o.id) AS remarks
  FROM reviews o
  WHERE o.application_id = m.application_id
    AND o.foundation_id = ctx_foundation()
    AND o.status = 'submitted'
    AND o.reviewer_id <> ctx_person()
) others ON true
ORDER BY abs(m.score - others.mean) DESC NULLS LAST, m.application_id
LIMIT LEAST(:page_size::int, 50);
--- peer-reviews bad 4,6
WITH read_by_me AS (
  SELECT r.application_id, r.score, a.title, a.panel_id
  FROM reviews r
  JOIN applications a ON a.id = r.application_id
  WHERE r.reviewer_id = ctx_person()
    AND r.foundation_id = ctx_foundation()
    AND r.status = 'submitted'
    AND a.deleted_at IS NULL
    AND NOT in_conflict(a.id)
    AND holds_duty(a.programme_id, ARRAY['reviewer']::duty[])
)
SELECT m.application_id,
       m.title,
       m.score                                    AS my_score,
       others.n                                   AS peers,
       others.mean                                AS peer_mean,
       m.score - others.mean                      AS deviation,
       others.remarks
FROM read_by_me m
LEFT JOIN LATERAL (
  SELECT count(*) AS n,
         round(avg(o.score), 2) AS mean,
         jsonb_agg(to_jsonb(o) - '{id,reviewer_id,application_id,foundation_id,status}'::text[]
                   ORDER BY o.submitted_at, o.id) AS remarks
  FROM reviews o
  WHERE o.application_id = m.application_id
    AND o.foundation_id = ctx_foundation()
    AND o.status = 'submitted'
    AND o.reviewer_id <> ctx_person()
) others ON true
ORDER BY abs(m.score - others.mean) DESC NULLS LAST, m.application_id
LIMIT LEAST(:page_size::int, 50);
--- peer-reviews bad 4
SELECT p.full_name AS reader,
       o.score,
       o.comment,
       o.submitted_at,
       avg(o.score) OVER () AS mean
FROM reviews mine
JOIN applications a ON a.id = mine.application_id AND a.deleted_at IS NULL
JOIN reviews o      ON o.application_id = mine.application_id
                   AND o.status = 'submitted'
JOIN persons p      ON p.id = o.reviewer_id AND p.deleted_at IS NULL
WHERE mine.foundation_id = ctx_foundation()
  AND mine.reviewer_id = ctx_person()
  AND mine.application_id = :application_id
  AND mine.status = 'submitted'
  AND holds_duty(a.programme_id, '{reviewer}')
  AND NOT in_conflict(a.id)
ORDER BY o.submitted_at, o.id
LIMIT 50;
--- peer-reviews bad 5
SELECT o.score,
       o.comment,
       o.submitted_at,
       rank() OVER (ORDER BY o.score DESC) AS place
FROM reviews mine
JOIN applications a ON a.id = mine.application_id AND a.deleted_at IS NULL
JOIN reviews o      ON o.application_id = mine.application_id
                   AND o.reviewer_id <> mine.reviewer_id
                   AND o.status = 'submitted'
WHERE mine.foundation_id = ctx_foundation()
  AND mine.reviewer_id = ctx_person()
  AND mine.application_id = :application_id
  AND mine.status = 'submitted'
  AND holds_duty(a.programme_id, '{reviewer}')
ORDER BY o.submitted_at, o.id
LIMIT 50;
--- panel-ranking good
WITH scored AS (
  SELECT a.id, a.title, a.school, a.requested_cents, a.status, p.full_name,
         count(r.id)            AS readings,
         round(avg(r.score), 2) AS mean,
         stddev_samp(r.score)   AS spread
  FROM applications a
  JOIN panels pn      ON pn.id = a.panel_id AND pn.deleted_at IS NULL
  JOIN persons p      ON p.id = a.applicant_id AND p.deleted_at IS NULL
  LEFT JOIN reviews r ON r.application_id = a.id AND r.status = 'submitted'
  WHERE a.foundation_id = ctx_foundation()
    AND a.panel_id = :panel_id
    AND a.deleted_at IS NULL
    AND a.status IN ('under_review', 'shortlisted')
    AND holds_duty(a.programme_id, '{officer,chair}')
    AND NOT in_conflict(a.id)
  GROUP BY a.id, p.id
)
SELECT s.id, s.full_name, s.title, s.school, s.requested_cents, s.status, s.readings, s.mean, s.spread,
       rank() OVER (ORDER BY s.mean DESC NULLS LAST)                        AS place,
       sum(s.requested_cents) OVER (ORDER BY s.mean DESC NULLS LAST, s.id)  AS running_cents
FROM scored s
ORDER BY s.mean DESC NULLS LAST, s.id
LIMIT LEAST(:page_size::int, 50);
--- panel-ranking good
WITH my_programmes AS (
  SELECT m.programme_id
  FROM mandates m
  WHERE m.person_id = ctx_person()
    AND m.duty IN ('officer', 'chair')
    AND m.revoked_at IS NULL
    AND m.granted_at <= now()
    AND (m.ends_at IS NULL OR m.ends_at > now())
  UNION
  SELECT d.programme_id
  FROM delegations d
  JOIN persons giver ON giver.id = d.from_person
                    AND giver.locked_at IS NULL
                    AND giver.deleted_at IS NULL
  JOIN mandates gm   ON gm.person_id = d.from_person
                    AND gm.programme_id = d.programme_id
                    AND gm.duty = d.duty
                    AND gm.revoked_at IS NULL
                    AND gm.granted_at <= now()
                    AND (gm.ends_at IS NULL OR gm.ends_at > now())
  WHERE d.to_person = ctx_person()
    AND d.duty = 'chair'
    AND d.revoked_at IS NULL
    AND d.valid @> now()
)
SELECT a.id, pn.name AS panel, a.title, a.status, x.readings, x.mean,
       dense_rank() OVER (PARTITION BY a.panel_id ORDER BY x.mean DESC NULLS LAST) AS place
FROM my_programmes mp
JOIN applications a ON a.programme_id = mp.programme_id
JOIN panels pn      ON pn.id = a.panel_id
CROSS JOIN LATERAL (
  SELECT count(*) AS readings, avg(r.score)::numeric(4,2) AS mean
  FROM reviews r
  WHERE r.application_id = a.id AND r.status = 'submitted'
) x
WHERE a.foundation_id = ctx_foundation()
  AND a.deleted_at IS NULL
  AND pn.deleted_at IS NULL
  AND pn.sits_on BETWEEN foundation_today() AND foundation_today() + 14
  AND a.applicant_id <> ctx_person()
  AND NOT EXISTS (SELECT 1 FROM conflicts c
                  WHERE c.person_id = ctx_person()
                    AND c.application_id = a.id
                    AND c.withdrawn_at IS NULL)
ORDER BY pn.sits_on, a.panel_id, place, a.id
LIMIT 50;
--- panel-ranking bad 5
WITH scored AS (
  SELECT a.id, a.title, a.school, a.requested_cents, a.status, p.full_name,
         count(r.id)            AS readings,
         round(avg(r.score), 2) AS mean,
         stddev_samp(r.score)   AS spread
  FROM applications a
  JOIN panels pn      ON pn.id = a.panel_id AND pn.deleted_at IS NULL
  JOIN persons p      ON p.id = a.applicant_id AND p.deleted_at IS NULL
  LEFT JOIN reviews r ON r.application_id = a.id AND r.status = 'submitted'
  WHERE a.foundation_id = ctx_foundation()
    AND a.panel_id = :panel_id
    AND a.deleted_at IS NULL
    AND a.status IN ('under_review', 'shortlisted')
    AND holds_duty(a.programme_id, '{officer,chair}')
  GROUP BY a.id, p.id
)
SELECT t.id, t.full_name, t.title, t.school, t.requested_cents, t.status, t.readings, t.mean, t.spread,
       t.place, t.running_cents, t.field
FROM (
  SELECT s.*,
         rank() OVER (ORDER BY s.mean DESC NULLS LAST)                        AS place,
         sum(s.requested_cents) OVER (ORDER BY s.mean DESC NULLS LAST, s.id)  AS running_cents,
         count(*) OVER ()                                                     AS field
  FROM scored s
) t
WHERE NOT in_conflict(t.id)
ORDER BY t.place, t.id
LIMIT LEAST(:page_size::int, 50);
--- panel-ranking bad 6
WITH scored AS (
  SELECT a.id, a.title, a.school, a.requested_cents, a.status, p.full_name, a.household_income_cents,
         count(r.id)            AS readings,
         round(avg(r.score), 2) AS mean,
         stddev_samp(r.score)   AS spread
  FROM applications a
  JOIN panels pn      ON pn.id = a.panel_id AND pn.deleted_at IS NULL
  JOIN persons p      ON p.id = a.applicant_id AND p.deleted_at IS NULL
  LEFT JOIN reviews r ON r.application_id = a.id AND r.status = 'submitted'
  WHERE a.foundation_id = ctx_foundation()
    AND a.panel_id = :panel_id
    AND a.deleted_at IS NULL
    AND a.status IN ('under_review', 'shortlisted')
    AND holds_duty(a.programme_id, '{officer,chair}')
    AND NOT in_conflict(a.id)
  GROUP BY a.id, p.id
)
SELECT s.id, s.full_name, s.title, s.school, s.requested_cents, s.status, s.readings, s.mean,
       ntile(4) OVER (ORDER BY s.household_income_cents NULLS LAST)         AS need_quartile,
       s.household_income_cents / 100                                       AS income,
       rank() OVER (ORDER BY s.mean DESC NULLS LAST)                        AS place,
       sum(s.requested_cents) OVER (ORDER BY s.mean DESC NULLS LAST, s.id)  AS running_cents
FROM scored s
ORDER BY s.mean DESC NULLS LAST, s.id
LIMIT LEAST(:page_size::int, 50);
--- panel-ranking bad 8
WITH my_programmes AS (
  SELECT m.programme_id
  FROM mandates m
  WHERE m.person_id = ctx_person()
    AND m.duty IN ('officer', 'chair')
    AND m.revoked_at IS NULL
    AND m.granted_at <= now()
    AND (m.ends_at IS NULL OR m.ends_at > now())
  UNION
  SELECT d.programme_id
  FROM delegations d
  JOIN persons giver ON giver.id = d.from_person
                    AND giver.locked_at IS NULL
                    AND giver.deleted_at IS NULL
  JOIN mandates gm   ON gm.person_id = d.from_person
                    AND gm.programme_id = d.programme_id
                    AND gm.duty = d.duty
                    AND gm.revoked_at IS NULL
                    AND gm.granted_at <= now()
                    AND (gm.ends_at IS NULL OR gm.ends_at > now())
  WHERE d.to_person = ctx_person()
    AND d.duty = 'chair'
    AND d.revoked_at IS NULL
    AND d.valid @> now()
)
SELECT a.id, pn.name AS panel, a.title, a.status, x.readings, x.mean,
       dense_rank() OVER (PARTITION BY a.panel_id ORDER BY x.mean DESC NULLS LAST) AS place
FROM my_programmes mp
JOIN applications a ON a.programme_id = mp.programme_id
JOIN panels pn      ON pn.id = a.panel_id
CROSS JOIN LATERAL (
  SELECT count(*) AS readings, avg(r.score)::numeric(4,2) AS mean
  FROM reviews r
  WHERE r.application_id = a.id AND r.status = 'submitted'
) x
WHERE a.foundation_id = ctx_foundation()
  AND a.deleted_at IS NULL
  AND pn.deleted_at IS NULL
  AND pn.sits_on BETWEEN foundation_today() AND foundation_today() + 14
  AND a.applicant_id <> ctx_person()
  AND NOT EXISTS (SELECT 1 FROM conflicts c
                  WHERE c.person_id = ctx_person()
                    AND c.application_id = a.id
                    AND c.withdrawn_at IS NULL)
ORDER BY pn.sits_on, a.panel_id, a.id
LIMIT GREATEST(:page_size::int, 50);
--- panel-ranking bad 2
WITH my_programmes AS (
  SELECT m.programme_id
  FROM mandates m
  WHERE m.person_id = ctx_person()
    AND m.duty IN ('officer', 'chair')
    AND m.revoked_at IS NULL
    AND m.granted_at <= now()
    AND (m.ends_at IS NULL OR m.ends_at > now())
  UNION
  SELECT d.programme_id
  FROM delegations d
  JOIN persons giver ON giver.id = d.from_person
                    AND giver.locked_at IS NULL
                    AND giver.deleted_at IS NULL
  JOIN mandates gm   ON gm.person_id = d.from_person
                    AND gm.programme_id = d.programme_id
                    AND gm.duty IN ('officer', 'chair')
                    AND gm.revoked_at IS NULL
                    AND gm.granted_at <= now()
                    AND (gm.ends_at IS NULL OR gm.ends_at > now())
  WHERE d.to_person = ctx_person()
    AND d.duty = 'chair'
    AND d.revoked_at IS NULL
    AND upper(d.valid) > now()
)
SELECT a.id, pn.name AS panel, a.title, a.status, x.readings, x.mean,
       dense_rank() OVER (PARTITION BY a.panel_id ORDER BY x.mean DESC NULLS LAST) AS place
FROM my_programmes mp
JOIN applications a ON a.programme_id = mp.programme_id
JOIN panels pn      ON pn.id = a.panel_id
CROSS JOIN LATERAL (
  SELECT count(*) AS readings, avg(r.score)::numeric(4,2) AS mean
  FROM reviews r
  WHERE r.application_id = a.id AND r.status = 'submitted'
) x
WHERE a.foundation_id = ctx_foundation()
  AND a.deleted_at IS NULL
  AND pn.deleted_at IS NULL
  AND pn.sits_on BETWEEN foundation_today() AND foundation_today() + 14
  AND a.applicant_id <> ctx_person()
  AND NOT EXISTS (SELECT 1 FROM conflicts c
                  WHERE c.person_id = ctx_person()
                    AND c.application_id = a.id
                    AND c.withdrawn_at IS NULL)
ORDER BY pn.sits_on, a.panel_id, place, a.id
LIMIT 50;
--- payment-run good
SELECT p.id,
       p.instalment,
       p.amount_cents,
       p.due_on,
       per.full_name AS payee,
       CASE WHEN holds_duty(aw.programme_id, '{treasurer}') THEN aw.iban_token END AS iban_token,
       sum(p.amount_cents) OVER (PARTITION BY aw.programme_id) AS programme_total
FROM payments p
JOIN awards aw       ON aw.id = p.award_id AND aw.deleted_at IS NULL AND aw.status = 'accepted'
JOIN applications a  ON a.id = aw.application_id AND a.deleted_at IS NULL
JOIN persons per     ON per.id = aw.applicant_id AND per.deleted_at IS NULL
WHERE p.foundation_id = ctx_foundation()
  AND p.status = 'approved'
  AND p.due_on <= foundation_today()
  AND holds_duty(aw.programme_id, '{officer,chair,treasurer}')
  AND NOT in_conflict(aw.application_id)
ORDER BY p.due_on, p.id
LIMIT LEAST(:page_size::int, 50) OFFSET :page_offset::int;
--- payment-run good
CREATE OR REPLACE FUNCTION payment_run(p_programme_id bigint, p_sort text, p_descending boolean, p_page int)
RETURNS TABLE (payment_id bigint, payee text, instalment int, amount_cents bigint, due_on date, iban_token text)
LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_column text := CASE p_sort WHEN 'amount' THEN 'amount_cents'
                               WHEN 'instalment' THEN 'instalment'
                               ELSE 'due_on' END;
BEGIN
  IF NOT EXISTS (SELECT 1 FROM programmes pr
                 WHERE pr.id = p_programme_id
                   AND pr.foundation_id = ctx_foundation()
                   AND pr.deleted_at IS NULL)
     OR NOT holds_duty(p_programme_id, '{treasurer}') THEN
    RAISE EXCEPTION 'not your programme';
  END IF;

  RETURN QUERY EXECUTE format(
    'SELECT p.id, per.full_name, p.instalment, p.amount_cents, p.due_on, aw.iban_token
     FROM awards aw
     JOIN payments p     ON p.award_id = aw.id
     JOIN applications a ON a.id = aw.application_id
     JOIN persons per    ON per.id = aw.applicant_id
     WHERE aw.programme_id = $1
       AND aw.deleted_at IS NULL
       AND a.deleted_at IS NULL
       AND per.deleted_at IS NULL
       AND aw.status = ''accepted''
       AND p.status IN (''approved'', ''proposed'')
       AND NOT in_conflict(a.id)
     ORDER BY p.%I %s, p.id
     LIMIT 50 OFFSET 50 * greatest($2, 0)',
    v_column, CASE WHEN p_descending THEN 'DESC' ELSE 'ASC' END)
  USING p_programme_id, p_page;
END
$$;
--- payment-run bad 6
SELECT p.id,
       p.instalment,
       p.amount_cents,
       p.due_on,
       per.full_name AS payee,
       left(aw.iban_token, 4) || '...' AS iban_hint,
       aw.iban_token,
       sum(p.amount_cents) OVER (PARTITION BY aw.programme_id) AS programme_total
FROM payments p
JOIN awards aw       ON aw.id = p.award_id AND aw.deleted_at IS NULL AND aw.status = 'accepted'
JOIN applications a  ON a.id = aw.application_id AND a.deleted_at IS NULL
JOIN persons per     ON per.id = aw.applicant_id AND per.deleted_at IS NULL
WHERE p.foundation_id = ctx_foundation()
  AND p.status = 'approved'
  AND p.due_on <= foundation_today()
  AND holds_duty(aw.programme_id, '{officer,chair,treasurer}')
  AND NOT in_conflict(aw.application_id)
ORDER BY p.due_on, p.id
LIMIT LEAST(:page_size::int, 50) OFFSET :page_offset::int;
--- payment-run bad 13
CREATE OR REPLACE FUNCTION payment_run(p_programme_id bigint, p_sort text, p_descending boolean, p_page int)
RETURNS TABLE (payment_id bigint, payee text, instalment int, amount_cents bigint, due_on date, iban_token text)
LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_column text := coalesce(nullif(trim(p_sort), ''), 'due_on');
BEGIN
  IF NOT EXISTS (SELECT 1 FROM programmes pr
                 WHERE pr.id = p_programme_id
                   AND pr.foundation_id = ctx_foundation()
                   AND pr.deleted_at IS NULL)
     OR NOT holds_duty(p_programme_id, '{treasurer}') THEN
    RAISE EXCEPTION 'not your programme';
  END IF;

  RETURN QUERY EXECUTE format(
    'SELECT p.id, per.full_name, p.instalment, p.amount_cents, p.due_on, aw.iban_token
     FROM awards aw
     JOIN payments p     ON p.award_id = aw.id
     JOIN applications a ON a.id = aw.application_id
     JOIN persons per    ON per.id = aw.applicant_id
     WHERE aw.programme_id = $1
       AND aw.deleted_at IS NULL
       AND a.deleted_at IS NULL
       AND per.deleted_at IS NULL
       AND aw.status = ''accepted''
       AND p.status IN (''approved'', ''proposed'')
       AND NOT in_conflict(a.id)
     ORDER BY p.%s %s, p.id
     LIMIT 50 OFFSET 50 * greatest($2, 0)',
    v_column, CASE WHEN p_descending THEN 'DESC' ELSE 'ASC' END)
  USING p_programme_id, p_page;
END
$$;
--- payment-run bad 7
SELECT p.id,
       p.instalment,
       p.amount_cents,
       p.due_on,
       foundation_today() - p.due_on AS days_waiting,
       per.full_name AS payee,
       CASE WHEN holds_duty(aw.programme_id, '{treasurer}') THEN aw.iban_token END AS iban_token,
       sum(p.amount_cents) OVER (PARTITION BY aw.programme_id) AS programme_total
FROM payments p
JOIN awards aw       ON aw.id = p.award_id AND aw.status = 'accepted'
JOIN persons per     ON per.id = aw.applicant_id AND per.deleted_at IS NULL
WHERE p.foundation_id = ctx_foundation()
  AND p.status = 'approved'
  AND p.due_on <= foundation_today()
  AND holds_duty(aw.programme_id, '{officer,chair,treasurer}')
  AND NOT in_conflict(aw.application_id)
ORDER BY p.due_on, p.id
LIMIT LEAST(:page_size::int, 50) OFFSET :page_offset::int;
--- payment-run bad 2
WITH purse AS (
  SELECT m.programme_id
  FROM mandates m
  WHERE m.person_id = ctx_person()
    AND m.duty = 'treasurer'
    AND m.revoked_at IS NULL
    AND m.granted_at <= now()
    AND (m.ends_at IS NULL OR m.ends_at > now())
  UNION
  SELECT d.programme_id
  FROM delegations d
  JOIN persons giver ON giver.id = d.from_person
                    AND giver.locked_at IS NULL
                    AND giver.deleted_at IS NULL
  WHERE d.to_person = ctx_person()
    AND d.duty = 'treasurer'
    AND d.revoked_at IS NULL
    AND d.valid @> now()
)
SELECT p.id, per.full_name AS payee, p.instalment, p.amount_cents, p.due_on
FROM purse
JOIN awards aw      ON aw.programme_id = purse.programme_id
JOIN applications a ON a.id = aw.application_id
JOIN payments p     ON p.award_id = aw.id
JOIN persons per    ON per.id = aw.applicant_id
WHERE aw.foundation_id = ctx_foundation()
  AND aw.deleted_at IS NULL
  AND a.deleted_at IS NULL
  AND per.deleted_at IS NULL
  AND aw.status = 'accepted'
  AND p.status = 'approved'
  AND p.due_on <= foundation_today()
  AND NOT in_conflict(a.id)
ORDER BY p.due_on, p.id
LIMIT 50;
--- submit-application good
SELECT 1
FROM persons me
WHERE me.id = ctx_person()
FOR UPDATE;

UPDATE applications a
SET status = 'submitted',
    submitted_at = now()
FROM programmes pr
WHERE a.id = :application_id
  AND a.foundation_id = ctx_foundation()
  AND a.applicant_id = ctx_person()
  AND a.status = 'draft'
  AND a.deleted_at IS NULL
  AND pr.id = a.programme_id
  AND pr.deleted_at IS NULL
  AND pr.opens_at <= now()
  AND pr.closes_at > now()
  AND NOT EXISTS (SELECT 1
                  FROM applications twin
                  WHERE twin.applicant_id = a.applicant_id
                    AND twin.programme_id = a.programme_id
                    AND twin.id <> a.id
                    AND twin.deleted_at IS NULL
                    AND twin.status NOT IN ('draft', 'withdrawn'))
RETURNING a.id, a.submitted_at;
--- submit-application good
CREATE OR REPLACE FUNCTION submit_application(p_application_id bigint, p_title text, p_statement text)
RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE
  v_app  applications%ROWTYPE;
  v_prog programmes%ROWTYPE;
BEGIN
  PERFORM 1 FROM persons WHERE id = ctx_person() AND foundation_id = ctx_foundation() FOR UPDATE;

  SELECT * INTO v_app
  FROM applications
  WHERE id = p_application_id
    AND foundation_id = ctx_foundation()
    AND applicant_id = ctx_person()
    AND deleted_at IS NULL
  FOR UPDATE;
  IF NOT FOUND OR v_app.status <> 'draft' THEN
    RAISE EXCEPTION 'no draft to submit';
  END IF;

  SELECT * INTO v_prog FROM programmes WHERE id = v_app.programme_id AND deleted_at IS NULL;
  IF NOT FOUND OR now() < v_prog.opens_at OR now() >= v_prog.closes_at THEN
    RAISE EXCEPTION 'the programme does not take applications now';
  END IF;

  PERFORM 1
  FROM applications
  WHERE applicant_id = ctx_person()
    AND programme_id = v_prog.id
    AND deleted_at IS NULL
    AND status IN ('submitted', 'under_review', 'shortlisted', 'awarded', 'declined');
  IF FOUND THEN
    RAISE EXCEPTION 'one application in each programme';
  END IF;

  UPDATE applications
  SET title = coalesce(p_title, v_app.title),
      statement = coalesce(p_statement, v_app.statement),
      status = 'submitted',
      submitted_at = now()
  WHERE id = v_app.id;
  RETURN now();
END
$$;
--- submit-application bad 12
CREATE OR REPLACE FUNCTION submit_application(p_application_id bigint, p_title text, p_statement text)
RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE
  v_app  applications%ROWTYPE;
  v_prog programmes%ROWTYPE;
BEGIN
  SELECT * INTO v_app
  FROM applications
  WHERE id = p_application_id
    AND foundation_id = ctx_foundation()
    AND applicant_id = ctx_person()
    AND deleted_at IS NULL
  FOR UPDATE;
  IF NOT FOUND OR v_app.status <> 'draft' THEN
    RAISE EXCEPTION 'no draft to submit';
  END IF;

  SELECT * INTO v_prog FROM programmes WHERE id = v_app.programme_id AND deleted_at IS NULL;
  IF NOT FOUND OR now() < v_prog.opens_at OR now() >= v_prog.closes_at THEN
    RAISE EXCEPTION 'the programme does not take applications now';
  END IF;

  PERFORM 1
  FROM applications
  WHERE applicant_id = ctx_person()
    AND programme_id = v_prog.id
    AND deleted_at IS NULL
    AND status IN ('submitted', 'under_review', 'shortlisted', 'awarded', 'declined');
  IF FOUND THEN
    RAISE EXCEPTION 'one application in each programme';
  END IF;

  UPDATE applications
  SET title = coalesce(p_title, v_app.title),
      statement = coalesce(p_statement, v_app.statement),
      status = 'submitted',
      submitted_at = now()
  WHERE id = v_app.id;
  RETURN now();
END
$$;
--- submit-application bad 10
SELECT 1
FROM persons me
WHERE me.id = ctx_person()
FOR UPDATE;

UPDATE applications a
SET status = 'submitted',
    submitted_at = now()
FROM programmes pr
WHERE a.id = :application_id
  AND a.foundation_id = ctx_foundation()
  AND a.applicant_id = ctx_person()
  AND a.status = 'draft'
  AND a.deleted_at IS NULL
  AND pr.id = a.programme_id
  AND pr.deleted_at IS NULL
  AND pr.opens_at <= now()
  AND pr.closes_at::date >= foundation_today()
  AND NOT EXISTS (SELECT 1
                  FROM applications twin
                  WHERE twin.applicant_id = a.applicant_id
                    AND twin.programme_id = a.programme_id
                    AND twin.id <> a.id
                    AND twin.deleted_at IS NULL
                    AND twin.status NOT IN ('draft', 'withdrawn'))
RETURNING a.id, a.submitted_at;
--- submit-application bad 9
SELECT 1
FROM persons me
WHERE me.id = ctx_person()
FOR UPDATE;

UPDATE applications a
SET status = 'submitted',
    submitted_at = now()
FROM programmes pr
WHERE a.id = :application_id
  AND a.foundation_id = ctx_foundation()
  AND a.applicant_id = ctx_person()
  AND a.status NOT IN ('under_review', 'shortlisted', 'awarded', 'declined')
  AND a.deleted_at IS NULL
  AND pr.id = a.programme_id
  AND pr.deleted_at IS NULL
  AND pr.opens_at <= now()
  AND pr.closes_at > now()
  AND NOT EXISTS (SELECT 1
                  FROM applications twin
                  WHERE twin.applicant_id = a.applicant_id
                    AND twin.programme_id = a.programme_id
                    AND twin.id <> a.id
                    AND twin.deleted_at IS NULL
                    AND twin.status NOT IN ('draft', 'withdrawn'))
RETURNING a.id, a.submitted_at;
--- submit-application bad 3
CREATE OR REPLACE FUNCTION submit_application(p_application_id bigint, p_title text, p_statement text)
RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE
  v_app  applications%ROWTYPE;
  v_prog programmes%ROWTYPE;
BEGIN
  PERFORM 1
  FROM persons p
  JOIN applications a ON a.applicant_id = p.id
  WHERE a.id = p_application_id AND a.foundation_id = ctx_foundation()
  FOR UPDATE OF p;

  SELECT * INTO v_app
  FROM applications
  WHERE id = p_application_id
    AND foundation_id = ctx_foundation()
    AND deleted_at IS NULL
  FOR UPDATE;
  IF NOT FOUND OR v_app.status <> 'draft' THEN
    RAISE EXCEPTION 'no draft to submit';
  END IF;

  SELECT * INTO v_prog FROM programmes WHERE id = v_app.programme_id AND deleted_at IS NULL;
  IF NOT FOUND OR now() < v_prog.opens_at OR now() >= v_prog.closes_at THEN
    RAISE EXCEPTION 'the programme does not take applications now';
  END IF;

  PERFORM 1
  FROM applications
  WHERE applicant_id = v_app.applicant_id
    AND programme_id = v_prog.id
    AND deleted_at IS NULL
    AND status IN ('submitted', 'under_review', 'shortlisted', 'awarded', 'declined');
  IF FOUND THEN
    RAISE EXCEPTION 'one application in each programme';
  END IF;

  UPDATE applications
  SET title = coalesce(p_title, v_app.title),
      statement = coalesce(p_statement, v_app.statement),
      status = 'submitted',
      submitted_at = now()
  WHERE id = v_app.id;
  RETURN now();
END
$$;
--- score-review good
UPDATE reviews r
SET status       = 'submitted',
    score        = :score::numeric,
    comment      = :comment,
    private_note = coalesce(:private_note, r.private_note),
    submitted_at = now()
FROM applications a
JOIN panels pn ON pn.id = a.panel_id
WHERE r.application_id = :application_id
  AND r.foundation_id = ctx_foundation()
  AND r.reviewer_id = ctx_person()
  AND r.status IN ('assigned', 'in_progress')
  AND a.id = r.application_id
  AND a.deleted_at IS NULL
  AND pn.deleted_at IS NULL
  AND pn.closed_at IS NULL
  AND pn.sits_on >= foundation_today()
  AND holds_duty(a.programme_id, '{reviewer}')
  AND NOT in_conflict(a.id)
RETURNING r.id, r.submitted_at;
--- score-review good
CREATE OR REPLACE FUNCTION score_review(p_review_id bigint, p_score numeric, p_comment text, p_final boolean)
RETURNS review_status LANGUAGE plpgsql AS $$
DECLARE
  v_review reviews%ROWTYPE;
  v_app    applications%ROWTYPE;
  v_panel  panels%ROWTYPE;
  v_next   review_status := CASE WHEN p_final THEN 'submitted' ELSE 'in_progress' END;
BEGIN
  SELECT * INTO v_review
  FROM reviews
  WHERE id = p_review_id AND foundation_id = ctx_foundation() AND reviewer_id = ctx_person()
  FOR UPDATE;
  IF NOT FOUND OR v_review.status NOT IN ('assigned', 'in_progress') THEN
    RAISE EXCEPTION 'nothing to score';
  END IF;

  SELECT * INTO v_app FROM applications WHERE id = v_review.application_id AND deleted_at IS NULL;
  IF NOT FOUND OR in_conflict(v_app.id) OR NOT holds_duty(v_app.programme_id, '{reviewer}') THEN
    RAISE EXCEPTION 'nothing to score';
  END IF;

  SELECT * INTO v_panel FROM panels WHERE id = v_app.panel_id AND deleted_at IS NULL;
  IF NOT FOUND OR v_panel.closed_at IS NOT NULL OR v_panel.sits_on < foundation_today() THEN
    RAISE EXCEPTION 'the panel has closed';
  END IF;
  IF p_final AND (p_score IS NULL OR length(trim(coalesce(p_comment, ''))) = 0) THEN
    RAISE EXCEPTION 'score and comment are needed';
  END IF;

  UPDATE reviews
  SET score = p_score,
      comment = p_comment,
      status = v_next,
      submitted_at = CASE WHEN v_next = 'submitted' THEN now() END
  WHERE id = v_review.id;
  RETURN v_next;
END
$$;
--- score-review bad 9,12
UPDATE reviews r
SET status       = 'submitted',
    score        = :score::numeric,
    comment      = :comment,
    private_note = coalesce(:private_note, r.private_note),
    submitted_at = coalesce(r.submitted_at, now())
FROM applications a
JOIN panels pn ON pn.id = a.panel_id
WHERE r.application_id = :application_id
  AND r.foundation_id = ctx_foundation()
  AND r.reviewer_id = ctx_person()
  AND r.status <> 'recused'
  AND a.id = r.application_id
  AND a.deleted_at IS NULL
  AND pn.deleted_at IS NULL
  AND pn.closed_at IS NULL
  AND pn.sits_on >= foundation_today()
  AND holds_duty(a.programme_id, '{reviewer}')
  AND NOT in_conflict(a.id)
RETURNING r.id, r.submitted_at;
--- score-review bad 10
UPDATE reviews r
SET status       = 'submitted',
    score        = :score::numeric,
    comment      = :comment,
    private_note = coalesce(:private_note, r.private_note),
    submitted_at = now()
FROM applications a
JOIN panels pn ON pn.id = a.panel_id
WHERE r.application_id = :application_id
  AND r.foundation_id = ctx_foundation()
  AND r.reviewer_id = ctx_person()
  AND r.status IN ('assigned', 'in_progress')
  AND a.id = r.application_id
  AND a.deleted_at IS NULL
  AND pn.deleted_at IS NULL
  AND pn.closed_at IS NULL
  AND CURRENT_DATE <= pn.sits_on
  AND holds_duty(a.programme_id, '{reviewer}')
  AND NOT in_conflict(a.id)
RETURNING r.id, r.submitted_at;
--- score-review bad 2
CREATE OR REPLACE FUNCTION score_review(p_review_id bigint, p_score numeric, p_comment text, p_final boolean)
RETURNS review_status LANGUAGE plpgsql AS $$
DECLARE
  v_review reviews%ROWTYPE;
  v_app    applications%ROWTYPE;
  v_panel  panels%ROWTYPE;
  v_next   review_status := CASE WHEN p_final THEN 'submitted' ELSE 'in_progress' END;
BEGIN
  SELECT * INTO v_review
  FROM reviews
  WHERE id = p_review_id AND foundation_id = ctx_foundation() AND reviewer_id = ctx_person()
  FOR UPDATE;
  IF NOT FOUND OR v_review.status NOT IN ('assigned', 'in_progress') THEN
    RAISE EXCEPTION 'nothing to score';
  END IF;

  SELECT * INTO v_app FROM applications WHERE id = v_review.application_id AND deleted_at IS NULL;
  IF NOT FOUND OR in_conflict(v_app.id) THEN
    RAISE EXCEPTION 'nothing to score';
  END IF;

  SELECT * INTO v_panel FROM panels WHERE id = v_app.panel_id AND deleted_at IS NULL;
  IF NOT FOUND OR v_panel.closed_at IS NOT NULL OR v_panel.sits_on < foundation_today() THEN
    RAISE EXCEPTION 'the panel has closed';
  END IF;
  IF p_final AND (p_score IS NULL OR length(trim(coalesce(p_comment, ''))) = 0) THEN
    RAISE EXCEPTION 'score and comment are needed';
  END IF;

  UPDATE reviews
  SET score = p_score,
      comment = p_comment,
      status = v_next,
      submitted_at = CASE WHEN v_next = 'submitted' THEN now() END
  WHERE id = v_review.id;
  RETURN v_next;
END
$$;
--- score-review bad 12
CREATE OR REPLACE FUNCTION score_review(p_review_id bigint, p_score numeric, p_comment text, p_final boolean)
RETURNS review_status LANGUAGE plpgsql AS $$
DECLARE
  v_review reviews%ROWTYPE;
  v_app    applications%ROWTYPE;
  v_panel  panels%ROWTYPE;
  v_next   review_status := CASE WHEN p_final THEN 'submitted' ELSE 'in_progress' END;
BEGIN
  SELECT * INTO v_review
  FROM reviews
  WHERE id = p_review_id AND foundation_id = ctx_foundation() AND reviewer_id = ctx_person();
  IF NOT FOUND OR v_review.status NOT IN ('assigned', 'in_progress') THEN
    RAISE EXCEPTION 'nothing to score';
  END IF;

  SELECT * INTO v_app FROM applications WHERE id = v_review.application_id AND deleted_at IS NULL;
  IF NOT FOUND OR in_conflict(v_app.id) OR NOT holds_duty(v_app.programme_id, '{reviewer}') THEN
    RAISE EXCEPTION 'nothing to score';
  END IF;

  SELECT * INTO v_panel FROM panels WHERE id = v_app.panel_id AND deleted_at IS NULL;
  IF NOT FOUND OR v_panel.closed_at IS NOT NULL OR v_panel.sits_on < foundation_today() THEN
    RAISE EXCEPTION 'the panel has closed';
  END IF;
  IF p_final AND (p_score IS NULL OR length(trim(coalesce(p_comment, ''))) = 0) THEN
    RAISE EXCEPTION 'score and comment are needed';
  END IF;

  UPDATE reviews
  SET score = p_score,
      comment = p_comment,
      status = v_next,
      submitted_at = CASE WHEN v_next = 'submitted' THEN now() END
  WHERE id = v_review.id;
  RETURN v_next;
END
$$;
--- offer-award good
CREATE OR REPLACE FUNCTION offer_award(p_application_id bigint, p_amount bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_prog  programmes%ROWTYPE;
  v_app   applications%ROWTYPE;
  v_award bigint;
BEGIN
  SELECT pr.* INTO v_prog
  FROM applications a
  JOIN programmes pr ON pr.id = a.programme_id AND pr.deleted_at IS NULL
  WHERE a.id = p_application_id AND a.foundation_id = ctx_foundation()
  FOR UPDATE OF pr;
  IF NOT FOUND OR NOT holds_duty(v_prog.id, '{chair}') THEN
    RAISE EXCEPTION 'not permitted';
  END IF;

  SELECT a.* INTO v_app
  FROM applications a
  JOIN panels pn ON pn.id = a.panel_id AND pn.deleted_at IS NULL
  WHERE a.id = p_application_id
    AND a.foundation_id = ctx_foundation()
    AND a.deleted_at IS NULL
    AND a.status = 'shortlisted'
    AND pn.closed_at <= now()
  FOR UPDATE OF a;
  IF NOT FOUND OR p_amount > v_app.requested_cents THEN
    RAISE EXCEPTION 'this application cannot be awarded';
  END IF;
  IF in_conflict(v_app.id)
     OR EXISTS (SELECT 1 FROM reviews r
                WHERE r.application_id = v_app.id AND r.reviewer_id = ctx_person() AND r.status = 'submitted') THEN
    RAISE EXCEPTION 'another chair has to decide';
  END IF;
  IF EXISTS (SELECT 1 FROM awards w
             WHERE w.application_id = v_app.id AND w.deleted_at IS NULL AND w.status IN ('offered', 'accepted'))
     OR p_amount + (SELECT coalesce(sum(w.amount_cents), 0) FROM awards w
                    WHERE w.programme_id = v_prog.id AND w.deleted_at IS NULL
                      AND w.status IN ('offered', 'accepted')) > v_prog.budget_cents THEN
    RAISE EXCEPTION 'budget exhausted';
  END IF;

  INSERT INTO awards (foundation_id, application_id, programme_id, applicant_id, amount_cents, offered_by, expires_at)
  VALUES (ctx_foundation(), v_app.id, v_prog.id, v_app.applicant_id, p_amount, ctx_person(), now() + interval '30 days')
  RETURNING id INTO v_award;
  UPDATE applications SET status = 'awarded' WHERE id = v_app.id;
  INSERT INTO decision_log (foundation_id, person_id, act, subject_id)
  VALUES (ctx_foundation(), ctx_person(), 'offer', v_award);
  RETURN v_award;
END
$$;
--- offer-award good
SELECT 1
FROM programmes pr
WHERE pr.foundation_id = ctx_foundation()
  AND pr.id = (SELECT a.programme_id FROM applications a
               WHERE a.id = :application_id AND a.foundation_id = ctx_foundation())
FOR UPDATE;

WITH chosen AS (
  UPDATE applications a
  SET status = 'awarded'
  FROM programmes pr, panels pn
  WHERE a.id = :application_id
    AND a.foundation_id = ctx_foundation()
    AND a.status = 'shortlisted'
    AND a.deleted_at IS NULL
    AND a.requested_cents >= :amount_cents::bigint
    AND pr.id = a.programme_id
    AND pr.deleted_at IS NULL
    AND pn.id = a.panel_id
    AND pn.deleted_at IS NULL
    AND pn.closed_at <= now()
    AND holds_duty(pr.id, '{chair}')
    AND NOT in_conflict(a.id)
    AND NOT EXISTS (SELECT 1 FROM reviews r
                    WHERE r.application_id = a.id
                      AND r.reviewer_id = ctx_person()
                      AND r.status = 'submitted')
    AND NOT EXISTS (SELECT 1 FROM awards w
                    WHERE w.application_id = a.id
                      AND w.deleted_at IS NULL
                      AND w.status IN ('offered', 'accepted'))
    AND pr.budget_cents - :amount_cents::bigint >=
          (SELECT coalesce(sum(w.amount_cents), 0) FROM awards w
           WHERE w.programme_id = pr.id
             AND w.deleted_at IS NULL
             AND w.status IN ('offered', 'accepted'))
  RETURNING a.id, a.foundation_id, a.programme_id, a.applicant_id
), offered AS (
  INSERT INTO awards (foundation_id, application_id, programme_id, applicant_id, amount_cents, offered_by, expires_at)
  SELECT c.foundation_id, c.id, c.programme_id, c.applicant_id, :amount_cents::bigint, ctx_person(), now() + interval '30 days'
  FROM chosen c
  RETURNING id, foundation_id
)
INSERT INTO decision_log (foundation_id, person_id, act, subject_id)
SELECT o.foundation_id, ctx_person(), 'offer', o.id
FROM offered o
RETURNING subject_id AS award_id;
--- offer-award bad 12
WITH purse AS (
  SELECT pr.id, pr.budget_cents, pr.deleted_at
  FROM programmes pr
  WHERE pr.foundation_id = ctx_foundation()
    AND pr.id = (SELECT a.programme_id FROM applications a
                 WHERE a.id = :application_id AND a.foundation_id = ctx_foundation())
  FOR UPDATE
), chosen AS (
  UPDATE applications a
  SET status = 'awarded'
  FROM purse pr, panels pn
  WHERE a.id = :application_id
    AND a.foundation_id = ctx_foundation()
    AND a.status = 'shortlisted'
    AND a.deleted_at IS NULL
    AND a.requested_cents >= :amount_cents::bigint
    AND pr.id = a.programme_id
    AND pr.deleted_at IS NULL
    AND pn.id = a.panel_id
    AND pn.deleted_at IS NULL
    AND pn.closed_at <= now()
    AND holds_duty(pr.id, '{chair}')
    AND NOT in_conflict(a.id)
    AND NOT EXISTS (SELECT 1 FROM reviews r
                    WHERE r.application_id = a.id
                      AND r.reviewer_id = ctx_person()
                      AND r.status = 'submitted')
    AND NOT EXISTS (SELECT 1 FROM awards w
                    WHERE w.application_id = a.id
                      AND w.deleted_at IS NULL
                      AND w.status IN ('offered', 'accepted'))
    AND pr.budget_cents - :amount_cents::bigint >=
          (SELECT coalesce(sum(w.amount_cents), 0) FROM awards w
           WHERE w.programme_id = pr.id
             AND w.deleted_at IS NULL
             AND w.status IN ('offered', 'accepted'))
  RETURNING a.id, a.foundation_id, a.programme_id, a.applicant_id
), offered AS (
  INSERT INTO awards (foundation_id, application_id, programme_id, applicant_id, amount_cents, offered_by, expires_at)
  SELECT c.foundation_id, c.id, c.programme_id, c.applicant_id, :amount_cents::bigint, ctx_person(), now() + interval '30 days'
  FROM chosen c
  RETURNING id, foundation_id
)
INSERT INTO decision_log (foundation_id, person_id, act, subject_id)
SELECT o.foundation_id, ctx_person(), 'offer', o.id
FROM offered o
RETURNING subject_id AS award_id;
--- offer-award bad 11
CREATE OR REPLACE FUNCTION offer_award(p_application_id bigint, p_amount bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_prog  programmes%ROWTYPE;
  v_app   applications%ROWTYPE;
  v_award bigint;
BEGIN
  SELECT pr.* INTO v_prog
  FROM applications a
  JOIN programmes pr ON pr.id = a.programme_id AND pr.deleted_at IS NULL
  WHERE a.id = p_application_id AND a.foundation_id = ctx_foundation()
  FOR UPDATE OF pr;
  IF NOT FOUND OR NOT holds_duty(v_prog.id, '{chair}') THEN
    RAISE EXCEPTION 'not permitted';
  END IF;

  SELECT a.* INTO v_app
  FROM applications a
  JOIN panels pn ON pn.id = a.panel_id AND pn.deleted_at IS NULL
  WHERE a.id = p_application_id
    AND a.foundation_id = ctx_foundation()
    AND a.deleted_at IS NULL
    AND a.status = 'shortlisted'
    AND pn.closed_at <= now()
  FOR UPDATE OF a;
  IF NOT FOUND OR p_amount > v_app.requested_cents THEN
    RAISE EXCEPTION 'this application cannot be awarded';
  END IF;
  IF in_conflict(v_app.id)
     OR EXISTS (SELECT 1 FROM reviews r
                WHERE r.application_id = v_app.id AND r.reviewer_id = ctx_person() AND r.status IN ('assigned', 'in_progress')) THEN
    RAISE EXCEPTION 'another chair has to decide';
  END IF;
  IF EXISTS (SELECT 1 FROM awards w
             WHERE w.application_id = v_app.id AND w.deleted_at IS NULL AND w.status IN ('offered', 'accepted'))
     OR p_amount + (SELECT coalesce(sum(w.amount_cents), 0) FROM awards w
                    WHERE w.programme_id = v_prog.id AND w.deleted_at IS NULL
                      AND w.status IN ('offered', 'accepted')) > v_prog.budget_cents THEN
    RAISE EXCEPTION 'budget exhausted';
  END IF;

  INSERT INTO awards (foundation_id, application_id, programme_id, applicant_id, amount_cents, offered_by, expires_at)
  VALUES (ctx_foundation(), v_app.id, v_prog.id, v_app.applicant_id, p_amount, ctx_person(), now() + interval '30 days')
  RETURNING id INTO v_award;
  UPDATE applications SET status = 'awarded' WHERE id = v_app.id;
  INSERT INTO decision_log (foundation_id, person_id, act, subject_id)
  VALUES (ctx_foundation(), ctx_person(), 'offer', v_award);
  RETURN v_award;
END
$$;
--- offer-award bad 10
CREATE OR REPLACE FUNCTION offer_award(p_application_id bigint, p_amount bigint, p_days_to_answer int DEFAULT 30)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_prog  programmes%ROWTYPE;
  v_app   applications%ROWTYPE;
  v_award bigint;
BEGIN
  SELECT pr.* INTO v_prog
  FROM applications a
  JOIN programmes pr ON pr.id = a.programme_id AND pr.deleted_at IS NULL
  WHERE a.id = p_application_id AND a.foundation_id = ctx_foundation()
  FOR UPDATE OF pr;
  IF NOT FOUND OR NOT holds_duty(v_prog.id, '{chair}') THEN
    RAISE EXCEPTION 'not permitted';
  END IF;

  SELECT a.* INTO v_app
  FROM applications a
  JOIN panels pn ON pn.id = a.panel_id AND pn.deleted_at IS NULL
  WHERE a.id = p_application_id
    AND a.foundation_id = ctx_foundation()
    AND a.deleted_at IS NULL
    AND a.status = 'shortlisted'
    AND pn.closed_at <= now()
  FOR UPDATE OF a;
  IF NOT FOUND OR p_amount > v_app.requested_cents THEN
    RAISE EXCEPTION 'this application cannot be awarded';
  END IF;
  IF in_conflict(v_app.id)
     OR EXISTS (SELECT 1 FROM reviews r
                WHERE r.application_id = v_app.id AND r.reviewer_id = ctx_person() AND r.status = 'submitted') THEN
    RAISE EXCEPTION 'another chair has to decide';
  END IF;
  IF EXISTS (SELECT 1 FROM awards w
             WHERE w.application_id = v_app.id AND w.deleted_at IS NULL AND w.status IN ('offered', 'accepted'))
     OR p_amount + (SELECT coalesce(sum(w.amount_cents), 0) FROM awards w
                    WHERE w.programme_id = v_prog.id AND w.deleted_at IS NULL
                      AND w.status IN ('offered', 'accepted')) > v_prog.budget_cents THEN
    RAISE EXCEPTION 'budget exhausted';
  END IF;

  INSERT INTO awards (foundation_id, application_id, programme_id, applicant_id, amount_cents, offered_by, expires_at)
  VALUES (ctx_foundation(), v_app.id, v_prog.id, v_app.applicant_id, p_amount, ctx_person(), now() + make_interval(days => p_days_to_answer))
  RETURNING id INTO v_award;
  UPDATE applications SET status = 'awarded' WHERE id = v_app.id;
  INSERT INTO decision_log (foundation_id, person_id, act, subject_id)
  VALUES (ctx_foundation(), ctx_person(), 'offer', v_award);
  RETURN v_award;
END
$$;
--- offer-award bad 9
SELECT 1
FROM programmes pr
WHERE pr.foundation_id = ctx_foundation()
  AND pr.id = (SELECT a.programme_id FROM applications a
               WHERE a.id = :application_id AND a.foundation_id = ctx_foundation())
FOR UPDATE;

WITH chosen AS (
  UPDATE applications a
  SET status = 'awarded'
  FROM programmes pr, panels pn
  WHERE a.id = :application_id
    AND a.foundation_id = ctx_foundation()
    AND a.status IN ('under_review', 'shortlisted')
    AND a.deleted_at IS NULL
    AND pr.id = a.programme_id
    AND pr.deleted_at IS NULL
    AND pn.id = a.panel_id
    AND pn.deleted_at IS NULL
    AND pn.closed_at <= now()
    AND holds_duty(pr.id, '{chair}')
    AND NOT in_conflict(a.id)
    AND NOT EXISTS (SELECT 1 FROM reviews r
                    WHERE r.application_id = a.id
                      AND r.reviewer_id = ctx_person()
                      AND r.status = 'submitted')
    AND NOT EXISTS (SELECT 1 FROM awards w
                    WHERE w.application_id = a.id
                      AND w.deleted_at IS NULL
                      AND w.status IN ('offered', 'accepted'))
    AND pr.budget_cents - :amount_cents::bigint >=
          (SELECT coalesce(sum(w.amount_cents), 0) FROM awards w
           WHERE w.programme_id = pr.id
             AND w.deleted_at IS NULL
             AND w.status IN ('offered', 'accepted'))
  RETURNING a.id, a.foundation_id, a.programme_id, a.applicant_id
), offered AS (
  INSERT INTO awards (foundation_id, application_id, programme_id, applicant_id, amount_cents, offered_by, expires_at)
  SELECT c.foundation_id, c.id, c.programme_id, c.applicant_id, :amount_cents::bigint, ctx_person(), now() + interval '30 days'
  FROM chosen c
  RETURNING id, foundation_id
)
INSERT INTO decision_log (foundation_id, person_id, act, subject_id)
SELECT o.foundation_id, ctx_person(), 'offer', o.id
FROM offered o
RETURNING subject_id AS award_id;
--- accept-offer good
UPDATE awards aw
SET status      = 'accepted',
    accepted_at = now(),
    iban_token  = :iban_token
FROM applications a, programmes pr
WHERE aw.id = :award_id
  AND aw.foundation_id = ctx_foundation()
  AND aw.applicant_id = ctx_person()
  AND aw.status = 'offered'
  AND aw.expires_at > now()
  AND aw.deleted_at IS NULL
  AND a.id = aw.application_id
  AND a.deleted_at IS NULL
  AND pr.id = aw.programme_id
  AND pr.deleted_at IS NULL
  AND pr.results_at <= now()
RETURNING aw.id, aw.amount_cents, aw.accepted_at, pr.name AS programme;
--- accept-offer good
CREATE OR REPLACE FUNCTION answer_offer(p_award_id bigint, p_accept boolean, p_iban_token text)
RETURNS award_status LANGUAGE plpgsql AS $$
DECLARE
  v_award awards%ROWTYPE;
BEGIN
  SELECT w.* INTO v_award
  FROM awards w
  JOIN applications a ON a.id = w.application_id AND a.deleted_at IS NULL
  WHERE w.id = p_award_id
    AND w.foundation_id = ctx_foundation()
    AND w.applicant_id = ctx_person()
    AND w.deleted_at IS NULL
    AND EXISTS (SELECT 1 FROM programmes pr
                WHERE pr.id = w.programme_id AND pr.deleted_at IS NULL AND pr.results_at <= now())
  FOR UPDATE OF w;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such offer';
  END IF;
  IF v_award.status <> 'offered' THEN
    RAISE EXCEPTION 'already answered';
  END IF;

  IF p_accept THEN
    IF v_award.expires_at <= now() THEN
      RAISE EXCEPTION 'the offer has lapsed';
    END IF;
    UPDATE awards
    SET status = 'accepted', accepted_at = now(), iban_token = p_iban_token
    WHERE id = v_award.id;
    RETURN 'accepted';
  END IF;

  UPDATE awards SET status = 'refused' WHERE id = v_award.id;
  RETURN 'refused';
END
$$;
--- accept-offer bad 10
UPDATE awards aw
SET status      = 'accepted',
    accepted_at = now(),
    iban_token  = :iban_token
FROM applications a, programmes pr
WHERE aw.id = :award_id
  AND aw.foundation_id = ctx_foundation()
  AND aw.applicant_id = ctx_person()
  AND aw.status = 'offered'
  AND aw.deleted_at IS NULL
  AND a.id = aw.application_id
  AND a.deleted_at IS NULL
  AND pr.id = aw.programme_id
  AND pr.deleted_at IS NULL
  AND pr.results_at <= now()
RETURNING aw.id, aw.amount_cents, aw.accepted_at, aw.expires_at, pr.name AS programme;
--- accept-offer bad 1,3
CREATE OR REPLACE FUNCTION answer_offer(p_award_id bigint, p_accept boolean, p_iban_token text)
RETURNS award_status LANGUAGE plpgsql AS $$
DECLARE
  v_award awards%ROWTYPE;
BEGIN
  SELECT w.* INTO v_award
  FROM awards w
  JOIN applications a ON a.id = w.application_id AND a.deleted_at IS NULL
  WHERE w.id = p_award_id
    AND w.deleted_at IS NULL
    AND EXISTS (SELECT 1 FROM programmes pr
                WHERE pr.id = w.programme_id AND pr.deleted_at IS NULL AND pr.results_at <= now())
  FOR UPDATE OF w;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such offer';
  END IF;
  IF v_award.status <> 'offered' THEN
    RAISE EXCEPTION 'already answered';
  END IF;

  IF p_accept THEN
    IF v_award.expires_at <= now() THEN
      RAISE EXCEPTION 'the offer has lapsed';
    END IF;
    UPDATE awards
    SET status = 'accepted', accepted_at = now(), iban_token = p_iban_token
    WHERE id = v_award.id;
    RETURN 'accepted';
  END IF;

  UPDATE awards SET status = 'refused' WHERE id = v_award.id;
  RETURN 'refused';
END
$$;
--- accept-offer bad 6
UPDATE awards aw
SET status      = 'accepted',
    accepted_at = now(),
    iban_token  = :iban_token
FROM applications a, programmes pr
WHERE aw.id = :award_id
  AND aw.foundation_id = ctx_foundation()
  AND aw.applicant_id = ctx_person()
  AND aw.status = 'offered'
  AND aw.expires_at > now()
  AND aw.deleted_at IS NULL
  AND a.id = aw.application_id
  AND a.deleted_at IS NULL
  AND pr.id = aw.programme_id
  AND pr.deleted_at IS NULL
  AND pr.results_at <= now()
RETURNING pr.name AS programme, aw.*;
--- accept-offer bad 3
UPDATE awards aw
SET status      = 'accepted',
    accepted_at = now(),
    iban_token  = :iban_token
FROM applications a
JOIN programmes pr ON pr.id = a.programme_id
WHERE aw.id = :award_id
  AND aw.foundation_id = ctx_foundation()
  AND aw.applicant_id = ctx_person()
  AND aw.status = 'offered'
  AND aw.expires_at > now()
  AND aw.deleted_at IS NULL
  AND a.id = aw.application_id
  AND a.deleted_at IS NULL
  AND pr.deleted_at IS NULL
RETURNING aw.id, aw.amount_cents, aw.accepted_at, pr.name AS programme;
--- release-payment good
WITH freed AS (
  UPDATE payments p
  SET status      = 'released',
      released_by = ctx_person(),
      released_at = now()
  FROM awards aw
  JOIN applications a ON a.id = aw.application_id
  WHERE p.id = :payment_id
    AND p.foundation_id = ctx_foundation()
    AND p.status = 'approved'
    AND p.due_on <= foundation_today()
    AND p.proposed_by <> ctx_person()
    AND p.approved_by <> ctx_person()
    AND aw.id = p.award_id
    AND aw.status = 'accepted'
    AND aw.deleted_at IS NULL
    AND a.deleted_at IS NULL
    AND holds_duty(aw.programme_id, '{treasurer}')
    AND NOT in_conflict(aw.application_id)
  RETURNING p.id, p.foundation_id, p.amount_cents, aw.iban_token
), logged AS (
  INSERT INTO decision_log (foundation_id, person_id, act, subject_id)
  SELECT freed.foundation_id, ctx_person(), 'release', freed.id
  FROM freed
)
SELECT freed.id, freed.amount_cents, freed.iban_token
FROM freed;
--- release-payment good
WITH due AS (
  SELECT p.id
  FROM payments p
  JOIN awards aw      ON aw.id = p.award_id AND aw.deleted_at IS NULL
  JOIN applications a ON a.id = aw.application_id AND a.deleted_at IS NULL
  WHERE p.foundation_id = ctx_foundation()
    AND p.id = ANY (:payment_ids::bigint[])
    AND p.status = 'approved'
    AND aw.status = 'accepted'
    AND foundation_today() >= p.due_on
    AND ctx_person() NOT IN (p.proposed_by, p.approved_by)
    AND holds_duty(aw.programme_id, '{treasurer}')
    AND NOT in_conflict(a.id)
  ORDER BY p.id
  LIMIT 50
  FOR UPDATE OF p SKIP LOCKED
), freed AS (
  UPDATE payments p
  SET status = 'released', released_by = ctx_person(), released_at = now()
  FROM due
  WHERE p.id = due.id AND p.status = 'approved'
  RETURNING p.id, p.foundation_id, p.amount_cents
), logged AS (
  INSERT INTO decision_log (foundation_id, person_id, act, subject_id)
  SELECT freed.foundation_id, ctx_person(), 'release', freed.id
  FROM freed
  RETURNING subject_id
)
SELECT count(*) AS released, coalesce(sum(freed.amount_cents), 0) AS total_cents
FROM freed
JOIN logged ON logged.subject_id = freed.id;
--- release-payment bad 11
WITH freed AS (
  UPDATE payments p
  SET status      = 'released',
      released_by = ctx_person(),
      released_at = now()
  FROM awards aw
  JOIN applications a ON a.id = aw.application_id
  WHERE p.id = :payment_id
    AND p.foundation_id = ctx_foundation()
    AND p.status = 'approved'
    AND p.due_on <= foundation_today()
    AND p.approved_by <> ctx_person()
    AND aw.id = p.award_id
    AND aw.status = 'accepted'
    AND aw.deleted_at IS NULL
    AND a.deleted_at IS NULL
    AND holds_duty(aw.programme_id, '{treasurer}')
    AND NOT in_conflict(aw.application_id)
  RETURNING p.id, p.foundation_id, p.amount_cents, aw.iban_token
), logged AS (
  INSERT INTO decision_log (foundation_id, person_id, act, subject_id)
  SELECT freed.foundation_id, ctx_person(), 'release', freed.id
  FROM freed
)
SELECT freed.id, freed.amount_cents, freed.iban_token
FROM freed;
--- release-payment bad 9
WITH due AS (
  SELECT p.id
  FROM payments p
  JOIN awards aw      ON aw.id = p.award_id AND aw.deleted_at IS NULL
  JOIN applications a ON a.id = aw.application_id AND a.deleted_at IS NULL
  WHERE p.foundation_id = ctx_foundation()
    AND p.id = ANY (:payment_ids::bigint[])
    AND p.status = 'approved'
    AND aw.accepted_at IS NOT NULL
    AND foundation_today() >= p.due_on
    AND ctx_person() NOT IN (p.proposed_by, p.approved_by)
    AND holds_duty(aw.programme_id, '{treasurer}')
    AND NOT in_conflict(a.id)
  ORDER BY p.id
  LIMIT 50
  FOR UPDATE OF p SKIP LOCKED
), freed AS (
  UPDATE payments p
  SET status = 'released', released_by = ctx_person(), released_at = now()
  FROM due
  WHERE p.id = due.id AND p.status = 'approved'
  RETURNING p.id, p.foundation_id, p.amount_cents
), logged AS (
  INSERT INTO decision_log (foundation_id, person_id, act, subject_id)
  SELECT freed.foundation_id, ctx_person(), 'release', freed.id
  FROM freed
  RETURNING subject_id
)
SELECT count(*) AS released, coalesce(sum(freed.amount_cents), 0) AS total_cents
FROM freed
JOIN logged ON logged.subject_id = freed.id;
--- release-payment bad 5
WITH due AS (
  SELECT p.id
  FROM payments p
  JOIN awards aw      ON aw.id = p.award_id AND aw.deleted_at IS NULL
  JOIN applications a ON a.id = aw.application_id AND a.deleted_at IS NULL AND a.status = 'awarded'
  WHERE p.foundation_id = ctx_foundation()
    AND p.id = ANY (:payment_ids::bigint[])
    AND p.status = 'approved'
    AND aw.status = 'accepted'
    AND foundation_today() >= p.due_on
    AND ctx_person() NOT IN (p.proposed_by, p.approved_by)
    AND holds_duty(aw.programme_id, '{treasurer}')
  ORDER BY p.id
  LIMIT 50
  FOR UPDATE OF p SKIP LOCKED
), freed AS (
  UPDATE payments p
  SET status = 'released', released_by = ctx_person(), released_at = now()
  FROM due
  WHERE p.id = due.id AND p.status = 'approved'
  RETURNING p.id, p.foundation_id, p.amount_cents
), logged AS (
  INSERT INTO decision_log (foundation_id, person_id, act, subject_id)
  SELECT freed.foundation_id, ctx_person(), 'release', freed.id
  FROM freed
  RETURNING subject_id
)
SELECT count(*) AS released, coalesce(sum(freed.amount_cents), 0) AS total_cents
FROM freed
JOIN logged ON logged.subject_id = freed.id;
--- release-payment bad 12
CREATE OR REPLACE FUNCTION release_payment(p_payment_id bigint)
RETURNS TABLE (payment_id bigint, cents bigint, token text) LANGUAGE plpgsql AS $$
DECLARE
  v_pay   payments%ROWTYPE;
  v_award awards%ROWTYPE;
BEGIN
  SELECT p.* INTO v_pay
  FROM payments p
  WHERE p.id = p_payment_id AND p.foundation_id = ctx_foundation();
  IF NOT FOUND OR v_pay.status <> 'approved' OR v_pay.due_on > foundation_today() THEN
    RAISE EXCEPTION 'nothing to release';
  END IF;

  SELECT w.* INTO v_award
  FROM awards w
  JOIN applications a ON a.id = w.application_id AND a.deleted_at IS NULL
  WHERE w.id = v_pay.award_id AND w.deleted_at IS NULL AND w.status = 'accepted'
  FOR UPDATE OF w;
  IF NOT FOUND
     OR NOT holds_duty(v_award.programme_id, '{treasurer}')
     OR in_conflict(v_award.application_id) THEN
    RAISE EXCEPTION 'not permitted';
  END IF;
  IF ctx_person() IN (v_pay.proposed_by, v_pay.approved_by) THEN
    RAISE EXCEPTION 'a third person has to release';
  END IF;

  UPDATE payments p
  SET status = 'released', released_by = ctx_person(), released_at = now()
  WHERE p.id = v_pay.id;
  INSERT INTO decision_log (foundation_id, person_id, act, subject_id)
  VALUES (ctx_foundation(), ctx_person(), 'release', v_pay.id);
  RETURN QUERY SELECT v_pay.id, v_pay.amount_cents, v_award.iban_token;
END
$$;
