--- queue good
-- Open tickets of the tenant, oldest first.
WITH visible AS (
    SELECT t.id, t.subject, t.priority, t.created_at, t.requester_id, t.assignee_id
    FROM tickets t
    WHERE t.tenant_id = :tenant_id
      AND t.deleted_at IS NULL
      AND t.status IN ('new', 'open', 'pending')
      AND (:assignee_id::bigint IS NULL OR t.assignee_id = :assignee_id)
), last_comment AS (
    SELECT DISTINCT ON (c.ticket_id) c.ticket_id, c.created_at AS last_at
    FROM comments c
    JOIN visible v ON v.id = c.ticket_id
    WHERE c.deleted_at IS NULL
    ORDER BY c.ticket_id, c.created_at DESC
)
SELECT v.id, v.subject, v.priority, r.name AS requester, a.display_name AS assignee, lc.last_at
FROM visible v
JOIN requesters r ON r.id = v.requester_id AND r.tenant_id = :tenant_id AND r.deleted_at IS NULL
LEFT JOIN agents a ON a.id = v.assignee_id AND a.tenant_id = :tenant_id
LEFT JOIN last_comment lc ON lc.ticket_id = v.id
ORDER BY v.priority DESC, v.created_at
LIMIT LEAST(COALESCE(:page_size, 25), 100) OFFSET GREATEST(COALESCE(:skip, 0), 0)
--- queue bad 4
WITH visible AS (
    SELECT t.id, t.subject, t.priority, t.created_at, t.requester_id, t.assignee_id
    FROM tickets t
    WHERE t.tenant_id = :tenant_id AND t.deleted_at IS NULL AND t.status IN ('new', 'open', 'pending')
)
SELECT v.id, v.subject, v.priority, r.name AS requester, c.body
FROM (SELECT * FROM visible ORDER BY priority DESC LIMIT 100) v
JOIN requesters r ON r.id = v.requester_id AND r.tenant_id = :tenant_id AND r.deleted_at IS NULL
JOIN comments c ON c.ticket_id = v.id AND c.deleted_at IS NULL
ORDER BY v.priority DESC, v.created_at
--- queue bad 2
WITH visible AS (
    SELECT t.id, t.subject, t.priority, t.created_at, t.requester_id
    FROM tickets t
    WHERE t.tenant_id = :tenant_id AND t.status IN ('new', 'open', 'pending') AND t.deleted_at IS NULL
)
SELECT v.id, v.subject, r.name AS requester, count(c.id) AS comments
FROM visible v
JOIN requesters r ON r.id = v.requester_id AND r.tenant_id = :tenant_id AND r.deleted_at IS NULL
LEFT JOIN comments c ON c.ticket_id = v.id
GROUP BY v.id, v.subject, r.name, v.created_at
ORDER BY v.created_at
LIMIT 100
--- search good
SELECT t.id, t.subject, t.status, ts_rank(to_tsvector('english', t.subject), q) AS rank
FROM tickets t, plainto_tsquery('english', :term) q
WHERE t.tenant_id = :tenant_id
  AND t.deleted_at IS NULL
  AND (to_tsvector('english', t.subject) @@ q OR t.subject ILIKE '%' || :term || '%')
ORDER BY rank DESC
FETCH FIRST 50 ROWS ONLY
--- search bad 1
SELECT t.id, t.subject, t.status
FROM tickets t
WHERE t.tenant_id = :tenant_id AND t.deleted_at IS NULL AND t.subject ILIKE '%' || :term || '%'
   OR t.id::text = :term AND t.deleted_at IS NULL
ORDER BY t.created_at DESC
LIMIT 50
--- search bad 8
SELECT t.id, t.subject, t.status
FROM tickets t
WHERE t.tenant_id = :tenant_id AND t.deleted_at IS NULL AND t.subject ILIKE '%' || :term || '%'
ORDER BY ${sort_column} DESC
LIMIT 50
--- search good
-- The sort order is chosen from a fixed list.
SELECT t.id, t.subject, t.status
FROM tickets t
WHERE t.tenant_id = :tenant_id AND t.deleted_at IS NULL AND t.subject ILIKE '%' || :term || '%'
ORDER BY CASE WHEN :sort = 'priority' THEN t.priority END DESC NULLS LAST,
         CASE WHEN :sort = 'created' THEN t.created_at END DESC NULLS LAST,
         t.id
LIMIT CASE WHEN :n BETWEEN 1 AND 100 THEN :n ELSE 20 END
--- solve good
UPDATE tickets t
SET status = 'solved', solved_at = now()
FROM agents a
WHERE t.id = :ticket_id
  AND t.tenant_id = :tenant_id
  AND t.deleted_at IS NULL
  AND t.status IN ('open', 'pending')
  AND a.id = :agent_id
  AND a.tenant_id = t.tenant_id
  AND a.deactivated_at IS NULL
  AND a.role IN ('full', 'admin')
RETURNING t.id, t.status
--- solve good
WITH actor AS (
  SELECT a.id, a.tenant_id FROM agents a
  WHERE a.id = :agent_id AND a.tenant_id = :tenant_id AND a.role <> 'light' AND a.deactivated_at IS NULL
)
UPDATE tickets SET status = 'solved', solved_at = now()
WHERE id = :ticket_id AND tenant_id = (SELECT tenant_id FROM actor)
  AND deleted_at IS NULL AND status = ANY (ARRAY['open','pending'])
RETURNING id
--- solve bad 5
UPDATE tickets t
SET status = 'solved', solved_at = now()
WHERE t.id = :ticket_id
  AND t.tenant_id = :tenant_id
  AND t.deleted_at IS NULL
  AND t.status IN ('open', 'pending')
  AND EXISTS (SELECT 1 FROM agents a WHERE a.id = :agent_id AND a.tenant_id = :tenant_id AND a.deactivated_at IS NULL)
RETURNING t.id, t.status
--- solve bad 6
UPDATE tickets t
SET status = 'solved', solved_at = now()
FROM agents a
WHERE t.id = :ticket_id AND t.tenant_id = :tenant_id AND t.deleted_at IS NULL
  AND t.status <> 'closed'
  AND a.id = :agent_id AND a.tenant_id = t.tenant_id AND a.deactivated_at IS NULL AND a.role IN ('full', 'admin')
RETURNING t.id
--- solve bad 5
UPDATE tickets t
SET status = 'solved', solved_at = now()
FROM agents a
WHERE t.id = :ticket_id AND t.tenant_id = :tenant_id AND t.deleted_at IS NULL
  AND t.status IN ('open', 'pending')
  AND a.id = :agent_id AND a.tenant_id = t.tenant_id AND a.role IN ('full', 'admin')
RETURNING t.id
--- link good
SELECT t.id, t.subject, t.status
FROM share_links s
JOIN tickets t ON t.id = s.ticket_id
WHERE s.token_hash = encode(sha256(:token::bytea), 'hex')
  AND s.revoked_at IS NULL
  AND s.expires_at > now()
  AND t.tenant_id = :tenant_id
  AND t.deleted_at IS NULL
LIMIT 1
--- link bad 7
SELECT t.id, t.subject, t.status
FROM share_links s
JOIN tickets t ON t.id = s.ticket_id
WHERE s.token_hash = encode(sha256(:token::bytea), 'hex')
  AND s.revoked_at IS NULL
  AND s.expires_at > :now
  AND t.tenant_id = :tenant_id
  AND t.deleted_at IS NULL
LIMIT 1
--- link bad 7
SELECT t.id, t.subject, t.status
FROM share_links s
JOIN tickets t ON t.id = s.ticket_id
WHERE s.token_hash = encode(sha256(:token::bytea), 'hex')
  AND (s.revoked_at IS NULL OR s.expires_at > now())
  AND t.tenant_id = :tenant_id
  AND t.deleted_at IS NULL
LIMIT 1
--- link bad 1
SELECT t.id, t.subject, t.status
FROM share_links s
JOIN tickets t ON t.id = s.ticket_id AND t.deleted_at IS NULL
LEFT JOIN agents a ON a.id = s.created_by AND a.tenant_id = :tenant_id
WHERE s.token_hash = encode(sha256(:token::bytea), 'hex') AND s.revoked_at IS NULL AND s.expires_at > now()
LIMIT 1
--- thread good
SELECT c.id, c.body, c.is_internal, c.created_at, a.display_name
FROM comments c
JOIN tickets t ON t.id = c.ticket_id
JOIN agents a ON a.id = c.author_id AND a.tenant_id = t.tenant_id
WHERE c.ticket_id = :ticket_id
  AND c.deleted_at IS NULL
  AND t.tenant_id = :tenant_id
  AND t.deleted_at IS NULL
  AND (c.created_at, c.id) > (:after_at, :after_id)
ORDER BY c.created_at, c.id
LIMIT 100
--- thread bad 3
SELECT c.id, c.body, row_to_json(a) AS author
FROM comments c
JOIN tickets t ON t.id = c.ticket_id
JOIN agents a ON a.id = c.author_id AND a.tenant_id = t.tenant_id
WHERE c.ticket_id = :ticket_id AND c.deleted_at IS NULL AND t.tenant_id = :tenant_id AND t.deleted_at IS NULL
ORDER BY c.created_at, c.id
LIMIT 100
--- thread bad 1
SELECT c.id, c.body, c.created_at
FROM comments c
WHERE c.ticket_id = :ticket_id AND c.deleted_at IS NULL
  AND EXISTS (SELECT 1 FROM tickets t WHERE t.tenant_id = :tenant_id AND t.deleted_at IS NULL)
ORDER BY c.created_at
LIMIT 100
--- requester good
SELECT r.id, r.name, r.email,
       count(*) FILTER (WHERE t.status <> 'closed') AS open_tickets,
       max(t.created_at) AS last_ticket_at
FROM requesters r
LEFT JOIN tickets t ON t.requester_id = r.id AND t.tenant_id = r.tenant_id AND t.deleted_at IS NULL
WHERE r.tenant_id = :tenant_id AND r.id = :requester_id AND r.deleted_at IS NULL
GROUP BY r.id, r.name, r.email
--- requester bad 3
SELECT r.*, count(t.id) AS open_tickets
FROM requesters r
LEFT JOIN tickets t ON t.requester_id = r.id AND t.tenant_id = r.tenant_id AND t.deleted_at IS NULL
WHERE r.tenant_id = :tenant_id AND r.id = :requester_id AND r.deleted_at IS NULL
GROUP BY r.id
--- assign good
UPDATE tickets t
SET assignee_id = target.id, status = CASE WHEN t.status = 'new' THEN 'open' ELSE t.status END
FROM agents me, agents target
WHERE t.id = :ticket_id AND t.tenant_id = :tenant_id AND t.deleted_at IS NULL AND t.status NOT IN ('solved', 'closed')
  AND me.id = :agent_id AND me.tenant_id = :tenant_id AND me.deactivated_at IS NULL AND me.role IN ('full', 'admin')
  AND target.id = :assignee_id AND target.tenant_id = :tenant_id AND target.deactivated_at IS NULL
--- assign bad 1
UPDATE tickets t
SET assignee_id = :assignee_id
FROM agents me
WHERE t.id = :ticket_id AND t.tenant_id = :tenant_id AND t.deleted_at IS NULL AND t.status NOT IN ('solved', 'closed')
  AND me.id = :agent_id AND me.tenant_id = :tenant_id AND me.deactivated_at IS NULL AND me.role IN ('full', 'admin')
--- purge good
UPDATE tickets SET deleted_at = now()
WHERE id = :ticket_id AND tenant_id = :tenant_id AND deleted_at IS NULL AND status <> 'closed'
  AND EXISTS (SELECT 1 FROM agents a WHERE a.id = :agent_id AND a.tenant_id = tickets.tenant_id AND a.role = 'admin' AND a.deactivated_at IS NULL)
RETURNING id
--- purge bad 5
UPDATE tickets SET deleted_at = now()
WHERE id = :ticket_id AND tenant_id = :tenant_id AND deleted_at IS NULL AND status <> 'closed'
  AND EXISTS (SELECT 1 FROM agents a WHERE a.id = :agent_id AND a.tenant_id = tickets.tenant_id AND a.role IN ('full', 'admin') AND a.deactivated_at IS NULL)
RETURNING id
