"use strict";
const at = (id) => document.getElementById(id);
const make = (name, ...inside) => {
  const node = document.createElement(name);
  node.append(...inside);
  return node;
};
const table = (what, moved) => {
  const cell = (value) => make("td", value === null ? "—" : String(value));
  const rows = Object.entries(moved).map(([name, [book, run]]) => make("tr", cell(name), cell(book), cell(run)));
  const head = make("thead", make("tr", ...[what, "book", "this run"].map((word) => make("th", word))));
  return make("table", head, make("tbody", ...rows));
};
const show = async () => {
  const id = location.pathname.split("/").pop();
  const answer = await fetch(`/_lowdim/runs/${id}`);
  const entry = await answer.json();
  if (answer.status !== 200) { at("summary").textContent = entry.error; return; }
  at("title").textContent = `A run of ${entry.chapter} beside the book`;
  at("download").href = `/_lowdim/runs/${id}/download`;
  at("command").textContent = entry.command;
  const moved = entry.moved || {};
  at("summary").textContent = moved.summary ||
    (entry.state === "done" ? "The book's own run is not at hand, so nothing is compared." : `${entry.state}. ${entry.said}`);
  const parts = { parameter: moved.parameters, verdict: moved.verdicts, number: moved.values };
  for (const [what, found] of Object.entries(parts))
    if (found && Object.keys(found).length) { at("tables").append(table(what, found)); at("moved").hidden = false; }
  at("moved").open = Boolean(moved.verdicts && Object.keys(moved.verdicts).length);
  if (entry.state !== "done") return;
  at("book").src = `/notebooks/${entry.chapter}.html`;
  if (entry.page) at("run").src = `/_lowdim/runs/${id}/made/${entry.stem}.html`;
  else at("run").replaceWith(make("p", entry.said));
  at("two").hidden = false;
};
show();
