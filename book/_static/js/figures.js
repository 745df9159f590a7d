// On a phone a figure is small: a button below it, or a tap on it, shows it full screen.
(() => {
  const narrow = window.matchMedia("(max-width: 600px)");
  let viewer;

  const open = (figure, from) => {
    if (!viewer) {
      viewer = document.createElement("dialog");
      viewer.className = "lowdim-viewer";
      viewer.setAttribute("aria-label", "Figure, full screen");
      viewer.innerHTML = '<form method="dialog"><button autofocus>Close</button></form>';
      document.body.append(viewer);
    }
    viewer.querySelector(".lowdim-window")?.remove();
    viewer.append(figure.querySelector(".lowdim-whole").cloneNode(true));
    viewer.addEventListener("close", () => from.focus({ preventScroll: true }), { once: true });
    viewer.showModal();
  };

  for (const figure of document.querySelectorAll(".lowdim-figure")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "lowdim-enlarge";
    button.textContent = "Show full screen";
    figure.append(button);
    figure.addEventListener("click", () => {
      if (narrow.matches) open(figure, button);
    });
  }
})();
