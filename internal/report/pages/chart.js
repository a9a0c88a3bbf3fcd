// Charts: shares with their intervals, one a line or over time or cost.
{
const shape = (tag, attributes, ...kids) => {
  const el = tagged(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes);
  el.append(...kids);
  return el;
};
const cut = (s, n) => (Array.from(s).length > n ? Array.from(s).slice(0, n - 1).join("") + "…" : s);
const scale = (from, to, a, b) => (v) => a + ((v - from) / (to - from)) * (b - a);
const least = (ns) => ns.reduce((a, b) => Math.min(a, b));
const most = (ns) => ns.reduce((a, b) => Math.max(a, b));
const minute = 60000, day = 1440 * minute;
const stamp = (ms) => new Date(ms).toISOString().slice(0, 16).replace("T", " ");

// The axis of shares begins below every interval, in tenths, so that reviewers who are all
// good are still told apart; it names five to eight.
const floorOf = (points) => Math.min(0.9, Math.max(0, Math.floor(least(points.map((p) => p.low)) * 10 - 1e-9) / 10));
const percents = (floor) => {
  const step = floor > 0.85 ? 2 : floor > 0.75 ? 5 : floor > 0.45 ? 10 : 20, all = [];
  for (let v = 100; v >= Math.round(100 * floor); v -= step) all.push(v);
  return all;
};

// Round times between two, six at most; where hardly any is round, the two themselves.
const roundTimes = (first, last) => {
  const step = [minute, 10 * minute, 60 * minute, 360 * minute, ...[1, 2, 7, 14, 30, 91, 365, 3650].map((n) => n * day)].find((s) => (last - first) / s < 6);
  const monday = Date.UTC(1970, 0, 5), times = [];
  for (let t = step ? first - ((first - monday) % step) : Infinity; t <= last; t += step) if (t >= first) times.push([t, step < day ? stamp(t).slice(11) : stamp(t).slice(0, 10)]);
  return times.length < 2 ? [first, last].map((t) => [t, stamp(t)]) : times;
};

const chartOf = (chart) => {
  const svg = shape("svg", { class: "chart" + (chart.across ? "" : " bars"), role: "img", "aria-label": chart.title });
  const line = (cls, x1, y1, x2, y2) => svg.append(shape("line", { class: cls, x1, y1, x2, y2 }));
  const text = (cls, x, y, dx, dy, what) => svg.append(shape("text", { class: cls, x, y, dx, dy }, what));
  const dot = (cls, cx, cy, r, title) => svg.append(shape("circle", { class: cls, cx, cy, r }, shape("title", {}, title)));
  const sized = (width, height) => tagged(svg, { viewBox: "0 0 " + width + " " + height });
  const points = chart.series.flatMap((s, i) => s.points.map((p) => ({ ...p, name: s.name, colour: "s" + (i % 6) })));
  const draw = { "": lines, time: overTime, cost: overCost }[chart.across];
  return draw(chart, points, { svg, line, text, dot, sized });
};

// The lines of a chart's axes, between its four sides.
const rows = (d, floor, left, right, y) => percents(floor).forEach((v) => { d.line("grid", left, y(v / 100), right, y(v / 100)); d.text("soft", 4, y(v / 100), 0, 4, v + " %"); });
const column = (d, x, top, bottom, what) => { d.line("grid", x, bottom, x, top); d.text("soft mid", x, bottom, 0, 17, what); };
const estimate = (d, p, x, y, title) => { d.line(p.colour, x, y(p.low), x, y(p.high)); d.dot(p.colour, x, y(p.at), 4, title); };

const lines = (chart, points, d) => {
  const left = 230, right = 530, top = 10, bottom = top + points.length * 26 + 8, floor = floorOf(points), x = scale(floor, 1, left, right);
  percents(floor).forEach((v) => column(d, x(v / 100), top, bottom, v + " %"));
  const marked = chart.mark && chart.goal >= floor;
  if (marked) {
    d.line("goal", x(chart.goal), top, x(chart.goal), bottom);
    d.text("soft mid", x(chart.goal), bottom, 0, 31, chart.mark);
  }
  points.forEach((p, i) => {
    const y = top + 16 + i * 26;
    d.text("", 8, y, 0, 4, cut(p.name, 24));
    d.line("bar", x(p.low), y, x(p.high), y);
    d.dot("dot", x(p.at), y, 5, p.name + ": " + p.text);
  });
  return d.sized(560, bottom + (marked ? 40 : 24));
};

// Names of series stand below, three a line.
const overTime = (chart, points, d) => {
  const left = 48, right = 706, top = 16, bottom = 216, times = points.map((p) => p.x), first = least(times), last = most(times);
  const x = scale(first, Math.max(last, first + 1000), left + 10, right - 10), y = scale(0, 1, bottom, top);
  rows(d, 0, left, right, y);
  roundTimes(first, last).forEach(([t, what]) => column(d, x(t), top, bottom, what));
  if (chart.mark) {
    d.line("goal", left, y(chart.goal), right, y(chart.goal));
    d.text("soft end", right, y(chart.goal), -4, -4, chart.mark);
  }
  chart.series.forEach((s, i) => d.svg.append(shape("polyline", { class: "s" + (i % 6), points: s.points.map((p) => x(p.x).toFixed(1) + "," + y(p.at).toFixed(1)).join(" ") })));
  points.forEach((p) => estimate(d, p, x(p.x), y, p.name + ", " + stamp(p.x) + ": " + p.text));
  chart.series.forEach((s, i) => {
    const to = [left + (i % 3) * 235, bottom + 42 + Math.floor(i / 3) * 20];
    d.dot("s" + (i % 6), ...to, 5, s.name);
    d.text("", ...to, 10, 4, cut(s.name, 30));
  });
  return d.sized(760, bottom + 56 + Math.floor((chart.series.length - 1) / 3) * 20);
};

// The axis of cost is logarithmic. A name stands to the right of its dot, lower where another
// stands already; of more than twenty the rest are in their dots' titles.
const overCost = (chart, points, d) => {
  const left = 48, right = 590, top = 16, bottom = 276, usd = points.map((p) => p.x), floor = floorOf(points), letter = 6.6, high = 14;
  const first = Math.floor(Math.log10(least(usd))), last = Math.ceil(Math.log10(most(usd) * 1.0001));
  const power = scale(first, Math.max(last, first + 1), left + 12, right - 12), x = (v) => power(Math.log10(v)), y = scale(floor, 1, bottom, top);
  rows(d, floor, left, right, y);
  for (let e = first; e <= last; e++) for (const m of e < last ? [1, 2, 5] : [1]) column(d, x(m * 10 ** e), top, bottom, String(Number((m * 10 ** e).toPrecision(2))));
  points.forEach((p) => estimate(d, p, x(p.x), y, p.name + ": " + p.text + " at " + p.x.toFixed(2) + " USD"));
  const taken = [];
  for (const p of points.slice(0, 20)) {
    const l = { x: x(p.x) + 8, y: y(p.at) - 8, name: cut(p.name, 26) };
    const overlaps = (o) => l.x < o.x + letter * o.name.length && o.x < l.x + letter * l.name.length && Math.abs(o.y - l.y) < high;
    while (taken.some(overlaps)) l.y += high / 2;
    taken.push(l);
    d.text("", l.x, l.y, 0, 4, l.name);
  }
  d.text("soft end", right, bottom, 0, 36, "USD for a thousand answers");
  return d.sized(760, Math.max(330, most(taken.map((l) => l.y)) + 10));
};

parts.push((root) => {
  for (const block of root.querySelectorAll("script[data-chart]")) block.after(chartOf(JSON.parse(block.textContent)));
});
}
