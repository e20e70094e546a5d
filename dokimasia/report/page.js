"use strict";
(() => {
  const root = document.documentElement;
  const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));

  // Light and dark: the system's choice until the button is used; remembered where the browser allows it.
  const stored = { get: () => { try { return localStorage.getItem("dokimasia-theme"); } catch { return null; } },
                   set: (value) => { try { localStorage.setItem("dokimasia-theme", value); } catch { /* a page from a file may keep nothing */ } } };
  const system = matchMedia("(prefers-color-scheme: dark)");
  const theme = () => root.dataset.theme || (system.matches ? "dark" : "light");
  const button = document.getElementById("theme");
  const told = stored.get();
  if (told === "light" || told === "dark") root.dataset.theme = told;

  // Charts take their colours from the page, so that they follow the theme.
  const charts = JSON.parse(document.getElementById("charts")?.textContent ?? "{}");
  const colours = () => {
    const probe = document.createElement("span");
    document.body.append(probe);
    const read = (name) => { probe.style.color = `var(${name})`; return getComputedStyle(probe).color; };
    const found = { fg: read("--fg"), muted: read("--muted"), line: read("--line"), panel: read("--panel"), bg: read("--bg") };
    probe.remove();
    return found;
  };
  // On a narrow page a shortened name beside a chart takes two lines.
  const folded = (name) => name.includes(" − ") ? name.replace(" − ", " −<br>") : name.replace("…", "…<br>");
  const draw = () => {
    const now = colours();
    const font = getComputedStyle(document.body).fontFamily;
    const axis = { gridcolor: now.line, linecolor: now.line, zerolinecolor: now.muted, tickcolor: now.line, zerolinewidth: 2 };
    for (const [id, figure] of Object.entries(charts)) {
      const data = structuredClone(figure.data);
      const pick = document.querySelector(`select[data-chart="${id}"]`);
      if (pick) Object.assign(data[0], structuredClone(figure.variants[pick.value]));
      if (data[0]?.type === "treemap") Object.assign(data[0].marker.line, { color: now.bg });
      const layout = { ...structuredClone(figure.layout), paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
        font: { family: font, size: 13, color: now.fg }, hoverlabel: { bgcolor: now.panel, bordercolor: now.muted, font: { color: now.fg } },
        xaxis: { ...structuredClone(figure.layout.xaxis), ...axis }, yaxis: { ...figure.layout.yaxis, ...axis } };
      if (innerWidth < 500 && layout.yaxis.ticktext) layout.yaxis.ticktext = layout.yaxis.ticktext.map(folded);
      if (layout.polar) layout.polar = { bgcolor: "rgba(0,0,0,0)", radialaxis: { ...figure.layout.polar.radialaxis, ...axis }, angularaxis: { ...figure.layout.polar.angularaxis, ...axis } };
      if (innerWidth < 500 && layout.polar?.angularaxis.ticktext) {  // room for whole names beside a small circle
        const axis = layout.polar.angularaxis;
        layout.polar.angularaxis = { ...axis, ticktext: axis.ticktext.map((name) => name.replaceAll(" ", "<br>")), tickfont: { size: 11 } };
        layout.margin = { ...layout.margin, l: 90, r: 90 };
      }
      Plotly.react(id, data, layout, { displaylogo: false, displayModeBar: innerWidth < 500 ? false : "hover", responsive: true,
        modeBarButtons: [["toImage"]], toImageButtonOptions: { format: "svg", filename: `dokimasia-${id}` } });
      fitTitle(id, figure);
    }
  };
  // The title of the axis below a chart is broken into lines where it is wider than the room around the axis' middle.
  const pen = document.createElement("canvas").getContext("2d");
  const lines = (text, room) => text.split(" ").reduce((broken, word) => {
    const longer = broken.length ? `${broken.at(-1)} ${word}` : word;
    if (broken.length && pen.measureText(longer).width > room) broken.push(word); else broken.splice(-1, 1, longer);
    return broken;
  }, []);
  const fitTitle = (id, figure) => {
    const title = figure.layout.xaxis?.title?.text;
    const chart = document.getElementById(id);
    const room = chart._fullLayout?._size;
    if (!title || !room) return;
    pen.font = `13px ${getComputedStyle(document.body).fontFamily}`;
    const broken = lines(title, room.w + 2 * Math.min(room.l, room.r));
    const height = figure.layout.height + 17 * (broken.length - 1);
    const text = broken.join("<br>");
    if (text === chart.layout.xaxis.title.text && height === chart.layout.height) return;
    chart.style.height = `${height}px`;
    Plotly.relayout(id, { "xaxis.title.text": text, height });
  };
  const label = () => { button.textContent = theme() === "dark" ? "Light" : "Dark"; };
  if (Object.keys(charts).length) draw();
  for (const pick of all("select[data-chart]")) { pick.closest("label").hidden = false; pick.addEventListener("change", draw); }
  label();
  button.hidden = false;
  const changed = () => { label(); if (Object.keys(charts).length) draw(); };
  button.addEventListener("click", () => { root.dataset.theme = theme() === "dark" ? "light" : "dark"; stored.set(root.dataset.theme); changed(); });
  system.addEventListener("change", changed);
  let turned = 0;
  addEventListener("resize", () => { clearTimeout(turned); turned = setTimeout(() => Object.entries(charts).forEach(([id, figure]) => fitTitle(id, figure)), 250); });

  // A point of a chart opens the evidence that it names, and so does a link.
  const open = (id) => {
    const fold = id && document.getElementById(id);
    if (fold?.tagName !== "DETAILS") return false;
    for (let one = fold; one; one = one.parentElement?.closest("details")) one.open = true;
    fold.firstElementChild.scrollIntoView({ block: "start" });
    fold.firstElementChild.focus({ preventScroll: true });
    return true;
  };
  for (const id of Object.keys(charts)) {
    document.getElementById(id).on("plotly_click", (event) => {
      const told = event.points[0]?.customdata;
      if (Array.isArray(told)) open(String(told.at(-1)));
    });
  }
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[href^="#"]') : null;
    if (link && open(link.hash.slice(1))) event.preventDefault();
  });
  open(location.hash.slice(1));

  // Tables whose columns can be sorted: by number where the cells have one, else by text; empty cells last.
  const sortable = (within) => all("table.sortable:not([data-sorts])", within).forEach((table) => {
    table.dataset.sorts = "";
    const body = table.tBodies[0];
    const rows = Array.from(body.rows);
    const keyOf = (row, at) => { const cell = row.cells[at]; return cell.dataset.sort === undefined ? cell.textContent.trim() : Number(cell.dataset.sort); };
    const rank = (key) => (key === "" || key === "\u2013" ? 2 : typeof key === "number" ? 0 : 1);
    all("thead th", table).forEach((head, at) => {
      const turn = document.createElement("button");
      turn.type = "button";
      turn.append(...head.childNodes);
      head.append(turn);
      turn.addEventListener("click", () => {
        const way = head.dataset.way === "up" ? "down" : "up";
        for (const other of all("thead th", table)) { delete other.dataset.way; other.removeAttribute("aria-sort"); }
        head.dataset.way = way;
        head.setAttribute("aria-sort", way === "up" ? "ascending" : "descending");
        const sign = way === "up" ? 1 : -1;
        body.append(...rows.map((row) => [keyOf(row, at), row]).sort(([a], [b]) => rank(a) - rank(b)
          || sign * (typeof a === "number" ? a - b : String(a).localeCompare(String(b)))).map(([, row]) => row));
      });
    });
  });
  sortable(document);
  document.addEventListener("htmx:load", (event) => sortable(event.detail.elt.parentElement ?? document));  // what a page of the service loads later

  // On a phone, a table that is wider than its box is read as cards: a row each, with the column's title before each value.
  const phone = matchMedia("screen and (max-width: 760px)");
  const stack = (table) => {
    const titles = all("thead th, thead td", table).map((head) => head.textContent.trim());
    for (const row of table.tBodies[0].rows) {
      Array.from(row.cells).forEach((cell, at) => { if (titles[at] && cell.hasChildNodes()) cell.dataset.label = titles[at]; });
    }
    table.classList.add("stack");
  };

  // A box that is narrower than its table, or its tabs, says on which side there is more.
  const boxes = new ResizeObserver((seen) => seen.forEach(({ target }) => more(target.closest(".scroll, .tabs"))));
  const more = (box) => {
    if (!box) return;
    const table = box.querySelector(":scope > table:not(.stack)");
    if (phone.matches && table && box.scrollWidth > box.clientWidth + 2) stack(table);
    const rest = box.scrollWidth - box.clientWidth;
    const sides = rest > 2 ? [["left", box.scrollLeft > 2], ["right", box.scrollLeft < rest - 2]].filter(([, on]) => on).map(([side]) => side) : [];
    if (sides.length) box.dataset.more = sides.join(" "); else delete box.dataset.more;
  };
  const watched = (within) => all(":is(.scroll, .tabs):not([data-watched])", within).forEach((box) => {
    box.dataset.watched = "";
    box.addEventListener("scroll", () => more(box), { passive: true });
    [box, ...box.children].forEach((one) => boxes.observe(one));
  });
  watched(document);
  document.addEventListener("htmx:load", (event) => watched(event.detail.elt.parentElement ?? document));

  // The menu marks the section that is being read.
  const links = new Map(all('nav[aria-label="Sections"] a').map((link) => [link.hash.slice(1), link]));
  const mark = () => {
    let current = null;
    for (const id of links.keys()) { if (document.getElementById(id).getBoundingClientRect().top < 140) current = id; }
    for (const [id, link] of links) { if (id === (current ?? links.keys().next().value)) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current"); }
  };
  addEventListener("scroll", mark, { passive: true });
  mark();

  // A criterion and its region light up together, wherever the pointer or the focus is.
  const light = (element, on) => {
    const source = element instanceof Element ? element.closest("[data-mark]") : null;
    if (!source) return;
    const card = source.closest(".card");
    for (const other of all(`[data-mark="${source.dataset.mark}"]`, card)) other.classList.toggle("lit", on);
  };
  for (const [start, end] of [["mouseover", "mouseout"], ["focusin", "focusout"]]) {
    document.addEventListener(start, (event) => light(event.target, true));
    document.addEventListener(end, (event) => light(event.target, false));
  }

  // The browser of samples: one card at a time, moved through by keys.
  const list = document.querySelector(".list");
  if (!list || !document.getElementById("order")) return;
  root.classList.add("scripted");
  const items = all("li", list);
  const filter = document.getElementById("filter");
  const order = document.getElementById("order");
  const found = document.getElementById("found");
  const cardOf = (item) => document.getElementById(item.firstElementChild.hash.slice(1));
  const visible = () => Array.from(list.children).filter((item) => !item.hidden);
  let current = null;
  const choose = (item, { focus = false } = {}) => {
    if (current) { cardOf(current).classList.remove("current"); current.firstElementChild.removeAttribute("aria-current"); }
    current = item;
    if (!item) return;
    cardOf(item).classList.add("current");
    const link = item.firstElementChild;
    link.setAttribute("aria-current", "true");
    const box = item.getBoundingClientRect(), frame = list.getBoundingClientRect();
    if (box.top < frame.top) list.scrollTop -= frame.top - box.top;
    if (box.bottom > frame.bottom) list.scrollTop += box.bottom - frame.bottom;
    if (focus) link.focus({ preventScroll: true });
  };
  const counted = `${items.length} sample${items.length === 1 ? "" : "s"}`;
  const show = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const item of items) item.hidden = !words.every((word) => item.dataset.search.includes(word));
    const left = visible();
    found.textContent = left.length === items.length ? counted : `${left.length} of ${counted}`;
    if (!left.includes(current)) choose(left[0] ?? null);
  };
  const sort = () => {
    const number = (item, name) => (item.dataset[name] === undefined ? null : Number(item.dataset[name]));
    const by = { report: null, low: ["score", 1], high: ["score", -1], apart: ["apart", -1] }[order.value];
    const sorted = by === null ? items : [...items].sort((a, b) => {
      const [x, y] = [number(a, by[0]), number(b, by[0])];
      if (x === null || y === null) return (x === null) - (y === null);
      return (x - y) * by[1];
    });
    list.append(...sorted);
    choose(visible()[0] ?? null);
  };
  const move = (step) => {
    const left = visible();
    if (!left.length) return;
    const at = left.indexOf(current);
    const next = step === "first" ? 0 : step === "last" ? left.length - 1 : Math.min(left.length - 1, Math.max(0, at + step));
    choose(left[next], { focus: true });
  };
  const fromAddress = () => {
    const item = items.find((one) => one.firstElementChild.hash === location.hash);
    if (item) { if (item.hidden) { filter.value = ""; show(); } choose(item); }
  };
  list.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link) return;
    event.preventDefault();
    choose(link.parentElement, { focus: true });
  });
  filter.addEventListener("input", show);
  order.addEventListener("change", sort);
  addEventListener("hashchange", fromAddress);
  const steps = { ArrowDown: 1, ArrowUp: -1, Home: "first", End: "last" };
  list.addEventListener("keydown", (event) => {
    if (event.key in steps) { event.preventDefault(); move(steps[event.key]); }
    if (event.key === "Enter" && current) { event.preventDefault(); cardOf(current).focus({ preventScroll: true }); }
  });
  filter.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "Enter") { event.preventDefault(); if (current) choose(current, { focus: true }); }
    if (event.key === "Escape") { filter.value = ""; show(); if (current) choose(current, { focus: true }); }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
    event.preventDefault();
    document.getElementById("samples").scrollIntoView({ behavior: "instant" });
    filter.focus({ preventScroll: true });
  });
  choose(items[0]);
  fromAddress();
})();
