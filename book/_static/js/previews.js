// A card with what a link leads to: on hovering, on focus, and on a long press. On a narrow screen
// it is a sheet at the bottom. What is shown was written into the page when the book was built.
(() => {
  const data = document.getElementById("lowdim-previews");
  if (!data) return;
  const WAIT = 300, GRACE = 200, PRESS = 500, GAP = 8;
  const narrow = window.matchMedia("(max-width: 600px)");
  let cards, card, link, pointed, timer, closing, pressed = false, turn = 0;

  const build = () => {
    card = document.createElement("div");
    card.id = "lowdim-preview";
    card.className = "lowdim-preview mathjax_ignore d-print-none";
    card.hidden = true;
    card.innerHTML = '<div class="lp-bar"><span class="lp-where"></span>'
      + '<a class="lp-open">Open</a><button type="button" class="lp-close">Close</button></div><div class="lp-body"></div>';
    card.querySelector(".lp-close").addEventListener("click", () => close(true));
    card.addEventListener("pointerenter", () => clearTimeout(closing));
    card.addEventListener("pointerleave", event => { if (event.pointerType === "mouse" && !sheet()) later(); });
    document.body.append(card);
    cards = JSON.parse(data.textContent);
  };
  const sheet = () => card.classList.contains("lp-sheet");

  // Below the link or above it, whichever has the room; never over it, never out of the window.
  const place = target => {
    const boxes = [...target.getClientRects()], wide = document.documentElement.clientWidth;
    const high = window.innerHeight;
    const top = Math.min(...boxes.map(b => b.top)), bottom = Math.max(...boxes.map(b => b.bottom));
    const under = high - bottom - 2 * GAP, over = top - 2 * GAP;
    card.style.maxHeight = "";
    const tall = card.offsetHeight, below = tall <= under || under >= over;
    card.style.maxHeight = `${Math.max(below ? under : over, 60)}px`;
    const size = Math.min(tall, Math.max(below ? under : over, 60));
    const near = pointed ? pointed.x : boxes[0].left;
    const box = boxes.find(b => b.left <= near && near <= b.right) || boxes[0];
    card.style.left = `${Math.min(Math.max(box.left, GAP), Math.max(wide - card.offsetWidth - GAP, GAP))}px`;
    card.style.top = `${below ? bottom + GAP : top - GAP - size}px`;
  };
  const asSheet = target => {
    card.style.cssText = "";
    const hidden = target.getBoundingClientRect().bottom + GAP - card.getBoundingClientRect().top;
    if (hidden > 0) window.scrollBy(0, hidden); // the link stays in sight
  };
  const open = async (target, byTouch = false) => {
    if (!card) build();
    const shown = cards[target.dataset.preview];
    clearTimeout(closing);
    if (!shown || (link === target && !card.hidden)) return;
    if (link) release();
    const mine = ++turn;
    link = target;
    const low = narrow.matches || byTouch;
    card.className = `lowdim-preview mathjax_ignore d-print-none lp-${shown.kind}${low ? " lp-sheet" : ""}`;
    card.setAttribute("role", low ? "dialog" : "tooltip");
    if (low) card.setAttribute("aria-label", "Preview"); else card.removeAttribute("aria-label");
    card.querySelector(".lp-where").textContent = "";
    card.querySelector(".lp-where").innerHTML = shown.where;
    card.querySelector(".lp-open").href = target.getAttribute("href") || target.getAttribute("xlink:href");
    const body = card.querySelector(".lp-body");
    body.innerHTML = shown.html;
    card.style.cssText = "visibility: hidden";
    card.hidden = false;
    await window.lowdimTypeset?.(card);
    if (mine !== turn) return;
    body.scrollTop = 0;
    card.style.cssText = "";
    if (low) asSheet(target); else place(target);
    target.setAttribute("aria-describedby", [target.dataset.described, card.id].filter(Boolean).join(" "));
    if (byTouch) card.querySelector(".lp-close").focus({ preventScroll: true });
  };
  const release = () => {
    if (link.dataset.described) link.setAttribute("aria-describedby", link.dataset.described);
    else link.removeAttribute("aria-describedby");
  };
  const close = (back = false) => {
    clearTimeout(timer);
    clearTimeout(closing);
    turn++;
    if (!card || card.hidden || !link) return;
    card.hidden = true;
    release();
    if (back && card.contains(document.activeElement)) link.focus({ preventScroll: true });
    link = undefined;
  };
  const later = () => { clearTimeout(closing); closing = setTimeout(close, GRACE); };
  const linkOf = event => event.target.closest?.("a[data-preview]");

  for (const each of document.querySelectorAll("a[data-preview]")) {
    each.removeAttribute("title"); // the browser's own tip would lie over the card
    const described = each.getAttribute("aria-describedby");
    if (described) each.dataset.described = described;
  }
  document.addEventListener("pointerover", event => {
    const target = linkOf(event);
    if (event.pointerType !== "mouse" || !target) return;
    clearTimeout(timer);
    if (target === link) return clearTimeout(closing);
    pointed = { x: event.clientX };
    timer = setTimeout(() => open(target), WAIT);
  });
  document.addEventListener("pointerout", event => {
    const target = linkOf(event);
    if (event.pointerType !== "mouse" || !target || target.contains(event.relatedTarget)) return;
    clearTimeout(timer);
    if (link && document.activeElement !== link) later();
  });
  document.addEventListener("focusin", event => {
    const target = linkOf(event);
    if (!target || !target.matches(":focus-visible")) return;
    clearTimeout(timer);
    pointed = undefined;
    timer = setTimeout(() => open(target), WAIT);
  });
  document.addEventListener("focusout", event => {
    if (linkOf(event) && !card?.contains(event.relatedTarget)) { clearTimeout(timer); if (card && !sheet() || narrow.matches) later(); }
  });
  document.addEventListener("keydown", event => {
    if (event.key === "Escape" && card && !card.hidden) { event.stopPropagation(); close(true); } else if (event.key === "Escape") clearTimeout(timer);
  }, true);
  // A long press opens the sheet and does not follow the link.
  document.addEventListener("touchstart", event => {
    const target = linkOf(event);
    pressed = false;
    clearTimeout(timer);
    if (card && !card.hidden && !card.contains(event.target) && target !== link) close();
    if (target && event.touches.length === 1) timer = setTimeout(() => { pressed = true; open(target, true); }, PRESS);
  }, { passive: true });
  for (const kind of ["touchend", "touchmove", "touchcancel"])
    document.addEventListener(kind, event => {
      clearTimeout(timer);
      if (kind === "touchend" && pressed && event.cancelable) event.preventDefault();
    }, { passive: false });
  document.addEventListener("contextmenu", event => { if (pressed && linkOf(event)) event.preventDefault(); });
  document.addEventListener("pointerdown", event => {
    clearTimeout(timer);
    if (event.pointerType === "mouse" && card && !card.hidden && !card.contains(event.target)) close();
  });
  window.addEventListener("scroll", () => { if (card && !card.hidden && link && !sheet()) place(link); }, { passive: true });
  window.addEventListener("resize", () => close());
})();
