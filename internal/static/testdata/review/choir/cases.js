### personal-copy bad 12
async function mayPerform(me, scoreId) {
  if (me.kind === 'friend') return false;
  if (me.offices.some((o) => o === 'librarian' || o === 'conductor')) return true;
  const { rowCount } = await db.query(
    `WITH today AS (SELECT society_today($1) AS d)
     SELECT g.id
       FROM programmes g
       JOIN today ON today.d >= g.starts_on AND today.d <= g.ends_on
      WHERE g.society_id = $1 AND g.deleted_at IS NULL
        AND EXISTS (SELECT 1 FROM cast_members c WHERE c.programme_id = g.id AND c.person_id = $2)
        AND EXISTS (SELECT 1 FROM programme_scores ps WHERE ps.programme_id = g.id AND ps.score_id = $3)
      LIMIT 1`,
    [me.society, me.id, scoreId],
  );
  return rowCount > 0;
}

// GET /scores/:id/personal
export async function personalCopy(req, res) {
  const scoreId = int(req.params.id, 0);
  if (!(await mayPerform(req.me, scoreId))) stop(404);
  const found = await db.query(
    `SELECT file_name FROM scores
      WHERE id = $1 AND society_id = $2 AND deleted_at IS NULL
        AND coalesce(licence_until, 'infinity') > now()`,
    [scoreId, req.me.society],
  );
  const person = await db.query(
    'SELECT name FROM people WHERE id = $1 AND society_id = $2 AND left_at IS NULL',
    [req.me.id, req.me.society],
  );
  if (!found.rowCount || !person.rowCount) stop(404);

  const fileName = found.rows[0].file_name;
  if (!/^[A-Za-z0-9][\w .-]*\.pdf$/.test(fileName)) stop(404);
  const file = path.join(MUSIC, String(req.me.society), fileName);

  const text = JSON.stringify(person.rows[0].name);
  const { stdout } = await exec(`/usr/bin/pdfstamp --text=${text} -- "${file}"`, {
    encoding: 'buffer',
    maxBuffer: 6e7,
  });
  res.type('pdf').set('Cache-Control', 'no-store').send(stdout);
}

### personal-copy good
const ENTITLED = `
  SELECT s.file_name, p.name
    FROM scores s
    JOIN people p ON p.id = $3 AND p.society_id = s.society_id AND p.left_at IS NULL
   WHERE s.id = $1 AND s.society_id = $2 AND s.deleted_at IS NULL
     AND (s.licence_until IS NULL OR s.licence_until > now())
     AND ($4::boolean OR EXISTS (
           SELECT 1
             FROM programme_scores ps
             JOIN programmes g ON g.id = ps.programme_id
             JOIN cast_members c ON c.programme_id = g.id
            WHERE ps.score_id = s.id AND c.person_id = p.id
              AND g.society_id = s.society_id AND g.deleted_at IS NULL
              AND society_today(g.society_id) BETWEEN g.starts_on AND g.ends_on))`;

// GET /scores/:id/personal : the score with the singer's name at the foot of each page
export async function personalCopy(req, res) {
  const { id: me, society, kind, offices } = req.me;
  const keeper = offices.includes('librarian') || offices.includes('conductor');
  if (kind === 'friend') stop(403);
  const scoreId = int(req.params.id, 0);
  const { rows } = await db.query(ENTITLED, [scoreId, society, me, keeper]);
  if (rows.length === 0) stop(404);
  const { file_name: fileName, name } = rows[0];

  const home = path.join(MUSIC, String(society));
  const file = path.resolve(home, fileName);
  if (!file.startsWith(home + path.sep)) stop(404);

  const { stdout } = await execFile('/usr/bin/pdfstamp', [`--text=For ${name} only`, '--', file], {
    encoding: 'buffer',
    maxBuffer: 64 * 1024 * 1024,
    timeout: 20_000,
  });
  log.info({ score: scoreId, person: me }, 'personal copy');
  res.set('Content-Type', 'application/pdf');
  res.set('Content-Disposition', `attachment; filename="score-${scoreId}.pdf"`);
  res.set('Cache-Control', 'private, no-store');
  res.send(stdout);
}

### personal-copy good
async function mayPerform(me, scoreId) {
  if (me.kind === 'friend') return false;
  if (me.offices.some((o) => o === 'librarian' || o === 'conductor')) return true;
  const { rowCount } = await db.query(
    `WITH today AS (SELECT society_today($1) AS d)
     SELECT g.id
       FROM programmes g
       JOIN today ON today.d >= g.starts_on AND today.d <= g.ends_on
      WHERE g.society_id = $1 AND g.deleted_at IS NULL
        AND EXISTS (SELECT 1 FROM cast_members c WHERE c.programme_id = g.id AND c.person_id = $2)
        AND EXISTS (SELECT 1 FROM programme_scores ps WHERE ps.programme_id = g.id AND ps.score_id = $3)
      LIMIT 1`,
    [me.society, me.id, scoreId],
  );
  return rowCount > 0;
}

// GET /scores/:id/personal
export async function personalCopy(req, res) {
  const scoreId = int(req.params.id, 0);
  if (!(await mayPerform(req.me, scoreId))) stop(404);
  const found = await db.query(
    `SELECT file_name FROM scores
      WHERE id = $1 AND society_id = $2 AND deleted_at IS NULL
        AND coalesce(licence_until, 'infinity') > now()`,
    [scoreId, req.me.society],
  );
  const person = await db.query(
    'SELECT name FROM people WHERE id = $1 AND society_id = $2 AND left_at IS NULL',
    [req.me.id, req.me.society],
  );
  if (!found.rowCount || !person.rowCount) stop(404);

  const fileName = found.rows[0].file_name;
  if (!/^[A-Za-z0-9][\w .-]*\.pdf$/.test(fileName)) stop(404);
  const file = path.join(MUSIC, String(req.me.society), fileName);

  const args = [`--text=${person.rows[0].name}`, '--', file];
  const { stdout } = await execFile('/usr/bin/pdfstamp', args, { encoding: 'buffer', maxBuffer: 6e7 });
  res.type('pdf').set('Cache-Control', 'no-store').send(stdout);
}

### personal-copy bad 9
async function mayPerform(me, scoreId) {
  if (me.kind === 'friend') return false;
  if (me.offices.some((o) => o === 'librarian' || o === 'conductor')) return true;
  const { rowCount } = await db.query(
    `WITH today AS (SELECT society_today($1) AS d)
     SELECT g.id
       FROM programmes g
       JOIN today ON today.d >= g.starts_on AND today.d <= g.ends_on
      WHERE g.society_id = $1 AND g.deleted_at IS NULL
        AND EXISTS (SELECT 1 FROM cast_members c WHERE c.programme_id = g.id AND c.person_id = $2)
        AND EXISTS (SELECT 1 FROM programme_scores ps WHERE ps.programme_id = g.id AND ps.score_id = $3)
      LIMIT 1`,
    [me.society, me.id, scoreId],
  );
  return rowCount > 0;
}

// GET /scores/:id/personal
export async function personalCopy(req, res) {
  const scoreId = int(req.params.id, 0);
  if (!(await mayPerform(req.me, scoreId))) stop(404);
  const found = await db.query(
    `SELECT file_name FROM scores
      WHERE id = $1 AND society_id = $2 AND deleted_at IS NULL`,
    [scoreId, req.me.society],
  );
  const person = await db.query(
    'SELECT name FROM people WHERE id = $1 AND society_id = $2 AND left_at IS NULL',
    [req.me.id, req.me.society],
  );
  if (!found.rowCount || !person.rowCount) stop(404);

  const fileName = found.rows[0].file_name;
  if (!/^[A-Za-z0-9][\w .-]*\.pdf$/.test(fileName)) stop(404);
  const file = path.join(MUSIC, String(req.me.society), fileName);

  const args = [`--text=${person.rows[0].name}`, '--', file];
  const { stdout } = await execFile('/usr/bin/pdfstamp', args, { encoding: 'buffer', maxBuffer: 6e7 });
  res.type('pdf').set('Cache-Control', 'no-store').send(stdout);
}

### personal-copy bad 2
const ENTITLED = `
  SELECT s.file_name, p.name
    FROM scores s
    JOIN people p ON p.id = $3 AND p.society_id = s.society_id AND p.left_at IS NULL
   WHERE s.id = $1 AND s.society_id = $2 AND s.deleted_at IS NULL
     AND (s.licence_until IS NULL OR s.licence_until > now())
     AND ($4::boolean OR EXISTS (
           SELECT 1
             FROM programme_scores ps
             JOIN programmes g ON g.id = ps.programme_id
             JOIN cast_members c ON c.programme_id = g.id
            WHERE ps.score_id = s.id AND c.person_id = p.id
              AND g.society_id = s.society_id AND g.deleted_at IS NULL))`;

// GET /scores/:id/personal : the score with the singer's name at the foot of each page
export async function personalCopy(req, res) {
  const { id: me, society, kind, offices } = req.me;
  const keeper = offices.includes('librarian') || offices.includes('conductor');
  if (kind === 'friend') stop(403);
  const scoreId = int(req.params.id, 0);
  const { rows } = await db.query(ENTITLED, [scoreId, society, me, keeper]);
  if (rows.length === 0) stop(404);
  const { file_name: fileName, name } = rows[0];

  const home = path.join(MUSIC, String(society));
  const file = path.resolve(home, fileName);
  if (!file.startsWith(home + path.sep)) stop(404);

  const { stdout } = await execFile('/usr/bin/pdfstamp', [`--text=For ${name} only`, '--', file], {
    encoding: 'buffer',
    maxBuffer: 64 * 1024 * 1024,
    timeout: 20_000,
  });
  log.info({ score: scoreId, person: me }, 'personal copy');
  res.set('Content-Type', 'application/pdf');
  res.set('Content-Disposition', `attachment; filename="score-${scoreId}.pdf"`);
  res.set('Cache-Control', 'private, no-store');
  res.send(stdout);
}

### personal-copy bad 13
const ENTITLED = `
  SELECT s.file_name, p.name
    FROM scores s
    JOIN people p ON p.id = $3 AND p.society_id = s.society_id AND p.left_at IS NULL
   WHERE s.id = $1 AND s.society_id = $2 AND s.deleted_at IS NULL
     AND (s.licence_until IS NULL OR s.licence_until > now())
     AND ($4::boolean OR EXISTS (
           SELECT 1
             FROM programme_scores ps
             JOIN programmes g ON g.id = ps.programme_id
             JOIN cast_members c ON c.programme_id = g.id
            WHERE ps.score_id = s.id AND c.person_id = p.id
              AND g.society_id = s.society_id AND g.deleted_at IS NULL
              AND society_today(g.society_id) BETWEEN g.starts_on AND g.ends_on))`;

// GET /scores/:id/personal : the score with the singer's name at the foot of each page
export async function personalCopy(req, res) {
  const { id: me, society, kind, offices } = req.me;
  const keeper = offices.includes('librarian') || offices.includes('conductor');
  if (kind === 'friend') stop(403);
  const scoreId = int(req.params.id, 0);
  const { rows } = await db.query(ENTITLED, [scoreId, society, me, keeper]);
  if (rows.length === 0) stop(404);
  const { file_name: fileName, name } = rows[0];

  const home = path.join(MUSIC, String(society));
  const file = path.normalize(path.join(home, fileName));
  if (!file.startsWith(MUSIC + path.sep)) stop(404);

  const { stdout } = await execFile('/usr/bin/pdfstamp', [`--text=For ${name} only`, '--', file], {
    encoding: 'buffer',
    maxBuffer: 64 * 1024 * 1024,
    timeout: 20_000,
  });
  log.info({ score: scoreId, person: me }, 'personal copy');
  res.set('Content-Type', 'application/pdf');
  res.set('Content-Disposition', `attachment; filename="score-${scoreId}.pdf"`);
  res.set('Cache-Control', 'private, no-store');
  res.send(stdout);
}

### rehearsal-list bad 7
const COMING_UP = (scope) => `
  WITH mine AS (
    SELECT g.id, g.title
      FROM programmes g
     WHERE g.society_id = $1 AND g.deleted_at IS NULL AND ${scope}
  ), coming_up AS (
    SELECT r.id, r.starts_at, r.place, r.called_off_at, m.title
      FROM rehearsals r JOIN mine m ON m.id = r.programme_id
     WHERE r.society_id = $1 AND r.deleted_at IS NULL AND r.starts_at > now()
     ORDER BY r.starts_at, r.id
     LIMIT $3 OFFSET $4
  )
  SELECT u.id, u.starts_at, u.place, u.title, u.called_off_at, own.coming AS mine, tally.by_voice
    FROM coming_up u
    LEFT JOIN answers own ON own.rehearsal_id = u.id AND own.person_id = $2
    LEFT JOIN LATERAL (
      SELECT json_object_agg(v.voice, v.n) AS by_voice
        FROM (SELECT p.voice, count(*)::int AS n
                FROM answers a JOIN people p ON p.id = a.person_id
               WHERE a.rehearsal_id = u.id AND a.coming = 'yes'
                 AND p.society_id = $1 AND p.left_at IS NULL AND p.voice IS NOT NULL
               GROUP BY p.voice) v
    ) tally ON true
   ORDER BY u.starts_at, u.id`;

// GET /rehearsals
export async function listRehearsals(req, res) {
  const { me } = req;
  const scope = me.offices.includes('conductor')
    ? '$2::bigint IS NOT NULL'
    : 'g.id IN (SELECT c.programme_id FROM cast_members c WHERE c.person_id = $2)';
  const n = Math.max(1, int(req.query.n, 20));
  const skip = Math.max(0, int(req.query.skip, 0));
  const { rows } = await db.query(COMING_UP(scope), [me.society, me.id, n, skip]);
  res.json(
    rows.map((r) => ({
      id: r.id,
      title: r.title,
      place: r.place,
      startsAt: r.starts_at,
      calledOff: r.called_off_at !== null,
      mine: r.mine,
      coming: r.by_voice ?? {},
    })),
  );
}

### rehearsal-list good
// GET /rehearsals?n=20&page=0 : what is coming up, with how many will come
export async function listRehearsals(req, res) {
  const { id: me, society, offices } = req.me;
  const n = Math.min(Math.max(int(req.query.n, 20), 1), 50);
  const page = Math.min(Math.max(int(req.query.page, 0), 0), 1000);
  const { rows } = await db.query(
    `SELECT r.id, r.starts_at, r.ends_at, r.place, g.title, r.called_off_at IS NOT NULL AS called_off,
            count(*) FILTER (WHERE p.id IS NOT NULL AND a.coming = 'yes')::int AS yes,
            count(*) FILTER (WHERE p.id IS NOT NULL AND a.coming = 'maybe')::int AS maybe,
            count(*) FILTER (WHERE p.id IS NOT NULL AND a.coming = 'no')::int AS no,
            max(a.coming::text) FILTER (WHERE a.person_id = $2) AS mine,
            max(a.reason) FILTER (WHERE a.person_id = $2) AS my_reason
       FROM rehearsals r
       JOIN programmes g ON g.id = r.programme_id AND g.society_id = r.society_id AND g.deleted_at IS NULL
       LEFT JOIN answers a ON a.rehearsal_id = r.id
       LEFT JOIN people p ON p.id = a.person_id AND p.society_id = r.society_id AND p.left_at IS NULL
      WHERE r.society_id = $1
        AND r.deleted_at IS NULL
        AND r.ends_at > now()
        AND ($3::boolean OR EXISTS (
              SELECT 1 FROM cast_members c WHERE c.programme_id = g.id AND c.person_id = $2))
      GROUP BY r.id, g.id
      ORDER BY r.starts_at, r.id
      LIMIT $4 OFFSET $5`,
    [society, me, offices.includes('conductor'), n, n * page],
  );
  res.json({ page, rehearsals: rows });
}

### rehearsal-list bad 6
// GET /rehearsals?n=20&page=0 : what is coming up, with how many will come
export async function listRehearsals(req, res) {
  const { id: me, society, offices } = req.me;
  const n = Math.min(Math.max(int(req.query.n, 20), 1), 50);
  const page = Math.min(Math.max(int(req.query.page, 0), 0), 1000);
  const { rows } = await db.query(
    `SELECT r.id, r.starts_at, r.ends_at, r.place, g.title, r.called_off_at IS NOT NULL AS called_off,
            count(*) FILTER (WHERE p.id IS NOT NULL AND a.coming = 'yes')::int AS yes,
            count(*) FILTER (WHERE p.id IS NOT NULL AND a.coming = 'maybe')::int AS maybe,
            count(*) FILTER (WHERE p.id IS NOT NULL AND a.coming = 'no')::int AS no,
            max(a.coming::text) FILTER (WHERE a.person_id = $2) AS mine,
            max(a.reason) FILTER (WHERE a.person_id = $2) AS my_reason
       FROM rehearsals r
       JOIN programmes g ON g.id = r.programme_id AND g.society_id = r.society_id
       LEFT JOIN answers a ON a.rehearsal_id = r.id
       LEFT JOIN people p ON p.id = a.person_id AND p.society_id = r.society_id AND p.left_at IS NULL
      WHERE r.society_id = $1
        AND r.deleted_at IS NULL
        AND r.ends_at > now()
        AND ($3::boolean OR EXISTS (
              SELECT 1 FROM cast_members c WHERE c.programme_id = g.id AND c.person_id = $2))
      GROUP BY r.id, g.id
      ORDER BY r.starts_at, r.id
      LIMIT $4 OFFSET $5`,
    [society, me, offices.includes('conductor'), n, n * page],
  );
  res.json({ page, rehearsals: rows });
}

### rehearsal-list bad 4,5
const COMING_UP = (scope) => `
  WITH mine AS (
    SELECT g.id, g.title
      FROM programmes g
     WHERE g.society_id = $1 AND g.deleted_at IS NULL AND ${scope}
  ), coming_up AS (
    SELECT r.id, r.starts_at, r.place, r.called_off_at, m.title
      FROM rehearsals r JOIN mine m ON m.id = r.programme_id
     WHERE r.society_id = $1 AND r.deleted_at IS NULL AND r.starts_at > now()
     ORDER BY r.starts_at, r.id
     LIMIT $3 OFFSET $4
  )
  SELECT u.id, u.starts_at, u.place, u.title, u.called_off_at, own.coming AS mine, tally.by_voice
    FROM coming_up u
    LEFT JOIN answers own ON own.rehearsal_id = u.id AND own.person_id = $2
    LEFT JOIN LATERAL (
      SELECT json_object_agg(v.voice, v.who) AS by_voice
        FROM (SELECT p.voice, json_agg(p.name ORDER BY p.name) AS who
                FROM answers a JOIN people p ON p.id = a.person_id
               WHERE a.rehearsal_id = u.id AND a.coming = 'yes'
                 AND p.society_id = $1 AND p.left_at IS NULL AND p.voice IS NOT NULL
               GROUP BY p.voice) v
    ) tally ON true
   ORDER BY u.starts_at, u.id`;

// GET /rehearsals
export async function listRehearsals(req, res) {
  const { me } = req;
  const scope = me.offices.includes('conductor')
    ? '$2::bigint IS NOT NULL'
    : 'g.id IN (SELECT c.programme_id FROM cast_members c WHERE c.person_id = $2)';
  let n = int(req.query.n, 20);
  if (n < 1 || n > 50) n = 50;
  const skip = Math.max(0, int(req.query.skip, 0));
  const { rows } = await db.query(COMING_UP(scope), [me.society, me.id, n, skip]);
  res.json(
    rows.map((r) => ({
      id: r.id,
      title: r.title,
      place: r.place,
      startsAt: r.starts_at,
      calledOff: r.called_off_at !== null,
      mine: r.mine,
      coming: r.by_voice ?? {},
    })),
  );
}

### rehearsal-list bad 2
// GET /rehearsals?n=20&page=0 : what is coming up, with how many will come
export async function listRehearsals(req, res) {
  const { id: me, society, offices } = req.me;
  const n = Math.min(Math.max(int(req.query.n, 20), 1), 50);
  const page = Math.min(Math.max(int(req.query.page, 0), 0), 1000);
  const { rows } = await db.query(
    `SELECT r.id, r.starts_at, r.ends_at, r.place, g.title, r.called_off_at IS NOT NULL AS called_off,
            count(*) FILTER (WHERE p.id IS NOT NULL AND a.coming = 'yes')::int AS yes,
            count(*) FILTER (WHERE p.id IS NOT NULL AND a.coming = 'maybe')::int AS maybe,
            count(*) FILTER (WHERE p.id IS NOT NULL AND a.coming = 'no')::int AS no,
            max(a.coming::text) FILTER (WHERE a.person_id = $2) AS mine,
            max(a.reason) FILTER (WHERE a.person_id = $2) AS my_reason
       FROM rehearsals r
       JOIN programmes g ON g.id = r.programme_id AND g.society_id = r.society_id AND g.deleted_at IS NULL
       LEFT JOIN answers a ON a.rehearsal_id = r.id
       LEFT JOIN people p ON p.id = a.person_id AND p.society_id = r.society_id AND p.left_at IS NULL
      WHERE r.society_id = $1
        AND r.deleted_at IS NULL
        AND r.ends_at > now()
        AND ($3::boolean OR EXISTS (
              SELECT 1 FROM cast_members c
                JOIN programmes other ON other.id = c.programme_id
               WHERE other.society_id = r.society_id AND other.deleted_at IS NULL AND c.person_id = $2))
      GROUP BY r.id, g.id
      ORDER BY r.starts_at, r.id
      LIMIT $4 OFFSET $5`,
    [society, me, offices.includes('conductor'), n, n * page],
  );
  res.json({ page, rehearsals: rows });
}

### rehearsal-list good
const COMING_UP = (scope) => `
  WITH mine AS (
    SELECT g.id, g.title
      FROM programmes g
     WHERE g.society_id = $1 AND g.deleted_at IS NULL AND ${scope}
  ), coming_up AS (
    SELECT r.id, r.starts_at, r.place, r.called_off_at, m.title
      FROM rehearsals r JOIN mine m ON m.id = r.programme_id
     WHERE r.society_id = $1 AND r.deleted_at IS NULL AND r.starts_at > now()
     ORDER BY r.starts_at, r.id
     LIMIT $3 OFFSET $4
  )
  SELECT u.id, u.starts_at, u.place, u.title, u.called_off_at, own.coming AS mine, tally.by_voice
    FROM coming_up u
    LEFT JOIN answers own ON own.rehearsal_id = u.id AND own.person_id = $2
    LEFT JOIN LATERAL (
      SELECT json_object_agg(v.voice, v.n) AS by_voice
        FROM (SELECT p.voice, count(*)::int AS n
                FROM answers a JOIN people p ON p.id = a.person_id
               WHERE a.rehearsal_id = u.id AND a.coming = 'yes'
                 AND p.society_id = $1 AND p.left_at IS NULL AND p.voice IS NOT NULL
               GROUP BY p.voice) v
    ) tally ON true
   ORDER BY u.starts_at, u.id`;

// GET /rehearsals
export async function listRehearsals(req, res) {
  const { me } = req;
  const scope = me.offices.includes('conductor')
    ? '$2::bigint IS NOT NULL'
    : 'g.id IN (SELECT c.programme_id FROM cast_members c WHERE c.person_id = $2)';
  let n = int(req.query.n, 20);
  if (n < 1 || n > 50) n = 50;
  const skip = Math.max(0, int(req.query.skip, 0));
  const { rows } = await db.query(COMING_UP(scope), [me.society, me.id, n, skip]);
  res.json(
    rows.map((r) => ({
      id: r.id,
      title: r.title,
      place: r.place,
      startsAt: r.starts_at,
      calledOff: r.called_off_at !== null,
      mine: r.mine,
      coming: r.by_voice ?? {},
    })),
  );
}

### absence-board good
// GET /rehearsals/:id/answers, grouped by voice
export async function absenceBoard(req, res) {
  const { id, society, offices, leads } = req.me;
  const conductor = offices.includes('conductor');
  const voices = conductor ? ['soprano', 'alto', 'tenor', 'bass'] : leads ? [leads] : [];
  if (voices.length === 0) stop(403);

  const { rows } = await db.query(
    `WITH r AS (
       SELECT r.id, r.programme_id
         FROM rehearsals r
        WHERE r.id = $1 AND r.society_id = $2 AND r.deleted_at IS NULL
          AND r.programme_id IN (SELECT g.id FROM programmes g WHERE g.society_id = $2 AND g.deleted_at IS NULL)
     ), singers AS (
       SELECT p.id, p.name, p.voice, r.id AS rehearsal
         FROM r
         JOIN cast_members c ON c.programme_id = r.programme_id
         JOIN people p ON p.id = c.person_id
        WHERE p.society_id = $2 AND p.left_at IS NULL
     )
     SELECT s.voice,
            json_agg(json_build_object('name', s.name, 'coming', a.coming, 'reason', a.reason)
                     ORDER BY s.name, s.id) AS people,
            count(*) FILTER (WHERE a.coming = 'no')::int AS absent
       FROM singers s
       LEFT JOIN answers a ON a.rehearsal_id = s.rehearsal AND a.person_id = s.id
      WHERE s.voice = ANY ($3::voice[])
        AND ($4::boolean OR EXISTS (SELECT 1 FROM singers self WHERE self.id = $5))
      GROUP BY s.voice
      ORDER BY s.voice`,
    [int(req.params.id, 0), society, voices, conductor, id],
  );
  if (rows.length === 0) stop(404);
  res.json(rows);
}

### absence-board bad 6
// GET /rehearsals/:id/answers, grouped by voice
export async function absenceBoard(req, res) {
  const { id, society, offices, leads } = req.me;
  const conductor = offices.includes('conductor');
  const voices = conductor ? ['soprano', 'alto', 'tenor', 'bass'] : leads ? [leads] : [];
  if (voices.length === 0) stop(403);

  const { rows } = await db.query(
    `WITH r AS (
       SELECT r.id, r.programme_id
         FROM rehearsals r
        WHERE r.id = $1 AND r.society_id = $2 AND r.deleted_at IS NULL
          AND r.programme_id IN (SELECT g.id FROM programmes g WHERE g.society_id = $2 AND g.deleted_at IS NULL)
     ), singers AS (
       SELECT p.id, p.name, p.voice, r.id AS rehearsal
         FROM r
         JOIN cast_members c ON c.programme_id = r.programme_id
         JOIN people p ON p.id = c.person_id
        WHERE p.society_id = $2
     )
     SELECT s.voice,
            json_agg(json_build_object('name', s.name, 'coming', a.coming, 'reason', a.reason)
                     ORDER BY s.name, s.id) AS people,
            count(*) FILTER (WHERE a.coming = 'no')::int AS absent
       FROM singers s
       LEFT JOIN answers a ON a.rehearsal_id = s.rehearsal AND a.person_id = s.id
      WHERE s.voice = ANY ($3::voice[])
        AND ($4::boolean OR EXISTS (SELECT 1 FROM singers self WHERE self.id = $5))
      GROUP BY s.voice
      ORDER BY s.voice`,
    [int(req.params.id, 0), society, voices, conductor, id],
  );
  if (rows.length === 0) stop(404);
  res.json(rows);
}

### absence-board bad 1
// GET /rehearsals/:id/answers, grouped by voice
export async function absenceBoard(req, res) {
  const { id, offices, leads } = req.me;
  const conductor = offices.includes('conductor');
  const voices = conductor ? ['soprano', 'alto', 'tenor', 'bass'] : leads ? [leads] : [];
  if (voices.length === 0) stop(403);

  const { rows } = await db.query(
    `WITH r AS (
       SELECT r.id, r.programme_id
         FROM rehearsals r
        WHERE r.id = $1 AND r.deleted_at IS NULL
          AND r.programme_id IN (SELECT g.id FROM programmes g WHERE g.deleted_at IS NULL)
     ), singers AS (
       SELECT p.id, p.name, p.voice, r.id AS rehearsal
         FROM r
         JOIN cast_members c ON c.programme_id = r.programme_id
         JOIN people p ON p.id = c.person_id
        WHERE p.left_at IS NULL
     )
     SELECT s.voice,
            json_agg(json_build_object('name', s.name, 'coming', a.coming, 'reason', a.reason)
                     ORDER BY s.name, s.id) AS people,
            count(*) FILTER (WHERE a.coming = 'no')::int AS absent
       FROM singers s
       LEFT JOIN answers a ON a.rehearsal_id = s.rehearsal AND a.person_id = s.id
      WHERE s.voice = ANY ($2::voice[])
        AND ($3::boolean OR EXISTS (SELECT 1 FROM singers self WHERE self.id = $4))
      GROUP BY s.voice
      ORDER BY s.voice`,
    [int(req.params.id, 0), voices, conductor, id],
  );
  if (rows.length === 0) stop(404);
  res.json(rows);
}

### absence-board bad 4,5
// GET /rehearsals/:id/answers : for the conductor, and for the leader of a voice
export async function absenceBoard(req, res) {
  const { me } = req;
  const all = me.offices.includes('conductor');
  if (!all && me.leads === null) stop(403);
  const rehearsal = int(req.params.id, 0);

  const head = await db.query(
    `SELECT r.starts_at, r.place, r.called_off_at, g.id AS programme
       FROM rehearsals r
       JOIN programmes g ON g.id = r.programme_id AND g.society_id = r.society_id
      WHERE r.id = $1 AND r.society_id = $2 AND r.deleted_at IS NULL AND g.deleted_at IS NULL
        AND ($3::boolean OR EXISTS (
              SELECT 1 FROM cast_members c WHERE c.programme_id = g.id AND c.person_id = $4))`,
    [rehearsal, me.society, all, me.id],
  );
  if (head.rowCount === 0) stop(404);
  const { programme, ...info } = head.rows[0];

  const { rows } = await db.query(
    `SELECT p.id, p.name, p.voice, coalesce(a.coming::text, 'silent') AS coming, a.reason, a.answered_at
       FROM cast_members c
       JOIN people p ON p.id = c.person_id AND p.society_id = $2 AND p.left_at IS NULL
       LEFT JOIN answers a ON a.rehearsal_id = $3 AND a.person_id = p.id
      WHERE c.programme_id = $1
      ORDER BY p.voice, p.name, p.id`,
    [programme, me.society, rehearsal],
  );
  res.set('Cache-Control', 'no-store').json({ ...info, answers: rows });
}

### absence-board bad 4
// GET /rehearsals/:id/answers : for the conductor, and for the leader of a voice
export async function absenceBoard(req, res) {
  const { me } = req;
  const all = me.offices.includes('conductor');
  if (!all && me.leads === null) stop(403);
  const rehearsal = int(req.params.id, 0);

  const head = await db.query(
    `SELECT r.starts_at, r.place, r.called_off_at, g.id AS programme
       FROM rehearsals r
       JOIN programmes g ON g.id = r.programme_id AND g.society_id = r.society_id
      WHERE r.id = $1 AND r.society_id = $2 AND r.deleted_at IS NULL AND g.deleted_at IS NULL
        AND ($3::boolean OR EXISTS (
              SELECT 1 FROM cast_members c WHERE c.programme_id = g.id AND c.person_id = $4))`,
    [rehearsal, me.society, all, me.id],
  );
  if (head.rowCount === 0) stop(404);
  const { programme, ...info } = head.rows[0];

  const { rows } = await db.query(
    `SELECT p.id, p.name, p.voice, p.phone, coalesce(a.coming::text, 'silent') AS coming, a.reason, a.answered_at
       FROM cast_members c
       JOIN people p ON p.id = c.person_id AND p.society_id = $2 AND p.left_at IS NULL
       LEFT JOIN answers a ON a.rehearsal_id = $3 AND a.person_id = p.id
      WHERE c.programme_id = $1
        AND ($4::boolean OR p.voice = $5)
      ORDER BY p.voice, p.name, p.id`,
    [programme, me.society, rehearsal, all, me.leads],
  );
  res.set('Cache-Control', 'no-store').json({ ...info, answers: rows });
}

### absence-board good
// GET /rehearsals/:id/answers : for the conductor, and for the leader of a voice
export async function absenceBoard(req, res) {
  const { me } = req;
  const all = me.offices.includes('conductor');
  if (!all && me.leads === null) stop(403);
  const rehearsal = int(req.params.id, 0);

  const head = await db.query(
    `SELECT r.starts_at, r.place, r.called_off_at, g.id AS programme
       FROM rehearsals r
       JOIN programmes g ON g.id = r.programme_id AND g.society_id = r.society_id
      WHERE r.id = $1 AND r.society_id = $2 AND r.deleted_at IS NULL AND g.deleted_at IS NULL
        AND ($3::boolean OR EXISTS (
              SELECT 1 FROM cast_members c WHERE c.programme_id = g.id AND c.person_id = $4))`,
    [rehearsal, me.society, all, me.id],
  );
  if (head.rowCount === 0) stop(404);
  const { programme, ...info } = head.rows[0];

  const { rows } = await db.query(
    `SELECT p.id, p.name, p.voice, coalesce(a.coming::text, 'silent') AS coming, a.reason, a.answered_at
       FROM cast_members c
       JOIN people p ON p.id = c.person_id AND p.society_id = $2 AND p.left_at IS NULL
       LEFT JOIN answers a ON a.rehearsal_id = $3 AND a.person_id = p.id
      WHERE c.programme_id = $1
        AND ($4::boolean OR p.voice = $5)
      ORDER BY p.voice, p.name, p.id`,
    [programme, me.society, rehearsal, all, me.leads],
  );
  res.set('Cache-Control', 'no-store').json({ ...info, answers: rows });
}

### donor-wall bad 12
// GET /:slug/donors : public
export async function donorWall(req, res) {
  const found = await db.query('SELECT id, name, time_zone FROM societies WHERE slug = $1', [req.params.slug]);
  if (found.rowCount === 0) stop(404);
  const society = found.rows[0];
  const page = Math.min(Math.max(int(req.query.page, 0), 0), 500);

  const { rows } = await db.query(
    `SELECT p.name, d.message
       FROM donations d
       JOIN people p ON p.id = d.donor_id AND p.society_id = d.society_id AND p.left_at IS NULL
      WHERE d.society_id = $1
        AND d.deleted_at IS NULL
        AND d.state = 'received'
        AND NOT d.anonymous
        AND date_trunc('year', d.received_at AT TIME ZONE $2) = date_trunc('year', now() AT TIME ZONE $2)
      ORDER BY d.received_at DESC, d.id DESC
      LIMIT 20 OFFSET $3`,
    [society.id, society.time_zone, page * 20],
  );
  const cards = rows
    .map((d) => {
      const message = d.message ? `<blockquote>${d.message.replace(/<[^>]*>/g, '').replaceAll('\n', '<br>')}</blockquote>` : '';
      return `<li title="${esc(d.name)}"><b>${esc(d.name)}</b>${message}</li>`;
    })
    .join('\n');
  res.set('Cache-Control', 'public, max-age=300');
  res.type('html').send(
    shell(`Friends of ${society.name}`, `<h1>Thank you</h1><ul class="wall">${cards}</ul><a rel="next" href="?page=${page + 1}">more</a>`),
  );
}

### donor-wall bad 9
class Markup {
  constructor(text) { this.text = text; }
}
// html`…` escapes every value that is not Markup itself
function html(parts, ...values) {
  const one = (v) => (v instanceof Markup ? v.text : Array.isArray(v) ? v.map(one).join('') : esc(String(v ?? '')));
  return new Markup(parts.reduce((out, part, i) => out + one(values[i - 1]) + part));
}

// GET /:slug/donors?n=20
export async function donorWall(req, res) {
  const n = Math.max(1, Math.min(50, int(req.query.n, 20)));
  const { rows } = await db.query(
    `WITH s AS (
       SELECT id, name, time_zone,
              date_trunc('year', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' AS year_start
         FROM societies WHERE slug = $1
     )
     SELECT s.name AS society, w.*
       FROM s
       LEFT JOIN LATERAL (
         SELECT d.id, p.name, d.message
           FROM donations d JOIN people p ON p.id = d.donor_id
          WHERE d.society_id = s.id AND p.society_id = s.id
            AND d.deleted_at IS NULL AND p.left_at IS NULL
            AND d.state = 'received' AND d.anonymous = false
            AND d.received_at >= s.year_start
          ORDER BY d.received_at DESC, d.id DESC
          LIMIT $2
       ) w ON true`,
    [req.params.slug, n],
  );
  if (rows.length === 0) stop(404);
  const wall = rows
    .filter((w) => w.id !== null)
    .map((w) => html`<article><h2>${w.name}</h2><p data-gift="${w.id}">${w.message}</p></article>`);
  const body = html`<h1>${rows[0].society} says thank you</h1>${wall}`;
  res.type('html').send(shell(rows[0].society, body.text));
}

### donor-wall good
class Markup {
  constructor(text) { this.text = text; }
}
// html`…` escapes every value that is not Markup itself
function html(parts, ...values) {
  const one = (v) => (v instanceof Markup ? v.text : Array.isArray(v) ? v.map(one).join('') : esc(String(v ?? '')));
  return new Markup(parts.reduce((out, part, i) => out + one(values[i - 1]) + part));
}

// GET /:slug/donors?n=20
export async function donorWall(req, res) {
  const n = Math.max(1, Math.min(50, int(req.query.n, 20)));
  const { rows } = await db.query(
    `WITH s AS (
       SELECT id, name, time_zone,
              date_trunc('year', now() AT TIME ZONE time_zone) AT TIME ZONE time_zone AS year_start
         FROM societies WHERE slug = $1
     )
     SELECT s.name AS society, w.*
       FROM s
       LEFT JOIN LATERAL (
         SELECT d.id, p.name, d.message
           FROM donations d JOIN people p ON p.id = d.donor_id
          WHERE d.society_id = s.id AND p.society_id = s.id
            AND d.deleted_at IS NULL AND p.left_at IS NULL
            AND d.state = 'received' AND d.anonymous = false
            AND d.received_at >= s.year_start
          ORDER BY d.received_at DESC, d.id DESC
          LIMIT $2
       ) w ON true`,
    [req.params.slug, n],
  );
  if (rows.length === 0) stop(404);
  const wall = rows
    .filter((w) => w.id !== null)
    .map((w) => html`<article><h2>${w.name}</h2><p data-gift="${w.id}">${w.message}</p></article>`);
  const body = html`<h1>${rows[0].society} says thank you</h1>${wall}`;
  res.type('html').send(shell(rows[0].society, body.text));
}

### donor-wall bad 4
class Markup {
  constructor(text) { this.text = text; }
}
// html`…` escapes every value that is not Markup itself
function html(parts, ...values) {
  const one = (v) => (v instanceof Markup ? v.text : Array.isArray(v) ? v.map(one).join('') : esc(String(v ?? '')));
  return new Markup(parts.reduce((out, part, i) => out + one(values[i - 1]) + part));
}

// GET /:slug/donors?n=20
export async function donorWall(req, res) {
  const n = Math.max(1, Math.min(50, int(req.query.n, 20)));
  const { rows } = await db.query(
    `WITH s AS (
       SELECT id, name, time_zone,
              date_trunc('year', now() AT TIME ZONE time_zone) AT TIME ZONE time_zone AS year_start
         FROM societies WHERE slug = $1
     )
     SELECT s.name AS society, w.*
       FROM s
       LEFT JOIN LATERAL (
         SELECT d.id, d.message,
                CASE WHEN d.anonymous THEN 'A friend of the music' ELSE p.name END AS name
           FROM donations d JOIN people p ON p.id = d.donor_id
          WHERE d.society_id = s.id AND p.society_id = s.id
            AND d.deleted_at IS NULL AND p.left_at IS NULL
            AND d.state = 'received'
            AND d.received_at >= s.year_start
          ORDER BY d.received_at DESC, d.id DESC
          LIMIT $2
       ) w ON true`,
    [req.params.slug, n],
  );
  if (rows.length === 0) stop(404);
  const wall = rows
    .filter((w) => w.id !== null)
    .map((w) => html`<article><h2>${w.name}</h2><p data-gift="${w.id}">${w.message}</p></article>`);
  const body = html`<h1>${rows[0].society} says thank you</h1>${wall}`;
  res.type('html').send(shell(rows[0].society, body.text));
}

### donor-wall good
// GET /:slug/donors : public
export async function donorWall(req, res) {
  const found = await db.query('SELECT id, name, time_zone FROM societies WHERE slug = $1', [req.params.slug]);
  if (found.rowCount === 0) stop(404);
  const society = found.rows[0];
  const page = Math.min(Math.max(int(req.query.page, 0), 0), 500);

  const { rows } = await db.query(
    `SELECT p.name, d.message
       FROM donations d
       JOIN people p ON p.id = d.donor_id AND p.society_id = d.society_id AND p.left_at IS NULL
      WHERE d.society_id = $1
        AND d.deleted_at IS NULL
        AND d.state = 'received'
        AND NOT d.anonymous
        AND date_trunc('year', d.received_at AT TIME ZONE $2) = date_trunc('year', now() AT TIME ZONE $2)
      ORDER BY d.received_at DESC, d.id DESC
      LIMIT 20 OFFSET $3`,
    [society.id, society.time_zone, page * 20],
  );
  const cards = rows
    .map((d) => {
      const message = d.message ? `<blockquote>${esc(d.message).replaceAll('\n', '<br>')}</blockquote>` : '';
      return `<li title="${esc(d.name)}"><b>${esc(d.name)}</b>${message}</li>`;
    })
    .join('\n');
  res.set('Cache-Control', 'public, max-age=300');
  res.type('html').send(
    shell(`Friends of ${society.name}`, `<h1>Thank you</h1><ul class="wall">${cards}</ul><a rel="next" href="?page=${page + 1}">more</a>`),
  );
}

### donor-wall bad 6
// GET /:slug/donors : public
export async function donorWall(req, res) {
  const found = await db.query('SELECT id, name, time_zone FROM societies WHERE slug = $1', [req.params.slug]);
  if (found.rowCount === 0) stop(404);
  const society = found.rows[0];
  const page = Math.min(Math.max(int(req.query.page, 0), 0), 500);

  const { rows } = await db.query(
    `SELECT p.name, d.message
       FROM donations d
       JOIN people p ON p.id = d.donor_id AND p.society_id = d.society_id
      WHERE d.society_id = $1
        AND d.deleted_at IS NULL
        AND d.state = 'received'
        AND NOT d.anonymous
        AND date_trunc('year', d.received_at AT TIME ZONE $2) = date_trunc('year', now() AT TIME ZONE $2)
      ORDER BY d.received_at DESC, d.id DESC
      LIMIT 20 OFFSET $3`,
    [society.id, society.time_zone, page * 20],
  );
  const cards = rows
    .map((d) => {
      const message = d.message ? `<blockquote>${esc(d.message).replaceAll('\n', '<br>')}</blockquote>` : '';
      return `<li title="${esc(d.name)}"><b>${esc(d.name)}</b>${message}</li>`;
    })
    .join('\n');
  res.set('Cache-Control', 'public, max-age=300');
  res.type('html').send(
    shell(`Friends of ${society.name}`, `<h1>Thank you</h1><ul class="wall">${cards}</ul><a rel="next" href="?page=${page + 1}">more</a>`),
  );
}

### donation-report good
function reportOrder({ sort, dir }) {
  const down = dir !== 'asc';
  switch (sort) {
    case 'amount':
      return down ? 'total DESC, donor_id' : 'total, donor_id';
    case 'gifts':
      return down ? 'gifts DESC, donor_id' : 'gifts, donor_id';
    default:
      return 'latest DESC NULLS LAST, donor_id';
  }
}

// GET /donations/by-donor?sort=amount&dir=desc : what each donor gave this year, for the treasurer
export async function donationReport(req, res) {
  const me = req.me;
  if (!me.offices.some((o) => o === 'treasurer')) stop(403);
  let n = int(req.query.n, 20);
  n = n < 1 ? 20 : n > 50 ? 50 : n;
  const offset = Math.max(0, Math.min(100_000, int(req.query.offset, 0)));
  const { rows } = await db.query(
    `WITH gifts AS (
       SELECT d.donor_id, d.amount_cents, d.received_at
         FROM donations d
        WHERE d.society_id = $1 AND d.deleted_at IS NULL
          AND d.state IN ('received', 'refund_asked')
          AND extract(year FROM d.received_at AT TIME ZONE (SELECT time_zone FROM societies WHERE id = $1))
            = extract(year FROM society_today($1))
     ), per_donor AS (
       SELECT donor_id, sum(amount_cents)::int AS total, count(*)::int AS gifts, max(received_at) AS latest,
              round(100.0 * sum(amount_cents) / sum(sum(amount_cents)) OVER (), 1) AS share
         FROM gifts GROUP BY donor_id
     )
     SELECT t.donor_id, t.total, t.gifts, t.latest, t.share,
            (SELECT p.name FROM people p
              WHERE p.id = t.donor_id AND p.society_id = $1 AND p.left_at IS NULL) AS donor
       FROM per_donor t
      ORDER BY ${reportOrder(req.query)}
      LIMIT $2 OFFSET $3`,
    [me.society, n, offset],
  );
  res.json(rows);
}

### donation-report bad 12
const REPORT_ORDER = new Map([
  ['date', 'd.received_at'],
  ['amount', 'd.amount_cents'],
  ['donor', 'p.name'],
]);

// GET /donations?year=2025&sort=amount&dir=desc&n=20&page=0 : the treasurer's list
export async function donationReport(req, res) {
  const { society, offices } = req.me;
  if (!offices.includes('treasurer')) stop(403);
  const column = REPORT_ORDER.get(req.query.sort) ?? 'd.received_at';
  const dir = String(req.query.dir ?? 'desc').toUpperCase();
  const n = Math.min(50, Math.max(1, int(req.query.n, 20)));
  const page = Math.min(2000, Math.max(0, int(req.query.page, 0)));
  const { rows } = await db.query(
    `SELECT d.id, p.name AS donor, d.amount_cents, d.anonymous, d.message, d.state, d.received_at
       FROM donations d
       JOIN societies s ON s.id = d.society_id
       LEFT JOIN people p ON p.id = d.donor_id AND p.society_id = d.society_id AND p.left_at IS NULL
      WHERE d.society_id = $1
        AND d.deleted_at IS NULL
        AND ($2::int = 0 OR extract(year FROM d.received_at AT TIME ZONE s.time_zone) = $2::int)
      ORDER BY ${column} ${dir} NULLS LAST, d.id
      LIMIT $3 OFFSET $4`,
    [society, int(req.query.year, 0), n, n * page],
  );
  log.info({ society, treasurer: req.me.id, rows: rows.length }, 'donation report');
  res.set('Cache-Control', 'no-store').json(rows);
}

### donation-report bad 4,5
const REPORT_ORDER = new Map([
  ['date', 'd.received_at'],
  ['amount', 'd.amount_cents'],
  ['donor', 'p.name'],
]);

// GET /donations?year=2025&sort=amount&dir=desc&n=20&page=0 : the treasurer's list
export async function donationReport(req, res) {
  const { society, offices } = req.me;
  if (!offices.includes('treasurer') && !offices.includes('secretary')) stop(403);
  const column = REPORT_ORDER.get(req.query.sort) ?? 'd.received_at';
  const dir = req.query.dir === 'asc' ? 'ASC' : 'DESC';
  const n = Math.min(50, Math.max(1, int(req.query.n, 20)));
  const page = Math.min(2000, Math.max(0, int(req.query.page, 0)));
  const { rows } = await db.query(
    `SELECT d.id, p.name AS donor, d.amount_cents, d.anonymous, d.message, d.state, d.received_at
       FROM donations d
       JOIN societies s ON s.id = d.society_id
       LEFT JOIN people p ON p.id = d.donor_id AND p.society_id = d.society_id AND p.left_at IS NULL
      WHERE d.society_id = $1
        AND d.deleted_at IS NULL
        AND ($2::int = 0 OR extract(year FROM d.received_at AT TIME ZONE s.time_zone) = $2::int)
      ORDER BY ${column} ${dir} NULLS LAST, d.id
      LIMIT $3 OFFSET $4`,
    [society, int(req.query.year, 0), n, n * page],
  );
  log.info({ society, treasurer: req.me.id, rows: rows.length }, 'donation report');
  res.set('Cache-Control', 'no-store').json(rows);
}

### donation-report bad 7
function reportOrder({ sort, dir }) {
  const down = dir !== 'asc';
  switch (sort) {
    case 'amount':
      return down ? 'total DESC, donor_id' : 'total, donor_id';
    case 'gifts':
      return down ? 'gifts DESC, donor_id' : 'gifts, donor_id';
    default:
      return 'latest DESC NULLS LAST, donor_id';
  }
}

// GET /donations/by-donor?sort=amount&dir=desc : what each donor gave this year, for the treasurer
export async function donationReport(req, res) {
  const me = req.me;
  if (!me.offices.some((o) => o === 'treasurer')) stop(403);
  let n = int(req.query.n, 20);
  n = n < 1 ? 20 : n > 500 ? 500 : n;
  const offset = Math.max(0, Math.min(100_000, int(req.query.offset, 0)));
  const { rows } = await db.query(
    `WITH gifts AS (
       SELECT d.donor_id, d.amount_cents, d.received_at
         FROM donations d
        WHERE d.society_id = $1 AND d.deleted_at IS NULL
          AND d.state IN ('received', 'refund_asked')
          AND extract(year FROM d.received_at AT TIME ZONE (SELECT time_zone FROM societies WHERE id = $1))
            = extract(year FROM society_today($1))
     ), per_donor AS (
       SELECT donor_id, sum(amount_cents)::int AS total, count(*)::int AS gifts, max(received_at) AS latest,
              round(100.0 * sum(amount_cents) / sum(sum(amount_cents)) OVER (), 1) AS share
         FROM gifts GROUP BY donor_id
     )
     SELECT t.donor_id, t.total, t.gifts, t.latest, t.share,
            (SELECT p.name FROM people p
              WHERE p.id = t.donor_id AND p.society_id = $1 AND p.left_at IS NULL) AS donor
       FROM per_donor t
      ORDER BY ${reportOrder(req.query)}
      LIMIT $2 OFFSET $3`,
    [me.society, n, offset],
  );
  res.json(rows);
}

### donation-report good
const REPORT_ORDER = new Map([
  ['date', 'd.received_at'],
  ['amount', 'd.amount_cents'],
  ['donor', 'p.name'],
]);

// GET /donations?year=2025&sort=amount&dir=desc&n=20&page=0 : the treasurer's list
export async function donationReport(req, res) {
  const { society, offices } = req.me;
  if (!offices.includes('treasurer')) stop(403);
  const column = REPORT_ORDER.get(req.query.sort) ?? 'd.received_at';
  const dir = req.query.dir === 'asc' ? 'ASC' : 'DESC';
  const n = Math.min(50, Math.max(1, int(req.query.n, 20)));
  const page = Math.min(2000, Math.max(0, int(req.query.page, 0)));
  const { rows } = await db.query(
    `SELECT d.id, p.name AS donor, d.amount_cents, d.anonymous, d.message, d.state, d.received_at
       FROM donations d
       JOIN societies s ON s.id = d.society_id
       LEFT JOIN people p ON p.id = d.donor_id AND p.society_id = d.society_id AND p.left_at IS NULL
      WHERE d.society_id = $1
        AND d.deleted_at IS NULL
        AND ($2::int = 0 OR extract(year FROM d.received_at AT TIME ZONE s.time_zone) = $2::int)
      ORDER BY ${column} ${dir} NULLS LAST, d.id
      LIMIT $3 OFFSET $4`,
    [society, int(req.query.year, 0), n, n * page],
  );
  log.info({ society, treasurer: req.me.id, rows: rows.length }, 'donation report');
  res.set('Cache-Control', 'no-store').json(rows);
}

### donation-report bad 6
function reportOrder({ sort, dir }) {
  const down = dir !== 'asc';
  switch (sort) {
    case 'amount':
      return down ? 'total DESC, donor_id' : 'total, donor_id';
    case 'gifts':
      return down ? 'gifts DESC, donor_id' : 'gifts, donor_id';
    default:
      return 'latest DESC NULLS LAST, donor_id';
  }
}

// GET /donations/by-donor?sort=amount&dir=desc : what each donor gave this year, for the treasurer
export async function donationReport(req, res) {
  const me = req.me;
  if (!me.offices.some((o) => o === 'treasurer')) stop(403);
  let n = int(req.query.n, 20);
  n = n < 1 ? 20 : n > 50 ? 50 : n;
  const offset = Math.max(0, Math.min(100_000, int(req.query.offset, 0)));
  const { rows } = await db.query(
    `WITH gifts AS (
       SELECT d.donor_id, d.amount_cents, d.received_at
         FROM donations d
        WHERE d.society_id = $1 AND d.deleted_at IS NULL
          AND d.state IN ('received', 'refund_asked')
          AND extract(year FROM d.received_at AT TIME ZONE (SELECT time_zone FROM societies WHERE id = $1))
            = extract(year FROM society_today($1))
     ), per_donor AS (
       SELECT donor_id, sum(amount_cents)::int AS total, count(*)::int AS gifts, max(received_at) AS latest,
              round(100.0 * sum(amount_cents) / sum(sum(amount_cents)) OVER (), 1) AS share
         FROM gifts GROUP BY donor_id
     )
     SELECT t.donor_id, t.total, t.gifts, t.latest, t.share,
            (SELECT p.name FROM people p
              WHERE p.id = t.donor_id AND p.society_id = $1) AS donor
       FROM per_donor t
      ORDER BY ${reportOrder(req.query)}
      LIMIT $2 OFFSET $3`,
    [me.society, n, offset],
  );
  res.json(rows);
}

### shared-score bad 9
const sha = (text) => crypto.createHash('sha256').update(text).digest();

// GET /s/:token : public, for a deputy without an account
export async function sharedScore(req, res) {
  const { rows } = await db.query(
    `UPDATE score_links l
        SET uses_left = l.uses_left - 1
       FROM scores s
      WHERE l.token_hash = $1
        AND l.uses_left > 0
        AND l.expires_at > now()
        AND l.withdrawn_at IS NULL
        AND s.id = l.score_id AND s.society_id = l.society_id
        AND s.deleted_at IS NULL
      RETURNING l.id AS link, s.id AS score, s.society_id AS society, s.file_name`,
    [sha(req.params.token)],
  );
  if (rows.length === 0) stop(404);
  const { link, score, society, file_name: name } = rows[0];
  if (name !== path.basename(name) || name === '.' || name === '..') stop(404);
  const pdf = await fs.readFile(path.join(MUSIC, String(society), name));
  log.info({ link, score }, 'score opened by link');
  res.set('Referrer-Policy', 'no-referrer');
  res.set('Cache-Control', 'no-store');
  res.type('application/pdf').send(pdf);
}

### shared-score bad 11
function inside(home, name) {
  const file = path.resolve(home, name);
  const way = path.relative(home, file);
  return way !== '' && way.split(path.sep)[0] !== '..' && !path.isAbsolute(way) ? file : null;
}

// GET /s/:token
export async function sharedScore(req, res) {
  const hash = crypto.createHash('sha256').update(String(req.params.token)).digest();
  const file = await db.tx(async (t) => {
    const { rows } = await t.query(
      `SELECT l.id, l.uses_left, s.society_id, s.file_name,
              l.withdrawn_at IS NULL AND l.expires_at > now() AS open,
              coalesce(s.licence_until > now(), true) AS licensed
         FROM score_links l
         JOIN scores s ON s.id = l.score_id AND s.society_id = l.society_id AND s.deleted_at IS NULL
        WHERE l.token_hash = $1`,
      [hash],
    );
    const link = rows[0];
    if (!link || !link.open || !link.licensed || link.uses_left < 1) stop(404);
    await t.query('UPDATE score_links SET uses_left = uses_left - 1 WHERE id = $1 AND society_id = $2', [
      link.id,
      link.society_id,
    ]);
    return inside(path.join(MUSIC, String(link.society_id)), link.file_name);
  });
  if (file === null) stop(404);
  const pdf = await fs.readFile(file);
  res.set({ 'Content-Type': 'application/pdf', 'Referrer-Policy': 'no-referrer', 'Cache-Control': 'no-store' });
  res.end(pdf);
}

### shared-score bad 13
const sha = (text) => crypto.createHash('sha256').update(text).digest();

// GET /s/:token : public, for a deputy without an account
export async function sharedScore(req, res) {
  const { rows } = await db.query(
    `UPDATE score_links l
        SET uses_left = l.uses_left - 1
       FROM scores s
      WHERE l.token_hash = $1
        AND l.uses_left > 0
        AND l.expires_at > now()
        AND l.withdrawn_at IS NULL
        AND s.id = l.score_id AND s.society_id = l.society_id
        AND s.deleted_at IS NULL
        AND (s.licence_until IS NULL OR s.licence_until > now())
      RETURNING l.id AS link, s.id AS score, s.society_id AS society, s.file_name`,
    [sha(req.params.token)],
  );
  if (rows.length === 0) stop(404);
  const { link, score, society, file_name: name } = rows[0];
  if (name !== path.basename(name) || name === '.' || name === '..') stop(404);
  const pdf = await fs.readFile(path.join(MUSIC, String(society), name));
  log.info({ link, score, from: req.originalUrl }, 'score opened by link');
  res.set('Referrer-Policy', 'no-referrer');
  res.set('Cache-Control', 'no-store');
  res.type('application/pdf').send(pdf);
}

### shared-score good
const sha = (text) => crypto.createHash('sha256').update(text).digest();

// GET /s/:token : public, for a deputy without an account
export async function sharedScore(req, res) {
  const { rows } = await db.query(
    `UPDATE score_links l
        SET uses_left = l.uses_left - 1
       FROM scores s
      WHERE l.token_hash = $1
        AND l.uses_left > 0
        AND l.expires_at > now()
        AND l.withdrawn_at IS NULL
        AND s.id = l.score_id AND s.society_id = l.society_id
        AND s.deleted_at IS NULL
        AND (s.licence_until IS NULL OR s.licence_until > now())
      RETURNING l.id AS link, s.id AS score, s.society_id AS society, s.file_name`,
    [sha(req.params.token)],
  );
  if (rows.length === 0) stop(404);
  const { link, score, society, file_name: name } = rows[0];
  if (name !== path.basename(name) || name === '.' || name === '..') stop(404);
  const pdf = await fs.readFile(path.join(MUSIC, String(society), name));
  log.info({ link, score }, 'score opened by link');
  res.set('Referrer-Policy', 'no-referrer');
  res.set('Cache-Control', 'no-store');
  res.type('application/pdf').send(pdf);
}

### shared-score bad 13
function inside(home, name) {
  const file = path.resolve(home, name);
  return file !== home && file.startsWith(home) ? file : null;
}

// GET /s/:token
export async function sharedScore(req, res) {
  const hash = crypto.createHash('sha256').update(String(req.params.token)).digest();
  const file = await db.tx(async (t) => {
    const { rows } = await t.query(
      `SELECT l.id, l.uses_left, s.society_id, s.file_name,
              l.withdrawn_at IS NULL AND l.expires_at > now() AS open,
              coalesce(s.licence_until > now(), true) AS licensed
         FROM score_links l
         JOIN scores s ON s.id = l.score_id AND s.society_id = l.society_id AND s.deleted_at IS NULL
        WHERE l.token_hash = $1
          FOR UPDATE OF l`,
      [hash],
    );
    const link = rows[0];
    if (!link || !link.open || !link.licensed || link.uses_left < 1) stop(404);
    await t.query('UPDATE score_links SET uses_left = uses_left - 1 WHERE id = $1 AND society_id = $2', [
      link.id,
      link.society_id,
    ]);
    return inside(path.join(MUSIC, String(link.society_id)), link.file_name);
  });
  if (file === null) stop(404);
  const pdf = await fs.readFile(file);
  res.set({ 'Content-Type': 'application/pdf', 'Referrer-Policy': 'no-referrer', 'Cache-Control': 'no-store' });
  res.end(pdf);
}

### shared-score good
function inside(home, name) {
  const file = path.resolve(home, name);
  const way = path.relative(home, file);
  return way !== '' && way.split(path.sep)[0] !== '..' && !path.isAbsolute(way) ? file : null;
}

// GET /s/:token
export async function sharedScore(req, res) {
  const hash = crypto.createHash('sha256').update(String(req.params.token)).digest();
  const file = await db.tx(async (t) => {
    const { rows } = await t.query(
      `SELECT l.id, l.uses_left, s.society_id, s.file_name,
              l.withdrawn_at IS NULL AND l.expires_at > now() AS open,
              coalesce(s.licence_until > now(), true) AS licensed
         FROM score_links l
         JOIN scores s ON s.id = l.score_id AND s.society_id = l.society_id AND s.deleted_at IS NULL
        WHERE l.token_hash = $1
          FOR UPDATE OF l`,
      [hash],
    );
    const link = rows[0];
    if (!link || !link.open || !link.licensed || link.uses_left < 1) stop(404);
    await t.query('UPDATE score_links SET uses_left = uses_left - 1 WHERE id = $1 AND society_id = $2', [
      link.id,
      link.society_id,
    ]);
    return inside(path.join(MUSIC, String(link.society_id)), link.file_name);
  });
  if (file === null) stop(404);
  const pdf = await fs.readFile(file);
  res.set({ 'Content-Type': 'application/pdf', 'Referrer-Policy': 'no-referrer', 'Cache-Control': 'no-store' });
  res.end(pdf);
}

### borrow-copy bad 9
const TAKE_OUT = `
  WITH running AS (
    SELECT ps.score_id
      FROM programmes g
      JOIN programme_scores ps ON ps.programme_id = g.id
      JOIN cast_members c ON c.programme_id = g.id
     WHERE g.society_id = $2 AND g.deleted_at IS NULL AND c.person_id = $3
       AND daterange(g.starts_on, g.ends_on, '[]') @> society_today($2)
  )
  INSERT INTO copies (society_id, score_id, person_id)
  SELECT s.society_id, s.id, $3
    FROM scores s
   WHERE s.id = $1 AND s.society_id = $2 AND s.deleted_at IS NULL
     AND ($4::boolean OR s.id IN (SELECT score_id FROM running))
     AND NOT EXISTS (
       SELECT 1 FROM copies c
        WHERE c.score_id = s.id AND c.society_id = s.society_id AND c.person_id = $3 AND c.returned_at IS NULL)
     AND s.licence_copies > (
       SELECT count(*) FROM copies c
        WHERE c.score_id = s.id AND c.society_id = s.society_id AND c.returned_at IS NULL)
  RETURNING id, taken_at`;

// POST /scores/:id/copies
export async function borrowCopy(req, res) {
  const { me } = req;
  if (me.kind === 'friend') stop(403);
  const score = int(req.params.id, 0);
  const keeper = ['librarian', 'conductor'].some((o) => me.offices.includes(o));
  const { rows } = await db.tx(async (t) => {
    await t.query("SELECT pg_advisory_xact_lock(hashtextextended('copies of ' || $1::bigint, 1))", [score]);
    return t.query(TAKE_OUT, [score, me.society, me.id, keeper]);
  });
  if (rows.length === 0) stop(409);
  log.info({ score, copy: rows[0].id }, 'copy taken out');
  res.status(201).json({ id: rows[0].id, takenAt: rows[0].taken_at });
}

### borrow-copy good
// POST /scores/:id/copies : take out one of the licensed copies
export async function borrowCopy(req, res) {
  const { id: me, society, kind, offices } = req.me;
  if (kind === 'friend') stop(403);
  const keeper = offices.includes('librarian') || offices.includes('conductor');
  const scoreId = int(req.params.id, 0);

  const copy = await db.tx(async (t) => {
    const score = await t.query(
      `SELECT s.id, s.licence_copies
         FROM scores s
        WHERE s.id = $1 AND s.society_id = $2 AND s.deleted_at IS NULL
          AND (s.licence_until IS NULL OR s.licence_until > now())
          AND ($4::boolean OR EXISTS (
                SELECT 1 FROM cast_members c
                  JOIN programmes g ON g.id = c.programme_id AND g.society_id = s.society_id
                  JOIN programme_scores ps ON ps.programme_id = g.id AND ps.score_id = s.id
                 WHERE c.person_id = $3 AND g.deleted_at IS NULL
                   AND g.starts_on <= society_today(s.society_id)
                   AND g.ends_on >= society_today(s.society_id)))
          FOR UPDATE OF s`,
      [scoreId, society, me, keeper],
    );
    if (score.rowCount === 0) stop(404);
    const { rows } = await t.query(
      `SELECT count(*)::int AS out, count(*) FILTER (WHERE person_id = $3)::int AS mine
         FROM copies WHERE score_id = $1 AND society_id = $2 AND returned_at IS NULL`,
      [scoreId, society, me],
    );
    if (rows[0].mine > 0 || rows[0].out >= score.rows[0].licence_copies) stop(409);
    const made = await t.query(
      'INSERT INTO copies (society_id, score_id, person_id) VALUES ($1, $2, $3) RETURNING id, taken_at',
      [society, scoreId, me],
    );
    return made.rows[0];
  });
  res.status(201).json(copy);
}

### borrow-copy bad 11
const TAKE_OUT = `
  WITH running AS (
    SELECT ps.score_id
      FROM programmes g
      JOIN programme_scores ps ON ps.programme_id = g.id
      JOIN cast_members c ON c.programme_id = g.id
     WHERE g.society_id = $2 AND g.deleted_at IS NULL AND c.person_id = $3
       AND daterange(g.starts_on, g.ends_on, '[]') @> society_today($2)
  )
  INSERT INTO copies (society_id, score_id, person_id)
  SELECT s.society_id, s.id, $3
    FROM scores s
   WHERE s.id = $1 AND s.society_id = $2 AND s.deleted_at IS NULL
     AND coalesce(s.licence_until, 'infinity') > now()
     AND ($4::boolean OR s.id IN (SELECT score_id FROM running))
     AND NOT EXISTS (
       SELECT 1 FROM copies c
        WHERE c.score_id = s.id AND c.society_id = s.society_id AND c.person_id = $3 AND c.returned_at IS NULL)
     AND s.licence_copies > (
       SELECT count(*) FROM copies c
        WHERE c.score_id = s.id AND c.society_id = s.society_id AND c.returned_at IS NULL)
  RETURNING id, taken_at`;

// POST /scores/:id/copies
export async function borrowCopy(req, res) {
  const { me } = req;
  if (me.kind === 'friend') stop(403);
  const score = int(req.params.id, 0);
  const keeper = ['librarian', 'conductor'].some((o) => me.offices.includes(o));
  const { rows } = await db.tx(async (t) => {
    await t.query('SELECT 1 FROM scores WHERE id = $1 AND society_id = $2 FOR SHARE', [score, me.society]);
    return t.query(TAKE_OUT, [score, me.society, me.id, keeper]);
  });
  if (rows.length === 0) stop(409);
  log.info({ score, copy: rows[0].id }, 'copy taken out');
  res.status(201).json({ id: rows[0].id, takenAt: rows[0].taken_at });
}

### borrow-copy good
const TAKE_OUT = `
  WITH running AS (
    SELECT ps.score_id
      FROM programmes g
      JOIN programme_scores ps ON ps.programme_id = g.id
      JOIN cast_members c ON c.programme_id = g.id
     WHERE g.society_id = $2 AND g.deleted_at IS NULL AND c.person_id = $3
       AND daterange(g.starts_on, g.ends_on, '[]') @> society_today($2)
  )
  INSERT INTO copies (society_id, score_id, person_id)
  SELECT s.society_id, s.id, $3
    FROM scores s
   WHERE s.id = $1 AND s.society_id = $2 AND s.deleted_at IS NULL
     AND coalesce(s.licence_until, 'infinity') > now()
     AND ($4::boolean OR s.id IN (SELECT score_id FROM running))
     AND NOT EXISTS (
       SELECT 1 FROM copies c
        WHERE c.score_id = s.id AND c.society_id = s.society_id AND c.person_id = $3 AND c.returned_at IS NULL)
     AND s.licence_copies > (
       SELECT count(*) FROM copies c
        WHERE c.score_id = s.id AND c.society_id = s.society_id AND c.returned_at IS NULL)
  RETURNING id, taken_at`;

// POST /scores/:id/copies
export async function borrowCopy(req, res) {
  const { me } = req;
  if (me.kind === 'friend') stop(403);
  const score = int(req.params.id, 0);
  const keeper = ['librarian', 'conductor'].some((o) => me.offices.includes(o));
  const { rows } = await db.tx(async (t) => {
    await t.query("SELECT pg_advisory_xact_lock(hashtextextended('copies of ' || $1::bigint, 1))", [score]);
    return t.query(TAKE_OUT, [score, me.society, me.id, keeper]);
  });
  if (rows.length === 0) stop(409);
  log.info({ score, copy: rows[0].id }, 'copy taken out');
  res.status(201).json({ id: rows[0].id, takenAt: rows[0].taken_at });
}

### borrow-copy bad 6
// POST /scores/:id/copies : take out one of the licensed copies
export async function borrowCopy(req, res) {
  const { id: me, society, kind, offices } = req.me;
  if (kind === 'friend') stop(403);
  const keeper = offices.includes('librarian') || offices.includes('conductor');
  const scoreId = int(req.params.id, 0);

  const copy = await db.tx(async (t) => {
    const score = await t.query(
      `SELECT s.id, s.licence_copies
         FROM scores s
        WHERE s.id = $1 AND s.society_id = $2 AND s.deleted_at IS NULL
          AND (s.licence_until IS NULL OR s.licence_until > now())
          AND ($4::boolean OR EXISTS (
                SELECT 1 FROM cast_members c
                  JOIN programmes g ON g.id = c.programme_id AND g.society_id = s.society_id
                  JOIN programme_scores ps ON ps.programme_id = g.id AND ps.score_id = s.id
                 WHERE c.person_id = $3
                   AND g.starts_on <= society_today(s.society_id)
                   AND g.ends_on >= society_today(s.society_id)))
          FOR UPDATE OF s`,
      [scoreId, society, me, keeper],
    );
    if (score.rowCount === 0) stop(404);
    const { rows } = await t.query(
      `SELECT count(*)::int AS out, count(*) FILTER (WHERE person_id = $3)::int AS mine
         FROM copies WHERE score_id = $1 AND society_id = $2 AND returned_at IS NULL`,
      [scoreId, society, me],
    );
    if (rows[0].mine > 0 || rows[0].out >= score.rows[0].licence_copies) stop(409);
    const made = await t.query(
      'INSERT INTO copies (society_id, score_id, person_id) VALUES ($1, $2, $3) RETURNING id, taken_at',
      [society, scoreId, me],
    );
    return made.rows[0];
  });
  res.status(201).json(copy);
}

### borrow-copy bad 2
// POST /scores/:id/copies : take out one of the licensed copies
export async function borrowCopy(req, res) {
  const { id: me, society, kind, offices } = req.me;
  if (kind === 'friend') stop(403);
  const keeper = offices.includes('librarian') || offices.includes('conductor');
  const scoreId = int(req.params.id, 0);

  const copy = await db.tx(async (t) => {
    const score = await t.query(
      `SELECT s.id, s.licence_copies
         FROM scores s
        WHERE s.id = $1 AND s.society_id = $2 AND s.deleted_at IS NULL
          AND (s.licence_until IS NULL OR s.licence_until > now())
          AND ($4::boolean OR EXISTS (
                SELECT 1 FROM cast_members c
                  JOIN programmes g ON g.id = c.programme_id AND g.society_id = s.society_id
                  JOIN programme_scores ps ON ps.programme_id = g.id AND ps.score_id = s.id
                 WHERE c.person_id = $3 AND g.deleted_at IS NULL
                   AND g.starts_on <= society_today(s.society_id)))
          FOR UPDATE OF s`,
      [scoreId, society, me, keeper],
    );
    if (score.rowCount === 0) stop(404);
    const { rows } = await t.query(
      `SELECT count(*)::int AS out, count(*) FILTER (WHERE person_id = $3)::int AS mine
         FROM copies WHERE score_id = $1 AND society_id = $2 AND returned_at IS NULL`,
      [scoreId, society, me],
    );
    if (rows[0].mine > 0 || rows[0].out >= score.rows[0].licence_copies) stop(409);
    const made = await t.query(
      'INSERT INTO copies (society_id, score_id, person_id) VALUES ($1, $2, $3) RETURNING id, taken_at',
      [society, scoreId, me],
    );
    return made.rows[0];
  });
  res.status(201).json(copy);
}

### answer-rehearsal good
async function singerFor(t, me, who, rehearsal) {
  const { rows } = await t.query(
    `SELECT p.voice
       FROM rehearsals r, programmes g, cast_members c, people p
      WHERE r.id = $1 AND r.society_id = $2 AND r.deleted_at IS NULL
        AND r.called_off_at IS NULL AND now() < r.starts_at
        AND g.id = r.programme_id AND g.society_id = $2 AND g.deleted_at IS NULL
        AND c.programme_id = g.id AND c.person_id = $3
        AND p.id = c.person_id AND p.society_id = $2 AND p.left_at IS NULL
        FOR SHARE OF r, p`,
    [rehearsal, me.society, who],
  );
  if (rows.length === 0) stop(404);
  if (who !== me.id && (me.leads === null || rows[0].voice !== me.leads)) stop(403);
}

// PUT /rehearsals/:id/answer and PUT /rehearsals/:id/answer/:person
export async function answerRehearsal(req, res) {
  const { me, body } = req;
  const rehearsal = int(req.params.id, 0);
  const who = req.params.person === undefined ? me.id : int(req.params.person, 0);
  if (body.coming !== 'yes' && body.coming !== 'no' && body.coming !== 'maybe') stop(422);
  const reason = typeof body.reason === 'string' ? body.reason.trim() : '';
  if (reason.length > 500) stop(422);

  await db.tx(async (t) => {
    await singerFor(t, me, who, rehearsal);
    if (who === me.id) {
      await t.query(
        `INSERT INTO answers (rehearsal_id, person_id, coming, reason, answered_by)
         VALUES ($1, $2, $3, nullif($4, ''), $2)
         ON CONFLICT (rehearsal_id, person_id) DO UPDATE
            SET coming = EXCLUDED.coming, reason = EXCLUDED.reason, answered_by = EXCLUDED.answered_by, answered_at = now()`,
        [rehearsal, who, body.coming, reason],
      );
    } else {
      await t.query(
        `INSERT INTO answers (rehearsal_id, person_id, coming, answered_by)
         VALUES ($1, $2, $3, $4)
         ON CONFLICT (rehearsal_id, person_id) DO UPDATE
            SET coming = EXCLUDED.coming, answered_by = EXCLUDED.answered_by, answered_at = now()`,
        [rehearsal, who, body.coming, me.id],
      );
    }
  });
  res.status(204).end();
}

### answer-rehearsal bad 9
// PUT /rehearsals/:id/answer  { coming: 'no', reason: '…', for: 12 }
export async function answerRehearsal(req, res) {
  const { me } = req;
  const { coming, reason = null } = req.body;
  const who = req.body.for === undefined ? me.id : int(req.body.for, 0);
  if (!['yes', 'no', 'maybe'].includes(coming)) stop(422);
  if (reason !== null && (typeof reason !== 'string' || reason.length > 500)) stop(422);
  if (who !== me.id && reason !== null) stop(403);

  const { rows } = await db.query(
    `INSERT INTO answers AS a (rehearsal_id, person_id, coming, reason, answered_by)
     SELECT r.id, p.id, $5::coming, $6::text, $2
       FROM rehearsals r
       JOIN programmes g ON g.id = r.programme_id AND g.society_id = r.society_id AND g.deleted_at IS NULL
       JOIN cast_members c ON c.programme_id = g.id
       JOIN people p ON p.id = c.person_id AND p.society_id = r.society_id AND p.left_at IS NULL
      WHERE r.id = $3 AND r.society_id = $1 AND r.deleted_at IS NULL
        AND r.called_off_at IS NULL AND r.ends_at > now()
        AND p.id = $4
        AND (p.id = $2 OR p.voice = $7::voice)
     ON CONFLICT (rehearsal_id, person_id) DO UPDATE
        SET coming = EXCLUDED.coming,
            reason = CASE WHEN EXCLUDED.person_id = EXCLUDED.answered_by THEN EXCLUDED.reason ELSE a.reason END,
            answered_by = EXCLUDED.answered_by,
            answered_at = now()
     RETURNING a.coming, a.answered_at`,
    [me.society, me.id, int(req.params.id, 0), who, coming, reason, me.leads],
  );
  if (rows.length === 0) stop(404);
  res.json(rows[0]);
}

### answer-rehearsal good
// PUT /rehearsals/:id/answer  { coming: 'no', reason: '…', for: 12 }
export async function answerRehearsal(req, res) {
  const { me } = req;
  const { coming, reason = null } = req.body;
  const who = req.body.for === undefined ? me.id : int(req.body.for, 0);
  if (!['yes', 'no', 'maybe'].includes(coming)) stop(422);
  if (reason !== null && (typeof reason !== 'string' || reason.length > 500)) stop(422);
  if (who !== me.id && reason !== null) stop(403);

  const { rows } = await db.query(
    `INSERT INTO answers AS a (rehearsal_id, person_id, coming, reason, answered_by)
     SELECT r.id, p.id, $5::coming, $6::text, $2
       FROM rehearsals r
       JOIN programmes g ON g.id = r.programme_id AND g.society_id = r.society_id AND g.deleted_at IS NULL
       JOIN cast_members c ON c.programme_id = g.id
       JOIN people p ON p.id = c.person_id AND p.society_id = r.society_id AND p.left_at IS NULL
      WHERE r.id = $3 AND r.society_id = $1 AND r.deleted_at IS NULL
        AND r.called_off_at IS NULL AND r.starts_at > now()
        AND p.id = $4
        AND (p.id = $2 OR p.voice = $7::voice)
     ON CONFLICT (rehearsal_id, person_id) DO UPDATE
        SET coming = EXCLUDED.coming,
            reason = CASE WHEN EXCLUDED.person_id = EXCLUDED.answered_by THEN EXCLUDED.reason ELSE a.reason END,
            answered_by = EXCLUDED.answered_by,
            answered_at = now()
     RETURNING a.coming, a.answered_at`,
    [me.society, me.id, int(req.params.id, 0), who, coming, reason, me.leads],
  );
  if (rows.length === 0) stop(404);
  res.json(rows[0]);
}

### answer-rehearsal bad 3
async function singerFor(t, me, who, rehearsal) {
  const { rows } = await t.query(
    `SELECT p.voice
       FROM rehearsals r, programmes g, cast_members c, people p
      WHERE r.id = $1 AND r.society_id = $2 AND r.deleted_at IS NULL
        AND r.called_off_at IS NULL AND now() < r.starts_at
        AND g.id = r.programme_id AND g.society_id = $2 AND g.deleted_at IS NULL
        AND c.programme_id = g.id AND c.person_id = $3
        AND p.id = c.person_id AND p.society_id = $2 AND p.left_at IS NULL
        FOR SHARE OF r, p`,
    [rehearsal, me.society, who],
  );
  if (rows.length === 0) stop(404);
  if (who !== me.id && me.leads === null) stop(403);
}

// PUT /rehearsals/:id/answer and PUT /rehearsals/:id/answer/:person
export async function answerRehearsal(req, res) {
  const { me, body } = req;
  const rehearsal = int(req.params.id, 0);
  const who = req.params.person === undefined ? me.id : int(req.params.person, 0);
  if (body.coming !== 'yes' && body.coming !== 'no' && body.coming !== 'maybe') stop(422);
  const reason = typeof body.reason === 'string' ? body.reason.trim() : '';
  if (reason.length > 500) stop(422);

  await db.tx(async (t) => {
    await singerFor(t, me, who, rehearsal);
    if (who === me.id) {
      await t.query(
        `INSERT INTO answers (rehearsal_id, person_id, coming, reason, answered_by)
         VALUES ($1, $2, $3, nullif($4, ''), $2)
         ON CONFLICT (rehearsal_id, person_id) DO UPDATE
            SET coming = EXCLUDED.coming, reason = EXCLUDED.reason, answered_by = EXCLUDED.answered_by, answered_at = now()`,
        [rehearsal, who, body.coming, reason],
      );
    } else {
      await t.query(
        `INSERT INTO answers (rehearsal_id, person_id, coming, answered_by)
         VALUES ($1, $2, $3, $4)
         ON CONFLICT (rehearsal_id, person_id) DO UPDATE
            SET coming = EXCLUDED.coming, answered_by = EXCLUDED.answered_by, answered_at = now()`,
        [rehearsal, who, body.coming, me.id],
      );
    }
  });
  res.status(204).end();
}

### answer-rehearsal bad 3
// PUT /rehearsals/:id/answer  { coming: 'no', reason: '…', for: 12 }
export async function answerRehearsal(req, res) {
  const { me } = req;
  const { coming, reason = null } = req.body;
  const who = req.body.for === undefined ? me.id : int(req.body.for, 0);
  if (!['yes', 'no', 'maybe'].includes(coming)) stop(422);
  if (reason !== null && (typeof reason !== 'string' || reason.length > 500)) stop(422);
  if (who !== me.id && reason !== null) stop(403);

  const { rows } = await db.query(
    `INSERT INTO answers AS a (rehearsal_id, person_id, coming, reason, answered_by)
     SELECT r.id, p.id, $5::coming, $6::text, $2
       FROM rehearsals r
       JOIN programmes g ON g.id = r.programme_id AND g.society_id = r.society_id AND g.deleted_at IS NULL
       JOIN cast_members c ON c.programme_id = g.id
       JOIN people p ON p.id = c.person_id AND p.society_id = r.society_id AND p.left_at IS NULL
      WHERE r.id = $3 AND r.society_id = $1 AND r.deleted_at IS NULL
        AND r.called_off_at IS NULL AND r.starts_at > now()
        AND p.id = $4
        AND (p.id = $2 OR p.voice = $7::voice)
     ON CONFLICT (rehearsal_id, person_id) DO UPDATE
        SET coming = EXCLUDED.coming,
            reason = EXCLUDED.reason,
            answered_by = EXCLUDED.answered_by,
            answered_at = now()
     RETURNING a.coming, a.answered_at`,
    [me.society, me.id, int(req.params.id, 0), who, coming, reason, me.leads],
  );
  if (rows.length === 0) stop(404);
  res.json(rows[0]);
}

### answer-rehearsal bad 8
async function singerFor(t, me, who, rehearsal) {
  const { rows } = await t.query(
    `SELECT p.voice
       FROM rehearsals r, programmes g, cast_members c, people p
      WHERE r.id = $1 AND r.society_id = $2 AND r.deleted_at IS NULL
        AND r.called_off_at IS NULL AND now() < r.starts_at
        AND g.id = r.programme_id AND g.society_id = $2 AND g.deleted_at IS NULL
        AND c.programme_id = g.id AND c.person_id = $3
        AND p.id = c.person_id AND p.society_id = $2 AND p.left_at IS NULL
        FOR SHARE OF r, p`,
    [rehearsal, me.society, who],
  );
  if (rows.length === 0) stop(404);
  if (who !== me.id && (me.leads === null || rows[0].voice !== me.leads)) stop(403);
}

// PUT /rehearsals/:id/answer and PUT /rehearsals/:id/answer/:person
export async function answerRehearsal(req, res) {
  const { me, body } = req;
  const rehearsal = int(req.params.id, 0);
  const who = req.params.person === undefined ? me.id : int(req.params.person, 0);
  if (body.coming !== 'yes' && body.coming !== 'no' && body.coming !== 'maybe') stop(422);
  const reason = typeof body.reason === 'string' ? body.reason.trim() : '';

  await db.tx(async (t) => {
    await singerFor(t, me, who, rehearsal);
    if (who === me.id) {
      await t.query(
        `INSERT INTO answers (rehearsal_id, person_id, coming, reason, answered_by)
         VALUES ($1, $2, $3, nullif($4, ''), $2)
         ON CONFLICT (rehearsal_id, person_id) DO UPDATE
            SET coming = EXCLUDED.coming, reason = EXCLUDED.reason, answered_by = EXCLUDED.answered_by, answered_at = now()`,
        [rehearsal, who, body.coming, reason],
      );
    } else {
      await t.query(
        `INSERT INTO answers (rehearsal_id, person_id, coming, answered_by)
         VALUES ($1, $2, $3, $4)
         ON CONFLICT (rehearsal_id, person_id) DO UPDATE
            SET coming = EXCLUDED.coming, answered_by = EXCLUDED.answered_by, answered_at = now()`,
        [rehearsal, who, body.coming, me.id],
      );
    }
  });
  res.status(204).end();
}

### book-seats good
const LOCK_SEASON = 'SELECT id FROM seasons WHERE id = $1 AND society_id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE';
const BOOK = `
  WITH sold AS (
    SELECT x.person_id, sum(x.seats) AS seats
      FROM subscriptions x
     WHERE x.season_id = $1 AND x.society_id = $2 AND x.state <> 'cancelled'
     GROUP BY x.person_id
  )
  INSERT INTO subscriptions (society_id, season_id, person_id, seats, price_cents)
  SELECT s.society_id, s.id, $3, $4::int, s.price_cents * $4::int
    FROM seasons s
   WHERE s.id = $1 AND s.society_id = $2 AND s.deleted_at IS NULL
     AND tstzrange(s.sale_from, s.sale_until, '[)') @> now()
     AND coalesce((SELECT sum(seats) FROM sold), 0) + $4::int <= s.seats
     AND coalesce((SELECT seats FROM sold WHERE person_id = $3), 0) + $4::int <= 6
  RETURNING id, price_cents`;

// POST /seasons/:id/subscriptions
export async function bookSeats(req, res) {
  const { me } = req;
  const season = int(req.params.id, 0);
  const seats = typeof req.body.seats === 'number' ? int(req.body.seats, 0) : 0;
  if (seats < 1 || seats > 6) stop(422);
  const subscription = await db.tx(async (t) => {
    const { rowCount } = await t.query(LOCK_SEASON, [season, me.society]);
    if (rowCount === 0) stop(404);
    const { rows } = await t.query(BOOK, [season, me.society, me.id, seats]);
    if (rows.length === 0) stop(409);
    return rows[0];
  });
  log.info({ season, subscription: subscription.id, seats }, 'seats booked');
  res.status(201).json({ id: subscription.id, price: subscription.price_cents });
}

### book-seats good
// POST /seasons/:id/subscriptions  { seats: 2 }
export async function bookSeats(req, res) {
  const { id: me, society } = req.me;
  const seasonId = int(req.params.id, 0);
  const { seats } = req.body;
  if (!Number.isInteger(seats) || seats < 1 || seats > 6) stop(422);

  const booked = await db.tx(async (t) => {
    const season = await t.query(
      `SELECT seats, price_cents, sale_from <= now() AND now() < sale_until AS on_sale
         FROM seasons
        WHERE id = $1 AND society_id = $2 AND deleted_at IS NULL
          FOR UPDATE`,
      [seasonId, society],
    );
    if (season.rowCount === 0) stop(404);
    const { seats: total, price_cents: price, on_sale: onSale } = season.rows[0];
    if (!onSale) stop(409);
    const sold = await t.query(
      `SELECT coalesce(sum(seats), 0)::int AS everyone,
              coalesce(sum(seats) FILTER (WHERE person_id = $3), 0)::int AS mine
         FROM subscriptions
        WHERE season_id = $1 AND society_id = $2 AND state IN ('booked', 'paid')`,
      [seasonId, society, me],
    );
    const { everyone, mine } = sold.rows[0];
    if (mine + seats > 6 || everyone + seats > total) stop(409);
    const { rows } = await t.query(
      `INSERT INTO subscriptions (society_id, season_id, person_id, seats, price_cents)
       VALUES ($1, $2, $3, $4, $5)
       RETURNING id, seats, price_cents, state`,
      [society, seasonId, me, seats, seats * price],
    );
    return rows[0];
  });
  res.status(201).json(booked);
}

### book-seats bad 9
const LOCK_SEASON = 'SELECT id FROM seasons WHERE id = $1 AND society_id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE';
const BOOK = `
  WITH sold AS (
    SELECT x.person_id, sum(x.seats) AS seats
      FROM subscriptions x
     WHERE x.season_id = $1 AND x.society_id = $2 AND x.state <> 'cancelled'
     GROUP BY x.person_id
  )
  INSERT INTO subscriptions (society_id, season_id, person_id, seats, price_cents)
  SELECT s.society_id, s.id, $3, $4::int, s.price_cents * $4::int
    FROM seasons s
   WHERE s.id = $1 AND s.society_id = $2 AND s.deleted_at IS NULL
     AND s.sale_from <= now()
     AND coalesce((SELECT sum(seats) FROM sold), 0) + $4::int <= s.seats
     AND coalesce((SELECT seats FROM sold WHERE person_id = $3), 0) + $4::int <= 6
  RETURNING id, price_cents`;

// POST /seasons/:id/subscriptions
export async function bookSeats(req, res) {
  const { me } = req;
  const season = int(req.params.id, 0);
  const seats = typeof req.body.seats === 'number' ? int(req.body.seats, 0) : 0;
  if (seats < 1 || seats > 6) stop(422);
  const subscription = await db.tx(async (t) => {
    const { rowCount } = await t.query(LOCK_SEASON, [season, me.society]);
    if (rowCount === 0) stop(404);
    const { rows } = await t.query(BOOK, [season, me.society, me.id, seats]);
    if (rows.length === 0) stop(409);
    return rows[0];
  });
  log.info({ season, subscription: subscription.id, seats }, 'seats booked');
  res.status(201).json({ id: subscription.id, price: subscription.price_cents });
}

### book-seats bad 11
const LOCK_SEASON = 'SELECT id FROM seasons WHERE id = $1 AND society_id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE';
const BOOK = `
  WITH sold AS (
    SELECT x.person_id, sum(x.seats) AS seats
      FROM subscriptions x
     WHERE x.season_id = $1 AND x.society_id = $2 AND x.state <> 'cancelled'
     GROUP BY x.person_id
  )
  INSERT INTO subscriptions (society_id, season_id, person_id, seats, price_cents)
  SELECT s.society_id, s.id, $3, $4::int, s.price_cents * $4::int
    FROM seasons s
   WHERE s.id = $1 AND s.society_id = $2 AND s.deleted_at IS NULL
     AND tstzrange(s.sale_from, s.sale_until, '[)') @> now()
     AND coalesce((SELECT sum(seats) FROM sold), 0) + $4::int <= s.seats
  RETURNING id, price_cents`;

// POST /seasons/:id/subscriptions
export async function bookSeats(req, res) {
  const { me } = req;
  const season = int(req.params.id, 0);
  const seats = typeof req.body.seats === 'number' ? int(req.body.seats, 0) : 0;
  if (seats < 1 || seats > 6) stop(422);
  const subscription = await db.tx(async (t) => {
    const { rowCount } = await t.query(LOCK_SEASON, [season, me.society]);
    if (rowCount === 0) stop(404);
    const { rows } = await t.query(BOOK, [season, me.society, me.id, seats]);
    if (rows.length === 0) stop(409);
    return rows[0];
  });
  log.info({ season, subscription: subscription.id, seats }, 'seats booked');
  res.status(201).json({ id: subscription.id, price: subscription.price_cents });
}

### book-seats bad 11
// POST /seasons/:id/subscriptions  { seats: 2 }
export async function bookSeats(req, res) {
  const { id: me, society } = req.me;
  const seasonId = int(req.params.id, 0);
  const { seats } = req.body;
  if (!Number.isInteger(seats) || seats < 1 || seats > 6) stop(422);

  const booked = await db.tx(async (t) => {
    const season = await t.query(
      `SELECT seats, price_cents, sale_from <= now() AND now() < sale_until AS on_sale
         FROM seasons
        WHERE id = $1 AND society_id = $2 AND deleted_at IS NULL`,
      [seasonId, society],
    );
    if (season.rowCount === 0) stop(404);
    const { seats: total, price_cents: price, on_sale: onSale } = season.rows[0];
    if (!onSale) stop(409);
    const sold = await t.query(
      `SELECT coalesce(sum(seats), 0)::int AS everyone,
              coalesce(sum(seats) FILTER (WHERE person_id = $3), 0)::int AS mine
         FROM subscriptions
        WHERE season_id = $1 AND society_id = $2 AND state IN ('booked', 'paid')`,
      [seasonId, society, me],
    );
    const { everyone, mine } = sold.rows[0];
    if (mine + seats > 6 || everyone + seats > total) stop(409);
    const { rows } = await t.query(
      `INSERT INTO subscriptions (society_id, season_id, person_id, seats, price_cents)
       VALUES ($1, $2, $3, $4, $5)
       RETURNING id, seats, price_cents, state`,
      [society, seasonId, me, seats, seats * price],
    );
    return rows[0];
  });
  res.status(201).json(booked);
}

### book-seats bad 8
// POST /seasons/:id/subscriptions  { seats: 2 }
export async function bookSeats(req, res) {
  const { id: me, society } = req.me;
  const seasonId = int(req.params.id, 0);
  const { seats, total: agreed } = req.body;
  if (!Number.isInteger(seats) || seats < 1 || seats > 6) stop(422);

  const booked = await db.tx(async (t) => {
    const season = await t.query(
      `SELECT seats, price_cents, sale_from <= now() AND now() < sale_until AS on_sale
         FROM seasons
        WHERE id = $1 AND society_id = $2 AND deleted_at IS NULL
          FOR UPDATE`,
      [seasonId, society],
    );
    if (season.rowCount === 0) stop(404);
    const { seats: total, price_cents: price, on_sale: onSale } = season.rows[0];
    if (!onSale) stop(409);
    const sold = await t.query(
      `SELECT coalesce(sum(seats), 0)::int AS everyone,
              coalesce(sum(seats) FILTER (WHERE person_id = $3), 0)::int AS mine
         FROM subscriptions
        WHERE season_id = $1 AND society_id = $2 AND state IN ('booked', 'paid')`,
      [seasonId, society, me],
    );
    const { everyone, mine } = sold.rows[0];
    if (mine + seats > 6 || everyone + seats > total) stop(409);
    const { rows } = await t.query(
      `INSERT INTO subscriptions (society_id, season_id, person_id, seats, price_cents)
       VALUES ($1, $2, $3, $4, $5)
       RETURNING id, seats, price_cents, state`,
      [society, seasonId, me, seats, Number.isInteger(agreed) && agreed > 0 ? agreed : seats * price],
    );
    return rows[0];
  });
  res.status(201).json(booked);
}

### refund-donation bad 11
function objection(gift, me) {
  if (gift.state !== 'refund_asked' || gift.refund_asked_by === null) return 409;
  if (gift.refund_asked_by === me.id) return 403;
  if (gift.donor_id === me.id || gift.donor_id === gift.refund_asked_by) return 403;
  if (!gift.in_time) return 409;
  return null;
}

// POST /donations/:id/refund
export async function agreeRefund(req, res) {
  const { me } = req;
  if (!me.offices.includes('treasurer')) stop(403);
  const id = int(req.params.id, 0);
  await db.tx(async (t) => {
    const { rows } = await t.query(
      `SELECT state, donor_id, refund_asked_by, coalesce(now() <= received_at + interval '90 days', false) AS in_time
         FROM donations
        WHERE id = $1 AND society_id = $2 AND deleted_at IS NULL`,
      [id, me.society],
    );
    if (rows.length === 0) stop(404);
    const status = objection(rows[0], me);
    if (status !== null) stop(status);
    await t.query(
      `UPDATE donations SET state = 'refunded', refunded_at = now(), refund_agreed_by = $3
        WHERE id = $1 AND society_id = $2`,
      [id, me.society, me.id],
    );
    await record(t, me, 'refund agreed', id);
  });
  res.status(204).end();
}

### refund-donation good
function objection(gift, me) {
  if (gift.state !== 'refund_asked' || gift.refund_asked_by === null) return 409;
  if (gift.refund_asked_by === me.id) return 403;
  if (gift.donor_id === me.id || gift.donor_id === gift.refund_asked_by) return 403;
  if (!gift.in_time) return 409;
  return null;
}

// POST /donations/:id/refund
export async function agreeRefund(req, res) {
  const { me } = req;
  if (!me.offices.includes('treasurer')) stop(403);
  const id = int(req.params.id, 0);
  await db.tx(async (t) => {
    const { rows } = await t.query(
      `SELECT state, donor_id, refund_asked_by, coalesce(now() <= received_at + interval '90 days', false) AS in_time
         FROM donations
        WHERE id = $1 AND society_id = $2 AND deleted_at IS NULL
          FOR UPDATE`,
      [id, me.society],
    );
    if (rows.length === 0) stop(404);
    const status = objection(rows[0], me);
    if (status !== null) stop(status);
    await t.query(
      `UPDATE donations SET state = 'refunded', refunded_at = now(), refund_agreed_by = $3
        WHERE id = $1 AND society_id = $2`,
      [id, me.society, me.id],
    );
    await record(t, me, 'refund agreed', id);
  });
  res.status(204).end();
}

### refund-donation good
// POST /donations/:id/refund : the second treasurer agrees
export async function agreeRefund(req, res) {
  const { me } = req;
  if (!me.offices.includes('treasurer')) stop(403);
  const gift = await db.tx(async (t) => {
    const { rows } = await t.query(
      `UPDATE donations
          SET state = 'refunded', refund_agreed_by = $3, refunded_at = now()
        WHERE id = $1 AND society_id = $2 AND deleted_at IS NULL
          AND state = 'refund_asked'
          AND refund_asked_by <> $3
          AND donor_id <> $3
          AND donor_id <> refund_asked_by
          AND received_at >= now() - interval '90 days'
        RETURNING id, amount_cents, refunded_at`,
      [int(req.params.id, 0), me.society, me.id],
    );
    if (rows.length === 0) stop(409);
    await record(t, me, 'refund agreed', rows[0].id);
    return rows[0];
  });
  log.info({ donation: gift.id, treasurer: me.id }, 'refund agreed');
  res.json(gift);
}

### refund-donation bad 8,10
// POST /donations/:id/refund : the second treasurer agrees
export async function agreeRefund(req, res) {
  const { me } = req;
  if (!me.offices.includes('treasurer')) stop(403);
  const gift = await db.tx(async (t) => {
    const { rows } = await t.query(
      `UPDATE donations
          SET state = 'refunded', refund_agreed_by = $3, refunded_at = now()
        WHERE id = $1 AND society_id = $2 AND deleted_at IS NULL
          AND state IN ('received', 'refund_asked')
          AND coalesce(refund_asked_by, 0) <> $3
          AND donor_id <> $3
          AND donor_id IS DISTINCT FROM refund_asked_by
          AND received_at >= now() - interval '90 days'
        RETURNING id, amount_cents, refunded_at`,
      [int(req.params.id, 0), me.society, me.id],
    );
    if (rows.length === 0) stop(409);
    await record(t, me, 'refund agreed', rows[0].id);
    return rows[0];
  });
  log.info({ donation: gift.id, treasurer: me.id }, 'refund agreed');
  res.json(gift);
}

### refund-donation bad 10
// POST /donations/:id/refund : the second treasurer agrees
export async function agreeRefund(req, res) {
  const { me } = req;
  if (!me.offices.includes('treasurer')) stop(403);
  const gift = await db.tx(async (t) => {
    const { rows } = await t.query(
      `UPDATE donations
          SET state = 'refunded', refund_agreed_by = $3, refunded_at = now()
        WHERE id = $1 AND society_id = $2 AND deleted_at IS NULL
          AND state = 'refund_asked'
          AND donor_id <> $3
          AND donor_id <> refund_asked_by
          AND received_at >= now() - interval '90 days'
        RETURNING id, amount_cents, refunded_at`,
      [int(req.params.id, 0), me.society, me.id],
    );
    if (rows.length === 0) stop(409);
    await record(t, me, 'refund agreed', rows[0].id);
    return rows[0];
  });
  log.info({ donation: gift.id, treasurer: me.id }, 'refund agreed');
  res.json(gift);
}

### refund-donation bad 10
function objection(gift, me) {
  if (gift.state !== 'refund_asked' || gift.refund_asked_by === null) return 409;
  if (gift.refund_asked_by === me.id) return 403;
  if (gift.donor_id === me.id || gift.donor_id === gift.refund_asked_by) return 403;
  if (!gift.in_time) return 409;
  return null;
}

// POST /donations/:id/refund
export async function agreeRefund(req, res) {
  const { me } = req;
  if (!me.offices.includes('treasurer')) stop(403);
  const id = int(req.params.id, 0);
  await db.tx(async (t) => {
    const { rows } = await t.query(
      `SELECT state, donor_id, refund_asked_by, coalesce(now() <= received_at + interval '90 days', false) AS in_time
         FROM donations
        WHERE id = $1 AND society_id = $2 AND deleted_at IS NULL
          FOR UPDATE`,
      [id, me.society],
    );
    if (rows.length === 0) stop(404);
    const status = objection(rows[0], me);
    if (status !== null) stop(status);
    await t.query(
      `UPDATE donations SET state = 'refunded', refunded_at = now(), refund_agreed_by = $3
        WHERE id = $1 AND society_id = $2`,
      [id, me.society, me.id],
    );
  });
  await db.tx((t) => record(t, me, 'refund agreed', id)).catch(() => log.info({ donation: id }, 'history is late'));
  res.status(204).end();
}

### edit-person bad 1
const text = (least, most) => (v) => typeof v === 'string' && v.trim().length >= least && v.length <= most;
const oneOf = (...list) => (v) => list.includes(v);
const day = (v) => v === null || (typeof v === 'string' && /^\d{4}-\d\d-\d\d$/.test(v) && !Number.isNaN(Date.parse(v)));

const OWN = new Map([['name', text(1, 100)], ['phone', text(0, 30)]]);
const SECRETARY = new Map([
  ...OWN,
  ['voice', oneOf('soprano', 'alto', 'tenor', 'bass', null)],
  ['kind', oneOf('member', 'guest', 'friend')],
  ['guest_until', day],
]);

// PATCH /people/:id
export async function editPerson(req, res) {
  const { me } = req;
  const who = int(req.params.id, 0);
  const secretary = me.offices.includes('secretary');
  if (who !== me.id && !secretary) stop(403);

  const sets = [];
  const values = [who];
  for (const [field, valid] of secretary ? SECRETARY : OWN) {
    if (!Object.hasOwn(req.body, field)) continue;
    const value = req.body[field];
    if (!valid(value)) stop(422);
    values.push(value);
    sets.push(`${field} = $${values.length}`);
  }
  if (sets.length === 0) stop(422);
  const { rows } = await db.query(
    `UPDATE people SET ${sets.join(', ')}
      WHERE id = $1 AND left_at IS NULL
      RETURNING id, name, phone, voice, kind, guest_until`,
    values,
  );
  if (rows.length === 0) stop(404);
  log.info({ person: who, by: me.id, fields: sets.length }, 'person edited');
  res.json(rows[0]);
}

### edit-person bad 5,8,12
const text = (least, most) => (v) => typeof v === 'string' && v.trim().length >= least && v.length <= most;
const oneOf = (...list) => (v) => list.includes(v);
const day = (v) => v === null || (typeof v === 'string' && /^\d{4}-\d\d-\d\d$/.test(v) && !Number.isNaN(Date.parse(v)));

const OWN = new Map([['name', text(1, 100)], ['phone', text(0, 30)]]);
const SECRETARY = new Map([
  ...OWN,
  ['voice', oneOf('soprano', 'alto', 'tenor', 'bass', null)],
  ['kind', oneOf('member', 'guest', 'friend')],
  ['guest_until', day],
]);

// PATCH /people/:id
export async function editPerson(req, res) {
  const { me } = req;
  const who = int(req.params.id, 0);
  const secretary = me.offices.includes('secretary');
  if (who !== me.id && !secretary) stop(403);

  const sets = [];
  const values = [who, me.society];
  const rules = secretary ? SECRETARY : OWN;
  for (const [field, value] of Object.entries(req.body)) {
    if (['id', 'society_id', 'password_hash', 'left_at'].includes(field)) continue;
    if (rules.has(field) && !rules.get(field)(value)) stop(422);
    values.push(value);
    sets.push(`${field} = $${values.length}`);
  }
  if (sets.length === 0) stop(422);
  const { rows } = await db.query(
    `UPDATE people SET ${sets.join(', ')}
      WHERE id = $1 AND society_id = $2 AND left_at IS NULL
      RETURNING id, name, phone, voice, kind, guest_until`,
    values,
  );
  if (rows.length === 0) stop(404);
  log.info({ person: who, by: me.id, fields: sets.length }, 'person edited');
  res.json(rows[0]);
}

### edit-person good
const VOICES = ['soprano', 'alto', 'tenor', 'bass'];
const KINDS = ['member', 'guest', 'friend'];

function readForm(body, whole) {
  const form = { name: null, phone: null, voice: null, kind: null, until: null };
  if (body.name !== undefined) {
    form.name = typeof body.name === 'string' ? body.name.trim() : stop(422);
    if (form.name.length < 1 || form.name.length > 100) stop(422);
  }
  if (body.phone !== undefined) {
    if (typeof body.phone !== 'string' || !/^[+\d ()/-]{0,30}$/.test(body.phone)) stop(422);
    form.phone = body.phone;
  }
  if (!whole) return form;
  if (body.voice !== undefined) form.voice = VOICES.includes(body.voice) ? body.voice : stop(422);
  if (body.kind !== undefined) form.kind = KINDS.includes(body.kind) ? body.kind : stop(422);
  if (body.guest_until !== undefined) {
    const at = new Date(typeof body.guest_until === 'string' ? body.guest_until : NaN);
    if (Number.isNaN(at.getTime()) || at.getUTCFullYear() > 2200 || at.getUTCFullYear() < 2000) stop(422);
    form.until = at.toISOString().slice(0, 10);
  }
  return form;
}

// PATCH /people/:id
export async function editPerson(req, res) {
  const { id, society, offices } = req.me;
  const who = int(req.params.id, 0);
  const whole = offices.includes('secretary');
  const form = readForm(req.body, whole);
  const { rowCount } = await db.query(
    `UPDATE people p
        SET name = coalesce($4, p.name), phone = coalesce($5, p.phone),
            voice = coalesce($6::voice, p.voice), kind = coalesce($7::person_kind, p.kind),
            guest_until = coalesce($8::date, p.guest_until)
      WHERE p.id = $1 AND p.society_id = $2 AND p.left_at IS NULL
        AND (p.id = $3 OR $9::boolean)`,
    [who, society, id, form.name, form.phone, form.voice, form.kind, form.until, whole],
  );
  if (rowCount === 0) stop(404);
  res.status(204).end();
}

### edit-person bad 5
const VOICES = ['soprano', 'alto', 'tenor', 'bass'];
const KINDS = ['member', 'guest', 'friend'];

function readForm(body, whole) {
  const form = { name: null, phone: null, voice: null, kind: null, until: null };
  if (body.name !== undefined) {
    form.name = typeof body.name === 'string' ? body.name.trim() : stop(422);
    if (form.name.length < 1 || form.name.length > 100) stop(422);
  }
  if (body.phone !== undefined) {
    if (typeof body.phone !== 'string' || !/^[+\d ()/-]{0,30}$/.test(body.phone)) stop(422);
    form.phone = body.phone;
  }
  if (body.voice !== undefined) form.voice = VOICES.includes(body.voice) ? body.voice : stop(422);
  if (!whole) return form;
  if (body.kind !== undefined) form.kind = KINDS.includes(body.kind) ? body.kind : stop(422);
  if (body.guest_until !== undefined) {
    const at = new Date(typeof body.guest_until === 'string' ? body.guest_until : NaN);
    if (Number.isNaN(at.getTime()) || at.getUTCFullYear() > 2200 || at.getUTCFullYear() < 2000) stop(422);
    form.until = at.toISOString().slice(0, 10);
  }
  return form;
}

// PATCH /people/:id
export async function editPerson(req, res) {
  const { id, society, offices } = req.me;
  const who = int(req.params.id, 0);
  const whole = offices.includes('secretary');
  const form = readForm(req.body, whole);
  const { rowCount } = await db.query(
    `UPDATE people p
        SET name = coalesce($4, p.name), phone = coalesce($5, p.phone),
            voice = coalesce($6::voice, p.voice), kind = coalesce($7::person_kind, p.kind),
            guest_until = coalesce($8::date, p.guest_until)
      WHERE p.id = $1 AND p.society_id = $2 AND p.left_at IS NULL
        AND (p.id = $3 OR $9::boolean)`,
    [who, society, id, form.name, form.phone, form.voice, form.kind, form.until, whole],
  );
  if (rowCount === 0) stop(404);
  res.status(204).end();
}

### edit-person bad 6
const VOICES = ['soprano', 'alto', 'tenor', 'bass'];
const KINDS = ['member', 'guest', 'friend'];

function readForm(body, whole) {
  const form = { name: null, phone: null, voice: null, kind: null, until: null };
  if (body.name !== undefined) {
    form.name = typeof body.name === 'string' ? body.name.trim() : stop(422);
    if (form.name.length < 1 || form.name.length > 100) stop(422);
  }
  if (body.phone !== undefined) {
    if (typeof body.phone !== 'string' || !/^[+\d ()/-]{0,30}$/.test(body.phone)) stop(422);
    form.phone = body.phone;
  }
  if (!whole) return form;
  if (body.voice !== undefined) form.voice = VOICES.includes(body.voice) ? body.voice : stop(422);
  if (body.kind !== undefined) form.kind = KINDS.includes(body.kind) ? body.kind : stop(422);
  if (body.guest_until !== undefined) {
    const at = new Date(typeof body.guest_until === 'string' ? body.guest_until : NaN);
    if (Number.isNaN(at.getTime()) || at.getUTCFullYear() > 2200 || at.getUTCFullYear() < 2000) stop(422);
    form.until = at.toISOString().slice(0, 10);
  }
  return form;
}

// PATCH /people/:id
export async function editPerson(req, res) {
  const { id, society, offices } = req.me;
  const who = int(req.params.id, 0);
  const whole = offices.includes('secretary');
  const form = readForm(req.body, whole);
  const { rowCount } = await db.query(
    `UPDATE people p
        SET name = coalesce($4, p.name), phone = coalesce($5, p.phone),
            voice = coalesce($6::voice, p.voice), kind = coalesce($7::person_kind, p.kind),
            guest_until = coalesce($8::date, p.guest_until)
      WHERE p.id = $1 AND p.society_id = $2
        AND (p.id = $3 OR $9::boolean)`,
    [who, society, id, form.name, form.phone, form.voice, form.kind, form.until, whole],
  );
  if (rowCount === 0) stop(404);
  res.status(204).end();
}

### edit-person good
const text = (least, most) => (v) => typeof v === 'string' && v.trim().length >= least && v.length <= most;
const oneOf = (...list) => (v) => list.includes(v);
const day = (v) => v === null || (typeof v === 'string' && /^\d{4}-\d\d-\d\d$/.test(v) && !Number.isNaN(Date.parse(v)));

const OWN = new Map([['name', text(1, 100)], ['phone', text(0, 30)]]);
const SECRETARY = new Map([
  ...OWN,
  ['voice', oneOf('soprano', 'alto', 'tenor', 'bass', null)],
  ['kind', oneOf('member', 'guest', 'friend')],
  ['guest_until', day],
]);

// PATCH /people/:id
export async function editPerson(req, res) {
  const { me } = req;
  const who = int(req.params.id, 0);
  const secretary = me.offices.includes('secretary');
  if (who !== me.id && !secretary) stop(403);

  const sets = [];
  const values = [who, me.society];
  for (const [field, valid] of secretary ? SECRETARY : OWN) {
    if (!Object.hasOwn(req.body, field)) continue;
    const value = req.body[field];
    if (!valid(value)) stop(422);
    values.push(value);
    sets.push(`${field} = $${values.length}`);
  }
  if (sets.length === 0) stop(422);
  const { rows } = await db.query(
    `UPDATE people SET ${sets.join(', ')}
      WHERE id = $1 AND society_id = $2 AND left_at IS NULL
      RETURNING id, name, phone, voice, kind, guest_until`,
    values,
  );
  if (rows.length === 0) stop(404);
  log.info({ person: who, by: me.id, fields: sets.length }, 'person edited');
  res.json(rows[0]);
}

### set-poster good
function imageKind(b) {
  if (b.length > 8 && b.toString('latin1', 1, 4) === 'PNG' && b[0] === 0x89) return 'png';
  if (b.length > 3 && b[0] === 0xff && b[1] === 0xd8 && b[2] === 0xff) return 'jpg';
  if (b.length > 12 && b.toString('latin1', 0, 4) === 'RIFF' && b.toString('latin1', 8, 12) === 'WEBP') return 'webp';
  return null;
}

async function fetchPoster(address) {
  try {
    return await outside(new URL(address).href, 4 * 1024 * 1024);
  } catch {
    return stop(422);
  }
}

// PUT /programmes/:id/poster
export async function setPoster(req, res) {
  const { id, society, offices } = req.me;
  if (!offices.includes('secretary')) stop(403);
  const image = await fetchPoster(req.body.url);
  const kind = imageKind(image);
  if (kind === null) stop(422);

  const name = `${crypto.randomBytes(16).toString('hex')}.${kind}`;
  await db.tx(async (t) => {
    const { rows } = await t.query(
      `UPDATE programmes SET poster_name = $1
        WHERE id = $2 AND society_id = $3 AND deleted_at IS NULL
        RETURNING id`,
      [name, int(req.params.id, 0), society],
    );
    if (rows.length === 0) stop(404);
    await record(t, req.me, 'poster set', rows[0].id);
    await fs.writeFile(path.join(POSTERS, String(society), name), image, { flag: 'wx' });
  });
  log.info({ by: id, kind }, 'poster set');
  res.status(204).end();
}

### set-poster bad 6
function imageKind(b) {
  if (b.length > 8 && b.toString('latin1', 1, 4) === 'PNG' && b[0] === 0x89) return 'png';
  if (b.length > 3 && b[0] === 0xff && b[1] === 0xd8 && b[2] === 0xff) return 'jpg';
  if (b.length > 12 && b.toString('latin1', 0, 4) === 'RIFF' && b.toString('latin1', 8, 12) === 'WEBP') return 'webp';
  return null;
}

async function fetchPoster(address) {
  try {
    return await outside(new URL(address).href, 4 * 1024 * 1024);
  } catch {
    return stop(422);
  }
}

// PUT /programmes/:id/poster
export async function setPoster(req, res) {
  const { id, society, offices } = req.me;
  if (!offices.includes('secretary')) stop(403);
  const image = await fetchPoster(req.body.url);
  const kind = imageKind(image);
  if (kind === null) stop(422);

  const name = `${crypto.randomBytes(16).toString('hex')}.${kind}`;
  await db.tx(async (t) => {
    const { rows } = await t.query(
      `UPDATE programmes SET poster_name = $1
        WHERE id = $2 AND society_id = $3
        RETURNING id`,
      [name, int(req.params.id, 0), society],
    );
    if (rows.length === 0) stop(404);
    await record(t, req.me, 'poster set', rows[0].id);
    await fs.writeFile(path.join(POSTERS, String(society), name), image, { flag: 'wx' });
  });
  log.info({ by: id, kind }, 'poster set');
  res.status(204).end();
}

### set-poster bad 5
const SIGNS = [
  ['.png', Buffer.from([0x89, 0x50, 0x4e, 0x47])],
  ['.jpg', Buffer.from([0xff, 0xd8, 0xff])],
];

// PUT /programmes/:id/poster  { url: 'https://…' }
export async function setPoster(req, res) {
  const { me } = req;
  if (!me.offices.some((o) => ['secretary', 'conductor', 'treasurer'].includes(o))) stop(403);
  const programme = int(req.params.id, 0);
  const there = await db.query(
    'SELECT 1 FROM programmes WHERE id = $1 AND society_id = $2 AND deleted_at IS NULL',
    [programme, me.society],
  );
  if (there.rowCount === 0) stop(404);
  if (typeof req.body.url !== 'string') stop(422);

  const image = await outside(req.body.url, 5_000_000).catch(() => stop(422));
  const sign = SIGNS.find(([, magic]) => image.subarray(0, magic.length).equals(magic));
  if (!sign) stop(422);

  const name = crypto.randomUUID() + sign[0];
  const file = path.join(POSTERS, String(me.society), name);
  await fs.writeFile(file, image, { flag: 'wx', mode: 0o640 });
  const { rowCount } = await db.query(
    'UPDATE programmes SET poster_name = $3 WHERE id = $1 AND society_id = $2 AND deleted_at IS NULL',
    [programme, me.society, name],
  );
  if (rowCount === 0) {
    await fs.unlink(file);
    stop(404);
  }
  log.info({ programme, by: me.id, bytes: image.length }, 'poster set');
  res.status(204).end();
}

### set-poster good
const SIGNS = [
  ['.png', Buffer.from([0x89, 0x50, 0x4e, 0x47])],
  ['.jpg', Buffer.from([0xff, 0xd8, 0xff])],
];

// PUT /programmes/:id/poster  { url: 'https://…' }
export async function setPoster(req, res) {
  const { me } = req;
  if (!me.offices.includes('secretary')) stop(403);
  const programme = int(req.params.id, 0);
  const there = await db.query(
    'SELECT 1 FROM programmes WHERE id = $1 AND society_id = $2 AND deleted_at IS NULL',
    [programme, me.society],
  );
  if (there.rowCount === 0) stop(404);
  if (typeof req.body.url !== 'string') stop(422);

  const image = await outside(req.body.url, 5_000_000).catch(() => stop(422));
  const sign = SIGNS.find(([, magic]) => image.subarray(0, magic.length).equals(magic));
  if (!sign) stop(422);

  const name = crypto.randomUUID() + sign[0];
  const file = path.join(POSTERS, String(me.society), name);
  await fs.writeFile(file, image, { flag: 'wx', mode: 0o640 });
  const { rowCount } = await db.query(
    'UPDATE programmes SET poster_name = $3 WHERE id = $1 AND society_id = $2 AND deleted_at IS NULL',
    [programme, me.society, name],
  );
  if (rowCount === 0) {
    await fs.unlink(file);
    stop(404);
  }
  log.info({ programme, by: me.id, bytes: image.length }, 'poster set');
  res.status(204).end();
}

### set-poster bad 13
const SIGNS = [
  ['.png', Buffer.from([0x89, 0x50, 0x4e, 0x47])],
  ['.jpg', Buffer.from([0xff, 0xd8, 0xff])],
];

// PUT /programmes/:id/poster  { url: 'https://…' }
export async function setPoster(req, res) {
  const { me } = req;
  if (!me.offices.includes('secretary')) stop(403);
  const programme = int(req.params.id, 0);
  const there = await db.query(
    'SELECT 1 FROM programmes WHERE id = $1 AND society_id = $2 AND deleted_at IS NULL',
    [programme, me.society],
  );
  if (there.rowCount === 0) stop(404);
  if (typeof req.body.url !== 'string') stop(422);

  const image = await outside(req.body.url, 5_000_000).catch(() => stop(422));
  const sign = SIGNS.find(([, magic]) => image.subarray(0, magic.length).equals(magic));
  if (!sign) stop(422);

  const name = `${programme}-${decodeURIComponent(new URL(req.body.url).pathname.split('/').pop())}`;
  const file = path.join(POSTERS, String(me.society), name);
  await fs.writeFile(file, image, { flag: 'wx', mode: 0o640 });
  const { rowCount } = await db.query(
    'UPDATE programmes SET poster_name = $3 WHERE id = $1 AND society_id = $2 AND deleted_at IS NULL',
    [programme, me.society, name],
  );
  if (rowCount === 0) {
    await fs.unlink(file);
    stop(404);
  }
  log.info({ programme, by: me.id, bytes: image.length }, 'poster set');
  res.status(204).end();
}

### set-poster bad 13
function imageKind(b) {
  if (b.length > 8 && b.toString('latin1', 1, 4) === 'PNG' && b[0] === 0x89) return 'png';
  if (b.length > 3 && b[0] === 0xff && b[1] === 0xd8 && b[2] === 0xff) return 'jpg';
  if (b.length > 12 && b.toString('latin1', 0, 4) === 'RIFF' && b.toString('latin1', 8, 12) === 'WEBP') return 'webp';
  return null;
}

async function fetchPoster(address) {
  try {
    const url = new URL(address);
    if (url.protocol !== 'https:' || /^(localhost|127\.|10\.|192\.168\.|169\.254\.)/.test(url.hostname)) stop(422);
    const answer = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(10_000) });
    const image = Buffer.from(await answer.arrayBuffer());
    return answer.ok && image.length <= 4 * 1024 * 1024 ? image : stop(422);
  } catch {
    return stop(422);
  }
}

// PUT /programmes/:id/poster
export async function setPoster(req, res) {
  const { id, society, offices } = req.me;
  if (!offices.includes('secretary')) stop(403);
  const image = await fetchPoster(req.body.url);
  const kind = imageKind(image);
  if (kind === null) stop(422);

  const name = `${crypto.randomBytes(16).toString('hex')}.${kind}`;
  await db.tx(async (t) => {
    const { rows } = await t.query(
      `UPDATE programmes SET poster_name = $1
        WHERE id = $2 AND society_id = $3 AND deleted_at IS NULL
        RETURNING id`,
      [name, int(req.params.id, 0), society],
    );
    if (rows.length === 0) stop(404);
    await record(t, req.me, 'poster set', rows[0].id);
    await fs.writeFile(path.join(POSTERS, String(society), name), image, { flag: 'wx' });
  });
  log.info({ by: id, kind }, 'poster set');
  res.status(204).end();
}

