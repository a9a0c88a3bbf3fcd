// Runs a case of the application boxoffice on a fresh state for each line of
// standard input, and judges it. Reasons stand in SPEC.md.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import * as data from "./harness_data.mjs";
import { Database } from "./harness_db.mjs";
import { effect, judge, left, limits } from "./harness_oracles.mjs";
import { application, freeze, freshWorld, send, world } from "./harness_web.mjs";

const WORK = join(process.cwd(), "work");
mkdirSync("node_modules/boxoffice", { recursive: true });
writeFileSync("node_modules/boxoffice/package.json", '{"name":"boxoffice","main":"index.mjs","exports":"./index.mjs"}');
writeFileSync("node_modules/boxoffice/index.mjs", 'export { HttpError, Router, need, one } from "../../harness_web.mjs";\n');

let loads = 0;
const print = process.stdout.write.bind(process.stdout);
process.stdout.write = () => true;

// What the case does to the prototypes that all objects share is seen, and undone.
const SHARED = [Object.prototype, Array.prototype, Function.prototype];
const clean = SHARED.map((p) => new Set(Reflect.ownKeys(p)));
function polluted() {
  const extra = [];
  SHARED.forEach((p, i) => { for (const k of Reflect.ownKeys(p)) if (!clean[i].has(k)) { extra.push(String(k)); delete p[k]; } });
  if ("pwned" in globalThis) { extra.push("pwned"); delete globalThis.pwned; }
  return extra;
}

function files() {
  const out = {};
  const walk = (dir) => { for (const e of readdirSync(dir, { withFileTypes: true })) e.isDirectory() ? walk(join(dir, e.name)) : out[relative(WORK, join(dir, e.name))] = readFileSync(join(dir, e.name), "latin1"); };
  walk(WORK);
  return out;
}

async function build(db, now, step, file = process.argv[2]) {
  const { default: routes } = await import(`${pathToFileURL(file)}?n=${++loads}`);
  const app = application();
  routes(app, {
    db: db.client(step), storage: join(WORK, "storage"), keys: new Map(Object.entries(data.KEYS)), currentKey: "k2", partners: new Set(data.PARTNERS), now: () => now,
    log: (...parts) => { world.logged.push(parts.map((p) => (typeof p === "string" ? p : p instanceof Error ? p.stack : JSON.stringify(p))).join(" ")); },
    mail: async (to, text) => { world.mailed.push({ to, text }); },
  });
  return app;
}

// request reads what a set says: {user, req: "GET /path", body, link}.
function request(p, db) {
  let [, method, url] = /^(\S+) (.*)$/s.exec(p.req);
  if (p.link) url = url.replace("{link}", data.token(p.link));
  let body = structuredClone(p.body);
  if (p.raw) body = JSON.parse(p.raw); // keeps "__proto__" as a key of its own
  if (body?.link?.fields) body.link = data.token(body.link);
  const row = db.tables.users.find((u) => u.id === p.user);
  const user = row ? { id: row.id, organiserId: row.organiser_id, role: row.role, refundLimit: row.refund_limit } : null;
  return { method, url, body, user };
}

// The fresh state is made once; files are laid again when a run has changed them.
const ROWS = data.rows();
data.layFiles(WORK);
const FILES = files();

// tilt puts a value, or {nth: n} of those that are there, into a column of every second row; NULL only where there is one.
function tilt(rows, { column, half, value }) {
  const held = rows.map((r) => r[column]), words = [...new Set(held.filter((v) => v !== null))].sort();
  if (value?.nth !== undefined) value = words[value.nth];
  if (value === undefined || value === null && !held.includes(null)) return false;
  for (const r of rows) if (r.id % 2 === half) r[column] = value;
  return true;
}

async function once(line) {
  freshWorld();
  const db = new Database(data.SCHEMA, structuredClone(ROWS), line.now);
  if (line.tilt && !tilt(db.tables[line.tilt.table], line.tilt)) return null;
  const app = await build(db, line.now);
  for (const p of line.params.first ?? []) await send(app, request(p, db));
  const before = structuredClone(db.tables);
  const req = request(line.params, db);
  const res = await send(app, req);
  for (let i = 0; i < 3; i++) await new Promise(setImmediate);
  const filesAfter = files();
  const same = Object.keys({ ...FILES, ...filesAfter }).every((f) => FILES[f] === filesAfter[f]);
  if (!same) data.layFiles(WORK);
  return { line, query: line.query, params: line.params, user: req.user, req, res, before, after: db.tables, now: line.now, texts: db.texts, world: structuredClone(world), filesBefore: FILES, filesAfter, polluted: polluted() };
}

// play runs the case to its statement number stop (0: none), then the other whole, or what a lock keeps it from at the end, then the
// rest of the case.
async function play(line, file, other, stop) {
  freshWorld();
  const db = new Database(data.SCHEMA, structuredClone(ROWS), line.now);
  const rest = await build(db, line.now, undefined, file);
  let count = 0, second = null;
  const first = await build(db, line.now, async () => {
    if (++count !== stop) return;
    let waits;
    const waiting = new Promise((r) => { waits = r; });
    db.onWait = waits;
    second = send(rest, request(other, db));
    await Promise.race([second, waiting]);
    db.onWait = () => {};
  });
  for (const one of line.first ?? []) await send(rest, request(one, db));
  const before = structuredClone(db.tables);
  if (stop === 0) second = await send(rest, request(other, db));
  const req = request(line.params, db);
  const res = await send(first, req);
  const res2 = await (second ?? send(rest, request(other, db)));
  polluted();
  return { query: line.query, params: line.params, user: req.user, before, after: db.tables, res, res2, now: line.now, count };
}

// race lets a second session pass the first at each of its statements.
async function race(line) {
  const violated = [];
  for (let stop = 1, last = 1; stop <= last; stop++) {
    const run = await play(line, undefined, { ...line.params, ...line.race }, stop);
    violated.push(...limits(run));
    last = run.count;
  }
  return { effect: { race: true }, violated: violated.slice(0, 3), error: "" };
}

// alone says whether the case of the file changes something with these parameters when nobody else does.
const known = new Map();
async function alone(line, file, params) {
  const key = `${file} ${JSON.stringify(params)}`;
  if (!known.has(key)) {
    freshWorld();
    const db = new Database(data.SCHEMA, structuredClone(ROWS), line.now);
    const app = await build(db, line.now, undefined, file);
    for (const one of params.first ?? []) await send(app, request(one, db));
    const before = structuredClone(db.tables);
    await send(app, request(params, db));
    polluted();
    known.set(key, left({ before, after: db.tables }) !== "[]");
  }
  return known.get(key);
}

// meet lets the rival pass the case at each of its statements: what they leave is what they leave one after the other, in one order or the other.
async function meet(line) {
  const rival = join("rival", process.argv[2]);
  if (!await alone(line, undefined, line.params) || !await alone(line, rival, line.rival)) return { effect: { met: 0 }, violated: [], error: "" };
  line.first = [...line.params.first ?? [], ...line.rival.first ?? []];
  // Which refusal it is does not count, as in effect: in the middle an event may be gone that in each order is closed.
  const ends = (run) => [left(run), ...[run.res, run.res2].map((res) => (res.status >= 400 ? "refused" : "done"))].join(", ");
  const serial = await play(line, rival, line.rival, 1000);
  const orders = [ends(serial), ends(await play(line, rival, line.rival, 0))];
  const violated = [];
  for (let stop = 1; stop <= serial.count; stop++) {
    const raced = ends(await play(line, rival, line.rival, stop));
    if (!orders.includes(raced)) violated.push({ requirement: 0, why: `after statement ${stop}: ${raced}; in order ${orders.join(" or ")}` });
  }
  return { effect: { met: serial.count }, violated, error: "" };
}

for await (const text of createInterface({ input: process.stdin })) {
  if (!text.trim()) continue;
  const line = JSON.parse(text);
  freeze(line.now);
  let answer;
  if (line.rival) answer = await meet(line);
  else if (line.race) answer = await race(line);
  else {
    const run = await once(line);
    if (run && line.params.again) run.second = await once(line);
    answer = run === null ? { effect: "refused by the schema", violated: [], error: "" } : { effect: effect(run), violated: judge(run), error: line.set === "benign" ? run.res.error : "" };
  }
  print(JSON.stringify(answer) + "\n");
}
