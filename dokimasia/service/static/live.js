"use strict";
// Follows runs at work: folds their events into a picture, as `fold` in service/event_log.py does, and shows it.
(() => {
  const LAST = 5, PAST = 20;
  const blank = () => ({ status: null, history: [], planned: null, starting: null, progress: null, failures: {}, limits: {}, graphs: {}, steps: {}, ended: null });
  const fold = (picture, type, data) => {
    if (type === "snapshot") return data.picture;
    if (type === "status") return { ...picture, status: data, history: [...picture.history, data].slice(-PAST), ended: null };
    if (type === "planned") {
      const { failures, ...planned } = data;
      return { ...blank(), status: picture.status, history: picture.history, ended: picture.ended, planned, failures };
    }
    if (type === "graph") return { ...picture, graphs: { ...picture.graphs, [data.name]: data } };
    if (type === "limit") return { ...picture, limits: { ...picture.limits, [data.endpoint]: data } };
    if (type === "failure") {
      const before = picture.failures[data.kind] ?? { count: 0, last: [] };
      const after = { count: before.count + 1, last: [...before.last, data].slice(-LAST) };
      return { ...picture, failures: { ...picture.failures, [data.kind]: after } };
    }
    return { ...picture, [type]: data };
  };
  const TYPES = ["snapshot", "status", "planned", "starting", "graph", "steps", "progress", "limit", "failure", "ended"];
  const AT_WORK = ["queued", "running", "waiting"];

  const number = (value) => Number(value).toLocaleString("en-US");
  const dollars = (value) => `$${value.toFixed(value >= 1 || Math.abs(value - Number(value.toFixed(2))) < 1e-9 ? 2 : 4)}`;
  const duration = (seconds) => {
    if (seconds === null || seconds === undefined) return "–";
    const whole = Math.round(seconds), hours = Math.floor(whole / 3600), minutes = Math.floor(whole / 60) % 60;
    return hours ? `${hours} h ${minutes} min` : minutes ? `${minutes} min ${whole % 60} s` : `${whole} s`;
  };
  const element = (tag, text, className) => {
    const node = document.createElement(tag);
    if (text !== undefined) node.textContent = text;
    if (className) node.className = className;
    return node;
  };
  const sum = (counts) => Object.values(counts ?? {}).reduce((total, count) => total + count, 0);

  class Live {
    constructor(root) {
      this.root = root;
      this.run = root.dataset.live;
      this.picture = blank();
      this.last = null;
      this.drawing = false;
      this.at = (name) => root.querySelector(`[data-${name}]`);
      root.querySelectorAll("form[data-verb]").forEach((form) => form.addEventListener("submit", (event) => this.post(event, form)));
      this.connect();
    }

    connect() {
      clearTimeout(this.again);
      this.source?.close();
      const after = this.last === null ? "" : `?after=${this.last}`;
      this.source = new EventSource(`/api/runs/${encodeURIComponent(this.run)}/events${after}`);
      this.source.onopen = () => this.lost("");
      this.source.onerror = () => {
        if (!this.root.isConnected) { this.source.close(); return; }
        this.lost("The connection to the service is lost. What is shown may be out of date; this page goes on by itself.");
        if (this.source.readyState === EventSource.CLOSED) this.again = setTimeout(() => this.connect(), 3000);
      };
      for (const type of TYPES) this.source.addEventListener(type, (event) => this.receive(type, event));
    }

    receive(type, event) {
      if (!this.root.isConnected) { this.source.close(); return; }
      this.last = event.lastEventId || this.last;
      this.picture = fold(this.picture, type, JSON.parse(event.data));
      if (type === "ended") { this.source.close(); this.over(); }
      if (!this.drawing) { this.drawing = true; requestAnimationFrame(() => { this.drawing = false; this.draw(); }); }
    }

    lost(text) {
      const place = this.at("lost");
      if (place.textContent !== text) place.textContent = text;
      place.hidden = !text;
    }

    over() {
      if (!("own" in this.root.dataset)) { this.again = setTimeout(() => window.dokimasiaReload(), 800); return; }
      this.at("over").hidden = false;
    }

    async post(event, form) {
      event.preventDefault();
      const button = form.querySelector("button");
      button.disabled = true;
      try {
        const reply = await fetch(`/api/runs/${encodeURIComponent(this.run)}/${form.dataset.verb}`, { method: "POST", headers: { accept: "application/json" } });
        if (!reply.ok) { window.dokimasiaTell((await reply.json()).detail, "bad"); return; }
        window.dokimasiaTell("");
        this.at("over").hidden = true;
        this.connect();
      } catch {
        window.dokimasiaTell("The service does not answer.", "bad");
      } finally {
        button.disabled = false;
      }
    }

    draw() {
      const { status, progress, planned } = this.picture;
      const name = status?.status ?? "";
      document.querySelectorAll(`[data-badge="${this.run}"]`).forEach((badge) => {
        if (badge.textContent !== name) { badge.textContent = name; badge.className = `badge ${name}`; }
      });
      this.at("waits").hidden = name !== "waiting";
      const sentence = status?.why || { queued: "Waiting for its turn", running: this.picture.starting?.workers ? "Waiting for its workers to start" : "Running", done: "Done", interrupted: "Stopped; what is finished is kept", failed: "Failed, and no reason was recorded" }[name] || "";
      if (this.sentence !== sentence) { this.sentence = sentence; this.at("standing").replaceChildren(...window.dokimasiaCoded(sentence)); }
      const show = (verb, when) => { const form = this.root.querySelector(`form[data-verb=${verb}]`); if (form) form.hidden = !when; };
      const failed = Object.keys(this.picture.failures).length > 0;
      show("cancel", AT_WORK.includes(name));
      if (name) document.querySelectorAll(`form[data-stops="${this.run}"]`).forEach((form) => { form.hidden = !AT_WORK.includes(name); });
      show("resume", ["interrupted", "failed"].includes(name));
      show("retry", !AT_WORK.includes(name) && failed);
      if (progress) this.figures(progress, planned, name);
      this.budget(progress, planned);
      this.endpoints(progress);
      this.failures();
      this.graphs();
    }

    figures(progress, planned, name) {
      const bar = this.at("bar");
      bar.max = Math.max(1, progress.items);
      bar.value = progress.done;
      const unpriced = !progress.answered && planned?.cost == null;
      // What all invocations of the run have spent, beside the limit that holds, or else the estimate.
      const before = planned?.spent_before ?? {}, cost = progress.cost + (before.cost ?? 0), limit = planned?.budget?.max_cost;
      const known = progress.cost_unknown ? `at least ${dollars(cost)}` : dollars(cost);
      const spent = unpriced && !before.cost && limit == null ? "–" : progress.cost_unknown && !cost ? "unknown" : known;
      const beside = limit != null ? ` of at most ${dollars(limit)}` : planned?.cost ? ` of about ${dollars(planned.cost)}` : "";
      const figures = {
        done: `${number(progress.done)} of ${number(progress.items)}`,
        left: name === "running" ? duration(progress.left) : "–",
        rate: name === "running" ? progress.rate.toFixed(1) : "–",
        calls: planned?.calls ? `${number(progress.answered + progress.cached)} of at most ${number(planned.calls)}` : number(progress.answered + progress.cached),
        spent: `${spent}${beside}`,
        tokens: number(progress.input_tokens + progress.output_tokens + (before.tokens ?? 0)),
        failed: number(sum(progress.failures)),
        waiting: number(progress.waiting_items ?? 0),
        unpaid: number(progress.unpaid_items ?? 0),
        tries: number(progress.failed_tries),
      };
      for (const [figure, text] of Object.entries(figures)) {
        const place = this.root.querySelector(`[data-figure=${figure}]`);
        if (place.textContent !== text) place.textContent = text;
        if (["waiting", "unpaid"].includes(figure)) place.parentElement.hidden = text === "0";
      }
      const rates = progress.rates ?? [], most = Math.max(1e-9, ...rates);
      const points = rates.map((rate, at) => `${(600 * at / Math.max(1, rates.length - 1)).toFixed(1)} ${(86 - 80 * rate / most).toFixed(1)}`);
      const line = points.length > 1 ? `M${points.join("L")}` : "";
      this.root.querySelector("[data-rates] .line").setAttribute("d", line);
      this.root.querySelector("[data-rates] .area").setAttribute("d", line && `${line}L600 88L0 88Z`);
      this.at("highest").textContent = rates.length ? `(highest ${most.toFixed(1)} a second${name === "running" ? `, now ${progress.rate.toFixed(1)}` : ""})` : "";
      this.since(progress);
    }

    // The counters of a resumed run start again from zero: explain why its figures have fallen.
    since(progress) {
      const starts = this.picture.history.filter((entry) => entry.status === "running");
      const place = this.at("since"), at = starts.at(-1)?.at?.slice(11, 16);
      place.hidden = starts.length < 2 && !progress.restored;
      if (place.hidden) return;
      const text = `Resumed${at ? ` at ${at} UTC` : ""}; ${number(progress.restored)} items were done before. Cost and tokens cover the whole run; calls and the steps of the graphs are counted since then.`;
      if (place.textContent !== text) place.textContent = text;
    }

    budget(progress, planned) {
      const budget = planned?.budget ?? {}, before = planned?.spent_before ?? {};
      const parts = [["max_cost", "cost", "US dollars", progress?.cost ?? 0, dollars], ["max_calls", "calls", "requests", progress?.sent ?? 0, number],
        ["max_tokens", "tokens", "tokens", (progress?.input_tokens ?? 0) + (progress?.output_tokens ?? 0), number]].filter(([limit]) => budget[limit] !== undefined && budget[limit] !== null);
      this.at("budget").hidden = !parts.length;
      this.at("limits").replaceChildren(...parts.map(([limit, name, what, now, form]) => {
        const row = element("div", undefined, "live-spent"), spent = now + (before[name] ?? 0), bar = element("progress", undefined, "progress");
        bar.max = Math.max(budget[limit], 1e-9);
        bar.value = Math.min(spent, budget[limit]);
        bar.setAttribute("aria-label", `Spent ${what}`);
        row.append(element("span", `${form(spent)} of at most ${form(budget[limit])}${name === "cost" ? "" : ` ${what}`}`), bar);
        return row;
      }));
    }

    endpoints(progress) {
      const limits = progress?.limits ?? {};
      const names = Object.keys({ ...limits, ...this.picture.limits }).sort();
      if (!names.length) return;
      if (progress?.at) this.at("taken").textContent = `As of ${progress.at.slice(11, 19)} UTC`;
      this.at("endpoints").replaceChildren(...names.map((name) => {
        const row = element("tr"), changed = this.picture.limits[name];
        const flying = progress?.in_flight?.[name] ?? 0, most = limits[name] ?? changed?.limit ?? 0;
        const why = [changed?.reason, flying > most ? "what was sent before is still on its way" : ""].filter(Boolean).join("; ");
        row.append(element("th", name), element("td", number(flying), "number"), element("td", number(most), "number"), element("td", why));
        row.firstChild.scope = "row";
        return row;
      }));
    }

    failures() {
      const kinds = Object.entries(this.picture.failures), failing = Object.entries(this.picture.progress?.failing ?? {});
      const parts = kinds.map(([kind, { count, last }]) => {
        const part = element("div", undefined, "live-failure"), list = element("ul");
        part.append(element("strong", kind), ` ${number(count)} ${count === 1 ? "item" : "items"}`);
        list.append(...last.map((failure) => {
          const item = element("li");
          item.append(failure.model ? `${failure.model}: ` : "", ...window.dokimasiaCoded(failure.reason || "no reason was given"));
          return item;
        }).reverse());
        part.append(list);
        return part;
      });
      parts.push(...failing.map(([model, why]) => element("p", `${model} does not answer at the moment: ${why}`, "note")));
      if (!parts.length) {
        const failed = this.picture.status?.status === "failed", why = this.picture.status?.why;
        parts.push(failed ? element("p", `No single item has failed; the run as a whole stopped: ${why || "no reason was recorded"}`) : element("p", "No failures", "muted"));
      }
      this.at("failures").replaceChildren(...parts);
    }

    graphs() {
      const place = this.at("graphs");
      for (const name of Object.keys(this.picture.graphs)) {
        let card = [...place.children].find((child) => child.dataset.graph === name);
        if (!card) {
          card = element("div", undefined, "card");
          card.dataset.graph = name;
          card.append(element("h2", `Graph: ${name.replaceAll("_", " ")}`));
          place.append(card);
          fetch(`/runs/${encodeURIComponent(this.run)}/live/graph?name=${encodeURIComponent(name)}`).then((reply) => reply.ok ? reply.text() : "").then((text) => {
            const svg = new DOMParser().parseFromString(text, "text/html").querySelector("svg");
            if (svg) { card.append(svg, element("p", "How many passes through the graph are at each step; a pass may do several items. Early exits and nested steps are not shown.", "note")); this.counts(card, name); }
          }).catch(() => card.remove());
        }
        this.counts(card, name);
      }
    }

    counts(card, name) {
      for (const [node, count] of Object.entries(this.picture.steps[name] ?? {})) {
        const box = [...card.querySelectorAll("[data-node]")].find((shape) => shape.dataset.node === node);
        if (!box) continue;
        const parts = [count.at_work ? `${number(count.at_work)} at work` : "", `${number(count.ended)} done`, count.failed ? `${number(count.failed)} failed` : ""].filter(Boolean);
        box.querySelector("[data-count]").textContent = parts.join(" · ");
        box.classList.toggle("at-work", count.at_work > 0);
        box.classList.toggle("failing", count.failed > 0);
      }
    }
  }

  const begin = () => document.querySelectorAll("[data-live]:not([data-followed])").forEach((root) => { root.dataset.followed = ""; new Live(root); });
  if (window.dokimasiaLive) { window.dokimasiaLive(); return; }
  window.dokimasiaLive = begin;
  document.addEventListener("htmx:afterSettle", begin);
  begin();
})();
