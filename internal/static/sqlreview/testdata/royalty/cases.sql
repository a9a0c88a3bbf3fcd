--- portal-statements good
SELECT s.id,
       lower(s.period)     AS first_day,
       upper(s.period) - 1 AS last_day,
       s.total_cents,
       s.issued_at,
       l.line_count,
       l.units,
       best.title          AS best_track
  FROM statement s
  LEFT JOIN LATERAL (
         SELECT count(*) AS line_count, coalesce(sum(sl.units), 0) AS units
           FROM statement_line sl
          WHERE sl.statement_id = s.id) l ON true
  LEFT JOIN LATERAL (
         SELECT t.title
           FROM statement_line sl
           JOIN track t ON t.id = sl.track_id
          WHERE sl.statement_id = s.id
          ORDER BY sl.amount_cents DESC, sl.id
          LIMIT 1) best ON true
 WHERE s.payee_id = :payee_id
   AND s.status = 'issued'
   AND acts_for(:user_id, s.payee_id, 'statements')
   AND (:before_id::bigint IS NULL OR s.id < :before_id)
 ORDER BY s.id DESC
 LIMIT LEAST(:limit, 100);

--- portal-statements good
WITH me AS (
  SELECT u.id FROM app_user u WHERE u.id = :user_id AND u.disabled_at IS NULL
), mine AS (
  SELECT p.id, p.display_name
    FROM payee p JOIN me ON p.user_id = me.id
   WHERE p.deleted_at IS NULL
  UNION
  SELECT p.id, p.display_name
    FROM delegate d
    JOIN me ON d.user_id = me.id
    JOIN payee p ON p.id = d.payee_id AND p.deleted_at IS NULL
   WHERE d.scope = 'statements'
     AND d.valid @> now()
     AND d.revoked_at IS NULL
)
SELECT m.display_name,
       s.id,
       s.period,
       s.total_cents,
       sum(s.total_cents) OVER (PARTITION BY s.payee_id ORDER BY lower(s.period), s.id) AS earned_to_date,
       s.issued_at
  FROM mine m
  JOIN statement s ON s.payee_id = m.id
 WHERE s.status = 'issued'
 ORDER BY s.issued_at DESC, s.id
 FETCH FIRST 60 ROWS ONLY;

--- portal-statements bad 4
WITH me AS (
  SELECT u.id FROM app_user u WHERE u.id = :user_id AND u.disabled_at IS NULL
), mine AS (
  SELECT p.id, p.display_name
    FROM payee p JOIN me ON p.user_id = me.id
   WHERE p.deleted_at IS NULL
  UNION
  SELECT p.id, p.display_name
    FROM delegate d
    JOIN me ON d.user_id = me.id
    JOIN payee p ON p.id = d.payee_id AND p.deleted_at IS NULL
   WHERE d.scope = 'statements'
     AND d.valid @> now()
)
SELECT m.display_name,
       s.id,
       s.period,
       s.total_cents,
       rank() OVER (PARTITION BY s.payee_id ORDER BY s.total_cents DESC) AS rank_by_total,
       s.issued_at
  FROM mine m
  JOIN statement s ON s.payee_id = m.id
 WHERE s.status = 'issued'
 ORDER BY s.issued_at DESC, s.id
 LIMIT LEAST(:limit, 100);

--- portal-statements bad 3
SELECT s.id,
       lower(s.period)     AS first_day,
       upper(s.period) - 1 AS last_day,
       s.total_cents,
       s.issued_at,
       coalesce(l.line_count, 0) AS line_count,
       s.total_cents - lag(s.total_cents) OVER (ORDER BY lower(s.period)) AS change_cents
  FROM statement s
  LEFT JOIN (
         SELECT sl.statement_id, count(*) AS line_count
           FROM statement_line sl
           JOIN statement x ON x.id = sl.statement_id
          WHERE x.payee_id = :payee_id
          GROUP BY sl.statement_id) l ON l.statement_id = s.id
 WHERE s.payee_id = :payee_id
   AND s.status NOT IN ('draft', 'void')
   AND acts_for(:user_id, s.payee_id, 'statements')
 ORDER BY lower(s.period) DESC, s.id DESC
 LIMIT LEAST(:limit, 100);

--- portal-statements bad 7
SELECT s.id,
       lower(s.period)     AS first_day,
       upper(s.period) - 1 AS last_day,
       s.total_cents,
       s.issued_at,
       l.lines
  FROM statement s
  LEFT JOIN LATERAL (
         SELECT jsonb_agg(jsonb_build_object('title', t.title, 'isrc', t.isrc,
                                             'units', sl.units, 'cents', sl.amount_cents)
                          ORDER BY sl.amount_cents DESC) AS lines
           FROM statement_line sl
           JOIN track t ON t.id = sl.track_id
          WHERE sl.statement_id = s.id) l ON true
 WHERE s.payee_id = :payee_id
   AND s.status = 'issued'
   AND acts_for(:user_id, s.payee_id, 'statements')
 ORDER BY s.id DESC
 LIMIT LEAST(:limit, 100);

--- catalogue-search good
SELECT t.id, t.isrc, t.title, t.release_date,
       coalesce(h.holders, 0)  AS holders,
       coalesce(h.share_bp, 0) AS share_bp,
       10000 - coalesce(h.share_bp, 0) AS unassigned_bp
  FROM track t
  LEFT JOIN LATERAL (
         SELECT count(DISTINCT p.id) AS holders, sum(sp.share_bp) AS share_bp
           FROM split sp
           JOIN contract c ON c.id = sp.contract_id AND c.deleted_at IS NULL
           JOIN payee p    ON p.id = c.payee_id AND p.deleted_at IS NULL
          WHERE sp.track_id = t.id
            AND sp.validity @> label_today(:label_id)) h ON true
 WHERE t.label_id = :label_id
   AND t.deleted_at IS NULL
   AND is_staff(:user_id, :label_id, 'owner', 'accountant', 'catalogue', 'viewer')
   AND (t.title ILIKE '%' || :q || '%' OR t.isrc ILIKE :q || '%')
 ORDER BY ${order_by}
 LIMIT LEAST(:limit, 100);

--- catalogue-search good
WITH seat AS (
  SELECT m.label_id, label_today(m.label_id) AS today
    FROM label_member m
    JOIN app_user u ON u.id = m.user_id AND u.disabled_at IS NULL
   WHERE m.label_id = :label_id
     AND m.user_id = :user_id
     AND m.removed_at IS NULL
), live_split AS (
  SELECT sp.track_id, sp.share_bp, sp.validity, c.payee_id, p.display_name
    FROM seat
    JOIN split sp   ON sp.label_id = seat.label_id
    JOIN contract c ON c.id = sp.contract_id
    JOIN payee p    ON p.id = c.payee_id
   WHERE c.deleted_at IS NULL
     AND p.deleted_at IS NULL
)
SELECT t.id, t.isrc, t.title,
       sum(ls.share_bp) FILTER (WHERE ls.validity @> seat.today) AS share_bp,
       min(ls.display_name) FILTER (WHERE ls.validity @> seat.today) AS first_holder,
       bool_or(lower(ls.validity) > seat.today) AS has_future_split
  FROM seat
  JOIN track t ON t.label_id = seat.label_id AND t.deleted_at IS NULL
  LEFT JOIN live_split ls ON ls.track_id = t.id
 WHERE position(lower(:q) IN lower(t.title)) > 0
    OR t.isrc = upper(:q)
 GROUP BY t.id, t.isrc, t.title
 ORDER BY t.title, t.id
 LIMIT CASE WHEN :limit BETWEEN 1 AND 100 THEN :limit ELSE 25 END;

--- catalogue-search bad 13
SELECT t.id, t.isrc, t.title, t.release_date,
       coalesce(h.share_bp, 0) AS share_bp
  FROM track t
  LEFT JOIN LATERAL (
         SELECT sum(sp.share_bp) AS share_bp
           FROM split sp
           JOIN contract c ON c.id = sp.contract_id AND c.deleted_at IS NULL
           JOIN payee p    ON p.id = c.payee_id AND p.deleted_at IS NULL
          WHERE sp.track_id = t.id
            AND sp.validity @> label_today(:label_id)) h ON true
 WHERE t.label_id = :label_id
   AND t.deleted_at IS NULL
   AND is_staff(:user_id, :label_id, 'owner', 'accountant', 'catalogue', 'viewer')
   AND to_tsvector('simple', t.title) @@ to_tsquery('simple', '${q}:*')
 ORDER BY ${order_by}
 LIMIT LEAST(:limit, 100);

--- catalogue-search bad 1,2,5
SELECT t.id, t.isrc, t.title, t.release_date,
       coalesce(h.holders, 0)  AS holders,
       coalesce(h.share_bp, 0) AS share_bp
  FROM track t
  LEFT JOIN LATERAL (
         SELECT count(DISTINCT p.id) AS holders, sum(sp.share_bp) AS share_bp
           FROM split sp
           JOIN contract c ON c.id = sp.contract_id AND c.deleted_at IS NULL
           JOIN payee p    ON p.id = c.payee_id AND p.deleted_at IS NULL
          WHERE sp.track_id = t.id
            AND sp.validity @> label_today(:label_id)) h ON true
 WHERE t.label_id = :label_id
   AND t.deleted_at IS NULL
   AND is_staff(:user_id, :label_id, 'owner', 'accountant', 'catalogue', 'viewer')
   AND t.title ILIKE '%' || :q || '%'
    OR t.isrc ILIKE :q || '%'
 ORDER BY ${order_by}
 LIMIT LEAST(:limit, 100);

--- catalogue-search bad 10
WITH live_split AS (
  SELECT sp.track_id, sp.share_bp, c.rate_bp, p.display_name,
         row_number() OVER (PARTITION BY sp.track_id ORDER BY sp.share_bp DESC, sp.id) AS rn
    FROM split sp
    JOIN contract c ON c.id = sp.contract_id
    JOIN payee p    ON p.id = c.payee_id
   WHERE sp.label_id = :label_id
     AND c.deleted_at IS NULL
     AND p.deleted_at IS NULL
     AND sp.validity @> current_date
)
SELECT t.id, t.isrc, t.title,
       sum(ls.share_bp) AS share_bp,
       max(ls.display_name) FILTER (WHERE ls.rn = 1) AS main_holder
  FROM track t
  LEFT JOIN live_split ls ON ls.track_id = t.id
 WHERE t.label_id = :label_id
   AND t.deleted_at IS NULL
   AND is_staff(:user_id, :label_id, 'owner', 'accountant', 'catalogue', 'viewer')
   AND (t.title ILIKE '%' || :q || '%' OR t.isrc ILIKE :q || '%')
 GROUP BY t.id
 ORDER BY t.title, t.id
 LIMIT LEAST(:limit, 100);

--- royalty-preview good
SELECT t.id AS track_id, t.title, c.id AS contract_id,
       sum(sl.units) AS units,
       round(sum(sl.net_cents::numeric * sp.share_bp * c.rate_bp) / 100000000)::bigint AS royalty_cents
  FROM payee p
  JOIN contract c      ON c.payee_id = p.id
                      AND c.deleted_at IS NULL
                      AND c.status IN ('active', 'terminated')
  JOIN split sp        ON sp.contract_id = c.id
  JOIN track t         ON t.id = sp.track_id AND t.deleted_at IS NULL
  JOIN sale_line sl    ON sl.track_id = t.id
                      AND sp.validity @> sl.sale_date
                      AND c.term @> sl.sale_date
  JOIN sales_import si ON si.id = sl.import_id AND si.status = 'posted'
 WHERE p.id = :payee_id
   AND p.label_id = :label_id
   AND p.deleted_at IS NULL
   AND daterange(:from, :to, '[)') @> sl.sale_date
   AND is_staff(:user_id, :label_id, 'owner', 'accountant')
 GROUP BY t.id, t.title, c.id
 ORDER BY royalty_cents DESC, t.id, c.id
 LIMIT LEAST(:limit, 100);

--- royalty-preview good
WITH sold AS (
  SELECT sl.track_id, sl.sale_date, sum(sl.units) AS units, sum(sl.net_cents) AS net_cents
    FROM sale_line sl
   WHERE sl.label_id = :label_id
     AND sl.sale_date >= :from
     AND sl.sale_date < :to
     AND EXISTS (SELECT 1 FROM sales_import si WHERE si.id = sl.import_id AND si.status = 'posted')
     AND EXISTS (SELECT 1 FROM label_member m JOIN app_user u ON u.id = m.user_id
                  WHERE m.label_id = :label_id AND m.user_id = :user_id
                    AND m.role IN ('owner', 'accountant')
                    AND m.removed_at IS NULL AND u.disabled_at IS NULL)
   GROUP BY sl.track_id, sl.sale_date
), due AS (
  SELECT sold.track_id, sold.units, sold.net_cents::numeric * sp.share_bp * c.rate_bp / 1e8 AS cents
    FROM sold
    JOIN split sp   ON sp.track_id = sold.track_id AND sp.validity @> sold.sale_date
    JOIN contract c ON c.id = sp.contract_id AND c.term @> sold.sale_date
    JOIN payee p    ON p.id = c.payee_id
   WHERE p.id = :payee_id
     AND p.label_id = :label_id
     AND p.deleted_at IS NULL
     AND c.deleted_at IS NULL
     AND c.status <> 'draft'
), per_track AS (
  SELECT track_id, sum(units) AS units, round(sum(cents)) AS cents FROM due GROUP BY track_id
)
SELECT t.title, t.isrc, pt.units, pt.cents,
       round(100 * pt.cents / nullif(sum(pt.cents) OVER (), 0), 1) AS percent
  FROM per_track pt
  JOIN track t ON t.id = pt.track_id
 WHERE t.deleted_at IS NULL
 ORDER BY pt.cents DESC, t.isrc
 LIMIT 100;

--- royalty-preview bad 9
WITH current_split AS (
  SELECT sp.track_id, sp.share_bp, c.rate_bp, c.term, c.id AS contract_id
    FROM payee p
    JOIN contract c ON c.payee_id = p.id
    JOIN split sp   ON sp.contract_id = c.id
   WHERE p.id = :payee_id
     AND p.label_id = :label_id
     AND p.deleted_at IS NULL
     AND c.deleted_at IS NULL
     AND c.status IN ('active', 'terminated')
     AND sp.validity @> label_today(:label_id)
)
SELECT t.title, t.isrc, cs.contract_id,
       sum(sl.units) AS units,
       round(sum(sl.net_cents::numeric * cs.share_bp * cs.rate_bp) / 1e8) AS royalty_cents
  FROM current_split cs
  JOIN track t         ON t.id = cs.track_id AND t.deleted_at IS NULL
  JOIN sale_line sl    ON sl.track_id = t.id AND cs.term @> sl.sale_date
  JOIN sales_import si ON si.id = sl.import_id AND si.status = 'posted'
 WHERE sl.sale_date >= :from
   AND sl.sale_date < :to
   AND is_staff(:user_id, :label_id, 'owner', 'accountant')
 GROUP BY t.id, t.title, t.isrc, cs.contract_id
 ORDER BY royalty_cents DESC, t.isrc
 LIMIT LEAST(:limit, 100);

--- royalty-preview bad 2
SELECT t.id AS track_id, t.title, c.id AS contract_id,
       sum(sl.units) AS units,
       round(sum(sl.net_cents::numeric * sp.share_bp * c.rate_bp) / 100000000)::bigint AS royalty_cents
  FROM payee p
  JOIN contract c      ON c.payee_id = p.id
                      AND c.deleted_at IS NULL
                      AND c.status IN ('active', 'terminated')
  JOIN split sp        ON sp.contract_id = c.id
  JOIN track t         ON t.id = sp.track_id AND t.deleted_at IS NULL
  JOIN sale_line sl    ON sl.track_id = t.id
                      AND sp.validity @> sl.sale_date
                      AND c.term @> sl.sale_date
  JOIN sales_import si ON si.id = sl.import_id AND si.status = 'posted'
 WHERE p.id = :payee_id
   AND p.label_id = :label_id
   AND p.deleted_at IS NULL
   AND daterange(:from, :to, '[)') @> sl.sale_date
   AND is_staff(:user_id, :label_id, 'owner', 'accountant', 'catalogue')
 GROUP BY t.id, t.title, c.id
 ORDER BY royalty_cents DESC, t.id, c.id
 LIMIT LEAST(:limit, 100);

--- royalty-preview bad 1
WITH due AS (
  SELECT sl.track_id, sl.territory, sl.units,
         sl.net_cents::numeric * sp.share_bp * c.rate_bp / 1e8 AS cents
    FROM contract c
    JOIN payee p         ON p.id = c.payee_id AND p.deleted_at IS NULL
    JOIN split sp        ON sp.contract_id = c.id
    JOIN sale_line sl    ON sl.track_id = sp.track_id
    JOIN sales_import si ON si.id = sl.import_id
   WHERE c.payee_id = :payee_id
     AND c.deleted_at IS NULL
     AND c.status IN ('active', 'terminated')
     AND si.status = 'posted'
     AND c.term @> sl.sale_date
     AND sp.validity @> sl.sale_date
     AND sl.sale_date >= :from
     AND sl.sale_date < :to
     AND is_staff(:user_id, :label_id, 'owner', 'accountant')
)
SELECT t.title, due.territory, sum(due.units) AS units, round(sum(due.cents)) AS royalty_cents,
       round(sum(sum(due.cents)) OVER (PARTITION BY t.id)) AS track_cents
  FROM due
  JOIN track t ON t.id = due.track_id AND t.deleted_at IS NULL
 GROUP BY t.id, t.title, due.territory
 ORDER BY track_cents DESC, t.id, due.territory
 LIMIT LEAST(:limit, 100);

--- payout-queue good
SELECT po.id, po.amount_cents, po.requested_at,
       p.display_name,
       '****' || right(p.iban, 4) AS account,
       p.bank_changed_at > now() - interval '72 hours' AS bank_hold,
       count(*) OVER () AS waiting,
       sum(po.amount_cents) OVER () AS waiting_cents
  FROM payout po
  JOIN payee p ON p.id = po.payee_id AND p.deleted_at IS NULL
 WHERE po.label_id = :label_id
   AND po.status = 'requested'
   AND is_staff(:user_id, :label_id, 'owner', 'accountant')
 ORDER BY po.requested_at, po.id
 LIMIT LEAST(:limit, 100) OFFSET GREATEST(coalesce(:offset, 0), 0);

--- payout-queue good
WITH seat AS MATERIALIZED (
  SELECT m.label_id
    FROM label_member m
    JOIN app_user u ON u.id = m.user_id
   WHERE m.label_id = :label_id
     AND m.user_id = :user_id
     AND m.removed_at IS NULL
     AND u.disabled_at IS NULL
     AND m.role = ANY ('{owner,accountant}'::staff_role[])
), last_paid AS (
  SELECT DISTINCT ON (po.payee_id) po.payee_id, po.amount_cents, po.approved_at
    FROM payout po JOIN seat USING (label_id)
   WHERE po.status = 'sent'
   ORDER BY po.payee_id, po.approved_at DESC
)
SELECT po.id,
       p.display_name,
       po.amount_cents,
       now() - po.requested_at AS age,
       lp.amount_cents AS last_paid_cents,
       po.amount_cents > 5 * lp.amount_cents AS unusual,
       p.iban IS NOT NULL AS has_account
  FROM seat
  JOIN payout po ON po.label_id = seat.label_id AND po.status = 'requested'
  JOIN payee p   ON p.id = po.payee_id
  LEFT JOIN last_paid lp ON lp.payee_id = po.payee_id
 WHERE (:after_id::bigint IS NULL OR po.id > :after_id)
   AND p.deleted_at IS NULL
 ORDER BY po.id
 LIMIT 50;

--- payout-queue bad 6
SELECT po.id,
       po.amount_cents,
       po.requested_at,
       jsonb_build_object('id', p.id,
                          'name', p.display_name,
                          'account', overlay(p.iban PLACING '****' FROM 5 FOR 4),
                          'bank_hold', p.bank_changed_at > now() - interval '72 hours') AS payee,
       sum(po.amount_cents) OVER (PARTITION BY po.payee_id) AS payee_waiting_cents
  FROM payout po
  JOIN payee p ON p.id = po.payee_id AND p.label_id = po.label_id AND p.deleted_at IS NULL
 WHERE po.label_id = :label_id
   AND po.status = 'requested'
   AND is_staff(:user_id, :label_id, 'owner', 'accountant')
 ORDER BY po.requested_at, po.id
 LIMIT LEAST(:limit, 100);

--- payout-queue bad 7
SELECT po.id, po.amount_cents, po.requested_at,
       p.display_name,
       '****' || right(p.iban, 4) AS account,
       p.bank_changed_at > now() - interval '72 hours' AS bank_hold,
       count(*) OVER () AS waiting
  FROM payout po
  JOIN payee p ON p.id = po.payee_id AND p.deleted_at IS NULL
 WHERE po.label_id = :label_id
   AND po.status = 'requested'
   AND is_staff(:user_id, :label_id, 'owner', 'accountant')
 ORDER BY po.requested_at, po.id
 LIMIT coalesce(:limit, 100) OFFSET GREATEST(coalesce(:offset, 0), 0);

--- payout-queue bad 2
WITH seat AS MATERIALIZED (
  SELECT m.label_id
    FROM label_member m
    JOIN app_user u ON u.id = m.user_id
   WHERE m.label_id = :label_id
     AND m.user_id = :user_id
     AND u.disabled_at IS NULL
     AND m.role IN ('owner', 'accountant')
), last_paid AS (
  SELECT DISTINCT ON (po.payee_id) po.payee_id, po.amount_cents
    FROM payout po JOIN seat USING (label_id)
   WHERE po.status = 'sent'
   ORDER BY po.payee_id, po.approved_at DESC
)
SELECT po.id,
       p.display_name,
       po.amount_cents,
       now() - po.requested_at AS age,
       lp.amount_cents AS last_paid_cents,
       right(p.iban, 4) AS account_tail
  FROM seat
  JOIN payout po ON po.label_id = seat.label_id AND po.status = 'requested'
  JOIN payee p   ON p.id = po.payee_id AND p.deleted_at IS NULL
  LEFT JOIN last_paid lp ON lp.payee_id = po.payee_id
 ORDER BY po.requested_at, po.id
 LIMIT LEAST(:limit, 100);

--- monthly-sales good
WITH m AS (
  SELECT date_trunc('month', d.sale_date)::date AS month, d.territory,
         sum(d.units) AS units, sum(d.net_cents) AS net_cents
    FROM daily_sales d
   WHERE d.label_id = :label_id
     AND d.sale_date >= date_trunc('month', label_today(:label_id))::date - interval '11 months'
     AND is_staff(:user_id, :label_id, 'owner', 'accountant')
   GROUP BY 1, 2
)
SELECT month, territory, units, net_cents,
       sum(net_cents) OVER (PARTITION BY territory ORDER BY month) AS running_cents,
       rank() OVER (PARTITION BY month ORDER BY net_cents DESC) AS territory_rank
  FROM m
 ORDER BY month DESC, territory_rank, territory
 LIMIT LEAST(:limit, 100);

--- monthly-sales good
WITH this_year AS (
  SELECT d.track_id, sum(d.net_cents) AS cents
    FROM daily_sales d
   WHERE d.label_id = :label_id
     AND d.sale_date >= make_date(:year, :month, 1)
     AND d.sale_date < make_date(:year, :month, 1) + interval '1 month'
   GROUP BY d.track_id
), last_year AS (
  SELECT d.track_id, sum(d.net_cents) AS cents
    FROM daily_sales d
   WHERE d.label_id = :label_id
     AND d.sale_date >= make_date(:year - 1, :month, 1)
     AND d.sale_date < make_date(:year - 1, :month, 1) + interval '1 month'
   GROUP BY d.track_id
)
SELECT t.title, coalesce(a.cents, 0) AS cents, coalesce(b.cents, 0) AS cents_year_before,
       coalesce(a.cents, 0) - coalesce(b.cents, 0) AS change
  FROM this_year a
  FULL JOIN last_year b USING (track_id)
  JOIN track t ON t.id = track_id
 WHERE EXISTS (SELECT 1
                 FROM label_member lm
                 JOIN app_user u ON u.id = lm.user_id AND u.disabled_at IS NULL
                WHERE lm.label_id = :label_id
                  AND lm.user_id = :user_id
                  AND lm.removed_at IS NULL
                  AND lm.role IN ('owner', 'accountant'))
 ORDER BY change DESC, t.id
 LIMIT 100;

--- monthly-sales bad 1
WITH picked AS (
  SELECT t.id, t.title
    FROM track t
   WHERE t.label_id = :label_id
     AND t.id = :track_id
), own AS (
  SELECT date_trunc('month', d.sale_date)::date AS month, sum(d.net_cents) AS cents
    FROM daily_sales d JOIN picked ON picked.id = d.track_id
   WHERE d.label_id = :label_id
   GROUP BY 1
), everything AS (
  SELECT date_trunc('month', d.sale_date)::date AS month, sum(d.net_cents) AS cents
    FROM daily_sales d
   WHERE d.sale_date >= (SELECT min(month) FROM own)
   GROUP BY 1
)
SELECT p.title, own.month, own.cents, e.cents AS catalogue_cents,
       round(100.0 * own.cents / nullif(e.cents, 0), 2) AS percent_of_catalogue
  FROM picked p
 CROSS JOIN own
  JOIN everything e USING (month)
 WHERE is_staff(:user_id, :label_id, 'owner', 'accountant')
 ORDER BY own.month DESC
 LIMIT LEAST(:limit, 100);

--- monthly-sales bad 2
WITH m AS (
  SELECT date_trunc('month', d.sale_date)::date AS month, d.territory,
         sum(d.units) AS units, sum(d.net_cents) AS net_cents
    FROM daily_sales d
   WHERE d.label_id = :label_id
     AND EXISTS (SELECT 1
                   FROM label_member lm
                   JOIN app_user u ON u.id = lm.user_id
                  WHERE lm.user_id = :user_id
                    AND label_id = lm.label_id
                    AND lm.role IN ('owner', 'accountant')
                    AND lm.removed_at IS NULL
                    AND u.disabled_at IS NULL)
     AND d.sale_date >= :from
     AND d.sale_date < :to
   GROUP BY 1, 2
)
SELECT month, territory, units, net_cents,
       net_cents - lag(net_cents) OVER (PARTITION BY territory ORDER BY month) AS change_cents
  FROM m
 ORDER BY month DESC, net_cents DESC
 LIMIT LEAST(:limit, 100);

--- monthly-sales bad 7
WITH m AS (
  SELECT date_trunc('month', d.sale_date)::date AS month, d.track_id,
         sum(d.units) AS units, sum(d.net_cents) AS net_cents
    FROM daily_sales d
   WHERE d.label_id = :label_id
     AND d.sale_date >= :from
     AND d.sale_date < :to
     AND is_staff(:user_id, :label_id, 'owner', 'accountant')
   GROUP BY 1, 2
), ranked AS (
  SELECT m.*, row_number() OVER (PARTITION BY month ORDER BY net_cents DESC, track_id) AS pos
    FROM m
)
SELECT r.month, r.pos, t.title, r.units, r.net_cents
  FROM ranked r
  JOIN track t ON t.id = r.track_id
 WHERE r.pos <= LEAST(:limit, 100)
 ORDER BY r.month DESC, r.pos;

--- add-split good
SELECT 1
  FROM track t
 WHERE t.id = :track_id AND t.label_id = :label_id
   FOR UPDATE;

INSERT INTO split (label_id, track_id, contract_id, share_bp, validity, created_by)
SELECT t.label_id, t.id, c.id, :share_bp, v.validity, :user_id
  FROM track t
  JOIN label l    ON l.id = t.label_id
  JOIN contract c ON c.label_id = t.label_id
  JOIN payee p    ON p.id = c.payee_id
 CROSS JOIN (SELECT daterange(:from, :to, '[)') AS validity) v
 WHERE t.id = :track_id
   AND t.label_id = :label_id
   AND t.deleted_at IS NULL
   AND c.id = :contract_id
   AND c.deleted_at IS NULL
   AND p.deleted_at IS NULL
   AND c.status = 'active'
   AND c.term @> v.validity
   AND lower(v.validity) > l.closed_through
   AND is_staff(:user_id, :label_id, 'owner', 'catalogue')
   AND :share_bp + coalesce((SELECT sum(o.share_bp) FROM split o
                              WHERE o.track_id = t.id AND o.validity && v.validity), 0) <= 10000
RETURNING id, track_id, contract_id, share_bp, validity;

--- add-split good
CREATE FUNCTION add_split(p_user bigint, p_label bigint, p_track bigint, p_contract bigint,
                          p_share_bp int, p_from date, p_to date) RETURNS TABLE (split_id bigint, peak_bp bigint)
LANGUAGE plpgsql AS $$
DECLARE
  v_new  daterange := daterange(p_from, p_to, '[)');
  v_peak bigint;
  v_id   bigint;
BEGIN
  IF NOT is_staff(p_user, p_label, 'owner', 'catalogue') THEN
    RAISE EXCEPTION 'not allowed' USING ERRCODE = 'insufficient_privilege';
  END IF;
  PERFORM FROM track WHERE id = p_track AND label_id = p_label AND deleted_at IS NULL FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such track' USING ERRCODE = 'no_data_found';
  END IF;
  PERFORM FROM contract c JOIN payee p ON p.id = c.payee_id JOIN label l ON l.id = c.label_id
    WHERE c.id = p_contract AND c.label_id = p_label AND c.status = 'active'
      AND c.deleted_at IS NULL AND p.deleted_at IS NULL
      AND v_new <@ c.term AND p_from > l.closed_through AND NOT isempty(v_new);
  IF NOT FOUND THEN
    RAISE EXCEPTION 'contract does not cover these days' USING ERRCODE = 'check_violation';
  END IF;
  -- the sum can only peak on the first new day or on a day another split starts
  SELECT max(d.total) INTO v_peak
    FROM (SELECT sum(o.share_bp) AS total
            FROM (SELECT p_from AS day
                  UNION
                  SELECT lower(s.validity) FROM split s
                   WHERE s.track_id = p_track AND lower(s.validity) <@ v_new) k
            JOIN split o ON o.track_id = p_track AND o.validity @> k.day
           GROUP BY k.day) d;
  v_peak := coalesce(v_peak, 0) + p_share_bp;
  IF v_peak > 10000 THEN
    RAISE EXCEPTION 'split would reach % bp', v_peak USING ERRCODE = 'check_violation';
  END IF;
  INSERT INTO split (label_id, track_id, contract_id, share_bp, validity, created_by)
  VALUES (p_label, p_track, p_contract, p_share_bp, v_new, p_user)
  RETURNING id INTO v_id;
  RETURN QUERY SELECT v_id, v_peak;
END $$;

--- add-split bad 12
WITH t AS MATERIALIZED (
  SELECT t.id, t.label_id
    FROM track t
   WHERE t.id = :track_id
     AND t.label_id = :label_id
     AND t.deleted_at IS NULL
     FOR UPDATE
), used AS (
  SELECT coalesce(sum(o.share_bp), 0) AS share_bp
    FROM t JOIN split o ON o.track_id = t.id
   WHERE o.validity && daterange(:from, :to, '[)')
)
INSERT INTO split (label_id, track_id, contract_id, share_bp, validity, created_by)
SELECT t.label_id, t.id, c.id, :share_bp, daterange(:from, :to, '[)'), :user_id
  FROM t
 CROSS JOIN used
  JOIN label l    ON l.id = t.label_id
  JOIN contract c ON c.label_id = t.label_id AND c.id = :contract_id
  JOIN payee p    ON p.id = c.payee_id AND p.deleted_at IS NULL
 WHERE c.status = 'active'
   AND c.deleted_at IS NULL
   AND c.term @> daterange(:from, :to, '[)')
   AND :from > l.closed_through
   AND used.share_bp + :share_bp <= 10000
   AND is_staff(:user_id, :label_id, 'owner', 'catalogue')
RETURNING id, track_id, contract_id, share_bp, validity;

--- add-split bad 1
SELECT 1
  FROM track t
 WHERE t.id = :track_id AND t.label_id = :label_id AND t.deleted_at IS NULL
   FOR UPDATE;

INSERT INTO split (label_id, track_id, contract_id, share_bp, validity, created_by)
SELECT t.label_id, t.id, c.id, :share_bp, v.validity, :user_id
  FROM track t
  JOIN label l    ON l.id = t.label_id
 CROSS JOIN (SELECT daterange(:from, :to, '[)') AS validity) v
  JOIN contract c ON c.id = :contract_id AND c.term @> v.validity
  JOIN payee p    ON p.id = c.payee_id AND p.label_id = c.label_id
 WHERE t.id = :track_id
   AND t.label_id = :label_id
   AND t.deleted_at IS NULL
   AND c.deleted_at IS NULL
   AND p.deleted_at IS NULL
   AND c.status = 'active'
   AND lower(v.validity) > l.closed_through
   AND is_staff(:user_id, :label_id, 'owner', 'catalogue')
   AND :share_bp + coalesce((SELECT sum(o.share_bp) FROM split o
                              WHERE o.track_id = t.id AND o.validity && v.validity), 0) <= 10000
RETURNING id, track_id, contract_id, share_bp, validity;

--- add-split bad 9
SELECT 1
  FROM track t
 WHERE t.id = :track_id AND t.label_id = :label_id
   FOR UPDATE;

INSERT INTO split (label_id, track_id, contract_id, share_bp, validity, created_by)
SELECT t.label_id, t.id, c.id, :share_bp, daterange(:from, :to, '[)'), :user_id
  FROM track t
  JOIN label l    ON l.id = t.label_id
  JOIN contract c ON c.id = :contract_id AND c.label_id = t.label_id
  JOIN payee p    ON p.id = c.payee_id
 WHERE t.id = :track_id
   AND t.label_id = :label_id
   AND t.deleted_at IS NULL
   AND c.deleted_at IS NULL
   AND p.deleted_at IS NULL
   AND c.status = 'active'
   AND c.term @> :from::date
   AND :from > l.closed_through
   AND is_staff(:user_id, :label_id, 'owner', 'catalogue')
   AND :share_bp + coalesce((SELECT sum(o.share_bp) FROM split o
                              WHERE o.track_id = t.id
                                AND o.validity && daterange(:from, :to, '[)')), 0) <= 10000
RETURNING id, track_id, contract_id, share_bp, validity;

--- request-payout good
SELECT 1
  FROM payee p
 WHERE p.id = :payee_id
   AND acts_for(:user_id, p.id, 'payouts')
   FOR UPDATE;

WITH bal AS (
  SELECT p.id, p.label_id, payee_balance(p.id) AS cents
    FROM payee p
   WHERE p.id = :payee_id
     AND p.deleted_at IS NULL
     AND acts_for(:user_id, p.id, 'payouts')
)
INSERT INTO payout (label_id, payee_id, amount_cents, requested_by)
SELECT bal.label_id, bal.id, :amount_cents, :user_id
  FROM bal
 WHERE :amount_cents > 0
   AND :amount_cents <= bal.cents
RETURNING id, amount_cents, status, requested_at;

--- request-payout good
CREATE FUNCTION request_payout(p_user bigint, p_payee_id bigint, p_amount_cents bigint)
RETURNS TABLE (payout_id bigint, paid_to text, left_cents bigint)
LANGUAGE plpgsql AS $$
DECLARE
  v_payee payee%ROWTYPE;
  v_free  bigint;
BEGIN
  SELECT * INTO v_payee FROM payee
   WHERE id = p_payee_id AND acts_for(p_user, id, 'payouts') FOR UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;

  SELECT coalesce(sum(e.cents), 0) INTO v_free
    FROM (SELECT s.total_cents AS cents FROM statement s
           WHERE s.payee_id = p_payee_id AND s.status = 'issued'
          UNION ALL
          SELECT -po.amount_cents FROM payout po
           WHERE po.payee_id = p_payee_id AND po.status NOT IN ('failed', 'cancelled')) e;
  IF p_amount_cents IS NULL OR p_amount_cents > v_free THEN
    RAISE EXCEPTION 'only % cents available', v_free USING ERRCODE = 'check_violation';
  END IF;

  RETURN QUERY
  INSERT INTO payout AS po (label_id, payee_id, amount_cents, status, requested_by)
  VALUES (v_payee.label_id, v_payee.id, p_amount_cents, 'requested', p_user)
  RETURNING po.id, 'account ending ' || right(v_payee.iban, 4), v_free - p_amount_cents;
END $$;

--- request-payout bad 12
WITH bal AS MATERIALIZED (
  SELECT p.id, p.label_id, payee_balance(p.id) AS cents
    FROM payee p
   WHERE p.id = :payee_id
     AND p.deleted_at IS NULL
     AND acts_for(:user_id, p.id, 'payouts')
     FOR UPDATE OF p
)
INSERT INTO payout (label_id, payee_id, amount_cents, requested_by)
SELECT bal.label_id, bal.id, :amount_cents, :user_id
  FROM bal
 WHERE :amount_cents > 0
   AND :amount_cents <= bal.cents
RETURNING id, amount_cents, status, requested_at;

--- request-payout bad 3
CREATE FUNCTION request_payout(p_user bigint, p_payee_id bigint, p_amount_cents bigint)
RETURNS TABLE (payout_id bigint, paid_to text, left_cents bigint)
LANGUAGE plpgsql AS $$
DECLARE
  v_payee payee%ROWTYPE;
  v_free  bigint;
BEGIN
  SELECT p.* INTO v_payee
    FROM payee p
    JOIN app_user u ON u.id = p_user AND u.disabled_at IS NULL
   WHERE p.id = p_payee_id
     AND p.deleted_at IS NULL
     AND (p.user_id = p_user
          OR EXISTS (SELECT 1 FROM delegate d
                      WHERE d.payee_id = p.id AND d.user_id = p_user
                        AND d.valid @> now() AND d.revoked_at IS NULL))
     FOR UPDATE OF p;
  IF NOT FOUND THEN
    RETURN;
  END IF;

  v_free := payee_balance(p_payee_id);
  IF p_amount_cents IS NULL OR p_amount_cents > v_free THEN
    RAISE EXCEPTION 'only % cents available', v_free USING ERRCODE = 'check_violation';
  END IF;

  RETURN QUERY
  INSERT INTO payout AS po (label_id, payee_id, amount_cents, status, requested_by)
  VALUES (v_payee.label_id, v_payee.id, p_amount_cents, 'requested', p_user)
  RETURNING po.id, 'account ending ' || right(v_payee.iban, 4), v_free - p_amount_cents;
END $$;

--- request-payout bad 4
SELECT 1 FROM payee WHERE id = :payee_id FOR UPDATE;

INSERT INTO payout (label_id, payee_id, amount_cents, requested_by)
SELECT p.label_id, p.id, :amount_cents, u.id
  FROM payee p
  JOIN app_user u ON u.id = :user_id AND u.disabled_at IS NULL
  LEFT JOIN LATERAL (
         SELECT d.id
           FROM delegate d
          WHERE d.payee_id = p.id
            AND d.user_id = u.id
            AND d.scope = 'payouts'
            AND d.revoked_at IS NULL
            AND lower(d.valid) <= now()
          ORDER BY d.id DESC
          LIMIT 1) d ON true
 WHERE p.id = :payee_id
   AND p.deleted_at IS NULL
   AND (p.user_id = u.id OR d.id IS NOT NULL)
   AND :amount_cents BETWEEN 1 AND payee_balance(p.id)
RETURNING id, amount_cents, status, requested_at;

--- approve-payout good
UPDATE payout po
   SET status = 'approved', approved_by = :user_id, approved_at = now()
  FROM payee p
 WHERE po.id = :payout_id
   AND po.label_id = :label_id
   AND po.status = 'requested'
   AND po.requested_by <> :user_id
   AND p.id = po.payee_id
   AND p.deleted_at IS NULL
   AND p.user_id IS DISTINCT FROM :user_id
   AND p.bank_changed_by IS DISTINCT FROM :user_id
   AND coalesce(p.bank_changed_at, '-infinity') <= now() - interval '72 hours'
   AND NOT EXISTS (SELECT 1 FROM delegate d
                    WHERE d.payee_id = p.id AND d.user_id = :user_id
                      AND d.valid @> now() AND d.revoked_at IS NULL)
   AND is_staff(:user_id, :label_id, 'owner', 'accountant')
RETURNING po.id, po.status, po.amount_cents, p.display_name, right(p.iban, 4) AS account_tail;

--- approve-payout good
CREATE FUNCTION approve_payout(p_user bigint, p_label bigint, p_payout_id bigint)
RETURNS TABLE (payout_id bigint, approved_at timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
  v_po payout%ROWTYPE;
  v_pe payee%ROWTYPE;
BEGIN
  IF is_staff(p_user, p_label, 'owner', 'accountant') IS NOT TRUE THEN
    RETURN;
  END IF;
  SELECT * INTO v_po FROM payout po WHERE po.id = p_payout_id AND po.label_id = p_label FOR UPDATE;
  IF NOT FOUND OR v_po.status <> 'requested' THEN
    RAISE EXCEPTION 'payout is not waiting for approval';
  END IF;
  SELECT * INTO v_pe FROM payee WHERE id = v_po.payee_id AND deleted_at IS NULL FOR SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'payee is gone';
  END IF;
  IF p_user IN (v_po.requested_by, coalesce(v_pe.bank_changed_by, -1), coalesce(v_pe.user_id, -1))
     OR EXISTS (SELECT 1 FROM delegate d WHERE d.payee_id = v_pe.id AND d.user_id = p_user
                   AND d.revoked_at IS NULL AND d.valid @> now()) THEN
    RAISE EXCEPTION 'someone else has to approve this payout';
  END IF;
  IF v_pe.bank_changed_at > now() - interval '72 hours' THEN
    RAISE EXCEPTION 'bank details changed at %', v_pe.bank_changed_at;
  END IF;
  RETURN QUERY
  UPDATE payout po SET status = 'approved', approved_by = p_user, approved_at = now()
   WHERE po.id = v_po.id
  RETURNING po.id, po.approved_at;
END $$;

--- approve-payout bad 8
CREATE FUNCTION approve_payout(p_user bigint, p_label bigint, p_payout_id bigint)
RETURNS TABLE (payout_id bigint, approved_at timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
  v_po payout%ROWTYPE;
  v_pe payee%ROWTYPE;
BEGIN
  IF is_staff(p_user, p_label, 'owner', 'accountant') IS NOT TRUE THEN
    RETURN;
  END IF;
  SELECT * INTO v_po FROM payout po WHERE po.id = p_payout_id AND po.label_id = p_label;
  IF NOT FOUND OR v_po.status <> 'requested' THEN
    RAISE EXCEPTION 'payout is not waiting for approval';
  END IF;
  SELECT * INTO v_pe FROM payee WHERE id = v_po.payee_id AND deleted_at IS NULL FOR SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'payee is gone';
  END IF;
  IF p_user IN (v_po.requested_by, coalesce(v_pe.bank_changed_by, -1), coalesce(v_pe.user_id, -1))
     OR EXISTS (SELECT 1 FROM delegate d WHERE d.payee_id = v_pe.id AND d.user_id = p_user
                   AND d.revoked_at IS NULL AND d.valid @> now()) THEN
    RAISE EXCEPTION 'someone else has to approve this payout';
  END IF;
  IF v_pe.bank_changed_at > now() - interval '72 hours' THEN
    RAISE EXCEPTION 'bank details changed at %', v_pe.bank_changed_at;
  END IF;
  RETURN QUERY
  UPDATE payout po SET status = 'approved', approved_by = p_user, approved_at = now()
   WHERE po.id = v_po.id
  RETURNING po.id, po.approved_at;
END $$;

--- approve-payout bad 11
UPDATE payout po
   SET status = 'approved', approved_by = :user_id, approved_at = now()
  FROM payee p
 WHERE po.id = :payout_id
   AND po.label_id = :label_id
   AND po.status = 'requested'
   AND po.requested_by <> :user_id
   AND p.id = po.payee_id
   AND p.deleted_at IS NULL
   AND p.bank_changed_by IS DISTINCT FROM :user_id
   AND (p.bank_changed_at IS NULL OR p.bank_changed_at <= now() - interval '72 hours')
   AND NOT EXISTS (SELECT 1 FROM delegate d
                    WHERE d.payee_id = p.id AND d.user_id = :user_id
                      AND d.valid @> now() AND d.revoked_at IS NULL)
   AND is_staff(:user_id, :label_id, 'owner', 'accountant')
RETURNING po.id, po.status, po.amount_cents, p.display_name, right(p.iban, 4) AS account_tail;

--- approve-payout bad 1
WITH caller AS (
  SELECT u.id
    FROM app_user u
   WHERE u.id = :user_id
     AND is_staff(u.id, :label_id, 'owner', 'accountant')
), ready AS (
  SELECT po.id, p.display_name
    FROM payout po
    JOIN payee p ON p.id = po.payee_id AND p.label_id = po.label_id
   CROSS JOIN caller
   WHERE po.id = :payout_id
     AND p.deleted_at IS NULL
     AND caller.id <> po.requested_by
     AND caller.id IS DISTINCT FROM p.bank_changed_by
     AND caller.id IS DISTINCT FROM p.user_id
     AND (p.bank_changed_at IS NULL OR p.bank_changed_at <= now() - interval '72 hours')
     AND NOT EXISTS (SELECT 1 FROM delegate d
                      WHERE d.payee_id = p.id AND d.user_id = caller.id
                        AND d.valid @> now() AND d.revoked_at IS NULL)
)
UPDATE payout po
   SET status = 'approved', approved_by = :user_id, approved_at = now()
  FROM ready
 WHERE po.id = ready.id
   AND po.status = 'requested'
RETURNING po.id, po.status, po.amount_cents, ready.display_name;

--- post-import good
WITH posted AS (
  UPDATE sales_import si
     SET status = 'posted', posted_by = :user_id, posted_at = now()
    FROM label l
   WHERE si.id = :import_id
     AND si.label_id = :label_id
     AND l.id = si.label_id
     AND si.status = 'checked'
     AND si.uploaded_by <> :user_id
     AND is_staff(:user_id, :label_id, 'owner', 'accountant')
     AND NOT EXISTS (SELECT 1
                       FROM sale_line sl
                       LEFT JOIN track t ON t.id = sl.track_id AND t.deleted_at IS NULL
                      WHERE sl.import_id = si.id
                        AND (t.id IS NULL OR sl.sale_date <= l.closed_through))
  RETURNING si.id, si.label_id
), rolled AS (
  INSERT INTO daily_sales AS d (label_id, track_id, sale_date, territory, units, net_cents)
  SELECT posted.label_id, sl.track_id, sl.sale_date, sl.territory, sum(sl.units), sum(sl.net_cents)
    FROM posted
    JOIN sale_line sl ON sl.import_id = posted.id
   GROUP BY 1, 2, 3, 4
  ON CONFLICT (label_id, track_id, sale_date, territory) DO UPDATE
     SET units = d.units + excluded.units, net_cents = d.net_cents + excluded.net_cents
  RETURNING d.sale_date
)
SELECT posted.id, (SELECT count(*) FROM rolled) AS rollup_rows
  FROM posted;

--- post-import good
CREATE FUNCTION post_import(p_user bigint, p_label bigint, p_import_id bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_closed date;
  v_rows   bigint;
BEGIN
  IF NOT is_staff(p_user, p_label, 'owner', 'accountant') THEN
    RAISE EXCEPTION 'not allowed' USING ERRCODE = 'insufficient_privilege';
  END IF;

  UPDATE sales_import
     SET status = 'posted', posted_by = p_user, posted_at = clock_timestamp()
   WHERE id = p_import_id AND label_id = p_label AND status = 'checked' AND uploaded_by <> p_user;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'import cannot be posted by you now';
  END IF;

  SELECT closed_through INTO v_closed FROM label WHERE id = p_label FOR SHARE;
  IF EXISTS (SELECT 1 FROM sale_line WHERE import_id = p_import_id AND sale_date <= v_closed) THEN
    RAISE EXCEPTION 'lines in closed books (through %)', v_closed;
  END IF;
  IF EXISTS (SELECT 1 FROM sale_line sl WHERE sl.import_id = p_import_id
                AND NOT EXISTS (SELECT 1 FROM track t WHERE t.id = sl.track_id AND t.deleted_at IS NULL)) THEN
    RAISE EXCEPTION 'lines without a live track';
  END IF;

  INSERT INTO daily_sales AS d (label_id, track_id, sale_date, territory, units, net_cents)
  SELECT p_label, track_id, sale_date, territory, sum(units), sum(net_cents)
    FROM sale_line
   WHERE import_id = p_import_id
   GROUP BY track_id, sale_date, territory
  ON CONFLICT (label_id, track_id, sale_date, territory)
  DO UPDATE SET units = d.units + excluded.units, net_cents = d.net_cents + excluded.net_cents;
  GET DIAGNOSTICS v_rows = ROW_COUNT;
  RETURN v_rows;
END $$;

--- post-import bad 12
UPDATE sales_import si
   SET status = 'posted', posted_by = :user_id, posted_at = now()
  FROM label l
 WHERE si.id = :import_id
   AND si.label_id = :label_id
   AND l.id = si.label_id
   AND si.status = 'checked'
   AND si.uploaded_by <> :user_id
   AND is_staff(:user_id, :label_id, 'owner', 'accountant')
   AND NOT EXISTS (SELECT 1
                     FROM sale_line sl
                     LEFT JOIN track t ON t.id = sl.track_id AND t.deleted_at IS NULL
                    WHERE sl.import_id = si.id
                      AND (t.id IS NULL OR sl.sale_date <= l.closed_through));

WITH rolled AS (
  INSERT INTO daily_sales AS d (label_id, track_id, sale_date, territory, units, net_cents)
  SELECT si.label_id, sl.track_id, sl.sale_date, sl.territory, sum(sl.units), sum(sl.net_cents)
    FROM sales_import si
    JOIN sale_line sl ON sl.import_id = si.id
   WHERE si.id = :import_id
     AND si.label_id = :label_id
     AND si.status = 'posted'
     AND si.posted_by = :user_id
     AND is_staff(:user_id, :label_id, 'owner', 'accountant')
   GROUP BY 1, 2, 3, 4
  ON CONFLICT (label_id, track_id, sale_date, territory) DO UPDATE
     SET units = d.units + excluded.units, net_cents = d.net_cents + excluded.net_cents
  RETURNING 1
)
SELECT count(*) AS rollup_rows FROM rolled;

--- post-import bad 11
WITH posted AS (
  UPDATE sales_import si
     SET status = 'posted', posted_by = :user_id, posted_at = now()
    FROM label l
   WHERE si.id = :import_id
     AND si.label_id = :label_id
     AND l.id = si.label_id
     AND si.status = 'checked'
     AND si.posted_by IS DISTINCT FROM :user_id
     AND is_staff(:user_id, :label_id, 'owner', 'accountant')
     AND NOT EXISTS (SELECT 1
                       FROM sale_line sl
                       LEFT JOIN track t ON t.id = sl.track_id AND t.deleted_at IS NULL
                      WHERE sl.import_id = si.id
                        AND (t.id IS NULL OR sl.sale_date <= l.closed_through))
  RETURNING si.id, si.label_id
), rolled AS (
  INSERT INTO daily_sales AS d (label_id, track_id, sale_date, territory, units, net_cents)
  SELECT posted.label_id, sl.track_id, sl.sale_date, sl.territory, sum(sl.units), sum(sl.net_cents)
    FROM posted
    JOIN sale_line sl ON sl.import_id = posted.id
   GROUP BY 1, 2, 3, 4
  ON CONFLICT (label_id, track_id, sale_date, territory) DO UPDATE
     SET units = d.units + excluded.units, net_cents = d.net_cents + excluded.net_cents
  RETURNING d.sale_date
)
SELECT posted.id, (SELECT count(*) FROM rolled) AS rollup_rows
  FROM posted;

--- post-import bad 10
CREATE FUNCTION post_import(p_user bigint, p_label bigint, p_import_id bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_closed date;
  v_last   date;
  v_rows   bigint;
BEGIN
  IF NOT is_staff(p_user, p_label, 'owner', 'accountant') THEN
    RAISE EXCEPTION 'not allowed' USING ERRCODE = 'insufficient_privilege';
  END IF;

  UPDATE sales_import
     SET status = 'posted', posted_by = p_user, posted_at = clock_timestamp()
   WHERE id = p_import_id AND label_id = p_label AND status = 'checked' AND uploaded_by <> p_user;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'import cannot be posted by you now';
  END IF;

  SELECT closed_through INTO v_closed FROM label WHERE id = p_label FOR SHARE;
  SELECT max(sale_date) INTO v_last FROM sale_line WHERE import_id = p_import_id;
  IF v_last <= v_closed THEN
    RAISE EXCEPTION 'import lies in closed books (through %)', v_closed;
  END IF;
  IF EXISTS (SELECT 1 FROM sale_line sl LEFT JOIN track t ON t.id = sl.track_id
              WHERE sl.import_id = p_import_id AND (t.id IS NULL OR t.deleted_at IS NOT NULL)) THEN
    RAISE EXCEPTION 'lines without a live track';
  END IF;

  INSERT INTO daily_sales AS d (label_id, track_id, sale_date, territory, units, net_cents)
  SELECT p_label, track_id, sale_date, territory, sum(units), sum(net_cents)
    FROM sale_line
   WHERE import_id = p_import_id
   GROUP BY track_id, sale_date, territory
  ON CONFLICT (label_id, track_id, sale_date, territory)
  DO UPDATE SET units = d.units + excluded.units, net_cents = d.net_cents + excluded.net_cents;
  GET DIAGNOSTICS v_rows = ROW_COUNT;
  RETURN v_rows;
END $$;

--- build-statement good
SELECT 1
  FROM payee p
 WHERE p.id = :payee_id AND p.label_id = :label_id AND p.deleted_at IS NULL
   FOR UPDATE;

WITH head AS (
  SELECT p.id AS payee_id, p.label_id, daterange(:from, :to, '[)') AS period
    FROM payee p
    JOIN label l ON l.id = p.label_id
   WHERE p.id = :payee_id
     AND p.label_id = :label_id
     AND p.deleted_at IS NULL
     AND :to::date - 1 <= l.closed_through
     AND is_staff(:user_id, :label_id, 'owner', 'accountant')
     AND NOT EXISTS (SELECT 1 FROM statement s
                      WHERE s.payee_id = p.id AND s.status <> 'void'
                        AND s.period && daterange(:from, :to, '[)'))
), earned AS (
  SELECT sl.track_id, c.id AS contract_id, sum(sl.units) AS units,
         round(sum(sl.net_cents::numeric * sp.share_bp * c.rate_bp) / 100000000)::bigint AS cents
    FROM head
    JOIN contract c      ON c.payee_id = head.payee_id AND c.deleted_at IS NULL
                        AND c.status IN ('active', 'terminated')
    JOIN split sp        ON sp.contract_id = c.id
    JOIN track t         ON t.id = sp.track_id AND t.deleted_at IS NULL
    JOIN sale_line sl    ON sl.track_id = t.id AND head.period @> sl.sale_date
                        AND sp.validity @> sl.sale_date AND c.term @> sl.sale_date
    JOIN sales_import si ON si.id = sl.import_id AND si.status = 'posted'
   GROUP BY sl.track_id, c.id
), stmt AS (
  INSERT INTO statement (label_id, payee_id, period, total_cents, prepared_by)
  SELECT head.label_id, head.payee_id, head.period,
         coalesce((SELECT sum(cents) FROM earned), 0), :user_id
    FROM head
  RETURNING id, label_id, total_cents
), lines AS (
  INSERT INTO statement_line (label_id, statement_id, track_id, contract_id, units, amount_cents)
  SELECT stmt.label_id, stmt.id, e.track_id, e.contract_id, e.units, e.cents
    FROM stmt CROSS JOIN earned e
  RETURNING 1
)
SELECT stmt.id, stmt.total_cents, (SELECT count(*) FROM lines) AS line_count
  FROM stmt;

--- build-statement good
CREATE FUNCTION build_statement(p_user bigint, p_label bigint, p_payee_id bigint, p_from date, p_to date)
RETURNS TABLE (statement_id bigint, total bigint)
LANGUAGE plpgsql AS $$
DECLARE
  v_id     bigint;
  v_total  bigint;
  v_closed date;
BEGIN
  SELECT l.closed_through INTO v_closed
    FROM label l
   WHERE l.id = p_label AND is_staff(p_user, p_label, 'owner', 'accountant');
  IF v_closed IS NULL OR p_from IS NULL OR p_to IS NULL OR p_to > v_closed + 1 THEN
    RAISE EXCEPTION 'period is not closed';
  END IF;

  PERFORM 1 FROM payee WHERE id = p_payee_id AND label_id = p_label AND deleted_at IS NULL FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such payee';
  END IF;
  PERFORM 1 FROM statement s
    WHERE s.payee_id = p_payee_id AND s.status IN ('draft', 'approved', 'issued')
      AND lower(s.period) < p_to
      AND (upper(s.period) > p_from OR upper_inf(s.period));
  IF FOUND OR EXISTS (SELECT 1 FROM statement s WHERE s.payee_id = p_payee_id
                         AND s.status <> 'void' AND lower_inf(s.period)) THEN
    RAISE EXCEPTION 'period overlaps another statement';
  END IF;

  INSERT INTO statement (label_id, payee_id, period, status, prepared_by)
  VALUES (p_label, p_payee_id, daterange(p_from, p_to), 'draft', p_user)
  RETURNING id INTO v_id;

  INSERT INTO statement_line (label_id, statement_id, track_id, contract_id, units, amount_cents)
  SELECT p_label, v_id, sl.track_id, c.id, sum(sl.units),
         round(sum(sl.net_cents * sp.share_bp::numeric * c.rate_bp / 1e8))
    FROM sale_line sl
    JOIN split sp   ON sp.track_id = sl.track_id AND sl.sale_date <@ sp.validity
    JOIN contract c ON c.id = sp.contract_id AND sl.sale_date <@ c.term
   WHERE sl.label_id = p_label
     AND sl.sale_date >= p_from AND sl.sale_date < p_to
     AND sl.import_id IN (SELECT si.id FROM sales_import si WHERE si.label_id = p_label AND si.status = 'posted')
     AND EXISTS (SELECT 1 FROM track t WHERE t.id = sl.track_id AND t.deleted_at IS NULL)
     AND c.payee_id = p_payee_id
     AND c.status <> 'draft'
     AND c.deleted_at IS NULL
   GROUP BY sl.track_id, c.id;

  UPDATE statement s
     SET total_cents = coalesce((SELECT sum(x.amount_cents) FROM statement_line x WHERE x.statement_id = v_id), 0)
   WHERE s.id = v_id
  RETURNING s.total_cents INTO v_total;
  RETURN QUERY SELECT v_id, v_total;
END $$;

--- build-statement bad 9
SELECT 1
  FROM payee p
 WHERE p.id = :payee_id AND p.label_id = :label_id AND p.deleted_at IS NULL
   FOR UPDATE;

WITH head AS (
  SELECT p.id AS payee_id, p.label_id, daterange(:from, :to, '[)') AS period
    FROM payee p
    JOIN label l ON l.id = p.label_id
   WHERE p.id = :payee_id
     AND p.label_id = :label_id
     AND p.deleted_at IS NULL
     AND :to::date - 1 <= l.closed_through
     AND is_staff(:user_id, :label_id, 'owner', 'accountant')
     AND NOT EXISTS (SELECT 1 FROM statement s
                      WHERE s.payee_id = p.id AND s.status <> 'void'
                        AND s.period && daterange(:from, :to, '[)'))
), earned AS (
  SELECT sl.track_id, c.id AS contract_id, sum(sl.units) AS units,
         round(sum(sl.net_cents::numeric * sp.share_bp * c.rate_bp) / 100000000)::bigint AS cents
    FROM head
    JOIN contract c      ON c.payee_id = head.payee_id AND c.deleted_at IS NULL
                        AND c.status IN ('active', 'terminated')
    JOIN split sp        ON sp.contract_id = c.id
    JOIN track t         ON t.id = sp.track_id AND t.deleted_at IS NULL
    JOIN sale_line sl    ON sl.track_id = t.id AND head.period @> sl.sale_date
                        AND sp.validity @> sl.sale_date AND c.term @> sl.sale_date
    JOIN sales_import si ON si.id = sl.import_id AND si.status <> 'rejected'
   GROUP BY sl.track_id, c.id
), stmt AS (
  INSERT INTO statement (label_id, payee_id, period, total_cents, prepared_by)
  SELECT head.label_id, head.payee_id, head.period,
         coalesce((SELECT sum(cents) FROM earned), 0), :user_id
    FROM head
  RETURNING id, label_id, total_cents
), lines AS (
  INSERT INTO statement_line (label_id, statement_id, track_id, contract_id, units, amount_cents)
  SELECT stmt.label_id, stmt.id, e.track_id, e.contract_id, e.units, e.cents
    FROM stmt CROSS JOIN earned e
  RETURNING 1
)
SELECT stmt.id, stmt.total_cents, (SELECT count(*) FROM lines) AS line_count
  FROM stmt;

--- build-statement bad 12
CREATE FUNCTION build_statement(p_user bigint, p_label bigint, p_payee_id bigint, p_from date, p_to date)
RETURNS TABLE (statement_id bigint, total bigint)
LANGUAGE plpgsql AS $$
DECLARE
  v_id     bigint;
  v_total  bigint;
  v_closed date;
BEGIN
  SELECT l.closed_through INTO v_closed
    FROM label l
   WHERE l.id = p_label AND is_staff(p_user, p_label, 'owner', 'accountant');
  IF v_closed IS NULL OR p_from IS NULL OR p_to IS NULL OR p_to > v_closed + 1 THEN
    RAISE EXCEPTION 'period is not closed';
  END IF;

  IF EXISTS (SELECT 1 FROM statement s WHERE s.payee_id = p_payee_id AND s.label_id = p_label
                AND s.status <> 'void' AND s.period && daterange(p_from, p_to)) THEN
    RAISE EXCEPTION 'period overlaps another statement';
  END IF;
  PERFORM 1 FROM payee WHERE id = p_payee_id AND label_id = p_label AND deleted_at IS NULL FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such payee';
  END IF;

  INSERT INTO statement (label_id, payee_id, period, status, prepared_by)
  VALUES (p_label, p_payee_id, daterange(p_from, p_to), 'draft', p_user)
  RETURNING id INTO v_id;

  INSERT INTO statement_line (label_id, statement_id, track_id, contract_id, units, amount_cents)
  SELECT p_label, v_id, sl.track_id, c.id, sum(sl.units),
         round(sum(sl.net_cents * sp.share_bp::numeric * c.rate_bp / 1e8))
    FROM sale_line sl
    JOIN split sp   ON sp.track_id = sl.track_id AND sl.sale_date <@ sp.validity
    JOIN contract c ON c.id = sp.contract_id AND sl.sale_date <@ c.term
   WHERE sl.label_id = p_label
     AND sl.sale_date >= p_from AND sl.sale_date < p_to
     AND sl.import_id IN (SELECT si.id FROM sales_import si WHERE si.label_id = p_label AND si.status = 'posted')
     AND EXISTS (SELECT 1 FROM track t WHERE t.id = sl.track_id AND t.deleted_at IS NULL)
     AND c.payee_id = p_payee_id
     AND c.status <> 'draft'
     AND c.deleted_at IS NULL
   GROUP BY sl.track_id, c.id;

  UPDATE statement s
     SET total_cents = coalesce((SELECT sum(x.amount_cents) FROM statement_line x WHERE x.statement_id = v_id), 0)
   WHERE s.id = v_id
  RETURNING s.total_cents INTO v_total;
  RETURN QUERY SELECT v_id, v_total;
END $$;

--- build-statement bad 10
SELECT 1
  FROM payee p
 WHERE p.id = :payee_id AND p.label_id = :label_id AND p.deleted_at IS NULL
   FOR UPDATE;

WITH head AS (
  SELECT p.id AS payee_id, p.label_id, daterange(:from, :to, '[)') AS period
    FROM payee p
   WHERE p.id = :payee_id
     AND p.label_id = :label_id
     AND p.deleted_at IS NULL
     AND :from::date < :to::date
     AND :to::date <= label_today(:label_id)
     AND is_staff(:user_id, :label_id, 'owner', 'accountant')
     AND NOT EXISTS (SELECT 1 FROM statement s
                      WHERE s.payee_id = p.id AND s.status <> 'void'
                        AND s.period && daterange(:from, :to, '[)'))
), earned AS (
  SELECT sl.track_id, c.id AS contract_id, sum(sl.units) AS units,
         round(sum(sl.net_cents::numeric * sp.share_bp * c.rate_bp) / 100000000)::bigint AS cents
    FROM head
    JOIN contract c      ON c.payee_id = head.payee_id AND c.deleted_at IS NULL
                        AND c.status IN ('active', 'terminated')
    JOIN split sp        ON sp.contract_id = c.id
    JOIN track t         ON t.id = sp.track_id AND t.deleted_at IS NULL
    JOIN sale_line sl    ON sl.track_id = t.id AND head.period @> sl.sale_date
                        AND sp.validity @> sl.sale_date AND c.term @> sl.sale_date
    JOIN sales_import si ON si.id = sl.import_id AND si.status = 'posted'
   GROUP BY sl.track_id, c.id
), stmt AS (
  INSERT INTO statement (label_id, payee_id, period, total_cents, prepared_by)
  SELECT head.label_id, head.payee_id, head.period,
         coalesce((SELECT sum(cents) FROM earned), 0), :user_id
    FROM head
  RETURNING id, label_id, total_cents
), lines AS (
  INSERT INTO statement_line (label_id, statement_id, track_id, contract_id, units, amount_cents)
  SELECT stmt.label_id, stmt.id, e.track_id, e.contract_id, e.units, e.cents
    FROM stmt CROSS JOIN earned e
  RETURNING 1
)
SELECT stmt.id, stmt.total_cents, (SELECT count(*) FROM lines) AS line_count
  FROM stmt;

--- grant-delegate good
INSERT INTO delegate (payee_id, user_id, scope, valid, token_hash, granted_by)
SELECT p.id, g.id, :scope,
       tstzrange(GREATEST(now(), :starts_at), LEAST(:ends_at, now() + interval '1 year'), '[)'),
       :token_hash, me.id
  FROM payee p
  JOIN app_user me ON me.id = p.user_id
  JOIN app_user g  ON g.email = lower(:email)
 WHERE p.id = :payee_id
   AND p.deleted_at IS NULL
   AND me.id = :user_id
   AND me.disabled_at IS NULL
   AND g.id <> me.id
   AND g.disabled_at IS NULL
   AND GREATEST(now(), :starts_at) < LEAST(:ends_at, now() + interval '1 year')
   AND NOT EXISTS (SELECT 1 FROM delegate d
                    WHERE d.payee_id = p.id AND d.user_id = g.id AND d.scope = :scope
                      AND d.revoked_at IS NULL AND upper(d.valid) > now())
RETURNING id, payee_id, scope, lower(valid) AS starts_at, upper(valid) AS ends_at;

--- grant-delegate good
WITH own AS (
  SELECT p.id
    FROM payee p
   WHERE p.id = :payee_id
     AND p.user_id = :user_id
     AND p.deleted_at IS NULL
     AND EXISTS (SELECT 1 FROM app_user u WHERE u.id = :user_id AND u.disabled_at IS NULL)
), grantee AS (
  SELECT u.id
    FROM app_user u
   WHERE u.email = :email
     AND u.disabled_at IS NULL
     AND u.id <> :user_id
), replaced AS (
  UPDATE delegate d
     SET revoked_at = now()
    FROM own, grantee
   WHERE d.payee_id = own.id
     AND d.user_id = grantee.id
     AND d.scope = :scope
     AND d.revoked_at IS NULL
     AND :months BETWEEN 1 AND 12
  RETURNING d.id
), fresh AS (
  INSERT INTO delegate (payee_id, user_id, scope, valid, token_hash, granted_by)
  SELECT own.id, grantee.id, :scope,
         tstzrange(now(), now() + make_interval(months => :months)), :token_hash, :user_id
    FROM own CROSS JOIN grantee
   WHERE :months BETWEEN 1 AND 12
  RETURNING id, scope, upper(valid) AS ends_at
)
SELECT fresh.id, fresh.scope, fresh.ends_at, (SELECT count(*) FROM replaced) AS replaced
  FROM fresh;

--- grant-delegate bad 4
INSERT INTO delegate (payee_id, user_id, scope, valid, token_hash, granted_by)
SELECT p.id, g.id, :scope,
       tstzrange(GREATEST(now(), :starts_at), LEAST(:ends_at, now() + interval '1 year'), '[)'),
       :token_hash, :user_id
  FROM payee p
  JOIN app_user g ON g.email = lower(:email)
 WHERE p.id = :payee_id
   AND acts_for(:user_id, p.id, :scope)
   AND g.id <> :user_id
   AND g.id IS DISTINCT FROM p.user_id
   AND g.disabled_at IS NULL
   AND GREATEST(now(), :starts_at) < LEAST(:ends_at, now() + interval '1 year')
   AND NOT EXISTS (SELECT 1 FROM delegate d
                    WHERE d.payee_id = p.id AND d.user_id = g.id AND d.scope = :scope
                      AND d.revoked_at IS NULL AND upper(d.valid) > now())
RETURNING id, payee_id, scope, lower(valid) AS starts_at, upper(valid) AS ends_at;

--- grant-delegate bad 6
WITH own AS (
  SELECT p.id
    FROM payee p
    JOIN app_user u ON u.id = p.user_id
   WHERE p.id = :payee_id
     AND u.id = :user_id
     AND u.disabled_at IS NULL
     AND p.deleted_at IS NULL
), fresh AS (
  INSERT INTO delegate (payee_id, user_id, scope, valid, token_hash, granted_by)
  SELECT own.id, g.id, :scope,
         tstzrange(now(), now() + make_interval(months => :months)), :token_hash, :user_id
    FROM own
    JOIN app_user g ON g.email = :email
   WHERE g.id <> :user_id
     AND g.disabled_at IS NULL
     AND :months BETWEEN 1 AND 12
  RETURNING *
)
SELECT f.*, g.email AS delegate_email
  FROM fresh f
  JOIN app_user g ON g.id = f.user_id;

--- grant-delegate bad 5
WITH grantee AS (
  SELECT u.id
    FROM app_user u
   WHERE u.email = :email
     AND u.disabled_at IS NULL
     AND u.id <> :user_id
), replaced AS (
  UPDATE delegate d
     SET revoked_at = now()
    FROM payee p, grantee
   WHERE p.id = :payee_id
     AND p.user_id = :user_id
     AND d.payee_id = p.id
     AND d.user_id = grantee.id
     AND d.scope = :scope
     AND d.revoked_at IS NULL
     AND EXISTS (SELECT 1 FROM app_user u WHERE u.id = :user_id AND u.disabled_at IS NULL)
  RETURNING d.id
), fresh AS (
  INSERT INTO delegate (payee_id, user_id, scope, valid, token_hash, granted_by)
  SELECT p.id, grantee.id, :scope,
         tstzrange(now(), now() + make_interval(months => LEAST(GREATEST(:months, 1), 12))),
         :token_hash, :user_id
    FROM payee p CROSS JOIN grantee
   WHERE p.id = :payee_id
     AND p.user_id = :user_id
     AND EXISTS (SELECT 1 FROM app_user u WHERE u.id = :user_id AND u.disabled_at IS NULL)
  RETURNING id, scope, upper(valid) AS ends_at
)
SELECT fresh.id, fresh.scope, fresh.ends_at, (SELECT count(*) FROM replaced) AS replaced
  FROM fresh;
