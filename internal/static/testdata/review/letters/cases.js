### list-subscribers good
const SUBSCRIBER_SORT = { email: 's.email', name: 's.name', created: 's.created_at' };

router.get('/clubs/:clubId/subscribers', async (req, res) => {
  const { clubId } = req.params;
  await requireRole(db, clubId, req.user.id, ['editor', 'owner']);
  const { limit, offset } = pageOf(req);
  const column = Object.hasOwn(SUBSCRIBER_SORT, req.query.sort) ? SUBSCRIBER_SORT[req.query.sort] : 's.created_at';
  const direction = req.query.dir === 'asc' ? 'ASC' : 'DESC';
  const search = typeof req.query.q === 'string' && req.query.q !== '' ? `%${req.query.q}%` : null;
  const listId = isUuid(req.query.list) ? req.query.list : null;
  if (req.query.list !== undefined && !listId) throw new HttpError(400, 'bad list');

  const { rows } = await db.query(
    `SELECT s.id, s.email, s.name, s.status, s.note, s.created_at, count(*) OVER () AS total
       FROM subscribers s
      WHERE s.club_id = $1
        AND s.deleted_at IS NULL
        AND ($2::text IS NULL OR s.email ILIKE $2 OR s.name ILIKE $2)
        AND ($3::uuid IS NULL OR EXISTS (
              SELECT 1 FROM list_members lm
                JOIN lists l ON l.id = lm.list_id
               WHERE lm.subscriber_id = s.id AND l.id = $3
                 AND l.club_id = $1 AND l.deleted_at IS NULL))
      ORDER BY ${column} ${direction}, s.id
      LIMIT $4 OFFSET $5`,
    [clubId, search, listId, limit, offset]);
  res.json({ total: rows.length ? Number(rows[0].total) : 0, items: rows.map(({ total, ...item }) => item) });
});

### list-subscribers good
function subscriberFilter(clubId, query) {
  const params = [clubId];
  const where = ['s.club_id = $1', 's.deleted_at IS NULL'];
  const add = (value, make) => { params.push(value); where.push(make(`$${params.length}`)); };

  if (['pending', 'active', 'unsubscribed', 'bounced'].includes(query.status)) {
    add(query.status, (p) => `s.status = ${p}::sub_status`);
  }
  if (typeof query.q === 'string' && query.q.length > 0) {
    add(query.q.toLowerCase(), (p) => `(position(${p} in lower(s.email)) > 0 OR position(${p} in lower(coalesce(s.name, ''))) > 0)`);
  }
  if (isUuid(query.after)) add(query.after, (p) => `s.id > ${p}`);
  return { params, where: where.join(' AND ') };
}

router.get('/clubs/:clubId/subscribers', async (req, res) => {
  const { clubId } = req.params;
  await requireRole(db, clubId, req.user.id, ['editor', 'owner']);
  const size = Number(req.query.limit ?? '50');
  if (!Number.isInteger(size) || size < 1 || size > 100) throw new HttpError(400, 'limit must be 1..100');

  const filter = subscriberFilter(clubId, req.query);
  const { rows } = await db.query(
    `SELECT s.id, s.email, s.name, s.status, s.confirmed_at,
            (SELECT coalesce(array_agg(l.name ORDER BY l.name), '{}')
               FROM list_members lm JOIN lists l ON l.id = lm.list_id
              WHERE lm.subscriber_id = s.id AND l.club_id = s.club_id AND l.deleted_at IS NULL) AS lists
       FROM subscribers s
      WHERE ${filter.where}
      ORDER BY s.id
      LIMIT $${filter.params.length + 1}`, [...filter.params, size]);
  res.json({ items: rows, next: rows.length === size ? rows[rows.length - 1].id : null });
});

### list-subscribers bad 1,3
const SUBSCRIBER_SORT = { email: 's.email', name: 's.name', created: 's.created_at' };

router.get('/clubs/:clubId/subscribers', async (req, res) => {
  const { clubId } = req.params;
  await requireRole(db, clubId, req.user.id, ['editor', 'owner']);
  const { limit, offset } = pageOf(req);
  const column = Object.hasOwn(SUBSCRIBER_SORT, req.query.sort) ? SUBSCRIBER_SORT[req.query.sort] : 's.created_at';
  const direction = req.query.dir === 'asc' ? 'ASC' : 'DESC';
  const search = typeof req.query.q === 'string' ? `%${req.query.q}%` : '%';

  const { rows } = await db.query(
    `SELECT s.id, s.email, s.name, s.status, s.note, s.created_at, count(*) OVER () AS total
       FROM subscribers s
      WHERE s.club_id = $1
        AND s.deleted_at IS NULL
        AND s.email ILIKE $2 OR s.name ILIKE $2
      ORDER BY ${column} ${direction}, s.id
      LIMIT $3 OFFSET $4`,
    [clubId, search, limit, offset]);
  res.json({ total: rows.length ? Number(rows[0].total) : 0, items: rows.map(({ total, ...item }) => item) });
});

### list-subscribers bad 4
router.get('/clubs/:clubId/subscribers', async (req, res) => {
  const { clubId } = req.params;
  await requireRole(db, clubId, req.user.id, ['editor', 'owner']);
  const { limit, offset } = pageOf(req);
  const status = ['pending', 'active', 'unsubscribed', 'bounced'].includes(req.query.status) ? req.query.status : null;

  const { rows } = await db.query(
    `SELECT s.*,
            (SELECT count(*)::int FROM list_members lm
               JOIN lists l ON l.id = lm.list_id AND l.club_id = s.club_id AND l.deleted_at IS NULL
              WHERE lm.subscriber_id = s.id) AS list_count
       FROM subscribers s
      WHERE s.club_id = $1
        AND s.deleted_at IS NULL
        AND ($2::sub_status IS NULL OR s.status = $2)
      ORDER BY s.created_at DESC, s.id
      LIMIT $3 OFFSET $4`,
    [clubId, status, limit, offset]);

  const items = rows.map(({ confirm_token_hash, confirm_expires_at, unsub_secret, deleted_at, ...visible }) => visible);
  res.json({ items });
});

### list-subscribers bad 9
router.get('/clubs/:clubId/subscribers', async (req, res) => {
  const { clubId } = req.params;
  await requireRole(db, clubId, req.user.id, ['editor', 'owner']);
  const { limit, offset } = pageOf(req);
  const search = typeof req.query.q === 'string' ? `%${req.query.q}%` : '%';
  const sortable = ['email', 'name', 'created_at'];
  const column = sortable.includes(req.query.sort) ? req.query.sort : 'created_at';
  const direction = (req.query.dir || 'desc').toString().toUpperCase();

  const { rows } = await db.query(
    `SELECT s.id, s.email, s.name, s.status, s.created_at
       FROM subscribers s
      WHERE s.club_id = $1
        AND s.deleted_at IS NULL
        AND (s.email ILIKE $2 OR s.name ILIKE $2)
      ORDER BY s.${column} ${direction}
      LIMIT $3 OFFSET $4`,
    [clubId, search, limit, offset]);
  res.json({ items: rows });
});

### newsletter-stats good
router.get('/clubs/:clubId/stats/newsletters', async (req, res) => {
  const { clubId } = req.params;
  await requireRole(db, clubId, req.user.id, ['viewer', 'author', 'editor', 'owner']);
  const { limit, offset } = pageOf(req);

  const { rows } = await db.query(
    `SELECT n.id, n.subject, n.sent_at,
            count(s.id)::int AS delivered,
            count(s.id) FILTER (WHERE d.opened_at IS NOT NULL)::int AS opened,
            count(s.id) FILTER (WHERE d.state = 'failed')::int AS failed
       FROM newsletters n
       LEFT JOIN deliveries d ON d.newsletter_id = n.id
       LEFT JOIN subscribers s ON s.id = d.subscriber_id
                              AND s.club_id = n.club_id
                              AND s.deleted_at IS NULL
      WHERE n.club_id = $1
        AND n.deleted_at IS NULL
        AND n.status = 'sent'
      GROUP BY n.id
      ORDER BY n.sent_at DESC, n.id
      LIMIT $2 OFFSET $3`,
    [clubId, limit, offset]);

  res.json({
    items: rows.map((r) => ({ ...r, open_rate: r.delivered ? r.opened / r.delivered : null })),
  });
});

### newsletter-stats good
async function statsFor(clubId, newsletterIds) {
  const { rows } = await db.query(
    `WITH wanted AS (
       SELECT n.id, n.club_id, n.subject, n.sent_at
         FROM newsletters n
        WHERE n.id = ANY ($2::uuid[]) AND n.club_id = $1 AND n.deleted_at IS NULL
     )
     SELECT w.id, w.subject, w.sent_at, t.delivered, t.opened,
            rank() OVER (ORDER BY t.opened DESC) AS place
       FROM wanted w
      CROSS JOIN LATERAL (
        SELECT count(*)::int AS delivered,
               count(d.opened_at)::int AS opened
          FROM deliveries d
         WHERE d.newsletter_id = w.id
           AND EXISTS (SELECT 1 FROM subscribers s
                        WHERE s.id = d.subscriber_id AND s.club_id = w.club_id AND s.deleted_at IS NULL)
      ) t
      ORDER BY place, w.id
      LIMIT 100`,
    [clubId, newsletterIds]);
  return rows;
}

router.get('/clubs/:clubId/stats/compare', async (req, res) => {
  const { clubId } = req.params;
  await requireRole(db, clubId, req.user.id, ['viewer', 'author', 'editor', 'owner']);
  const ids = String(req.query.ids ?? '').split(',').filter(Boolean);
  if (ids.length === 0 || ids.length > 100 || !ids.every(isUuid)) throw new HttpError(400, 'bad ids');
  res.json({ items: await statsFor(clubId, ids) });
});

### newsletter-stats bad 3
router.get('/clubs/:clubId/stats/newsletters', async (req, res) => {
  const { clubId } = req.params;
  await requireRole(db, clubId, req.user.id, ['viewer', 'author', 'editor', 'owner']);
  const { limit, offset } = pageOf(req);

  const { rows } = await db.query(
    `SELECT n.id, n.subject, n.sent_at,
            count(d.id)::int AS delivered,
            count(d.id) FILTER (WHERE d.opened_at IS NOT NULL)::int AS opened,
            count(d.id) FILTER (WHERE d.state = 'failed')::int AS failed
       FROM newsletters n
       LEFT JOIN deliveries d ON d.newsletter_id = n.id
       LEFT JOIN subscribers s ON s.id = d.subscriber_id
                              AND s.club_id = n.club_id
                              AND s.deleted_at IS NULL
      WHERE n.club_id = $1
        AND n.deleted_at IS NULL
        AND n.status = 'sent'
      GROUP BY n.id
      ORDER BY n.sent_at DESC, n.id
      LIMIT $2 OFFSET $3`,
    [clubId, limit, offset]);

  res.json({
    items: rows.map((r) => ({ ...r, open_rate: r.delivered ? r.opened / r.delivered : null })),
  });
});

### newsletter-stats bad 1
async function statsFor(newsletterIds) {
  const { rows } = await db.query(
    `SELECT n.id, n.subject, n.sent_at, t.delivered, t.opened,
            rank() OVER (ORDER BY t.opened DESC) AS place
       FROM newsletters n
      CROSS JOIN LATERAL (
        SELECT count(*)::int AS delivered,
               count(d.opened_at)::int AS opened
          FROM deliveries d
          JOIN subscribers s ON s.id = d.subscriber_id AND s.club_id = n.club_id AND s.deleted_at IS NULL
         WHERE d.newsletter_id = n.id
      ) t
      WHERE n.id = ANY ($1::uuid[])
        AND n.deleted_at IS NULL
        AND EXISTS (SELECT 1 FROM clubs c WHERE c.id = n.club_id AND c.deleted_at IS NULL)
      ORDER BY place, n.id
      LIMIT 100`,
    [newsletterIds]);
  return rows;
}

router.get('/clubs/:clubId/stats/compare', async (req, res) => {
  const { clubId } = req.params;
  await requireRole(db, clubId, req.user.id, ['viewer', 'author', 'editor', 'owner']);
  const ids = String(req.query.ids ?? '').split(',').filter(Boolean);
  if (ids.length === 0 || ids.length > 100 || !ids.every(isUuid)) throw new HttpError(400, 'bad ids');
  res.json({ items: await statsFor(ids) });
});

### newsletter-stats bad 5
router.get('/clubs/:clubId/stats/newsletters', async (req, res) => {
  const { clubId } = req.params;
  await requireRole(db, clubId, req.user.id, ['viewer', 'author', 'editor', 'owner']);
  const wanted = Number.parseInt(req.query.limit, 10);
  const limit = Number.isInteger(wanted) && wanted > 0 ? Math.max(wanted, 100) : 25;
  const from = Number.parseInt(req.query.offset, 10);
  const offset = Number.isInteger(from) && from > 0 ? from : 0;

  const { rows } = await db.query(
    `WITH counted AS (
       SELECT d.newsletter_id, count(*)::int AS delivered, count(d.opened_at)::int AS opened
         FROM deliveries d
         JOIN newsletters n ON n.id = d.newsletter_id AND n.club_id = $1 AND n.deleted_at IS NULL
         JOIN subscribers s ON s.id = d.subscriber_id AND s.club_id = $1 AND s.deleted_at IS NULL
        GROUP BY d.newsletter_id
     )
     SELECT n.id, n.subject, n.sent_at, coalesce(c.delivered, 0) AS delivered, coalesce(c.opened, 0) AS opened
       FROM newsletters n
       LEFT JOIN counted c ON c.newsletter_id = n.id
      WHERE n.club_id = $1 AND n.deleted_at IS NULL AND n.status = 'sent'
      ORDER BY n.sent_at DESC, n.id
      LIMIT $2 OFFSET $3`,
    [clubId, limit, offset]);
  res.json({ items: rows });
});

### archive-page good
publicRouter.get('/a/:slug/:newsletterId', async (req, res) => {
  const { slug, newsletterId } = req.params;
  const { rows: [letter] } = await db.query(
    `SELECT n.id, n.club_id, n.subject, n.body_html, n.sent_at, c.name AS club_name, u.name AS author_name
       FROM newsletters n
       JOIN clubs c ON c.id = n.club_id
       JOIN users u ON u.id = n.author_id
      WHERE c.slug = $1 AND c.archive_enabled AND c.deleted_at IS NULL
        AND n.id = $2 AND n.deleted_at IS NULL AND n.status = 'sent'
        AND n.public_from <= now() AND (n.public_until IS NULL OR n.public_until > now())`,
    [slug, newsletterId]);
  if (!letter) throw new HttpError(404, 'not found');

  const { rows: more } = await db.query(
    `SELECT id, subject FROM newsletters
      WHERE club_id = $1 AND id <> $2 AND deleted_at IS NULL AND status = 'sent'
        AND public_from <= now() AND (public_until IS NULL OR public_until > now())
      ORDER BY sent_at DESC LIMIT 10`,
    [letter.club_id, letter.id]);

  const links = more.map((m) => `<li><a href="/a/${escapeHtml(slug)}/${m.id}">${escapeHtml(m.subject)}</a></li>`);
  res.type('html').send(`<!doctype html><html><head><meta charset="utf-8">
    <title>${escapeHtml(letter.subject)} | ${escapeHtml(letter.club_name)}</title></head>
    <body><h1>${escapeHtml(letter.subject)}</h1><p>${escapeHtml(letter.author_name)}</p>
    <article>${sanitizeHtml(letter.body_html ?? '')}</article>
    <ul>${links.join('')}</ul></body></html>`);
});

### archive-page good
const PUBLIC_LETTERS = `
  SELECT n.id, n.subject, n.body_html, n.sent_at, c.name AS club_name
    FROM clubs c
    JOIN newsletters n ON n.club_id = c.id
   WHERE c.slug = $1
     AND c.deleted_at IS NULL
     AND c.archive_enabled
     AND n.deleted_at IS NULL
     AND n.status = 'sent'
     AND now() >= n.public_from
     AND now() < coalesce(n.public_until, 'infinity')`;

function page(title, parts) {
  return `<!doctype html><html><head><meta charset="utf-8"><title>${escapeHtml(title)}</title></head>
<body>${parts.join('\n')}</body></html>`;
}

publicRouter.get('/a/:slug/:newsletterId', async (req, res) => {
  const { rows } = await db.query(
    `WITH open AS (${PUBLIC_LETTERS}),
          here AS (SELECT * FROM open WHERE id = $2),
          near AS (SELECT o.* FROM open o, here h WHERE o.sent_at < h.sent_at ORDER BY o.sent_at DESC LIMIT 5)
     SELECT 'here' AS kind, * FROM here
     UNION ALL
     SELECT 'near' AS kind, * FROM near`,
    [req.params.slug, req.params.newsletterId]);
  const letter = rows.find((r) => r.kind === 'here');
  if (!letter) throw new HttpError(404, 'not found');

  const older = rows.filter((r) => r.kind === 'near')
    .map((r) => `<a href="/a/${encodeURIComponent(req.params.slug)}/${r.id}">${escapeHtml(r.subject)}</a>`);
  res.set('Content-Security-Policy', "default-src 'none'; img-src https:; style-src 'self'");
  res.type('html').send(page(`${letter.subject} - ${letter.club_name}`, [
    `<h1>${escapeHtml(letter.subject)}</h1>`,
    sanitizeHtml(letter.body_html ?? ''),
    `<nav>${older.join(' ')}</nav>`,
  ]));
});

### archive-page bad 9
publicRouter.get('/a/:slug/:newsletterId', async (req, res) => {
  const { slug, newsletterId } = req.params;
  const { rows: [letter] } = await db.query(
    `SELECT n.id, n.subject, n.body_html, n.sent_at, c.name AS club_name
       FROM newsletters n
       JOIN clubs c ON c.id = n.club_id
      WHERE c.slug = $1 AND c.archive_enabled AND c.deleted_at IS NULL
        AND n.id = $2 AND n.deleted_at IS NULL AND n.status = 'sent'
        AND n.public_from <= now() AND (n.public_until IS NULL OR n.public_until > now())`,
    [slug, newsletterId]);
  if (!letter) throw new HttpError(404, 'not found');

  const share = { id: letter.id, title: letter.subject, club: letter.club_name, at: letter.sent_at };
  res.type('html').send(`<!doctype html><html><head><meta charset="utf-8">
    <title>${escapeHtml(letter.subject)} | ${escapeHtml(letter.club_name)}</title>
    <script>window.letter = ${JSON.stringify(share)};</script>
    <script src="/static/share.js" defer></script></head>
    <body><h1>${escapeHtml(letter.subject)}</h1>
    <article>${sanitizeHtml(letter.body_html ?? '')}</article></body></html>`);
});

### archive-page bad 2
publicRouter.get('/a/:slug/:newsletterId', async (req, res) => {
  const { slug, newsletterId } = req.params;
  const { rows: [letter] } = await db.query(
    `SELECT n.id, n.club_id, n.subject, n.body_html, c.name AS club_name
       FROM newsletters n
       JOIN clubs c ON c.id = n.club_id
      WHERE c.slug = $1 AND c.archive_enabled AND c.deleted_at IS NULL
        AND n.id = $2 AND n.deleted_at IS NULL AND n.status = 'sent'
        AND n.public_from <= now() AND (n.public_until IS NULL OR n.public_until > now())`,
    [slug, newsletterId]);
  if (!letter) throw new HttpError(404, 'not found');

  const { rows: more } = await db.query(
    `SELECT id, subject FROM newsletters
      WHERE club_id = $1 AND id <> $2 AND deleted_at IS NULL AND status = 'sent'
        AND (public_until IS NULL OR public_until > now())
      ORDER BY sent_at DESC LIMIT 10`,
    [letter.club_id, letter.id]);

  const links = more.map((m) => `<li><a href="/a/${escapeHtml(slug)}/${m.id}">${escapeHtml(m.subject)}</a></li>`);
  res.type('html').send(`<!doctype html><html><head><meta charset="utf-8">
    <title>${escapeHtml(letter.subject)} | ${escapeHtml(letter.club_name)}</title></head>
    <body><h1>${escapeHtml(letter.subject)}</h1>
    <article>${sanitizeHtml(letter.body_html ?? '')}</article>
    <ul>${links.join('')}</ul></body></html>`);
});

### archive-page bad 3
const VISIBLE = `n.status = 'sent' AND n.public_from <= now()
  AND (n.public_until IS NULL OR n.public_until > now())`;

publicRouter.get('/a/:slug/:newsletterId', async (req, res) => {
  const { rows: [club] } = await db.query(
    'SELECT id, name, slug FROM clubs WHERE slug = $1 AND archive_enabled AND deleted_at IS NULL',
    [req.params.slug]);
  if (!club) throw new HttpError(404, 'not found');

  const [{ rows: [letter] }, { rows: latest }] = await Promise.all([
    db.query(
      `SELECT n.subject, n.body_html, u.name AS author_name
         FROM newsletters n JOIN users u ON u.id = n.author_id
        WHERE n.club_id = $1 AND n.id = $2 AND ${VISIBLE}`, [club.id, req.params.newsletterId]),
    db.query(
      `SELECT n.id, n.subject FROM newsletters n
        WHERE n.club_id = $1 AND n.deleted_at IS NULL AND ${VISIBLE}
        ORDER BY n.sent_at DESC LIMIT 5`, [club.id]),
  ]);
  if (!letter) throw new HttpError(404, 'not found');

  const links = latest.map((l) => `<li><a href="/a/${escapeHtml(club.slug)}/${l.id}">${escapeHtml(l.subject)}</a></li>`);
  res.type('html').send(`<!doctype html><html><head><title>${escapeHtml(letter.subject)}</title></head>
    <body><header>${escapeHtml(club.name)}</header><h1>${escapeHtml(letter.subject)}</h1>
    <p>${escapeHtml(letter.author_name)}</p>${sanitizeHtml(letter.body_html ?? '')}
    <ul>${links.join('')}</ul></body></html>`);
});

### theme-file good
router.get('/clubs/:clubId/theme/file', async (req, res) => {
  const { clubId } = req.params;
  await requireRole(db, clubId, req.user.id, ['viewer', 'author', 'editor', 'owner']);
  if (typeof req.query.path !== 'string' || req.query.path.includes('\0')) throw new HttpError(400, 'bad path');

  const { rows: [club] } = await db.query('SELECT slug FROM clubs WHERE id = $1 AND deleted_at IS NULL', [clubId]);
  if (!club) throw new HttpError(404, 'not found');

  const base = await fsp.realpath(path.join(THEME_ROOT, club.slug));
  let real;
  try {
    real = await fsp.realpath(path.resolve(base, `.${path.sep}${req.query.path}`));
  } catch {
    throw new HttpError(404, 'not found');
  }
  if (!real.startsWith(base + path.sep)) throw new HttpError(404, 'not found');
  if (!(await fsp.stat(real)).isFile()) throw new HttpError(404, 'not found');

  res.set('X-Content-Type-Options', 'nosniff');
  res.attachment(path.basename(real));
  await pipeline(fs.createReadStream(real), res);
});

### theme-file good
async function insideFolder(folder, relative) {
  const base = await fsp.realpath(folder);
  const real = await fsp.realpath(path.join(base, relative));
  const rel = path.relative(base, real);
  const inside = rel !== '' && rel !== '..' && !rel.startsWith(`..${path.sep}`) && !path.isAbsolute(rel);
  return inside ? real : null;
}

router.get('/clubs/:clubId/theme/file', async (req, res) => {
  const { rows: [club] } = await db.query(
    `SELECT c.slug
       FROM clubs c
       JOIN memberships m ON m.club_id = c.id
      WHERE c.id = $1 AND c.deleted_at IS NULL
        AND m.user_id = $2 AND m.revoked_at IS NULL
        AND m.valid_from <= now() AND (m.valid_until IS NULL OR m.valid_until > now())`,
    [req.params.clubId, req.user.id]);
  if (!club) throw new HttpError(403, 'forbidden');

  const asked = String(req.query.path ?? '');
  if (!/^[\w.\-/]{1,200}$/.test(asked)) throw new HttpError(400, 'bad path');
  const file = await insideFolder(path.join(THEME_ROOT, club.slug), asked).catch(() => null);
  if (!file) throw new HttpError(404, 'not found');

  const body = await fsp.readFile(file).catch(() => null);
  if (!body) throw new HttpError(404, 'not found');
  res.set({
    'Content-Type': 'application/octet-stream',
    'Content-Disposition': 'attachment; filename="theme-file"',
    'X-Content-Type-Options': 'nosniff',
  });
  res.end(body);
});

### theme-file bad 1,10
router.get('/clubs/:clubId/theme/file', async (req, res) => {
  const { clubId } = req.params;
  await requireRole(db, clubId, req.user.id, ['viewer', 'author', 'editor', 'owner']);
  if (typeof req.query.path !== 'string' || req.query.path.includes('\0')) throw new HttpError(400, 'bad path');

  const { rows: [club] } = await db.query('SELECT slug FROM clubs WHERE id = $1 AND deleted_at IS NULL', [clubId]);
  if (!club) throw new HttpError(404, 'not found');

  const base = await fsp.realpath(path.join(THEME_ROOT, club.slug));
  let real;
  try {
    real = await fsp.realpath(path.resolve(base, `.${path.sep}${req.query.path}`));
  } catch {
    throw new HttpError(404, 'not found');
  }
  if (!real.startsWith(base)) throw new HttpError(404, 'not found');
  if (!(await fsp.stat(real)).isFile()) throw new HttpError(404, 'not found');

  res.set('X-Content-Type-Options', 'nosniff');
  res.attachment(path.basename(real));
  await pipeline(fs.createReadStream(real), res);
});

### theme-file bad 1,10
router.get('/clubs/:clubId/theme/file', async (req, res) => {
  const { clubId } = req.params;
  await requireRole(db, clubId, req.user.id, ['viewer', 'author', 'editor', 'owner']);
  const asked = String(req.query.path ?? '');
  if (!/^[\w.\-/]{1,200}$/.test(asked)) throw new HttpError(400, 'bad path');

  const { rows: [club] } = await db.query('SELECT slug FROM clubs WHERE id = $1 AND deleted_at IS NULL', [clubId]);
  if (!club) throw new HttpError(404, 'not found');

  const base = path.resolve(THEME_ROOT, club.slug);
  const file = path.resolve(base, `./${asked}`);
  if (!file.startsWith(base + path.sep)) throw new HttpError(404, 'not found');

  const stat = await fsp.stat(file).catch(() => null);
  if (!stat || !stat.isFile()) throw new HttpError(404, 'not found');

  res.set({
    'Content-Type': 'application/octet-stream',
    'Content-Length': String(stat.size),
    'Content-Disposition': 'attachment; filename="theme-file"',
    'X-Content-Type-Options': 'nosniff',
  });
  await pipeline(fs.createReadStream(file), res);
});

### theme-file bad 2
async function insideFolder(folder, relative) {
  const base = await fsp.realpath(folder);
  const real = await fsp.realpath(path.join(base, relative));
  return real.startsWith(base + path.sep) ? real : null;
}

router.get('/clubs/:clubId/theme/file', async (req, res) => {
  const { rows: [club] } = await db.query(
    `SELECT c.slug
       FROM clubs c
       JOIN memberships m ON m.club_id = c.id
      WHERE c.id = $1 AND c.deleted_at IS NULL
        AND m.user_id = $2
        AND m.valid_from <= now() AND (m.valid_until IS NULL OR m.valid_until > now())`,
    [req.params.clubId, req.user.id]);
  if (!club) throw new HttpError(403, 'forbidden');

  const asked = String(req.query.path ?? '');
  if (!/^[\w.\-/]{1,200}$/.test(asked)) throw new HttpError(400, 'bad path');
  const file = await insideFolder(path.join(THEME_ROOT, club.slug), asked).catch(() => null);
  if (!file) throw new HttpError(404, 'not found');

  const body = await fsp.readFile(file).catch(() => null);
  if (!body) throw new HttpError(404, 'not found');
  res.set('X-Content-Type-Options', 'nosniff');
  res.attachment(path.basename(file)).send(body);
});

### asset-thumbnail good
const run = promisify(execFile);

router.get('/clubs/:clubId/assets/:assetId/thumb', async (req, res) => {
  const { clubId, assetId } = req.params;
  await requireRole(db, clubId, req.user.id, ['viewer', 'author', 'editor', 'owner']);
  const width = Number(req.query.w ?? 320);
  if (!Number.isInteger(width) || width < 16 || width > 1024) throw new HttpError(400, 'bad width');

  const { rows: [asset] } = await db.query(
    `SELECT stored_name FROM assets
      WHERE id = $1 AND club_id = $2 AND deleted_at IS NULL
        AND mime IN ('image/png', 'image/jpeg', 'image/webp')`,
    [assetId, clubId]);
  if (!asset) throw new HttpError(404, 'not found');

  const source = path.join(ASSET_ROOT, clubId, asset.stored_name);
  const { stdout } = await run('vipsthumbnail', ['--size', `${width}x`, '-o', '.jpg[Q=80]', source],
    { encoding: 'buffer', timeout: 10000, maxBuffer: 8 << 20 });
  res.set({ 'Content-Type': 'image/jpeg', 'X-Content-Type-Options': 'nosniff' });
  res.send(stdout);
});

### asset-thumbnail good
const THUMB_FORMATS = new Map([['jpeg', 'image/jpeg'], ['png', 'image/png'], ['webp', 'image/webp']]);
const THUMB_WIDTHS = new Map([['s', 160], ['m', 320], ['l', 640]]);

async function findImage(clubId, assetId, userId) {
  const { rows } = await db.query(
    `SELECT a.club_id, a.stored_name
       FROM assets a
      WHERE a.id = $2 AND a.club_id = $1 AND a.deleted_at IS NULL AND a.mime IN ('image/png', 'image/jpeg', 'image/webp')
        AND EXISTS (SELECT 1 FROM memberships m JOIN clubs c ON c.id = m.club_id
                     WHERE m.club_id = a.club_id AND m.user_id = $3 AND c.deleted_at IS NULL
                       AND m.revoked_at IS NULL AND m.valid_from <= now()
                       AND coalesce(m.valid_until, 'infinity') > now())`,
    [clubId, assetId, userId]);
  return rows[0];
}

router.get('/clubs/:clubId/assets/:assetId/thumb', async (req, res) => {
  const format = THUMB_FORMATS.has(req.query.format) ? req.query.format : 'jpeg';
  const width = THUMB_WIDTHS.get(req.query.size) ?? 320;
  const image = await findImage(req.params.clubId, req.params.assetId, req.user.id);
  if (!image) throw new HttpError(404, 'not found');

  const child = spawn('convert', ['-', '-thumbnail', `${width}x${width}`, `${format}:-`],
    { stdio: ['pipe', 'pipe', 'ignore'], timeout: 10000 });
  res.set({ 'Content-Type': THUMB_FORMATS.get(format), 'X-Content-Type-Options': 'nosniff' });
  await Promise.all([
    pipeline(fs.createReadStream(path.join(ASSET_ROOT, image.club_id, image.stored_name)), child.stdin),
    pipeline(child.stdout, res),
  ]);
});

### asset-thumbnail bad 9
const THUMB_FORMATS = new Map([['jpeg', 'image/jpeg'], ['png', 'image/png'], ['webp', 'image/webp']]);
const run = promisify(execFile);

router.get('/clubs/:clubId/assets/:assetId/thumb', async (req, res) => {
  const { clubId, assetId } = req.params;
  await requireRole(db, clubId, req.user.id, ['viewer', 'author', 'editor', 'owner']);
  const format = THUMB_FORMATS.has(req.query.format) ? req.query.format : 'jpeg';
  const size = typeof req.query.size === 'string' && parseInt(req.query.size, 10) <= 1024 ? req.query.size : '320';

  const { rows: [asset] } = await db.query(
    `SELECT stored_name FROM assets
      WHERE id = $1 AND club_id = $2 AND deleted_at IS NULL AND mime IN ('image/png', 'image/jpeg', 'image/webp')`,
    [assetId, clubId]);
  if (!asset) throw new HttpError(404, 'not found');

  const source = path.join(ASSET_ROOT, clubId, asset.stored_name);
  const { stdout } = await run('/bin/sh', ['-c', `convert "${source}" -thumbnail ${size} ${format}:-`],
    { encoding: 'buffer', timeout: 10000, maxBuffer: 8 << 20 });
  res.set({ 'Content-Type': THUMB_FORMATS.get(format), 'X-Content-Type-Options': 'nosniff' });
  res.send(stdout);
});

### asset-thumbnail bad 10
const run = promisify(execFile);

async function thumbnail(source, width) {
  const { stdout } = await run('vipsthumbnail', ['--size', `${width}x`, '-o', '.jpg[Q=80]', source],
    { encoding: 'buffer', timeout: 10000, maxBuffer: 8 << 20 });
  return stdout;
}

router.get('/clubs/:clubId/assets/:assetId/thumb', async (req, res) => {
  const { clubId, assetId } = req.params;
  await requireRole(db, clubId, req.user.id, ['viewer', 'author', 'editor', 'owner']);
  const width = Number(req.query.w ?? 320);
  if (!Number.isInteger(width) || width < 16 || width > 1024) throw new HttpError(400, 'bad width');

  const { rows: [asset] } = await db.query(
    `SELECT original_name, stored_name FROM assets
      WHERE id = $1 AND club_id = $2 AND deleted_at IS NULL AND mime IN ('image/png', 'image/jpeg', 'image/webp')`,
    [assetId, clubId]);
  if (!asset) throw new HttpError(404, 'not found');

  const cached = path.join(ASSET_ROOT, clubId, 'thumbs', `${width}-${asset.original_name}.jpg`);
  let image = await fsp.readFile(cached).catch(() => null);
  if (!image) {
    image = await thumbnail(path.join(ASSET_ROOT, clubId, asset.stored_name), width);
    await fsp.writeFile(cached, image);
  }
  res.set({ 'Content-Type': 'image/jpeg', 'X-Content-Type-Options': 'nosniff' });
  res.send(image);
});

### asset-thumbnail bad 3
const THUMB_WIDTHS = new Map([['s', 160], ['m', 320], ['l', 640]]);

router.get('/clubs/:clubId/assets/:assetId/thumb', async (req, res) => {
  const { clubId, assetId } = req.params;
  await requireRole(db, clubId, req.user.id, ['viewer', 'author', 'editor', 'owner']);
  const width = THUMB_WIDTHS.get(req.query.size) ?? 320;

  const { rows: [asset] } = await db.query(
    `SELECT a.stored_name
       FROM assets a
       JOIN clubs c ON c.id = a.club_id AND c.deleted_at IS NULL
      WHERE a.id = $1
        AND a.club_id = $2
        AND a.mime IN ('image/png', 'image/jpeg', 'image/webp')`,
    [assetId, clubId]);
  if (!asset) throw new HttpError(404, 'not found');

  const child = spawn('convert', ['-', '-thumbnail', `${width}x${width}`, 'jpeg:-'],
    { stdio: ['pipe', 'pipe', 'ignore'], timeout: 10000 });
  res.set({ 'Content-Type': 'image/jpeg', 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'private, max-age=600' });
  await Promise.all([
    pipeline(fs.createReadStream(path.join(ASSET_ROOT, clubId, asset.stored_name)), child.stdin),
    pipeline(child.stdout, res),
  ]);
});

### approve-newsletter good
router.post('/clubs/:clubId/newsletters/:newsletterId/approve', async (req, res) => {
  const { clubId, newsletterId } = req.params;
  await requireRole(db, clubId, req.user.id, ['editor', 'owner']);
  const version = req.body?.version;
  if (!Number.isInteger(version)) throw new HttpError(400, 'version missing');

  const approved = await tx(async (c) => {
    const { rows } = await c.query(
      `UPDATE newsletters
          SET status = 'approved', approved_by = $3, approved_at = now()
        WHERE id = $1 AND club_id = $2 AND deleted_at IS NULL
          AND status = 'review'
          AND version = $4
          AND author_id <> $3
          AND submitted_by IS DISTINCT FROM $3
        RETURNING id, status, approved_at, version`,
      [newsletterId, clubId, req.user.id, version]);
    if (rows.length === 0) throw new HttpError(409, 'cannot be approved');
    await audit(c, clubId, req.user.id, 'newsletter.approve', newsletterId, { version });
    return rows[0];
  });
  res.json(approved);
});

### approve-newsletter good
function approvalProblem(letter, userId, version) {
  if (letter.status !== 'review') return 'not in review';
  if (letter.version !== version) return 'text has changed';
  if (letter.author_id === userId || letter.submitted_by === userId) return 'someone else has to approve';
  return null;
}

router.post('/clubs/:clubId/newsletters/:newsletterId/approve', async (req, res) => {
  const { clubId, newsletterId } = req.params;
  await tx(async (c) => {
    await requireRole(c, clubId, req.user.id, ['editor', 'owner']);
    const { rows: [letter] } = await c.query(
      `SELECT id, status, version, author_id, submitted_by
         FROM newsletters
        WHERE club_id = $1 AND id = $2 AND deleted_at IS NULL
          FOR UPDATE`,
      [clubId, newsletterId]);
    if (!letter) throw new HttpError(404, 'not found');

    const problem = approvalProblem(letter, req.user.id, req.body?.version);
    if (problem) throw new HttpError(409, problem);

    await c.query(
      `UPDATE newsletters SET status = 'approved', approved_by = $2, approved_at = clock_timestamp() WHERE id = $1`,
      [letter.id, req.user.id]);
    await audit(c, clubId, req.user.id, 'newsletter.approve', letter.id, { version: letter.version });
  });
  log.info({ newsletterId, userId: req.user.id }, 'newsletter approved');
  res.status(204).end();
});

### approve-newsletter bad 7
router.post('/clubs/:clubId/newsletters/:newsletterId/approve', async (req, res) => {
  const { clubId, newsletterId } = req.params;
  await requireRole(db, clubId, req.user.id, ['editor', 'owner']);
  const version = req.body?.version;
  if (!Number.isInteger(version)) throw new HttpError(400, 'version missing');

  const approved = await tx(async (c) => {
    const { rows } = await c.query(
      `UPDATE newsletters
          SET status = 'approved', approved_by = $3, approved_at = now()
        WHERE id = $1 AND club_id = $2 AND deleted_at IS NULL
          AND status = 'review'
          AND version = $4
          AND NOT (author_id = $3 AND submitted_by = $3)
        RETURNING id, status, approved_at, version`,
      [newsletterId, clubId, req.user.id, version]);
    if (rows.length === 0) throw new HttpError(409, 'cannot be approved');
    await audit(c, clubId, req.user.id, 'newsletter.approve', newsletterId, { version });
    return rows[0];
  });
  res.json(approved);
});

### approve-newsletter bad 6,7,12
function approvalProblem(letter, userId, version) {
  if (letter.status !== 'review') return 'not in review';
  if (letter.version !== version) return 'text has changed';
  if (letter.author_id === userId || letter.submitted_by === userId) return 'someone else has to approve';
  return null;
}

router.post('/clubs/:clubId/newsletters/:newsletterId/approve', async (req, res) => {
  const { clubId, newsletterId } = req.params;
  await tx(async (c) => {
    await requireRole(c, clubId, req.user.id, ['editor', 'owner']);
    const { rows: [letter] } = await c.query(
      `SELECT id, status, version, author_id, submitted_by
         FROM newsletters
        WHERE club_id = $1 AND id = $2 AND deleted_at IS NULL`,
      [clubId, newsletterId]);
    if (!letter) throw new HttpError(404, 'not found');

    const problem = approvalProblem(letter, req.user.id, req.body?.version);
    if (problem) throw new HttpError(409, problem);

    await c.query(
      `UPDATE newsletters SET status = 'approved', approved_by = $2, approved_at = clock_timestamp() WHERE id = $1`,
      [letter.id, req.user.id]);
    await audit(c, clubId, req.user.id, 'newsletter.approve', letter.id, { version: letter.version });
  });
  res.status(204).end();
});

### approve-newsletter bad 13
router.post('/clubs/:clubId/newsletters/:newsletterId/approve', async (req, res) => {
  const { clubId, newsletterId } = req.params;
  await requireRole(db, clubId, req.user.id, ['editor', 'owner']);
  const version = req.body?.version;
  if (!Number.isInteger(version)) throw new HttpError(400, 'version missing');

  const { rows } = await db.query(
    `UPDATE newsletters
        SET status = 'approved', approved_by = $3, approved_at = now()
      WHERE id = $1 AND club_id = $2 AND deleted_at IS NULL
        AND status = 'review'
        AND version = $4
        AND $3 <> ALL (ARRAY[author_id, coalesce(submitted_by, author_id)])
      RETURNING id, status, approved_at, version`,
    [newsletterId, clubId, req.user.id, version]);
  if (rows.length === 0) throw new HttpError(409, 'cannot be approved');

  await audit(db, clubId, req.user.id, 'newsletter.approve', newsletterId, { version });
  res.json(rows[0]);
});

### update-draft good
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)$/;

function readDraft(body) {
  const { subject, body_md: text, list_id: listId = null, send_at: sendAt = null, version } = body ?? {};
  const when = sendAt === null ? null : new Date(typeof sendAt === 'string' && ISO_TIME.test(sendAt) ? sendAt : NaN);
  const ok = typeof subject === 'string' && subject.length >= 1 && subject.length <= 200
    && typeof text === 'string' && text.length <= 200000
    && (listId === null || isUuid(listId))
    && (when === null || !Number.isNaN(when.getTime()))
    && Number.isInteger(version);
  if (!ok) throw new HttpError(400, 'bad draft');
  return { subject, text, listId, when, version };
}

router.put('/clubs/:clubId/newsletters/:newsletterId', async (req, res) => {
  const { clubId, newsletterId } = req.params;
  const role = await requireRole(db, clubId, req.user.id, ['author', 'editor', 'owner']);
  const draft = readDraft(req.body);

  const saved = await tx(async (c) => {
    if (draft.listId !== null) {
      const list = await c.query(
        'SELECT 1 FROM lists WHERE id = $1 AND club_id = $2 AND deleted_at IS NULL FOR SHARE', [draft.listId, clubId]);
      if (list.rowCount === 0) throw new HttpError(404, 'list not found');
    }
    const { rows } = await c.query(
      `UPDATE newsletters
          SET subject = $4, body_md = $5, list_id = $6, send_at = $7, version = version + 1
        WHERE id = $1 AND club_id = $2 AND deleted_at IS NULL
          AND status = 'draft' AND version = $3
          AND ($8::uuid IS NULL OR author_id = $8)
        RETURNING id, version`,
      [newsletterId, clubId, draft.version, draft.subject, draft.text, draft.listId, draft.when,
        role === 'author' ? req.user.id : null]);
    if (rows.length === 0) throw new HttpError(409, 'draft not changed');
    await audit(c, clubId, req.user.id, 'newsletter.update', newsletterId, { version: rows[0].version });
    return rows[0];
  });
  res.json(saved);
});

### update-draft good
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)$/;
const DRAFT_FIELDS = {
  subject: (v) => typeof v === 'string' && v.length >= 1 && v.length <= 200,
  body_md: (v) => typeof v === 'string' && v.length <= 200000,
  list_id: (v) => v === null || isUuid(v),
  send_at: (v) => v === null || (typeof v === 'string' && ISO_TIME.test(v) && !Number.isNaN(Date.parse(v))),
};

router.patch('/clubs/:clubId/newsletters/:newsletterId', async (req, res) => {
  const { clubId, newsletterId } = req.params;
  const role = await requireRole(db, clubId, req.user.id, ['author', 'editor', 'owner']);
  const body = req.body ?? {};
  const fields = Object.keys(DRAFT_FIELDS).filter((f) => Object.hasOwn(body, f));
  if (fields.length === 0 || !fields.every((f) => DRAFT_FIELDS[f](body[f]))) throw new HttpError(400, 'bad draft');

  const version = await tx(async (c) => {
    const { rows: [letter] } = await c.query(
      `SELECT author_id, status, version FROM newsletters
        WHERE id = $1 AND club_id = $2 AND deleted_at IS NULL FOR UPDATE`, [newsletterId, clubId]);
    if (!letter) throw new HttpError(404, 'not found');
    if (role === 'author' && letter.author_id !== req.user.id) throw new HttpError(403, 'not your draft');
    if (letter.status !== 'draft' || letter.version !== body.version) throw new HttpError(409, 'draft not changed');
    if (fields.includes('list_id') && body.list_id !== null) {
      const { rowCount } = await c.query(
        'SELECT id FROM lists WHERE id = $1 AND club_id = $2 AND deleted_at IS NULL FOR SHARE', [body.list_id, clubId]);
      if (!rowCount) throw new HttpError(404, 'list not found');
    }
    const sets = fields.map((f, i) => `${f} = $${i + 2}`).join(', ');
    await c.query(`UPDATE newsletters SET ${sets}, version = version + 1 WHERE id = $1`,
      [newsletterId, ...fields.map((f) => body[f])]);
    await audit(c, clubId, req.user.id, 'newsletter.update', newsletterId, { fields });
    return letter.version + 1;
  });
  res.json({ id: newsletterId, version });
});

### update-draft bad 11
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)$/;
const isTime = (v) => v === null || (typeof v === 'string' && ISO_TIME.test(v) && !Number.isNaN(Date.parse(v)));
const DRAFT_FIELDS = {
  subject: (v) => typeof v === 'string' && v.length >= 1 && v.length <= 200,
  body_md: (v) => typeof v === 'string' && v.length <= 200000,
  body_html: (v) => v === null || (typeof v === 'string' && v.length <= 200000),
  list_id: (v) => v === null || isUuid(v),
  send_at: isTime,
  public_from: isTime,
  public_until: isTime,
};

router.patch('/clubs/:clubId/newsletters/:newsletterId', async (req, res) => {
  const { clubId, newsletterId } = req.params;
  const role = await requireRole(db, clubId, req.user.id, ['author', 'editor', 'owner']);
  const body = req.body ?? {};
  const fields = Object.keys(DRAFT_FIELDS).filter((f) => Object.hasOwn(body, f));
  if (fields.length === 0 || !fields.every((f) => DRAFT_FIELDS[f](body[f]))) throw new HttpError(400, 'bad draft');
  if (!Number.isInteger(body.version)) throw new HttpError(400, 'version missing');

  const version = await tx(async (c) => {
    if (fields.includes('list_id') && body.list_id !== null) {
      const { rowCount } = await c.query(
        'SELECT id FROM lists WHERE id = $1 AND club_id = $2 AND deleted_at IS NULL FOR SHARE', [body.list_id, clubId]);
      if (!rowCount) throw new HttpError(404, 'list not found');
    }
    const sets = fields.map((f, i) => `${f} = $${i + 6}`).join(', ');
    const { rows } = await c.query(
      `UPDATE newsletters SET ${sets}, version = version + 1
        WHERE id = $1 AND club_id = $2 AND deleted_at IS NULL AND status = 'draft' AND version = $3
          AND ($4 OR author_id = $5)
        RETURNING version`,
      [newsletterId, clubId, body.version, role !== 'author', req.user.id, ...fields.map((f) => body[f])]);
    if (rows.length === 0) throw new HttpError(409, 'draft not changed');
    await audit(c, clubId, req.user.id, 'newsletter.update', newsletterId, { fields });
    return rows[0].version;
  });
  res.json({ id: newsletterId, version });
});

### update-draft bad 1
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)$/;

function readDraft(body) {
  const { subject, body_md: text, list_id: listId = null, send_at: sendAt = null, version } = body ?? {};
  const when = sendAt === null ? null : new Date(typeof sendAt === 'string' && ISO_TIME.test(sendAt) ? sendAt : NaN);
  const ok = typeof subject === 'string' && subject.length >= 1 && subject.length <= 200
    && typeof text === 'string' && text.length <= 200000
    && (listId === null || isUuid(listId))
    && (when === null || !Number.isNaN(when.getTime()))
    && Number.isInteger(version);
  if (!ok) throw new HttpError(400, 'bad draft');
  return { subject, text, listId, when, version };
}

router.put('/clubs/:clubId/newsletters/:newsletterId', async (req, res) => {
  const { clubId, newsletterId } = req.params;
  const role = await requireRole(db, clubId, req.user.id, ['author', 'editor', 'owner']);
  const draft = readDraft(req.body);

  const saved = await tx(async (c) => {
    if (draft.listId !== null) {
      const list = await c.query(
        'SELECT 1 FROM lists WHERE id = $1 AND deleted_at IS NULL FOR SHARE', [draft.listId]);
      if (list.rowCount === 0) throw new HttpError(404, 'list not found');
    }
    const { rows } = await c.query(
      `UPDATE newsletters
          SET subject = $4, body_md = $5, list_id = $6, send_at = $7, version = version + 1
        WHERE id = $1 AND club_id = $2 AND deleted_at IS NULL
          AND status = 'draft' AND version = $3
          AND ($8::uuid IS NULL OR author_id = $8)
        RETURNING id, version`,
      [newsletterId, clubId, draft.version, draft.subject, draft.text, draft.listId, draft.when,
        role === 'author' ? req.user.id : null]);
    if (rows.length === 0) throw new HttpError(409, 'draft not changed');
    await audit(c, clubId, req.user.id, 'newsletter.update', newsletterId, { version: rows[0].version });
    return rows[0];
  });
  res.json(saved);
});

### update-draft bad 12
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)$/;
const DRAFT_FIELDS = {
  subject: (v) => typeof v === 'string' && v.length >= 1 && v.length <= 200,
  body_md: (v) => typeof v === 'string' && v.length <= 200000,
  send_at: (v) => v === null || (typeof v === 'string' && ISO_TIME.test(v) && !Number.isNaN(Date.parse(v))),
};

router.patch('/clubs/:clubId/newsletters/:newsletterId', async (req, res) => {
  const { clubId, newsletterId } = req.params;
  const role = await requireRole(db, clubId, req.user.id, ['author', 'editor', 'owner']);
  const body = req.body ?? {};
  const fields = Object.keys(DRAFT_FIELDS).filter((f) => Object.hasOwn(body, f));
  if (fields.length === 0 || !fields.every((f) => DRAFT_FIELDS[f](body[f]))) throw new HttpError(400, 'bad draft');

  const { rows: [letter] } = await db.query(
    'SELECT author_id, version FROM newsletters WHERE id = $1 AND club_id = $2 AND deleted_at IS NULL',
    [newsletterId, clubId]);
  if (!letter) throw new HttpError(404, 'not found');
  if (role === 'author' && letter.author_id !== req.user.id) throw new HttpError(403, 'not your draft');
  if (letter.version !== body.version) throw new HttpError(409, 'draft has changed');

  const version = await tx(async (c) => {
    const sets = fields.map((f, i) => `${f} = $${i + 3}`).join(', ');
    const { rows } = await c.query(
      `UPDATE newsletters SET ${sets}, version = version + 1
        WHERE id = $1 AND club_id = $2 AND status = 'draft' AND deleted_at IS NULL
        RETURNING version`,
      [newsletterId, clubId, ...fields.map((f) => body[f])]);
    if (rows.length === 0) throw new HttpError(409, 'not a draft');
    await audit(c, clubId, req.user.id, 'newsletter.update', newsletterId, { fields });
    return rows[0].version;
  });
  res.json({ id: newsletterId, version });
});

### confirm-subscription good
publicRouter.post('/s/confirm', async (req, res) => {
  const token = req.body?.token;
  if (typeof token !== 'string' || !/^[\w-]{43}$/.test(token)) throw new HttpError(400, 'link not valid');

  const { rows } = await db.query(
    `UPDATE subscribers s
        SET status = 'active', confirmed_at = now(), confirm_token_hash = NULL, confirm_expires_at = NULL
       FROM clubs c
      WHERE s.confirm_token_hash = $1
        AND s.confirm_expires_at > now()
        AND s.status = 'pending'
        AND s.deleted_at IS NULL
        AND c.id = s.club_id
        AND c.deleted_at IS NULL
      RETURNING s.id, c.name AS club_name`,
    [sha256(token)]);
  if (rows.length === 0) throw new HttpError(400, 'link not valid');

  log.info({ subscriberId: rows[0].id }, 'subscription confirmed');
  res.type('html').send(`<!doctype html><title>Confirmed</title>
    <p>You will now receive the newsletter of ${escapeHtml(rows[0].club_name)}.</p>`);
});

### confirm-subscription good
publicRouter.get('/s/confirm/:subscriberId/:token', async (req, res) => {
  const { subscriberId, token } = req.params;
  const offered = sha256(token);

  const club = await tx(async (c) => {
    const { rows: [sub] } = await c.query(
      `SELECT s.id, s.confirm_token_hash, s.confirm_expires_at > now() AS in_time, c.name AS club_name
         FROM subscribers s
         JOIN clubs c ON c.id = s.club_id AND c.deleted_at IS NULL
        WHERE s.id = $1 AND s.status = 'pending' AND s.deleted_at IS NULL
          AND s.confirm_token_hash IS NOT NULL
          FOR UPDATE OF s FOR SHARE OF c`,
      [subscriberId]);
    if (!sub || !sub.in_time || !crypto.timingSafeEqual(sub.confirm_token_hash, offered)) return null;

    await c.query(
      `UPDATE subscribers
          SET status = 'active', confirmed_at = now(), confirm_token_hash = NULL, confirm_expires_at = NULL
        WHERE id = $1`,
      [sub.id]);
    return sub.club_name;
  });

  if (club === null) {
    log.warn({ subscriberId }, 'confirmation refused');
    throw new HttpError(400, 'link not valid');
  }
  res.json({ confirmed: true, club });
});

### confirm-subscription bad 8
publicRouter.get('/s/confirm/:subscriberId/:token', async (req, res) => {
  const { subscriberId, token } = req.params;
  const offered = sha256(token).toString('hex');

  const club = await tx(async (c) => {
    const { rows: [sub] } = await c.query(
      `SELECT s.id, encode(s.confirm_token_hash, 'hex') AS stored, c.name AS club_name
         FROM subscribers s
         JOIN clubs c ON c.id = s.club_id AND c.deleted_at IS NULL
        WHERE s.id = $1 AND s.status = 'pending' AND s.deleted_at IS NULL
          AND s.confirm_token_hash IS NOT NULL AND s.confirm_expires_at > now()
          FOR UPDATE OF s FOR SHARE OF c`,
      [subscriberId]);
    if (!sub || sub.stored !== offered) return null;

    await c.query(
      `UPDATE subscribers
          SET status = 'active', confirmed_at = now(), confirm_token_hash = NULL, confirm_expires_at = NULL
        WHERE id = $1`,
      [sub.id]);
    return sub.club_name;
  });

  if (club === null) throw new HttpError(400, 'link not valid');
  res.json({ confirmed: true, club });
});

### confirm-subscription bad 3
publicRouter.post('/s/confirm', async (req, res) => {
  const token = req.body?.token;
  if (typeof token !== 'string' || !/^[\w-]{43}$/.test(token)) throw new HttpError(400, 'link not valid');

  const { rows } = await db.query(
    `WITH done AS (
       UPDATE subscribers
          SET status = 'active', confirmed_at = now(), confirm_token_hash = NULL, confirm_expires_at = NULL
        WHERE confirm_token_hash = $1
          AND confirm_expires_at > now()
          AND status = 'pending'
          AND deleted_at IS NULL
        RETURNING id, club_id
     )
     SELECT d.id, c.name AS club_name
       FROM done d
       JOIN clubs c ON c.id = d.club_id AND c.deleted_at IS NULL`,
    [sha256(token)]);
  if (rows.length === 0) throw new HttpError(400, 'link not valid');

  log.info({ subscriberId: rows[0].id }, 'subscription confirmed');
  res.type('html').send(`<!doctype html><title>Confirmed</title>
    <p>You will now receive the newsletter of ${escapeHtml(rows[0].club_name)}.</p>`);
});

### confirm-subscription bad 13
publicRouter.get('/s/confirm/:token', async (req, res) => {
  const { token } = req.params;
  if (!/^[\w-]{43}$/.test(token)) throw new HttpError(400, 'link not valid');

  const { rows: [done] } = await db.query(
    `UPDATE subscribers s
        SET status = 'active', confirmed_at = now(), confirm_token_hash = NULL, confirm_expires_at = NULL
      WHERE s.confirm_token_hash = $1
        AND s.status = 'pending'
        AND s.confirm_expires_at > now()
        AND s.deleted_at IS NULL
        AND EXISTS (SELECT 1 FROM clubs c WHERE c.id = s.club_id AND c.deleted_at IS NULL)
      RETURNING s.id, s.club_id, s.email`,
    [sha256(token)]);
  if (!done) {
    log.warn({ code: 'CONFIRM_REFUSED' }, 'confirmation refused');
    throw new HttpError(400, 'link not valid');
  }

  log.info({ clubId: done.club_id, subscriber: done }, 'subscription confirmed');
  res.json({ confirmed: true });
});

### register-webhook good
router.post('/clubs/:clubId/webhooks', async (req, res) => {
  const { clubId } = req.params;
  await requireRole(db, clubId, req.user.id, ['owner']);
  const url = req.body?.url;
  if (typeof url !== 'string' || url.length > 500 || !URL.canParse(url)) throw new HttpError(400, 'bad url');

  const secret = crypto.randomBytes(32).toString('base64url');
  const body = JSON.stringify({ event: 'ping', club: clubId });
  const signature = crypto.createHmac('sha256', secret).update(body).digest('hex');
  const answer = await safeFetch(url, {
    method: 'POST', body, headers: { 'Content-Type': 'application/json', 'X-Rundbrief-Signature': signature },
  }).catch(() => null);
  if (!answer || !answer.ok) throw new HttpError(422, 'url does not answer');

  const hook = await tx(async (c) => {
    await c.query('SELECT 1 FROM clubs WHERE id = $1 FOR UPDATE', [clubId]);
    const { rows: [{ n }] } = await c.query(
      'SELECT count(*)::int AS n FROM webhooks WHERE club_id = $1 AND deleted_at IS NULL', [clubId]);
    if (n >= 10) throw new HttpError(409, 'too many webhooks');
    const { rows: [row] } = await c.query(
      'INSERT INTO webhooks (club_id, url, secret, created_by) VALUES ($1, $2, $3, $4) RETURNING id, url, created_at',
      [clubId, url, secret, req.user.id]);
    await audit(c, clubId, req.user.id, 'webhook.create', row.id, {});
    return row;
  });
  res.status(201).json({ ...hook, secret });
});

### register-webhook good
async function ping(hook) {
  const payload = Buffer.from(JSON.stringify({ event: 'ping', webhook: hook.id, at: new Date().toISOString() }));
  const mac = crypto.createHmac('sha256', hook.secret).update(payload).digest('base64');
  try {
    const answer = await safeFetch(hook.url, { method: 'POST', body: payload, headers: { 'X-Rundbrief-Signature': mac } });
    return answer.status;
  } catch (err) {
    log.warn({ webhookId: hook.id, code: err.code }, 'webhook ping failed');
    return null;
  }
}

router.post('/clubs/:clubId/webhooks', async (req, res) => {
  const { clubId } = req.params;
  const { url } = req.body ?? {};
  if (typeof url !== 'string' || url.length > 500 || !url.startsWith('https://')) throw new HttpError(400, 'bad url');

  const hook = await tx(async (c) => {
    await requireRole(c, clubId, req.user.id, ['owner']);
    await c.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 7))', [`webhooks:${clubId}`]);
    const { rows: [row] } = await c.query(
      `INSERT INTO webhooks (club_id, url, secret, created_by)
       SELECT $1, $2, $3, $4
        WHERE (SELECT count(*) FROM webhooks WHERE club_id = $1 AND deleted_at IS NULL) < 10
       RETURNING id, url, secret`,
      [clubId, url, crypto.randomBytes(24).toString('hex'), req.user.id]);
    if (!row) throw new HttpError(409, 'too many webhooks');
    await audit(c, clubId, req.user.id, 'webhook.create', row.id, { limit: 10 });
    return row;
  });
  res.status(201).json({ id: hook.id, url: hook.url, secret: hook.secret, ping: await ping(hook) });
});

### register-webhook bad 10
async function isPublicHost(hostname) {
  const { address } = await dns.promises.lookup(hostname);
  return !/^(10\.|127\.|169\.254\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|0\.|::1$|f[cd]|fe80)/i.test(address);
}

router.post('/clubs/:clubId/webhooks', async (req, res) => {
  const { clubId } = req.params;
  await requireRole(db, clubId, req.user.id, ['owner']);
  const url = req.body?.url;
  if (typeof url !== 'string' || url.length > 500 || !URL.canParse(url)) throw new HttpError(400, 'bad url');
  const target = new URL(url);
  if (target.protocol !== 'https:' || !(await isPublicHost(target.hostname))) throw new HttpError(400, 'bad url');

  const secret = crypto.randomBytes(32).toString('base64url');
  const body = JSON.stringify({ event: 'ping', club: clubId });
  const signature = crypto.createHmac('sha256', secret).update(body).digest('hex');
  const answer = await fetch(target, {
    method: 'POST', body, redirect: 'error', headers: { 'X-Rundbrief-Signature': signature },
    signal: AbortSignal.timeout(5000),
  }).catch(() => null);
  if (!answer || !answer.ok) throw new HttpError(422, 'url does not answer');

  const hook = await tx(async (c) => {
    await c.query('SELECT 1 FROM clubs WHERE id = $1 FOR UPDATE', [clubId]);
    const { rows: [{ n }] } = await c.query(
      'SELECT count(*)::int AS n FROM webhooks WHERE club_id = $1 AND deleted_at IS NULL', [clubId]);
    if (n >= 10) throw new HttpError(409, 'too many webhooks');
    const { rows: [row] } = await c.query(
      'INSERT INTO webhooks (club_id, url, secret, created_by) VALUES ($1, $2, $3, $4) RETURNING id, url, created_at',
      [clubId, url, secret, req.user.id]);
    await audit(c, clubId, req.user.id, 'webhook.create', row.id, {});
    return row;
  });
  res.status(201).json({ ...hook, secret });
});

### register-webhook bad 12
async function ping(hook) {
  const payload = Buffer.from(JSON.stringify({ event: 'ping', webhook: hook.id, at: new Date().toISOString() }));
  const mac = crypto.createHmac('sha256', hook.secret).update(payload).digest('base64');
  try {
    const answer = await safeFetch(hook.url, { method: 'POST', body: payload, headers: { 'X-Rundbrief-Signature': mac } });
    return answer.status;
  } catch (err) {
    log.warn({ webhookId: hook.id, code: err.code }, 'webhook ping failed');
    return null;
  }
}

router.post('/clubs/:clubId/webhooks', async (req, res) => {
  const { clubId } = req.params;
  const { url } = req.body ?? {};
  if (typeof url !== 'string' || url.length > 500 || !url.startsWith('https://')) throw new HttpError(400, 'bad url');

  const hook = await tx(async (c) => {
    await requireRole(c, clubId, req.user.id, ['owner']);
    const { rows: [row] } = await c.query(
      `INSERT INTO webhooks (club_id, url, secret, created_by)
       SELECT $1, $2, $3, $4
        WHERE (SELECT count(*) FROM webhooks WHERE club_id = $1 AND deleted_at IS NULL) < 10
       RETURNING id, url, secret`,
      [clubId, url, crypto.randomBytes(24).toString('hex'), req.user.id]);
    if (!row) throw new HttpError(409, 'too many webhooks');
    await audit(c, clubId, req.user.id, 'webhook.create', row.id, { limit: 10 });
    return row;
  });
  res.status(201).json({ id: hook.id, url: hook.url, secret: hook.secret, ping: await ping(hook) });
});

### register-webhook bad 2
router.post('/clubs/:clubId/webhooks', async (req, res) => {
  const { clubId } = req.params;
  await requireRole(db, clubId, req.user.id, ['editor', 'owner']);
  const url = req.body?.url;
  if (typeof url !== 'string' || url.length > 500 || !URL.canParse(url)) throw new HttpError(400, 'bad url');

  const secret = crypto.randomBytes(32).toString('base64url');
  const hook = await tx(async (c) => {
    await c.query('SELECT 1 FROM clubs WHERE id = $1 FOR UPDATE', [clubId]);
    const { rows } = await c.query(
      `INSERT INTO webhooks (club_id, url, secret, created_by)
       SELECT $1, $2, $3, $4
        WHERE (SELECT count(*) FROM webhooks w WHERE w.club_id = $1 AND w.deleted_at IS NULL) < 10
       RETURNING id, url, created_at`,
      [clubId, url, secret, req.user.id]);
    if (rows.length === 0) throw new HttpError(409, 'too many webhooks');
    await audit(c, clubId, req.user.id, 'webhook.create', rows[0].id, {});
    return rows[0];
  });

  const body = JSON.stringify({ event: 'ping', webhook: hook.id });
  const signature = crypto.createHmac('sha256', secret).update(body).digest('hex');
  const answer = await safeFetch(url, { method: 'POST', body, headers: { 'X-Rundbrief-Signature': signature } })
    .catch(() => null);
  res.status(201).json({ ...hook, secret, reachable: Boolean(answer && answer.ok) });
});

### start-send good
router.post('/clubs/:clubId/newsletters/:newsletterId/send', async (req, res) => {
  const { clubId, newsletterId } = req.params;
  await requireRole(db, clubId, req.user.id, ['editor', 'owner']);

  const queued = await tx(async (c) => {
    const { rows: [club] } = await c.query(
      'SELECT monthly_quota FROM clubs WHERE id = $1 AND deleted_at IS NULL FOR UPDATE', [clubId]);
    if (!club) throw new HttpError(404, 'not found');
    const { rows: [letter] } = await c.query(
      `UPDATE newsletters SET status = 'sending'
        WHERE id = $1 AND club_id = $2 AND deleted_at IS NULL AND status = 'approved'
          AND (send_at IS NULL OR send_at <= now())
          AND approved_at >= now() - interval '14 days'
        RETURNING id, list_id`, [newsletterId, clubId]);
    if (!letter) throw new HttpError(409, 'cannot be sent');
    const { rowCount } = await c.query(
      `INSERT INTO deliveries (newsletter_id, subscriber_id)
       SELECT $1, s.id
         FROM lists l
         JOIN list_members lm ON lm.list_id = l.id
         JOIN subscribers s ON s.id = lm.subscriber_id AND s.club_id = l.club_id
        WHERE l.id = $2 AND l.club_id = $3 AND l.deleted_at IS NULL
          AND s.status = 'active' AND s.deleted_at IS NULL`,
      [letter.id, letter.list_id, clubId]);
    const { rows: [{ used }] } = await c.query(
      `SELECT count(*)::int AS used FROM deliveries d JOIN newsletters n ON n.id = d.newsletter_id
        WHERE n.club_id = $1
          AND d.created_at >= date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'`, [clubId]);
    if (rowCount === 0 || used > club.monthly_quota) throw new HttpError(409, 'no recipients or quota used up');
    await audit(c, clubId, req.user.id, 'newsletter.send', letter.id, { queued: rowCount });
    return rowCount;
  });
  res.status(202).json({ queued });
});

### start-send good
const MONTH_START = `date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'`;

async function quotaLeft(c, clubId) {
  const { rows: [club] } = await c.query(
    'SELECT id, monthly_quota FROM clubs WHERE id = $1 AND deleted_at IS NULL FOR NO KEY UPDATE', [clubId]);
  if (!club) throw new HttpError(404, 'not found');
  const { rows: [{ used }] } = await c.query(
    `SELECT count(*)::int AS used FROM deliveries d
      WHERE d.created_at >= ${MONTH_START}
        AND d.newsletter_id IN (SELECT id FROM newsletters WHERE club_id = $1)`, [club.id]);
  return club.monthly_quota - used;
}

router.post('/clubs/:clubId/newsletters/:newsletterId/send', async (req, res) => {
  const { clubId, newsletterId } = req.params;
  const queued = await tx(async (c) => {
    await requireRole(c, clubId, req.user.id, ['editor', 'owner']);
    const left = await quotaLeft(c, clubId);
    const { rows: [{ n }] } = await c.query(
      `WITH letter AS (
         UPDATE newsletters SET status = 'sending'
          WHERE club_id = $1 AND id = $2 AND status = 'approved' AND deleted_at IS NULL
            AND coalesce(send_at, now()) <= now() AND approved_at + interval '14 days' >= now()
         RETURNING id, list_id, club_id
       ), queued AS (
         INSERT INTO deliveries (newsletter_id, subscriber_id)
         SELECT letter.id, s.id
           FROM letter
           JOIN lists l ON l.id = letter.list_id AND l.club_id = letter.club_id AND l.deleted_at IS NULL
           JOIN list_members lm ON lm.list_id = l.id
           JOIN subscribers s ON s.id = lm.subscriber_id AND s.club_id = letter.club_id
                             AND s.status = 'active' AND s.deleted_at IS NULL
         RETURNING 1
       ) SELECT count(*)::int AS n FROM queued`, [clubId, newsletterId]);
    if (n === 0) throw new HttpError(409, 'cannot be sent');
    if (n > left) throw new HttpError(409, 'quota used up');
    await audit(c, clubId, req.user.id, 'newsletter.send', newsletterId, { queued: n });
    return n;
  });
  res.status(202).json({ queued });
});

### start-send bad 12
const MONTH_START = `date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'`;

router.post('/clubs/:clubId/newsletters/:newsletterId/send', async (req, res) => {
  const { clubId, newsletterId } = req.params;
  const queued = await tx(async (c) => {
    await requireRole(c, clubId, req.user.id, ['editor', 'owner']);
    const { rows: [quota] } = await c.query(
      `SELECT c.monthly_quota - (SELECT count(*) FROM deliveries d JOIN newsletters n ON n.id = d.newsletter_id
                                  WHERE n.club_id = c.id AND d.created_at >= ${MONTH_START})::int AS "left"
         FROM clubs c WHERE c.id = $1 AND c.deleted_at IS NULL`, [clubId]);
    if (!quota) throw new HttpError(404, 'not found');
    const { rows: [letter] } = await c.query(
      `UPDATE newsletters SET status = 'sending'
        WHERE club_id = $1 AND id = $2 AND status = 'approved' AND deleted_at IS NULL
          AND coalesce(send_at, now()) <= now() AND approved_at + interval '14 days' >= now()
        RETURNING id, list_id`, [clubId, newsletterId]);
    if (!letter) throw new HttpError(409, 'cannot be sent');
    const { rowCount } = await c.query(
      `INSERT INTO deliveries (newsletter_id, subscriber_id)
       SELECT $1, s.id
         FROM lists l
         JOIN list_members lm ON lm.list_id = l.id
         JOIN subscribers s ON s.id = lm.subscriber_id AND s.club_id = l.club_id
        WHERE l.id = $2 AND l.club_id = $3 AND l.deleted_at IS NULL
          AND s.status = 'active' AND s.deleted_at IS NULL`, [letter.id, letter.list_id, clubId]);
    if (rowCount === 0 || rowCount > quota.left) throw new HttpError(409, 'no recipients or quota used up');
    await audit(c, clubId, req.user.id, 'newsletter.send', letter.id, { queued: rowCount });
    return rowCount;
  });
  res.status(202).json({ queued });
});

### start-send bad 3
router.post('/clubs/:clubId/newsletters/:newsletterId/send', async (req, res) => {
  const { clubId, newsletterId } = req.params;
  await requireRole(db, clubId, req.user.id, ['editor', 'owner']);

  const queued = await tx(async (c) => {
    const { rows: [club] } = await c.query(
      'SELECT monthly_quota FROM clubs WHERE id = $1 AND deleted_at IS NULL FOR UPDATE', [clubId]);
    if (!club) throw new HttpError(404, 'not found');
    const { rows: [letter] } = await c.query(
      `UPDATE newsletters SET status = 'sending'
        WHERE id = $1 AND club_id = $2 AND deleted_at IS NULL AND status = 'approved'
          AND (send_at IS NULL OR send_at <= now())
          AND approved_at >= now() - interval '14 days'
        RETURNING id, list_id`, [newsletterId, clubId]);
    if (!letter) throw new HttpError(409, 'cannot be sent');
    const { rowCount } = await c.query(
      `INSERT INTO deliveries (newsletter_id, subscriber_id)
       SELECT $1, s.id
         FROM lists l
         JOIN list_members lm ON lm.list_id = l.id
         JOIN subscribers s ON s.id = lm.subscriber_id AND s.club_id = l.club_id
        WHERE l.id = $2 AND l.club_id = $3 AND l.deleted_at IS NULL
          AND s.status <> 'unsubscribed' AND s.deleted_at IS NULL`,
      [letter.id, letter.list_id, clubId]);
    const { rows: [{ used }] } = await c.query(
      `SELECT count(*)::int AS used FROM deliveries d JOIN newsletters n ON n.id = d.newsletter_id
        WHERE n.club_id = $1
          AND d.created_at >= date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'`, [clubId]);
    if (rowCount === 0 || used > club.monthly_quota) throw new HttpError(409, 'no recipients or quota used up');
    await audit(c, clubId, req.user.id, 'newsletter.send', letter.id, { queued: rowCount });
    return rowCount;
  });
  res.status(202).json({ queued });
});

### start-send bad 6
const MONTH_START = `date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'`;

router.post('/clubs/:clubId/newsletters/:newsletterId/send', async (req, res) => {
  const { clubId, newsletterId } = req.params;
  await requireRole(db, clubId, req.user.id, ['editor', 'owner']);

  const queued = await tx(async (c) => {
    const { rows: [club] } = await c.query(
      'SELECT monthly_quota FROM clubs WHERE id = $1 AND deleted_at IS NULL FOR UPDATE', [clubId]);
    if (!club) throw new HttpError(404, 'not found');
    const { rows: [letter] } = await c.query(
      `SELECT id, list_id FROM newsletters
        WHERE id = $1 AND club_id = $2 AND deleted_at IS NULL AND status = 'approved'
          AND (send_at IS NULL OR send_at <= now())
          FOR UPDATE`, [newsletterId, clubId]);
    if (!letter) throw new HttpError(409, 'cannot be sent');
    const { rowCount } = await c.query(
      `INSERT INTO deliveries (newsletter_id, subscriber_id)
       SELECT $1, s.id FROM subscribers s
        WHERE s.club_id = $3 AND s.status = 'active' AND s.deleted_at IS NULL
          AND EXISTS (SELECT 1 FROM list_members lm JOIN lists l ON l.id = lm.list_id
                       WHERE lm.subscriber_id = s.id AND l.id = $2 AND l.club_id = $3 AND l.deleted_at IS NULL)`,
      [letter.id, letter.list_id, clubId]);
    const { rows: [{ used }] } = await c.query(
      `SELECT count(*)::int AS used FROM deliveries d JOIN newsletters n ON n.id = d.newsletter_id
        WHERE n.club_id = $1 AND d.created_at >= ${MONTH_START}`, [clubId]);
    if (rowCount === 0 || used > club.monthly_quota) throw new HttpError(409, 'no recipients or quota used up');
    await c.query(`UPDATE newsletters SET status = 'sending' WHERE id = $1`, [letter.id]);
    await audit(c, clubId, req.user.id, 'newsletter.send', letter.id, { queued: rowCount });
    return rowCount;
  });
  res.status(202).json({ queued });
});

### issue-api-key good
router.post('/clubs/:clubId/api-keys', async (req, res) => {
  const { clubId } = req.params;
  await requireRole(db, clubId, req.user.id, ['owner']);
  const { label, days } = req.body ?? {};
  if (typeof label !== 'string' || label.length < 1 || label.length > 80) throw new HttpError(400, 'bad label');
  if (!Number.isInteger(days) || days < 1 || days > 365) throw new HttpError(400, 'bad days');

  const key = `rb_${crypto.randomBytes(32).toString('base64url')}`;
  const row = await tx(async (c) => {
    await c.query('SELECT 1 FROM clubs WHERE id = $1 FOR UPDATE', [clubId]);
    const { rows } = await c.query(
      `INSERT INTO api_keys (club_id, created_by, label, key_hash, expires_at)
       SELECT $1, $2, $3, $4, now() + make_interval(days => $5)
        WHERE (SELECT count(*) FROM api_keys k
                WHERE k.club_id = $1 AND k.revoked_at IS NULL AND k.expires_at > now()) < 5
       RETURNING id, label, created_at, expires_at`,
      [clubId, req.user.id, label, sha256(key), days]);
    if (rows.length === 0) throw new HttpError(409, 'too many keys');
    await audit(c, clubId, req.user.id, 'api_key.create', rows[0].id, { days });
    return rows[0];
  });
  res.set('Cache-Control', 'no-store').status(201).json({ ...row, key });
});

### issue-api-key good
function readKeyRequest(body) {
  const label = body?.label;
  const days = body?.days ?? 90;
  if (typeof label !== 'string' || label === '' || label.length > 80) throw new HttpError(400, 'bad label');
  if (!Number.isInteger(days) || days <= 0 || days > 365) throw new HttpError(400, 'bad days');
  return { label, days };
}

router.post('/clubs/:clubId/api-keys', async (req, res) => {
  const { clubId } = req.params;
  const { label, days } = readKeyRequest(req.body);
  const secret = crypto.randomBytes(20).toString('hex');

  const issued = await tx(async (c) => {
    await requireRole(c, clubId, req.user.id, ['owner']);
    await c.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 3))', [`api-keys:${clubId}`]);
    const { rows: live } = await c.query(
      'SELECT id FROM api_keys WHERE club_id = $1 AND revoked_at IS NULL AND expires_at > now() LIMIT 5', [clubId]);
    if (live.length >= 5) throw new HttpError(409, 'too many keys');

    const { rows: [row] } = await c.query(
      `INSERT INTO api_keys (club_id, created_by, label, key_hash, expires_at)
       VALUES ($1, $2, $3, $4, now() + $5 * interval '24 hours')
       RETURNING *`,
      [clubId, req.user.id, label, sha256(secret), days]);
    await audit(c, clubId, req.user.id, 'api_key.create', row.id, { days });
    return { id: row.id, label: row.label, expires_at: row.expires_at };
  });
  log.info({ clubId, apiKeyId: issued.id }, 'api key created');
  res.status(201).json({ ...issued, key: secret });
});

### issue-api-key bad 8
function readKeyRequest(body) {
  const label = body?.label;
  const days = body?.days ?? 90;
  if (typeof label !== 'string' || label === '' || label.length > 80) throw new HttpError(400, 'bad label');
  if (!Number.isInteger(days) || days <= 0 || days > 365) throw new HttpError(400, 'bad days');
  return { label, days };
}

router.post('/clubs/:clubId/api-keys', async (req, res) => {
  const { clubId } = req.params;
  const { label, days } = readKeyRequest(req.body);
  const secret = crypto.randomBytes(12).toString('hex');

  const issued = await tx(async (c) => {
    await requireRole(c, clubId, req.user.id, ['owner']);
    await c.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 3))', [`api-keys:${clubId}`]);
    const { rows: live } = await c.query(
      'SELECT id FROM api_keys WHERE club_id = $1 AND revoked_at IS NULL AND expires_at > now() LIMIT 5', [clubId]);
    if (live.length >= 5) throw new HttpError(409, 'too many keys');

    const { rows: [row] } = await c.query(
      `INSERT INTO api_keys (club_id, created_by, label, key_hash, expires_at)
       VALUES ($1, $2, $3, $4, now() + $5 * interval '24 hours')
       RETURNING id, label, expires_at`,
      [clubId, req.user.id, label, sha256(secret), days]);
    await audit(c, clubId, req.user.id, 'api_key.create', row.id, { days });
    return row;
  });
  log.info({ clubId, apiKeyId: issued.id }, 'api key created');
  res.status(201).json({ ...issued, key: secret });
});

### issue-api-key bad 4
router.post('/clubs/:clubId/api-keys', async (req, res) => {
  const { clubId } = req.params;
  await requireRole(db, clubId, req.user.id, ['owner']);
  const { label, days } = req.body ?? {};
  if (typeof label !== 'string' || label.length < 1 || label.length > 80) throw new HttpError(400, 'bad label');
  if (!Number.isInteger(days) || days < 1 || days > 365) throw new HttpError(400, 'bad days');

  const key = `rb_${crypto.randomBytes(32).toString('base64url')}`;
  const row = await tx(async (c) => {
    await c.query('SELECT 1 FROM clubs WHERE id = $1 FOR UPDATE', [clubId]);
    const { rows } = await c.query(
      `INSERT INTO api_keys (club_id, created_by, label, key_hash, expires_at)
       SELECT $1, $2, $3, $4, now() + make_interval(days => $5)
        WHERE (SELECT count(*) FROM api_keys k
                WHERE k.club_id = $1 AND k.revoked_at IS NULL AND k.expires_at > now()) < 5
       RETURNING *`,
      [clubId, req.user.id, label, sha256(key), days]);
    if (rows.length === 0) throw new HttpError(409, 'too many keys');
    await audit(c, clubId, req.user.id, 'api_key.create', rows[0].id, { days });
    return rows[0];
  });
  res.set('Cache-Control', 'no-store').status(201).json({ ...row, key });
});

### issue-api-key bad 13
router.post('/clubs/:clubId/api-keys', async (req, res) => {
  const { clubId } = req.params;
  await requireRole(db, clubId, req.user.id, ['owner']);
  const { label, days } = req.body ?? {};
  if (typeof label !== 'string' || label.length < 1 || label.length > 80) throw new HttpError(400, 'bad label');
  if (!Number.isInteger(days) || days < 1 || days > 365) throw new HttpError(400, 'bad days');

  const key = `rb_${crypto.randomBytes(32).toString('base64url')}`;
  const row = await tx(async (c) => {
    await c.query('SELECT 1 FROM clubs WHERE id = $1 FOR UPDATE', [clubId]);
    const { rows: [{ n }] } = await c.query(
      'SELECT count(*)::int AS n FROM api_keys WHERE club_id = $1 AND revoked_at IS NULL AND expires_at > now()',
      [clubId]);
    if (n >= 5) throw new HttpError(409, 'too many keys');
    const { rows } = await c.query(
      `INSERT INTO api_keys (club_id, created_by, label, key_hash, expires_at)
       VALUES ($1, $2, $3, $4, now() + make_interval(days => $5))
       RETURNING id, label, created_at, expires_at`,
      [clubId, req.user.id, label, sha256(key), days]);
    await audit(c, clubId, req.user.id, 'api_key.create', rows[0].id, { days, prefix: key.slice(0, 12) });
    return rows[0];
  });
  res.set('Cache-Control', 'no-store').status(201).json({ ...row, key });
});
