// Reads the pages that cases make: what is compared, and what may not be in them.
const TAGS = new Set("html head title meta body h1 h2 h3 p ul ol li a table thead tbody tr td th dl dt dd b em span div section main small strong time br script !doctype".split(" "));
const ATTRIBUTES = new Set("href class title charset lang rel id type data-name data-code data-note datetime content name".split(" "));
const TAG = /<(!?\/?[a-zA-Z][^\s/>]*)((?:[^>"']|"[^"]*"|'[^']*')*)>/g;
const ATTRIBUTE = /([^\s"'>/=]+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+))?/g;
const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " };

const decode = (s) => s.replace(/&(#x[0-9a-f]+|#\d+|\w+);/gi, (m, e) => (e[0] === "#" ? String.fromCodePoint(e[1] === "x" || e[1] === "X" ? parseInt(e.slice(2), 16) : Number(e.slice(1))) : ENTITIES[e.toLowerCase()] ?? m));

// parts cuts a page into texts, tags and data scripts, as a browser does.
function parts(html) {
  const out = [];
  let at = 0;
  TAG.lastIndex = 0;
  for (let m; (m = TAG.exec(html));) {
    if (m.index > at) out.push({ text: html.slice(at, m.index) });
    const name = m[1].toLowerCase();
    const attrs = [...m[2].matchAll(ATTRIBUTE)].filter((a) => a[1] !== "/").map((a) => [a[1].toLowerCase(), decode((a[2] ?? "").replace(/^(["'])([\s\S]*)\1$/, "$2"))]);
    out.push({ tag: name, attrs });
    at = m.index + m[0].length;
    if (name === "script") {
      const end = html.slice(at).search(/<\/script/i);
      const stop = end < 0 ? html.length : at + end;
      out.push({ script: html.slice(at, stop), type: attrs.find((a) => a[0] === "type")?.[1] ?? "" });
      at = TAG.lastIndex = stop;
    }
  }
  if (at < html.length) out.push({ text: html.slice(at) });
  return out;
}

// readPage gives the texts, links and data of a page, tags and spacing left aside.
export function readPage(html) {
  const texts = [], links = [], datas = [];
  for (const p of parts(html)) {
    if (p.text !== undefined) { const t = decode(p.text).replace(/\s+/g, " ").trim(); if (t) texts.push(t); }
    for (const [n, v] of p.attrs ?? []) if (n === "href" || n === "title" || n.startsWith("data-")) links.push(`${n} ${n === "href" && URL.canParse(v) ? new URL(v).href : v}`);
    if (p.script) try { datas.push(JSON.parse(p.script)); } catch { datas.push(p.script); }
  }
  return { texts, links, datas };
}

// page says what in a page is more than plain text, http links and data.
export function page(html, say) {
  for (const p of parts(html)) {
    if (p.tag && !TAGS.has(p.tag.replace(/^\//, ""))) say(12, `the page holds a tag ${p.tag}`);
    for (const [n, v] of p.attrs ?? []) {
      if (!ATTRIBUTES.has(n) && p.tag !== "!doctype") say(12, `the page holds an attribute ${n}`);
      if (n === "href" && !/^(https?:\/\/|\/(?!\/))/i.test(v)) say(12, `the page links to ${v}`);
    }
    if (p.script === undefined) continue;
    if (p.type !== "application/json") say(12, "the page holds a script that is no data");
    else if (p.script.trim()) try { JSON.parse(p.script); } catch { say(12, "the page's data breaks off"); }
  }
}
