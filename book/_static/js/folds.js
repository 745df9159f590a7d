// One switch for all code of the book, in the header of every page that has code. Until a reader
// touches it, code is as the chapter has it. Hidden code leaves its outputs.
(() => {
  const KEY = "lowdim-code";
  const root = document.documentElement;
  const folds = () => document.querySelectorAll("details.lowdim-fold.above-input");

  const stored = () => {
    try {
      const state = localStorage.getItem(KEY);
      return state === "shown" || state === "hidden" ? state : null;
    } catch {
      return null; // storage is forbidden: the choice lasts as long as the page
    }
  };

  // The first thing on the screen that is not code stays where it is.
  const steady = (change) => {
    const blocks = document.querySelectorAll(
      ".bd-article :is(h1, h2, h3, p, figure, .cell_output, table)");
    const top = [...blocks].find((e) => e.checkVisibility?.() !== false &&
      !e.closest(".cell_input, summary") && e.getBoundingClientRect().top > 60);
    const before = top?.getBoundingClientRect().top;
    change();
    if (top && window.scrollY > 0) {
      window.scrollBy({ top: top.getBoundingClientRect().top - before, behavior: "instant" });
    }
  };

  const apply = (state) => {
    if (state) root.dataset.lowdimCode = state;
    else delete root.dataset.lowdimCode;
    if (state) for (const fold of folds()) fold.open = state === "shown";
  };

  const button = () => {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "btn btn-sm lowdim-code-switch";
    made.setAttribute("role", "switch");
    const tell = () => {
      const hidden = root.dataset.lowdimCode === "hidden";
      made.setAttribute("aria-checked", String(!hidden));
      made.title = hidden ? "Show all code of the book" : "Hide all code of the book";
      made.textContent = hidden ? "Code: hidden" : "Code: shown";
    };
    made.addEventListener("click", () => {
      const state = root.dataset.lowdimCode === "hidden" ? "shown" : "hidden";
      try { localStorage.setItem(KEY, state); } catch { /* for this page only, then */ }
      steady(() => apply(state));
      tell();
    });
    window.addEventListener("storage", (event) => { // another tab
      if (event.key === KEY) { apply(stored()); tell(); }
    });
    tell();
    return made;
  };

  // A solution's bar has a button that a screen reader would call "Toggle hidden content".
  const nameSolutions = () => {
    for (const toggle of document.querySelectorAll("button.toggle-button")) {
      const title = toggle.closest(".admonition-title");
      const words = title?.textContent.replace(/\s+/g, " ").trim();
      if (words) toggle.setAttribute("aria-label", words);
    }
  };

  // What is folded and linked to opens; paper has no folds but those of code.
  const unfold = () => {
    const name = decodeURIComponent(location.hash.slice(1));
    let place = name && document.getElementById(name);
    const target = place;
    for (; place; place = place.parentElement) {
      if (place.tagName === "DETAILS" && !place.open) {
        place.open = true;
        target.scrollIntoView();
      }
    }
  };
  const opened = [];
  window.addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll("details.lowdim-lemmas:not([open])")) {
      fold.open = true;
      opened.push(fold);
    }
  });
  window.addEventListener("afterprint", () => {
    for (const fold of opened.splice(0)) fold.open = false;
  });

  const start = () => {
    const bar = document.querySelector(".article-header-buttons");
    if (bar && document.querySelector("div.cell_input")) bar.prepend(button());
    apply(stored());
    nameSolutions();
    unfold();
    window.addEventListener("hashchange", unfold);
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
