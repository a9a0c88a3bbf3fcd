-- Team 1 has more than twice a page, team 2 a few and none of them deleted.
INSERT INTO notes (id, team_id, title, deleted_at)
SELECT 1000 * t + n, t, 'Note ' || n, CASE WHEN t = 1 AND n % 3 = 0 THEN timestamptz '2025-06-01 00:00Z' END
FROM (VALUES (1, 40), (2, 4)) AS size (t, m), generate_series(1, m) AS n;
