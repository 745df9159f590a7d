// MathJax, packed at the end of this script, and how it is used: formulas on the screen are set first,
// then those that are nearest to it, a few at a time while the browser has nothing else to do. When a
// page is printed all are set at once. MathJax.startup.promise is there from the beginning, and kept
// when the last formula stands.
(config => {
  const FEW = 30;
  const here = document.currentScript.src.replace(/[^/]*$/, "");
  let set, failed;
  const promise = new Promise((done, fail) => { set = done; failed = fail; });
  const distance = element => { // from the screen, in pixels
    const box = element.getBoundingClientRect();
    return Math.max(0, box.top - innerHeight, -box.bottom);
  };
  const idle = () => new Promise(done => window.requestIdleCallback
    ? requestIdleCallback(done, { timeout: 400 }) : setTimeout(done, 20));
  const unset = element => element.isConnected && !element.querySelector("mjx-container");
  const pageReady = async () => {
    const formulas = [...document.querySelectorAll(".math")]
      .filter(element => !element.parentElement.closest(".math"))
      .map(element => [distance(element), element])
      .sort((one, other) => one[0] - other[0]);
    const seen = formulas.filter(([far]) => far === 0).map(([, element]) => element);
    let left = formulas.filter(([far]) => far > 0).map(([, element]) => element);
    addEventListener("beforeprint", () => {
      const all = left.filter(unset);
      left = [];
      try { if (all.length) MathJax.typeset(all); } catch { left = all; } // a part is still to be loaded
    });
    if (seen.length) await MathJax.typesetPromise(seen);
    document.documentElement.dataset.formulas = "seen";
    while (left.length) {
      await idle();
      const few = left.splice(0, FEW).filter(unset);
      if (few.length) await MathJax.typesetPromise(few);
    }
    document.documentElement.dataset.formulas = "all";
  };
  // A page without formulas of its own asks for MathJax and sets what it wants.
  const all = config.startup?.typeset !== false;
  config.startup = { ...config.startup, ...(all ? { pageReady } : {}), promise };
  config.loader = { ...config.loader, paths: { ...config.loader?.paths, mathjax: here.slice(0, -1) } };
  const started = () => MathJax.startup.promise.then(set, failed);
  const run = (text, address) => {
    const script = document.createElement("script");
    if (address) { script.src = address; script.onload = started; script.onerror = failed; }
    else script.textContent = text;
    document.head.append(script);
    if (!address) started();
  };
  if (!window.DecompressionStream) return run("", here + "unpacked.js");
  const bytes = Uint8Array.from(atob("PACKED"), sign => sign.charCodeAt(0));
  new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text().then(run, failed);
})(window.MathJax = window.MathJax || {});
