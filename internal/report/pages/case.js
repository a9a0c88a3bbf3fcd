// A page of cases shows one at a time: requirements, code, what differs from the
// nearest good, and what each reviewer answered.
const keywords = new Set(("select from where and or not exists join left right inner outer lateral on as insert into values update set delete returning with case when then else end in is null order by group having limit offset union all distinct between like for " +
  "if return func type struct interface package import var const range switch default go defer map chan nil true false this class public private protected static final void new extends implements throw throws try catch finally while do break continue function let async await export def lambda yield pass raise except None True False self elif").split(" "));
const tokens = (code, language) => {
  const line = /sql/i.test(language) ? "--[^\\n]*" : /py|rb|sh|yaml|toml/i.test(language) ? "#[^\\n]*" : "\\/\\/[^\\n]*";
  const all = new RegExp("(" + line + "|\\/\\*[\\s\\S]*?\\*\\/)|('(?:''|\\\\.|[^'\\\\])*'|\"(?:\\\\.|[^\"\\\\])*\"|`[^`]*`)|(\\b\\d[\\w.]*\\b)|([A-Za-z_]\\w*)|([\\s\\S])", "g");
  const lines = [[]];
  for (const m of code.matchAll(all)) {
    const kind = m[1] !== undefined ? "c" : m[2] !== undefined ? "s" : m[3] !== undefined ? "m" : m[4] !== undefined && keywords.has(/sql/i.test(language) ? m[4].toLowerCase() : m[4]) ? "k" : "";
    m[0].split("\n").forEach((part, i) => {
      if (i > 0) lines.push([]);
      if (part) lines.at(-1).push([kind, part]);
    });
  }
  return lines;
};
// What two texts share, line by line (the longest common subsequence): [sign, line of a, line of b].
const differ = (a, b) => {
  const n = a.length, m = b.length, same = (i, k) => a[i].trim() === b[k].trim();
  const at = Array.from({ length: n + 1 }, () => new Uint16Array(m + 1));
  for (let i = n - 1; i >= 0; i--) for (let k = m - 1; k >= 0; k--) at[i][k] = same(i, k) ? at[i + 1][k + 1] + 1 : Math.max(at[i + 1][k], at[i][k + 1]);
  const out = [];
  let i = 0, k = 0;
  while (i < n || k < m) {
    if (i < n && k < m && same(i, k)) out.push([" ", i++, k++]);
    else if (i < n && (k === m || at[i + 1][k] >= at[i][k + 1])) out.push(["-", i++, -1]);
    else out.push(["+", -1, k++]);
  }
  return out;
};
parts.push((root, hash) => {
  const data = dataOf(root, "case");
  if (!data) return null;
  const here = root.querySelector("#case"), chooser = root.querySelector("#choose");
  const codeAt = (id) => data.codes[id] || "";
  const named = (label, options) => make("label", {}, label, make("select", {}, ...options.map(([v, t]) => make("option", { value: v }, t))));
  const cases = named("case", data.cases.map((c, i) => [i, c.id]));
  const reviewers = data.variants.map((v, i) => [i, v.name]);
  const one = named("answers of", [["", "all reviewers"], ...reviewers]), other = named("beside", [["", "none"], ...reviewers]);
  const [pick, a, b] = [cases, one, other].map((l) => l.querySelector("select"));
  const apart = make("input", { type: "checkbox" });
  const back = make("button", { type: "button" }, "← previous"), on = make("button", { type: "button" }, "next →");
  chooser.append(cases, one, other, make("label", { className: "tick" }, apart, "only where they differ"), back, on);
  const answers = (c, v) => c.answers.filter((x) => x.by === v);
  const rate = (c, v) => { const x = answers(c, v)[0]; return x ? x.right + "/" + x.answered : ""; };
  const within = (c) => !apart.checked || a.value === "" || b.value === "" || (answers(c, +a.value)[0] && answers(c, +b.value)[0] && shareOf(rate(c, +a.value)) !== shareOf(rate(c, +b.value)));
  const keep = () => {
    const params = new URLSearchParams();
    for (const [k, s] of [["a", a], ["b", b]]) if (s.value !== "") params.set(k, data.variants[+s.value].name);
    if (apart.checked) params.set("apart", 1);
    put(data.cases[+pick.value].id, params);
  };
  const step = (by) => {
    for (let i = +pick.value + by; i >= 0 && i < data.cases.length; i += by) if (within(data.cases[i])) { show(i); keep(); return; }
  };
  // Several files are one text, each below a line with its path, and a change below "diff".
  const blocksOf = (c) => codeAt(c.id).startsWith("==> ") ? codeAt(c.id).split(/^==> (\S.*) <==\n/m).slice(1) : [];
  const codeOf = (c, flawed) => {
    const pre = make("pre", { className: "source code" + (c.label === "bad" ? " misleading" : ""), tabIndex: 0 });
    const several = blocksOf(c).length > 0;
    let change = false;
    tokens(codeAt(c.id).replace(/\n$/, ""), c.language).forEach((line, i) => {
      const words = line.map(([, t]) => t).join("");
      const file = several && /^==> \S.* <==$/.test(words);
      if (file) change = words === "==> diff <==";
      const kind = file ? "file" : flawed.has(i) ? "flaw" : change ? { "-": "minus", "+": "plus" }[words[0]] || "" : "";
      pre.append(make("span", { className: kind }, make("span", { className: "ln" }, String(i + 1)), ...line.map(([k, t]) => (k ? make("span", { className: k }, t) : t)), "\n"));
    });
    return pre;
  };
  const diffOf = (rows, bad, good) => {
    const pre = make("pre", { className: "source diff", tabIndex: 0 });
    for (const [sign, i, k] of rows) pre.append(make("span", { className: { "-": "minus", "+": "plus" }[sign] || "" }, sign + " " + (i < 0 ? bad[k] : good[i]) + "\n"));
    return pre;
  };
  const lazily = (title, f) => {
    const d = make("details", {}, make("summary", {}, title));
    d.addEventListener("toggle", () => { if (d.childElementCount === 1) d.append(make("div", { className: "words mono" }, f())); });
    return d;
  };
  const answerOf = (c, x, t) => {
    const said = make("p", {}, badgeOf(data, t.outcome), " said " + t.actual + (t.violates ? ", violates " + t.violates : "") + (t.cwes ? ", " + t.cwes : "") + (t.sure ? ", " + t.sure + " sure" : "") + " ");
    if (t.reason) said.append(badgeOf(data, t.reason));
    const out = [said];
    if (t.explanation) out.push(make("div", { className: "words" }, t.explanation));
    if (t.detail) out.push(make("div", { className: "words note" }, t.detail));
    out.push(make("p", { className: "note" }, t.facts));
    if (t.reply) out.push(lazily("raw reply", () => t.reply));
    return out;
  };
  // As internal/auditor puts it together: the SPEC's Prompt section, the prompt, the code.
  const promptOf = (c, v) => {
    const p = data.prompts[v.prompt];
    const fenced = (language, code) => {
      const fence = "`".repeat(Math.max(3, ...Array.from(code.matchAll(/`+/g), (m) => m[0].length + 1)));
      return fence + language + "\n" + code.replace(/\n+$/, "") + "\n" + fence + "\n";
    };
    const blocks = blocksOf(c);
    let code = blocks.length ? "" : fenced(c.language, codeAt(c.id));
    for (let i = 0; i < blocks.length; i += 2) code += "## " + (blocks[i] === "diff" ? "The change\n\n" + fenced("diff", blocks[i + 1]) : blocks[i] + "\n\n" + fenced(c.language, blocks[i + 1])) + "\n";
    return data.spec.trim() + "\n\n" + p.trim() + "\n\n" + code;
  };
  const cardOf = (c, x) => {
    const v = data.variants[x.by];
    const card = make("section", { className: "card" }, make("h4", {}, dotOf(v.class), v.name), make("p", { className: "note" }, x.right + " of " + x.answered + " answers right" + (x.unanswered ? ", " + x.unanswered + " unanswered" : "")));
    x.told.forEach((t, i) => {
      if (i < 1) card.append(...answerOf(c, x, t));
      else {
        const d = make("details", {}, make("summary", {}, "an earlier answer: " + t.outcome));
        d.append(...answerOf(c, x, t));
        card.append(d);
      }
    });
    if (codeAt(c.id) && data.spec && Object.hasOwn(data.prompts, v.prompt)) card.append(lazily("prompt, as it is sent today", () => promptOf(c, v)));
    return card;
  };
  const most = 12;
  const show = (n) => {
    const c = data.cases[n];
    pick.value = n;
    const bad = codeAt(c.id).replace(/\n$/, "").split("\n"), good = codeAt(c.good).replace(/\n$/, "").split("\n");
    const rows = codeAt(c.good) && codeAt(c.id) ? differ(good, bad) : [];
    const flawed = new Set(c.label === "bad" ? rows.filter((r) => r[0] === "+").map((r) => r[2]) : []);
    const told = make("div", { className: "told" });
    if (c.violates.length) told.append(make("h3", {}, "What it violates"));
    const item = (r) => make("li", {}, make("b", {}, String(r.number)), " ", r.text);
    const broken = data.requirements.filter((r) => c.violates.includes(r.number));
    if (broken.length) told.append(make("ul", { className: "plain" }, ...broken.map(item)));
    else if (c.violates.length) told.append(make("p", {}, "Requirements " + c.violates.join(", ") + "."));
    if (c.cwes) told.append(make("p", { className: "note" }, c.cwes));
    const others = data.requirements.filter((r) => !c.violates.includes(r.number));
    if (others.length) told.append(make("details", {}, make("summary", {}, c.violates.length ? others.length + " requirements that it keeps" : "the " + others.length + " requirements"), make("ul", { className: "plain" }, ...others.map(item))));
    const code = make("div", {}, make("h3", {}, "Code"));
    if (!codeAt(c.id)) code.append(make("p", { className: "note" }, "The code of this case is not at hand."));
    else {
      if (c.label === "bad") code.append(make("p", { className: "note" }, (flawed.size ? "Lines that its nearest good case does not have are marked. " : "") + "Comments are on yellow: they may claim what the code does not do."));
      code.append(codeOf(c, flawed));
    }
    if (rows.length) code.append(make("details", { className: "differ", open: rows.length < 50 && innerWidth > 900 }, make("summary", {}, "Difference from its nearest good case, " + c.good), diffOf(rows, bad, good)));
    let xs = c.answers.filter((x) => (a.value === "" && b.value === "") || x.by === +(a.value || -1) || x.by === +(b.value || -1));
    const cards = make("div", { className: "cards" }), rest = make("button", { type: "button" }, "");
    const more = () => {
      cards.append(...xs.splice(0, most).map((x) => cardOf(c, x)));
      rest.hidden = xs.length === 0;
      rest.textContent = xs.length + " more reviewers";
    };
    rest.addEventListener("click", more);
    more();
    // Two answers are side by side above the code, all others beside the code if it is at hand.
    const wide = !codeAt(c.id) || (a.value !== "" && b.value !== "");
    const answered = make("div", { className: wide ? "wide" : "" }, make("h3", {}, "Answers"), cards, rest);
    if (!wide) told.append(answered);
    here.replaceChildren(make("h2", {}, c.id), make("p", {}, badgeOf(data, c.label), " ", make("span", { className: "lead" }, c.description)),
      ...(wide ? [answered] : []), make("div", { className: "beside" }, code, told));
    document.title = c.id + " · Assay";
  };
  chooser.addEventListener("change", () => {
    if (!within(data.cases[+pick.value])) { const n = data.cases.findIndex(within); if (n >= 0) pick.value = n; }
    show(+pick.value);
    keep();
  });
  chooser.addEventListener("submit", (e) => e.preventDefault());
  back.addEventListener("click", () => step(-1));
  on.addEventListener("click", () => step(1));
  chooser.hidden = false;
  const keys = (e) => {
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName) || e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === "j") step(1);
    if (e.key === "k") step(-1);
  };
  document.onkeydown = keys;
  const go = (hash) => {
    const { id, picks } = asked(hash);
    for (const [k, s] of [["a", a], ["b", b]]) if (picks.get(k) !== null) s.value = data.variants.findIndex((v) => v.name === picks.get(k));
    if (picks.get("apart")) apart.checked = true;
    const n = data.cases.findIndex((c) => c.id === id);
    show(n < 0 ? 0 : n);
  };
  go(hash);
  return go;
});
// The table of all cases opens on those that anybody got wrong. It can be limited to what
// became of one reviewer's answers, and to where they differ from another's.
parts.push((root, hash, tables) => {
  const form = root.querySelector("#two"), t = tables.find((t) => t.table.id === "cases");
  if (!form || !t || !t.model.grid) return null;
  const cols = t.model.grid.columns.flatMap((c, i) => (c.kind === "share" ? [[i, c.name]] : []));
  const select = (label, options) => make("label", {}, label, make("select", {}, ...options.map(([value, text]) => make("option", { value }, text))));
  const by = select("Cases that", [["", "some reviewer"], ...cols.map(([, n]) => [n, n])]);
  const does = select("has", [["missed", "got wrong"], ["right", "got right"], ["none", "left unanswered"], ["any", "any answer to"], ...cols.map(([, n]) => ["unlike " + n, "answered unlike " + n])]);
  const [of, how] = [by, does].map((l) => l.querySelector("select"));
  form.append(by, does);
  form.hidden = false;
  const judge = { missed: (text) => shareOf(text) < 1, right: (text) => shareOf(text) === 1, none: (text) => text.includes("unanswered"), any: (text) => text !== "" };
  const params = () => [["of", of.value], ["how", how.value === "missed" && of.value === "" ? "" : how.value]].filter(([, v]) => v);
  const limit = () => {
    const at = (name) => (cols.find(([, n]) => n === name) || [-1])[0];
    const other = how.value.startsWith("unlike ") ? at(how.value.slice(7)) : -1;
    const asked = of.value === "" ? cols.map(([i]) => i) : [at(of.value)];
    t.limit((r) => {
      const said = (i) => t.model.grid.texts[r.row[i]] || "";
      return asked.some((i) => {
        if (other < 0) return judge[how.value](said(i));
        const mine = shareOf(said(i)), theirs = shareOf(said(other));
        return !Number.isNaN(mine) && !Number.isNaN(theirs) && mine !== theirs;
      });
    }, params);
    const query = new URLSearchParams();
    if (of.value !== "") query.set("a", of.value);
    if (of.value !== "" && other >= 0) { query.set("b", how.value.slice(7)); query.set("apart", 1); }
    for (const r of t.model.rows) for (const link of r.element().querySelectorAll("th a")) link.href = link.getAttribute("href").split("?")[0] + (query.size ? "?" + query : "");
  };
  form.addEventListener("input", () => { limit(); t.keep(); });
  form.addEventListener("submit", (e) => e.preventDefault());
  const go = (hash) => {
    const { id, picks } = asked(hash);
    const named = id !== "" && id !== "cases"; // a case by itself, or words
    if (id === "cases" || id === "" || named) {
      of.value = cols.some(([, n]) => n === picks.get("of")) ? picks.get("of") : "";
      how.value = picks.get("how") || (named || picks.get("q") ? "any" : "missed");
      if (how.selectedIndex < 0) how.value = "missed";
    }
    limit();
    if (named) t.bring(hash);
  };
  go(hash);
  return go;
});
