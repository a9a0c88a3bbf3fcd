"use strict";
// Filters and sorts tables in place; without it every page is whole.
(() => {
  const fold = (s) => s.toLowerCase();
  // What stands on the other pages of the same list, where there are several.
  const block = document.getElementById("index");
  const list = document.getElementById("elsewhere");
  const here = location.pathname.split("/").pop();
  const others = block ? JSON.parse(block.textContent).filter((p) => p.page !== here) : [];
  const most = 50;
  const elsewhere = (words) => {
    let n = 0;
    const items = [];
    for (const p of words.length ? others : []) {
      for (const text of p.rows) {
        const folded = fold(text);
        if (!words.every((w) => folded.includes(w))) continue;
        if (n++ >= most) continue;
        const a = document.createElement("a");
        a.href = p.page + "#q=" + encodeURIComponent(words.join(" "));
        a.textContent = text;
        const li = document.createElement("li");
        li.append(a);
        items.push(li);
      }
    }
    list.replaceChildren(...items);
    list.hidden = n === 0;
    return n;
  };
  const forms = Array.from(document.querySelectorAll("form.filter"));
  for (const form of forms) {
    const body = document.getElementById(form.dataset.table).tBodies[0];
    const rows = Array.from(body.rows, (row) => ({ row, text: fold(row.textContent) }));
    const out = form.querySelector("output");
    const apply = () => {
      const words = fold(form.elements.q.value).split(/\s+/).filter(Boolean);
      const picks = Array.from(form.querySelectorAll("select"), (s) => [s.name, s.value]).filter((p) => p[1] !== "");
      let shown = 0;
      for (const { row, text } of rows) {
        const hit = words.every((w) => text.includes(w)) &&
          picks.every(([k, v]) => (row.dataset[k] || "").split("|").includes(v));
        row.hidden = !hit;
        if (hit) shown++;
      }
      let told = shown + " of " + rows.length;
      if (list && form.nextElementSibling === list) {
        const n = elsewhere(words);
        if (n > 0) told += ", and " + n + " on other pages" + (n > most ? ", of which " + most + " are listed" : "");
      }
      out.textContent = told;
    };
    form.addEventListener("input", apply);
    form.addEventListener("submit", (e) => e.preventDefault());
    form.hidden = false;
    // A link may bring its words along: cases.html#q=words
    const bring = () => {
      const q = new URLSearchParams(location.hash.slice(1)).get("q");
      if (q !== null && (forms.length === 1 || form.nextElementSibling === list)) form.elements.q.value = q;
      apply();
    };
    window.addEventListener("hashchange", bring);
    bring();
  }
  const value = (cell) => {
    const t = cell ? (cell.dataset.sort || cell.textContent).trim() : "";
    const n = parseFloat(t);
    return Number.isNaN(n) ? t : n;
  };
  const before = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a === "number") return -1;
    if (typeof b === "number") return 1;
    return a.localeCompare(b);
  };
  for (const table of document.querySelectorAll("table[data-sortable]")) {
    const heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach((th, i) => {
      if (th.textContent.trim() === "") return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...th.childNodes);
      th.append(button);
      button.addEventListener("click", () => {
        const down = th.getAttribute("aria-sort") === "ascending";
        heads.forEach((h) => h.removeAttribute("aria-sort"));
        th.setAttribute("aria-sort", down ? "descending" : "ascending");
        const body = table.tBodies[0];
        const keyed = Array.from(body.rows, (row, at) => ({ row, at, key: value(row.cells[i]) }));
        keyed.sort((a, b) => (down ? before(b.key, a.key) : before(a.key, b.key)) || a.at - b.at);
        body.append(...keyed.map((k) => k.row));
      });
    });
  }
  document.addEventListener("keydown", (e) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName);
    const first = document.querySelector("form.filter input");
    if (e.key === "/" && !typing && !e.ctrlKey && !e.metaKey && !e.altKey && first) {
      e.preventDefault();
      first.focus();
    } else if (e.key === "Escape" && typing && e.target.form && e.target.form.classList.contains("filter")) {
      e.target.form.reset();
      e.target.form.dispatchEvent(new Event("input"));
    }
  });
})();
