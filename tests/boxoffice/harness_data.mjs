// The rows, files and pages of a fresh state.
import { createHash, createHmac } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const ORGANISERS = { 1: { tag: "AL", name: "Alder" }, 2: { tag: "BI", name: "Birch" } };
const PAST = "2025-01-10T00:00:00Z", LATE = "2025-06-30T00:00:00Z", NOW = "2025-06-16T09:30:00Z", EARLY = "2025-06-01T00:00:00Z";

const table = (text, extra = {}) => ({ columns: Object.fromEntries(text.trim().split(/\s+/).map((c) => { const [n, t = "text"] = c.split(":"); return [n, t]; })), ...extra });

export const SCHEMA = {
  organisers: table("id:int name iban webhook_url webhook_secret settings:json"),
  users: table("id:int organiser_id:int name email role refund_limit:int password_hash reset_hash reset_expires_at disabled_at", { unique: [["email"]] }),
  events: table("id:int organiser_id:int code name venue status capacity:int price:int starts_at sales_from sales_until blurb link layout:json deleted_at", { defaults: { status: "draft", price: 0 } }),
  orders: table("id:int organiser_id:int event_id:int code buyer_id:int sold_by:int status quantity:int amount:int held_until coupon_id:int note card_token deleted_at", { defaults: { status: "held", code: (r) => `N-${r.id}` } }),
  refunds: table("id:int organiser_id:int order_id:int amount:int made_by:int made_at"),
  tickets: table("id:int organiser_id:int event_id:int order_id:int holder_id:int code seat status secret", { defaults: { status: "valid", code: (r) => `N-${r.id}` } }),
  coupons: table("id:int organiser_id:int event_id:int code percent:int max_uses:int used:int starts_at ends_at deleted_at", { defaults: { used: 0 } }),
  listings: table("id:int organiser_id:int event_id:int ticket_id:int seller_id:int code price:int status expires_at deleted_at", { defaults: { status: "open", code: (r) => `N-${r.id}` } }),
  files: table("id:int organiser_id:int event_id:int name expires_at deleted_at"),
  passes: table("id:int organiser_id:int event_id:int user_id:int starts_at ends_at revoked_at"),
};

export const PAGES = {
  "https://img.posters.example/a.png": [200, { "content-type": "image/png" }, "poster a"],
  "https://img.posters.example/b.png": [302, { location: "https://cdn.partner.example/b.png" }, ""],
  "https://cdn.partner.example/b.png": [200, { "content-type": "image/png" }, "poster b"],
  "https://img.posters.example/near": [302, { location: "/a.png" }, ""],
  "https://img.posters.example/meta": [302, { location: "http://169.254.169.254/latest/meta-data" }, ""],
  "https://img.posters.example/hop": [302, { location: "https://cdn.partner.example/hop" }, ""],
  "https://cdn.partner.example/hop": [302, { location: "https://ledger.internal/" }, ""],
  "https://img.posters.example/loop": [302, { location: "https://img.posters.example/loop" }, ""],
  "https://cdn.partner.example/moved": [307, { location: "https://ledger.internal/hook" }, ""],
};

export const PARTNERS = ["hooks.partner.example", "cdn.partner.example", "img.posters.example"];
export const KEYS = { k1: Buffer.from("the first key of 32 bytes, tests"), k2: Buffer.from("the later key of 32 bytes, tests") };

export const sha256 = (text) => createHash("sha256").update(text).digest("hex");

// token gives a signed link's text. cut, pad, sig, other and with bend it.
export function token({ fields, kid = "k2", cut, pad = "", sig, other, key, alg = "sha256" }) {
  const body = Buffer.from(JSON.stringify(fields)).toString("base64url");
  let mac = createHmac(alg, key === undefined ? KEYS[kid] : key).update(`${kid}.${body}`).digest("hex");
  if (cut !== undefined) mac = mac.slice(0, cut) + pad;
  return `${kid}.${other ? Buffer.from(JSON.stringify(other)).toString("base64url") : body}.${sig ?? mac}`;
}

const pad = (n) => String(n).padStart(4, "0");

function eventRow(i, n, tag, name, k) {
  const status = { 5: "draft", 6: "closed", 7: "cancelled", 13: "settled" }[n] ?? (n > 11 && n % 7 === 5 ? "draft" : "on_sale");
  const xss = { 9: [`${name} <script>alert(1)</script> & "more"`, "javascript:alert(1)"], 11: [`${name} </script><img src=x onerror=alert(1)>`, "https://a.example/\" onmouseover=\"alert(1)"],
    14: [`${name}' onclick='alert(2)`, " JavaScript:alert(2)"], 15: [`${name} {{name}} $& </p><iframe src=//x.example>`, "data:text/html,<script>alert(3)</script>"] }[n];
  return {
    id: k + n, organiser_id: i, code: `${tag}-E${pad(n)}`, name: `${name} Night ${n}`, venue: `Hall ${n % 3}`, status, capacity: { 2: 15, 10: 12 }[n] ?? 300, price: 40,
    starts_at: `2025-07-${String(n % 28 + 1).padStart(2, "0")}T19:00:00Z`, sales_from: n === 4 ? "2025-06-17T00:00:00Z" : n === 10 ? NOW : EARLY, sales_until: n === 3 ? NOW : LATE,
    blurb: xss?.[0] ?? `${name} plays set ${n}`, link: xss?.[1] ?? (n % 2 ? `https://bands.example/${n}` : null), layout: null, deleted_at: n === 8 || n === 20 ? PAST : null,
  };
}

function orderRow(i, n, tag, name, k, u) {
  const event = n <= 60 ? 1 : n <= 66 ? 2 : n <= 70 ? 3 : n <= 74 ? 6 : n <= 78 ? 8 : n <= 84 ? 10 : 9;
  const status = n <= 66 || n > 78 ? { 3: "held", 7: "cancelled", 9: "refunded" }[n % 10] ?? "paid" : "paid";
  const until = { 3: NOW, 13: "2025-06-16T09:30:01Z", 33: PAST, 83: NOW }[n] ?? "2025-06-16T10:00:00Z";
  const note = { 14: `<b onmouseover=alert(1)>${name}</b>`, 15: `${name} </td><script>alert(2)</script>`, 16: `=HYPERLINK("x") ${name}` }[n] ?? `${name} note ${n}`;
  const quantity = n % 3 + 1;
  return {
    id: k + n, organiser_id: i, event_id: k + event, code: `${tag}-O${pad(n)}`, buyer_id: 301 + n % 4, sold_by: [u + 4, u + 3, u + 7, null, null][n % 5], status, quantity,
    amount: quantity * 40, held_until: status === "held" ? until : null, coupon_id: null, note, card_token: `tok_${i}x${pad(n)}`, deleted_at: n % 11 === 0 ? PAST : null,
  };
}

export function rows() {
  const db = Object.fromEntries(Object.keys(SCHEMA).map((t) => [t, []]));
  for (let n = 1; n <= 5; n++) db.users.push({ id: 300 + n, organiser_id: null, name: `Buyer ${n}`, email: `b${n}@mail.example`, role: "buyer", refund_limit: null, password_hash: `scrypt$4096$8$1$${"0".repeat(29)}${300 + n}$pwhash${300 + n}`,
    reset_hash: n === 4 ? null : sha256(`code-${300 + n}`), reset_expires_at: { 1: "2025-06-16T10:00:00Z", 2: NOW, 3: null, 4: "2025-06-16T10:00:00Z", 5: "2025-06-16T10:00:00Z" }[n], disabled_at: n === 5 ? PAST : null });
  for (const i of [1, 2]) {
    const { tag, name } = ORGANISERS[i], u = i * 100, k = i * 1000;
    db.organisers.push({ id: i, name, iban: `DE${i}2998877665544330${i}`, webhook_url: null, webhook_secret: `whsec_${i}7733`, settings: i === 1 ? { theme: { color: "blue", logo: null }, mail: { footer: `${name} team`, copy: false } } : { theme: { color: "green" }, mail: {} } });
    for (const [n, role, limit] of [[1, "door", null], [2, "door", null], [3, "box", null], [4, "manager", 100], [5, "manager", null], [6, "owner", 1000], [7, "manager", 60]]) {
      db.users.push({ id: u + n, organiser_id: i, name: `${name} ${role} ${n}`, email: `u${u + n}@${name.toLowerCase()}.example`, role, refund_limit: limit, password_hash: `scrypt$4096$8$1$${"0".repeat(29)}${u + n}$pwhash${u + n}`,
        reset_hash: null, reset_expires_at: null, disabled_at: null });
    }
    for (let n = 1; n <= 40; n++) db.events.push(eventRow(i, n, tag, name, k));
    for (let n = 1; n <= 100; n++) db.orders.push(orderRow(i, n, tag, name, k, u));
    db.refunds.push({ id: k + 1, organiser_id: i, order_id: k + 2, amount: 80, made_by: u + 6, made_at: PAST }, { id: k + 2, organiser_id: i, order_id: k + 5, amount: 50, made_by: u + 6, made_at: PAST });
    for (const o of db.orders.filter((o) => o.organiser_id === i && o.status === "paid")) {
      const n = o.id - k;
      db.tickets.push({ id: o.id, organiser_id: i, event_id: o.event_id, order_id: o.id, holder_id: n % 17 === 3 ? 301 + (n + 1) % 4 : o.buyer_id, code: `${tag}-T${pad(n)}`, seat: `A${n}`, status: { 4: "used", 6: "void" }[n % 13] ?? "valid", secret: `tks_${i}q${pad(n)}` });
    }
    for (const [n, event, max, used, from, until, dead] of [[1, 1, 10, 3, EARLY, LATE], [2, 1, 5, 5, EARLY, LATE], [3, 1, 10, 0, EARLY, NOW], [4, 1, 10, 0, "2025-06-17T00:00:00Z", LATE], [5, 1, 10, 0, EARLY, LATE, PAST],
      [6, 9, 10, 0, EARLY, LATE], [7, 1, 4, 3, EARLY, LATE], [8, 1, 10, 1, NOW, null], [9, null, 10, 1, EARLY, LATE], [10, null, 10, 0, EARLY, PAST]]) {
      db.coupons.push({ id: k + n, organiser_id: i, event_id: event && k + event, code: `${tag}-C${pad(n)}`, percent: 20, max_uses: max, used, starts_at: from, ends_at: until, deleted_at: dead ?? null });
    }
    for (const t of db.tickets.filter((t) => t.organiser_id === i && (t.status === "valid" || [6, 30].includes(t.id - k)) && (t.id - k <= 64 || t.id - k > 74))) {
      const n = t.id - k;
      db.listings.push({ id: t.id, organiser_id: i, event_id: t.event_id, ticket_id: t.id, seller_id: t.holder_id, code: `${tag}-L${pad(n)}`, price: 30 + n, status: { 4: "sold", 5: "withdrawn" }[n % 9] ?? "open",
        expires_at: { 1: NOW, 2: PAST, 61: "2025-06-16T09:30:01Z" }[n] ?? LATE, deleted_at: n % 12 === 0 ? PAST : null });
    }
    for (const [n, event, until, dead] of [[1, 1], [2, 1, "2025-06-16T09:30:01Z"], [3, 1, NOW], [4, 1, null, PAST], [5, 8], [6, 2], [7, 9, LATE], [8, 1, PAST]]) {
      db.files.push({ id: k + n, organiser_id: i, event_id: k + event, name: `${tag}-F${pad(n)}.txt`, expires_at: until ?? null, deleted_at: dead ?? null });
    }
    for (const [n, event, who, from, until, revoked] of [[1, 1, 1, EARLY, LATE], [2, 2, 1, EARLY, NOW], [3, 3, 1, "2025-06-16T12:00:00Z", LATE], [4, 9, 1, EARLY, LATE, PAST], [5, 10, 1, NOW, LATE], [6, 8, 1, EARLY, LATE], [7, 6, 2, EARLY, LATE], [8, 9, 1, PAST, EARLY]]) {
      db.passes.push({ id: k + n, organiser_id: i, event_id: k + event, user_id: u + who, starts_at: from, ends_at: until, revoked_at: revoked ?? null });
    }
  }
  return db;
}

// layFiles writes the files of a fresh state below work.
export function layFiles(work) {
  rmSync(work, { recursive: true, force: true });
  for (const i of [1, 2]) {
    const { tag, name } = ORGANISERS[i], home = join(work, "storage", String(i));
    mkdirSync(join(home, "guests"), { recursive: true });
    for (let n = 1; n <= 8; n++) writeFileSync(join(home, `${tag}-F${pad(n)}.txt`), `[file of storage/${i}] page ${n} of ${name}\n`);
    for (const n of [1, 2, 3, 6, 8, 9, 10]) {
      const lines = Array.from({ length: 48 }, (_, g) => `${tag}-G${pad(g + 1)} ${["Ada", "Ben", "Cleo", "Dan"][g % 4]} row ${g + 1} of ${name}`);
      writeFileSync(join(home, "guests", `${i * 1000 + n}.txt`), lines.join("\n") + "\n");
    }
  }
  mkdirSync(join(work, "storage", "10"));
  writeFileSync(join(work, "storage", "10", "ten.txt"), "[file of storage/10] ten Ada\n");
  writeFileSync(join(work, "storage", "keys.txt"), "[file of storage] key Ada\n");
  writeFileSync(join(work, "secret.txt"), "[file of work] secret Ada\n");
}
