// The page of exercises: menus that leave the rows of one part, kind, difficulty, time or goal, and
// a field for words. The address keeps the choice. Without this script all rows are there.
(() => {
  const start = () => {
    const tables = [...document.querySelectorAll("table.lowdim-exercises")];
    const held = document.getElementById("lowdim-exercises");
    if (!tables.length || !held) return;
    const known = JSON.parse(held.textContent);
    const rows = tables.flatMap((table) =>
      [...table.tBodies[0].rows].map((row) => {
        const label = decodeURIComponent(row.querySelector("a[href*='#']").hash.slice(1));
        return { row, section: table.closest("section"), ...known[label] };
      }),
    );
    const unique = (name) => [...new Set(rows.map((each) => each[name]))];
    const NAMES = { part: "Part", kind: "Kind", level: "Difficulty", minutes: "Minutes, at most", goal: "Goal", words: "Words" };
    const fits = {
      minutes: (each, asked) => each.minutes !== null && each.minutes <= Number(asked),
      words: (each, asked) =>
        asked.toLowerCase().split(/\s+/).filter(Boolean).every((word) => `${each.words} ${each.goal} ${each.chapter}`.toLowerCase().includes(word)),
    };
    const form = document.createElement("form");
    form.className = "lowdim-exercises-filter";
    form.setAttribute("role", "search");
    form.setAttribute("aria-label", "Which exercises to show");
    const fields = Object.entries(NAMES).map(([name, title]) => {
      const label = document.createElement("label");
      const field = document.createElement(name === "words" ? "input" : "select");
      field.name = name;
      label.className = `filter-${name}`;
      label.append(title, field);
      if (name === "words") {
        field.type = "search";
        field.autocomplete = "off";
        field.placeholder = "gradient, Wedin …";
      } else {
        field.append(new Option("all", ""));
        if (name === "goal") {
          for (const chapter of unique("chapter")) {
            const group = document.createElement("optgroup");
            const own = rows.filter((each) => each.chapter === chapter && each.goal);
            group.label = chapter;
            group.append(...[...new Set(own.map((each) => each.goal))].map((goal) => new Option(goal, goal)));
            if (own.length) field.append(group);
          }
        } else {
          const values = unique(name).filter((value) => value !== null && value !== "");
          if (name === "minutes") values.sort((a, b) => a - b);
          if (name === "level") values.sort((a, b) => order(a) - order(b));
          field.append(...values.map((value) => new Option(value, value)));
        }
      }
      form.append(label);
      return field;
    });
    function order(level) {
      return ["warm-up", "practice", "hard", "open"].indexOf(level);
    }
    const told = document.createElement("p");
    told.setAttribute("role", "status");
    const again = document.createElement("button");
    again.type = "reset";
    again.textContent = "Show all";
    form.append(again, told);

    const read = () => {
      const given = new URLSearchParams(location.search);
      for (const field of fields) {
        const value = given.get(field.name) ?? "";
        field.value = value;
        if (field.value !== value) field.value = ""; // an old address asks for what is gone
      }
    };
    const write = () => {
      const asked = new URLSearchParams();
      for (const field of fields) if (field.value.trim()) asked.set(field.name, field.value.trim());
      const query = asked.size ? `?${asked}` : "";
      if (query === location.search) return;
      try {
        history.replaceState(history.state, "", location.pathname + query + location.hash);
      } catch {
        // a browser that keeps no address of a file
      }
    };
    const show = () => {
      let count = 0;
      const alive = new Set();
      for (const each of rows) {
        each.row.hidden = !fields.every((field) => {
          const asked = field.value.trim();
          return !asked || (fits[field.name]?.(each, asked) ?? String(each[field.name]) === asked);
        });
        if (each.row.hidden) continue;
        count += 1;
        alive.add(each.section);
      }
      for (const { section } of rows) section.hidden = !alive.has(section);
      told.textContent = count === rows.length ? `All ${count} exercises` : `${count} of ${rows.length} exercises`;
      again.disabled = fields.every((field) => !field.value.trim());
    };
    form.addEventListener("input", () => { show(); write(); });
    form.addEventListener("reset", () => setTimeout(() => { show(); write(); }));
    form.addEventListener("submit", (event) => event.preventDefault());
    window.addEventListener("popstate", () => { read(); show(); });
    rows[0].section.before(form);
    read();
    show();
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
