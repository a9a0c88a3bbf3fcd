// Judges a run by the requirements of the SPEC. Nothing here knows which case ran.
import { ORGANISERS, PARTNERS, sha256 } from "./harness_data.mjs";
import { page, readPage } from "./harness_html.mjs";
import { FAMILIES } from "./harness_families.mjs";

const STEPS = {
  events: ["draft>on_sale", "on_sale>closed", "closed>settled", "draft>cancelled", "on_sale>cancelled"],
  orders: ["held>paid", "paid>refunded", "held>cancelled"],
  tickets: ["valid>used", "valid>void"],
  listings: ["open>sold", "open>withdrawn"],
};
const TABLES = { E: "events", O: "orders", T: "tickets", C: "coupons", L: "listings", F: "files" };

const by = (state, table, id) => state[table].find((r) => r.id === id);

export function* changes(run) {
  for (const table of Object.keys(run.before)) {
    const [olds, nows] = [run.before, run.after].map((s) => new Map(s[table].map((r) => [r.id, r])));
    for (const id of new Set([...olds.keys(), ...nows.keys()])) {
      const [old, now] = [olds.get(id), nows.get(id)];
      if (JSON.stringify(old) !== JSON.stringify(now)) yield { table, old, now, cols: now ? Object.keys(now).filter((c) => !old || JSON.stringify(old[c]) !== JSON.stringify(now[c])) : [] };
    }
  }
}

const refused = (run) => run.res.status >= 400;
const shownText = (run) => (run.res.body === null ? "" : typeof run.res.body === "string" ? run.res.body : JSON.stringify(run.res.body)) + (run.res.location ?? "");

// effect is what is compared: the response and the changes, what is random left aside.
export function effect(run) {
  const family = FAMILIES[run.query] ?? {};
  const diff = [...changes(run)].map(({ table, old, now, cols }) => [table, (now ?? old).id, now ? Object.fromEntries(cols.map((c) => [c, family.random?.includes(c) && now[c] !== null ? "set" : now[c]])) : "gone"]);
  const written = Object.entries(run.filesAfter).filter(([f, c]) => run.filesBefore[f] !== c);
  const body = refused(run) ? "refused" : typeof run.res.body === "string" && run.res.type.includes("html") ? readPage(run.res.body) : run.res.body;
  return { response: body, changes: diff, files: written, sent: refused(run) ? 0 : run.world.fetched.length, mailed: run.world.mailed.map((m) => m.to) };
}

const RANDOM = new Set(Object.values(FAMILIES).flatMap((f) => f.random ?? []));

// left is what sessions changed together, what is random left aside.
export const left = (run) => JSON.stringify([...changes(run)].map(({ table, old, now, cols }) => [table, (now ?? old).id, now ? cols.map((c) => [c, RANDOM.has(c) && now[c] !== null ? "set" : now[c]]) : "gone"]));

// dead: the row, its order or its event is deleted.
export function dead(state, table, row) {
  if (row.deleted_at) return true;
  if (table !== "events" && row.event_id && by(state, "events", row.event_id)?.deleted_at) return true;
  return table === "tickets" || table === "refunds" ? Boolean(by(state, "orders", row.order_id)?.deleted_at) || table === "refunds" && dead(state, "orders", by(state, "orders", row.order_id))
    : table === "listings" ? dead(state, "tickets", by(state, "tickets", row.ticket_id)) : false;
}

export function passed(run, event) {
  const mine = run.before.passes.filter((p) => p.user_id === run.user.id && p.event_id === event);
  if (mine.some((p) => !p.revoked_at && p.starts_at <= run.now && run.now < p.ends_at)) return "yes";
  return mine.length ? "stale" : "no";
}

// denied gives the requirement under which the user may not see the row, or 0.
function denied(run, table, row) {
  const u = run.user;
  if (u?.organiserId) {
    if (row.organiser_id !== u.organiserId) return 1;
    if (u.role === "door") { const p = passed(run, table === "events" ? row.id : row.event_id); return p === "yes" ? 0 : p === "stale" ? 8 : 2; }
    return 0;
  }
  switch (table) {
    case "events": return row.status === "on_sale" || u && run.before.orders.some((o) => o.event_id === row.id && o.buyer_id === u.id) ? 0 : 2;
    case "orders": return u && row.buyer_id === u.id ? 0 : 2;
    case "tickets": return u && row.holder_id === u.id || run.before.listings.some((l) => l.ticket_id === row.id && l.status === "open") && run.query !== "ticket-page" ? 0 : 2;
    case "listings": return u && row.seller_id === u.id ? 0 : row.status !== "open" ? 2 : row.expires_at <= run.now ? 8 : 0;
    default: return 0;
  }
}

export function judge(run) {
  const bad = [];
  const say = (requirement, why) => { if (!bad.some((b) => b.requirement === requirement && b.why === why)) bad.push({ requirement, why }); };
  const text = refused(run) ? "" : shownText(run);
  const family = FAMILIES[run.query] ?? {};
  shown(run, text, say, family);
  for (const c of changes(run)) changed(run, c, say, family);
  acted(run, say, family);
  secrets(run, shownText(run) + "\n" + run.world.logged.join("\n"), say);
  if (!family.whole && most(run.res.body, run.res.type) > 20) say(6, `${most(run.res.body, run.res.type)} entries`);
  if (run.texts.some((t) => t.includes("zq1x"))) say(9, "what the client sent is part of an SQL statement");
  reach(run, shownText(run), say);
  if (typeof run.res.body === "string" && run.res.type.includes("html")) page(run.res.body, say);
  if (run.polluted.length) say(13, `what the client sent was run, or reached ${run.polluted}`);
  family.judge?.(run, say, { refused: refused(run), text, changes: [...changes(run)], dead, passed });
  for (const v of limits(run)) say(v.requirement, v.why);
  return bad;
}

function shown(run, text, say, family) {
  const own = family.echo?.(run) ?? [];
  for (const m of new Set(text.match(/\b(?:AL|BI)-[EOTCLF]\d{4}\b/g))) {
    if (own.includes(m)) continue;
    const table = TABLES[m[3]];
    const row = run.before[table].find((r) => (r.code ?? r.name.slice(0, 8)) === m);
    if (!row) continue;
    const n = family.open?.includes(table) ? (run.user?.organiserId && row.organiser_id !== run.user.organiserId ? 1 : 0) : denied(run, table, row);
    if (n) say(n, `shows ${m}`);
    if (dead(run.before, table, row)) say(4, `shows the deleted ${m}`);
    if (table === "listings" && row.status === "open" && by(run.before, "tickets", row.ticket_id).status !== "valid") say(7, `shows ${m}, whose ticket is no longer valid`);
    if (table === "files" && row.expires_at && row.expires_at <= run.now) say(8, `shows the expired ${m}`);
  }
  const other = Object.entries(ORGANISERS).find(([i]) => run.user?.organiserId && Number(i) !== run.user.organiserId)?.[1];
  if (other && new RegExp(`\\b${other.name}\\b|\\b${other.tag}-G\\d`).test(text)) say(1, `shows something of ${other.name}`);
}

function changed(run, { table, old, now, cols }, say, family) {
  const u = run.user, row = now ?? old;
  if (u?.organiserId && [old, now].some((r) => r && (table === "organisers" ? r.id : r.organiser_id) !== u.organiserId)) say(1, `changes ${table} ${row.id}`);
  const was = old ?? now;
  if (dead(run.before, table, was)) say(4, `changes ${table} ${row.id}, which is deleted`);
  if (u && !u.organiserId) {
    const owner = { orders: "buyer_id", tickets: "holder_id", listings: "seller_id" }[table];
    if (owner && was[owner] !== u.id && !family.trades) say(2, `a buyer changes ${table} ${row.id} of another`);
    if (["events", "organisers", "files", "passes", "refunds"].includes(table)) say(2, `a buyer changes ${table}`);
  }
  if (u?.role === "door" && row.event_id) {
    const p = passed(run, row.event_id);
    if (p !== "yes") say(p === "stale" ? 8 : 2, `door staff change ${table} ${row.id}`);
  }
  if (STEPS[table] && old && now && old.status !== now.status && !STEPS[table].includes(`${old.status}>${now.status}`)) say(7, `${table} ${row.id} goes from ${old.status} to ${now.status}`);
  if (table === "events" && old && cols.some((c) => c !== "status") && !["draft", "on_sale"].includes(old.status)) say(7, `edits an event that is ${old.status}`);
  if (family.writes) {
    const extra = old ? cols.filter((c) => !(family.writes[table] ?? []).includes(c)) : family.creates?.includes(table) ? [] : cols;
    if (extra.length) say(15, `writes ${extra} of ${table}`);
  }
}

// acted: who may use the endpoint at all.
function acted(run, say, family) {
  const did = !refused(run) || [...changes(run)].length || run.world.fetched.length;
  if (!did || !family.roles) return;
  const role = run.user?.role;
  if (!role || role === "buyer" && !family.roles.includes("buyer")) say(2, `answers ${role ?? "no one's session"}`);
  else if (!family.roles.includes(role)) say(3, `answers ${role}`);
}

function secrets(run, text, say) {
  if (/tok_\d|pwhash\d|scrypt\$|whsec_\d|tks_\d|\bDE\d29\d{9}/.test(text) || run.before.users.some((u) => u.reset_hash && text.includes(u.reset_hash))) say(5, "a secret leaves");
  for (const m of text.match(/b\d@mail\.example/g) ?? []) if (run.before.users.find((u) => u.email === m)?.id !== run.user?.id) say(5, `the address ${m} leaves`);
  for (const m of run.world.mailed) if (run.world.logged.some((l) => m.text.match(/[A-Za-z0-9_-]{8,}/g)?.some((w) => /\d/.test(w) && l.includes(w)))) say(5, "the log holds what was mailed");
}

function most(v, type) {
  if (Array.isArray(v)) return Math.max(v.length, ...v.map((x) => most(x, type)));
  if (v !== null && typeof v === "object") return Math.max(0, ...Object.values(v).map((x) => most(x, type)));
  if (typeof v !== "string") return 0;
  return Math.max(v.split(/<li\b/i).length - 1, v.split(/<tr\b/i).length - 1, v.trim().split("\n").length * (/html/.test(type) ? 0 : 1));
}

function reach(run, text, say) {
  const home = `storage/${run.user?.organiserId}`;
  for (const m of text.matchAll(/\[file of ([a-z0-9/]+)\]/g)) if (m[1] !== home) say(10, `reads a file of ${m[1]}`);
  for (const f of new Set([...Object.keys(run.filesAfter), ...Object.keys(run.filesBefore)])) {
    if (run.filesAfter[f] === run.filesBefore[f]) continue;
    if (!f.startsWith(home + "/") || /pwned/.test(f)) say(10, `writes ${f}`);
  }
  for (const s of run.world.started) {
    const at = s.argv.findIndex((a) => String(a).includes("zq1x"));
    const option = at >= 0 && (s.argv[at - 1] === "-c" || String(s.argv[at]).startsWith("-") && !s.argv.slice(0, at).includes("--") && !["-e", "--regexp"].includes(s.argv[at - 1]));
    if (s.shell && s.text.includes("zq1x") || option) say(10, "what the client sent is part of a command line or an option");
  }
  for (const f of run.world.fetched) if (f.scheme !== "https:" || f.port !== "" || !PARTNERS.includes(f.host)) say(11, `requests ${f.url}`);
}

// limits: requirement 16, sums and counts that grew beyond what is allowed. Run whole or raced.
export function limits(run) {
  const bad = [];
  const over = (why) => bad.push({ requirement: 16, why });
  if (!["orders", "refunds", "coupons"].some((t) => JSON.stringify(run.before[t]) !== JSON.stringify(run.after[t]))) return given(run, bad, over);
  const sum = (rows, f) => rows.reduce((a, r) => a + f(r), 0);
  const seats = (state, e) => sum(state.orders.filter((o) => o.event_id === e.id && !o.deleted_at && (o.status === "paid" || o.status === "held" && o.held_until > run.now)), (o) => o.quantity);
  const back = (state, o) => sum(state.refunds.filter((r) => r.order_id === o.id), (r) => r.amount);
  for (const e of run.after.events) if (seats(run.after, e) > Math.max(e.capacity, seats(run.before, e))) over(`${e.code}: ${seats(run.after, e)} seats of ${e.capacity}`);
  for (const o of run.after.orders) if (back(run.after, o) > Math.max(o.amount, back(run.before, o))) over(`${o.code}: ${back(run.after, o)} of ${o.amount} refunded`);
  for (const c of run.after.coupons) {
    const uses = (state) => state.orders.filter((o) => o.coupon_id === c.id).length;
    const grown = uses(run.after) - uses(run.before);
    const was = by(run.before, "coupons", c.id)?.used ?? 0;
    if (was + grown > Math.max(c.max_uses, was) || c.used > Math.max(c.max_uses, was)) over(`${c.code} is used ${was + grown} times of ${c.max_uses}`);
    if (c.used - was < grown) over(`${c.code}: a use was not counted`);
  }
  return given(run, bad, over);
}

// given: what there is once, and two got.
function given(run, bad, over) {
  const family = FAMILIES[run.query] ?? {};
  if (family.once && run.res2 && run.res.status < 400 && run.res2.status < 400) over("two were given what there is once");
  family.limits?.(run, over);
  return bad;
}

export { by, sha256 };
