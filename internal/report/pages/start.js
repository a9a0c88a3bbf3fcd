if (isSingle()) single();
else {
  up = document.body.dataset.up;
  begin(document.getElementById("main"), location.hash);
  addEventListener("hashchange", () => current.go(location.hash));
}
// A report that is served is made anew while its run goes on.
const served = document.querySelector('meta[name="assay-made"]');
if (served) {
  setInterval(async () => {
    try {
      const now = await (await fetch("/made", { cache: "no-store" })).text();
      if (now !== served.content && !document.activeElement.closest("form")) location.reload();
    } catch { /* the server has ended */ }
  }, 2000);
}
