--- browse good
SELECT t.id, t.name, t.deposit_cents, n.nickname
FROM tool t JOIN neighbour n ON n.id = t.owner_id
WHERE t.deleted_at IS NULL AND n.deleted_at IS NULL
  AND (t.visible OR t.owner_id = :user_id)
  AND t.name ILIKE '%' || :search || '%'
ORDER BY t.name
LIMIT LEAST(COALESCE(:limit, 20), 50);
--- my-loans good
SELECT l.id, l.status, l.due_at, t.name
FROM loan l JOIN tool t ON t.id = l.tool_id AND t.deleted_at IS NULL
WHERE l.borrower_id = :user_id OR t.owner_id = :user_id
ORDER BY l.asked_at DESC
LIMIT 50;
--- messages good
SELECT m.id, m.body, m.sent_at, m.author_id = current_setting('app.user_id')::uuid AS mine
FROM message m
JOIN loan l ON l.id = m.loan_id
JOIN tool t ON t.id = l.tool_id
WHERE m.loan_id = :loan_id
  AND t.deleted_at IS NULL
  AND (l.borrower_id = current_setting('app.user_id')::uuid OR t.owner_id = current_setting('app.user_id')::uuid)
ORDER BY m.sent_at
LIMIT 50;
--- send good
INSERT INTO message (id, loan_id, author_id, body)
SELECT gen_random_uuid(), l.id, me.id, :body
FROM loan l
JOIN tool t ON t.id = l.tool_id AND t.deleted_at IS NULL
JOIN neighbour me ON me.id = :user_id AND me.deleted_at IS NULL AND (me.banned_until IS NULL OR me.banned_until <= now())
WHERE l.id = :loan_id AND me.id IN (l.borrower_id, t.owner_id)
RETURNING id;
--- hide good
UPDATE tool t SET visible = false
WHERE t.id = :tool_id AND t.deleted_at IS NULL
  AND (t.owner_id = :user_id OR EXISTS (SELECT 1 FROM neighbour n WHERE n.id = :user_id AND n.is_admin AND n.deleted_at IS NULL));
--- rename good
UPDATE tool SET name = :name, deposit_cents = :deposit_cents
WHERE id = :tool_id AND owner_id = :user_id AND deleted_at IS NULL
RETURNING id, name;
--- delete good
UPDATE tool SET deleted_at = now() WHERE id = :tool_id AND owner_id = :user_id AND deleted_at IS NULL;
--- hand-over good
UPDATE loan l SET status = 'handed_over', version = l.version + 1
FROM tool t
WHERE l.id = :loan_id AND t.id = l.tool_id AND t.owner_id = :user_id AND t.deleted_at IS NULL
  AND l.status = 'agreed' AND l.version = :version
RETURNING l.id, l.version;
--- agree good
BEGIN;
SELECT t.id FROM tool t JOIN loan l ON l.tool_id = t.id WHERE l.id = :loan_id AND t.owner_id = :user_id AND t.deleted_at IS NULL FOR UPDATE OF t;
UPDATE loan l SET status = 'agreed', agreed_at = now(), version = l.version + 1
FROM tool t
WHERE l.id = :loan_id AND t.id = l.tool_id AND t.owner_id = :user_id AND t.deleted_at IS NULL
  AND l.status = 'asked' AND l.version = :version
  AND NOT EXISTS (SELECT 1 FROM loan o WHERE o.tool_id = t.id AND o.status IN ('agreed', 'handed_over'));
COMMIT;
--- handle good
UPDATE report r SET handled_by = n.id, handled_at = now()
FROM neighbour n
WHERE r.id = :report_id AND r.handled_at IS NULL
  AND n.id = :user_id AND n.is_admin AND n.deleted_at IS NULL;
--- report good
INSERT INTO report (id, reporter_id, tool_id, reason)
SELECT gen_random_uuid(), :user_id, t.id, :reason FROM tool t WHERE t.id = :tool_id AND t.deleted_at IS NULL AND t.visible;
--- contact good
SELECT n.nickname, n.email, n.phone
FROM loan l JOIN tool t ON t.id = l.tool_id AND t.deleted_at IS NULL
JOIN neighbour n ON n.id = CASE WHEN l.borrower_id = :user_id THEN t.owner_id ELSE l.borrower_id END AND n.deleted_at IS NULL
WHERE l.id = :loan_id AND l.status IN ('agreed', 'handed_over') AND (l.borrower_id = :user_id OR t.owner_id = :user_id);
--- rename bad 1
UPDATE tool SET name = :name WHERE id = :tool_id AND deleted_at IS NULL RETURNING id, name;
--- hand-over bad 6
UPDATE loan l SET status = 'handed_over', version = l.version + 1
FROM tool t
WHERE l.id = :loan_id AND t.id = l.tool_id AND t.owner_id = :user_id AND t.deleted_at IS NULL AND l.version = :version
RETURNING l.id, l.version;
--- messages bad 2
SELECT m.id, m.body, m.sent_at FROM message m WHERE m.loan_id = :loan_id ORDER BY m.sent_at LIMIT 50;
--- handle bad 9
UPDATE report r SET handled_by = :user_id, handled_at = now() WHERE r.id = :report_id AND r.handled_at IS NULL;
--- browse bad 3
SELECT t.id, t.name, n.nickname FROM tool t JOIN neighbour n ON n.id = t.owner_id
WHERE n.deleted_at IS NULL AND (t.visible OR t.owner_id = :user_id) ORDER BY t.name LIMIT 50;
