--- front-page good
SELECT a.id, a.title, u.name
FROM articles a JOIN users u ON u.id = a.author_id AND u.suspended_at IS NULL
WHERE a.magazine_id = current_setting('app.magazine_id')::int AND a.trashed_at IS NULL
  AND a.status = 'published' AND (a.embargo_until IS NULL OR a.embargo_until <= now())
ORDER BY a.publish_at DESC LIMIT 25
--- front-page bad 4
SELECT a.id, a.title, u.name
FROM articles a JOIN users u ON u.id = a.author_id AND u.suspended_at IS NULL
WHERE a.magazine_id = current_setting('app.magazine_id')::int AND a.trashed_at IS NULL
  AND a.status = 'published'
ORDER BY a.publish_at DESC LIMIT 25
--- front-page bad 4
SELECT a.id, a.title, u.name
FROM articles a JOIN users u ON u.id = a.author_id AND u.suspended_at IS NULL
WHERE a.magazine_id = current_setting('app.magazine_id')::int AND a.trashed_at IS NULL
  AND (a.embargo_until IS NULL OR a.embargo_until <= now())
ORDER BY a.publish_at DESC LIMIT 25
--- front-page bad 2
SELECT a.id, a.title, u.name
FROM articles a LEFT JOIN users u ON u.id = a.author_id AND u.suspended_at IS NULL
WHERE a.magazine_id = current_setting('app.magazine_id')::int
  AND a.status = 'published' AND (a.embargo_until IS NULL OR a.embargo_until <= now())
ORDER BY a.publish_at DESC LIMIT 25
--- front-page bad 1
SELECT a.id, a.title
FROM articles a
WHERE a.magazine_id = :magazine AND a.trashed_at IS NULL
  AND a.status = 'published' AND (a.embargo_until IS NULL OR a.embargo_until <= now())
ORDER BY a.publish_at DESC LIMIT 25
--- front-page bad 7
SELECT * FROM (
  SELECT a.id, a.title, row_number() OVER (PARTITION BY a.author_id ORDER BY a.publish_at DESC) AS rn
  FROM articles a
  WHERE a.magazine_id = current_setting('app.magazine_id')::int AND a.trashed_at IS NULL
    AND a.status = 'published' AND (a.embargo_until IS NULL OR a.embargo_until <= now())
) x WHERE rn <= 25
--- front-page bad 3
SELECT a.id, a.title, jsonb_build_object('name', u.name, 'contact', a.source_contact) AS by
FROM articles a JOIN users u ON u.id = a.author_id AND u.suspended_at IS NULL
WHERE a.magazine_id = current_setting('app.magazine_id')::int AND a.trashed_at IS NULL
  AND a.status = 'published' AND (a.embargo_until IS NULL OR a.embargo_until <= now())
ORDER BY a.publish_at DESC LIMIT 25
--- approve good
UPDATE articles a SET status = 'approved'
FROM desk_members m JOIN users u ON u.id = m.user_id
WHERE a.id = :id AND a.magazine_id = current_setting('app.magazine_id')::int AND a.trashed_at IS NULL AND a.status = 'review'
  AND m.magazine_id = a.magazine_id AND m.user_id = current_setting('app.user_id')::int
  AND m.left_at IS NULL AND u.suspended_at IS NULL AND m.role IN ('editor', 'chief')
  AND a.author_id <> m.user_id
RETURNING a.id
--- approve bad 5
UPDATE articles a SET status = 'approved'
FROM desk_members m JOIN users u ON u.id = m.user_id
WHERE a.id = :id AND a.magazine_id = current_setting('app.magazine_id')::int AND a.trashed_at IS NULL AND a.status = 'review'
  AND m.magazine_id = a.magazine_id AND m.user_id = current_setting('app.user_id')::int
  AND m.left_at IS NULL AND u.suspended_at IS NULL AND m.role IN ('editor', 'chief')
RETURNING a.id
--- approve bad 5
UPDATE articles a SET status = 'approved'
FROM desk_members m JOIN users u ON u.id = m.user_id
WHERE a.id = :id AND a.magazine_id = current_setting('app.magazine_id')::int AND a.trashed_at IS NULL AND a.status = 'review'
  AND m.user_id = current_setting('app.user_id')::int
  AND m.left_at IS NULL AND u.suspended_at IS NULL AND m.role IN ('editor', 'chief')
  AND a.author_id <> m.user_id
RETURNING a.id
--- approve bad 5
UPDATE articles a SET status = 'approved'
FROM desk_members m JOIN users u ON u.id = m.user_id
WHERE a.id = :id AND a.magazine_id = current_setting('app.magazine_id')::int AND a.trashed_at IS NULL AND a.status = 'review'
  AND m.magazine_id = a.magazine_id AND m.user_id = current_setting('app.user_id')::int
  AND m.left_at IS NULL AND u.suspended_at IS NULL AND m.role IN ('writer', 'editor', 'chief')
  AND a.author_id <> m.user_id
RETURNING a.id
--- approve bad 2
UPDATE articles a SET status = 'approved'
FROM desk_members m JOIN users u ON u.id = m.user_id
WHERE a.id = :id AND a.magazine_id = current_setting('app.magazine_id')::int AND a.trashed_at IS NULL AND a.status = 'review'
  AND m.magazine_id = a.magazine_id AND m.user_id = current_setting('app.user_id')::int
  AND u.suspended_at IS NULL AND m.role IN ('editor', 'chief')
  AND a.author_id <> m.user_id
RETURNING a.id
--- withdraw good
UPDATE articles SET status = 'withdrawn'
WHERE id = :id AND magazine_id = current_setting('app.magazine_id')::int AND trashed_at IS NULL AND status = 'published'
--- withdraw bad 6
UPDATE articles SET status = 'withdrawn'
WHERE id = :id AND magazine_id = current_setting('app.magazine_id')::int AND trashed_at IS NULL AND status IS NOT NULL
--- withdraw bad 1
UPDATE articles SET status = 'withdrawn'
WHERE id = :id AND (magazine_id = current_setting('app.magazine_id')::int OR author_id = current_setting('app.user_id')::int) AND trashed_at IS NULL AND status = 'published'
--- comments good
SELECT c.id, c.body, u.name
FROM comments c
JOIN articles a ON a.id = c.article_id
JOIN users u ON u.id = c.user_id AND u.suspended_at IS NULL
WHERE a.id = :id AND a.magazine_id = current_setting('app.magazine_id')::int AND a.trashed_at IS NULL AND c.hidden IS NOT TRUE
  AND (a.author_id = current_setting('app.user_id')::int OR a.status = 'published' AND coalesce(a.embargo_until, '-infinity') <= now())
ORDER BY c.id LIMIT 25
--- comments bad 2
SELECT c.id, c.body, u.name
FROM comments c
JOIN articles a ON a.id = c.article_id
JOIN users u ON u.id = c.user_id AND u.suspended_at IS NULL
WHERE a.id = :id AND a.magazine_id = current_setting('app.magazine_id')::int AND a.trashed_at IS NULL
  AND (a.author_id = current_setting('app.user_id')::int OR a.status = 'published' AND coalesce(a.embargo_until, '-infinity') <= now())
ORDER BY c.id LIMIT 25
--- comments bad 1
SELECT c.id, c.body, u.name
FROM comments c
JOIN users u ON u.id = c.user_id AND u.suspended_at IS NULL
WHERE c.article_id = :id AND c.hidden IS NOT TRUE
ORDER BY c.id LIMIT 25
