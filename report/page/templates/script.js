(() => {
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const byId = (id) => document.getElementById(id);
  const inputs = all("#tools input");
  const search = byId("q");
  const tags = search ? JSON.parse(search.dataset.engines) : {};
  const names = search ? Object.keys(tags)
    : all("#tools [type=checkbox]").map((box) => box.value);
  const start = { e: search ? "" : names.join(","), q: "", m: "rate", g: "closed",
    s: "listed", t: "auto" };
  let state = { ...start }, anchor = "";

  const read = () => {
    state = { ...start };
    anchor = "";
    for (const part of location.hash.slice(1).split("&")) {
      const [key, value] = part.split("=");
      if (value === undefined) anchor = part;
      else if (key in start && value) state[key] = decodeURIComponent(value);
    }
    if (!inputs.some((i) => i.name === "m" && i.value === state.m)) state.m = "rate";
  };
  const write = () => {
    const changed = Object.keys(start).filter((k) => state[k] !== start[k])
      .map((k) => k + "=" + encodeURIComponent(state[k]).replaceAll("%2C", ","));
    const hash = [anchor, ...changed].filter(Boolean).join("&");
    history.replaceState(null, "", hash ? "#" + hash : location.pathname);
  };
  // Of a search, commas separate alternatives, of which all words must begin a tag.
  const chosen = () => {
    if (!search) return state.e.split(",");
    const wanted = state.q.toLowerCase().split(",")
      .map((term) => term.split(/\s+/).filter(Boolean)).filter((term) => term.length);
    return wanted.length ? names.filter((name) => wanted.some((words) =>
      words.every((word) => tags[name].includes(" " + word)))) : names;
  };

  const slower = (times) => (times < 9.995 ? times.toFixed(2)
    : Math.round(times).toLocaleString("en")) + "×";
  const texts = {
    off: (times) => times === 1 ? "" : slower(times),
    slower: (times) => times === 1 ? "best" : slower(times) + " slower",
  };
  const multiples = all("[data-off]").map((part) => {
    const cell = part.closest("td");
    return { part, cell, off: +part.dataset.off, of: part.dataset.of,
      text: part.textContent, best: part.dataset.best,
      heat: cell.style.getPropertyValue("--h") };
  });
  const compare = (shown) => {
    const best = {};
    const isPart = shown.length < names.length;
    for (const { part, off, of } of multiples)
      if (shown.includes(of) || !names.includes(of))
        best[part.dataset.c] = Math.min(best[part.dataset.c] ?? Infinity, off);
    for (const { part, cell, off, text, best: usual, heat } of multiples) {
      const times = off / best[part.dataset.c];
      const changed = isPart && times >= 1;
      if (part.dataset.k)
        part.textContent = changed ? texts[part.dataset.k](times) : text;
      else {
        part.dataset.best = !changed ? usual : times === 1 ? "best" : slower(times);
        if (heat) cell.style.setProperty("--h",
          changed ? Math.max(0, 1 - Math.log2(times) / 6) : heat);
      }
    }
    byId("note").textContent = !isPart ? "" : shown.length + " of " + names.length
      + " engines" + (multiples.length
        ? ": multiples and colours are of these, ★ and verdicts of all" : "");
  };

  const units = { ns: 1e-9, "µs": 1e-6, ms: 1e-3, k: 1e3, M: 1e6, G: 1e9, KiB: 1024,
    MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, min: 60, h: 3600 };
  const parsed = (text) => {
    const found = /^[★≈<~±\s]*([−-]?\d[\d,.]*)\s*([a-zµ]*)/i.exec(text);
    return !found ? NaN
      : +found[1].replaceAll(",", "").replace("−", "-") * (units[found[2]] ?? 1);
  };
  const number = (cell) => cell.dataset.n ? +cell.dataset.n
    : cell.matches("th") ? NaN : parsed(cell.textContent);
  // Sorts the rows of engines by a key, those without one last, or puts them back.
  const homes = new Map();
  const arrange = (table, key, sign = 1) => {
    if (!homes.has(table))
      homes.set(table, all("tbody tr:not(.g)", table).map((row) => [row, row.parentNode]));
    const rows = homes.get(table);
    table.toggleAttribute("data-sorted", Boolean(key));
    if (!key) return rows.forEach(([row, home]) => home.append(row));
    const keyed = rows.map(([row]) => ({ row, key: key(row) }));
    keyed.sort(({ key: a }, { key: b }) => typeof a === "string"
      ? sign * a.localeCompare(b) : isNaN(a) - isNaN(b) || sign * (a - b) || 0);
    keyed.forEach(({ row }) => rows[0][1].append(row));
  };
  const sortBy = (head, table, column) => {
    const turn = (+(head.dataset.turn ?? 0) + 1) % 3;
    for (const other of all("th", table)) {
      other.removeAttribute("aria-sort");
      delete other.dataset.turn;
    }
    const cells = all("tbody tr:not(.g)", table).map((row) => row.cells[column]);
    const known = cells.filter((cell) => !isNaN(number(cell))).length;
    const isText = 2 * known < cells.filter((cell) => cell.textContent !== "–").length;
    const first = isText || table.matches(".flip") ? 1 : -1;
    const sign = turn === 1 ? first : -first;
    if (!turn) return arrange(table);
    head.dataset.turn = turn;
    const isNegated = cells.some((cell) => cell.dataset.n < 0);
    head.setAttribute("aria-sort", sign > 0 === isNegated ? "descending" : "ascending");
    const value = isText ? (cell) => cell.textContent : number;
    arrange(table, (row) => value(row.cells[column]), sign);
  };
  const sortable = (table) => {
    const rows = all("thead tr", table);
    if (all("tbody tr:not(.g)", table).length < 3) return;
    const isFlip = table.matches(".flip");
    [...rows.at(-1).cells].forEach((head, i) => {
      const button = document.createElement("button");
      button.className = "sort";
      if (isFlip) {
        button.setAttribute("aria-label", "Sort by " + head.textContent);
        head.append(button);
      } else {
        button.append(...head.childNodes);
        head.append(button);
      }
      button.addEventListener("click", () => sortBy(head, table, isFlip ? i + 1 : i));
    });
  };

  const apply = () => {
    const shown = chosen();
    if (state.t === "auto") delete root.dataset.theme;
    else root.dataset.theme = state.t;
    root.dataset.show = state.m;
    root.dataset.groups = search && state.q ? "open" : state.g;
    root.toggleAttribute("data-part", shown.length < names.length);
    for (const input of inputs)
      if (input === search) input.value = state.q;
      else input.checked = input.type === "checkbox"
        ? shown.includes(input.value) : state[input.name] === input.value;
    for (const part of all("[data-e]"))
      part.toggleAttribute("hidden",
        names.includes(part.dataset.e) && !shown.includes(part.dataset.e));
    for (const group of all(".fold"))
      group.toggleAttribute("hidden", !all("tr[data-e]:not([hidden])", group).length);
    compare(shown);
    for (const rate of all("[data-best]")) {
      rate.dataset.rate ??= rate.textContent;
      rate.textContent = rate.dataset[state.m] ?? rate.dataset.rate;
    }
    for (const table of all(".bn"))
      if (table.matches("[data-sorted]") || state.s === "rate")
        arrange(table, state.s === "rate"
          && ((row) => -parsed(row.querySelector("b")?.dataset.rate)));
  };
  const choose = (input) => {
    if (input === search) state.q = input.value.trim();
    else if (input.type === "radio") state[input.name] = input.value;
    else {
      const boxes = inputs.filter((i) => i.type === "checkbox" && i.checked);
      if (!boxes.length) return void (input.checked = true);
      state.e = boxes.map((i) => i.value).join(",");
    }
    write();
    apply();
  };

  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const pairs = (text) => {
    const found = [];
    let far = [0, 0], near = [0, 0], pair = [], number = 0, scale = 1;
    for (const digit of text) {
      const value = digits.indexOf(digit), i = pair.length;
      number += (value % 32) * scale;
      scale *= 32;
      if (value > 31) continue;
      const half = Math.floor(number / 2);
      pair.push(2 * near[i] - far[i] + (number % 2 ? -half : half));
      number = 0;
      scale = 1;
      if (i) {
        found.push(pair);
        [far, near, pair] = [near, pair, []];
      }
    }
    return found;
  };
  const expanded = (value, shared) => {
    if (value === null || typeof value !== "object") return value;
    if (Array.isArray(value)) return shared[value[0]];
    if ("~" in value) return pairs(value["~"]);
    const [keys, ...own] = value["="];
    return Object.fromEntries(
      shared[keys].map((key, i) => [key, expanded(own[i], shared)]));
  };
  const lines = (raw) => raw.tables
    .flatMap((table) => table.rows.map(([number, ...row]) => [number,
      JSON.stringify(Object.fromEntries(
        table.keys.map((key, i) => [key, expanded(row[i], raw.shared)])))]))
    .sort((a, b) => a[0] - b[0]).map((pair) => pair[1] + "\n").join("");
  const save = (what) => {
    const raw = JSON.parse(byId("raw").textContent);
    const text = what === "lines" ? lines(raw) : JSON.stringify(raw[what], null, 2) + "\n";
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    link.download = what === "lines" ? "measurements.jsonl" : what + ".json";
    link.click();
  };

  for (const part of all("#tools, #get")) part.hidden = false;
  for (const input of inputs)
    input.addEventListener(input === search ? "input" : "change", () => choose(input));
  for (const button of all("[data-get]"))
    button.addEventListener("click", () => save(button.dataset.get));
  for (const table of all("table.flip, table.plain, table.reps")) sortable(table);
  addEventListener("beforeprint", () => {
    for (const part of all("details.print")) part.open = true;
  });
  // A link within the page keeps the state, and takes its place in the address.
  addEventListener("hashchange", () => {
    if (location.hash && !location.hash.includes("=")) {
      anchor = location.hash.slice(1);
      write();
    } else {
      read();
      apply();
    }
  });
  read();
  apply();
  if (anchor) byId(anchor)?.scrollIntoView();
})();
