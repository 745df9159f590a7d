// Formulas in what a script adds to a page. MathJax is loaded where the page itself had no need of it.
window.lowdimTypeset = (() => {
  let loaded;
  const load = () => loaded ||= new Promise((done, failed) => {
    const where = document.querySelector("meta[name=lowdim-mathjax]")?.content;
    const own = document.querySelector("script[src*='mathjax/']"); // the page has formulas itself
    const ready = () => window.MathJax?.typesetPromise && (!own || document.documentElement.dataset.formulas);
    const wait = () => ready() ? done() : setTimeout(wait, 30); // not for the last formula of a long page
    if (own) return wait();
    if (!where) return failed(new Error("no MathJax on this page"));
    window.MathJax = { startup: { typeset: false } };
    const script = document.createElement("script");
    script.src = where;
    script.onload = wait;
    script.onerror = failed;
    document.head.append(script);
  });
  // Set the formulas (elements of class "math") inside `place`; resolves when they stand.
  return async place => {
    const formulas = [...place.querySelectorAll(".math")].filter(e => !e.querySelector("mjx-container"));
    if (!formulas.length) return;
    try {
      await load();
      await MathJax.typesetPromise(formulas.filter(e => e.isConnected));
    } catch { /* the TeX stays readable */ }
  };
})();
