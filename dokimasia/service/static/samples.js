"use strict";
// The browser of samples by keyboard: j and k through the list or from sample to sample, m to the next model, o for the image.
(() => {
  const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));
  const one = (selector) => document.querySelector(selector);
  const form = one("#filters");

  // Leave empty fields out of the address.
  form?.addEventListener("formdata", (event) => {
    const boxes = all('[name="show"]', form);
    if (boxes.every((box) => box.checked === ("default" in box.dataset))) event.formData.delete("show");
    for (const [name, value] of Array.from(event.formData.entries())) if (value === "") event.formData.delete(name);
  });

  // A field that finds boxes to tick, and buttons that tick all or none of those that are found.
  document.addEventListener("input", (event) => {
    const finds = event.target.dataset?.find;
    if (!finds) return;
    event.stopPropagation();
    const words = event.target.value.toLowerCase();
    all(finds).forEach((label) => { label.hidden = !label.textContent.toLowerCase().includes(words); });
  });
  document.addEventListener("change", (event) => { if (event.target.dataset?.find) event.stopPropagation(); }, true);
  document.addEventListener("click", (event) => {
    const ticks = event.target.closest?.("[data-tick]")?.dataset.tick;
    if (!ticks) return;
    const boxes = all('label:not([hidden]) [name="show"]', form);
    boxes.forEach((box) => { box.checked = ticks === "all"; });
    boxes[0]?.dispatchEvent(new Event("change", { bubbles: true }));
  });

  // With many models, a sample shows the answers of those that a field names, or that were chosen in the list.
  let wanted = "", onlyShown = true;
  const ANSWERS = ".sample .matrix tbody tr, .sample .answers > .answer, #by-hand .correct.answered, .sample table.sortable tbody tr";
  const narrow = () => {
    const field = one("[data-find-answers]");
    if (!field) return;
    const chosen = new URLSearchParams(location.search).getAll("show");
    const only = one("[data-only-shown]");
    only.closest("label").hidden = !chosen.length;
    only.checked = onlyShown;
    field.value = wanted;
    const words = wanted.toLowerCase();
    let found = 0, count = 0;
    all(ANSWERS).forEach((part) => {
      const name = (part.querySelector("th, td, summary b, b")?.textContent ?? "").trim();
      const fits = name.toLowerCase().includes(words) && (!onlyShown || !chosen.length || chosen.includes(name.replace(/ · repeat \d+$/, "")));
      part.hidden = !fits;
      if (part.matches(".matrix tr, .sortable tr")) { count += 1; found += fits; }
    });
    one("[data-found]").textContent = found === count ? "" : `${found} of ${count} answers`;
  };
  document.addEventListener("input", (event) => { if (event.target.matches?.("[data-find-answers]")) { wanted = event.target.value; narrow(); } });
  document.addEventListener("change", (event) => { if (event.target.matches?.("[data-only-shown]")) { onlyShown = event.target.checked; narrow(); } });
  narrow();

  // The search runs while it is typed; leaving the field must not start it again.
  one("#q")?.addEventListener("change", (event) => event.stopPropagation());

  // Going back reloads the whole page, so that its scripts run again.
  htmx.config.refreshOnHistoryMiss = true;

  const rows = () => all("[data-row]");
  const moveInList = (step) => {
    const listed = rows();
    const at = listed.indexOf(document.activeElement);
    const next = listed[at < 0 ? (step > 0 ? 0 : listed.length - 1) : Math.min(listed.length - 1, Math.max(0, at + step))];
    if (at === listed.length - 1 && step > 0) one('#listed a[rel="next"]')?.focus();
    else next?.focus();
  };
  const walk = (id) => {
    const link = one(`#${id}[href]`);
    if (link) { link.focus({ preventScroll: true }); link.click(); }
  };
  // After one sample replaces another, keep the focus where it was: on the same link, or on the sample.
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.target.id !== "one" && event.detail.elt?.id !== "one") return;
    prepare();
    offerCorrections();
    restore();
    narrow();
    if (document.activeElement === document.body) (one("#sample") ?? document.body).focus({ preventScroll: true });
  });

  // Unsaved corrections are kept as drafts on the server, and no key leaves the page with them.
  const byHand = () => one("#by-hand[data-draft]");
  const forms = () => all("#by-hand[data-draft] form");
  const said = (form) => {
    const data = new FormData(form);
    const text = (name) => data.get(name) ?? "";
    return { model: text("model"), repeat: Number(text("repeat")), answer: text("answer"), criteria: data.getAll("criterion"), reason: text("reason") };
  };
  const changed = (form) => { const it = said(form); return Boolean(it.answer || it.reason || it.criteria.some(Boolean)); };
  const tellKept = (text) => forms().forEach((form) => {
    const kept = form.querySelector(".kept");
    if (kept) kept.textContent = changed(form) ? text : "";
  });
  const mark = () => forms().forEach((form) => {
    const discard = form.querySelector("[data-discard]");
    if (discard) discard.hidden = !changed(form);
  });
  let unsent = null, writing = 0;
  const keepNow = async () => {
    clearTimeout(writing);
    if (!unsent) return;
    const { url, body } = unsent;
    unsent = null;
    try {
      const reply = await fetch(url, { method: "POST", body, keepalive: true });
      if (!reply.ok) throw new Error();
      tellKept("not saved; kept as a draft");
    } catch {
      tellKept("not saved and not kept: the service does not answer");
    }
  };
  const keepSoon = (without) => {
    const text = JSON.stringify(forms().filter((form) => form !== without && changed(form)).map(said));
    unsent = { url: byHand().dataset.draft, body: new URLSearchParams({ sample: byHand().dataset.sample, text }) };
    clearTimeout(writing);
    writing = setTimeout(keepNow, 400);
    mark();
  };
  const restore = async () => {
    const section = byHand();
    if (!section) return;
    mark();
    const refused = forms().some(changed);
    let drafts;
    try {
      const reply = await fetch(`${section.dataset.draft}?${new URLSearchParams({ sample: section.dataset.sample })}`);
      if (!reply.ok) return;
      drafts = (await reply.json()).forms;
    } catch { return; }
    if (byHand() !== section) return;
    for (const draft of drafts) {
      const form = forms().find((it) => { const has = said(it); return has.model === draft.model && has.repeat === draft.repeat; });
      if (!form || changed(form)) continue;
      if (form.elements.answer) form.elements.answer.value = draft.answer;
      all('[name="criterion"]', form).forEach((select, at) => { select.value = draft.criteria[at] ?? ""; });
      if (form.elements.reason) form.elements.reason.value = draft.reason;
      all("select", form).forEach((select) => { if (select.selectedIndex < 0) select.value = ""; });
      form.closest("details").open = true;
    }
    mark();
    tellKept("not saved; kept as a draft");
    if (refused) keepSoon();
  };
  document.addEventListener("input", (event) => {
    const form = event.target.closest?.("#by-hand[data-draft] form");
    if (!form) return;
    const kept = form.querySelector(".kept");
    if (kept) kept.textContent = "";
    keepSoon();
  });
  document.addEventListener("click", (event) => {
    const form = event.target.closest?.("[data-discard]")?.form;
    if (!form) return;
    all("select", form).forEach((select) => { select.value = ""; });
    form.elements.reason.value = "";
    keepSoon();
    keepNow();
    form.closest("details").querySelector("summary").focus();
  });
  document.addEventListener("submit", (event) => {
    if (!event.target.closest?.("#by-hand[data-draft]") || !unsent) return;
    keepSoon(event.target);
    keepNow();
  });
  window.addEventListener("pagehide", keepNow);
  document.addEventListener("htmx:beforeRequest", keepNow);
  // Whether a key may leave the page; an unsaved correction is shown instead.
  const mayLeave = () => {
    const comment = one("#comment-text");
    if (comment?.value.trim()) {
      comment.focus();
      window.dokimasiaTell("This comment is not saved: save it, or clear it first.");
      return false;
    }
    const form = forms().find(changed);
    if (!form) return true;
    form.closest("details").open = true;
    form.elements.reason.focus();
    window.dokimasiaTell("This correction is not saved: save it, or discard it first. Links lead away all the same; it is kept as a draft.");
    return false;
  };

  const nextModel = () => {
    if (form) {
      const select = one("#f-model");
      if (!select) return;
      select.selectedIndex = (select.selectedIndex + 1) % select.options.length;
      select.dispatchEvent(new Event("change", { bubbles: true }));
      return;
    }
    const answers = all(".sample .answer:not([hidden])");
    if (!answers.length) return;
    const at = answers.findIndex((answer) => answer.classList.contains("chosen"));
    answers[at]?.classList.remove("chosen");
    const next = answers[(at + 1) % answers.length];
    next.classList.add("chosen");
    if (next.tagName === "DETAILS") next.open = true;
    const inside = next.querySelector("summary") ?? next;
    if (inside === next) next.tabIndex = -1;
    inside.focus({ preventScroll: true });
    next.scrollIntoView({ block: "center" });
  };

  const help = () => { const keys = one("#keys"); if (keys && !keys.open) keys.showModal(); };
  document.addEventListener("click", (event) => {
    if (event.target.closest?.("[data-help]")) help();
    const opens = event.target.closest?.("[data-opens]")?.dataset.opens;
    if (opens) openAt(opens);
  });

  // The enlarged image with its regions: wheel, keys and dragging zoom and move it.
  const large = one("#large");
  const stage = large?.querySelector(".stage");
  let at = 0, scale = 1, x = 0, y = 0, back = null;
  const pictures = () => all(".sample .picture svg, .sample .shown img");
  const place = () => { const shown = stage.firstElementChild; if (shown) shown.style.transform = `translate(${x}px, ${y}px) scale(${scale})`; };
  const fit = () => { scale = 1; x = 0; y = 0; place(); };
  const zoom = (by, cx = stage.clientWidth / 2, cy = stage.clientHeight / 2) => {
    const next = Math.min(24, Math.max(1, scale * by));
    x = cx - (cx - x) * (next / scale);
    y = cy - (cy - y) * (next / scale);
    scale = next;
    if (scale === 1) { x = 0; y = 0; }
    place();
  };
  const show = (number) => {
    const listed = pictures();
    if (!large || !listed.length) return;
    at = (number + listed.length) % listed.length;
    const source = listed[at];
    const copy = source.cloneNode(true);
    copy.removeAttribute("tabindex");
    const sha = (one("#sample").dataset.images || "").split(" ")[at];
    if (copy.tagName === "svg" && sha) {
      const use = copy.querySelector("use");
      if (use) {
        const image = document.createElementNS("http://www.w3.org/2000/svg", "image");
        for (const name of ["width", "height"]) image.setAttribute(name, use.getAttribute(name));
        image.setAttribute("preserveAspectRatio", "none");
        image.setAttribute("href", `/api/images/${sha}`);
        use.after(image);
      }
    }
    stage.replaceChildren(copy);
    const about = source.getAttribute("aria-label") || source.alt || "image";
    stage.setAttribute("aria-label", about);
    large.querySelector(".title").textContent = listed.length > 1 ? `${about} (${at + 1} of ${listed.length})` : about;
    large.querySelectorAll('[data-zoom="next"], [data-zoom="previous"]').forEach((button) => { button.hidden = listed.length < 2; });
    fit();
    if (!large.open) { back = document.activeElement; large.showModal(); }
    stage.focus({ preventScroll: true });
  };
  if (large) {
    large.addEventListener("close", () => { stage.replaceChildren(); back?.focus?.({ preventScroll: true }); });
    large.addEventListener("click", (event) => {
      const what = event.target.closest("[data-zoom]")?.dataset.zoom;
      if (what === "in") zoom(1.5);
      else if (what === "out") zoom(1 / 1.5);
      else if (what === "fit") fit();
      else if (what === "next") show(at + 1);
      else if (what === "previous") show(at - 1);
      else if (what === "close" || event.target === large) large.close();
      else if (what === "marks") event.target.setAttribute("aria-pressed", String(!stage.classList.toggle("plain")));
    });
    stage.addEventListener("wheel", (event) => {
      event.preventDefault();
      const box = stage.getBoundingClientRect();
      zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, event.clientX - box.left, event.clientY - box.top);
    }, { passive: false });
    let held = null;
    stage.addEventListener("pointerdown", (event) => { held = [event.clientX - x, event.clientY - y]; stage.setPointerCapture(event.pointerId); });
    stage.addEventListener("pointermove", (event) => { if (held && scale > 1) { x = event.clientX - held[0]; y = event.clientY - held[1]; place(); } });
    stage.addEventListener("pointerup", () => { held = null; });
    stage.addEventListener("dblclick", () => (scale > 1 ? fit() : zoom(3)));
    large.addEventListener("keydown", (event) => {
      if (scale === 1 && pictures().length > 1 && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
        show(event.key === "ArrowLeft" ? at - 1 : at + 1);
        event.preventDefault();
        event.stopPropagation();
        return;
      }
      const move = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
      if (move) { x += move[0]; y += move[1]; if (scale === 1) { x = 0; y = 0; } place(); }
      else if (event.key === "+" || event.key === "=") zoom(1.5);
      else if (event.key === "-") zoom(1 / 1.5);
      else if (event.key === "0") fit();
      else if (event.key === "n") show(at + 1);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  // Give every picture a button that enlarges it, for mouse and keyboard.
  const prepare = () => {
    all(".sample .pictures .picture, .sample .shown").forEach((figure) => {
      if (figure.querySelector(".enlarge") || !figure.querySelector("svg, img")) return;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "enlarge small";
      button.textContent = "Large";
      button.addEventListener("click", () => show(pictures().indexOf(figure.querySelector("svg, img"))));
      (figure.querySelector("figcaption") ?? figure).append(button);
      figure.querySelector("svg, img").addEventListener("click", () => button.click());
      figure.querySelector("svg, img").dataset.large = "";
    });
  };
  // Beside each answer, a link that opens the form of its own correction, and of no other.
  const offerCorrections = () => {
    const sections = new Map(all(".correct.answered").map((part) => [part.querySelector("summary b").textContent, part]));
    all(".sample .answers > .answer").forEach((answer) => {
      const part = sections.get(answer.querySelector("summary b")?.textContent);
      if (!part || !byHand() || answer.querySelector("[data-opens]")) return;
      const one = document.createElement("a");
      one.className = "button small";
      one.href = `#${encodeURIComponent(part.id)}`;
      one.dataset.opens = part.id;
      one.textContent = "Correct this";
      one.setAttribute("aria-label", `Correct this: ${part.querySelector("summary b").textContent}`);
      answer.append(one);
    });
  };
  const openAt = (id) => {
    const part = document.getElementById(id);
    for (let fold = part?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    if (part?.tagName === "DETAILS") part.querySelector("summary").focus();
  };
  prepare();
  offerCorrections();
  restore();
  if (location.hash.startsWith("#correct-")) openAt(decodeURIComponent(location.hash.slice(1)));
  // That a correction was saved is said once: a reload of the page, or its address sent to somebody, does not say it again.
  const address = new URL(location.href);
  if (address.searchParams.has("saved")) {
    address.searchParams.delete("saved");
    address.hash = "by-hand";
    history.replaceState(history.state, "", address);
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target.matches?.("input, select, textarea") || one("dialog[open]")) return;
    const scrolls = event.target.closest?.(".scroll, .mono") && event.key.startsWith("Arrow");
    const here = one("#one");
    const does = {
      j: () => (here ? walk("after") : moveInList(1)),
      k: () => (here ? walk("before") : moveInList(-1)),
      ArrowRight: here && !scrolls ? () => walk("after") : null,
      ArrowLeft: here && !scrolls ? () => walk("before") : null,
      ArrowDown: !here && event.target.matches?.("[data-row]") ? () => moveInList(1) : null,
      ArrowUp: !here && event.target.matches?.("[data-row]") ? () => moveInList(-1) : null,
      u: here ? () => one("#up").click() : null,
      "/": here ? () => { location.href = `${one("#up").href}#q`; } : null,
      m: nextModel,
      o: here ? () => show(at < pictures().length ? at : 0) : null,
      c: here ? () => { const calls = one("#calls"); if (calls) { calls.open = !calls.open; calls.querySelector("summary").focus(); } } : null,
      "?": help,
    }[event.key];
    if (!does) return;
    event.preventDefault();
    if (!here || !["j", "k", "ArrowLeft", "ArrowRight", "u", "/"].includes(event.key) || mayLeave()) does();
  });
  if (location.hash === "#q") one("#q")?.focus();
})();
