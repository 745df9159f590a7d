// The search of the book: claims first, then symbols, exercises and pages. The index is a script,
// loaded when somebody begins to search; so it works where the book is opened from disk.
(() => {
  const where = document.querySelector("meta[name=lowdim-search]")?.content;
  if (!where) return;
  const root = document.documentElement.dataset.content_root || "./";

  // ---- Words and symbols in one form -------------------------------------------------------
  const GREEK = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma sigma tau upsilon phi chi psi omega".split(" ");
  const SIGNS = { "ϵ": "epsilon", "ϕ": "phi", "ϑ": "theta", "ℓ": "ell", "∞": "infty", "∇": "nabla", "∂": "partial", "‖": " norm ", "§": " section ", "∑": " sum ", "√": " sqrt ", "≤": " le ", "≥": " ge " };
  const DRESS = /\\(?:left|right|[bB]igg?[lrm]?|mathrm|mathbf|mathcal|mathbb|mathsf|boldsymbol|operatorname|text|textstyle|displaystyle|quad|qquad|limits|begin|end|[tdc]?frac|tilde|hat|bar|overline|widetilde|widehat|[,;:!> ])\*?/g;
  const fold = text => text
    .replace(DRESS, " ").replace(/\\(?:[lr]Vert|\|)/g, " norm ").replace(/\\var(?=[a-z])/g, "\\")
    .replace(/\\([a-zA-Z]+)/g, " $1")
    .replace(/[₀-₉]/g, d => "_" + (d.charCodeAt(0) - 0x2080)).replace(/[ϵϕϑℓ∞∇∂‖§∑√≤≥]/g, c => SIGNS[c])
    .normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase()
    .replace(/[α-ω]/g, c => GREEK[c.charCodeAt(0) - 0x3b1])
    .replace(/[{}]/g, "").replace(/[^\p{L}\p{N}._^*]+/gu, " ")
    .replace(/(?<![\p{L}\p{N}])[._^*]+|[._^*]+(?![\p{L}\p{N}*])/gu, " ").replace(/ +/g, " ").trim();
  const SHORT = { thm: "theorem", th: "theorem", theo: "theorem", lem: "lemma", prop: "proposition", cor: "corollary", def: "definition", defn: "definition", eq: "equation", eqn: "equation", fig: "figure", tab: "table", tbl: "table", sec: "section", rem: "remark", app: "appendix", ex: "exercise" };
  const NAMED = /^(theorem|lemma|proposition|corollary|claim|definition|remark|equation|section|appendix|figure|table|exercise)s? ([a-z]?\.?\d[\d.]*|[a-z])(?= |$)/;

  // ---- The index, made ready once ----------------------------------------------------------
  let ready, vocabulary;
  const fetched = address => new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = address;
    script.onload = done;
    script.onerror = failed;
    document.head.append(script);
  });
  const load = () => ready ||= fetched(where).then(() => {
    const made = prepare(window.lowdimIndex);
    made.whole = fetched(where.replace("-index", "-texts")).then(() => { // the prose, a little later
      made.sections.forEach((section, i) => {
        section.says = window.lowdimTexts[i];
        section.fields[1][0] = pad(section.says);
      });
      vocabulary = undefined;
    });
    return made;
  });
  const pad = text => " " + fold(text) + " ";
  const prepare = index => {
    const page = at => ({ href: index.pages[at][0], title: index.pages[at][1], part: index.pages[at][2] });
    const partWords = part => part ? `${part} ${index.parts[part]}` : "";
    const at = (there, place) => there.href + (place ? "#" + encodeURI(place) : "");
    const claims = index.claims.map(([id, name, title, says, body, on, place, verdict, tags]) => {
      const there = page(on), part = id.split(".")[0];
      return { group: "claims", id, name, title, says, body, verdict, tags, href: at(there, place),
        part: index.parts[part], where: there.title, ours: name.startsWith("New:"),
        fields: [[pad(name), 60], [pad(title), 45], [pad(says), 25], [pad(body), 15],
          [pad(`${verdict} ${tags.join(" ")} ${partWords(part)} ${id}`), 8]] };
    });
    const notation = index.notation.map(([on, place, symbol, meaning, part]) => ({
      group: "notation", name: symbol, says: meaning, part, href: at(page(on), place),
      fields: [[pad(symbol), 60], [pad(meaning), 25], [pad(part), 5]] }));
    const exercises = index.exercises.map(([on, place, name, words]) => {
      const there = page(on);
      return { group: "exercises", name, says: words, part: index.parts[there.part] || "", where: there.title,
        href: at(there, place), fields: [[pad(name), 30], [pad(words), 25], [pad(there.title + " " + partWords(there.part)), 8]] };
    });
    let last = -1;
    const sections = index.sections.map(([on, place, heading]) => {
      const there = page(on), top = on !== last;
      last = on;
      return { group: "pages", name: top ? there.title : heading, says: "", page: on, top,
        part: index.parts[there.part] || "", where: top ? "" : there.title, href: at(there, top ? "" : place),
        fields: [[pad(heading), top ? 60 : 40], [" ", 12], [pad(top ? partWords(there.part) : there.title), top ? 6 : 4]] };
    });
    const names = index.names.flatMap(([on, module, list]) => list.split(" ").map(name => ({
      group: "pages", name: `${module}.${name}`, code: true, says: "", page: module, part: "", where: page(on).title,
      href: at(page(on), `${module}.${name}`), fields: [[pad(`${module} ${name}`.replace(/[._]/g, " ") + " " + name), 5]] })));
    const all = [...claims, ...notation, ...exercises, ...sections, ...names];
    for (const entry of all) entry.folded = fold(entry.name);
    return { all, sections, meanings: index.meanings };
  };

  // ---- Finding ------------------------------------------------------------------------------
  // How well a word fits an entry: whole words before beginnings before middles; 0 where it is not.
  const fit = (entry, word) => {
    let best = 0;
    for (const [text, weight] of entry.fields) {
      const begins = " " + word + (/^\d+$/.test(word) ? "." : ""); // 3 begins 3.1, and not 30
      const score = text.includes(` ${word} `) ? weight : text.includes(begins) ? 0.8 * weight
        : word.length > 3 && text.includes(word) ? 0.4 * weight : 0;
      if (score > best) best = score;
    }
    return best;
  };
  const score = (entry, query) => {
    let sum = 0;
    if (query.named && !entry.fields.some(([text]) => text.includes(` ${query.named} `) || text.includes(` ${query.named}.`))) return 0;
    for (const word of query.words) {
      const found = fit(entry, word);
      if (!found) return 0;
      sum += found;
    }
    sum /= query.words.length;
    if (query.words.length > 1)
      for (const [text, weight] of entry.fields)
        if (text.includes(` ${query.phrase} `)) { sum += weight; break; }
    if (entry.folded === query.phrase) sum += 400;
    if (entry.top) sum += 3;
    if (!query.named || entry.group !== "claims") return sum;
    const title = entry.fields[1][0];
    if (entry.folded === query.phrase) return 1100; // the name as it is, and not what it begins with
    if (entry.folded === query.named) return 1000; // ties stay in the order of the book
    if (entry.ours && title.includes(` ${query.named} `)) return 900; // its repair
    if ((entry.folded + " ").startsWith(query.named + " ")) return 800;
    if (entry.folded.startsWith(query.named)) return 700;
    return title.includes(` ${query.named} `) ? sum + 600 : sum;
  };
  const parse = text => {
    const words = fold(text).split(" ").filter(Boolean).map(word => SHORT[word] || word);
    const phrase = words.join(" ");
    return { words, phrase, named: NAMED.exec(phrase)?.[0] };
  };
  const rank = (entries, query) => {
    const found = [];
    entries.forEach((entry, order) => {
      const value = score(entry, query);
      if (value) found.push({ entry, value, order });
    });
    found.sort((a, b) => b.value - a.value || a.order - b.order);
    const seen = new Map(), groups = { claims: [], notation: [], exercises: [], pages: [] };
    for (const { entry } of found) {
      if (entry.group === "pages") { // two places of a page are enough
        const count = seen.get(entry.page) || 0;
        if (count > 1) continue;
        seen.set(entry.page, count + 1);
      }
      groups[entry.group].push(entry);
    }
    return groups;
  };
  const near = (a, b) => { // one letter wrong, missing, too many, or two of them swapped
    if (Math.abs(a.length - b.length) > 1 || a === b) return a === b;
    let i = 0;
    while (i < a.length && a[i] === b[i]) i++;
    return a.slice(i + 1) === b.slice(i + 1) || a.slice(i) === b.slice(i + 1) || a.slice(i + 1) === b.slice(i)
      || (a[i] === b[i + 1] && a[i + 1] === b[i] && a.slice(i + 2) === b.slice(i + 2));
  };
  const forgiven = (made, query) => {
    vocabulary ||= (() => {
      const counted = new Map();
      for (const entry of made.all) for (const [text] of entry.fields)
        for (const word of text.split(" ")) if (word.length > 4) counted.set(word, (counted.get(word) || 0) + 1);
      return [...counted].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(pair => pair[0]);
    })();
    const words = query.words.map(word => word.length > 5 && !made.all.some(entry => fit(entry, word))
      ? vocabulary.find(known => near(word, known)) || word : word);
    return words.join(" ") === query.phrase ? null : parse(words.join(" "));
  };
  const count = groups => Object.values(groups).reduce((sum, group) => sum + group.length, 0);
  const find = (made, text) => {
    let query = parse(text);
    if (!query.words.length) return null;
    let groups = rank(made.all, query), instead = "";
    if (!count(groups) && query.named) groups = rank(made.all, query = { ...query, named: undefined });
    if (!count(groups)) {
      const other = forgiven(made, query);
      if (other) {
        const again = rank(made.all, other);
        if (count(again)) [groups, query, instead] = [again, other, other.phrase];
      }
    }
    return { groups, query, instead, meanings: made.meanings };
  };
  window.lowdimSearch = { find: async text => { const made = await load(); await made.whole; return find(made, text); } };

  // ---- Showing ------------------------------------------------------------------------------
  const make = (tag, style, ...children) => {
    const element = document.createElement(tag);
    if (style) element.className = style;
    element.append(...children);
    return element;
  };
  const hits = (text, words) => {
    const hay = " " + fold(text) + " ";
    return words.some(word => hay.includes(" " + word) || (word.length > 3 && hay.includes(word)));
  };
  // A text with its formulas as elements and the words that were asked for marked.
  const marked = (text, words) => text.split(/(\$[^$]*\$)/).flatMap((piece, i) => {
    if (i % 2) {
      const formula = make("span", "math notranslate nohighlight", `\\(${piece.slice(1, -1)}\\)`);
      return [hits(piece, words) ? make("mark", "", formula) : formula];
    }
    return piece.split(/([\p{L}\p{N}][\p{L}\p{N}._'’-]*)/u).map((word, j) =>
      j % 2 && hits(word, words) ? make("mark", "", word) : word);
  });
  const LONG = 220;
  const snippet = (text, words) => {
    const sentences = text.match(/(?:\$[^$]*\$|[^.$]|\.(?! ))+(?:\. |$)/g) || [text];
    let best = 0, most = -1;
    sentences.forEach((sentence, i) => {
      const value = words.filter(word => hits(sentence, [word])).length;
      if (value > most) [best, most] = [i, value];
    });
    let shown = sentences[best].trim();
    for (let i = best + 1; i < sentences.length && shown.length + sentences[i].length < LONG; i++) shown += " " + sentences[i].trim();
    if (shown.length <= LONG) return (best && most ? "… " : "") + shown;
    const pieces = shown.match(/\$[^$]*\$\S*|[^\s$]+(?:\$[^$]*\$\S*)?/g) || [shown];
    let first = Math.max(0, pieces.findIndex(piece => hits(piece, words)) - 8), out = [], size = 0;
    for (let i = first; i < pieces.length && (size += pieces[i].length + 1) < LONG + 60; i++) out.push(pieces[i]);
    return (first || best ? "… " : "") + out.join(" ") + (first + out.length < pieces.length ? " …" : "");
  };
  const HEADS = { claims: "Claims", notation: "Notation", exercises: "Exercises", pages: "Pages" };
  const ONE = { claims: "claim", notation: "symbol", exercises: "exercise", pages: "page" };
  const item = (entry, { query, meanings }) => {
    const { words } = query, head = make("span", "ls-head"), link = make("a", "ls-hit", head);
    link.href = root + entry.href;
    head.append(entry.code ? make("code", "", entry.name) : make("span", "ls-name", ...marked(entry.name, words)));
    const title = entry.title?.replace(/,? as printed$/, "");
    if (title && fold(title) !== entry.folded) head.append(" ", make("span", "ls-title", ...marked(title, words)));
    for (const [i, badge] of [entry.verdict, ...(entry.tags || [])].filter(Boolean).entries()) {
      const shown = make("span", `verdict verdict-${i ? "tag" : badge}`, badge);
      shown.title = meanings[badge] || "";
      head.append(" ", shown);
    }
    const says = entry.group === "claims" && !hits(entry.says, words) && hits(entry.body, words) && !query.named ? entry.body : entry.says;
    if (says) link.append(make("span", "ls-says", ...marked(snippet(says, words), words)));
    const place = [entry.part, entry.where].filter(Boolean).join(" · ");
    if (place) link.append(make("span", "ls-where", ...marked(place, [])));
    return make("li", "", link);
  };
  const say = found => {
    const parts = Object.entries(found.groups).filter(([, list]) => list.length)
      .map(([name, list]) => `${list.length} ${ONE[name]}${list.length > 1 ? "s" : ""}`);
    return parts.length ? parts.join(", ") : "Nothing found.";
  };
  const show = (place, found, most) => {
    place.replaceChildren();
    if (!found) return;
    const status = make("p", "ls-status", say(found));
    status.setAttribute("role", "status");
    if (found.instead) status.prepend(`Nothing for these letters; shown is “${found.instead}”: `);
    place.append(status);
    if (!count(found.groups)) {
      place.append(make("p", "ls-none", "All words have to occur together. Try fewer words, a claim’s name, or a symbol."));
      return;
    }
    for (const [name, list] of Object.entries(found.groups)) {
      if (!list.length) continue;
      const head = make("h2", "ls-group", HEADS[name]), items = make("ul", "ls-list");
      head.id = `ls-${most}-${name}`;
      items.setAttribute("aria-labelledby", head.id);
      const add = (from, to) => {
        const fresh = list.slice(from, to).map(entry => item(entry, found));
        items.append(...fresh);
        return fresh;
      };
      add(0, most);
      place.append(head, items);
      if (list.length > most) {
        const more = make("button", "ls-more", `Show all ${list.length}`);
        more.type = "button";
        more.onclick = () => {
          const fresh = add(most, list.length);
          more.remove();
          fresh[0].firstChild.focus();
          window.lowdimTypeset?.(items);
        };
        place.append(more);
      }
    }
    window.lowdimTypeset?.(place);
  };

  // ---- The field and the keys -----------------------------------------------------------------
  const attach = (form, place, most, onType) => {
    const input = form.querySelector("input[name=q]");
    input.placeholder = "Search claims, symbols, pages …";
    input.setAttribute("aria-label", "Search claims, symbols, exercises and pages");
    let turn = 0, timer;
    const run = async () => {
      const mine = ++turn, text = input.value;
      onType?.(text);
      try {
        const made = await load();
        if (mine !== turn) return;
        show(place, find(made, text), most);
        if (window.lowdimTexts) return;
        await made.whole;
        if (mine === turn && !place.contains(document.activeElement)) show(place, find(made, text), most);
      } catch {
        place.replaceChildren(make("p", "ls-none", "The index of this book could not be read."));
      }
    };
    input.addEventListener("focus", () => load().catch(() => {}), { once: true });
    input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(run, 60); });
    const around = form.closest("dialog") || form.parentElement;
    around.addEventListener("keydown", event => {
      const stops = [input, ...place.querySelectorAll("a.ls-hit, button.ls-more")];
      const at = stops.indexOf(document.activeElement);
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step && at >= 0) {
        event.preventDefault();
        const next = stops[Math.min(Math.max(at + step, 0), stops.length - 1)];
        next.focus();
        next.scrollIntoView({ block: "nearest" });
      } else if (at > 0 && event.key.length === 1 && event.key !== " " && !event.ctrlKey && !event.metaKey && !event.altKey) {
        input.focus(); // go on typing
      } else if (event.key === "Escape" && around.open && at !== 0) { // from the field the theme closes
        event.preventDefault();
        around.close();
      } else if (event.key === "Escape" && !around.open && input.value) {
        event.preventDefault();
        input.value = "";
        input.focus();
        run();
      }
    });
    return { input, run };
  };

  const dialog = document.getElementById("pst-search-dialog");
  if (dialog) {
    dialog.setAttribute("aria-label", "Search");
    const place = make("div", "lowdim-search mathjax_ignore");
    dialog.append(place);
    attach(dialog.querySelector("form"), place, 6);
    dialog.addEventListener("click", event => {
      const link = event.target.closest("a.ls-hit");
      if (link && !event.ctrlKey && !event.metaKey) dialog.close(); // the place may be on this page
    });
  }
  const own = document.querySelector(".lowdim-search-page");
  if (own) {
    const place = document.getElementById("search-results");
    place.classList.add("lowdim-search", "mathjax_ignore");
    const { input, run } = attach(own.querySelector("form"), place, 25, text => {
      const address = text ? "?q=" + encodeURIComponent(text) : location.pathname.split("/").pop();
      try { history.replaceState(null, "", address); } catch { /* not from every disk */ }
    });
    own.querySelector("form").addEventListener("submit", event => { event.preventDefault(); run(); });
    input.value = new URLSearchParams(location.search).get("q") || "";
    input.focus();
    if (input.value) run();
  }
})();
