### waiting-list good
router.get('/sites/:siteId/waiting-list', async (ctx) => {
  const { siteId } = ctx.params;
  const isChair = await holdsOffice(db, ctx, 'chair');
  if (!isChair && !(await holdsOffice(db, ctx, 'warden', siteId))) ctx.throw(403);

  const { limit, offset } = pageOf(ctx);
  const { rows } = await db.query(
    `SELECT w.id,
            row_number() OVER (ORDER BY w.applied_at, w.id) AS position,
            m.full_name, w.applied_at, w.status,
            CASE WHEN $3::boolean THEN w.hardship_note END AS hardship_note
       FROM waiting_entries w
       JOIN members m ON m.id = w.member_id AND m.deleted_at IS NULL
      WHERE w.association_id = $1
        AND w.site_id = $2
        AND w.deleted_at IS NULL
        AND w.status IN ('waiting', 'offered')
      ORDER BY w.applied_at, w.id
      LIMIT $4 OFFSET $5`,
    [ctx.state.assoc.id, siteId, isChair, limit, offset],
  );
  ctx.body = { entries: rows };
});

### waiting-list good
const WAITING_ORDER = {
  position: 'position ASC, id',
  newest: 'position DESC, id',
  name: 'full_name ASC, id',
};

router.get('/sites/:siteId/waiting-list', async (ctx) => {
  const grants = await db.query(
    `SELECT bool_or(office = 'chair') AS chair,
            bool_or(office = 'warden' AND site_id = $3) AS warden
       FROM role_grants
      WHERE association_id = $1 AND member_id = $2
        AND revoked_at IS NULL
        AND valid_from <= now()
        AND (valid_to IS NULL OR valid_to > now())`,
    [ctx.state.assoc.id, ctx.state.member.id, ctx.params.siteId],
  );
  const { chair, warden } = grants.rows[0];
  if (!chair && !warden) ctx.throw(403);

  const sort = Object.hasOwn(WAITING_ORDER, ctx.query.sort) ? WAITING_ORDER[ctx.query.sort] : WAITING_ORDER.position;
  const { limit, offset } = pageOf(ctx);
  const list = await db.query(
    `WITH queue AS (
       SELECT w.id, w.member_id, m.full_name, w.applied_at, w.status, w.hardship_note,
              row_number() OVER (ORDER BY w.applied_at, w.id) AS position
         FROM waiting_entries w
         JOIN members m ON m.id = w.member_id
        WHERE w.association_id = $1 AND w.site_id = $2
          AND w.status = ANY ('{waiting,offered}'::entry_status[])
          AND w.deleted_at IS NULL AND m.deleted_at IS NULL
     )
     SELECT * FROM queue ORDER BY ${sort} LIMIT $3 OFFSET $4`,
    [ctx.state.assoc.id, ctx.params.siteId, limit, offset],
  );
  ctx.body = list.rows.map((r) => ({
    id: r.id,
    position: Number(r.position),
    name: r.full_name,
    appliedAt: r.applied_at,
    status: r.status,
    ...(chair ? { hardshipNote: r.hardship_note } : {}),
  }));
});

### waiting-list bad 12
router.get('/sites/:siteId/waiting-list', async (ctx) => {
  const { siteId } = ctx.params;
  const isChair = await holdsOffice(db, ctx, 'chair');
  if (!isChair && !(await holdsOffice(db, ctx, 'warden', siteId))) ctx.throw(403);

  const { limit, offset } = pageOf(ctx);
  const sort = ctx.query.sort || 'applied_at';
  const direction = ctx.query.dir === 'desc' ? 'DESC' : 'ASC';
  const { rows } = await db.query(
    `WITH queue AS (
       SELECT w.id, m.full_name, w.applied_at, w.status,
              row_number() OVER (ORDER BY w.applied_at, w.id) AS position,
              CASE WHEN $3::boolean THEN w.hardship_note END AS hardship_note
         FROM waiting_entries w
         JOIN members m ON m.id = w.member_id AND m.deleted_at IS NULL
        WHERE w.association_id = $1 AND w.site_id = $2
          AND w.deleted_at IS NULL AND w.status IN ('waiting', 'offered')
     )
     SELECT * FROM queue ORDER BY ${sort} ${direction}, id LIMIT $4 OFFSET $5`,
    [ctx.state.assoc.id, siteId, isChair, limit, offset],
  );
  ctx.body = { entries: rows };
});

### waiting-list bad 2
router.get('/sites/:siteId/waiting-list', async (ctx) => {
  const grants = await db.query(
    `SELECT array_agg(DISTINCT office::text) AS offices
       FROM role_grants
      WHERE association_id = $1 AND member_id = $2
        AND revoked_at IS NULL
        AND valid_from <= now()
        AND (valid_to IS NULL OR valid_to > now())`,
    [ctx.state.assoc.id, ctx.state.member.id],
  );
  const offices = grants.rows[0].offices || [];
  const isChair = offices.includes('chair');
  if (!isChair && !offices.includes('warden')) ctx.throw(403);

  const { limit, offset } = pageOf(ctx);
  const { rows } = await db.query(
    `SELECT w.id, m.full_name, w.applied_at, w.status,
            row_number() OVER (ORDER BY w.applied_at, w.id) AS position,
            CASE WHEN $3::boolean THEN w.hardship_note END AS hardship_note
       FROM waiting_entries w
       JOIN members m ON m.id = w.member_id AND m.deleted_at IS NULL
      WHERE w.association_id = $1 AND w.site_id = $2
        AND w.deleted_at IS NULL AND w.status IN ('waiting', 'offered')
      ORDER BY w.applied_at, w.id
      LIMIT $4 OFFSET $5`,
    [ctx.state.assoc.id, ctx.params.siteId, isChair, limit, offset],
  );
  ctx.body = { entries: rows };
});

### waiting-list bad 6
router.get('/sites/:siteId/waiting-list', async (ctx) => {
  const { siteId } = ctx.params;
  const allowed = (await holdsOffice(db, ctx, 'warden', siteId)) || (await holdsOffice(db, ctx, 'chair'));
  if (!allowed) ctx.throw(403);

  const { limit, offset } = pageOf(ctx);
  const { rows } = await db.query(
    `SELECT w.id, w.applied_at, w.status, w.hardship_note, m.full_name,
            count(*) OVER () AS total,
            row_number() OVER (ORDER BY w.applied_at, w.id) AS position
       FROM waiting_entries w
       JOIN members m ON m.id = w.member_id
      WHERE w.association_id = $1 AND w.site_id = $2
        AND w.deleted_at IS NULL AND m.deleted_at IS NULL
        AND w.status IN ('waiting', 'offered')
      ORDER BY w.applied_at, w.id
      LIMIT $3 OFFSET $4`,
    [ctx.state.assoc.id, siteId, limit, offset],
  );
  ctx.body = {
    total: rows.length ? Number(rows[0].total) : 0,
    entries: rows.map(({ total, ...entry }) => entry),
  };
});

### photo-file good
router.get('/photos/:photoId/file', async (ctx) => {
  const { rows: [photo] } = await db.query(
    `SELECT id, plot_id, storage_key, mime, visibility
       FROM photos
      WHERE id = $1 AND association_id = $2 AND deleted_at IS NULL`,
    [ctx.params.photoId, ctx.state.assoc.id],
  );
  if (!photo) ctx.throw(404);
  if (photo.visibility === 'plot' && !(await mayOpenPlot(db, ctx, photo.plot_id))) ctx.throw(404);

  const folder = ctx.query.size === 'thumb' ? path.join(PHOTO_ROOT, 'thumb') : PHOTO_ROOT;
  ctx.type = photo.mime;
  ctx.set('X-Content-Type-Options', 'nosniff');
  ctx.set('Cache-Control', 'private, max-age=300');
  ctx.body = fs.createReadStream(path.join(folder, photo.storage_key));
});

### photo-file good
router.get('/photos/:photoId/file', async (ctx) => {
  const found = await db.query(
    `SELECT ph.storage_key, ph.mime
       FROM photos ph
       JOIN plots pl ON pl.id = ph.plot_id AND pl.deleted_at IS NULL
      CROSS JOIN (SELECT assoc_today($2) AS day) d
      WHERE ph.id = $1 AND ph.association_id = $2 AND ph.deleted_at IS NULL
        AND (ph.visibility = 'site'
          OR EXISTS (
               SELECT 1 FROM tenancies t
                 LEFT JOIN plot_deputies pd
                        ON pd.tenancy_id = t.id AND pd.member_id = $3 AND pd.revoked_at IS NULL
                       AND d.day BETWEEN pd.valid_from AND pd.valid_until
                WHERE t.plot_id = pl.id
                  AND t.starts_on <= d.day AND (t.ends_on IS NULL OR t.ends_on >= d.day)
                  AND (t.member_id = $3 OR pd.id IS NOT NULL))
          OR EXISTS (
               SELECT 1 FROM role_grants g
                WHERE g.association_id = $2 AND g.member_id = $3
                  AND g.revoked_at IS NULL AND g.valid_from <= now()
                  AND (g.valid_to IS NULL OR g.valid_to > now())
                  AND (g.office = 'chair' OR (g.office = 'warden' AND g.site_id = pl.site_id))))`,
    [ctx.params.photoId, ctx.state.assoc.id, ctx.state.member.id],
  );
  if (found.rowCount === 0) ctx.throw(404);
  const { storage_key: key, mime } = found.rows[0];
  const data = await fsp.readFile(path.join(PHOTO_ROOT, key));
  ctx.set('Content-Type', mime);
  ctx.set('X-Content-Type-Options', 'nosniff');
  ctx.body = data;
});

### photo-file bad 3
router.get('/photos/:photoId/file', async (ctx) => {
  const found = await db.query(
    `SELECT ph.storage_key, ph.mime
       FROM photos ph
       JOIN plots pl ON pl.id = ph.plot_id AND pl.deleted_at IS NULL
      CROSS JOIN (SELECT assoc_today($2) AS day) d
      WHERE ph.id = $1 AND ph.association_id = $2 AND ph.deleted_at IS NULL
        AND (ph.visibility = 'site'
          OR EXISTS (
               SELECT 1 FROM tenancies t
                WHERE t.plot_id = pl.id AND t.member_id = $3
                  AND t.starts_on <= d.day AND (t.ends_on IS NULL OR t.ends_on >= d.day))
          OR EXISTS (
               SELECT 1 FROM plot_deputies pd
                 JOIN tenancies t ON t.id = pd.tenancy_id
                WHERE t.plot_id = pl.id AND pd.member_id = $3
                  AND pd.revoked_at IS NULL
                  AND d.day BETWEEN pd.valid_from AND pd.valid_until)
          OR EXISTS (
               SELECT 1 FROM role_grants g
                WHERE g.association_id = $2 AND g.member_id = $3
                  AND g.revoked_at IS NULL AND g.valid_from <= now()
                  AND (g.valid_to IS NULL OR g.valid_to > now())
                  AND (g.office = 'chair' OR (g.office = 'warden' AND g.site_id = pl.site_id))))`,
    [ctx.params.photoId, ctx.state.assoc.id, ctx.state.member.id],
  );
  if (found.rowCount === 0) ctx.throw(404);
  const { storage_key: key, mime } = found.rows[0];
  ctx.type = mime;
  ctx.set('X-Content-Type-Options', 'nosniff');
  ctx.body = fs.createReadStream(path.join(PHOTO_ROOT, key));
});

### photo-file bad 12
router.get('/photos/:photoId/file', async (ctx) => {
  const { rows: [photo] } = await db.query(
    `SELECT id, plot_id, storage_key, mime, visibility
       FROM photos
      WHERE id = $1 AND association_id = $2 AND deleted_at IS NULL`,
    [ctx.params.photoId, ctx.state.assoc.id],
  );
  if (!photo) ctx.throw(404);
  if (photo.visibility === 'plot' && !(await mayOpenPlot(db, ctx, photo.plot_id))) ctx.throw(404);

  const variant = typeof ctx.query.variant === 'string' ? ctx.query.variant : '';
  const file = path.join(PHOTO_ROOT, variant, photo.storage_key);
  const stat = await fsp.stat(file).catch(() => null);
  if (!stat || !stat.isFile()) ctx.throw(404);

  ctx.type = photo.mime;
  ctx.length = stat.size;
  ctx.set('X-Content-Type-Options', 'nosniff');
  ctx.body = fs.createReadStream(file);
});

### photo-file bad 1
router.get('/photos/:photoId/file', async (ctx) => {
  const { rows: [photo] } = await db.query(
    `SELECT id, plot_id, storage_key, mime, visibility
       FROM photos
      WHERE id = $1 AND deleted_at IS NULL`,
    [ctx.params.photoId],
  );
  if (!photo) ctx.throw(404);
  if (photo.visibility !== 'site') {
    const access = await mayOpenPlot(db, ctx, photo.plot_id);
    if (!access) ctx.throw(404);
  }

  const folder = ctx.query.size === 'thumb' ? path.join(PHOTO_ROOT, 'thumb') : PHOTO_ROOT;
  ctx.type = photo.mime;
  ctx.set('X-Content-Type-Options', 'nosniff');
  ctx.set('Cache-Control', 'private, max-age=300');
  ctx.body = fs.createReadStream(path.join(folder, photo.storage_key));
});

### shared-album good
router.get('/share/:token/', async (ctx) => {
  const hash = crypto.createHash('sha256').update(ctx.params.token).digest();
  const { rows: [link] } = await db.query(
    `SELECT id, title FROM share_links
      WHERE token_hash = $1 AND revoked_at IS NULL AND expires_at > now()`,
    [hash],
  );
  if (!link) ctx.throw(404);

  const { rows: photos } = await db.query(
    `SELECT p.id, p.caption
       FROM share_link_photos s
       JOIN photos p ON p.id = s.photo_id
      WHERE s.link_id = $1 AND p.deleted_at IS NULL
      ORDER BY s.position, p.id`,
    [link.id],
  );

  const figures = photos.map((p) => `
    <figure>
      <img src="photos/${escapeHtml(p.id)}" alt="${escapeHtml(p.caption)}">
      <figcaption>${escapeHtml(p.caption)}</figcaption>
    </figure>`);
  ctx.type = 'text/html; charset=utf-8';
  ctx.set('Referrer-Policy', 'no-referrer');
  ctx.body = `<!doctype html><title>${escapeHtml(link.title)}</title>
    <h1>${escapeHtml(link.title)}</h1>${figures.join('')}`;
});

### shared-album good
function albumPage(title, items) {
  const list = items.map(({ id, caption }) => {
    const text = escapeHtml(caption || 'Untitled');
    return `<li><a href="photos/${escapeHtml(id)}"><img src="photos/${escapeHtml(id)}" alt="${text}"></a><p>${text}</p></li>`;
  });
  const safeTitle = escapeHtml(title);
  return `<!doctype html><html><head><title>${safeTitle}</title></head>
    <body><h1>${safeTitle}</h1><ul>${list.join('\n')}</ul></body></html>`;
}

router.get('/share/:token/', async (ctx) => {
  const digest = crypto.createHash('sha256').update(ctx.params.token, 'utf8').digest();
  const { rows } = await db.query(
    `SELECT l.title, l.expires_at, l.revoked_at, album.items
       FROM share_links l
      CROSS JOIN LATERAL (
            SELECT COALESCE(json_agg(json_build_object('id', p.id, 'caption', p.caption)
                                     ORDER BY s.position, p.id), '[]'::json) AS items
              FROM share_link_photos s
              JOIN photos p ON p.id = s.photo_id AND p.deleted_at IS NULL
             WHERE s.link_id = l.id) album
      WHERE l.token_hash = $1`,
    [digest],
  );
  const link = rows[0];
  const open = link && link.revoked_at === null && link.expires_at.getTime() > Date.now();
  if (!open) ctx.throw(404);

  ctx.type = 'html';
  ctx.set('Cache-Control', 'no-store');
  ctx.set('Referrer-Policy', 'no-referrer');
  ctx.body = albumPage(link.title, link.items);
});

### shared-album bad 12
router.get('/share/:token/', async (ctx) => {
  const hash = crypto.createHash('sha256').update(ctx.params.token).digest();
  const { rows: [link] } = await db.query(
    `SELECT id, title FROM share_links
      WHERE token_hash = $1 AND revoked_at IS NULL AND expires_at > now()`,
    [hash],
  );
  if (!link) ctx.throw(404);

  const { rows: photos } = await db.query(
    `SELECT p.id, COALESCE(p.caption, '') AS caption
       FROM share_link_photos s
       JOIN photos p ON p.id = s.photo_id AND p.deleted_at IS NULL
      WHERE s.link_id = $1
      ORDER BY s.position, p.id`,
    [link.id],
  );

  const figures = photos.map((p) => `
    <figure>
      <img src="photos/${escapeHtml(p.id)}" alt="${p.caption.replace(/</g, '&lt;')}">
      <figcaption>${escapeHtml(p.caption)}</figcaption>
    </figure>`);
  ctx.type = 'text/html; charset=utf-8';
  ctx.set('Referrer-Policy', 'no-referrer');
  ctx.body = `<!doctype html><title>${escapeHtml(link.title)}</title>
    <h1>${escapeHtml(link.title)}</h1>${figures.join('')}`;
});

### shared-album bad 9
router.get('/share/:token/', async (ctx) => {
  const hash = crypto.createHash('sha256').update(ctx.params.token).digest();
  const { rows } = await db.query(
    `SELECT l.title, album.items
       FROM share_links l
      CROSS JOIN LATERAL (
            SELECT COALESCE(json_agg(json_build_object('id', p.id, 'caption', p.caption)
                                     ORDER BY s.position, p.id), '[]'::json) AS items
              FROM share_link_photos s
              JOIN photos p ON p.id = s.photo_id AND p.deleted_at IS NULL
             WHERE s.link_id = l.id) album
      WHERE l.token_hash = $1 AND l.expires_at > now()`,
    [hash],
  );
  if (rows.length === 0) ctx.throw(404);

  const [{ title, items }] = rows;
  const list = items.map((p) =>
    `<li><img src="photos/${escapeHtml(p.id)}" alt="${escapeHtml(p.caption)}"></li>`);
  ctx.type = 'html';
  ctx.set('Cache-Control', 'no-store');
  ctx.set('Referrer-Policy', 'no-referrer');
  ctx.body = `<!doctype html><title>${escapeHtml(title)}</title>
    <h1>${escapeHtml(title)}</h1><ul>${list.join('')}</ul>`;
});

### shared-album bad 5
async function linkByToken(token) {
  const hash = crypto.createHash('sha256').update(token).digest();
  const { rows } = await db.query(
    `SELECT id, title FROM share_links
      WHERE token_hash = $1 AND revoked_at IS NULL AND expires_at > now()`,
    [hash],
  );
  return rows[0] || null;
}

router.get('/share/:token/', async (ctx) => {
  const link = await linkByToken(ctx.params.token);
  if (!link) ctx.throw(404);

  const { rows: photos } = await db.query(
    `SELECT p.id, p.caption, p.mime
       FROM share_link_photos s
       JOIN photos p ON p.id = s.photo_id
      WHERE s.link_id = $1
      ORDER BY s.position, p.id`,
    [link.id],
  );

  const list = photos.map((p) =>
    `<li><img src="photos/${escapeHtml(p.id)}" alt="${escapeHtml(p.caption)}"></li>`);
  ctx.type = 'html';
  ctx.set('Referrer-Policy', 'no-referrer');
  ctx.body = `<!doctype html><title>${escapeHtml(link.title)}</title>
    <h1>${escapeHtml(link.title)}</h1><ul>${list.join('')}</ul>`;
});

### fee-statement good
router.get('/fees', async (ctx) => {
  const me = ctx.state.member.id;
  const subject = ctx.query.memberId || me;
  const treasurer = await holdsOffice(db, ctx, 'treasurer');
  if (subject !== me && !treasurer) ctx.throw(403);

  const { limit, offset } = pageOf(ctx);
  const { rows } = await db.query(
    `SELECT f.id, f.year, f.title, f.amount_cents, f.status, f.due_on::text AS due_on, paid.cents AS paid_cents,
            f.status = 'issued' AND f.due_on < assoc_today($1) AS overdue
       FROM fees f
      CROSS JOIN LATERAL (
            SELECT COALESCE(sum(p.amount_cents), 0) AS cents
              FROM fee_payments p WHERE p.fee_id = f.id) paid
      WHERE f.association_id = $1 AND f.member_id = $2
        AND (f.status <> 'draft' OR $3::boolean)
      ORDER BY f.year DESC, f.id
      LIMIT $4 OFFSET $5`,
    [ctx.state.assoc.id, subject, treasurer, limit, offset],
  );
  ctx.body = { fees: rows };
});

### fee-statement good
async function feesOf(assocId, memberId, states, page) {
  const { rows } = await db.query(
    `WITH mine AS (
       SELECT id, year, title, amount_cents, status, due_on
         FROM fees
        WHERE association_id = $1 AND member_id = $2 AND status = ANY ($3::fee_status[])
        ORDER BY due_on DESC, id DESC
        LIMIT $4 OFFSET $5
     ), settled AS (
       SELECT fee_id, sum(amount_cents) AS cents, max(paid_on) AS last_paid
         FROM fee_payments
        WHERE association_id = $1 AND fee_id IN (SELECT id FROM mine)
        GROUP BY fee_id
     )
     SELECT m.id, m.year, m.title, m.status, m.amount_cents, m.due_on::text AS due_on,
            m.amount_cents - COALESCE(s.cents, 0) AS open_cents, s.last_paid::text AS last_paid
       FROM mine m LEFT JOIN settled s ON s.fee_id = m.id
      ORDER BY m.due_on DESC, m.id DESC`,
    [assocId, memberId, states, page.limit, page.offset],
  );
  return rows;
}

router.get('/fees', async (ctx) => {
  const visible = ['issued', 'paid', 'waived', 'void'];
  const { assoc, member } = ctx.state;
  if (ctx.query.memberId === undefined) {
    ctx.body = await feesOf(assoc.id, member.id, visible, pageOf(ctx));
    return;
  }
  if (!(await holdsOffice(db, ctx, 'treasurer'))) ctx.throw(403);
  ctx.body = await feesOf(assoc.id, String(ctx.query.memberId), ['draft', ...visible], pageOf(ctx));
});

### fee-statement bad 4
router.get('/fees', async (ctx) => {
  const { assoc, member } = ctx.state;
  const subject = ctx.query.memberId || member.id;
  const treasurer = await holdsOffice(db, ctx, 'treasurer');
  if (subject !== member.id && !treasurer) {
    const deputy = await db.query(
      `SELECT 1
         FROM plot_deputies pd
         JOIN tenancies t ON t.id = pd.tenancy_id
        CROSS JOIN (SELECT assoc_today($1) AS day) d
        WHERE pd.association_id = $1 AND pd.member_id = $2 AND t.member_id = $3
          AND pd.revoked_at IS NULL AND d.day BETWEEN pd.valid_from AND pd.valid_until
          AND t.starts_on <= d.day AND (t.ends_on IS NULL OR t.ends_on >= d.day)`,
      [assoc.id, member.id, subject],
    );
    if (deputy.rowCount === 0) ctx.throw(403);
  }

  const { limit, offset } = pageOf(ctx);
  const { rows } = await db.query(
    `SELECT f.id, f.year, f.title, f.amount_cents, f.status, f.due_on::text AS due_on
       FROM fees f
      WHERE f.association_id = $1 AND f.member_id = $2
        AND (f.status <> 'draft' OR $3::boolean)
      ORDER BY f.year DESC, f.id
      LIMIT $4 OFFSET $5`,
    [assoc.id, subject, treasurer, limit, offset],
  );
  ctx.body = { fees: rows };
});

### fee-statement bad 7
router.get('/fees', async (ctx) => {
  const me = ctx.state.member.id;
  const subject = ctx.query.memberId || me;
  const treasurer = await holdsOffice(db, ctx, 'treasurer');
  if (subject !== me && !treasurer) ctx.throw(403);

  const limit = Math.max(1, Number.parseInt(ctx.query.limit, 10) || 25);
  const page = Math.max(1, Number.parseInt(ctx.query.page, 10) || 1);
  const { rows } = await db.query(
    `SELECT f.id, f.year, f.title, f.amount_cents, f.status, f.due_on::text AS due_on, paid.cents AS paid_cents
       FROM fees f
      CROSS JOIN LATERAL (
            SELECT COALESCE(sum(p.amount_cents), 0) AS cents
              FROM fee_payments p WHERE p.fee_id = f.id) paid
      WHERE f.association_id = $1 AND f.member_id = $2
        AND (f.status <> 'draft' OR $3::boolean)
      ORDER BY f.year DESC, f.id
      LIMIT $4 OFFSET $5`,
    [ctx.state.assoc.id, subject, treasurer, limit, (page - 1) * limit],
  );
  ctx.body = { page, fees: rows };
});

### fee-statement bad 8
router.get('/fees', async (ctx) => {
  const { assoc, member } = ctx.state;
  let subject = member.id;
  if (ctx.query.memberId !== undefined && ctx.query.memberId !== member.id) {
    if (!(await holdsOffice(db, ctx, 'treasurer'))) ctx.throw(403);
    subject = String(ctx.query.memberId);
  }
  const { limit, offset } = pageOf(ctx);
  const { rows } = await db.query(
    `WITH settled AS (
       SELECT p.fee_id, sum(p.amount_cents) AS cents
         FROM fee_payments p
         JOIN fees f ON f.id = p.fee_id
        WHERE f.association_id = $1 AND f.member_id = $2
        GROUP BY p.fee_id
     )
     SELECT f.id, f.year, f.title, f.status, f.due_on::text AS due_on,
            f.amount_cents - COALESCE(s.cents, 0) AS open_cents
       FROM fees f
       LEFT JOIN settled s ON s.fee_id = f.id
      WHERE f.association_id = $1 AND f.member_id = $2
        AND f.status <> 'void'
      ORDER BY f.due_on DESC, f.id
      LIMIT $3 OFFSET $4`,
    [assoc.id, subject, limit, offset],
  );
  ctx.body = { fees: rows };
});

### key-register good
router.get('/sites/:siteId/keys', async (ctx) => {
  const { siteId } = ctx.params;
  const allowed = (await holdsOffice(db, ctx, 'warden', siteId)) || (await holdsOffice(db, ctx, 'chair'));
  if (!allowed) ctx.throw(403);

  const { limit, offset } = pageOf(ctx);
  const { rows } = await db.query(
    `SELECT k.id, k.serial, m.full_name AS holder, m.email AS holder_email,
            i.issued_at, i.due_on::text AS due_on,
            COALESCE(i.due_on < assoc_today($1), false) AS overdue
       FROM keys k
       LEFT JOIN key_issues i ON i.key_id = k.id AND i.returned_at IS NULL
       LEFT JOIN members m ON m.id = i.member_id
      WHERE k.association_id = $1 AND k.site_id = $2
      ORDER BY overdue DESC, k.serial, k.id
      LIMIT $3 OFFSET $4`,
    [ctx.state.assoc.id, siteId, limit, offset],
  );
  ctx.body = { keys: rows };
});

### key-register good
router.get('/sites/:siteId/keys', async (ctx) => {
  const { assoc, member } = ctx.state;
  const { limit, offset } = pageOf(ctx);
  const { rows: [answer] } = await db.query(
    `SELECT EXISTS (
              SELECT 1 FROM role_grants g
               WHERE g.association_id = $1 AND g.member_id = $2
                 AND g.revoked_at IS NULL AND g.valid_from <= now()
                 AND COALESCE(g.valid_to > now(), true)
                 AND (g.office = 'chair' OR (g.office = 'warden' AND g.site_id = $3))) AS allowed`,
    [assoc.id, member.id, ctx.params.siteId],
  );
  if (!answer.allowed) ctx.throw(403);

  const { rows } = await db.query(
    `SELECT k.*, held.full_name, held.email, held.due_on::text AS due_on, held.overdue
       FROM keys k
       LEFT JOIN LATERAL (
            SELECT m.full_name, m.email, i.due_on, i.due_on < assoc_today($1) AS overdue
              FROM key_issues i
              JOIN members m ON m.id = i.member_id
             WHERE i.key_id = k.id AND i.returned_at IS NULL
             ORDER BY i.issued_at DESC
             LIMIT 1) held ON true
      WHERE k.association_id = $1 AND k.site_id = $2
      ORDER BY k.serial, k.id
      LIMIT $3 OFFSET $4`,
    [assoc.id, ctx.params.siteId, limit, offset],
  );
  ctx.body = rows.map((r) => ({
    id: r.id,
    serial: r.serial,
    holder: r.full_name && { name: r.full_name, email: r.email },
    dueOn: r.due_on,
    overdue: r.overdue === true,
  }));
});

### key-register bad 6
router.get('/sites/:siteId/keys', async (ctx) => {
  const { siteId } = ctx.params;
  const allowed = (await holdsOffice(db, ctx, 'warden', siteId)) || (await holdsOffice(db, ctx, 'chair'));
  if (!allowed) ctx.throw(403);

  const { limit, offset } = pageOf(ctx);
  const { rows } = await db.query(
    `SELECT to_jsonb(k) - 'association_id' AS key,
            m.full_name AS holder, m.email AS holder_email,
            i.due_on::text AS due_on,
            COALESCE(i.due_on < assoc_today($1), false) AS overdue
       FROM keys k
       LEFT JOIN key_issues i ON i.key_id = k.id AND i.returned_at IS NULL
       LEFT JOIN members m ON m.id = i.member_id
      WHERE k.association_id = $1 AND k.site_id = $2
      ORDER BY k.serial, k.id
      LIMIT $3 OFFSET $4`,
    [ctx.state.assoc.id, siteId, limit, offset],
  );
  ctx.body = rows.map(({ key, ...rest }) => ({ ...key, ...rest }));
});

### key-register bad 9
router.get('/sites/:siteId/keys', async (ctx) => {
  const { siteId } = ctx.params;
  const allowed = (await holdsOffice(db, ctx, 'warden', siteId)) || (await holdsOffice(db, ctx, 'chair'));
  if (!allowed) ctx.throw(403);

  const { limit, offset } = pageOf(ctx);
  const { rows } = await db.query(
    `SELECT k.id, k.serial, m.full_name AS holder, m.email AS holder_email,
            i.issued_at, i.due_on::text AS due_on,
            COALESCE(i.due_on < CURRENT_DATE, false) AS overdue,
            GREATEST(CURRENT_DATE - i.due_on, 0) AS days_overdue
       FROM keys k
       LEFT JOIN key_issues i ON i.key_id = k.id AND i.returned_at IS NULL
       LEFT JOIN members m ON m.id = i.member_id
      WHERE k.association_id = $1 AND k.site_id = $2
      ORDER BY overdue DESC, k.serial, k.id
      LIMIT $3 OFFSET $4`,
    [ctx.state.assoc.id, siteId, limit, offset],
  );
  ctx.body = { keys: rows };
});

### key-register bad 2
router.get('/sites/:siteId/keys', async (ctx) => {
  const { assoc, member } = ctx.state;
  const grant = await db.query(
    `SELECT 1 FROM role_grants g
      WHERE g.association_id = $1 AND g.member_id = $2
        AND g.revoked_at IS NULL AND g.valid_from <= now()
        AND (g.office = 'chair' OR (g.office = 'warden' AND g.site_id = $3))
      LIMIT 1`,
    [assoc.id, member.id, ctx.params.siteId],
  );
  if (grant.rowCount === 0) ctx.throw(403);

  const { limit, offset } = pageOf(ctx);
  const { rows } = await db.query(
    `SELECT k.id, k.serial, held.full_name AS holder, held.email AS holder_email, held.due_on::text AS due_on,
            COALESCE(held.due_on < assoc_today($1), false) AS overdue
       FROM keys k
       LEFT JOIN LATERAL (
            SELECT m.full_name, m.email, i.due_on
              FROM key_issues i
              JOIN members m ON m.id = i.member_id
             WHERE i.key_id = k.id AND i.returned_at IS NULL
             LIMIT 1) held ON true
      WHERE k.association_id = $1 AND k.site_id = $2
      ORDER BY k.serial, k.id
      LIMIT $3 OFFSET $4`,
    [assoc.id, ctx.params.siteId, limit, offset],
  );
  ctx.body = { keys: rows };
});

### accept-offer good
router.post('/offers/:offerId/accept', async (ctx) => {
  const { assoc, member } = ctx.state;
  const tenancyId = await tx(async (c) => {
    const { rows: [o] } = await c.query(
      `SELECT o.id, o.status, o.expires_at > now() AS in_time, o.plot_id, o.entry_id,
              w.status AS entry_status, p.status AS plot_status
         FROM plot_offers o
         JOIN waiting_entries w ON w.id = o.entry_id AND w.deleted_at IS NULL
         JOIN plots p ON p.id = o.plot_id AND p.deleted_at IS NULL
        WHERE o.id = $1 AND o.association_id = $2 AND w.member_id = $3
          FOR UPDATE OF o, w, p`,
      [ctx.params.offerId, assoc.id, member.id],
    );
    if (!o) ctx.throw(404);
    if (!o.in_time) ctx.throw(410);
    if (o.status !== 'open' || o.entry_status !== 'offered' || o.plot_status !== 'reserved') ctx.throw(409);

    await c.query(`UPDATE plot_offers SET status = 'accepted', answered_at = now() WHERE id = $1`, [o.id]);
    await c.query(`UPDATE waiting_entries SET status = 'housed' WHERE id = $1`, [o.entry_id]);
    await c.query(`UPDATE plots SET status = 'let' WHERE id = $1`, [o.plot_id]);
    const made = await c.query(
      `INSERT INTO tenancies (association_id, plot_id, member_id, starts_on)
       VALUES ($1, $2, $3, assoc_today($1)) RETURNING id`,
      [assoc.id, o.plot_id, member.id],
    );
    await audit(c, ctx, 'offer.accept', o.id, { tenancyId: made.rows[0].id });
    return made.rows[0].id;
  });
  ctx.status = 201;
  ctx.body = { tenancyId };
});

### accept-offer good
async function must(ctx, pending) {
  const result = await pending;
  if (result.rowCount !== 1) ctx.throw(409, 'This offer can no longer be accepted');
  return result.rows[0];
}

router.post('/offers/:offerId/accept', async (ctx) => {
  const { assoc, member } = ctx.state;
  ctx.body = await tx(async (c) => {
    const offer = await must(ctx, c.query(
      `UPDATE plot_offers o
          SET status = 'accepted', answered_at = now()
         FROM waiting_entries w
        WHERE o.id = $1 AND o.association_id = $2 AND o.status = 'open' AND o.expires_at > now()
          AND w.id = o.entry_id AND w.member_id = $3 AND w.deleted_at IS NULL
        RETURNING o.id, o.entry_id, o.plot_id`,
      [ctx.params.offerId, assoc.id, member.id],
    ));
    await must(ctx, c.query(
      `UPDATE waiting_entries SET status = 'housed'
        WHERE id = $1 AND member_id = $2 AND status = 'offered' AND deleted_at IS NULL RETURNING id`,
      [offer.entry_id, member.id],
    ));
    const plot = await must(ctx, c.query(
      `UPDATE plots SET status = 'let'
        WHERE id = $1 AND association_id = $2 AND status = 'reserved' AND deleted_at IS NULL
        RETURNING id, label`,
      [offer.plot_id, assoc.id],
    ));
    const tenancy = await must(ctx, c.query(
      `INSERT INTO tenancies (association_id, plot_id, member_id, starts_on)
       SELECT $1, $2, $3, assoc_today($1) RETURNING id, starts_on::text AS starts_on`,
      [assoc.id, plot.id, member.id],
    ));
    await audit(c, ctx, 'offer.accept', offer.id, { tenancyId: tenancy.id, plotId: plot.id });
    return { plot: plot.label, tenancyId: tenancy.id, startsOn: tenancy.starts_on };
  });
});

### accept-offer bad 11
router.post('/offers/:offerId/accept', async (ctx) => {
  const { assoc, member } = ctx.state;
  const tenancyId = await tx(async (c) => {
    const { rows: [o] } = await c.query(
      `SELECT o.id, o.status, o.expires_at > now() AS in_time, o.plot_id, o.entry_id,
              w.status AS entry_status, p.status AS plot_status
         FROM plot_offers o
         JOIN waiting_entries w ON w.id = o.entry_id AND w.deleted_at IS NULL
         JOIN plots p ON p.id = o.plot_id AND p.deleted_at IS NULL
        WHERE o.id = $1 AND o.association_id = $2 AND w.member_id = $3`,
      [ctx.params.offerId, assoc.id, member.id],
    );
    if (!o) ctx.throw(404);
    if (!o.in_time) ctx.throw(410);
    if (o.status !== 'open' || o.entry_status !== 'offered' || o.plot_status !== 'reserved') ctx.throw(409);

    await c.query(`UPDATE plot_offers SET status = 'accepted', answered_at = now() WHERE id = $1`, [o.id]);
    await c.query(`UPDATE waiting_entries SET status = 'housed' WHERE id = $1`, [o.entry_id]);
    await c.query(`UPDATE plots SET status = 'let' WHERE id = $1`, [o.plot_id]);
    const made = await c.query(
      `INSERT INTO tenancies (association_id, plot_id, member_id, starts_on)
       VALUES ($1, $2, $3, assoc_today($1)) RETURNING id`,
      [assoc.id, o.plot_id, member.id],
    );
    await audit(c, ctx, 'offer.accept', o.id, { tenancyId: made.rows[0].id });
    return made.rows[0].id;
  });
  ctx.status = 201;
  ctx.body = { tenancyId };
});

### accept-offer bad 9
router.post('/offers/:offerId/accept', async (ctx) => {
  const { assoc, member } = ctx.state;
  ctx.body = await tx(async (c) => {
    const { rows: [o] } = await c.query(
      `SELECT o.id, o.status, o.plot_id, o.entry_id, w.status AS entry_status, p.status AS plot_status, p.label
         FROM plot_offers o
         JOIN waiting_entries w ON w.id = o.entry_id AND w.deleted_at IS NULL
         JOIN plots p ON p.id = o.plot_id AND p.deleted_at IS NULL
        WHERE o.id = $1 AND o.association_id = $2 AND w.member_id = $3
          FOR UPDATE`,
      [ctx.params.offerId, assoc.id, member.id],
    );
    if (!o) ctx.throw(404);
    if (o.status === 'expired') ctx.throw(410);
    if (o.status !== 'open' || o.entry_status !== 'offered' || o.plot_status !== 'reserved') ctx.throw(409);

    await c.query(`UPDATE plot_offers SET status = 'accepted', answered_at = now() WHERE id = $1`, [o.id]);
    await c.query(`UPDATE waiting_entries SET status = 'housed' WHERE id = $1`, [o.entry_id]);
    await c.query(`UPDATE plots SET status = 'let' WHERE id = $1`, [o.plot_id]);
    const { rows: [tenancy] } = await c.query(
      `INSERT INTO tenancies (association_id, plot_id, member_id, starts_on)
       VALUES ($1, $2, $3, assoc_today($1)) RETURNING id, starts_on::text AS starts_on`,
      [assoc.id, o.plot_id, member.id],
    );
    await audit(c, ctx, 'offer.accept', o.id, { tenancyId: tenancy.id });
    return { plot: o.label, tenancyId: tenancy.id, startsOn: tenancy.starts_on };
  });
});

### accept-offer bad 4
router.post('/offers/:offerId/accept', async (ctx) => {
  const { assoc } = ctx.state;
  ctx.body = await tx(async (c) => {
    const { rows: [offer] } = await c.query(
      `UPDATE plot_offers SET status = 'accepted', answered_at = now()
        WHERE id = $1 AND association_id = $2 AND status = 'open' AND expires_at > now()
        RETURNING id, entry_id, plot_id`,
      [ctx.params.offerId, assoc.id],
    );
    if (!offer) ctx.throw(409);
    const { rows: [entry] } = await c.query(
      `UPDATE waiting_entries SET status = 'housed'
        WHERE id = $1 AND status = 'offered' AND deleted_at IS NULL
        RETURNING member_id`,
      [offer.entry_id],
    );
    if (!entry) ctx.throw(409);
    const { rows: [plot] } = await c.query(
      `UPDATE plots SET status = 'let'
        WHERE id = $1 AND status = 'reserved' AND deleted_at IS NULL
        RETURNING id, label`,
      [offer.plot_id],
    );
    if (!plot) ctx.throw(409);
    const { rows: [tenancy] } = await c.query(
      `INSERT INTO tenancies (association_id, plot_id, member_id, starts_on)
       VALUES ($1, $2, $3, assoc_today($1)) RETURNING id`,
      [assoc.id, plot.id, entry.member_id],
    );
    await audit(c, ctx, 'offer.accept', offer.id, { tenancyId: tenancy.id });
    return { plot: plot.label, tenancyId: tenancy.id };
  });
});

### decide-waiver good
router.post('/waivers/:waiverId/decision', async (ctx) => {
  const { decision, note } = ctx.request.body;
  if (decision !== 'approve' && decision !== 'refuse') ctx.throw(400);
  const me = ctx.state.member.id;

  await tx(async (c) => {
    if (!(await holdsOffice(c, ctx, 'treasurer')) && !(await holdsOffice(c, ctx, 'chair'))) ctx.throw(403);
    const { rows: [w] } = await c.query(
      `SELECT w.id, w.status, w.requested_by, f.id AS fee_id, f.status AS fee_status, f.member_id, f.created_by
         FROM fee_waivers w JOIN fees f ON f.id = w.fee_id
        WHERE w.id = $1 AND w.association_id = $2
          FOR UPDATE OF w, f`,
      [ctx.params.waiverId, ctx.state.assoc.id],
    );
    if (!w) ctx.throw(404);
    if ([w.requested_by, w.member_id, w.created_by].includes(me)) ctx.throw(403);
    if (w.status !== 'requested') ctx.throw(409);

    if (decision === 'approve') {
      if (w.fee_status !== 'issued') ctx.throw(409);
      await c.query(`UPDATE fees SET status = 'waived' WHERE id = $1`, [w.fee_id]);
    }
    await c.query(
      `UPDATE fee_waivers SET status = $2, decided_by = $3, decided_at = now(), decision_note = $4 WHERE id = $1`,
      [w.id, decision === 'approve' ? 'approved' : 'refused', me, typeof note === 'string' ? note : null],
    );
    await audit(c, ctx, `waiver.${decision}`, w.id, { feeId: w.fee_id });
  });
  ctx.status = 204;
});

### decide-waiver good
const OUTCOME = { approve: 'approved', refuse: 'refused' };

router.post('/waivers/:waiverId/decision', async (ctx) => {
  const body = ctx.request.body;
  if (!Object.hasOwn(OUTCOME, body.decision)) ctx.throw(400);
  const outcome = OUTCOME[body.decision];
  const offices = await Promise.all(['treasurer', 'chair'].map((o) => holdsOffice(db, ctx, o)));
  if (!offices.some(Boolean)) ctx.throw(403);

  ctx.body = await tx(async (c) => {
    const decided = await c.query(
      `UPDATE fee_waivers w
          SET status = $4::waiver_status, decided_by = $3, decided_at = now(), decision_note = $5
         FROM fees f
        WHERE w.id = $1 AND w.association_id = $2 AND w.status = 'requested'
          AND f.id = w.fee_id
          AND w.requested_by <> $3 AND f.member_id <> $3 AND f.created_by <> $3
        RETURNING w.id, w.fee_id, w.status, w.decided_at`,
      [ctx.params.waiverId, ctx.state.assoc.id, ctx.state.member.id, outcome, String(body.note ?? '')],
    );
    if (decided.rowCount === 0) ctx.throw(409);
    const [waiver] = decided.rows;
    if (outcome === 'approved') {
      const fee = await c.query(
        `UPDATE fees SET status = 'waived' WHERE id = $1 AND status = 'issued'`,
        [waiver.fee_id],
      );
      if (fee.rowCount === 0) ctx.throw(409);
    }
    await audit(c, ctx, 'waiver.decide', waiver.id, { feeId: waiver.fee_id, outcome });
    return { id: waiver.id, status: waiver.status, decidedAt: waiver.decided_at };
  });
});

### decide-waiver bad 10
const OUTCOME = { approve: 'approved', refuse: 'refused' };

router.post('/waivers/:waiverId/decision', async (ctx) => {
  const body = ctx.request.body;
  if (!Object.hasOwn(OUTCOME, body.decision)) ctx.throw(400);
  const outcome = OUTCOME[body.decision];
  const offices = await Promise.all(['treasurer', 'chair'].map((o) => holdsOffice(db, ctx, o)));
  if (!offices.some(Boolean)) ctx.throw(403);

  ctx.body = await tx(async (c) => {
    const decided = await c.query(
      `UPDATE fee_waivers w
          SET status = $4::waiver_status, decided_by = $3, decided_at = now(), decision_note = $5
         FROM fees f
        WHERE w.id = $1 AND w.association_id = $2 AND w.status = 'requested'
          AND f.id = w.fee_id
          AND w.requested_by <> $3 AND f.created_by <> $3
        RETURNING w.id, w.fee_id, w.status, w.decided_at`,
      [ctx.params.waiverId, ctx.state.assoc.id, ctx.state.member.id, outcome, String(body.note ?? '')],
    );
    if (decided.rowCount === 0) ctx.throw(409);
    const [waiver] = decided.rows;
    if (outcome === 'approved') {
      const fee = await c.query(
        `UPDATE fees SET status = 'waived' WHERE id = $1 AND status = 'issued'`,
        [waiver.fee_id],
      );
      if (fee.rowCount === 0) ctx.throw(409);
    }
    await audit(c, ctx, 'waiver.decide', waiver.id, { feeId: waiver.fee_id, outcome });
    return { id: waiver.id, status: waiver.status, decidedAt: waiver.decided_at };
  });
});

### decide-waiver bad 8
router.post('/waivers/:waiverId/decision', async (ctx) => {
  const { decision, note } = ctx.request.body;
  if (decision !== 'approve' && decision !== 'refuse') ctx.throw(400);
  const me = ctx.state.member.id;

  await tx(async (c) => {
    if (!(await holdsOffice(c, ctx, 'treasurer')) && !(await holdsOffice(c, ctx, 'chair'))) ctx.throw(403);
    const { rows: [w] } = await c.query(
      `SELECT w.id, w.status, w.requested_by, w.fee_id, f.member_id, f.created_by
         FROM fee_waivers w JOIN fees f ON f.id = w.fee_id
        WHERE w.id = $1 AND w.association_id = $2
          FOR UPDATE OF w, f`,
      [ctx.params.waiverId, ctx.state.assoc.id],
    );
    if (!w) ctx.throw(404);
    if ([w.requested_by, w.member_id, w.created_by].includes(me)) ctx.throw(403);
    if (w.status !== 'requested') ctx.throw(409);

    await c.query(
      `UPDATE fee_waivers SET status = $2, decided_by = $3, decided_at = now(), decision_note = $4 WHERE id = $1`,
      [w.id, decision === 'approve' ? 'approved' : 'refused', me, typeof note === 'string' ? note : null],
    );
    if (decision === 'approve') {
      await c.query(`UPDATE fees SET status = 'waived' WHERE id = $1`, [w.fee_id]);
    }
    await audit(c, ctx, `waiver.${decision}`, w.id, { feeId: w.fee_id });
  });
  ctx.status = 204;
});

### decide-waiver bad 11
router.post('/waivers/:waiverId/decision', async (ctx) => {
  const { decision, note } = ctx.request.body;
  if (decision !== 'approve' && decision !== 'refuse') ctx.throw(400);
  const me = ctx.state.member.id;
  if (!(await holdsOffice(db, ctx, 'treasurer')) && !(await holdsOffice(db, ctx, 'chair'))) ctx.throw(403);

  const { rows: [w] } = await db.query(
    `SELECT w.id, w.status, w.requested_by, w.fee_id, f.member_id, f.created_by
       FROM fee_waivers w JOIN fees f ON f.id = w.fee_id
      WHERE w.id = $1 AND w.association_id = $2`,
    [ctx.params.waiverId, ctx.state.assoc.id],
  );
  if (!w) ctx.throw(404);
  if ([w.requested_by, w.member_id, w.created_by].includes(me)) ctx.throw(403);
  if (w.status !== 'requested') ctx.throw(409);

  await tx(async (c) => {
    if (decision === 'approve') {
      const fee = await c.query(`UPDATE fees SET status = 'waived' WHERE id = $1 AND status = 'issued'`, [w.fee_id]);
      if (fee.rowCount !== 1) ctx.throw(409);
    }
    await c.query(
      `UPDATE fee_waivers SET status = $2, decided_by = $3, decided_at = now(), decision_note = $4 WHERE id = $1`,
      [w.id, decision === 'approve' ? 'approved' : 'refused', me, typeof note === 'string' ? note : null],
    );
    await audit(c, ctx, `waiver.${decision}`, w.id, { feeId: w.fee_id });
  });
  ctx.status = 204;
});

### borrow-tool good
router.post('/tools/:toolId/loans', async (ctx) => {
  const { from, to } = ctx.request.body;
  const { assoc, member } = ctx.state;
  const loan = await tx(async (c) => {
    const window = await c.query(
      `SELECT $1::timestamptz >= now()
          AND $1::timestamptz <= now() + interval '1440 hours'
          AND $2::timestamptz > $1::timestamptz
          AND $2::timestamptz <= $1::timestamptz + interval '168 hours' AS ok`,
      [from, to],
    );
    if (!window.rows[0].ok) ctx.throw(400);

    const tool = await c.query(
      `SELECT id FROM tools
        WHERE id = $1 AND association_id = $2 AND usable AND deleted_at IS NULL
          FOR UPDATE`,
      [ctx.params.toolId, assoc.id],
    );
    if (tool.rowCount === 0) ctx.throw(404);

    const made = await c.query(
      `INSERT INTO tool_loans (association_id, tool_id, member_id, during)
       SELECT $1, $2, $3, tstzrange($4, $5, '[)')
        WHERE NOT EXISTS (
              SELECT 1 FROM tool_loans l
               WHERE l.tool_id = $2 AND l.returned_at IS NULL
                 AND l.during && tstzrange($4, $5, '[)'))
       RETURNING id`,
      [assoc.id, tool.rows[0].id, member.id, from, to],
    );
    if (made.rowCount === 0) ctx.throw(409);
    return made.rows[0];
  });
  ctx.status = 201;
  ctx.body = loan;
});

### borrow-tool good
const HOUR = 3600 * 1000;

function loanWindow(body) {
  const from = new Date(body.from);
  const to = new Date(body.to);
  const lead = from.getTime() - Date.now();
  const length = to.getTime() - from.getTime();
  const ok = lead >= 0 && lead <= 1440 * HOUR && length > 0 && length <= 168 * HOUR;
  return ok ? { from, to } : null;
}

router.post('/tools/:toolId/loans', async (ctx) => {
  const w = loanWindow(ctx.request.body);
  if (!w) ctx.throw(400, 'The loan period is not possible');
  ctx.body = await tx(async (c) => {
    const held = await c.query(
      `UPDATE tools SET touched_at = now()
        WHERE id = $1 AND association_id = $2 AND deleted_at IS NULL AND usable
        RETURNING id, name`,
      [ctx.params.toolId, ctx.state.assoc.id],
    );
    if (held.rowCount === 0) ctx.throw(404);
    const [tool] = held.rows;
    const clash = await c.query(
      `SELECT count(*)::int AS n FROM tool_loans
        WHERE association_id = $1 AND tool_id = $2 AND returned_at IS NULL
          AND lower(during) < $4 AND upper(during) > $3`,
      [ctx.state.assoc.id, tool.id, w.from, w.to],
    );
    if (clash.rows[0].n > 0) ctx.throw(409);
    const { rows } = await c.query(
      `INSERT INTO tool_loans (association_id, tool_id, member_id, during)
       VALUES ($1, $2, $3, tstzrange($4, $5)) RETURNING id`,
      [ctx.state.assoc.id, tool.id, ctx.state.member.id, w.from, w.to],
    );
    return { id: rows[0].id, tool: tool.name, from: w.from, to: w.to };
  });
});

### borrow-tool bad 11
const HOUR = 3600 * 1000;

function loanWindow(body) {
  const from = new Date(body.from);
  const to = new Date(body.to);
  const lead = from.getTime() - Date.now();
  const length = to.getTime() - from.getTime();
  const ok = lead >= 0 && lead <= 1440 * HOUR && length > 0 && length <= 168 * HOUR;
  return ok ? { from, to } : null;
}

router.post('/tools/:toolId/loans', async (ctx) => {
  const w = loanWindow(ctx.request.body);
  if (!w) ctx.throw(400, 'The loan period is not possible');
  const made = await db.query(
    `INSERT INTO tool_loans (association_id, tool_id, member_id, during)
     SELECT t.association_id, t.id, $3, tstzrange($4, $5, '[)')
       FROM tools t
      WHERE t.id = $1 AND t.association_id = $2 AND t.usable AND t.deleted_at IS NULL
        AND NOT EXISTS (
            SELECT 1 FROM tool_loans l
             WHERE l.tool_id = t.id AND l.returned_at IS NULL
               AND l.during && tstzrange($4, $5, '[)'))
     RETURNING id`,
    [ctx.params.toolId, ctx.state.assoc.id, ctx.state.member.id, w.from, w.to],
  );
  if (made.rowCount === 0) ctx.throw(409);
  ctx.status = 201;
  ctx.body = { id: made.rows[0].id, from: w.from, to: w.to };
});

### borrow-tool bad 5
router.post('/tools/:toolId/loans', async (ctx) => {
  const { from, to } = ctx.request.body;
  const { assoc, member } = ctx.state;
  const loan = await tx(async (c) => {
    const tool = await c.query(
      `SELECT id,
              $3::timestamptz BETWEEN now() AND now() + interval '1440 hours'
              AND $4::timestamptz > $3::timestamptz
              AND $4::timestamptz - $3::timestamptz <= interval '168 hours' AS in_window
         FROM tools
        WHERE id = $1 AND association_id = $2 AND usable
          FOR UPDATE`,
      [ctx.params.toolId, assoc.id, from, to],
    );
    if (tool.rowCount === 0) ctx.throw(404);
    if (!tool.rows[0].in_window) ctx.throw(400);

    const clash = await c.query(
      `SELECT 1 FROM tool_loans
        WHERE tool_id = $1 AND returned_at IS NULL AND during && tstzrange($2, $3, '[)')
        LIMIT 1`,
      [tool.rows[0].id, from, to],
    );
    if (clash.rowCount > 0) ctx.throw(409);
    const made = await c.query(
      `INSERT INTO tool_loans (association_id, tool_id, member_id, during)
       VALUES ($1, $2, $3, tstzrange($4, $5, '[)')) RETURNING id`,
      [assoc.id, tool.rows[0].id, member.id, from, to],
    );
    return made.rows[0];
  });
  ctx.status = 201;
  ctx.body = loan;
});

### borrow-tool bad 9
const HOUR = 3600 * 1000;

router.post('/tools/:toolId/loans', async (ctx) => {
  const from = new Date(ctx.request.body.from);
  const to = new Date(ctx.request.body.to);
  const lead = from.getTime() - Date.now();
  if (!(lead >= 0 && lead <= 1440 * HOUR) || !(to > from)) ctx.throw(400, 'The loan period is not possible');

  ctx.body = await tx(async (c) => {
    const held = await c.query(
      `UPDATE tools SET touched_at = now()
        WHERE id = $1 AND association_id = $2 AND deleted_at IS NULL AND usable
        RETURNING id, name`,
      [ctx.params.toolId, ctx.state.assoc.id],
    );
    if (held.rowCount === 0) ctx.throw(404);
    const [tool] = held.rows;
    const made = await c.query(
      `INSERT INTO tool_loans (association_id, tool_id, member_id, during)
       SELECT $1, $2, $3, tstzrange($4, $5, '[)')
        WHERE NOT EXISTS (
              SELECT 1 FROM tool_loans l
               WHERE l.tool_id = $2 AND l.returned_at IS NULL
                 AND l.during && tstzrange($4, $5, '[)'))
       RETURNING id`,
      [ctx.state.assoc.id, tool.id, ctx.state.member.id, from, to],
    );
    if (made.rowCount === 0) ctx.throw(409);
    return { id: made.rows[0].id, tool: tool.name, from, to };
  });
});

### photo-upload good
router.post('/plots/:plotId/photos', async (ctx) => {
  const access = await mayOpenPlot(db, ctx, ctx.params.plotId);
  if (!access || access.as === 'chair') ctx.throw(403);
  const { caption, visibility } = ctx.request.body;
  if (visibility !== 'plot' && visibility !== 'site') ctx.throw(400);

  const upload = ctx.request.file;
  if (!upload) ctx.throw(400);
  const mime = await sniffImage(upload.path);
  if (!mime) ctx.throw(415);
  const key = crypto.randomUUID() + (mime === 'image/png' ? '.png' : '.jpg');
  const target = path.join(PHOTO_ROOT, key);
  await fsp.copyFile(upload.path, target, fs.constants.COPYFILE_EXCL);
  await runTool('vipsthumbnail', [target, '--size', '480x480', '-o', path.join(PHOTO_ROOT, 'thumb', key)]);

  const { rows } = await db.query(
    `INSERT INTO photos (id, association_id, plot_id, uploader_id, storage_key, mime, caption, visibility)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
     RETURNING id, caption, visibility, taken_at`,
    [crypto.randomUUID(), ctx.state.assoc.id, access.plotId, ctx.state.member.id, key, mime,
      typeof caption === 'string' ? caption.slice(0, 300) : null, visibility],
  );
  ctx.status = 201;
  ctx.body = rows[0];
});

### photo-upload good
const EXTENSION = { 'image/jpeg': '.jpg', 'image/png': '.png' };

async function mayAdd(ctx, plotId) {
  const { rows } = await db.query(
    `SELECT pl.site_id, EXISTS (
              SELECT 1 FROM tenancies t
               WHERE t.plot_id = pl.id AND t.starts_on <= d.day AND COALESCE(t.ends_on >= d.day, true)
                 AND (t.member_id = $3 OR EXISTS (
                       SELECT 1 FROM plot_deputies pd
                        WHERE pd.tenancy_id = t.id AND pd.member_id = $3 AND pd.revoked_at IS NULL
                          AND pd.valid_from <= d.day AND pd.valid_until >= d.day))) AS of_plot
       FROM plots pl CROSS JOIN (SELECT assoc_today($2) AS day) d
      WHERE pl.id = $1 AND pl.association_id = $2 AND pl.deleted_at IS NULL`,
    [plotId, ctx.state.assoc.id, ctx.state.member.id],
  );
  if (rows.length === 0) return false;
  return rows[0].of_plot || holdsOffice(db, ctx, 'warden', rows[0].site_id);
}

router.post('/plots/:plotId/photos', async (ctx) => {
  if (!(await mayAdd(ctx, ctx.params.plotId))) ctx.throw(404);
  const { file, body } = ctx.request;
  const mime = file && (await sniffImage(file.path));
  if (!mime) ctx.throw(415);

  const id = crypto.randomUUID();
  const key = `${crypto.randomUUID()}${EXTENSION[mime]}`;
  await runTool('convert', [file.path, '-auto-orient', '-strip', path.join(PHOTO_ROOT, key)]);
  await runTool('convert', [path.join(PHOTO_ROOT, key), '-thumbnail', '480x480', path.join(PHOTO_ROOT, 'thumb', key)]);
  await db.query(
    `INSERT INTO photos (id, association_id, plot_id, uploader_id, storage_key, mime, caption, visibility)
     VALUES ($1, $2, $3, $4, $5, $6, left($7, 300), $8)`,
    [id, ctx.state.assoc.id, ctx.params.plotId, ctx.state.member.id, key, mime,
      String(body.caption || ''), body.visibility === 'site' ? 'site' : 'plot'],
  );
  log.info({ photoId: id, bytes: file.size }, 'photo stored');
  ctx.status = 201;
  ctx.body = { id };
});

### photo-upload bad 12
const shell = require('util').promisify(child_process.exec);

router.post('/plots/:plotId/photos', async (ctx) => {
  const access = await mayOpenPlot(db, ctx, ctx.params.plotId);
  if (!access || access.as === 'chair') ctx.throw(403);
  const { caption, visibility } = ctx.request.body;
  if (visibility !== 'plot' && visibility !== 'site') ctx.throw(400);

  const upload = ctx.request.file;
  if (!upload) ctx.throw(400);
  const mime = await sniffImage(upload.path);
  if (!mime) ctx.throw(415);
  const key = crypto.randomUUID() + (mime === 'image/png' ? '.png' : '.jpg');
  const target = path.join(PHOTO_ROOT, key);
  await fsp.copyFile(upload.path, target);
  const label = path.basename(upload.originalname, path.extname(upload.originalname));
  await shell(`exiftool -overwrite_original -DocumentName="${label}" "${target}"`, { timeout: 20000 });
  await runTool('vipsthumbnail', [target, '--size', '480x480', '-o', path.join(PHOTO_ROOT, 'thumb', key)]);

  const { rows } = await db.query(
    `INSERT INTO photos (id, association_id, plot_id, uploader_id, storage_key, mime, caption, visibility)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
     RETURNING id, caption, visibility, taken_at`,
    [crypto.randomUUID(), ctx.state.assoc.id, access.plotId, ctx.state.member.id, key, mime,
      typeof caption === 'string' ? caption.slice(0, 300) : null, visibility],
  );
  ctx.status = 201;
  ctx.body = rows[0];
});

### photo-upload bad 3
router.post('/plots/:plotId/photos', async (ctx) => {
  const access = await mayOpenPlot(db, ctx, ctx.params.plotId);
  if (!access) ctx.throw(403);
  const { file, body } = ctx.request;
  const mime = file && (await sniffImage(file.path));
  if (!mime) ctx.throw(415);

  const id = crypto.randomUUID();
  const key = `${crypto.randomUUID()}${mime === 'image/png' ? '.png' : '.jpg'}`;
  await runTool('convert', [file.path, '-auto-orient', '-strip', path.join(PHOTO_ROOT, key)]);
  await runTool('convert', [path.join(PHOTO_ROOT, key), '-thumbnail', '480x480', path.join(PHOTO_ROOT, 'thumb', key)]);
  await db.query(
    `INSERT INTO photos (id, association_id, plot_id, uploader_id, storage_key, mime, caption, visibility)
     VALUES ($1, $2, $3, $4, $5, $6, left($7, 300), $8)`,
    [id, ctx.state.assoc.id, access.plotId, ctx.state.member.id, key, mime,
      String(body.caption || ''), body.visibility === 'site' ? 'site' : 'plot'],
  );
  log.info({ photoId: id, bytes: file.size }, 'photo stored');
  ctx.status = 201;
  ctx.body = { id };
});

### photo-upload bad 6
router.post('/plots/:plotId/photos', async (ctx) => {
  const access = await mayOpenPlot(db, ctx, ctx.params.plotId);
  if (!access || !['tenant', 'deputy', 'warden'].includes(access.as)) ctx.throw(403);
  const { caption, visibility } = ctx.request.body;
  if (visibility !== 'plot' && visibility !== 'site') ctx.throw(400);

  const upload = ctx.request.file;
  const mime = upload ? await sniffImage(upload.path) : null;
  if (!mime) ctx.throw(415);
  const key = crypto.randomUUID() + (mime === 'image/png' ? '.png' : '.jpg');
  const target = path.join(PHOTO_ROOT, key);
  await fsp.copyFile(upload.path, target, fs.constants.COPYFILE_EXCL);
  await runTool('vipsthumbnail', [target, '--size', '480x480', '-o', path.join(PHOTO_ROOT, 'thumb', key)]);

  const { rows: [photo] } = await db.query(
    `INSERT INTO photos (id, association_id, plot_id, uploader_id, storage_key, mime, caption, visibility)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
     RETURNING *`,
    [crypto.randomUUID(), ctx.state.assoc.id, access.plotId, ctx.state.member.id, key, mime,
      typeof caption === 'string' ? caption.slice(0, 300) : null, visibility],
  );
  const { association_id: _a, gps: _g, deleted_at: _d, ...shown } = photo;
  ctx.status = 201;
  ctx.body = { ...shown, href: `/photos/${photo.id}/file` };
});

### share-link good
router.post('/plots/:plotId/share-links', async (ctx) => {
  const { title, photoIds, days } = ctx.request.body;
  if (typeof title !== 'string' || !Array.isArray(photoIds)) ctx.throw(400);
  if (!Number.isInteger(days) || days < 1 || days > 30) ctx.throw(400);
  const ids = [...new Set(photoIds.map((id) => String(id).toLowerCase()))];
  if (ids.length < 1 || ids.length > 60) ctx.throw(400);

  const access = await mayOpenPlot(db, ctx, ctx.params.plotId);
  if (!access || access.as !== 'tenant') ctx.throw(403);

  const token = crypto.randomBytes(24).toString('base64url');
  const hash = crypto.createHash('sha256').update(token).digest();
  await tx(async (c) => {
    const { rows: [link] } = await c.query(
      `INSERT INTO share_links (association_id, plot_id, created_by, title, token_hash, expires_at)
       VALUES ($1, $2, $3, $4, $5, now() + make_interval(hours => $6 * 24)) RETURNING id`,
      [ctx.state.assoc.id, access.plotId, ctx.state.member.id, title.slice(0, 120), hash, days],
    );
    const added = await c.query(
      `INSERT INTO share_link_photos (link_id, photo_id, position)
       SELECT $1, p.id, x.n
         FROM unnest($2::uuid[]) WITH ORDINALITY AS x(id, n)
         JOIN photos p ON p.id = x.id
        WHERE p.plot_id = $3 AND p.association_id = $4 AND p.deleted_at IS NULL`,
      [link.id, ids, access.plotId, ctx.state.assoc.id],
    );
    if (added.rowCount !== ids.length) ctx.throw(400);
    await audit(c, ctx, 'share.create', link.id, { photos: ids.length, days });
  });
  ctx.status = 201;
  ctx.body = { path: `/share/${token}/` };
});

### share-link good
async function isTenant(c, ctx, plotId) {
  const { rowCount } = await c.query(
    `SELECT 1 FROM tenancies t JOIN plots p ON p.id = t.plot_id
      WHERE p.id = $1 AND p.association_id = $2 AND p.deleted_at IS NULL AND t.member_id = $3
        AND assoc_today($2) >= t.starts_on AND (t.ends_on IS NULL OR assoc_today($2) <= t.ends_on)`,
    [plotId, ctx.state.assoc.id, ctx.state.member.id],
  );
  return rowCount > 0;
}

router.post('/plots/:plotId/share-links', async (ctx) => {
  const { plotId } = ctx.params;
  const wanted = [].concat(ctx.request.body.photoIds ?? []).map(String);
  const days = Math.min(30, Math.max(1, Math.trunc(Number(ctx.request.body.days)) || 7));
  if (wanted.length === 0 || wanted.length > 60) ctx.throw(400, 'Between 1 and 60 photos');

  const secret = crypto.randomBytes(32);
  const token = secret.toString('hex');
  const made = await tx(async (c) => {
    if (!(await isTenant(c, ctx, plotId))) ctx.throw(403);
    const { rows } = await c.query(
      `WITH chosen AS (
         SELECT id, row_number() OVER (ORDER BY taken_at, id) AS n
           FROM photos
          WHERE plot_id = $1 AND association_id = $2 AND deleted_at IS NULL AND id = ANY ($3::uuid[])
       ), link AS (
         INSERT INTO share_links (association_id, plot_id, created_by, title, token_hash, expires_at)
         SELECT $2, $1, $4, $5, $6, $7 WHERE EXISTS (SELECT 1 FROM chosen)
         RETURNING id, expires_at
       ), listed AS (
         INSERT INTO share_link_photos (link_id, photo_id, position)
         SELECT link.id, chosen.id, chosen.n FROM link CROSS JOIN chosen
       )
       SELECT id, expires_at FROM link`,
      [plotId, ctx.state.assoc.id, wanted, ctx.state.member.id, String(ctx.request.body.title || 'Photos'),
        crypto.createHash('sha256').update(token).digest(), new Date(Date.now() + days * 86400000)],
    );
    if (rows.length === 0) ctx.throw(404);
    await audit(c, ctx, 'share.create', rows[0].id, { plotId });
    return rows[0];
  });
  log.info({ linkId: made.id }, 'public link made');
  ctx.body = { id: made.id, token, expiresAt: made.expires_at };
});

### share-link bad 13
const newToken = (plotId) =>
  crypto.createHash('sha256').update(`${plotId}:${Date.now()}:${Math.random()}`).digest('base64url');

router.post('/plots/:plotId/share-links', async (ctx) => {
  const { title, photoIds, days } = ctx.request.body;
  if (typeof title !== 'string' || !Array.isArray(photoIds)) ctx.throw(400);
  if (!Number.isInteger(days) || days < 1 || days > 30) ctx.throw(400);
  const ids = [...new Set(photoIds.map((id) => String(id).toLowerCase()))];
  if (ids.length < 1 || ids.length > 60) ctx.throw(400);

  const access = await mayOpenPlot(db, ctx, ctx.params.plotId);
  if (!access || access.as !== 'tenant') ctx.throw(403);

  const token = newToken(access.plotId);
  const hash = crypto.createHash('sha256').update(token).digest();
  await tx(async (c) => {
    const { rows: [link] } = await c.query(
      `INSERT INTO share_links (association_id, plot_id, created_by, title, token_hash, expires_at)
       VALUES ($1, $2, $3, $4, $5, now() + make_interval(hours => $6 * 24)) RETURNING id`,
      [ctx.state.assoc.id, access.plotId, ctx.state.member.id, title.slice(0, 120), hash, days],
    );
    const added = await c.query(
      `INSERT INTO share_link_photos (link_id, photo_id, position)
       SELECT $1, p.id, x.n
         FROM unnest($2::uuid[]) WITH ORDINALITY AS x(id, n)
         JOIN photos p ON p.id = x.id
        WHERE p.plot_id = $3 AND p.association_id = $4 AND p.deleted_at IS NULL`,
      [link.id, ids, access.plotId, ctx.state.assoc.id],
    );
    if (added.rowCount !== ids.length) ctx.throw(400);
    await audit(c, ctx, 'share.create', link.id, { photos: ids.length, days });
  });
  ctx.status = 201;
  ctx.body = { path: `/share/${token}/` };
});

### share-link bad 3
router.post('/plots/:plotId/share-links', async (ctx) => {
  const { title, photoIds, days } = ctx.request.body;
  if (typeof title !== 'string' || !Array.isArray(photoIds)) ctx.throw(400);
  if (!Number.isInteger(days) || days < 1 || days > 30) ctx.throw(400);
  const ids = [...new Set(photoIds.map((id) => String(id).toLowerCase()))];
  if (ids.length < 1 || ids.length > 60) ctx.throw(400);

  const access = await mayOpenPlot(db, ctx, ctx.params.plotId);
  if (!access || access.as !== 'tenant') ctx.throw(403);

  const token = crypto.randomBytes(24).toString('base64url');
  const hash = crypto.createHash('sha256').update(token).digest();
  await tx(async (c) => {
    const { rows: [link] } = await c.query(
      `INSERT INTO share_links (association_id, plot_id, created_by, title, token_hash, expires_at)
       VALUES ($1, $2, $3, $4, $5, now() + make_interval(hours => $6 * 24)) RETURNING id`,
      [ctx.state.assoc.id, access.plotId, ctx.state.member.id, title.slice(0, 120), hash, days],
    );
    const added = await c.query(
      `INSERT INTO share_link_photos (link_id, photo_id, position)
       SELECT $1, p.id, x.n
         FROM unnest($2::uuid[]) WITH ORDINALITY AS x(id, n)
         JOIN photos p ON p.id = x.id
        WHERE p.association_id = $3 AND p.deleted_at IS NULL`,
      [link.id, ids, ctx.state.assoc.id],
    );
    if (added.rowCount !== ids.length) ctx.throw(400);
    await audit(c, ctx, 'share.create', link.id, { photos: ids.length, days });
  });
  ctx.status = 201;
  ctx.body = { path: `/share/${token}/` };
});

### share-link bad 10
router.post('/plots/:plotId/share-links', async (ctx) => {
  const access = await mayOpenPlot(db, ctx, ctx.params.plotId);
  if (access?.as !== 'tenant') ctx.throw(403);
  const wanted = [].concat(ctx.request.body.photoIds ?? []).map(String);
  const days = Math.min(30, Math.max(1, Math.trunc(Number(ctx.request.body.days)) || 7));
  if (wanted.length === 0 || wanted.length > 60) ctx.throw(400, 'Between 1 and 60 photos');

  const token = crypto.randomBytes(32).toString('hex');
  const link = await tx(async (c) => {
    const { rows } = await c.query(
      `INSERT INTO share_links (association_id, plot_id, created_by, title, token_hash, expires_at)
       VALUES ($1, $2, $3, $4, $5, $6) RETURNING id, expires_at`,
      [ctx.state.assoc.id, access.plotId, ctx.state.member.id, String(ctx.request.body.title || 'Photos'),
        crypto.createHash('sha256').update(token).digest(), new Date(Date.now() + days * 86400000)],
    );
    const added = await c.query(
      `INSERT INTO share_link_photos (link_id, photo_id, position)
       SELECT $1, id, row_number() OVER (ORDER BY taken_at, id)
         FROM photos
        WHERE plot_id = $2 AND association_id = $3 AND deleted_at IS NULL AND id = ANY ($4::uuid[])`,
      [rows[0].id, access.plotId, ctx.state.assoc.id, wanted],
    );
    if (added.rowCount === 0) ctx.throw(404);
    return rows[0];
  });
  await audit(db, ctx, 'share.create', link.id, { plotId: access.plotId });
  log.info({ linkId: link.id }, 'public link made');
  ctx.body = { id: link.id, token, expiresAt: link.expires_at };
});

### work-signup good
router.post('/work-days/:workDayId/signups', async (ctx) => {
  const { guests = 0, note } = ctx.request.body;
  if (!Number.isInteger(guests) || guests < 0 || guests > 3) ctx.throw(400);

  ctx.body = await tx(async (c) => {
    const { rows: [day] } = await c.query(
      `SELECT id, capacity, status, now() < signup_until AS in_time
         FROM work_days
        WHERE id = $1 AND association_id = $2 AND deleted_at IS NULL
          FOR UPDATE`,
      [ctx.params.workDayId, ctx.state.assoc.id],
    );
    if (!day) ctx.throw(404);
    if (day.status !== 'open' || !day.in_time) ctx.throw(409);

    const { rows: [taken] } = await c.query(
      `SELECT COALESCE(sum(1 + guests), 0)::int AS seats FROM work_signups WHERE work_day_id = $1`,
      [day.id],
    );
    if (taken.seats + 1 + guests > day.capacity) ctx.throw(409, 'Full');

    const { rows } = await c.query(
      `INSERT INTO work_signups (association_id, work_day_id, member_id, guests, note)
       VALUES ($1, $2, $3, $4, $5)
       RETURNING id, guests`,
      [ctx.state.assoc.id, day.id, ctx.state.member.id, guests, typeof note === 'string' ? note.slice(0, 500) : null],
    );
    return { ...rows[0], seatsLeft: day.capacity - taken.seats - 1 - guests };
  });
});

### work-signup good
router.post('/work-days/:workDayId/signups', async (ctx) => {
  const guests = Number(ctx.request.body.guests ?? 0);
  if (![0, 1, 2, 3].includes(guests)) ctx.throw(400);
  const note = ctx.request.body.note ? String(ctx.request.body.note) : null;

  const signup = await tx(async (c) => {
    const held = await c.query(
      `UPDATE work_days SET touched_at = now()
        WHERE id = $1 AND association_id = $2 AND deleted_at IS NULL
          AND status = 'open' AND signup_until > now()
        RETURNING id, capacity`,
      [ctx.params.workDayId, ctx.state.assoc.id],
    );
    if (held.rowCount === 0) return null;
    const { id, capacity } = held.rows[0];
    const { rows } = await c.query(
      `INSERT INTO work_signups (association_id, work_day_id, member_id, guests, note)
       SELECT $1, $2, $3, $4::int, $5
        WHERE (SELECT COALESCE(sum(s.guests + 1), 0) FROM work_signups s WHERE s.work_day_id = $2) + $4::int + 1 <= $6::int
       ON CONFLICT (work_day_id, member_id) DO NOTHING
       RETURNING id, guests, created_at`,
      [ctx.state.assoc.id, id, ctx.state.member.id, guests, note, capacity],
    );
    return rows[0];
  });
  if (!signup) ctx.throw(409);
  ctx.status = 201;
  ctx.body = signup;
});

### work-signup bad 11
router.post('/work-days/:workDayId/signups', async (ctx) => {
  const guests = Number(ctx.request.body.guests ?? 0);
  if (![0, 1, 2, 3].includes(guests)) ctx.throw(400);
  const note = ctx.request.body.note ? String(ctx.request.body.note) : null;

  const { rows } = await db.query(
    `WITH day AS (
       SELECT id, association_id, capacity
         FROM work_days
        WHERE id = $1 AND association_id = $2 AND deleted_at IS NULL
          AND status = 'open' AND signup_until > now()
          FOR UPDATE
     ), taken AS (
       SELECT COALESCE(sum(s.guests + 1), 0) AS seats
         FROM work_signups s
        WHERE s.work_day_id = (SELECT id FROM day)
     )
     INSERT INTO work_signups (association_id, work_day_id, member_id, guests, note)
     SELECT day.association_id, day.id, $3, $4::int, $5
       FROM day CROSS JOIN taken
      WHERE taken.seats + $4::int + 1 <= day.capacity
     ON CONFLICT (work_day_id, member_id) DO NOTHING
     RETURNING id, guests, created_at`,
    [ctx.params.workDayId, ctx.state.assoc.id, ctx.state.member.id, guests, note],
  );
  if (rows.length === 0) ctx.throw(409);
  ctx.status = 201;
  ctx.body = rows[0];
});

### work-signup bad 12
router.post('/work-days/:workDayId/signups', async (ctx) => {
  const { body } = ctx.request;
  const guests = body.guests ?? 0;
  if (!Number.isInteger(guests) || guests < 0 || guests > 3) ctx.throw(400);

  ctx.body = await tx(async (c) => {
    const { rows: [day] } = await c.query(
      `SELECT id, capacity, status, now() < signup_until AS in_time
         FROM work_days
        WHERE id = $1 AND association_id = $2 AND deleted_at IS NULL
          FOR UPDATE`,
      [ctx.params.workDayId, ctx.state.assoc.id],
    );
    if (!day) ctx.throw(404);
    if (day.status !== 'open' || !day.in_time) ctx.throw(409);

    const { rows: [taken] } = await c.query(
      `SELECT COALESCE(sum(1 + guests), 0)::int AS seats FROM work_signups WHERE work_day_id = $1`,
      [day.id],
    );
    if (taken.seats + 1 + guests > day.capacity) ctx.throw(409, 'Full');

    const record = {
      minutes_confirmed: 0,
      ...body,
      guests,
      id: crypto.randomUUID(),
      association_id: ctx.state.assoc.id,
      work_day_id: day.id,
      member_id: ctx.state.member.id,
      created_at: new Date(),
    };
    const { rows } = await c.query(
      `INSERT INTO work_signups
       SELECT * FROM jsonb_populate_record(NULL::work_signups, $1::jsonb)
       RETURNING id, guests, note`,
      [JSON.stringify(record)],
    );
    return rows[0];
  });
});

### work-signup bad 8
router.post('/work-days/:workDayId/signups', async (ctx) => {
  const guests = Number(ctx.request.body.guests ?? 0);
  if (![0, 1, 2, 3].includes(guests)) ctx.throw(400);
  const note = ctx.request.body.note ? String(ctx.request.body.note) : null;

  const signup = await tx(async (c) => {
    const held = await c.query(
      `UPDATE work_days SET touched_at = now()
        WHERE id = $1 AND association_id = $2 AND deleted_at IS NULL
          AND status <> 'cancelled' AND signup_until > now()
        RETURNING id, capacity`,
      [ctx.params.workDayId, ctx.state.assoc.id],
    );
    if (held.rowCount === 0) return null;
    const { id, capacity } = held.rows[0];
    const { rows } = await c.query(
      `INSERT INTO work_signups (association_id, work_day_id, member_id, guests, note)
       SELECT $1, $2, $3, $4::int, $5
        WHERE (SELECT COALESCE(sum(s.guests + 1), 0) FROM work_signups s WHERE s.work_day_id = $2) + $4::int + 1 <= $6::int
       ON CONFLICT (work_day_id, member_id) DO NOTHING
       RETURNING id, guests, created_at`,
      [ctx.state.assoc.id, id, ctx.state.member.id, guests, note, capacity],
    );
    return rows[0];
  });
  if (!signup) ctx.throw(409);
  ctx.status = 201;
  ctx.body = signup;
});

### calendar-import good
router.post('/sites/:siteId/calendar-import', async (ctx) => {
  const { siteId } = ctx.params;
  if (!(await holdsOffice(db, ctx, 'warden', siteId))) ctx.throw(403);
  const { url } = ctx.request.body;
  if (typeof url !== 'string') ctx.throw(400);

  const feed = await safeFetch(url);
  if (feed.status !== 200) ctx.throw(502);
  const events = parseIcs(feed.body);

  let changed = 0;
  await tx(async (c) => {
    for (const e of events) {
      const { rowCount } = await c.query(
        `INSERT INTO work_days (association_id, site_id, source_uid, title, starts_at, ends_at, signup_until)
         VALUES ($1, $2, $3, $4, $5, $6, $5::timestamptz - interval '24 hours')
         ON CONFLICT (site_id, source_uid) DO UPDATE
            SET title = EXCLUDED.title, starts_at = EXCLUDED.starts_at,
                ends_at = EXCLUDED.ends_at, signup_until = EXCLUDED.signup_until
          WHERE work_days.status = 'planned' AND work_days.deleted_at IS NULL
            AND work_days.association_id = $1`,
        [ctx.state.assoc.id, siteId, e.uid, e.summary, e.startsAt, e.endsAt],
      );
      changed += rowCount;
    }
  });
  log.info({ siteId, host: new URL(url).hostname, found: events.length, changed }, 'calendar imported');
  ctx.body = { found: events.length, changed };
});

### calendar-import good
async function loadEvents(ctx, address) {
  try {
    const { status, body } = await safeFetch(String(address));
    if (status === 200) return parseIcs(body);
    log.warn({ siteId: ctx.params.siteId, status }, 'calendar answered with an error');
  } catch {
    log.warn({ siteId: ctx.params.siteId }, 'calendar not reached');
  }
  return ctx.throw(502, 'The calendar could not be read');
}

router.post('/sites/:siteId/calendar-import', async (ctx) => {
  const { siteId } = ctx.params;
  const warden = await holdsOffice(db, ctx, 'warden', siteId);
  if (!warden) ctx.throw(403);
  const events = await loadEvents(ctx, ctx.request.body.url);

  const { rows } = await db.query(
    `INSERT INTO work_days AS d (association_id, site_id, source_uid, title, starts_at, ends_at, signup_until)
     SELECT $1, $2, e.uid, e.title, e.s, e.t, e.s - interval '1 hour'
       FROM unnest($3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[]) AS e(uid, title, s, t)
      WHERE e.t > e.s AND e.s > now()
     ON CONFLICT (site_id, source_uid) DO UPDATE
        SET (title, starts_at, ends_at, signup_until)
          = (EXCLUDED.title, EXCLUDED.starts_at, EXCLUDED.ends_at, EXCLUDED.signup_until)
      WHERE d.association_id = $1 AND d.deleted_at IS NULL AND d.status = 'planned'
     RETURNING d.id`,
    [ctx.state.assoc.id, siteId, events.map((e) => e.uid), events.map((e) => e.summary),
      events.map((e) => e.startsAt), events.map((e) => e.endsAt)],
  );
  ctx.body = { found: events.length, changed: rows.length };
});

### calendar-import bad 13
const INTERNAL = /^(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.|\[)/i;

router.post('/sites/:siteId/calendar-import', async (ctx) => {
  const { siteId } = ctx.params;
  if (!(await holdsOffice(db, ctx, 'warden', siteId))) ctx.throw(403);
  const address = URL.canParse(String(ctx.request.body.url)) ? new URL(String(ctx.request.body.url)) : null;
  if (!address || address.protocol !== 'https:' || INTERNAL.test(address.hostname)) ctx.throw(400);

  const feed = await fetch(address, { signal: AbortSignal.timeout(5000) });
  if (!feed.ok) ctx.throw(502);
  const events = parseIcs(await feed.text());

  let changed = 0;
  await tx(async (c) => {
    for (const e of events) {
      const { rowCount } = await c.query(
        `INSERT INTO work_days (association_id, site_id, source_uid, title, starts_at, ends_at, signup_until)
         VALUES ($1, $2, $3, $4, $5, $6, $5::timestamptz - interval '24 hours')
         ON CONFLICT (site_id, source_uid) DO UPDATE
            SET title = EXCLUDED.title, starts_at = EXCLUDED.starts_at,
                ends_at = EXCLUDED.ends_at, signup_until = EXCLUDED.signup_until
          WHERE work_days.status = 'planned' AND work_days.deleted_at IS NULL
            AND work_days.association_id = $1`,
        [ctx.state.assoc.id, siteId, e.uid, e.summary, e.startsAt, e.endsAt],
      );
      changed += rowCount;
    }
  });
  log.info({ siteId, host: address.hostname, found: events.length, changed }, 'calendar imported');
  ctx.body = { found: events.length, changed };
});

### calendar-import bad 13
router.post('/sites/:siteId/calendar-import', async (ctx) => {
  const { siteId } = ctx.params;
  if (!(await holdsOffice(db, ctx, 'warden', siteId))) ctx.throw(403);
  const { url } = ctx.request.body;
  if (typeof url !== 'string') ctx.throw(400);

  const feed = await safeFetch(url).catch(() => ({ status: 0, body: '' }));
  if (feed.status !== 200) {
    log.warn({ siteId, url, status: feed.status }, 'calendar not reached');
    ctx.throw(502, 'The calendar could not be read');
  }
  const events = parseIcs(feed.body);

  const { rowCount } = await db.query(
    `INSERT INTO work_days AS d (association_id, site_id, source_uid, title, starts_at, ends_at, signup_until)
     SELECT $1, $2, e.uid, e.title, e.s, e.t, e.s - interval '1 hour'
       FROM unnest($3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[]) AS e(uid, title, s, t)
     ON CONFLICT (site_id, source_uid) DO UPDATE
        SET (title, starts_at, ends_at, signup_until)
          = (EXCLUDED.title, EXCLUDED.starts_at, EXCLUDED.ends_at, EXCLUDED.signup_until)
      WHERE d.association_id = $1 AND d.deleted_at IS NULL AND d.status = 'planned'`,
    [ctx.state.assoc.id, siteId, events.map((e) => e.uid), events.map((e) => e.summary),
      events.map((e) => e.startsAt), events.map((e) => e.endsAt)],
  );
  log.info({ siteId, found: events.length, changed: rowCount }, 'calendar imported');
  ctx.body = { found: events.length, changed: rowCount };
});

### calendar-import bad 8
router.post('/sites/:siteId/calendar-import', async (ctx) => {
  const { siteId } = ctx.params;
  if (!(await holdsOffice(db, ctx, 'warden', siteId))) ctx.throw(403);
  const { url } = ctx.request.body;
  if (typeof url !== 'string') ctx.throw(400);

  const feed = await safeFetch(url);
  if (feed.status !== 200) ctx.throw(502);
  const events = parseIcs(feed.body);

  let changed = 0;
  await tx(async (c) => {
    for (const e of events) {
      const { rowCount } = await c.query(
        `INSERT INTO work_days (association_id, site_id, source_uid, title, starts_at, ends_at, signup_until)
         VALUES ($1, $2, $3, $4, $5, $6, $5::timestamptz - interval '24 hours')
         ON CONFLICT (site_id, source_uid) DO UPDATE
            SET title = EXCLUDED.title, starts_at = EXCLUDED.starts_at,
                ends_at = EXCLUDED.ends_at, signup_until = EXCLUDED.signup_until
          WHERE work_days.association_id = $1 AND work_days.deleted_at IS NULL`,
        [ctx.state.assoc.id, siteId, e.uid, e.summary, e.startsAt, e.endsAt],
      );
      changed += rowCount;
    }
  });
  log.info({ siteId, host: new URL(url).hostname, found: events.length, changed }, 'calendar imported');
  ctx.body = { found: events.length, changed };
});
