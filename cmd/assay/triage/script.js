"use strict";
const token = document.querySelector('meta[name="token"]').content;
const rule = async (b) => {
  const r = await fetch("/rule", { method: "POST", headers: { "X-Assay-Token": token, "Content-Type": "application/x-www-form-urlencoded" }, body: new URLSearchParams({ of: b.dataset.of, key: b.dataset.key }) });
  if (r.ok) location.reload();
  else document.querySelector("output").textContent = await r.text();
};
for (const b of document.querySelectorAll("button[data-key]")) b.addEventListener("click", () => rule(b));
document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.repeat) return;
  const b = Array.from(document.querySelectorAll("button[data-key]")).find((b) => b.dataset.key === e.key.toLowerCase());
  if (b) rule(b);
});
