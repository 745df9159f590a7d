// A link into a folded box opens it, on this page or from another; on paper all are open.
(() => {
  const reveal = () => {
    const name = decodeURIComponent(location.hash.slice(1));
    const target = name ? document.getElementById(name) : null;
    const box = target?.closest(".lowdim-box");
    const folded = box?.querySelector(":scope > details") ?? target?.closest("details");
    if (!folded || folded.open) return;
    folded.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  // A second click on the same link changes no address.
  document.addEventListener("click", event => {
    if (event.target.closest?.('a[href*="#"]')) setTimeout(reveal);
  });
  reveal();
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll(".lowdim-box details:not([open]), .masthead-more:not([open])")];
    for (const folded of opened) folded.open = true;
  });
  addEventListener("afterprint", () => { for (const folded of opened) folded.open = false; });
})();
