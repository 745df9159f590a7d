// A formula inside a line is never broken, so one that is wider than a phone would be cut off.
// Those, and only those, get a box that scrolls: the box costs a formula its place on the line.
(() => {
  const fit = () => {
    for (const formula of document.querySelectorAll("span.math mjx-container")) {
      formula.classList.remove("lowdim-wide");
      const block = formula.closest("p, li, dd, dt, td, th, figcaption, div, section");
      const room = block.getBoundingClientRect().width;
      if (formula.getBoundingClientRect().width > room) formula.classList.add("lowdim-wide");
    }
  };
  const start = () => {
    if (!document.querySelector("span.math")) return;
    if (!window.MathJax?.startup?.promise) return setTimeout(start, 50);
    MathJax.startup.promise.then(() => {
      fit();
      window.addEventListener("resize", fit);
      window.addEventListener("click", () => setTimeout(fit, 50)); // a solution that unfolds
    });
  };
  window.addEventListener("load", start);
})();
