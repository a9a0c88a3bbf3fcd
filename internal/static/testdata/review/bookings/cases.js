### list good
export async function listBookings(req, res) {
  const limit = Math.min(Math.max(parseInt(req.query.limit, 10) || 20, 1), 50);
  const { rows } = await pool.query(
    `SELECT b.id, b.starts_at, b.ends_at, b.status, h.name AS hall
       FROM bookings b JOIN halls h ON h.id = b.hall_id AND h.club_id = b.club_id
      WHERE b.club_id = $1 AND b.user_id = $2
      ORDER BY b.starts_at DESC LIMIT $3`,
    [req.user.clubId, req.user.id, limit]);
  res.json(rows);
}
### list bad 7
export async function listBookings(req, res) {
  const limit = parseInt(req.query.limit, 10) || 20;
  const { rows } = await pool.query(
    `SELECT b.id, b.starts_at, b.ends_at, b.status
       FROM bookings b
      WHERE b.club_id = $1 AND b.user_id = $2
      ORDER BY b.starts_at DESC LIMIT $3`,
    [req.user.clubId, req.user.id, limit]);
  res.json(rows);
}
### list bad 1
export async function listBookings(req, res) {
  const order = req.query.order || 'starts_at';
  const { rows } = await pool.query(
    `SELECT b.id, b.starts_at, b.status FROM bookings b
      WHERE b.club_id = $1 AND b.user_id = $2 ORDER BY b.${order} LIMIT 50`,
    [req.user.clubId, req.user.id]);
  res.json(rows);
}
### list good
const ORDER = { start: 'b.starts_at', price: 'b.price_cents' };
export async function listBookings(req, res) {
  const order = ORDER[req.query.order] ?? 'b.starts_at';
  const { rows } = await pool.query(
    `SELECT b.id, b.starts_at, b.status FROM bookings b
      WHERE b.club_id = $1 AND b.user_id = $2 ORDER BY ${order} LIMIT 50`,
    [req.user.clubId, req.user.id]);
  res.json(rows);
}
### list bad 2
export async function listBookings(req, res) {
  const { rows } = await pool.query(
    `SELECT b.id, b.starts_at, b.status FROM bookings b
      WHERE b.hall_id = $1 ORDER BY b.starts_at LIMIT 50`,
    [req.params.hall]);
  res.json(rows);
}
### show good
export async function showBooking(req, res) {
  const booking = await findBooking(req.params.id);
  if (!booking || booking.clubId !== req.user.clubId) return res.sendStatus(404);
  if (!ownsBooking(req.user, booking)) requireRole(req, 'manager');
  res.json({ id: booking.id, startsAt: booking.startsAt, endsAt: booking.endsAt, status: booking.status });
}
### show bad 3
export async function showBooking(req, res) {
  const booking = await findBooking(req.params.id);
  if (!booking || booking.clubId !== req.user.clubId) return res.sendStatus(404);
  res.json({ id: booking.id, startsAt: booking.startsAt, endsAt: booking.endsAt, status: booking.status });
}
### confirm good
export async function confirmBooking(req, res, next) {
  try {
    requireRole(req, 'manager');
    const { rowCount } = await pool.query(
      `UPDATE bookings SET status = 'confirmed'
        WHERE id = $1 AND club_id = $2 AND status = 'requested'`,
      [req.params.id, req.user.clubId]);
    if (rowCount === 0) return res.status(409).json({ error: 'not confirmable' });
    res.json({ ok: true });
  } catch (err) {
    next(err);
  }
}
### confirm bad 3
export async function confirmBooking(req, res, next) {
  try {
    const { rowCount } = await pool.query(
      `UPDATE bookings SET status = 'confirmed'
        WHERE id = $1 AND club_id = $2 AND status = 'requested'`,
      [req.params.id, req.user.clubId]);
    if (rowCount === 0) return res.status(409).json({ error: 'not confirmable' });
    res.json({ ok: true });
  } catch (err) {
    next(err);
  }
}
### confirm bad 4
export async function confirmBooking(req, res, next) {
  try {
    requireRole(req, 'manager');
    await pool.query(
      `UPDATE bookings SET status = 'confirmed' WHERE id = $1 AND club_id = $2 AND status <> 'cancelled'`,
      [req.params.id, req.user.clubId]);
    res.json({ ok: true });
  } catch (err) {
    next(err);
  }
}
### confirm bad 10
export async function confirmBooking(req, res) {
  try {
    requireRole(req, 'manager');
    const { rowCount } = await pool.query(
      `UPDATE bookings SET status = 'confirmed'
        WHERE id = $1 AND club_id = $2 AND status = 'requested'`,
      [req.params.id, req.user.clubId]);
    res.json({ ok: rowCount === 1 });
  } catch (err) {
    res.status(500).json({ error: err.message, stack: err.stack });
  }
}
### book good
export async function book(req, res) {
  const hours = Number(req.body.hours);
  if (!Number.isInteger(hours) || hours < 1 || hours > 8) return res.status(400).json({ error: 'hours' });
  const hall = (await pool.query('SELECT id, hourly_price_cents FROM halls WHERE id = $1 AND club_id = $2 AND closed_at IS NULL', [req.body.hallId, req.user.clubId])).rows[0];
  if (!hall) return res.sendStatus(404);
  const price = hall.hourly_price_cents * hours;
  await pool.query(
    `INSERT INTO bookings (hall_id, user_id, club_id, starts_at, ends_at, status, price_cents)
     VALUES ($1, $2, $3, $4, $4::timestamptz + make_interval(hours => $5), 'requested', $6)`,
    [hall.id, req.user.id, req.user.clubId, req.body.startsAt, hours, price]);
  res.status(201).json({ price });
}
### book bad 6
export async function book(req, res) {
  const hours = Number(req.body.hours);
  if (!Number.isInteger(hours) || hours < 1 || hours > 8) return res.status(400).json({ error: 'hours' });
  const hall = (await pool.query('SELECT id, hourly_price_cents FROM halls WHERE id = $1 AND club_id = $2 AND closed_at IS NULL', [req.body.hallId, req.user.clubId])).rows[0];
  if (!hall) return res.sendStatus(404);
  await pool.query(
    `INSERT INTO bookings (hall_id, user_id, club_id, starts_at, ends_at, status, price_cents)
     VALUES ($1, $2, $3, $4, $4::timestamptz + make_interval(hours => $5), 'requested', $6)`,
    [hall.id, req.user.id, req.user.clubId, req.body.startsAt, hours, req.body.priceCents ?? hall.hourly_price_cents * hours]);
  res.status(201).json({ ok: true });
}
### members good
export async function members(req, res) {
  const { rows } = await pool.query('SELECT * FROM users WHERE club_id = $1 ORDER BY name LIMIT 50', [req.user.clubId]);
  res.json(rows.map(publicUser));
}
### members bad 5
export async function members(req, res) {
  const { rows } = await pool.query('SELECT * FROM users WHERE club_id = $1 ORDER BY name LIMIT 50', [req.user.clubId]);
  res.json(rows);
}
### members bad 5
export async function members(req, res) {
  const { rows } = await pool.query('SELECT id, name, avatar, email FROM users WHERE club_id = $1 ORDER BY name LIMIT 50', [req.user.clubId]);
  res.json(rows);
}
### leave good
export function afterLogin(req, res) {
  const target = String(req.query.next || '/');
  if (!target.startsWith('/') || target.startsWith('//') || target.includes('\\')) return res.redirect('/');
  res.redirect(target);
}
### leave bad 9
export function afterLogin(req, res) {
  const target = req.query.next || '/';
  res.redirect(target);
}
### password bad 8
export async function changePassword(req, res) {
  logger.info('password change', { user: req.user.id, password: req.body.password });
  const hash = await bcrypt.hash(req.body.password, 12);
  await pool.query('UPDATE users SET password_hash = $1 WHERE id = $2 AND club_id = $3', [hash, req.user.id, req.user.clubId]);
  res.sendStatus(204);
}
### password good
export async function changePassword(req, res) {
  logger.info('password change', { user: req.user.id });
  const hash = await bcrypt.hash(req.body.password, 12);
  await pool.query('UPDATE users SET password_hash = $1 WHERE id = $2 AND club_id = $3', [hash, req.user.id, req.user.clubId]);
  res.sendStatus(204);
}
