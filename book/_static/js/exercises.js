// The page of exercises: three menus that leave the rows of one part, one kind, one time.
// Without this script all rows are there; the menus only hide.
(() => {
  const start = () => {
    const tables = [...document.querySelectorAll("table.lowdim-exercises")];
    if (!tables.length) return;
    const rows = tables.flatMap((table) => {
      const section = table.closest("section");
      const part = section.querySelector("h2")?.firstChild?.textContent.trim() ?? "";
      return [...table.tBodies[0].rows].map((row) => ({
        row,
        section,
        part,
        kind: row.cells[1].textContent.trim(),
        time: row.cells[2].textContent.trim(),
      }));
    });
    const minutes = (time) => parseInt(time, 10) || (time === "Open" ? 1e9 : 0);
    const form = document.createElement("form");
    form.className = "lowdim-exercises-filter";
    form.setAttribute("aria-label", "Which exercises to show");
    const menus = ["part", "kind", "time"].map((name) => {
      const values = [...new Set(rows.map((each) => each[name]))];
      if (name === "time") values.sort((a, b) => minutes(a) - minutes(b));
      const label = document.createElement("label");
      const menu = document.createElement("select");
      label.append(name[0].toUpperCase() + name.slice(1), menu);
      menu.name = name;
      menu.append(new Option("all", ""), ...values.map((value) => new Option(value, value)));
      form.append(label);
      return menu;
    });
    const told = document.createElement("p");
    told.setAttribute("role", "status");
    const again = document.createElement("button");
    again.type = "reset";
    again.textContent = "Show all";
    form.append(again, told);
    const show = () => {
      let count = 0;
      const alive = new Set();
      for (const each of rows) {
        const fits = menus.every((menu) => !menu.value || each[menu.name] === menu.value);
        each.row.hidden = !fits;
        if (fits) {
          count += 1;
          alive.add(each.section);
        }
      }
      for (const { section } of rows) section.hidden = !alive.has(section);
      told.textContent = count === rows.length ? `All ${count} exercises` : `${count} of ${rows.length} exercises`;
      again.disabled = count === rows.length;
    };
    form.addEventListener("input", show);
    form.addEventListener("reset", () => setTimeout(show));
    form.addEventListener("submit", (event) => event.preventDefault());
    rows[0].section.before(form);
    show();
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
