"use strict";
// Tables, tabs and links of a page. What others wrote becomes text nodes only.
const fold = (s) => s.toLowerCase();
const make = (tag, props, ...kids) => {
  const el = Object.assign(document.createElement(tag), props || {});
  el.append(...kids);
  return el;
};
const tagged = (el, attributes) => {
  for (const [k, v] of Object.entries(attributes)) el.setAttribute(k, v);
  return el;
};
const dataOf = (root, id) => {
  const block = root.querySelector('script[type="application/json"][data-of="' + id + '"]');
  return block ? JSON.parse(block.textContent) : null;
};
// Behind a page's # is an anchor with the state of what it names: #findings?q=sql&outcome=matched&sort=-severity
const asked = (hash) => {
  const [raw, query] = hash.replace(/^#/, "").split(/\?(.*)/s);
  let id = raw;
  try { id = decodeURIComponent(raw); } catch { /* as it is */ }
  return { id, picks: new URLSearchParams(query || (raw.startsWith("q=") ? raw : "")) };
};
// The address always holds the state that is shown, so that it can be sent to somebody.
let part = ""; // of a single file: the page that is shown
let up = ""; // from the page to the root of the report
const put = (id, params) => {
  const query = params ? params.toString() : "";
  const hash = id ? "#" + encodeURIComponent(id) + (query ? "?" + query : "") : "";
  history.replaceState(null, "", part ? "#!" + part + hash : hash || location.pathname + location.search);
};
// On a phone a row of up to so many columns is a card; wider tables scroll.
const cardMost = 16;

// Source with its lines' numbers and marks, as Go wrote it: a sign, the number, the line.
const sourceOf = (text) => {
  const pre = make("pre", { className: "source", tabIndex: 0 });
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const kind = { ">": "finding", "*": "entry", "#": "finding entry" }[line[0]];
    pre.append(make("span", { className: kind || "" }, line.slice(1) + "\n"));
  }
  return pre;
};
const linkTo = (href, ...kids) => make("a", href.startsWith("https://") ? { href, rel: "noreferrer" } : { href }, ...kids);
const badgeOf = (grid, text) => make("span", { className: (grid.badges || {})[text] || "b" }, text);
const shareOf = (text) => {
  const m = /^(\d+)\/(\d+)/.exec(text);
  return m && m[2] !== "0" ? m[1] / m[2] : NaN;
};
// The choice to which a count of trials belongs.
const foundOf = (text) => { const v = shareOf(text); return Number.isNaN(v) ? "" : v === 0 ? "missed" : v < 1 ? "found in some" : "found in all"; };
const heatOf = (v) => (Number.isNaN(v) ? "" : v <= 0 ? "h0" : v < 0.4 ? "h1" : v < 0.7 ? "h2" : v < 1 ? "h3" : "h4");

const dotOf = (name) => make("i", { className: "dot " + name });
const headOf = (c) => {
  const th = tagged(make("th", { className: /num|share/.test(c.kind) ? "num" : "" }, ...(c.class ? [dotOf(c.class)] : []), c.name), { scope: "col" });
  if (c.term) tagged(th, { "data-term": c.term, title: c.means });
  return th;
};

// A grid's rows are made when they are shown: a page holds thousands as data.
const gridRows = (root, table) => {
  const grid = dataOf(root, table.id);
  if (!grid) return null;
  const cols = grid.columns;
  const named = (n) => cols.findIndex((c) => c.name === n);
  for (const c of cols) for (const k of ["link", "note", "by"]) if (c[k] !== undefined) c[k] = named(c[k]);
  const text = (row, i) => (cols[i].kind === "num" ? (row[i] === null ? "" : String(row[i])) : grid.texts[row[i]] || "");
  // A column that nobody filled is not shown.
  const empty = (c, i) => i > 0 && !c.opens && grid.rows.length > 0 && grid.rows.every((r) => text(r, i) === "" && (c.note === undefined || text(r, c.note) === ""));
  const shown = cols.flatMap((c, i) => (c.hidden || c.kind === "words" || c.kind === "source" || empty(c, i) ? [] : [i]));
  if (shown.length > 3 && shown.length <= cardMost) table.classList.add("stack");
  if (cols.filter((c) => c.class && c.kind === "share").length > 4) table.classList.add("narrow");
  const open = cols.flatMap((c, i) => (c.kind === "words" || c.kind === "source" ? [i] : []));
  table.tHead.append(make("tr", {}, ...shown.map((i) => headOf(cols[i]))));
  const cell = (row, i) => {
    const c = cols[i], t = text(row, i);
    const td = i === shown[0] ? tagged(make("th"), { scope: "row" }) : make("td");
    td.className = { num: "num", share: "num " + heatOf(shareOf(t)), text: "text", code: "text", badge: "" }[c.kind] || "nw";
    let what = c.kind === "badge" && t ? badgeOf(grid, t) : c.kind === "code" ? make("code", {}, ...t.split(/(?<=\/)/).flatMap((part) => [part.length < 40 ? make("span", { className: "nw" }, part) : part, make("wbr")])) : document.createTextNode(t);
    const href = c.link === undefined ? "" : text(row, c.link);
    td.append(href ? linkTo(href, what) : what);
    if (c.name && i !== shown[0]) td.dataset.label = c.name;
    const note = c.note === undefined ? "" : text(row, c.note);
    if (note) td.append(make("small", {}, note));
    return td;
  };
  const rows = grid.rows.map((row) => ({
    row,
    id: grid.id ? text(row, named(grid.id)) : "",
    folded: "",
    tr: null,
    search() { return (this.folded ||= fold(cols.map((c, i) => (c.kind === "source" ? "" : text(row, i))).join(" "))); },
    pick: (k) => { const i = cols.findIndex((c) => c.name === k); return i < 0 ? [] : (cols[i].kind === "share" ? [foundOf(text(row, i))] : text(row, i).split("|")); },
    key: (i) => { const t = text(row, shown[i]); const c = cols[shown[i]]; const by = c.by === undefined ? null : row[c.by]; return c.kind === "share" ? (Number.isNaN(shareOf(t)) ? "" : shareOf(t)) : c.kind === "num" ? (row[shown[i]] === null ? "" : row[shown[i]]) : by === null ? t : by; },
    values: () => cols.map((c, i) => (c.kind === "source" ? "" : text(row, i))),
    element() {
      if (this.tr) return this.tr;
      const tr = make("tr", this.id ? { id: this.id } : {}, ...shown.map((i) => cell(row, i)));
      const more = open.filter((i) => text(row, i));
      if (more.length) {
        const td = tr.cells[shown.findIndex((i) => cols[i].opens)], note = td.querySelector("small");
        const details = make("details", {}, make("summary", {}, ...Array.from(td.childNodes).filter((n) => n !== note)));
        details.addEventListener("toggle", () => {
          if (details.childElementCount > 1) return;
          for (const i of more) details.append(cols[i].kind === "source" ? sourceOf(text(row, i)) : make("div", { className: "words" }, text(row, i)));
        });
        td.prepend(details);
      }
      return (this.tr = tr);
    },
  }));
  const choices = cols.filter((c) => c.pick).flatMap((c) => {
    const all = new Set(rows.flatMap((r) => r.pick(c.name)));
    if (all.size < 2) return []; // all rows are alike
    all.delete("");
    return [[c.name, c.order ? c.order.filter((o) => all.has(o)) : Array.from(all).sort()]];
  });
  return { rows, choices, names: cols.map((c) => c.name), grid };
};

// A table that stands in the page already, row by row.
const writtenRows = (table) => {
  const names = Array.from(table.tHead.rows[0].cells, (c) => c.firstChild ? c.firstChild.textContent.trim() : "");
  if (names.length > 3 && names.length <= cardMost) table.classList.add("stack");
  for (const tr of table.tBodies[0].rows) for (const [i, c] of Array.from(tr.cells).entries()) if (i > 0) c.dataset.label = names[i];
  const rows = Array.from(table.tBodies[0].rows, (tr) => ({
    id: tr.id,
    search: () => fold(tr.textContent),
    pick: (k) => (tr.dataset[k] || "").split("|"),
    key: (i) => { const c = tr.cells[i]; const t = c ? (c.dataset.sort || c.textContent).trim() : ""; const n = parseFloat(t); return Number.isNaN(n) ? t : n; },
    values: () => Array.from(tr.cells, (c) => c.innerText.trim().replace(/\s*\n\s*/g, " ")),
    element: () => tr,
  }));
  return { rows, choices: [], names };
};

const before = (a, b) => {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "number") return -1;
  if (typeof b === "number") return 1;
  if (a === "" || b === "") return a === b ? 0 : a === "" ? 1 : -1;
  return a.localeCompare(b, "en", { numeric: true });
};

const save = (name, type, text) => {
  const url = URL.createObjectURL(new Blob([text], { type }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
};
// No spreadsheet takes what somebody wrote for a formula.
const csvOf = (names, rows) => [names, ...rows].map((r) => r.map((v) => '"' + (/^[=+\-@\t\r]/.test(v) && Number.isNaN(Number(v)) ? "'" + v : v).replaceAll('"', '""') + '"').join(",")).join("\r\n") + "\r\n";
const jsonOf = (names, rows) => JSON.stringify(rows.map((r) => Object.fromEntries(r.map((v, i) => [names[i], v]))), null, 1) + "\n";
const levels = { CRITICAL: "error", HIGH: "error", MEDIUM: "warning" };
const sarifOf = (model, rows) => {
  const at = (n) => model.names.indexOf(n);
  const results = rows.map((v) => {
    const [, file, from, to] = /^(.*?)(?::(\d+)(?:-(\d+))?)?$/s.exec(v[at("place")]);
    const region = from ? { region: { startLine: +from, endLine: +(to || from) } } : {};
    return {
      ruleId: (v[at("CWE")] || "none").split(", ")[0], level: levels[v[at("severity")]] || "note",
      message: { text: v[at("finding")] || v[at("what")] || v[at("ID")] },
      locations: file ? [{ physicalLocation: { artifactLocation: { uri: encodeURI(file) }, ...region } }] : [],
      properties: Object.fromEntries(model.names.map((n, i) => [n, v[i]])),
    };
  });
  const rules = Array.from(new Set(results.map((r) => r.ruleId)), (id) => ({ id }));
  return JSON.stringify({ $schema: "https://json.schemastore.org/sarif-2.1.0.json", version: "2.1.0", runs: [{ tool: { driver: { name: "assay report", rules } }, results }] }, null, 1) + "\n";
};

// A table gets a filter, choices, an order, pages and downloads.
const tabulate = (root, table, hash) => {
  const model = gridRows(root, table) || writtenRows(table);
  const body = table.tBodies[0], frame = table.parentElement;
  const long = model.rows.length > 12 || model.grid;
  const perPage = innerWidth >= 640 ? 25 : table.tHead.rows[0].cells.length > 6 ? 5 : 10;
  let sorted = model.rows, shown = model.rows, page = 0, extra = () => true, order = "", more = () => [];
  const form = make("form", { className: "filter" });
  form.dataset.table = table.id;
  const q = make("input", { type: "search", name: "q", autocomplete: "off", placeholder: "words" });
  if (long) form.append(make("label", {}, "Filter", q));
  for (const [name, options] of model.choices) {
    const select = make("select", { name }, make("option", { value: "" }, "any"), ...options.map((o) => make("option", {}, o)));
    form.append(make("label", {}, name, select));
  }
  const out = tagged(make("output"), { "aria-live": "polite" });
  const downloads = make("span", { className: "downloads" });
  const kinds = { CSV: ["text/csv", () => csvOf(model.names, shown.map((r) => r.values()))], JSON: ["application/json", () => jsonOf(model.names, shown.map((r) => r.values()))] };
  if (model.names.includes("place")) kinds.SARIF = ["application/sarif+json", () => sarifOf(model, shown.map((r) => r.values()))];
  for (const [kind, [type, text]] of Object.entries(kinds)) {
    const b = tagged(make("button", { type: "button" }, kind), { "aria-label": kind + " of " + (frame.getAttribute("aria-label") || table.id) });
    b.addEventListener("click", () => save(table.id + "." + fold(kind), type, text()));
    downloads.append(b);
  }
  const pager = tagged(make("nav", { className: "rows" }), { "aria-label": "Rows of " + (frame.getAttribute("aria-label") || table.id) });
  const back = make("button", { type: "button" }, "← back"), on = make("button", { type: "button" }, "more →"), where = make("span");
  pager.dataset.table = table.id;
  pager.append(back, where, on);
  const fields = () => Array.from(form.elements).filter((e) => e.name);
  const state = () => {
    const params = new URLSearchParams(fields().filter((e) => e.value).map((e) => [e.name, e.value]));
    for (const [k, v] of more()) params.set(k, v);
    if (order) params.set("sort", order);
    if (page > 0) params.set("page", page + 1);
    return params;
  };
  const keep = () => put(table.id, state());
  const show = () => {
    const last = Math.max(0, Math.ceil(shown.length / perPage) - 1);
    page = Math.max(0, Math.min(page, last));
    const from = page * perPage;
    body.replaceChildren(...shown.slice(from, from + perPage).map((r) => r.element()));
    for (const el of [back, where, on]) el.hidden = last === 0;
    where.textContent = from + 1 + " to " + Math.min(shown.length, from + perPage) + " of " + shown.length;
    back.disabled = page === 0;
    on.disabled = page === last;
    out.textContent = shown.length + " of " + model.rows.length;
  };
  const apply = (to = 0) => {
    const words = fold(q.value).split(/\s+/).filter(Boolean);
    const picks = fields().filter((e) => e.tagName === "SELECT" && e.value !== "").map((e) => [e.name, e.value]);
    shown = sorted.filter((r) => picks.every(([k, v]) => r.pick(k).includes(v)) && words.every((w) => r.search().includes(w)) && extra(r));
    page = to;
    show();
  };
  const turn = (by) => { page += by; show(); keep(); };
  back.addEventListener("click", () => turn(-1));
  on.addEventListener("click", () => turn(1));
  form.addEventListener("input", () => { apply(); keep(); });
  form.addEventListener("submit", (e) => e.preventDefault());
  if (long) {
    form.append(out);
    frame.before(form);
  }
  pager.append(downloads);
  frame.after(pager);
  const heads = Array.from(table.tHead.rows[0].cells);
  const names = heads.map((th) => Array.from(th.childNodes).filter((n) => n.nodeType === 3).map((n) => n.data).join("").trim());
  // A minus before the column's name means: the largest first.
  const sort = (by) => {
    const down = by.startsWith("-"), i = names.indexOf(by.replace(/^-/, ""));
    heads.forEach((h) => h.removeAttribute("aria-sort"));
    order = i < 0 ? "" : by;
    sorted = model.rows;
    if (i < 0) return;
    heads[i].setAttribute("aria-sort", down ? "descending" : "ascending");
    sorted = model.rows.map((r, at) => ({ r, at, key: r.key(i) }))
      .sort((a, b) => (a.key === "" || b.key === "" ? before(a.key, b.key) : down ? before(b.key, a.key) : before(a.key, b.key)) || a.at - b.at).map((k) => k.r);
  };
  heads.forEach((th, i) => {
    if (names[i] === "") return;
    const button = make("button", { type: "button" });
    const pictures = Array.from(th.querySelectorAll("svg"));
    button.append(...Array.from(th.childNodes).filter((n) => !pictures.includes(n)));
    th.prepend(button);
    if (th.dataset.term) button.after(tagged(make("a", { className: "what", href: up + "glossary.html#" + th.dataset.term, title: th.title }, "?"), { "aria-label": "what " + names[i] + " means" }));
    button.addEventListener("click", () => {
      sort(th.getAttribute("aria-sort") === "ascending" ? "-" + names[i] : names[i]);
      apply();
      keep();
    });
  });
  // The rows of a table whose cells open are links to themselves.
  body.addEventListener("click", (e) => {
    const tr = e.target.closest("summary") && e.target.closest("tr[id]");
    if (tr) put(tr.id);
  });
  // An address brings the state along, or names a row.
  const bring = (hash) => {
    const { id, picks } = asked(hash);
    const at = id && id !== table.id ? model.rows.findIndex((r) => r.id === id) : -1;
    if (at >= 0) {
      form.reset();
      shown = sorted;
      page = Math.floor(sorted.indexOf(model.rows[at]) / perPage);
      show();
      const tr = model.rows[at].element();
      for (const old of table.querySelectorAll("tr.here")) old.classList.remove("here");
      tr.classList.add("here");
      const details = tr.querySelector("details");
      if (details) details.open = true;
      tr.scrollIntoView({ block: "center" });
      return;
    }
    if (id === table.id || id.startsWith("q=")) {
      for (const e of fields()) e.value = picks.get(e.name) || "";
      sort(picks.get("sort") || "");
      return apply((+picks.get("page") || 1) - 1);
    }
    apply();
  };
  bring(hash);
  return { table, bring, model, state, limit(f, params) { extra = f; more = params; apply(page); }, keep };
};

// Sections of a page as tabs. Without the script they follow each other.
const tabs = (root) => {
  const all = [];
  for (const box of root.querySelectorAll(".tabs")) {
    const sections = Array.from(box.children).filter((s) => s.tagName === "SECTION");
    if (sections.length < 2) continue;
    const list = tagged(make("div", { className: "tablist" }), { role: "tablist", "aria-label": "Sections of this page" });
    let tables = [];
    const opened = (n) => {
      choose(n);
      const t = tables.find((t) => sections[n].contains(t.table) && t.state().size > 0);
      if (t) t.keep();
      else put(n === 0 ? "" : sections[n].id);
    };
    const buttons = sections.map((s, i) => {
      const head = s.querySelector("h2");
      const b = tagged(make("button", { type: "button", id: s.id + "-tab" }, ...Array.from(head.childNodes, (n) => n.cloneNode(true))), { role: "tab", "aria-controls": s.id });
      tagged(s, { role: "tabpanel", "aria-labelledby": b.id, tabindex: "-1" });
      head.classList.add("unseen");
      b.addEventListener("click", () => opened(i));
      b.addEventListener("keydown", (e) => {
        const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: -1 }[e.key];
        if (to === undefined) return;
        e.preventDefault();
        const n = (to + sections.length) % sections.length;
        opened(n);
        buttons[n].focus();
      });
      return b;
    });
    const choose = (n) => sections.forEach((s, i) => {
      s.hidden = i !== n;
      tagged(buttons[i], { "aria-selected": String(i === n), tabindex: i === n ? "0" : "-1" });
    });
    list.append(...buttons);
    box.prepend(list);
    all.push((hash, all) => {
      tables = all;
      const { id } = asked(hash);
      const at = !id ? -1 : sections.findIndex((s) => s.id === id || s.querySelector("#" + CSS.escape(id)) || tables.some((t) => s.contains(t.table) && t.model.rows.some((r) => r.id === id)));
      if (at >= 0) choose(at);
    });
    choose(0);
  }
  return (hash, tables) => all.forEach((f) => f(hash, tables));
};

// A link to what is shown, for somebody else.
const copyLink = (root) => {
  const h1 = root.querySelector("h1");
  if (!h1) return;
  const b = make("button", { type: "button", className: "copy" }, "copy link");
  b.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      b.textContent = "copied";
    } catch {
      const field = tagged(make("input", { className: "copy", value: location.href, readOnly: true }), { "aria-label": "link" });
      b.replaceWith(field);
      field.select();
      return;
    }
    setTimeout(() => { b.textContent = "copy link"; }, 2000);
  });
  h1.after(b);
};

// Each kind of page may add what it does: case.js does.
const parts = [];
let current = null;
const begin = (root, hash) => {
  copyLink(root);
  for (const s of root.querySelectorAll("select[data-go]")) s.addEventListener("change", () => follow(s.value));
  const open = tabs(root);
  const tables = Array.from(root.querySelectorAll("table[data-sortable]"), (t) => tabulate(root, t, hash));
  const more = parts.map((p) => p(root, hash, tables)).filter(Boolean);
  const reach = (hash) => {
    open(hash, tables);
    const { id } = asked(hash);
    const at = id && root.querySelector("#" + CSS.escape(id));
    if (!at) return;
    if (at.tagName === "DETAILS") at.open = true;
    if (/^(DETAILS|DT)$/.test(at.tagName)) at.scrollIntoView();
    else if (at.tagName === "TR") at.scrollIntoView({ block: "center" });
  };
  reach(hash);
  current = { go(hash) { reach(hash); tables.forEach((t) => { const { id } = asked(hash); if (!id || id === t.table.id || id.startsWith("q=") || t.model.rows.some((r) => r.id === id)) t.bring(hash); }); more.forEach((m) => m(hash)); } };
};

// The links of a single file lead from part to part.
const isSingle = () => document.querySelector("template[data-page]") !== null;
const follow = (href) => {
  if (!isSingle()) { location.href = href; return; }
  const to = new URL(href, "file:///" + part);
  location.hash = "!" + to.pathname.slice(1) + to.hash;
};

// One file holds all pages as templates: a link changes what is shown.
const single = () => {
  const main = document.getElementById("main");
  const shown = () => { const m = /^#!([^#]*)(#.*)?$/s.exec(location.hash); return m ? [m[1], m[2] || ""] : ["index.html", location.hash]; };
  const turn = () => {
    const [name, hash] = shown();
    const template = document.querySelector('template[data-page="' + CSS.escape(name) + '"]');
    if (!template) return;
    if (name === part) return current.go(hash);
    part = name;
    up = "../".repeat(name.split("/").length - 1);
    main.replaceChildren(template.content.cloneNode(true));
    for (const a of document.querySelectorAll("header nav a")) a.toggleAttribute("aria-current", a.getAttribute("href") === template.dataset.section);
    begin(main, hash);
    if (!hash) scrollTo(0, 0);
  };
  document.addEventListener("click", (e) => {
    const a = e.target.closest && e.target.closest("a[href]");
    const href = a ? a.getAttribute("href") : "";
    if (!a || a.download || /^[a-z]+:/i.test(href) || href === "#main" || href.startsWith("#!")) return;
    e.preventDefault();
    follow(a.closest("header") ? "/" + href : href);
  });
  addEventListener("hashchange", turn);
  turn();
};

document.addEventListener("keydown", (e) => {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName);
  if (e.key === "/" && !typing && !e.ctrlKey && !e.metaKey && !e.altKey) {
    const first = Array.from(document.querySelectorAll("form.filter input")).find((i) => i.offsetParent);
    if (first) {
      e.preventDefault();
      first.focus();
    }
  } else if (e.key === "Escape" && typing && e.target.form && e.target.form.classList.contains("filter")) {
    e.target.form.reset();
    e.target.form.dispatchEvent(new Event("input"));
  }
});
