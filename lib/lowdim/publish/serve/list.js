"use strict";
const at = (id) => document.getElementById(id);
const make = (name, more = {}, ...inside) => {
  const node = Object.assign(document.createElement(name), more);
  node.append(...inside);
  return node;
};
const ask = async (path, method = "GET") => {
  try {
    const answer = await fetch(`/_lowdim/runs${path}`, { method });
    return { status: answer.status, told: await answer.json() };
  } catch {
    return { status: 0, told: { error: "The server does not answer; is lowdim serve running?" } };
  }
};
const say = (sentence) => { at("wrong").textContent = sentence; at("wrong").hidden = !sentence; };
const act = (label, path, method) => {
  const button = make("button", { type: "button" }, label);
  button.addEventListener("click", async () => {
    const { status, told } = await ask(path, method);
    say(status === 200 ? "" : told.error);
    await show();
  });
  return button;
};
const row = (entry) => {
  const active = ["waiting", "running"].includes(entry.state);
  const values = Object.entries(entry.values).map(([name, value]) => `${name}=${value}`).join(", ");
  const state = make("td", {}, entry.state);
  if (entry.state === "running" && entry.cells) state.append(` (${entry.cell} of ${entry.cells})`);
  if (entry.said) state.append(make("br"), make("small", {}, entry.said));
  const links = make("td");
  if (entry.state === "done") links.append(make("a", { href: `/_lowdim/beside/${entry.id}` }, "see"), " ",
    make("a", { href: `/_lowdim/runs/${entry.id}/download` }, "download"), " ");
  links.append(active ? act("Cancel", `/${entry.id}/cancel`, "POST") : act("Delete", `/${entry.id}`, "DELETE"));
  const line = make("tr", {}, make("td", {}, new Date(entry.asked * 1000).toLocaleString()),
    make("td", {}, make("a", { href: `/notebooks/${entry.chapter}.html` }, entry.chapter)),
    make("td", {}, [entry.preset && `preset ${entry.preset}`, values].filter(Boolean).join(": ") || "none"),
    state, make("td", {}, entry.ended && entry.began ? (entry.ended - entry.began).toFixed(1) : ""), links);
  line.dataset.run = entry.id;
  return line;
};
let last = "";
const show = async () => {
  const { status, told } = await ask("");
  if (status !== 200) { say(told.error); return; }
  const now = JSON.stringify(told);
  if (now === last) return; // a button under the pointer stays where it is
  last = now;
  at("rows").replaceChildren(...told.map(row));
  at("table").hidden = !told.length;
  at("none").hidden = told.length > 0;
};
show();
setInterval(show, 1500);
