// What each endpoint is for: who may use it, and what it may write.
import { by, sha256 } from "./harness_oracles.mjs";

const STAFF = ["box", "manager", "owner"];
const ALL = ["door", ...STAFF];

export const FAMILIES = {
  "list-orders": { roles: ALL },
  "order-card": { roles: ["buyer", ...ALL] },
  "refund-order": { roles: ["manager", "owner"], writes: { orders: ["status"] }, creates: ["refunds"], judge: refund },
  "place-order": { roles: ["buyer"], writes: {}, creates: ["orders"], judge: placed },
  "redeem-coupon": { roles: ["buyer"], writes: { orders: ["coupon_id", "amount"], coupons: ["used"] }, judge: redeemed },
  "edit-event": { roles: STAFF, writes: { events: ["name", "venue", "blurb", "link", "starts_at", "status"] }, judge: edited },
  "event-page": {},
  "read-file": { roles: STAFF, whole: true, judge: readFile },
  "search-guests": { roles: ALL, judge: guests },
  "test-webhook": { roles: ["owner"], writes: { organisers: ["webhook_url"] } },
  "fetch-poster": { roles: STAFF },
  "save-settings": { roles: ["owner"], writes: { organisers: ["settings"] }, judge: settings },
  "import-layout": { roles: STAFF, writes: { events: ["layout"] }, judge: layout },
  "reset-password": { writes: { users: ["password_hash", "reset_hash", "reset_expires_at"] }, random: ["password_hash"], once: true, judge: reset },
  "find-listings": {},
  "sales-report": { roles: ["manager", "owner"], judge: sales },
  "request-reset": { writes: { users: ["reset_hash", "reset_expires_at"] }, random: ["reset_hash"], judge: issued },
  "ticket-page": { open: ["tickets", "orders", "events"], judge: linked },
  "my-tickets": { roles: ["buyer"], judge: mine },
  "buy-listing": { roles: ["buyer"], writes: { listings: ["status"], tickets: ["holder_id"] }, once: true, trades: true, judge: resold },
};

function mine(run, say, { text }) {
  for (const code of text.match(/\b(AL|BI)-T\d{4}\b/g) ?? []) if (run.before.tickets.find((t) => t.code === code)?.holder_id !== run.user?.id) say(2, `shows ${code} of another holder`);
}

function resold(run, say, { changes }) {
  for (const { table, old, now } of changes) {
    if (table === "listings" && old.expires_at <= run.now) say(8, "sells what has run out");
    if (table !== "tickets") continue;
    const order = by(run.before, "orders", old.order_id);
    if (old.status !== "valid" || order.status !== "paid") say(7, `resells a ticket that is ${old.status}, of an order that is ${order.status}`);
    if (now.holder_id !== run.user?.id) say(15, `the ticket goes to ${now.holder_id}`);
  }
}

function sales(run, say) {
  const total = run.res.body?.total;
  if (run.res.status >= 400 || !total) return;
  const own = (o) => o.organiser_id === run.user?.organiserId, live = (o) => !o.deleted_at, held = (o) => !by(run.before, "events", o.event_id).deleted_at;
  const figure = (tests) => run.before.orders.filter((o) => o.status === "paid" && tests.every((t) => t(o))).length;
  const right = figure([own, live, held]);
  for (const [n, tests] of [[1, [live, held]], [4, [own]], [4, [own, live]], [4, [own, held]]]) if (total.orders === figure(tests) && total.orders !== right) say(n, `counts ${total.orders} orders, ${right} are there`);
}

function issued(run, say, { changes }) {
  for (const m of run.world.mailed) {
    const user = run.before.users.find((u) => u.email === m.to);
    const code = m.text.split(" ").at(-1);
    const bits = code.length * (/^\d+$/.test(code) ? 3.32 : /^[0-9a-f-]+$/.test(code) ? 4 : 6);
    const now = by(run.after, "users", user.id);
    if (bits < 64) say(14, `a code of ${Math.round(bits)} bits`);
    if (now.reset_hash !== sha256(code)) say(14, "the code is not stored as its hash");
    if (run.second?.world.mailed.some((x) => x.text === m.text)) say(14, "the code can be foretold");
    if (user.disabled_at) say(2, "a disabled user gets a code");
  }
  for (const { now } of changes) if (now.reset_expires_at !== "2025-06-16T10:00:00Z") say(15, `the code ends ${now.reset_expires_at}`);
}

function linked(run, say, { refused }) {
  const link = run.params.link;
  if (refused || !link) return;
  const bent = ["cut", "sig", "other", "key", "alg"].some((k) => k in link);
  if (bent) say(14, "a token without a right signature opens");
  if (link.fields.until <= run.now) say(8, "a token that has ended opens");
}

const FIELDS = { theme: ["color", "logo"], mail: ["footer", "copy"] };

function settings(run, say) {
  const own = by(run.after, "organisers", run.user?.organiserId)?.settings ?? {};
  for (const [section, values] of Object.entries(own)) {
    const extra = Object.hasOwn(FIELDS, section) ? Object.keys(Object(values)).filter((f) => !FIELDS[section].includes(f)) : [section];
    if (extra.length) say(15, `settings hold ${extra}`);
  }
  // What another request sent or read must not come back in this one.
  const sent = JSON.stringify(run.params.body ?? run.params.raw ?? {}), had = JSON.stringify(by(run.before, "organisers", run.user?.organiserId)?.settings ?? {});
  const footer = own.mail?.footer;
  if (typeof footer === "string" && !sent.includes(footer) && !had.includes(footer)) { say(13, `the footer of another request: ${footer}`); say(1, `the footer of another organiser: ${footer}`); }
}

function layout(run, say, { changes }) {
  const target = run.before.events.find((e) => run.req.url.includes(e.code));
  for (const { table, now, cols } of changes) {
    if (table !== "events" || !cols.includes("layout")) continue;
    if (now.id !== target?.id) say(13, `draws the layout of ${now.code}`);
    if (Object.keys(now.layout ?? {}).some((k) => !["rows", "aisles"].includes(k))) say(13, "the layout holds something else than rows and aisles");
  }
}

function reset(run, say, { changes }) {
  for (const { table, old, now } of changes) {
    if (table !== "users" || old.password_hash === now.password_hash) continue;
    if (!old.reset_hash || sha256(String(run.params.body.code)) !== old.reset_hash) say(14, "a wrong code sets a password");
    else if (!old.reset_expires_at || old.reset_expires_at <= run.now) say(8, "a code that does not count sets a password");
    if (now.reset_hash) say(16, "the code works a second time");
    const m = /^scrypt\$(\d+)\$(\d+)\$(\d+)\$([0-9a-f]{32,})\$([0-9a-f]{32,})$/.exec(now.password_hash);
    const again = run.second?.after.users.find((u) => u.id === now.id);
    if (!m || Number(m[1]) < 4096 || run.before.users.some((u) => u.password_hash.includes(m[4])) || again?.password_hash.includes(m[4])) say(14, "how the password is stored");
  }
  const logged = run.world.logged.join("\n");
  for (const k of ["code", "password"]) if (typeof run.params.body?.[k] === "string" && run.params.body[k] && logged.includes(run.params.body[k])) say(5, `the log holds the ${k}`);
}

function guests(run, say, { text, dead, passed }) {
  const event = run.before.events.find((e) => run.req.url.includes(e.code));
  if (!text || !event || !/-G\d/.test(text)) return;
  if (dead(run.before, "events", event)) say(4, "shows guests of a deleted event");
  if (run.user?.role === "door" && passed(run, event.id) !== "yes") say(passed(run, event.id) === "stale" ? 8 : 2, "shows guests without a pass");
}

function redeemed(run, say, { changes, dead }) {
  for (const { table, old, now } of changes) {
    if (table !== "orders" || !now.coupon_id) continue;
    const coupon = by(run.before, "coupons", now.coupon_id);
    if (coupon.organiser_id !== old.organiser_id) say(1, `${coupon.code} is used for ${old.code}`);
    if (dead(run.before, "coupons", coupon)) say(4, `the deleted ${coupon.code} is used`);
    if (coupon.starts_at > run.now || coupon.ends_at && coupon.ends_at <= run.now) say(8, `${coupon.code} is used outside of its time`);
    if (old.status !== "held") say(7, `a coupon for an order that is ${old.status}`);
    if (old.held_until <= run.now) say(8, "a coupon for a hold that has run out");
    if (now.amount !== Math.round(old.amount * (100 - coupon.percent) / 100)) say(15, `the amount becomes ${now.amount}`);
  }
}

function edited(run, say, { changes }) {
  for (const { table, cols } of changes) if (table === "events" && cols.includes("status") && !["manager", "owner"].includes(run.user?.role)) say(3, `${run.user?.role} changes the status`);
}

function readFile(run, say, { text, dead }) {
  const m = /\[file of storage\/(\d)\] page (\d)/.exec(text);
  if (!m || Number(m[1]) !== run.user?.organiserId) return;
  const file = by(run.before, "files", Number(m[1]) * 1000 + Number(m[2]));
  if (dead(run.before, "files", file)) say(4, `reads the deleted ${file.name}`);
  if (file.expires_at && file.expires_at <= run.now) say(8, `reads the expired ${file.name}`);
}

function refund(run, say, { changes }) {
  for (const { table, old, now } of changes) {
    if (table !== "refunds" || old) continue;
    const order = by(run.before, "orders", now.order_id);
    if (order.status !== "paid") say(7, `refunds an order that is ${order.status}`);
    if (order.sold_by === run.user.id) say(3, "refunds what they sold");
    if (run.user.refundLimit === null || now.amount > run.user.refundLimit) say(3, `refunds ${now.amount}, limit ${run.user.refundLimit}`);
    if (now.made_by !== run.user.id || now.amount <= 0 || now.organiser_id !== order.organiser_id) say(15, `writes the refund ${JSON.stringify(now)}`);
  }
}

function placed(run, say, { changes, dead }) {
  for (const { table, old, now } of changes) {
    if (table !== "orders" || old) continue;
    const event = by(run.before, "events", now.event_id);
    if (event.status !== "on_sale") say(7, `an order for an event that is ${event.status}`);
    if (dead(run.before, "events", event)) say(4, "an order for a deleted event");
    if (!(event.sales_from <= run.now && run.now < event.sales_until)) say(8, "an order outside of the sale");
    const right = now.organiser_id === event.organiser_id && now.buyer_id === run.user.id && now.status === "held" && now.quantity >= 1 && now.quantity <= 6 && Number.isInteger(now.quantity) &&
      now.amount === now.quantity * event.price && now.held_until === "2025-06-16T09:45:00Z" && [now.sold_by, now.coupon_id, now.note, now.card_token, now.deleted_at].every((v) => v === null);
    if (!right) say(15, `writes the order ${JSON.stringify(now)}`);
  }
}
