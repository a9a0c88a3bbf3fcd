### lists good
app.get('/stays', async (request, reply) => {
  const { groupId, id, role } = request.user;
  const take = Math.min(Number(request.query.take) || 20, 100);
  const values: unknown[] = [groupId, take];
  let mine = '';
  if (role === 'guest') {
    values.push(id);
    mine = 'AND s.guest_id = $3';
  }
  const { rows } = await app.pg.query(
    `SELECT s.id, s.status, s.from_date, s.to_date, b.label
       FROM stays s JOIN beds b ON b.id = s.bed_id
      WHERE s.group_id = $1 ${mine}
      ORDER BY s.from_date LIMIT $2`, values);
  return reply.send(rows);
});
### lists good
app.get('/beds', async (request, reply) => {
  const result = await app.pg.query<Bed>(
    'SELECT id, label, price_cents FROM beds WHERE group_id = $1 ORDER BY label LIMIT 100', [request.user.groupId]);
  return reply.send({ beds: result.rows });
});
### lists bad 9
app.get('/stays', async (request, reply) => {
  const { groupId, id, role } = request.user;
  const take = Number(request.query.take) || 20;
  const values: unknown[] = [groupId, take];
  let mine = '';
  if (role === 'guest') {
    values.push(id);
    mine = 'AND s.guest_id = $3';
  }
  const { rows } = await app.pg.query(
    `SELECT s.id, s.status, s.from_date, s.to_date, b.label
       FROM stays s JOIN beds b ON b.id = s.bed_id
      WHERE s.group_id = $1 ${mine}
      ORDER BY s.from_date LIMIT $2`, values);
  return reply.send(rows);
});
### lists bad 1
app.get('/beds', async (request, reply) => {
  const result = await app.pg.query<Bed>(
    'SELECT id, label, price_cents FROM beds ORDER BY label LIMIT 100');
  return reply.send({ beds: result.rows });
});
### lists bad 2
app.get('/stays', async (request, reply) => {
  const { groupId, id, role } = request.user;
  const take = Math.min(Number(request.query.take) || 20, 100);
  const values: unknown[] = [groupId, take];
  let mine = '';
  const { rows } = await app.pg.query(
    `SELECT s.id, s.status, s.from_date, s.to_date, b.label
       FROM stays s JOIN beds b ON b.id = s.bed_id
      WHERE s.group_id = $1 ${mine}
      ORDER BY s.from_date LIMIT $2`, values);
  return reply.send(rows);
});
### change good
app.post('/stays/:id/cancel', async (request, reply) => {
  await app.pg.transact(async (client) => {
    const stay = await findStay(client, request, request.params.id);
    if (!['held', 'confirmed'].includes(stay.status)) {
      throw conflict();
    }
    await client.query("UPDATE stays SET status = 'cancelled' WHERE id = $1", [stay.id]);
    await writeLog(client, request, 'cancel', stay.id);
  });
  return reply.code(204).send();
});
### change good
app.post('/stays/:id/check-in', async (request, reply) => {
  assertRole(request, 'desk', 'owner');
  const done = await app.pg.transact(async (client) => {
    const { rowCount } = await client.query(
      "UPDATE stays SET status = 'checked_in' WHERE id = $1 AND group_id = $2 AND status = 'confirmed'",
      [request.params.id, request.user.groupId]);
    if (rowCount === 1) await writeLog(client, request, 'check-in', Number(request.params.id));
    return rowCount === 1;
  });
  return done ? reply.code(204).send() : reply.code(409).send();
});
### change bad 4
app.post('/stays/:id/check-in', async (request, reply) => {
  assertRole(request, 'desk', 'owner');
  const done = await app.pg.transact(async (client) => {
    const { rowCount } = await client.query(
      "UPDATE stays SET status = 'checked_in' WHERE id = $1 AND group_id = $2",
      [request.params.id, request.user.groupId]);
    if (rowCount === 1) await writeLog(client, request, 'check-in', Number(request.params.id));
    return rowCount === 1;
  });
  return done ? reply.code(204).send() : reply.code(409).send();
});
### change bad 5
app.post('/stays/:id/check-in', async (request, reply) => {
  const done = await app.pg.transact(async (client) => {
    const { rowCount } = await client.query(
      "UPDATE stays SET status = 'checked_in' WHERE id = $1 AND group_id = $2 AND status = 'confirmed'",
      [request.params.id, request.user.groupId]);
    if (rowCount === 1) await writeLog(client, request, 'check-in', Number(request.params.id));
    return rowCount === 1;
  });
  return done ? reply.code(204).send() : reply.code(409).send();
});
### change bad 12
app.post('/stays/:id/cancel', async (request, reply) => {
  await app.pg.transact(async (client) => {
    const stay = await findStay(client, request, request.params.id);
    if (!['held', 'confirmed'].includes(stay.status)) {
      throw conflict();
    }
    await client.query("UPDATE stays SET status = 'cancelled' WHERE id = $1", [stay.id]);
  });
  return reply.code(204).send();
});
### change bad 1
app.post('/stays/:id/check-in', async (request, reply) => {
  assertRole(request, 'desk', 'owner');
  const done = await app.pg.transact(async (client) => {
    const { rowCount } = await client.query(
      "UPDATE stays SET status = 'checked_in' WHERE id = $1 AND status = 'confirmed'",
      [request.params.id]);
    if (rowCount === 1) await writeLog(client, request, 'check-in', Number(request.params.id));
    return rowCount === 1;
  });
  return done ? reply.code(204).send() : reply.code(409).send();
});
### change bad 4
app.post('/stays/:id/cancel', async (request, reply) => {
  await app.pg.transact(async (client) => {
    const stay = await findStay(client, request, request.params.id);
    await client.query("UPDATE stays SET status = 'cancelled' WHERE id = $1", [stay.id]);
    await writeLog(client, request, 'cancel', stay.id);
  });
  return reply.code(204).send();
});
### price good
app.put('/beds/:id/price', async (request, reply) => {
  assertRole(request, 'owner');
  const cents = Number(request.body.cents);
  if (!Number.isInteger(cents) || cents <= 0 || cents > 100_000) {
    return reply.code(400).send({ error: 'cents' });
  }
  const { rowCount } = await app.pg.query('UPDATE beds SET price_cents = $1 WHERE id = $2 AND group_id = $3', [cents, request.params.id, request.user.groupId]);
  return reply.code(rowCount ? 204 : 404).send();
});
### price bad 6
app.put('/beds/:id/price', async (request, reply) => {
  assertRole(request, 'owner');
  const cents = Number(request.body.cents);
  if (!Number.isInteger(cents) || cents > 100_000) {
    return reply.code(400).send({ error: 'cents' });
  }
  const { rowCount } = await app.pg.query('UPDATE beds SET price_cents = $1 WHERE id = $2 AND group_id = $3', [cents, request.params.id, request.user.groupId]);
  return reply.code(rowCount ? 204 : 404).send();
});
### price bad 5
app.put('/beds/:id/price', async (request, reply) => {
  assertRole(request, 'desk', 'owner');
  const cents = Number(request.body.cents);
  if (!Number.isInteger(cents) || cents <= 0 || cents > 100_000) {
    return reply.code(400).send({ error: 'cents' });
  }
  const { rowCount } = await app.pg.query('UPDATE beds SET price_cents = $1 WHERE id = $2 AND group_id = $3', [cents, request.params.id, request.user.groupId]);
  return reply.code(rowCount ? 204 : 404).send();
});
### book good
app.post('/stays', async (request, reply) => {
  const { bedId, from, nights } = request.body;
  const n = Math.trunc(nights);
  if (!(n >= 1 && n <= 28)) return reply.code(400).send();
  const bed = (await app.pg.query('SELECT id, price_cents FROM beds WHERE id = $1 AND group_id = $2', [bedId, request.user.groupId])).rows[0];
  if (!bed) return reply.code(404).send();
  const stay = await app.pg.query(
    `INSERT INTO stays (group_id, bed_id, guest_id, status, from_date, to_date, total_cents)
     VALUES ($1, $2, $3, 'held', $4, $4::date + $5::int, $6) RETURNING id`,
    [request.user.groupId, bed.id, request.user.id, from, n, bed.price_cents * n]);
  return reply.code(201).send({ id: stay.rows[0].id });
});
### book bad 7
app.post('/stays', async (request, reply) => {
  const { bedId, from, nights } = request.body;
  const n = Math.trunc(nights);
  if (!(n >= 1 && n <= 28)) return reply.code(400).send();
  const bed = (await app.pg.query('SELECT id, price_cents FROM beds WHERE id = $1 AND group_id = $2', [bedId, request.user.groupId])).rows[0];
  if (!bed) return reply.code(404).send();
  const stay = await app.pg.query(
    `INSERT INTO stays (group_id, bed_id, guest_id, status, from_date, to_date, total_cents)
     VALUES ($1, $2, $3, 'held', $4, $4::date + $5::int, $6) RETURNING id`,
    [request.user.groupId, bed.id, request.user.id, from, n, request.body.total]);
  return reply.code(201).send({ id: stay.rows[0].id });
});
### book bad 1
app.post('/stays', async (request, reply) => {
  const { bedId, from, nights } = request.body;
  const n = Math.trunc(nights);
  if (!(n >= 1 && n <= 28)) return reply.code(400).send();
  const bed = (await app.pg.query('SELECT id, price_cents FROM beds WHERE id = $1', [bedId])).rows[0];
  if (!bed) return reply.code(404).send();
  const stay = await app.pg.query(
    `INSERT INTO stays (group_id, bed_id, guest_id, status, from_date, to_date, total_cents)
     VALUES ($1, $2, $3, 'held', $4, $4::date + $5::int, $6) RETURNING id`,
    [request.user.groupId, bed.id, request.user.id, from, n, bed.price_cents * n]);
  return reply.code(201).send({ id: stay.rows[0].id });
});
### invites good
app.post('/invites/accept', { config: { public: true } }, async (request, reply) => {
  const digest = createHash('sha256').update(String(request.body.token)).digest('hex');
  const hash = await argon2.hash(request.body.password);
  const ok = await app.pg.transact(async (client) => {
    const { rows } = await client.query(
      'UPDATE invites SET accepted_at = now() WHERE token_hash = $1 AND accepted_at IS NULL AND expires_at > now() RETURNING group_id, role', [digest]);
    if (rows.length === 0) return false;
    await client.query('INSERT INTO users (group_id, email, name, role, password_hash) VALUES ($1, $2, $3, $4, $5)',
      [rows[0].group_id, request.body.email, request.body.name, rows[0].role, hash]);
    return true;
  });
  return reply.code(ok ? 201 : 404).send();
});
### invites good
app.post('/invites', async (request, reply) => {
  assertRole(request, 'owner');
  const token = randomBytes(32).toString('hex');
  await app.pg.query("INSERT INTO invites (token_hash, group_id, role, expires_at) VALUES ($1, $2, 'desk', now() + interval '2 days')",
    [createHash('sha256').update(token).digest('hex'), request.user.groupId]);
  return reply.code(201).send({ token });
});
### invites bad 8
app.post('/invites/accept', { config: { public: true } }, async (request, reply) => {
  const digest = createHash('sha256').update(String(request.body.token)).digest('hex');
  const hash = await argon2.hash(request.body.password);
  const ok = await app.pg.transact(async (client) => {
    const { rows } = await client.query(
      'UPDATE invites SET accepted_at = now() WHERE token_hash = $1 AND accepted_at IS NULL RETURNING group_id, role', [digest]);
    if (rows.length === 0) return false;
    await client.query('INSERT INTO users (group_id, email, name, role, password_hash) VALUES ($1, $2, $3, $4, $5)',
      [rows[0].group_id, request.body.email, request.body.name, rows[0].role, hash]);
    return true;
  });
  return reply.code(ok ? 201 : 404).send();
});
### invites bad 8
app.post('/invites/accept', { config: { public: true } }, async (request, reply) => {
  const digest = createHash('sha256').update(String(request.body.token)).digest('hex');
  const hash = await argon2.hash(request.body.password);
  const ok = await app.pg.transact(async (client) => {
    const { rows } = await client.query(
      'UPDATE invites SET accepted_at = now() WHERE token_hash = $1 AND expires_at > now() RETURNING group_id, role', [digest]);
    if (rows.length === 0) return false;
    await client.query('INSERT INTO users (group_id, email, name, role, password_hash) VALUES ($1, $2, $3, $4, $5)',
      [rows[0].group_id, request.body.email, request.body.name, rows[0].role, hash]);
    return true;
  });
  return reply.code(ok ? 201 : 404).send();
});
### invites bad 8
app.post('/invites', async (request, reply) => {
  assertRole(request, 'owner');
  const token = Math.random().toString(36).slice(2);
  await app.pg.query("INSERT INTO invites (token_hash, group_id, role, expires_at) VALUES ($1, $2, 'desk', now() + interval '2 days')",
    [createHash('sha256').update(token).digest('hex'), request.user.groupId]);
  return reply.code(201).send({ token });
});
### reads good
app.get('/stays/:id/door', async (request, reply) => {
  const { rows: [stay] } = await app.pg.query(
    "SELECT door_code, guest_id, status FROM stays WHERE id = $1 AND group_id = $2", [request.params.id, request.user.groupId]);
  const mine = stay && stay.guest_id === request.user.id && stay.status === 'checked_in';
  if (!stay || !(mine || request.user.role === 'desk')) {
    return reply.code(404).send();
  }
  return reply.send({ code: stay.door_code });
});
### reads good
app.get('/staff', async (request, reply) => {
  assertRole(request, 'owner');
  const { rows } = await app.pg.query(
    "SELECT id, name, email, role FROM users WHERE group_id = $1 AND role <> 'guest' ORDER BY name LIMIT 100", [request.user.groupId]);
  return reply.send(rows);
});
### reads good
app.get('/countries', { config: { public: true } }, async (_request, reply) => {
  const { rows } = await app.pg.query('SELECT code, name FROM countries ORDER BY name LIMIT 100');
  return reply.send(rows);
});
### reads bad 3
app.get('/stays/:id/door', async (request, reply) => {
  const { rows: [stay] } = await app.pg.query(
    "SELECT door_code, guest_id, status FROM stays WHERE id = $1 AND group_id = $2", [request.params.id, request.user.groupId]);
  const mine = stay && stay.guest_id === request.user.id && stay.status === 'checked_in';
  if (!stay || !(mine || request.user.role !== 'owner')) {
    return reply.code(404).send();
  }
  return reply.send({ code: stay.door_code });
});
### reads bad 11
app.get('/staff', async (request, reply) => {
  assertRole(request, 'owner');
  const { rows } = await app.pg.query(
    "SELECT * FROM users WHERE group_id = $1 AND role <> 'guest' ORDER BY name LIMIT 100", [request.user.groupId]);
  return reply.send(rows);
});
### reads bad 1
app.get('/staff', async (request, reply) => {
  assertRole(request, 'owner');
  const { rows } = await app.pg.query(
    "SELECT id, name, email, role FROM users WHERE $1 > 0 AND role <> 'guest' ORDER BY name LIMIT 100", [request.user.groupId]);
  return reply.send(rows);
});
