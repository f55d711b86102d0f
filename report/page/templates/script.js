(() => {
  const root = document.documentElement;
  const all = (selector) => [...document.querySelectorAll(selector)];
  const byId = (id) => document.getElementById(id);
  const inputs = all("#tools input");
  const names = all("#tools [type=checkbox]").map((box) => box.value);
  const start = { e: names.join(","), m: "rate", g: "closed", t: "auto" };
  let state = { ...start };

  const read = () => {
    state = { ...start };
    for (const [key, value] of new URLSearchParams(location.hash.slice(1)))
      if (key in start && value) state[key] = value;
    if (!inputs.some((i) => i.name === "m" && i.value === state.m)) state.m = "rate";
  };
  const write = () => {
    const changed = Object.keys(start).filter((k) => state[k] !== start[k]);
    const hash = changed.map((k) => k + "=" + state[k]).join("&");
    history.replaceState(null, "", hash ? "#" + hash : location.pathname);
  };
  const apply = () => {
    const shown = state.e.split(",");
    if (state.t === "auto") delete root.dataset.theme;
    else root.dataset.theme = state.t;
    root.dataset.show = state.m;
    root.dataset.groups = state.g;
    for (const input of inputs)
      input.checked = input.type === "checkbox"
        ? shown.includes(input.value) : state[input.name] === input.value;
    for (const part of all("[data-e]"))
      part.toggleAttribute("hidden",
        names.includes(part.dataset.e) && !shown.includes(part.dataset.e));
    for (const rate of all("[data-best]")) {
      rate.dataset.rate ??= rate.textContent;
      rate.textContent = rate.dataset[state.m] ?? rate.dataset.rate;
    }
  };
  const choose = (input) => {
    if (input.type === "radio") state[input.name] = input.value;
    else {
      const chosen = inputs.filter((i) => i.type === "checkbox" && i.checked);
      if (!chosen.length) return void (input.checked = true);
      state.e = chosen.map((i) => i.value).join(",");
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
  for (const input of inputs) input.addEventListener("change", () => choose(input));
  for (const button of all("[data-get]"))
    button.addEventListener("click", () => save(button.dataset.get));
  addEventListener("hashchange", () => {
    if (location.hash.includes("=") || !location.hash) { read(); apply(); }
  });
  read();
  apply();
})();
