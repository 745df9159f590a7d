// Formulas in what a script adds to a page. MathJax is loaded where the page itself had no need of it.
window.lowdimTypeset = (() => {
  let loaded;
  const load = () => {
    if (loaded) return loaded;
    const where = document.querySelector("meta[name=lowdim-mathjax]")?.content;
    const there = document.querySelector("script[src*='mathjax/']");
    loaded = new Promise((done, failed) => {
      const wait = () => window.MathJax?.startup?.promise
        ? MathJax.startup.promise.then(done, failed) : setTimeout(wait, 30);
      if (there) return wait();
      if (!where) return failed(new Error("no MathJax on this page"));
      window.MathJax = { startup: { typeset: false } };
      const script = document.createElement("script");
      script.src = where;
      script.onload = wait;
      script.onerror = failed;
      document.head.append(script);
    });
    return loaded;
  };
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
