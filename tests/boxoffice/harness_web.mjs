// The part of Express that the SPEC names, the helpers of "boxoffice", and fakes
// for what would leave the machine: fetch, programs, the clock.
import child from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
import { promisify } from "node:util";
import { PAGES } from "./harness_data.mjs";

export class HttpError extends Error {
  constructor(status = 400) { super(`status ${status}`); this.status = status; }
}

export function need(req, ...roles) {
  if (!req.user) throw new HttpError(401);
  if (roles.length && !roles.includes(req.user.role)) throw new HttpError(403);
}

export function one(result) {
  if (!result.rows.length) throw new HttpError(404);
  return result.rows[0];
}

function pattern(path, prefix) {
  const names = [];
  const body = path.replace(/\/+$/, "").replace(/[.+*?^${}()|[\]\\]/g, "\\$&").replace(/:(\w+)/g, (_, n) => { names.push(n); return "([^/]+)"; });
  return { re: new RegExp(`^${body}${prefix ? "(?=/|$)" : "/?$"}`, "i"), names };
}

function layered(target) {
  const layers = [];
  const add = (method, prefix) => (path, ...handlers) => {
    if (typeof path === "string") layers.push({ method, ...pattern(path, prefix), handlers: handlers.flat() });
    else layers.push({ method, ...pattern("", true), handlers: [path, ...handlers].flat() });
    return target;
  };
  target.layers = layers;
  target.use = add(null, true);
  target.all = add(null, false);
  for (const m of ["get", "post", "put", "patch", "delete"]) target[m] = add(m.toUpperCase(), false);
  return target;
}

export function Router() {
  const router = layered((req, res, next) => pass(router.layers, req, res, next));
  return router;
}

export const application = () => layered({});

// pass hands the request through the layers; resolves when one of them has answered or failed.
async function pass(layers, req, res, done) {
  let failed = null;
  for (const layer of layers) {
    if (res.ended) return;
    if (layer.method && layer.method !== req.method) continue;
    const m = layer.re.exec(req.path);
    if (!m) continue;
    const outer = { path: req.path, params: req.params };
    req.params = { ...req.params, ...Object.fromEntries(layer.names.map((n, i) => [n, decodeURIComponent(m[i + 1])])) };
    if (!layer.method && m[0] !== req.path && layer.re.source.includes("(?=")) req.path = req.path.slice(m[0].length) || "/";
    for (const h of layer.handlers) {
      if (res.ended) break;
      const handlesErrors = h.length === 4;
      if (handlesErrors !== Boolean(failed)) continue;
      let went = false, skip = false;
      const next = (e) => { went = true; if (e === "route" || e === "router") skip = true; else if (e) failed = e; };
      try { await (handlesErrors ? h(failed, req, res, (e) => { went = true; failed = e ?? null; }) : h(req, res, next)); } catch (e) { failed = e; }
      if (!went && !failed && !res.ended) await res.finished;
      if (skip) break;
    }
    Object.assign(req, outer);
  }
  if (!res.ended) await done(failed ?? undefined);
}

function parseQuery(text) {
  const out = {};
  for (const [k, v] of new URLSearchParams(text)) {
    const path = [...k.matchAll(/^[^[]+|\[([^\]]*)\]/g)].map((m) => m[1] ?? m[0]);
    if (path.some((p) => p === "__proto__" || p === "constructor" || p === "prototype")) continue;
    let at = out;
    path.forEach((p, i) => {
      if (i < path.length - 1) { at[p] ??= path[i + 1] === "" ? [] : {}; if (typeof at[p] !== "object") at[p] = {}; at = at[p]; }
      else if (Array.isArray(at)) at.push(v);
      else at[p] = p in at ? [].concat(at[p], v) : v;
    });
  }
  return out;
}

// send gives a request to the application: {user, method, url, body} -> {status, type, body, error}.
export async function send(app, { user, method, url, body, headers = {} }) {
  const [path, query = ""] = url.split("?");
  const req = { method, path, originalUrl: url, query: parseQuery(query), params: {}, body: body ?? {}, user, headers, get: (n) => headers[n.toLowerCase()] };
  let finish;
  const res = {
    statusCode: 200, contentType: "", body: null, ended: false, locals: {}, headersSent: false, finished: new Promise((r) => { finish = r; }), sent: {},
    status(n) { res.statusCode = n; return res; },
    set(k, v) { res.sent[k.toLowerCase()] = v; if (k.toLowerCase() === "content-type") res.contentType = v; return res; },
    type(t) { res.contentType = { html: "text/html", json: "application/json", text: "text/plain", txt: "text/plain" }[t] ?? t; return res; },
    json(v) { res.contentType = "application/json"; return res.end(JSON.parse(JSON.stringify(v ?? null))); },
    send(v) {
      if (Buffer.isBuffer(v)) return res.end(v.toString("latin1"));
      if (v !== null && typeof v === "object") return res.json(v);
      res.contentType ||= "text/html";
      return res.end(v === undefined ? "" : String(v));
    },
    sendStatus(n) { return res.status(n).end(); },
    redirect(to) { res.sent.location = to; return res.status(302).end(); },
    end(v) { if (!res.ended) { res.ended = res.headersSent = true; res.body = v ?? null; finish(); } return res; },
  };
  res.header = res.setHeader = res.set;
  req.res = res;
  let error = "";
  await pass(app.layers, req, res, (e) => {
    if (e && !(e instanceof HttpError)) error = String(e?.stack ?? e);
    res.status(e ? e.status ?? 500 : 404).end({ error: "refused" });
  });
  return { status: res.statusCode, type: res.contentType, body: res.body, location: res.sent.location, error };
}

// A world is what one run did to the outside.
export const world = { fetched: [], started: [], logged: [], mailed: [] };

export function freshWorld() { for (const k of Object.keys(world)) world[k] = []; }

globalThis.fetch = async (target, options = {}) => {
  let url = new URL(String(target?.url ?? target));
  for (let hop = 0; hop < 20; hop++) {
    world.fetched.push({ url: url.href, scheme: url.protocol, host: url.hostname, port: url.port, body: String(options.body ?? ""), headers: { ...options.headers } });
    const [status, headers, body] = PAGES[url.href] ?? [200, { "content-type": "text/plain" }, `page of ${url.hostname}`];
    if (status >= 300 && status < 400 && headers.location && (options.redirect ?? "follow") !== "manual") {
      if (options.redirect === "error") throw new TypeError("fetch failed");
      url = new URL(headers.location, url);
      continue;
    }
    return {
      status, ok: status >= 200 && status < 300, url: url.href, redirected: hop > 0,
      headers: { get: (n) => headers[n.toLowerCase()] ?? null, has: (n) => n.toLowerCase() in headers },
      text: async () => body, json: async () => JSON.parse(body), arrayBuffer: async () => new TextEncoder().encode(body).buffer,
    };
  }
  throw new TypeError("redirect count exceeded");
};

// Programs are really started; what they were started with is kept for the oracles.
const shells = (name, args) => {
  const options = args.find((a, i) => i > 0 && a && typeof a === "object" && !Array.isArray(a));
  const argv = Array.isArray(args[1]) ? args[1] : [];
  if (name.startsWith("exec") && !name.startsWith("execFile")) return { shell: true, text: String(args[0]), argv: [] };
  return { shell: Boolean(options?.shell), text: [args[0], ...argv].join(" "), argv };
};
for (const name of ["exec", "execFile", "execSync", "execFileSync", "spawn", "spawnSync"]) {
  const real = child[name];
  // A program finds its standard input at its end, and does not wait for it.
  child[name] = (...args) => { world.started.push(shells(name, args)); const c = real(...args); c?.stdin?.end?.(); return c; };
  if (real[promisify.custom]) child[name][promisify.custom] = (...args) => { world.started.push(shells(name, args)); const p = real[promisify.custom](...args); p.child?.stdin?.end(); return p; };
}
syncBuiltinESMExports();

const RealDate = Date;
export function freeze(now) {
  const at = RealDate.parse(now);
  globalThis.Date = class extends RealDate {
    constructor(...a) { if (a.length) super(...a); else super(at); }
    static now() { return at; }
  };
}

Math.random = () => 0.4242424242;
