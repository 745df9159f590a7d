"use strict";
// The panel on a chapter's page: parameters, run, progress, cancel. All checks are the server's.
(() => {
  const chapter = document.currentScript.dataset.chapter;
  const base = "/_lowdim";
  if (window.top !== window) return; // beside another page
  const make = (name, more = {}, ...inside) => {
    const node = Object.assign(document.createElement(name), more);
    node.append(...inside);
    return node;
  };
  const ask = async (path, method = "GET", told) => {
    let answer;
    try {
      answer = await fetch(base + path, {
        method,
        headers: told ? { "Content-Type": "application/json" } : {},
        body: told && JSON.stringify(told),
      });
    } catch {
      return { status: 0, told: { error: "The server does not answer; is lowdim serve running?" } };
    }
    return { status: answer.status, told: await answer.json() };
  };

  const start = async () => {
    const { status, told } = await ask(`/chapters/${chapter}`);
    const wrong = make("p", { className: "wrong", role: "alert", hidden: true });
    const box = make("details", { className: "lowdim-panel" }, make("summary", {}, "Run this chapter"));
    const title = ["article h1", "main h1", "h1"].map((of) => document.querySelector(of)).find(Boolean);
    if (title) title.after(box); else document.body.prepend(box);
    const say = (sentence) => { wrong.textContent = sentence; wrong.hidden = !sentence; };
    if (status !== 200) { box.append(wrong); say(told.error); return; }

    const inputs = new Map();
    const form = make("form", { noValidate: true });
    const preset = make("select", { id: "lowdim-preset" }, make("option", { value: "" }, "the book's own"));
    for (const name of Object.keys(told.presets)) preset.append(make("option", { value: name }, name));
    if (Object.keys(told.presets).length)
      form.append(make("div", { className: "one" }, make("label", { htmlFor: preset.id }, "preset"), preset,
        make("small", {}, "a named set of values; change what you like")));
    const given = (name) => (told.presets[preset.value] || {})[name] ?? inputs.get(name).fallback;
    for (const each of told.parameters) {
      const id = `lowdim-parameter-${each.name}`;
      const input = each.choices.length
        ? make("select", {}, ...each.choices.map((choice) => make("option", { value: choice }, choice)))
        : make("input", { type: "text", autocomplete: "off", spellcheck: false });
      Object.assign(input, { id, name: each.name, value: each.default });
      input.setAttribute("aria-describedby", `${id}-about`);
      const about = [each.meaning, each.range, `default ${each.default}`].filter(Boolean).join("; ");
      const line = make("div", { className: "one" }, make("label", { htmlFor: id }, each.name), input,
        make("small", { id: `${id}-about` }, about));
      inputs.set(each.name, { input, line, fallback: each.default });
      form.append(line);
    }
    const mark = () => inputs.forEach(({ input, line }, name) => {
      line.classList.toggle("changed", input.value.trim() !== inputs.get(name).fallback);
      input.removeAttribute("aria-invalid");
    });
    preset.addEventListener("change", () => {
      inputs.forEach(({ input }, name) => { input.value = given(name); });
      mark();
    });
    form.addEventListener("input", mark);
    const run = make("button", { type: "submit" }, "Run");
    const cancel = make("button", { type: "button", hidden: true }, "Cancel");
    const bar = make("progress", { hidden: true });
    const state = make("span", { role: "status" });
    form.append(make("div", { className: "lowdim-row" }, run, cancel, bar, state), wrong);
    box.append(form, make("p", {}, make("a", { href: `${base}/list` }, "All runs")));

    let current = null;
    const show = (entry) => {
      current = entry;
      const active = ["waiting", "running"].includes(entry.state);
      cancel.hidden = !active;
      bar.hidden = entry.state !== "running";
      if (entry.cells) { bar.max = entry.cells; bar.value = entry.cell - 1; } else bar.removeAttribute("value");
      state.replaceChildren();
      if (entry.state === "waiting") state.append(`waiting; ${entry.before} before it`);
      else if (entry.state === "running")
        state.append(entry.cells ? `running: code cell ${entry.cell} of ${entry.cells}` : "starting");
      else {
        state.append(`${entry.state}. `, (entry.moved || {}).summary || "", " ");
        if (entry.state === "done")
          state.append(make("a", { href: `${base}/beside/${entry.id}` }, "See it beside the book"));
        if (entry.state !== "done") say(entry.said);
      }
      return active;
    };
    const follow = async (id) => {
      for (;;) {
        const { status, told } = await ask(`/runs/${id}`);
        if (current && current.id !== id) return;
        if (status !== 200) { cancel.hidden = bar.hidden = true; state.textContent = ""; say(told.error); return; }
        if (!show(told)) return;
        await new Promise((next) => setTimeout(next, 500));
      }
    };
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      say("");
      mark();
      const values = {};
      inputs.forEach(({ input }, name) => { if (input.value.trim() !== given(name)) values[name] = input.value; });
      run.disabled = true;
      const { status, told } = await ask("/runs", "POST", { chapter, preset: preset.value || null, values });
      run.disabled = false;
      if (status !== 201) {
        say(told.error);
        const about = inputs.get(told.parameter);
        if (about) { about.input.setAttribute("aria-invalid", "true"); about.input.focus(); }
        return;
      }
      show(told);
      follow(told.id);
    });
    cancel.addEventListener("click", () => current && ask(`/runs/${current.id}/cancel`, "POST", {}));
    const others = await ask("/runs");
    const mine = others.status === 200 &&
      others.told.find((entry) => entry.chapter === chapter && ["waiting", "running"].includes(entry.state));
    if (mine) { box.open = true; follow(mine.id); }
  };
  start();
})();
