// What scrolls sideways can be reached and scrolled with keys, while it does; and it says what it is.
(() => {
  const WHAT = [
    ["mjx-container, div.math", "Formula, scrolls sideways"],
    ["pre", "Code, scrolls sideways"],
    [":is(div, figure):has(> table), .cell_output", "Table, scrolls sideways"],
    ["div, span, figure", "Scrolls sideways"],
  ];
  const boxes = ".bd-article :is(pre, div.math, mjx-container, .cell_output, .pst-scrollable-table-container, .lowdim-table, .output, figure, .lowdim-window, [class*='scroll'])";
  const update = () => {
    const found = [...document.querySelectorAll(boxes)].map(box => [box, box.clientWidth > 0
      && box.scrollWidth > box.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(box).overflowX)]);
    for (const [box, scrolls] of found) {
      const named = box.dataset.scrolls;
      if (scrolls && !named) {
        box.tabIndex = 0;
        if (!box.hasAttribute("role") && !box.hasAttribute("aria-label")) {
          box.setAttribute("role", "group");
          box.setAttribute("aria-label", WHAT.find(([kind]) => box.matches(kind))[1]);
        }
        box.dataset.scrolls = box.getAttribute("role") === "group" ? "named" : "plain";
      } else if (!scrolls && named) {
        box.removeAttribute("tabindex");
        if (named === "named") for (const name of ["role", "aria-label"]) box.removeAttribute(name);
        delete box.dataset.scrolls;
      }
    }
  };
  let waiting;
  const soon = () => { clearTimeout(waiting); waiting = setTimeout(update, 150); };
  addEventListener("load", soon);
  addEventListener("resize", soon);
  document.addEventListener("toggle", soon, true); // a fold that opens
  document.addEventListener("click", soon); // a solution that unfolds
  new MutationObserver(soon).observe(document.documentElement, { attributeFilter: ["data-formulas"] });
  soon();
})();
