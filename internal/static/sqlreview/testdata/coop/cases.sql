--- open-repairs good
SELECT r.id, r.contractor, r.phase, f.label, m.name AS reporter
FROM repairs r
JOIN flats f ON f.id = r.flat_id AND f.archived_at IS NULL
JOIN members m ON m.id = r.reported_by AND m.coop_id = f.coop_id
WHERE f.coop_id = :coop AND r.archived_at IS NULL AND r.phase NOT IN ('finished', 'refused')
ORDER BY r.phase_changed_at NULLS FIRST
LIMIT 75
--- open-repairs bad 1
SELECT r.id, r.contractor, r.phase, f.label
FROM repairs r
LEFT JOIN flats f ON f.id = r.flat_id AND f.archived_at IS NULL AND f.coop_id = :coop
WHERE r.archived_at IS NULL AND r.phase NOT IN ('finished', 'refused')
ORDER BY r.phase_changed_at
LIMIT 75
--- open-repairs bad 2
SELECT r.id, r.contractor, r.phase, f.label
FROM repairs r
JOIN flats f ON f.id = r.flat_id
WHERE f.coop_id = :coop AND r.archived_at IS NULL AND r.phase NOT IN ('finished', 'refused')
ORDER BY r.phase_changed_at
LIMIT 75
--- open-repairs bad 3
SELECT r.id, r.phase, f.*
FROM repairs r
JOIN flats f ON f.id = r.flat_id AND f.archived_at IS NULL
WHERE f.coop_id = :coop AND r.archived_at IS NULL
ORDER BY r.phase_changed_at
LIMIT 75
--- open-repairs bad 4
SELECT r.id, r.phase, f.label
FROM repairs r
JOIN flats f ON f.id = r.flat_id AND f.archived_at IS NULL
WHERE f.coop_id = :coop AND r.archived_at IS NULL
ORDER BY r.phase_changed_at
LIMIT 100
--- order-repair good
UPDATE repairs
SET phase = 'ordered', phase_changed_at = now()
WHERE id = :repair AND phase = 'quoted' AND archived_at IS NULL
  AND flat_id IN (SELECT id FROM flats WHERE coop_id = :coop AND archived_at IS NULL)
  AND (SELECT board_seat AND resigned_at IS NULL FROM members WHERE id = :member AND coop_id = :coop)
RETURNING id, phase
--- order-repair good
UPDATE repairs r SET phase = 'ordered', phase_changed_at = now()
FROM flats f, members m
WHERE r.id = :repair AND f.id = r.flat_id AND f.coop_id = :coop AND f.archived_at IS NULL AND r.archived_at IS NULL AND r.phase = 'quoted'
  AND m.id = :member AND m.coop_id = f.coop_id AND m.board_seat AND m.resigned_at IS NULL
--- order-repair bad 5
UPDATE repairs r SET phase = 'ordered', phase_changed_at = now()
FROM flats f, members m
WHERE r.id = :repair AND f.id = r.flat_id AND f.coop_id = :coop AND f.archived_at IS NULL AND r.archived_at IS NULL AND r.phase = 'quoted'
  AND m.id = :member AND m.coop_id = f.coop_id AND m.resigned_at IS NULL
--- order-repair bad 5
UPDATE repairs r SET phase = 'ordered', phase_changed_at = now()
FROM flats f, members m
WHERE r.id = :repair AND f.id = r.flat_id AND f.coop_id = :coop AND f.archived_at IS NULL AND r.archived_at IS NULL AND r.phase = 'quoted'
  AND m.id = :member AND m.coop_id = f.coop_id AND m.board_seat
--- order-repair bad 6
UPDATE repairs r SET phase = 'ordered', phase_changed_at = now()
FROM flats f, members m
WHERE r.id = :repair AND f.id = r.flat_id AND f.coop_id = :coop AND f.archived_at IS NULL AND r.archived_at IS NULL AND r.phase IN ('reported', 'quoted')
  AND m.id = :member AND m.coop_id = f.coop_id AND m.board_seat AND m.resigned_at IS NULL
--- vote good
INSERT INTO votes (motion_id, member_id, choice, cast_at)
SELECT o.id, m.id, :choice, now()
FROM motions o JOIN members m ON m.coop_id = o.coop_id
WHERE o.id = :motion AND o.coop_id = :coop AND o.archived_at IS NULL AND o.opens_at <= now() AND o.closes_at > now()
  AND m.id = :member AND m.resigned_at IS NULL
ON CONFLICT (motion_id, member_id) DO UPDATE SET choice = excluded.choice, cast_at = now()
--- vote bad 7
INSERT INTO votes (motion_id, member_id, choice, cast_at)
SELECT o.id, m.id, :choice, now()
FROM motions o JOIN members m ON m.coop_id = o.coop_id
WHERE o.id = :motion AND o.coop_id = :coop AND o.archived_at IS NULL AND o.opens_at <= now() AND o.closes_at >= now()
  AND m.id = :member AND m.resigned_at IS NULL
--- vote bad 1,7
INSERT INTO votes (motion_id, member_id, choice, cast_at)
SELECT o.id, :voter, :choice, now()
FROM motions o
WHERE o.id = :motion AND o.coop_id = :coop AND o.archived_at IS NULL AND o.opens_at <= now() AND o.closes_at > now()
--- tally good
SELECT o.id, o.title,
       count(v.member_id) FILTER (WHERE v.choice = 'yes') AS yes,
       count(v.member_id) FILTER (WHERE v.choice = 'no') AS no
FROM motions o
LEFT JOIN votes v ON v.motion_id = o.id AND v.cast_at >= o.opens_at AND v.cast_at < o.closes_at
WHERE o.coop_id = :coop AND o.archived_at IS NULL AND o.closes_at <= now()
GROUP BY o.id, o.title
ORDER BY o.closes_at DESC
LIMIT 75
--- tally bad 8
SELECT o.id, o.title FROM motions o
WHERE o.coop_id = :coop AND o.archived_at IS NULL AND o.title LIKE '${term}%'
ORDER BY o.id LIMIT 75
--- who good
SELECT m.id, m.name, m.email, COALESCE(m.board_seat, false) AS board
FROM members m
WHERE m.coop_id = :coop AND m.resigned_at IS NULL AND ($1::text IS NULL OR m.name ILIKE $1)
ORDER BY m.name LIMIT 75
--- who bad 3
SELECT m.id, m.name, md5(m.password) AS check FROM members m
WHERE m.coop_id = :coop AND m.resigned_at IS NULL ORDER BY m.name LIMIT 75
