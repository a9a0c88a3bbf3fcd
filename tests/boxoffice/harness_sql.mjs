// Reads SQL: the part of PostgreSQL's language that the cases use. A text
// becomes a tree; harness_db.mjs runs it.

const OPS = ["->>", "::", "||", "<>", "!=", "<=", ">=", "->", "=", "<", ">", "+", "-", "*", "/", "%", "(", ")", ",", ".", ";", "[", "]"];
const STOP = new Set(("where group order having limit offset union on join left inner cross for returning set from as and or not in is like ilike between " +
  "then when else end case using values do conflict asc desc nulls fetch with select filter over").split(" "));

function lex(text) {
  const out = [];
  for (let i = 0; i < text.length;) {
    const rest = text.slice(i);
    let m;
    if ((m = /^(\s+|--[^\n]*|\/\*[\s\S]*?\*\/)/.exec(rest))) i += m[0].length;
    else if ((m = /^'((?:[^']|'')*)'/.exec(rest))) { out.push({ t: "str", v: m[1].replaceAll("''", "'") }); i += m[0].length; }
    else if ((m = /^"([^"]+)"/.exec(rest))) { out.push({ t: "id", v: m[1] }); i += m[0].length; }
    else if ((m = /^\$(\d+)/.exec(rest))) { out.push({ t: "par", v: Number(m[1]) }); i += m[0].length; }
    else if ((m = /^\d+(\.\d+)?/.exec(rest))) { out.push({ t: "num", v: Number(m[0]) }); i += m[0].length; }
    else if ((m = /^[a-z_][a-z0-9_]*/i.exec(rest))) { out.push({ t: "id", v: m[0].toLowerCase(), word: true }); i += m[0].length; }
    else {
      const op = OPS.find((o) => rest.startsWith(o));
      if (!op) throw new Error(`syntax error at or near "${rest.slice(0, 12)}"`);
      out.push({ t: "op", v: op });
      i += op.length;
    }
  }
  return out;
}

class Parser {
  constructor(text) { this.ts = lex(text); this.i = 0; }

  fail() { throw new Error(`syntax error at or near "${this.ts[this.i]?.v ?? "end of input"}"`); }
  word(...ws) { return ws.every((w, n) => this.ts[this.i + n]?.word && this.ts[this.i + n].v === w); }
  eat(...ws) { const ok = this.word(...ws); if (ok) this.i += ws.length; return ok; }
  want(...ws) { if (!this.eat(...ws)) this.fail(); }
  op(v) { return this.ts[this.i]?.t === "op" && this.ts[this.i].v === v; }
  eatOp(v) { const ok = this.op(v); if (ok) this.i++; return ok; }
  wantOp(v) { if (!this.eatOp(v)) this.fail(); }
  name() { const t = this.ts[this.i]; if (t?.t !== "id") this.fail(); this.i++; return t.v; }
  list(f) { const out = [f()]; while (this.eatOp(",")) out.push(f()); return out; }
  paren(f) { this.wantOp("("); const v = f(); this.wantOp(")"); return v; }

  statements() {
    const out = [];
    while (this.i < this.ts.length) {
      if (this.eatOp(";")) continue;
      out.push(this.statement());
      if (this.i < this.ts.length && !this.op(";")) this.fail();
    }
    return out;
  }

  statement() {
    const ctes = [];
    if (this.eat("with")) {
      this.eat("recursive");
      this.list(() => {
        const name = this.name();
        this.want("as");
        ctes.push({ name, body: this.paren(() => this.statement()) });
      });
    }
    const st = this.word("insert") ? this.insert() : this.word("update") ? this.update() : this.word("delete") ? this.remove() : this.select();
    st.ctes = ctes;
    return st;
  }

  select() {
    let st = this.core();
    while (this.eat("union")) {
      const all = this.eat("all");
      st = { kind: "union", all, left: st, right: this.core() };
    }
    if (this.eat("order", "by")) st.order = this.orderList();
    for (;;) {
      if (this.eat("limit")) st.limit = this.eat("all") ? null : this.expr();
      else if (this.eat("offset")) { st.offset = this.expr(); this.eat("rows"); }
      else if (this.eat("for")) { this.eat("no"); this.eat("key"); this.name(); if (this.eat("of")) this.list(() => this.name()); if (this.eat("skip")) this.want("locked"); else this.eat("nowait"); }
      else return st;
    }
  }

  orderList() {
    return this.list(() => {
      const e = this.expr();
      const desc = this.eat("desc") || (this.eat("asc"), false);
      let first = desc;
      if (this.eat("nulls")) first = this.eat("first") || (this.want("last"), false);
      return { e, desc, first };
    });
  }

  core() {
    if (this.op("(")) return this.paren(() => this.select());
    this.want("select");
    const st = { kind: "select", distinct: this.eat("distinct"), from: [], items: this.items() };
    if (this.eat("from")) st.from = this.from();
    if (this.eat("where")) st.where = this.expr();
    if (this.eat("group", "by")) st.group = this.list(() => this.expr());
    if (this.eat("having")) st.having = this.expr();
    return st;
  }

  items() {
    let unnamed = 0;
    return this.list(() => {
      if (this.eatOp("*")) return { star: true };
      if (this.ts[this.i + 1]?.v === "." && this.ts[this.i + 2]?.v === "*") { const star = this.name(); this.i += 2; return { star }; }
      const e = this.expr();
      let as = this.eat("as") ? this.name() : null;
      if (!as && this.ts[this.i]?.t === "id" && !STOP.has(this.ts[this.i].v)) as = this.name();
      return { e, as: as ?? (e.k === "col" ? e.name : e.k === "cast" && e.e.k === "col" ? e.e.name : e.k === "fn" ? e.name : `?column?${unnamed++ || ""}`) };
    });
  }

  source() {
    let src;
    if (this.op("(")) src = { query: this.paren(() => this.statement()) };
    else src = { table: this.name() };
    this.eat("as");
    src.alias = this.ts[this.i]?.t === "id" && !STOP.has(this.ts[this.i].v) ? this.name() : src.table;
    return src;
  }

  from() {
    const out = [{ ...this.source(), join: "cross" }];
    for (;;) {
      if (this.eatOp(",") || this.eat("cross", "join")) { this.eat("lateral"); out.push({ ...this.source(), join: "cross" }); continue; }
      const left = this.eat("left");
      if (left) this.eat("outer"); else this.eat("inner");
      if (!this.eat("join")) return out;
      this.eat("lateral");
      const src = { ...this.source(), join: left ? "left" : "inner" };
      this.want("on");
      src.on = this.expr();
      out.push(src);
    }
  }

  insert() {
    this.want("insert", "into");
    const st = { kind: "insert", table: this.name() };
    st.cols = this.op("(") ? this.paren(() => this.list(() => this.name())) : null;
    if (this.eat("values")) st.values = this.list(() => this.paren(() => this.list(() => (this.eat("default") ? { k: "default" } : this.expr()))));
    else st.query = this.select();
    if (this.eat("on", "conflict")) {
      st.conflict = { cols: this.op("(") ? this.paren(() => this.list(() => this.name())) : null };
      this.want("do");
      if (!this.eat("nothing")) { this.want("update", "set"); st.conflict.set = this.sets(); if (this.eat("where")) st.conflict.where = this.expr(); }
    }
    if (this.eat("returning")) st.returning = this.items();
    return st;
  }

  sets() { return this.list(() => { const col = this.name(); this.wantOp("="); return { col, e: this.expr() }; }); }

  update() {
    this.want("update");
    const st = { kind: "update", table: this.name() };
    this.eat("as");
    st.alias = this.word("set") ? st.table : this.name();
    this.want("set");
    st.set = this.sets();
    st.from = this.eat("from") ? this.from() : [];
    if (this.eat("where")) st.where = this.expr();
    if (this.eat("returning")) st.returning = this.items();
    return st;
  }

  remove() {
    this.want("delete", "from");
    const st = { kind: "delete", table: this.name(), from: [] };
    this.eat("as");
    st.alias = this.ts[this.i]?.t === "id" && !STOP.has(this.ts[this.i].v) ? this.name() : st.table;
    if (this.eat("using")) st.from = this.from();
    if (this.eat("where")) st.where = this.expr();
    if (this.eat("returning")) st.returning = this.items();
    return st;
  }

  expr() {
    let a = this.conj();
    while (this.eat("or")) a = { k: "or", a, b: this.conj() };
    return a;
  }

  conj() {
    let a = this.negated();
    while (this.eat("and")) a = { k: "and", a, b: this.negated() };
    return a;
  }

  negated() { return this.eat("not") ? { k: "not", a: this.negated() } : this.compared(); }

  compared() {
    let a = this.concat();
    for (;;) {
      const op = ["=", "<>", "!=", "<", "<=", ">", ">="].find((o) => this.op(o));
      if (op) {
        this.i++;
        if (this.eat("any") || this.eat("some")) a = { k: "any", op, a, b: this.paren(() => (this.word("select") ? { k: "array", q: this.statement() } : this.expr())) };
        else if (this.eat("all")) a = { k: "all", op, a, b: this.paren(() => this.expr()) };
        else a = { k: "cmp", op: op === "!=" ? "<>" : op, a, b: this.concat() };
        continue;
      }
      if (this.eat("is")) {
        const not = this.eat("not");
        let e;
        if (this.eat("distinct", "from")) e = { k: "distinct", a, b: this.concat() };
        else { const v = this.name(); e = { k: "is", a, v: v === "null" ? null : v === "true" }; }
        a = not ? { k: "not", a: e } : e;
        continue;
      }
      const start = this.i, not = this.eat("not");
      if (this.eat("in")) {
        this.wantOp("(");
        const e = this.word("select") || this.word("with") ? { k: "inq", a, q: this.statement() } : { k: "in", a, list: this.list(() => this.expr()) };
        this.wantOp(")");
        a = not ? { k: "not", a: e } : e;
        continue;
      }
      const like = this.eat("like") ? "like" : this.eat("ilike") ? "ilike" : null;
      if (like) {
        const e = { k: like, a, b: this.concat(), esc: this.eat("escape") ? this.concat() : null };
        a = not ? { k: "not", a: e } : e;
        continue;
      }
      if (this.eat("between")) {
        const low = this.concat();
        this.want("and");
        const e = { k: "between", a, low, high: this.concat() };
        a = not ? { k: "not", a: e } : e;
        continue;
      }
      this.i = start;
      return a;
    }
  }

  concat() {
    let a = this.sum();
    while (this.eatOp("||")) a = { k: "concat", a, b: this.sum() };
    return a;
  }

  sum() {
    let a = this.product();
    for (;;) {
      const op = ["+", "-"].find((o) => this.op(o));
      if (!op) return a;
      this.i++;
      a = { k: "arith", op, a, b: this.product() };
    }
  }

  product() {
    let a = this.unary();
    for (;;) {
      const op = ["*", "/", "%"].find((o) => this.op(o));
      if (!op) return a;
      this.i++;
      a = { k: "arith", op, a, b: this.unary() };
    }
  }

  unary() {
    if (this.eatOp("-")) return { k: "arith", op: "-", a: { k: "lit", v: 0 }, b: this.unary() };
    let e = this.primary();
    for (;;) {
      if (this.eatOp("::")) e = { k: "cast", e, type: this.type() };
      else if (this.eatOp("->>")) e = { k: "json", text: true, a: e, b: this.primary() };
      else if (this.eatOp("->")) e = { k: "json", text: false, a: e, b: this.primary() };
      else return e;
    }
  }

  type() {
    let v = this.name();
    if (this.eatOp("(")) { this.list(() => this.expr()); this.wantOp(")"); }
    if (this.eatOp("[")) { this.wantOp("]"); v += "[]"; }
    return v;
  }

  primary() {
    const t = this.ts[this.i];
    if (!t) this.fail();
    if (t.t === "str" || t.t === "num") { this.i++; return { k: "lit", v: t.v }; }
    if (t.t === "par") { this.i++; return { k: "par", n: t.v }; }
    if (this.op("(")) return this.paren(() => (this.word("select") || this.word("with") ? { k: "sub", q: this.statement() } : this.expr()));
    if (this.eat("null")) return { k: "lit", v: null };
    if (this.eat("true")) return { k: "lit", v: true };
    if (this.eat("false")) return { k: "lit", v: false };
    if (this.eat("exists")) return { k: "exists", q: this.paren(() => this.statement()) };
    if (this.eat("interval")) { const s = this.ts[this.i++]; if (s?.t !== "str") this.fail(); return { k: "lit", v: interval(s.v) }; }
    if (this.eat("case")) return this.caseOf();
    if (this.eat("cast")) return this.paren(() => { const e = this.expr(); this.want("as"); return { k: "cast", e, type: this.type() }; });
    if (t.t !== "id" || STOP.has(t.v) && t.word && t.v !== "left") this.fail();
    const name = this.name();
    if (this.eatOp("(")) return this.call(name);
    if (this.eatOp(".")) return { k: "col", table: name, name: this.name() };
    return { k: "col", name };
  }

  caseOf() {
    const e = { k: "case", on: this.word("when") ? null : this.expr(), arms: [], otherwise: { k: "lit", v: null } };
    while (this.eat("when")) { const when = this.expr(); this.want("then"); e.arms.push({ when, then: this.expr() }); }
    if (this.eat("else")) e.otherwise = this.expr();
    this.want("end");
    return e;
  }

  call(name) {
    const e = { k: "fn", name, args: [], distinct: false };
    if (this.eatOp("*")) e.star = true;
    else if (!this.op(")")) {
      e.distinct = this.eat("distinct");
      e.args = this.list(() => this.expr());
      if (this.eat("order", "by")) e.order = this.orderList();
    }
    this.wantOp(")");
    if (this.eat("filter")) e.filter = this.paren(() => { this.want("where"); return this.expr(); });
    if (this.eat("over")) e.over = this.paren(() => ({ part: this.eat("partition", "by") ? this.list(() => this.expr()) : [], order: this.eat("order", "by") ? this.orderList() : [] }));
    return e;
  }
}

const UNITS = { second: 1e3, minute: 6e4, hour: 36e5, day: 864e5, week: 6048e5 };

export function interval(text) {
  let ms = 0;
  for (const [, n, unit] of String(text).matchAll(/(-?\d+)\s*([a-z]+?)s?\b/g)) {
    if (!UNITS[unit]) throw new Error(`invalid input syntax for type interval: "${text}"`);
    ms += Number(n) * UNITS[unit];
  }
  return { ms };
}

// parse gives the statements of a text.
export function parse(text) { return new Parser(text).statements(); }
