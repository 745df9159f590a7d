// The long parts of a masthead are written open, and folded where the screen is narrow.
(() => {
  const narrow = matchMedia("(max-width: 767px)");
  const fold = () => {
    for (const more of document.querySelectorAll(".masthead-more")) more.open = !narrow.matches;
  };
  narrow.addEventListener("change", fold);
  fold();
})();
