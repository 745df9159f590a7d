// Moving figures: the page has the first frame; this draws the others. A figure's mathematics is a
// function of its settings in moving_figures.js, as it is in Python for the first frame.
window.lowdimMoving = { figures: {} };
(() => {
  const { log, max, min } = Math;
  const share = (v, [a, b], isLog) =>
    isLog ? (log(max(v, 1e-300)) - log(a)) / (log(b) - log(a)) : (v - a) / (b - a);
  const plane = ({ x, y, box, log: logs }) => {
    const [left, top, right, bottom] = box;
    const at = (u, v) => [
      left + share(u, x, logs[0]) * (right - left),
      bottom - share(v, y, logs[1]) * (bottom - top),
    ];
    const back = (u, v) => [
      x[0] + ((u - left) / (right - left)) * (x[1] - x[0]),
      y[0] + ((bottom - v) / (bottom - top)) * (y[1] - y[0]),
    ];
    const path = (points) =>
      "M" + points.map(([u, v]) => at(u, v).map((c) => c.toFixed(1)).join(" ")).join("L");
    return { x, y, box, at, back, path };
  };

  // The first figure of the book plays once when it is seen, unless motion is not wanted or a
  // reader was quicker.
  const once = (root, button) => {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const seen = new IntersectionObserver(
      ([entry]) => {
        if (!entry.isIntersecting) return;
        seen.disconnect();
        setTimeout(() => root.matches(":focus-within, .is-moved") || button.click(), 600);
      },
      { threshold: 0.5 },
    );
    seen.observe(root.querySelector("svg"));
  };

  const start = (root) => {
    const given = JSON.parse(root.querySelector("script[type='application/json']").textContent);
    const planes = {};
    for (const [name, data] of Object.entries(given.planes)) planes[name] = plane(data);
    const figure = window.lowdimMoving.figures[given.name](planes, given.fixed);
    const state = { ...given.state };
    const svg = root.querySelector("svg");
    const parts = {};
    for (const part of svg.querySelectorAll("[data-part]")) parts[part.dataset.part] = part;
    const shown = {};
    for (const place of root.querySelectorAll("[data-value]"))
      (shown[place.dataset.value] ??= []).push(place);
    const command = root.querySelector(".moving-run");
    const call = root.querySelector(".moving-call");
    const handle = given.handle && parts[given.handle.part];

    const draw = () => {
      const frame = figure(state);
      for (const [name, attributes] of Object.entries(frame.parts))
        for (const [key, value] of Object.entries(attributes))
          parts[name].setAttribute(key, typeof value === "number" ? value.toFixed(1) : value);
      for (const [name, value] of Object.entries(frame.values))
        for (const place of shown[name] ?? []) place.textContent = value;
      command.textContent = frame.command;
      call.textContent = frame.call;
      for (const input of root.querySelectorAll("input[type=range]"))
        input.setAttribute("aria-valuetext", frame.values[input.name]);
      if (!handle) return;
      handle.setAttribute("aria-valuenow", state[given.handle.settings[0]].toFixed(2));
      handle.setAttribute("aria-valuetext", frame.values[given.handle.part]);
    };
    root.lowdimFrame = (settings) => figure({ ...given.state, ...settings });

    for (const input of root.querySelectorAll("input[type=range]"))
      input.addEventListener("input", () => {
        stop();
        root.classList.add("is-moved");
        state[input.name] = Number(input.value);
        draw();
      });

    const button = root.querySelector(".moving-play");
    let running = 0;
    const stop = () => {
      cancelAnimationFrame(running);
      running = 0;
      button?.setAttribute("aria-pressed", "false");
    };
    button?.addEventListener("click", () => {
      if (running) return stop();
      const name = button.dataset.plays;
      const input = root.querySelector(`input[name=${name}]`);
      const go = (value) => {
        state[name] = value;
        input.value = value;
        draw();
      };
      // Where motion is not wanted the button only jumps to the end.
      if (matchMedia("(prefers-reduced-motion: reduce)").matches) return go(Number(input.max));
      button.setAttribute("aria-pressed", "true");
      const began = performance.now();
      const step = (now) => {
        const along = min(1, max(0, (now - began) / 2600));
        go(Number(input.min) + along * along * (3 - 2 * along) * (input.max - input.min));
        running = along < 1 ? requestAnimationFrame(step) : 0;
        if (!running) stop();
      };
      running = requestAnimationFrame(step);
    });

    if (handle) {
      const names = given.handle.settings;
      const space = planes[given.handle.plane];
      const grip = parts[given.handle.grip]; // wider than the point, for fingers
      const put = (values) => {
        stop();
        root.classList.add("is-moved");
        names.forEach((name, i) => {
          const { low, high } = given.ranges[name];
          state[name] = min(high, max(low, values[i]));
        });
        draw();
      };
      // The point keeps its place under the finger, wherever the finger took hold of it.
      let hold = [0, 0];
      const under = (event) => {
        const at = new DOMPoint(event.clientX, event.clientY)
          .matrixTransform(svg.getScreenCTM().inverse());
        return space.back(at.x, at.y);
      };
      const move = (event) => put(under(event).map((value, i) => value + hold[i]));
      grip.addEventListener("pointerdown", (event) => {
        grip.setPointerCapture(event.pointerId);
        hold = under(event).map((value, i) => state[names[i]] - value);
        handle.focus({ preventScroll: true });
        event.preventDefault();
      });
      // What nobody sees has no touch-action in Chromium; this keeps the page where it is.
      grip.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
      grip.addEventListener("pointermove", (event) => {
        if (grip.hasPointerCapture(event.pointerId)) move(event);
      });
      handle.addEventListener("keydown", (event) => {
        const [dx, dy] = {
          ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1],
        }[event.key] ?? [0, 0];
        if (!dx && !dy) return;
        event.preventDefault();
        const many = event.shiftKey ? 5 : 1;
        const steps = names.map((name) => given.ranges[name].step * many);
        put([state[names[0]] + dx * steps[0], state[names[1]] + dy * steps[1]]);
      });
    }
    root.classList.add("is-live");
    if (button && root.dataset.once !== undefined) once(root, button);
  };

  document.addEventListener("DOMContentLoaded", () => {
    for (const root of document.querySelectorAll("[data-moving]")) start(root);
  });
})();
