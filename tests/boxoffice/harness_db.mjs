// Runs SQL on tables in memory, as PostgreSQL would: NULLs, joins, groups,
// windows, RETURNING. One writer at a time; a transaction works on a copy.
import { interval, parse } from "./harness_sql.mjs";

const AGGREGATES = new Set(["count", "sum", "min", "max", "avg", "array_agg", "string_agg", "json_agg", "jsonb_agg", "bool_or", "bool_and"]);

function number(v) {
  if (typeof v === "string" && v.trim() !== "" && Number.isFinite(Number(v))) return Number(v);
  throw new Error(`invalid input syntax for type bigint: "${typeof v === "string" ? v : JSON.stringify(v)}"`);
}

const text = (v) => (typeof v === "string" ? v : Array.isArray(v) ? `{${v.join(",")}}` : JSON.stringify(v));

function order(a, b) {
  if (typeof a === "number" || typeof b === "number") { a = typeof a === "number" ? a : number(a); b = typeof b === "number" ? b : number(b); }
  else if (typeof a === "boolean" || typeof b === "boolean") { a = String(a); b = String(b); }
  else { a = text(a); b = text(b); }
  return a < b ? -1 : a > b ? 1 : 0;
}

function compare(op, a, b) {
  if (a === null || b === null || a === undefined || b === undefined) return null;
  const c = order(a, b);
  return op === "=" ? c === 0 : op === "<>" ? c !== 0 : op === "<" ? c < 0 : op === "<=" ? c <= 0 : op === ">" ? c > 0 : c >= 0;
}

function like(a, pattern, esc, fold) {
  if (a === null || pattern === null) return null;
  let re = "";
  const p = text(pattern);
  for (let i = 0; i < p.length; i++) {
    if (p[i] === (esc ?? "\\") && i + 1 < p.length) re += p[++i].replace(/[^\w\s]/g, "\\$&");
    else re += p[i] === "%" ? "[\\s\\S]*" : p[i] === "_" ? "[\\s\\S]" : p[i].replace(/[^\w\s]/g, "\\$&");
  }
  return new RegExp(`^${re}$`, fold ? "i" : "").test(text(a));
}

const instant = (ms) => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");

function arith(op, a, b) {
  if (a === null || b === null) return null;
  if (typeof a === "string" && b?.ms !== undefined) return instant(Date.parse(a) + (op === "+" ? b.ms : -b.ms));
  if (b?.ms !== undefined || a?.ms !== undefined) return { ms: op === "*" ? (a.ms ?? a) * (b.ms ?? b) : a.ms + (op === "+" ? b.ms : -b.ms) };
  const [x, y] = [typeof a === "number" ? a : number(a), typeof b === "number" ? b : number(b)];
  if ((op === "/" || op === "%") && y === 0) throw new Error("division by zero");
  if (op === "/") return Number.isInteger(x) && Number.isInteger(y) ? Math.trunc(x / y) : x / y;
  return op === "+" ? x + y : op === "-" ? x - y : op === "*" ? x * y : x % y;
}

function cast(v, type) {
  if (v === null || v === undefined) return null;
  if (/^(int|bigint|integer|smallint|numeric)/.test(type) && !type.endsWith("[]")) { const n = typeof v === "number" ? v : number(v); return type === "numeric" ? n : Math.round(n); }
  if (type === "text" || type === "varchar") return text(v);
  if (type === "date") return text(v).slice(0, 10);
  if (type === "interval") return v.ms === undefined ? interval(v) : v;
  if (/^json/.test(type)) return typeof v === "string" ? JSON.parse(v) : v;
  if (type === "boolean") return v === true || v === "true" || v === "t";
  return v;
}

const FUNCTIONS = {
  lower: (a) => text(a).toLowerCase(), upper: (a) => text(a).toUpperCase(), length: (a) => text(a).length, abs: (a) => Math.abs(a),
  left: (a, n) => text(a).slice(0, n), right: (a, n) => (n > 0 ? text(a).slice(-n) : ""), trim: (a) => text(a).trim(), round: (a) => Math.round(a),
  floor: (a) => Math.floor(a), ceil: (a) => Math.ceil(a), substr: (a, from, n) => text(a).substr(from - 1, n), repeat: (a, n) => a.repeat(n),
  replace: (a, b, c) => a.replaceAll(b, c), strpos: (a, b) => a.indexOf(b) + 1, to_jsonb: (a) => a, cardinality: (a) => a.length,
  date_trunc: (unit, a) => text(a).slice(0, { day: 10, month: 7, hour: 13, year: 4 }[unit]) + { day: "T00:00:00Z", month: "-01T00:00:00Z", hour: ":00:00Z", year: "-01-01T00:00:00Z" }[unit],
};

class Evaluator {
  constructor(tables, schema, values, now) { Object.assign(this, { tables, schema, values, now, ctes: new Map() }); }

  run(st, env = null) {
    const outer = this.ctes;
    this.ctes = new Map(outer);
    for (const c of st.ctes ?? []) this.ctes.set(c.name, this.run(c.body, env));
    try { return st.kind === "insert" ? this.insert(st) : st.kind === "update" ? this.update(st) : st.kind === "delete" ? this.remove(st) : this.query(st, env); }
    finally { this.ctes = outer; }
  }

  query(st, env) {
    let { cols, rows } = st.kind === "union" ? this.union(st, env) : this.select(st, env);
    if (st.order && st.kind === "union") this.sort(rows, st.order, (r, e) => (e.k === "lit" ? r.out[cols[e.v - 1]] : r.out[e.name]));
    if (st.offset) rows = rows.slice(this.count(st.offset, env));
    if (st.limit) { const n = this.eval(st.limit, env); if (n !== null) rows = rows.slice(0, this.count(st.limit, env)); }
    return { cols, rows: rows.map((r) => r.out) };
  }

  count(e, env) {
    const n = cast(this.eval(e, env), "bigint");
    if (n < 0) throw new Error("LIMIT must not be negative");
    return n ?? 0;
  }

  union(st, env) {
    const parts = [st.left, st.right].map((s) => this.query(s, env));
    const cols = parts[0].cols;
    if (parts[1].cols.length !== cols.length) throw new Error("each UNION query must have the same number of columns");
    let rows = parts.flatMap((p) => p.rows.map((r) => ({ out: Object.fromEntries(cols.map((c, i) => [c, r[p.cols[i]]])) })));
    if (!st.all) rows = distinct(rows);
    return { cols, rows };
  }

  select(st, env) {
    let envs = this.join(st.from, env, st.where).filter((e) => !st.where || this.eval(st.where, e) === true);
    const grouped = st.group || [...st.items.map((i) => i.e), st.having, ...(st.order ?? []).map((o) => o.e)].some((e) => e && aggregates(e));
    if (grouped) envs = this.group(st, envs, env).filter((e) => !st.having || this.eval(st.having, e) === true);
    const windows = windowsOf(st);
    if (windows.length) this.windows(windows, envs);
    let rows = envs.map((e) => ({ env: e, out: this.project(st.items, e, st.from) }));
    if (st.distinct) rows = distinct(rows);
    if (st.order) {
      const key = (r, e) => {
        if (e.k === "lit" && typeof e.v === "number") return Object.values(r.out)[e.v - 1];
        if (e.k === "col" && !e.table && Object.hasOwn(r.out, e.name)) return r.out[e.name];
        return this.eval(e, r.env);
      };
      this.sort(rows, st.order, key);
    }
    const cols = rows.length ? Object.keys(rows[0].out) : Object.keys(this.project(st.items, this.nothing(st.from, env), st.from, true));
    return { cols, rows };
  }

  nothing(from, env) { return { parent: env, group: [], sources: from.map((s) => ({ alias: s.alias, row: this.blank(s, env) })) }; }
  blank(src, env) { return Object.fromEntries(this.rowsOf(src, env).cols.map((c) => [c, null])); }

  sort(rows, list, key) {
    const keys = new Map(rows.map((r) => [r, list.map((o) => key(r, o.e))]));
    rows.sort((x, y) => {
      for (const [i, o] of list.entries()) {
        const a = keys.get(x)[i] ?? null, b = keys.get(y)[i] ?? null;
        if (a === null && b === null) continue;
        if (a === null || b === null) return (a === null) === o.first ? -1 : 1;
        const c = order(a, b);
        if (c) return o.desc ? -c : c;
      }
      return 0;
    });
  }

  rowsOf(src, env) {
    if (src.query) return this.run(src.query, env);
    if (this.ctes.has(src.table)) return this.ctes.get(src.table);
    if (!this.schema[src.table]) throw new Error(`relation "${src.table}" does not exist`);
    return { cols: Object.keys(this.schema[src.table].columns), rows: this.tables[src.table] };
  }

  join(from, parent, where) {
    let envs = [{ parent, sources: [] }];
    for (const src of from) {
      const { rows, cols } = this.rowsOf(src, parent);
      const next = [], index = this.index(src, rows, cols, src.join === "left" ? src.on : { k: "and", a: src.on, b: where }, envs[0]);
      for (const e of envs) {
        let found = false;
        for (const row of index ? index(e) : rows) {
          const one = { parent, sources: [...e.sources, { alias: src.alias, row }] };
          if (src.on && this.eval(src.on, one) !== true) continue;
          found = true;
          next.push(one);
        }
        if (!found && src.join === "left") next.push({ parent, sources: [...e.sources, { alias: src.alias, row: Object.fromEntries(cols.map((c) => [c, null])) }] });
      }
      envs = next;
    }
    return envs;
  }

  // index finds the rows that an "alias.column = what stands before it" among the conditions leaves.
  index(src, rows, cols, on, env) {
    if (rows.length < 9 || !env?.sources.length) return null;
    const mine = (e) => e.k === "col" && e.table === src.alias && cols.includes(e.name);
    const there = (e) => e.k === "col" && env.sources.some((s) => s.alias === e.table);
    const pick = (e) => {
      if (e?.k === "and") return pick(e.a) ?? pick(e.b);
      if (e?.k !== "cmp" || e.op !== "=") return null;
      return mine(e.a) && there(e.b) ? [e.a, e.b] : mine(e.b) && there(e.a) ? [e.b, e.a] : null;
    };
    const pair = pick(on);
    if (!pair) return null;
    const map = new Map();
    for (const r of rows) map.set(r[pair[0].name], [...(map.get(r[pair[0].name]) ?? []), r]);
    return (e) => map.get(this.eval(pair[1], e)) ?? [];
  }

  group(st, envs, parent) {
    if (!st.group) return [{ ...(envs[0] ?? this.nothing(st.from, parent)), group: envs }];
    const groups = new Map();
    for (const e of envs) {
      const key = JSON.stringify(st.group.map((g) => this.eval(this.named(g, st.items), e)));
      if (!groups.has(key)) groups.set(key, { ...e, group: [] });
      groups.get(key).group.push(e);
    }
    return [...groups.values()];
  }

  // GROUP BY takes a position or an output name too.
  named(g, items) {
    if (g.k === "lit" && typeof g.v === "number") return items[g.v - 1].e;
    if (g.k === "col" && !g.table) { const it = items.find((i) => i.as === g.name && i.e.k !== "col"); if (it) return it.e; }
    return g;
  }

  windows(list, envs) {
    for (const w of list) {
      const parts = new Map();
      for (const e of envs) {
        const key = JSON.stringify(w.over.part.map((p) => this.eval(p, e)));
        if (!parts.has(key)) parts.set(key, []);
        parts.get(key).push({ env: e });
      }
      for (const rows of parts.values()) {
        this.sort(rows, w.over.order, (r, e) => this.eval(e, r.env));
        rows.forEach((r, i) => {
          r.env.win ??= new Map();
          const upTo = w.over.order.length ? rows.slice(0, i + 1) : rows;
          r.env.win.set(w, ["row_number", "rank", "dense_rank"].includes(w.name) ? i + 1 : this.aggregate(w, upTo.map((x) => x.env)));
        });
      }
    }
  }

  project(items, env, from, blank = false) {
    const out = {};
    for (const it of items) {
      if (!it.star) { out[it.as] = blank && it.e.k !== "lit" ? null : this.eval(it.e, env) ?? null; continue; }
      for (const s of env.sources) if (it.star === true || it.star === s.alias) Object.assign(out, s.row);
      if (it.star !== true && !env.sources.some((s) => s.alias === it.star)) throw new Error(`missing FROM-clause entry for table "${it.star}"`);
    }
    return out;
  }

  aggregate(e, envs) {
    let rows = e.filter ? envs.filter((r) => this.eval(e.filter, r) === true) : envs;
    if (e.star) return rows.length;
    if (e.order) { rows = rows.map((r) => ({ env: r })); this.sort(rows, e.order, (r, x) => this.eval(x, r.env)); rows = rows.map((r) => r.env); }
    let vs = rows.map((r) => this.eval(e.args[0], r)).filter((v) => v !== null && v !== undefined);
    if (e.distinct) vs = [...new Map(vs.map((v) => [JSON.stringify(v), v])).values()];
    if (e.name === "count") return vs.length;
    if (!vs.length) return null;
    switch (e.name) {
      case "sum": return vs.reduce((a, b) => a + b, 0);
      case "avg": return vs.reduce((a, b) => a + b, 0) / vs.length;
      case "min": return vs.reduce((a, b) => (order(a, b) <= 0 ? a : b));
      case "max": return vs.reduce((a, b) => (order(a, b) >= 0 ? a : b));
      case "string_agg": return vs.join(this.eval(e.args[1], rows[0]));
      case "bool_or": return vs.some(Boolean);
      case "bool_and": return vs.every(Boolean);
      default: return vs;
    }
  }

  column(e, env) {
    for (let at = env; at; at = at.parent) {
      for (const s of at.sources) if ((!e.table || e.table === s.alias) && s.row && Object.hasOwn(s.row, e.name)) return s.row[e.name];
    }
    throw new Error(`column "${e.table ? e.table + "." : ""}${e.name}" does not exist`);
  }

  eval(e, env) {
    switch (e.k) {
      case "lit": return e.v;
      case "par": if (e.n > this.values.length) throw new Error(`there is no parameter $${e.n}`); return this.values[e.n - 1] ?? null;
      case "col": return this.column(e, env) ?? null;
      case "and": { const a = this.eval(e.a, env); if (a === false) return false; const b = this.eval(e.b, env); return b === false ? false : a === null || b === null ? null : true; }
      case "or": { const a = this.eval(e.a, env); if (a === true) return true; const b = this.eval(e.b, env); return b === true ? true : a === null || b === null ? null : false; }
      case "not": { const a = this.eval(e.a, env); return a === null ? null : !a; }
      case "cmp": return compare(e.op, this.eval(e.a, env), this.eval(e.b, env));
      case "is": { const a = this.eval(e.a, env); return e.v === null ? a === null : a === e.v; }
      case "distinct": { const [a, b] = [this.eval(e.a, env), this.eval(e.b, env)]; return a === null || b === null ? a !== b : order(a, b) !== 0; }
      case "in": return this.among(this.eval(e.a, env), e.list.map((x) => this.eval(x, env)));
      case "inq": { const q = this.run(e.q, env); return this.among(this.eval(e.a, env), q.rows.map((r) => r[q.cols[0]])); }
      case "any": { const b = this.eval(e.b, env); if (b === null) return null; return orAll(this.elements(b).map((x) => compare(e.op, this.eval(e.a, env), x))); }
      case "all": { const b = this.eval(e.b, env); return b === null ? null : !this.elements(b).some((x) => compare(e.op, this.eval(e.a, env), x) !== true); }
      case "array": { const q = this.run(e.q, env); return q.rows.map((r) => r[q.cols[0]]); }
      case "between": { const a = this.eval(e.a, env); return this.eval({ k: "and", a: { k: "lit", v: compare(">=", a, this.eval(e.low, env)) }, b: { k: "lit", v: compare("<=", a, this.eval(e.high, env)) } }, env); }
      case "like": case "ilike": return like(this.eval(e.a, env), this.eval(e.b, env), e.esc && this.eval(e.esc, env), e.k === "ilike");
      case "concat": { const [a, b] = [this.eval(e.a, env), this.eval(e.b, env)]; return a === null || b === null ? null : Array.isArray(a) ? a.concat(b) : a !== null && typeof a === "object" ? { ...a, ...b } : text(a) + text(b); }
      case "arith": return arith(e.op, this.eval(e.a, env), this.eval(e.b, env));
      case "cast": return cast(this.eval(e.e, env), e.type);
      case "json": { const a = this.eval(e.a, env); const v = a?.[this.eval(e.b, env)] ?? null; return e.text && v !== null ? text(v) : v; }
      case "exists": return this.run(e.q, env).rows.length > 0;
      case "sub": { const q = this.run(e.q, env); if (q.rows.length > 1) throw new Error("more than one row returned by a subquery used as an expression"); return q.rows.length ? q.rows[0][q.cols[0]] : null; }
      case "case": for (const arm of e.arms) if (e.on ? compare("=", this.eval(e.on, env), this.eval(arm.when, env)) === true : this.eval(arm.when, env) === true) return this.eval(arm.then, env); return this.eval(e.otherwise, env);
      case "fn": return this.call(e, env);
    }
    throw new Error(`cannot run ${e.k}`);
  }

  elements(b) { if (!Array.isArray(b)) throw new Error(`malformed array literal: "${text(b)}"`); return b; }

  among(a, list) {
    if (a === null) return list.length ? null : false;
    return orAll(list.map((x) => compare("=", a, x)));
  }

  call(e, env) {
    if (e.over) return env.win.get(e);
    if (AGGREGATES.has(e.name)) {
      let at = env;
      while (at && !at.group) at = at.parent;
      if (!at) throw new Error("aggregate functions are not allowed here");
      return this.aggregate(e, at.group);
    }
    if (e.name === "now") return this.now;
    const args = e.args.map((x) => this.eval(x, env));
    if (e.name === "coalesce") return args.find((v) => v !== null && v !== undefined) ?? null;
    if (e.name === "greatest" || e.name === "least") {
      const vs = args.filter((v) => v !== null && v !== undefined);
      return vs.length ? vs.reduce((a, b) => ((order(a, b) >= 0) === (e.name === "greatest") ? a : b)) : null;
    }
    if (e.name === "nullif") return compare("=", args[0], args[1]) === true ? null : args[0];
    const f = FUNCTIONS[e.name];
    if (!f) throw new Error(`function ${e.name} does not exist`);
    return args.some((v) => v === null || v === undefined) ? null : f(...args);
  }

  store(table, col, v) {
    const type = this.schema[table].columns[col];
    if (type === undefined) throw new Error(`column "${col}" of relation "${table}" does not exist`);
    if (v === null || v === undefined) return null;
    if (type === "int") return cast(v, "bigint");
    if (type === "json") return structuredClone(cast(v, "jsonb"));
    if (type === "array") return structuredClone(v);
    return text(v);
  }

  returned(st, rows, alias, others) {
    if (!st.returning) return { cols: [], rows: [], rowCount: rows.length };
    const out = rows.map((row, i) => this.project(st.returning, { parent: null, sources: [{ alias, row }, ...(others?.[i] ?? [])] }, []));
    return { cols: out.length ? Object.keys(out[0]) : [], rows: out, rowCount: rows.length };
  }

  insert(st) {
    const def = this.schema[st.table];
    if (!def) throw new Error(`relation "${st.table}" does not exist`);
    const rows = this.tables[st.table], done = [];
    const cols = st.cols ?? Object.keys(def.columns);
    const q = st.query && this.query(st.query, null);
    const tuples = q ? q.rows.map((r) => q.cols.map((c) => r[c])) : st.values.map((t) => t.map((e) => (e.k === "default" ? undefined : this.eval(e, { parent: null, sources: [] }))));
    for (const t of tuples) {
      if (t.length !== cols.length) throw new Error("INSERT has a wrong number of expressions");
      const row = Object.fromEntries(Object.keys(def.columns).map((c) => [c, def.defaults?.[c] ?? null]));
      cols.forEach((c, i) => { if (t[i] !== undefined) row[c] = this.store(st.table, c, t[i]); });
      if (row.id === null) row.id = Math.max(0, ...rows.map((r) => r.id)) + 1;
      for (const c of cols) if (typeof row[c] === "function") row[c] = null;
      for (const c of Object.keys(row)) if (typeof row[c] === "function") row[c] = row[c](row);
      const clash = [["id"], ...(def.unique ?? [])].map((u) => rows.find((r) => u.every((c) => r[c] !== null && r[c] === row[c]))).find(Boolean);
      if (!clash) { rows.push(row); done.push(row); continue; }
      if (!st.conflict) throw new Error("duplicate key value violates unique constraint");
      const env = { parent: null, sources: [{ alias: st.table, row: clash }, { alias: "excluded", row }] };
      if (!st.conflict.set || st.conflict.where && this.eval(st.conflict.where, env) !== true) continue;
      Object.assign(clash, Object.fromEntries(st.conflict.set.map((s) => [s.col, this.store(st.table, s.col, this.eval(s.e, env))])));
      done.push(clash);
    }
    return this.returned(st, done, st.table);
  }

  targets(st) {
    const hits = new Map();
    for (const e of this.join([{ table: st.table, alias: st.alias, join: "cross" }, ...st.from], null, st.where)) {
      if (!hits.has(e.sources[0].row) && (!st.where || this.eval(st.where, e) === true)) hits.set(e.sources[0].row, e);
    }
    return hits;
  }

  update(st) {
    const hits = this.targets(st);
    const news = [...hits].map(([row, e]) => [row, st.set.map((s) => [s.col, this.store(st.table, s.col, this.eval(s.e, e))])]);
    for (const [row, values] of news) for (const [c, v] of values) row[c] = v;
    return this.returned(st, [...hits.keys()], st.alias, [...hits.values()].map((e) => e.sources.slice(1)));
  }

  remove(st) {
    const hits = this.targets(st);
    this.tables[st.table] = this.tables[st.table].filter((r) => !hits.has(r));
    return this.returned(st, [...hits.keys()], st.alias);
  }
}

function orAll(list) { return list.includes(true) ? true : list.includes(null) ? null : false; }

function distinct(rows) { return [...new Map(rows.map((r) => [JSON.stringify(r.out), r])).values()]; }

function walk(e, f) {
  if (!e || typeof e !== "object") return;
  if (Array.isArray(e)) { e.forEach((x) => walk(x, f)); return; }
  if (e.kind || f(e) === false) return; // a query inside has its own groups
  for (const v of Object.values(e)) walk(v, f);
}

function aggregates(e) {
  let found = false;
  walk(e, (x) => { if (x.k === "fn" && AGGREGATES.has(x.name) && !x.over) found = true; return !(x.k === "fn" && x.over); });
  return found;
}

function windowsOf(st) {
  const out = [];
  walk([st.items.map((i) => i.e), (st.order ?? []).map((o) => o.e)], (x) => { if (x.k === "fn" && x.over) out.push(x); });
  return out;
}

const WRITES = /\b(insert|update|delete)\b/i;

// Database holds the committed tables and the lock of the one writer.
export class Database {
  constructor(schema, tables, now) {
    Object.assign(this, { schema, tables, now, texts: [], queue: [], held: false, onWait: () => {} });
  }

  async lock() {
    if (this.held) { this.onWait(); await new Promise((go) => this.queue.push(go)); }
    this.held = true;
  }

  unlock() { const next = this.queue.shift(); if (next) next(); else this.held = false; }

  exec(tables, sql, values) {
    if (typeof sql !== "string") throw new Error("a query must be a text");
    this.texts.push(sql);
    const list = parse(sql);
    if (values.length && list.length > 1) throw new Error("cannot insert multiple commands into a prepared statement");
    let last = { cols: [], rows: [] };
    for (const st of list) last = new Evaluator(tables, this.schema, values, this.now).run(st);
    return { rows: structuredClone(last.rows), rowCount: last.rowCount ?? last.rows.length };
  }

  // client gives what one request holds of the database; step is awaited after each statement.
  client(step = async () => {}) {
    const query = async (sql, values = []) => {
      const writes = WRITES.test(String(sql));
      if (writes) await this.lock();
      let out;
      try {
        if (writes) { const copy = structuredClone(this.tables); out = this.exec(copy, sql, values); this.tables = copy; } else out = this.exec(this.tables, sql, values);
      } finally { if (writes) this.unlock(); }
      await step();
      return out;
    };
    const transaction = async (work) => {
      await this.lock();
      try {
        const copy = structuredClone(this.tables);
        const out = await work({ query: async (sql, values = []) => { const r = this.exec(copy, sql, values); await step(); return r; } });
        this.tables = copy;
        return out;
      } finally { this.unlock(); }
    };
    return { query, transaction };
  }
}
