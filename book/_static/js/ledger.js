// Lists that a reader narrows: ledger, errata, reported. The page holds everything; this hides what
// does not fit, counts what is left, and keeps the choice in the address.
(() => {
  const say = (shown, all, one, many) =>
    shown === all ? `Showing all ${all} ${many}.` : `Showing ${shown} of ${all} ${all === 1 ? one : many}.`;

  const collator = new Intl.Collator("en", { numeric: true });

  const start = (form) => {
    const rows = [...document.querySelectorAll(form.dataset.rows)].map((element, place) => ({
      element,
      place,
      home: element.parentElement,
      // Read before formulas are set: they are found by their TeX.
      text: `${element.dataset.text} ${element.textContent.replace(/\\[()]/g, "")}`.replace(/\s+/g, " ").toLowerCase(),
    }));
    const boxes = [...form.querySelectorAll("input[type=checkbox]")];
    const names = [...new Set(boxes.map((box) => box.name))];
    for (const row of rows)
      row.has = Object.fromEntries(
        names.map((name) => [name, (row.element.dataset[name] || "").split(" ").filter(Boolean)]),
      );
    const homes = [...new Set(rows.map((row) => row.home))];
    const sorted = document.querySelector(".ledger-sorted");
    const shown = form.querySelector(".filter-shown");
    const empty = document.querySelector(".filter-empty");
    const panel = form.querySelector("details");
    const summary = panel.querySelector("summary");
    const verdicts = boxes.filter((box) => box.name === "verdict").map((box) => box.value);
    let order = "book";

    const chosen = () => {
      const ticked = Object.fromEntries(names.map((name) => [name, []]));
      for (const box of boxes) if (box.checked) ticked[box.name].push(box.value);
      const words = form.elements.text.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
      return { ticked, words, sort: form.elements.sort?.value || "book" };
    };

    // Which choices a row does not fit: none, and it is shown; one, and it counts for that choice.
    const against = (row, { ticked, words }) => {
      if (!words.every((word) => row.text.includes(word))) return null;
      return names.filter(
        (name) => ticked[name].length && !ticked[name].some((value) => row.has[name].includes(value)),
      );
    };

    const sort = (how) => {
      if (!sorted || how === order) return;
      order = how;
      if (how === "book") {
        for (const row of rows) row.home.append(row.element);
      } else {
        const key = {
          verdict: (a, b) => verdicts.indexOf(a.has.verdict[0]) - verdicts.indexOf(b.has.verdict[0]),
          name: (a, b) => collator.compare(a.element.dataset.name, b.element.dataset.name),
        }[how];
        const ranked = [...rows].sort((a, b) => key(a, b) || a.place - b.place);
        sorted.append(...ranked.map((row) => row.element));
      }
      sorted.hidden = how === "book";
    };

    const write = ({ ticked, words, sort: how }) => {
      const encode = (text) => encodeURIComponent(text).replace(/%20/g, "+").replace(/%2F/g, "/");
      const parts = names
        .filter((name) => ticked[name].length)
        .map((name) => `${name}=${ticked[name].map(encode).join(",")}`);
      if (words.length) parts.push(`text=${encode(form.elements.text.value.trim())}`);
      if (how !== "book") parts.push(`sort=${how}`);
      const query = parts.length ? `?${parts.join("&")}` : "";
      if (query === location.search) return;
      try {
        history.replaceState(history.state, "", location.pathname + query + location.hash);
      } catch {
        // an address that may not be changed costs the link to this choice, and nothing else
      }
    };

    const apply = () => {
      const choice = chosen();
      const counts = new Map(boxes.map((box) => [`${box.name} ${box.value}`, 0]));
      let visible = 0;
      for (const row of rows) {
        const failed = against(row, choice);
        const fits = failed !== null && failed.length === 0;
        row.element.hidden = !fits;
        visible += fits;
        if (failed === null || failed.length > 1) continue;
        for (const name of failed.length ? failed : names)
          for (const value of row.has[name]) {
            const key = `${name} ${value}`;
            counts.set(key, counts.get(key) + 1);
          }
      }
      for (const box of boxes) {
        const label = box.closest("label");
        const count = counts.get(`${box.name} ${box.value}`);
        label.querySelector(".filter-count").textContent = count;
        label.classList.toggle("filter-none", count === 0);
      }
      sort(choice.sort);
      for (const home of homes) {
        const none = [...home.children].every((child) => child.hidden);
        (home.closest("section") || home).hidden = none;
      }
      shown.textContent = say(visible, rows.length, form.dataset.one, form.dataset.many);
      empty.hidden = visible > 0;
      const active = names.reduce((sum, name) => sum + choice.ticked[name].length, 0);
      summary.dataset.active = active ? ` (${active} chosen)` : "";
      write(choice);
      window.dispatchEvent(new Event("resize")); // formulas that were hidden are fitted to the page
    };

    const read = () => {
      const given = new URLSearchParams(location.search);
      for (const box of boxes)
        box.checked = (given.get(box.name) || "").split(",").includes(box.value);
      form.elements.text.value = given.get("text") || "";
      const how = form.elements.sort;
      if (how) how.value = [...how.options].some((o) => o.value === given.get("sort")) ? given.get("sort") : "book";
    };

    const reset = () => {
      for (const box of boxes) box.checked = false;
      form.elements.text.value = "";
      if (form.elements.sort) form.elements.sort.value = "book";
      apply();
    };

    // A link to a row is stronger than a choice that hides it.
    const target = () => {
      const id = decodeURIComponent(location.hash.slice(1));
      const row = rows.find((each) => id && each.element.id === id);
      if (row?.element.hidden) reset();
      return row?.element;
    };

    form.classList.add("live");
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", apply);
    form.addEventListener("reset", (event) => {
      event.preventDefault();
      reset();
    });
    empty.querySelector("button").addEventListener("click", () => {
      reset();
      form.elements.text.focus();
    });
    window.addEventListener("hashchange", () => target()?.scrollIntoView());

    // On a phone the choices are folded, so that the list is on the first screen.
    const narrow = window.matchMedia("(max-width: 600px)");
    const fold = () => {
      panel.open = !narrow.matches;
    };
    narrow.addEventListener("change", fold);
    fold();

    read();
    apply();
    const wanted = target();
    if (wanted) {
      // Formulas grow the rows above it; whoever has begun to read is left where they are.
      let reading = false;
      const begun = () => (reading = true);
      for (const event of ["wheel", "touchstart", "keydown", "pointerdown"])
        window.addEventListener(event, begun, { once: true, passive: true });
      const again = () => reading || wanted.scrollIntoView();
      again();
      window.addEventListener("load", () => {
        again();
        window.MathJax?.startup?.promise?.then(again);
      });
    }
  };

  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      area.style.position = "fixed";
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      return done;
    }
  };

  // The entries of the claims are a script, loaded when the first of them is asked for.
  let loading;
  const entries = () =>
    (loading ||= new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = `${document.documentElement.dataset.content_root || "../"}_static/citations.js`;
      script.onload = () => done(window.lowdimCitations);
      script.onerror = failed;
      document.head.append(script);
    }));

  // What unfolds or downloads without scripts is a button: it copies the entry and shows what it copied.
  const citing = (there, number) => {
    const box = document.createElement("div");
    box.className = "lowdim-cite";
    const button = document.createElement("button");
    const said = document.createElement("span");
    const entry = there.querySelector("pre") || document.createElement("pre");
    entry.id = `cite-${number}`;
    entry.tabIndex = 0;
    entry.hidden = true;
    button.type = "button";
    button.textContent = (there.querySelector("summary") || there).textContent;
    button.setAttribute("aria-label", `Cite ${there.dataset.name}: copy its BibTeX entry`);
    button.setAttribute("aria-expanded", "false");
    button.setAttribute("aria-controls", entry.id);
    said.setAttribute("role", "status");
    button.addEventListener("click", async () => {
      entry.hidden = !entry.hidden;
      button.setAttribute("aria-expanded", String(!entry.hidden));
      said.textContent = "";
      if (entry.hidden) return;
      if (!entry.textContent) {
        try {
          entry.textContent = (await entries())[there.dataset.cite];
        } catch {
          location.href = there.href; // the file has it too
          return;
        }
      }
      const done = await copy(entry.textContent);
      said.textContent = done ? "Copied as BibTeX" : "Copy it from here";
      if (!done) getSelection().selectAllChildren(entry);
    });
    box.append(button, said, entry);
    there.replaceWith(box);
  };

  document.querySelectorAll("form.lowdim-filter").forEach(start);
  document.querySelectorAll("details.lowdim-cite, a.lowdim-cite").forEach(citing);
})();
