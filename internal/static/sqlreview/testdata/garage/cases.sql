--- list good
SELECT j.id, j.status, v.plate FROM jobs j JOIN vehicles v ON v.id = j.vehicle_id AND v.workshop_id = j.workshop_id
WHERE j.workshop_id = :ws AND v.scrapped_at IS NULL ORDER BY j.created_at DESC LIMIT 30
--- list bad 3
SELECT j.id, j.status, v.plate FROM jobs j JOIN vehicles v ON v.id = j.vehicle_id AND v.workshop_id = j.workshop_id
WHERE j.workshop_id = :ws ORDER BY j.created_at DESC LIMIT 30
--- list bad 4
SELECT j.id, j.status, v.plate, v.owner_phone FROM jobs j JOIN vehicles v ON v.id = j.vehicle_id AND v.workshop_id = j.workshop_id
WHERE j.workshop_id = :ws AND v.scrapped_at IS NULL ORDER BY j.created_at DESC LIMIT 30
--- list bad 5
SELECT j.id, j.status, v.plate FROM jobs j JOIN vehicles v ON v.id = j.vehicle_id AND v.workshop_id = j.workshop_id
WHERE j.workshop_id = :ws AND v.scrapped_at IS NULL ORDER BY j.created_at DESC LIMIT :n
--- list bad 1
SELECT j.id, j.status, v.plate FROM vehicles v LEFT JOIN jobs j ON v.id = j.vehicle_id AND j.workshop_id = :ws
WHERE v.scrapped_at IS NULL ORDER BY j.created_at DESC LIMIT 30
--- finish good
UPDATE jobs SET status = 'done', price = :price WHERE id = :id AND workshop_id = :ws AND assigned_to = :me AND status = 'working' RETURNING id
--- finish bad 6
UPDATE jobs SET status = 'done', price = :price WHERE id = :id AND workshop_id = :ws AND assigned_to IS NOT NULL AND status = 'working' RETURNING id
--- finish bad 7
UPDATE jobs SET status = 'done', price = :price WHERE id = :id AND workshop_id = :ws AND assigned_to = :me AND status <> 'billed' RETURNING id
--- finish bad 1
UPDATE jobs SET status = 'done', price = :price WHERE id = :id AND assigned_to = :me AND status = 'working' RETURNING id
--- start good
UPDATE jobs j SET status = 'working' FROM certificates c
WHERE j.id = :id AND j.workshop_id = :ws AND j.assigned_to = :me AND j.status = 'open'
  AND c.mechanic_id = j.assigned_to AND c.skill = :skill AND c.valid_from <= now() AND c.expires_at > now()
--- start bad 8
UPDATE jobs j SET status = 'working' FROM certificates c
WHERE j.id = :id AND j.workshop_id = :ws AND j.assigned_to = :me AND j.status = 'open'
  AND c.mechanic_id = j.assigned_to AND c.skill = :skill AND c.valid_from <= now()
--- start bad 8
UPDATE jobs j SET status = 'working' FROM certificates c
WHERE j.id = :id AND j.workshop_id = :ws AND j.assigned_to = :me AND j.status = 'open'
  AND c.mechanic_id = j.assigned_to AND c.skill = :skill AND c.valid_from <= now() AND c.expires_at > now() - interval '7 days'
--- tracks bad 4
SELECT v.id, v.gps_track -> 'last' AS place FROM vehicles v WHERE v.workshop_id = :ws AND v.scrapped_at IS NULL ORDER BY v.id LIMIT 30
--- tracks bad 2
SELECT v.id, v.plate FROM vehicles v WHERE v.workshop_id = :ws AND v.scrapped_at IS NULL AND v.plate = '${plate}' ORDER BY v.id LIMIT 30
--- tracks good
SELECT v.id, v.plate, count(j.id) FILTER (WHERE j.status = 'open') AS open_jobs
FROM vehicles v LEFT JOIN jobs j ON j.vehicle_id = v.id AND j.workshop_id = v.workshop_id
WHERE v.workshop_id = :ws AND v.scrapped_at IS NULL GROUP BY v.id, v.plate ORDER BY v.plate LIMIT LEAST(:n, 30)
