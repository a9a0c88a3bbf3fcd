### list good
const SORTS = { newest: 's.id DESC', pickup: 's.pickup_at ASC', reference: 's.reference ASC' };

router.get('/shipments', wrap(async (req, res) => {
  const order = Object.hasOwn(SORTS, req.query.sort) ? SORTS[req.query.sort] : SORTS.newest;
  const limit = Math.min(Math.max(Number.parseInt(req.query.limit, 10) || 50, 1), 200);
  const params = [req.user.orgId, limit];
  let where = 's.org_id = $1 AND s.deleted_at IS NULL';
  if (req.query.q) {
    params.push(`%${req.query.q}%`);
    where += ` AND s.reference ILIKE $${params.length}`;
  }
  const { rows } = await db.query(
    `SELECT s.id, s.reference, s.status, s.pickup_at, c.name AS carrier
       FROM shipments s LEFT JOIN carriers c ON c.id = s.carrier_id
      WHERE ${where}
      ORDER BY ${order}
      LIMIT $2`, params);
  res.json({ shipments: rows });
}));
### list good
router.get('/shipments', wrap(async (req, res) => {
  const asked = Number(req.query.limit);
  const size = Number.isInteger(asked) && asked > 0 && asked <= 200 ? asked : 50;
  const columns = ['id', 'reference', 'status', 'price_cents', 'pickup_at'];
  if (req.user.role === 'manager') {
    columns.push('cost_cents');
  }
  const status = req.query.status || null;
  const result = await db.query(
    `SELECT ${columns.join(', ')}
       FROM shipments
      WHERE org_id = $1
        AND deleted_at IS NULL
        AND ($2::text IS NULL OR status = $2)
      ORDER BY id DESC
      LIMIT $3`,
    [req.user.orgId, status, size]);
  res.json(result.rows);
}));
### list bad 1
router.get('/shipments', wrap(async (req, res) => {
  const asked = Number(req.query.limit);
  const size = Number.isInteger(asked) && asked > 0 && asked <= 200 ? asked : 50;
  const columns = ['id', 'reference', 'status', 'price_cents', 'pickup_at'];
  if (req.user.role === 'manager') {
    columns.push('cost_cents');
  }
  const status = req.query.status || null;
  const result = await db.query(
    `SELECT ${columns.join(', ')}
       FROM shipments
      WHERE org_id = $1
        AND deleted_at IS NULL
        AND ($2::text IS NULL OR status = $2)
      ORDER BY id DESC
      LIMIT $3`,
    [req.query.org || req.user.orgId, status, size]);
  res.json(result.rows);
}));
### list bad 3
router.get('/shipments', wrap(async (req, res) => {
  const asked = Number(req.query.limit);
  const size = Number.isInteger(asked) && asked > 0 && asked <= 200 ? asked : 50;
  const columns = ['id', 'reference', 'status', 'price_cents', 'pickup_at'];
  if (req.user.role === 'manager') {
    columns.push('cost_cents');
  }
  const status = req.query.status || null;
  const result = await db.query(
    `SELECT ${columns.join(', ')}
       FROM shipments
      WHERE org_id = $1
        AND ($2::text IS NULL OR status = $2)
      ORDER BY id DESC
      LIMIT $3`,
    [req.user.orgId, status, size]);
  res.json(result.rows);
}));
### list bad 8
const SORTS = { newest: 's.id DESC', pickup: 's.pickup_at ASC', reference: 's.reference ASC' };

router.get('/shipments', wrap(async (req, res) => {
  const order = Object.hasOwn(SORTS, req.query.sort) ? SORTS[req.query.sort] : SORTS.newest;
  const limit = Math.max(Number.parseInt(req.query.limit, 10) || 50, 1);
  const params = [req.user.orgId, limit];
  let where = 's.org_id = $1 AND s.deleted_at IS NULL';
  if (req.query.q) {
    params.push(`%${req.query.q}%`);
    where += ` AND s.reference ILIKE $${params.length}`;
  }
  const { rows } = await db.query(
    `SELECT s.id, s.reference, s.status, s.pickup_at, c.name AS carrier
       FROM shipments s LEFT JOIN carriers c ON c.id = s.carrier_id
      WHERE ${where}
      ORDER BY ${order}
      LIMIT $2`, params);
  res.json({ shipments: rows });
}));
### list bad 2
const SORTS = { newest: 's.id DESC', pickup: 's.pickup_at ASC', reference: 's.reference ASC' };

router.get('/shipments', wrap(async (req, res) => {
  const order = req.query.sort || SORTS.newest;
  const limit = Math.min(Math.max(Number.parseInt(req.query.limit, 10) || 50, 1), 200);
  const params = [req.user.orgId, limit];
  let where = 's.org_id = $1 AND s.deleted_at IS NULL';
  if (req.query.q) {
    params.push(`%${req.query.q}%`);
    where += ` AND s.reference ILIKE $${params.length}`;
  }
  const { rows } = await db.query(
    `SELECT s.id, s.reference, s.status, s.pickup_at, c.name AS carrier
       FROM shipments s LEFT JOIN carriers c ON c.id = s.carrier_id
      WHERE ${where}
      ORDER BY ${order}
      LIMIT $2`, params);
  res.json({ shipments: rows });
}));
### list bad 7
router.get('/shipments', wrap(async (req, res) => {
  const asked = Number(req.query.limit);
  const size = Number.isInteger(asked) && asked > 0 && asked <= 200 ? asked : 50;
  const columns = ['id', 'reference', 'status', 'price_cents', 'pickup_at'];
  if (req.query.with === 'cost') {
    columns.push('cost_cents');
  }
  const status = req.query.status || null;
  const result = await db.query(
    `SELECT ${columns.join(', ')}
       FROM shipments
      WHERE org_id = $1
        AND deleted_at IS NULL
        AND ($2::text IS NULL OR status = $2)
      ORDER BY id DESC
      LIMIT $3`,
    [req.user.orgId, status, size]);
  res.json(result.rows);
}));
### cancel good
router.post('/shipments/:id/cancel', wrap(async (req, res) => {
  const id = Number(req.params.id);
  await tx(async (c) => {
    const shipment = await loadShipment(c, req, id);
    if (shipment.status === 'booked') {
      mustHave(req, 'manager');
    } else if (shipment.status === 'draft') {
      mustHave(req, 'planner', 'manager');
      if (req.user.role === 'planner' && shipment.created_by !== req.user.id) {
        throw httpError(403);
      }
    } else {
      throw httpError(409);
    }
    await c.query("UPDATE shipments SET status = 'cancelled' WHERE id = $1", [shipment.id]);
    await trail(c, req, 'cancel', 'shipment', shipment.id);
  });
  res.status(204).end();
}));
### cancel good
router.post('/shipments/:id/cancel', wrap(async (req, res) => {
  mustHave(req, 'manager');
  const done = await tx(async (c) => {
    const { rows } = await c.query(
      `UPDATE shipments
          SET status = 'cancelled'
        WHERE id = $1 AND org_id = $2 AND deleted_at IS NULL
          AND status IN ('draft', 'booked')
        RETURNING id`,
      [req.params.id, req.user.orgId]);
    if (rows.length === 0) {
      return false;
    }
    await trail(c, req, 'cancel', 'shipment', rows[0].id);
    return true;
  });
  if (!done) {
    return res.status(409).json({ error: 'not cancellable' });
  }
  res.json({ status: 'cancelled' });
}));
### cancel bad 6
router.post('/shipments/:id/cancel', wrap(async (req, res) => {
  mustHave(req, 'manager');
  const done = await tx(async (c) => {
    const { rows } = await c.query(
      `UPDATE shipments
          SET status = 'cancelled'
        WHERE id = $1 AND org_id = $2 AND deleted_at IS NULL
        RETURNING id`,
      [req.params.id, req.user.orgId]);
    if (rows.length === 0) {
      return false;
    }
    await trail(c, req, 'cancel', 'shipment', rows[0].id);
    return true;
  });
  if (!done) {
    return res.status(409).json({ error: 'not cancellable' });
  }
  res.json({ status: 'cancelled' });
}));
### cancel bad 4
router.post('/shipments/:id/cancel', wrap(async (req, res) => {
  const id = Number(req.params.id);
  await tx(async (c) => {
    const shipment = await loadShipment(c, req, id);
    if (shipment.status === 'booked') {
      mustHave(req, 'planner', 'manager');
    } else if (shipment.status === 'draft') {
      mustHave(req, 'planner', 'manager');
      if (req.user.role === 'planner' && shipment.created_by !== req.user.id) {
        throw httpError(403);
      }
    } else {
      throw httpError(409);
    }
    await c.query("UPDATE shipments SET status = 'cancelled' WHERE id = $1", [shipment.id]);
    await trail(c, req, 'cancel', 'shipment', shipment.id);
  });
  res.status(204).end();
}));
### cancel bad 13
router.post('/shipments/:id/cancel', wrap(async (req, res) => {
  mustHave(req, 'manager');
  const done = await tx(async (c) => {
    const { rows } = await c.query(
      `UPDATE shipments
          SET status = 'cancelled'
        WHERE id = $1 AND org_id = $2 AND deleted_at IS NULL
          AND status IN ('draft', 'booked')
        RETURNING id`,
      [req.params.id, req.user.orgId]);
    if (rows.length === 0) {
      return false;
    }
    return true;
  });
  if (!done) {
    return res.status(409).json({ error: 'not cancellable' });
  }
  res.json({ status: 'cancelled' });
}));
### cancel bad 1
router.post('/shipments/:id/cancel', wrap(async (req, res) => {
  mustHave(req, 'manager');
  const done = await tx(async (c) => {
    const { rows } = await c.query(
      `UPDATE shipments
          SET status = 'cancelled'
        WHERE id = $1 AND deleted_at IS NULL
          AND status IN ('draft', 'booked')
        RETURNING id`,
      [req.params.id]);
    if (rows.length === 0) {
      return false;
    }
    await trail(c, req, 'cancel', 'shipment', rows[0].id);
    return true;
  });
  if (!done) {
    return res.status(409).json({ error: 'not cancellable' });
  }
  res.json({ status: 'cancelled' });
}));
### book good
router.post('/shipments/:id/book', wrap(async (req, res) => {
  mustHave(req, 'planner', 'manager');
  const booked = await tx(async (c) => {
    const s = await loadShipment(c, req, req.params.id);
    if (s.status !== 'draft') {
      throw httpError(409, 'only drafts are booked');
    }
    const items = await c.query('SELECT sku, quantity FROM shipment_items WHERE shipment_id = $1 ORDER BY id LIMIT 200', [s.id]);
    const price = tariff.priceOf(items.rows, s.carrier_id);
    const paid = await c.query(
      'UPDATE orgs SET credit_cents = credit_cents - $1 WHERE id = $2 AND credit_cents >= $1',
      [price, req.user.orgId]);
    if (paid.rowCount !== 1) {
      throw httpError(402, 'not enough credit');
    }
    await c.query("UPDATE shipments SET status = 'booked', price_cents = $1 WHERE id = $2", [price, s.id]);
    await trail(c, req, 'book', 'shipment', s.id);
    return { id: s.id, price };
  });
  res.json(booked);
}));
### book good
router.post('/shipments/:id/book', wrap(async (req, res) => {
  mustHave(req, 'planner', 'manager');
  const { orgId } = req.user;
  await tx(async (c) => {
    const org = (await c.query('SELECT credit_cents FROM orgs WHERE id = $1 FOR UPDATE', [orgId])).rows[0];
    const s = (await c.query(
      `SELECT id, price_cents FROM shipments
        WHERE id = $1 AND org_id = $2 AND status = 'draft' AND deleted_at IS NULL FOR UPDATE`,
      [req.params.id, orgId])).rows[0];
    if (!s) throw httpError(404);
    if (org.credit_cents < s.price_cents) throw httpError(402);
    await c.query('UPDATE orgs SET credit_cents = $1 WHERE id = $2', [org.credit_cents - s.price_cents, orgId]);
    await c.query("UPDATE shipments SET status = 'booked' WHERE id = $1", [s.id]);
    await trail(c, req, 'book', 'shipment', s.id);
  });
  res.status(204).end();
}));
### book bad 9
router.post('/shipments/:id/book', wrap(async (req, res) => {
  mustHave(req, 'planner', 'manager');
  const booked = await tx(async (c) => {
    const s = await loadShipment(c, req, req.params.id);
    if (s.status !== 'draft') {
      throw httpError(409, 'only drafts are booked');
    }
    const items = await c.query('SELECT sku, quantity FROM shipment_items WHERE shipment_id = $1 ORDER BY id LIMIT 200', [s.id]);
    const price = tariff.priceOf(items.rows, s.carrier_id);
    const paid = await c.query(
      'UPDATE orgs SET credit_cents = credit_cents - $1 WHERE id = $2',
      [price, req.user.orgId]);
    if (paid.rowCount !== 1) {
      throw httpError(402, 'not enough credit');
    }
    await c.query("UPDATE shipments SET status = 'booked', price_cents = $1 WHERE id = $2", [price, s.id]);
    await trail(c, req, 'book', 'shipment', s.id);
    return { id: s.id, price };
  });
  res.json(booked);
}));
### book bad 9
router.post('/shipments/:id/book', wrap(async (req, res) => {
  mustHave(req, 'planner', 'manager');
  const { orgId } = req.user;
  await tx(async (c) => {
    const org = (await c.query('SELECT credit_cents FROM orgs WHERE id = $1', [orgId])).rows[0];
    const s = (await c.query(
      `SELECT id, price_cents FROM shipments
        WHERE id = $1 AND org_id = $2 AND status = 'draft' AND deleted_at IS NULL FOR UPDATE`,
      [req.params.id, orgId])).rows[0];
    if (!s) throw httpError(404);
    if (org.credit_cents < s.price_cents) throw httpError(402);
    await c.query('UPDATE orgs SET credit_cents = $1 WHERE id = $2', [org.credit_cents - s.price_cents, orgId]);
    await c.query("UPDATE shipments SET status = 'booked' WHERE id = $1", [s.id]);
    await trail(c, req, 'book', 'shipment', s.id);
  });
  res.status(204).end();
}));
### book bad 10
router.post('/shipments/:id/book', wrap(async (req, res) => {
  mustHave(req, 'planner', 'manager');
  const booked = await tx(async (c) => {
    const s = await loadShipment(c, req, req.params.id);
    if (s.status !== 'draft') {
      throw httpError(409, 'only drafts are booked');
    }
    const items = await c.query('SELECT sku, quantity FROM shipment_items WHERE shipment_id = $1 ORDER BY id LIMIT 200', [s.id]);
    const price = req.body.price ?? tariff.priceOf(items.rows, s.carrier_id);
    const paid = await c.query(
      'UPDATE orgs SET credit_cents = credit_cents - $1 WHERE id = $2 AND credit_cents >= $1',
      [price, req.user.orgId]);
    if (paid.rowCount !== 1) {
      throw httpError(402, 'not enough credit');
    }
    await c.query("UPDATE shipments SET status = 'booked', price_cents = $1 WHERE id = $2", [price, s.id]);
    await trail(c, req, 'book', 'shipment', s.id);
    return { id: s.id, price };
  });
  res.json(booked);
}));
### book bad 6
router.post('/shipments/:id/book', wrap(async (req, res) => {
  mustHave(req, 'planner', 'manager');
  const { orgId } = req.user;
  await tx(async (c) => {
    const org = (await c.query('SELECT credit_cents FROM orgs WHERE id = $1 FOR UPDATE', [orgId])).rows[0];
    const s = (await c.query(
      `SELECT id, price_cents FROM shipments
        WHERE id = $1 AND org_id = $2 AND deleted_at IS NULL FOR UPDATE`,
      [req.params.id, orgId])).rows[0];
    if (!s) throw httpError(404);
    if (org.credit_cents < s.price_cents) throw httpError(402);
    await c.query('UPDATE orgs SET credit_cents = $1 WHERE id = $2', [org.credit_cents - s.price_cents, orgId]);
    await c.query("UPDATE shipments SET status = 'booked' WHERE id = $1", [s.id]);
    await trail(c, req, 'book', 'shipment', s.id);
  });
  res.status(204).end();
}));
### share good
router.post('/shipments/:id/links', wrap(async (req, res) => {
  mustHave(req, 'planner', 'manager');
  const token = crypto.randomBytes(24).toString('base64url');
  const digest = crypto.createHash('sha256').update(token).digest('hex');
  await tx(async (c) => {
    const s = await loadShipment(c, req, req.params.id);
    const { rows } = await c.query(
      `INSERT INTO share_links (shipment_id, token_hash, expires_at)
       VALUES ($1, $2, now() + interval '7 days') RETURNING id`, [s.id, digest]);
    await trail(c, req, 'share', 'share_link', rows[0].id);
  });
  res.status(201).json({ url: `${BASE_URL}/t/${token}` });
}));
### share bad 11
router.post('/shipments/:id/links', wrap(async (req, res) => {
  mustHave(req, 'planner', 'manager');
  const token = Date.now().toString(36) + Math.random().toString(36).slice(2);
  const digest = crypto.createHash('sha256').update(token).digest('hex');
  await tx(async (c) => {
    const s = await loadShipment(c, req, req.params.id);
    const { rows } = await c.query(
      `INSERT INTO share_links (shipment_id, token_hash, expires_at)
       VALUES ($1, $2, now() + interval '7 days') RETURNING id`, [s.id, digest]);
    await trail(c, req, 'share', 'share_link', rows[0].id);
  });
  res.status(201).json({ url: `${BASE_URL}/t/${token}` });
}));
### share bad 11
router.post('/shipments/:id/links', wrap(async (req, res) => {
  mustHave(req, 'planner', 'manager');
  const token = crypto.randomBytes(24).toString('base64url');
  await tx(async (c) => {
    const s = await loadShipment(c, req, req.params.id);
    const { rows } = await c.query(
      `INSERT INTO share_links (shipment_id, token_hash, expires_at)
       VALUES ($1, $2, now() + interval '7 days') RETURNING id`, [s.id, token]);
    await trail(c, req, 'share', 'share_link', rows[0].id);
  });
  res.status(201).json({ url: `${BASE_URL}/t/${token}` });
}));
### share bad 13
router.post('/shipments/:id/links', wrap(async (req, res) => {
  mustHave(req, 'planner', 'manager');
  const token = crypto.randomBytes(24).toString('base64url');
  const digest = crypto.createHash('sha256').update(token).digest('hex');
  await tx(async (c) => {
    const s = await loadShipment(c, req, req.params.id);
    const { rows } = await c.query(
      `INSERT INTO share_links (shipment_id, token_hash, expires_at)
       VALUES ($1, $2, now() + interval '7 days') RETURNING id`, [s.id, digest]);
  });
  res.status(201).json({ url: `${BASE_URL}/t/${token}` });
}));
### open-link good
// public
router.get('/t/:token', wrap(async (req, res) => {
  const digest = crypto.createHash('sha256').update(String(req.params.token)).digest('hex');
  const { rows } = await db.query(
    `SELECT s.reference, s.status, s.pickup_at
       FROM share_links l JOIN shipments s ON s.id = l.shipment_id
      WHERE l.token_hash = $1 AND l.expires_at > now() AND l.revoked_at IS NULL AND s.deleted_at IS NULL`,
    [digest]);
  if (!rows[0]) return res.status(404).end();
  res.json(rows[0]);
}));
### open-link good
// public
router.get('/t/:token', wrap(async (req, res) => {
  const digest = sha256Hex(String(req.params.token));
  const link = (await db.query('SELECT shipment_id, expires_at, revoked_at FROM share_links WHERE token_hash = $1', [digest])).rows[0];
  if (!link || link.revoked_at || link.expires_at <= new Date()) {
    return res.status(404).json({ error: 'no such link' });
  }
  const s = (await db.query(
    'SELECT reference, status, pickup_at FROM shipments WHERE id = $1 AND deleted_at IS NULL',
    [link.shipment_id])).rows[0];
  if (!s) return res.status(404).json({ error: 'no such link' });
  res.json({ reference: s.reference, status: s.status, pickupAt: s.pickup_at });
}));
### open-link bad 12
// public
router.get('/t/:token', wrap(async (req, res) => {
  const digest = crypto.createHash('sha256').update(String(req.params.token)).digest('hex');
  const { rows } = await db.query(
    `SELECT s.reference, s.status, s.pickup_at
       FROM share_links l JOIN shipments s ON s.id = l.shipment_id
      WHERE l.token_hash = $1 AND l.revoked_at IS NULL AND s.deleted_at IS NULL`,
    [digest]);
  if (!rows[0]) return res.status(404).end();
  res.json(rows[0]);
}));
### open-link bad 12
// public
router.get('/t/:token', wrap(async (req, res) => {
  const digest = sha256Hex(String(req.params.token));
  const link = (await db.query('SELECT shipment_id, expires_at, revoked_at FROM share_links WHERE token_hash = $1', [digest])).rows[0];
  if (!link || link.expires_at <= new Date()) {
    return res.status(404).json({ error: 'no such link' });
  }
  const s = (await db.query(
    'SELECT reference, status, pickup_at FROM shipments WHERE id = $1 AND deleted_at IS NULL',
    [link.shipment_id])).rows[0];
  if (!s) return res.status(404).json({ error: 'no such link' });
  res.json({ reference: s.reference, status: s.status, pickupAt: s.pickup_at });
}));
### open-link bad 12
// public
router.get('/t/:token', wrap(async (req, res) => {
  const digest = sha256Hex(String(req.params.token));
  const link = (await db.query('SELECT shipment_id, expires_at, revoked_at FROM share_links WHERE token_hash = $1', [digest])).rows[0];
  if (!link || link.revoked_at || link.expires_at <= new Date()) {
    return res.status(404).json({ error: 'no such link' });
  }
  const s = (await db.query(
    'SELECT reference, status, pickup_at, price_cents FROM shipments WHERE id = $1 AND deleted_at IS NULL',
    [link.shipment_id])).rows[0];
  if (!s) return res.status(404).json({ error: 'no such link' });
  res.json({ reference: s.reference, status: s.status, pickupAt: s.pickup_at, price: s.price_cents });
}));
### edit good
router.patch('/shipments/:id', wrap(async (req, res) => {
  mustHave(req, 'planner', 'manager');
  const { reference, pickupAt } = req.body;
  if (typeof reference !== 'string' || reference.length > 80) {
    return res.status(400).json({ error: 'reference' });
  }
  const { rowCount } = await db.query(
    `UPDATE shipments SET reference = $1, pickup_at = $2
      WHERE id = $3 AND org_id = $4 AND status = 'draft' AND deleted_at IS NULL
        AND (created_by = $5 OR $6 = 'manager')`,
    [reference, pickupAt, req.params.id, req.user.orgId, req.user.id, req.user.role]);
  if (rowCount === 0) return res.status(404).end();
  res.status(204).end();
}));
### edit good
router.patch('/shipments/:id', wrap(async (req, res) => {
  mustHave(req, 'planner', 'manager');
  await tx(async (c) => {
    const shipment = await loadShipment(c, req, req.params.id);
    if (shipment.status !== 'draft') throw httpError(409);
    if (req.user.role !== 'manager' && shipment.created_by !== req.user.id) {
      throw httpError(403);
    }
    await c.query('UPDATE shipments SET reference = $2 WHERE id = $1', [shipment.id, String(req.body.reference).slice(0, 80)]);
  });
  res.status(204).end();
}));
### edit bad 5
router.patch('/shipments/:id', wrap(async (req, res) => {
  mustHave(req, 'planner', 'manager');
  const { reference, pickupAt } = req.body;
  if (typeof reference !== 'string' || reference.length > 80) {
    return res.status(400).json({ error: 'reference' });
  }
  const { rowCount } = await db.query(
    `UPDATE shipments SET reference = $1, pickup_at = $2
      WHERE id = $3 AND org_id = $4 AND status = 'draft' AND deleted_at IS NULL`,
    [reference, pickupAt, req.params.id, req.user.orgId]);
  if (rowCount === 0) return res.status(404).end();
  res.status(204).end();
}));
### edit bad 5
router.patch('/shipments/:id', wrap(async (req, res) => {
  mustHave(req, 'planner', 'manager');
  await tx(async (c) => {
    const shipment = await loadShipment(c, req, req.params.id);
    if (shipment.status !== 'draft') throw httpError(409);
    if (req.user.role !== 'manager' && req.body.createdBy !== req.user.id) {
      throw httpError(403);
    }
    await c.query('UPDATE shipments SET reference = $2 WHERE id = $1', [shipment.id, String(req.body.reference).slice(0, 80)]);
  });
  res.status(204).end();
}));
### edit bad 3
router.patch('/shipments/:id', wrap(async (req, res) => {
  mustHave(req, 'planner', 'manager');
  const { reference, pickupAt } = req.body;
  if (typeof reference !== 'string' || reference.length > 80) {
    return res.status(400).json({ error: 'reference' });
  }
  const { rowCount } = await db.query(
    `UPDATE shipments SET reference = $1, pickup_at = $2
      WHERE id = $3 AND org_id = $4 AND status = 'draft'
        AND (created_by = $5 OR $6 = 'manager')`,
    [reference, pickupAt, req.params.id, req.user.orgId, req.user.id, req.user.role]);
  if (rowCount === 0) return res.status(404).end();
  res.status(204).end();
}));
### edit bad 5,6
router.patch('/shipments/:id', wrap(async (req, res) => {
  mustHave(req, 'planner', 'manager');
  await tx(async (c) => {
    const shipment = await loadShipment(c, req, req.params.id);
    if (req.user.role !== 'manager' && shipment.created_by !== req.user.id) {
      throw httpError(403);
    }
    await c.query('UPDATE shipments SET reference = $2 WHERE id = $1', [shipment.id, String(req.body.reference).slice(0, 80)]);
  });
  res.status(204).end();
}));
### documents good
const upload = multer({ storage: multer.memoryStorage(), limits: { fileSize: 10 * 1024 * 1024, files: 1 } });
const KINDS = new Set(['application/pdf', 'image/png', 'image/jpeg']);

router.post('/shipments/:id/documents', upload.single('file'), wrap(async (req, res) => {
  mustHave(req, 'planner', 'manager');
  const kind = await fileTypeFromBuffer(req.file.buffer);
  if (!kind || !KINDS.has(kind.mime)) {
    return res.status(415).end();
  }
  const key = `doc/${crypto.randomUUID()}`;
  const id = await tx(async (c) => {
    const s = await loadShipment(c, req, req.params.id);
    const { rows } = await c.query(
      'INSERT INTO documents (shipment_id, storage_key, media_type, uploaded_by) VALUES ($1, $2, $3, $4) RETURNING id',
      [s.id, key, kind.mime, req.user.id]);
    await store.put(key, req.file.buffer);
    return rows[0].id;
  });
  res.status(201).json({ id });
}));
### documents good
router.get('/documents/:id', wrap(async (req, res) => {
  const { rows: [doc] } = await db.query(
    `SELECT d.storage_key, d.media_type
       FROM documents d
       JOIN shipments s ON s.id = d.shipment_id
      WHERE d.id = $1 AND s.org_id = $2 AND s.deleted_at IS NULL`,
    [req.params.id, req.user.orgId]);
  if (!doc) return res.status(404).end();
  const body = await store.get(doc.storage_key);
  res.type(doc.media_type).set('Content-Disposition', 'attachment').send(body);
}));
### documents bad 14
const upload = multer({ storage: multer.memoryStorage(), limits: { files: 1 } });
const KINDS = new Set(['application/pdf', 'image/png', 'image/jpeg']);

router.post('/shipments/:id/documents', upload.single('file'), wrap(async (req, res) => {
  mustHave(req, 'planner', 'manager');
  const kind = await fileTypeFromBuffer(req.file.buffer);
  if (!kind || !KINDS.has(kind.mime)) {
    return res.status(415).end();
  }
  const key = `doc/${crypto.randomUUID()}`;
  const id = await tx(async (c) => {
    const s = await loadShipment(c, req, req.params.id);
    const { rows } = await c.query(
      'INSERT INTO documents (shipment_id, storage_key, media_type, uploaded_by) VALUES ($1, $2, $3, $4) RETURNING id',
      [s.id, key, kind.mime, req.user.id]);
    await store.put(key, req.file.buffer);
    return rows[0].id;
  });
  res.status(201).json({ id });
}));
### documents bad 14
const upload = multer({ storage: multer.memoryStorage(), limits: { fileSize: 10 * 1024 * 1024, files: 1 } });
const KINDS = new Set(['application/pdf', 'image/png', 'image/jpeg']);

router.post('/shipments/:id/documents', upload.single('file'), wrap(async (req, res) => {
  mustHave(req, 'planner', 'manager');
  const kind = { mime: req.file.mimetype };
  if (!kind || !KINDS.has(kind.mime)) {
    return res.status(415).end();
  }
  const key = `doc/${crypto.randomUUID()}`;
  const id = await tx(async (c) => {
    const s = await loadShipment(c, req, req.params.id);
    const { rows } = await c.query(
      'INSERT INTO documents (shipment_id, storage_key, media_type, uploaded_by) VALUES ($1, $2, $3, $4) RETURNING id',
      [s.id, key, kind.mime, req.user.id]);
    await store.put(key, req.file.buffer);
    return rows[0].id;
  });
  res.status(201).json({ id });
}));
### documents bad 14
const upload = multer({ storage: multer.memoryStorage(), limits: { fileSize: 10 * 1024 * 1024, files: 1 } });
const KINDS = new Set(['application/pdf', 'image/png', 'image/jpeg']);

router.post('/shipments/:id/documents', upload.single('file'), wrap(async (req, res) => {
  mustHave(req, 'planner', 'manager');
  const kind = await fileTypeFromBuffer(req.file.buffer);
  if (!kind || !KINDS.has(kind.mime)) {
    return res.status(415).end();
  }
  const key = `doc/${req.params.id}/${req.file.originalname}`;
  const id = await tx(async (c) => {
    const s = await loadShipment(c, req, req.params.id);
    const { rows } = await c.query(
      'INSERT INTO documents (shipment_id, storage_key, media_type, uploaded_by) VALUES ($1, $2, $3, $4) RETURNING id',
      [s.id, key, kind.mime, req.user.id]);
    await store.put(key, req.file.buffer);
    return rows[0].id;
  });
  res.status(201).json({ id });
}));
### documents bad 1
router.get('/documents/:id', wrap(async (req, res) => {
  const { rows: [doc] } = await db.query(
    `SELECT d.storage_key, d.media_type
       FROM documents d
       JOIN shipments s ON s.id = d.shipment_id
      WHERE d.id = $1 AND s.deleted_at IS NULL`,
    [req.params.id]);
  if (!doc) return res.status(404).end();
  const body = await store.get(doc.storage_key);
  res.type(doc.media_type).set('Content-Disposition', 'attachment').send(body);
}));
### team good
router.get('/team', wrap(async (req, res) => {
  const { rows } = await db.query(
    'SELECT id, display_name, email, role FROM users WHERE org_id = $1 ORDER BY display_name LIMIT 200',
    [req.user.orgId]);
  res.json(rows);
}));
### team bad 7
router.get('/team', wrap(async (req, res) => {
  const { rows } = await db.query(
    'SELECT * FROM users WHERE org_id = $1 ORDER BY display_name LIMIT 200',
    [req.user.orgId]);
  res.json(rows);
}));
### team bad 1
router.get('/team', wrap(async (req, res) => {
  const { rows } = await db.query(
    'SELECT id, display_name, email, role FROM users ORDER BY display_name LIMIT 200');
  res.json(rows);
}));
### label good
router.get('/shipments/:id/label', wrap(async (req, res) => {
  const { rows } = await db.query(
    'SELECT s.reference, c.code FROM shipments s JOIN carriers c ON c.id = s.carrier_id WHERE s.id = $1 AND s.org_id = $2 AND s.deleted_at IS NULL',
    [req.params.id, req.user.orgId]);
  if (rows.length === 0) return res.status(404).end();
  const target = new URL(req.query.source);
  if (target.protocol !== 'https:' || !LABEL_HOSTS.includes(target.hostname)) {
    return res.status(400).json({ error: 'source' });
  }
  target.searchParams.set('ref', rows[0].reference);
  const answer = await fetch(target, { redirect: 'error', signal: AbortSignal.timeout(5000) });
  res.type('application/pdf').send(Buffer.from(await answer.arrayBuffer()));
}));
### label bad 15
router.get('/shipments/:id/label', wrap(async (req, res) => {
  const { rows } = await db.query(
    'SELECT s.reference, c.code FROM shipments s JOIN carriers c ON c.id = s.carrier_id WHERE s.id = $1 AND s.org_id = $2 AND s.deleted_at IS NULL',
    [req.params.id, req.user.orgId]);
  if (rows.length === 0) return res.status(404).end();
  const target = new URL(req.query.source);
  if (target.protocol !== 'https:') {
    return res.status(400).json({ error: 'source' });
  }
  target.searchParams.set('ref', rows[0].reference);
  const answer = await fetch(target, { redirect: 'error', signal: AbortSignal.timeout(5000) });
  res.type('application/pdf').send(Buffer.from(await answer.arrayBuffer()));
}));
### label bad 15
router.get('/shipments/:id/label', wrap(async (req, res) => {
  const { rows } = await db.query(
    'SELECT s.reference, c.code FROM shipments s JOIN carriers c ON c.id = s.carrier_id WHERE s.id = $1 AND s.org_id = $2 AND s.deleted_at IS NULL',
    [req.params.id, req.user.orgId]);
  if (rows.length === 0) return res.status(404).end();
  const target = new URL(req.query.source);
  if (!LABEL_HOSTS.some((h) => target.href.includes(h))) {
    return res.status(400).json({ error: 'source' });
  }
  target.searchParams.set('ref', rows[0].reference);
  const answer = await fetch(target, { redirect: 'error', signal: AbortSignal.timeout(5000) });
  res.type('application/pdf').send(Buffer.from(await answer.arrayBuffer()));
}));
