// While a node of the graph of claims is looked at, what it rests on and what rests on it stays.
(() => {
  for (const drawing of document.querySelectorAll("svg.claim-graph")) {
    const edges = [...drawing.querySelectorAll(".edge")];
    const nodes = new Map([...drawing.querySelectorAll("a.node")].map(n => [n.dataset.claim, n]));
    const chain = (name, from, to) => {  // all edges that lead on from a node, one way
      const found = new Set(), todo = [name], seen = new Set(todo);
      while (todo.length) {
        const here = todo.pop();
        for (const edge of edges) {
          if (edge.dataset[from] !== here) continue;
          found.add(edge);
          if (!seen.has(edge.dataset[to])) { seen.add(edge.dataset[to]); todo.push(edge.dataset[to]); }
        }
      }
      return [found, seen];
    };
    const leave = () => {
      drawing.classList.remove("looking");
      drawing.querySelectorAll(".lit").forEach(e => e.classList.remove("lit"));
    };
    const look = name => {
      leave();
      for (const [along, names] of [chain(name, "to", "from"), chain(name, "from", "to")]) {
        along.forEach(edge => edge.classList.add("lit"));
        names.forEach(other => nodes.get(other).classList.add("lit"));
      }
      drawing.classList.add("looking");
    };
    for (const [name, node] of nodes) {
      node.addEventListener("pointerenter", () => look(name));
      node.addEventListener("pointerleave", leave);
      node.addEventListener("focus", () => look(name));
      node.addEventListener("blur", leave);
    }
  }
})();
