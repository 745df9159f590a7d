// A card with what a link leads to: on hovering and on focus beside the link, after a tap as a sheet
// at the bottom. The cards of a page are a script, loaded when the first of them is asked for.
(() => {
  if (!document.querySelector("a[data-preview]")) return;
  const WAIT = 300, GRACE = 250, GAP = 8;
  const root = document.documentElement.dataset.content_root || "./";
  const pages = {};
  let card, link, pointed, timer, closing, finger = false, returning = false, turn = 0;

  const cardsOf = page => pages[page] ||= new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = `${root}_static/previews/${page}.js`;
    script.onload = () => done(window.lowdimPreviews[page]);
    script.onerror = failed;
    document.head.append(script);
  });
  const wanted = async target => {
    const [, page, place] = target.dataset.preview.match(/^([^#]*)#(.*)$/s);
    const { title, cards } = await cardsOf(page);
    const here = location.pathname.endsWith(`/${page}.html`);
    return { ...cards[place], where: here || cards[place].kind === "page" ? "" : title };
  };

  const build = () => {
    card = document.createElement("div");
    card.id = "lowdim-preview";
    card.hidden = true;
    card.tabIndex = -1;
    card.innerHTML = '<div class="lp-bar"><span class="lp-where"></span><a class="lp-open">Go there</a>'
      + '<button type="button" class="lp-close">Close</button></div><div class="lp-body"></div>';
    card.querySelector(".lp-close").addEventListener("click", () => close(true));
    card.querySelector(".lp-open").addEventListener("click", () => close());
    card.addEventListener("pointerenter", () => clearTimeout(closing));
    card.addEventListener("pointerleave", event => { if (event.pointerType === "mouse" && !sheet()) later(); });
    document.body.append(card);
  };
  const sheet = () => card.classList.contains("lp-sheet");

  // Below the link or above it, whichever has the room; never over it, never out of the window.
  const place = target => {
    const boxes = [...target.getClientRects()], wide = document.documentElement.clientWidth;
    if (!boxes.length) return close();
    const top = Math.min(...boxes.map(b => b.top)), bottom = Math.max(...boxes.map(b => b.bottom));
    const under = window.innerHeight - bottom - 2 * GAP, over = top - 2 * GAP;
    card.style.maxHeight = "";
    const tall = card.offsetHeight, below = tall <= under || under >= over;
    const size = Math.min(tall, Math.max(below ? under : over, 60));
    card.style.maxHeight = `${size}px`;
    const near = pointed ?? boxes[0].left;
    const box = boxes.find(b => b.left <= near && near <= b.right) || boxes[0];
    card.style.left = `${Math.max(Math.min(box.left, wide - card.offsetWidth - GAP), GAP)}px`;
    card.style.top = `${below ? bottom + GAP : top - GAP - size}px`;
  };
  const asSheet = target => {
    const hidden = target.getBoundingClientRect().bottom + GAP - card.getBoundingClientRect().top;
    if (hidden > 0) window.scrollBy(0, hidden); // the link stays in sight
  };

  const open = async (target, tapped = false) => {
    clearTimeout(closing);
    if (link === target) return;
    close();
    const mine = ++turn;
    link = target;
    let shown;
    try {
      shown = await wanted(target);
    } catch { // a link is a link even where its card is lost
      if (mine !== turn) return;
      link = undefined;
      if (tapped) location.href = target.href;
      return;
    }
    if (mine !== turn) return;
    if (!card) build();
    card.className = `lowdim-preview mathjax_ignore d-print-none lp-${shown.kind} ${shown.tone || ""} ${tapped ? "lp-sheet" : ""}`;
    card.setAttribute("role", tapped ? "dialog" : "tooltip");
    if (tapped) card.setAttribute("aria-label", "What the link leads to"); else card.removeAttribute("aria-label");
    card.querySelector(".lp-where").innerHTML = shown.where;
    card.querySelector(".lp-open").href = target.getAttribute("href") || target.getAttribute("xlink:href");
    const body = card.querySelector(".lp-body");
    body.innerHTML = shown.html;
    for (const image of body.querySelectorAll("img[data-src]")) image.src = root + image.dataset.src;
    card.style.cssText = "visibility: hidden";
    card.hidden = false;
    await Promise.all([window.lowdimTypeset?.(card), ...[...body.querySelectorAll("img")].map(i => i.decode().catch(() => {}))]);
    if (mine !== turn) return;
    body.scrollTop = 0;
    card.style.cssText = "";
    if (tapped) asSheet(target); else place(target);
    target.setAttribute("aria-describedby", [target.dataset.described, card.id].filter(Boolean).join(" "));
    if (tapped) card.focus({ preventScroll: true });
  };
  const close = (back = false) => {
    clearTimeout(timer);
    clearTimeout(closing);
    turn++;
    if (link) {
      if (link.dataset.described) link.setAttribute("aria-describedby", link.dataset.described);
      else link.removeAttribute("aria-describedby");
    }
    const from = link;
    link = undefined;
    if (!card || card.hidden) return;
    if (back && from && card.contains(document.activeElement)) {
      returning = true; // and not asking for the card once more
      from.focus({ preventScroll: true });
      returning = false;
    }
    card.hidden = true;
  };
  const later = () => { clearTimeout(closing); closing = setTimeout(close, GRACE); };
  const soon = target => {
    clearTimeout(timer);
    if (target === link) return clearTimeout(closing);
    wanted(target).catch(() => {}); // on its way while we wait
    timer = setTimeout(() => open(target), WAIT);
  };
  const linkOf = event => event.target.closest?.("a[data-preview]");

  for (const each of document.querySelectorAll("a[data-preview]")) {
    each.removeAttribute("title"); // the browser's own tip would lie over the card
    const described = each.getAttribute("aria-describedby");
    if (described) each.dataset.described = described;
  }
  document.addEventListener("pointerover", event => {
    const target = linkOf(event);
    if (event.pointerType !== "mouse" || !target) return;
    pointed = event.clientX;
    soon(target);
  });
  document.addEventListener("pointerout", event => {
    const target = linkOf(event);
    if (event.pointerType !== "mouse" || !target || target.contains(event.relatedTarget)) return;
    clearTimeout(timer);
    if (link && !(document.activeElement === link && link.matches(":focus-visible"))) later();
  });
  document.addEventListener("focusin", event => {
    const target = linkOf(event);
    if (!target || finger || returning || !target.matches(":focus-visible")) return;
    pointed = undefined;
    soon(target);
  });
  document.addEventListener("focusout", event => {
    if (!linkOf(event) || card?.contains(event.relatedTarget)) return;
    clearTimeout(timer);
    if (link === linkOf(event) && !finger) later();
  });
  document.addEventListener("keydown", event => {
    finger = false;
    if (event.key !== "Escape") return;
    if (card && !card.hidden) event.stopPropagation(); // what lies below stays as it is
    close(true);
  }, true);
  // With a finger nothing hovers: the first tap shows the card, a second on the same link follows it.
  document.addEventListener("pointerdown", event => {
    finger = event.pointerType !== "mouse";
    if (card?.contains(event.target)) return;
    if (!finger || linkOf(event) !== link) close();
  }, true);
  document.addEventListener("click", event => {
    const target = linkOf(event);
    if (!target) return;
    if (finger && "tap" in target.dataset && event.detail && target !== link) {
      event.preventDefault();
      open(target, true);
    } else close();
  });
  window.addEventListener("scroll", () => { if (card && !card.hidden && !sheet()) place(link); }, { passive: true });
  let wide = window.innerWidth;
  window.addEventListener("resize", () => { // a phone's bars come and go, which moves nothing sideways
    if (wide !== window.innerWidth || (card && !card.hidden && !sheet())) close();
    wide = window.innerWidth;
  });
  window.addEventListener("pagehide", () => close());
})();
