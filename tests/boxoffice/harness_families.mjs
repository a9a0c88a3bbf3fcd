// What each endpoint is for: who may use it, and what it may write.
import { by } from "./harness_oracles.mjs";

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
};

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
