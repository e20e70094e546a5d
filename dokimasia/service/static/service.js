"use strict";
// For every page of the service: a foldable menu, messages about failed requests, and confirmation of dangerous buttons.
(() => {
  const menu = document.getElementById("menu");
  const fold = (open) => {
    menu.setAttribute("aria-expanded", String(open));
    document.getElementById("pages").classList.toggle("open", open);
  };
  menu.addEventListener("click", () => fold(menu.getAttribute("aria-expanded") !== "true"));

  // The message line of the page, which other scripts set by `dokimasiaTell(text, "bad" | "good" | "")`.
  const told = document.getElementById("told");
  // Returns a sentence as nodes, with text between backticks as code.
  window.dokimasiaCoded = (text) => text.split(/`([^`]+)`/).map((part, at) => {
    if (at % 2 === 0) return document.createTextNode(part);
    const code = document.createElement("code");
    code.textContent = part;
    return code;
  });
  let timer = 0;
  window.dokimasiaTell = (text, tone = "") => {
    clearTimeout(timer);
    told.replaceChildren(...window.dokimasiaCoded(text));
    told.className = `told ${tone}`;
    if (text && tone !== "bad") timer = setTimeout(() => { told.textContent = ""; }, 6000);
  };
  const sentence = (request) => {
    try { return JSON.parse(request.responseText).detail; } catch { return `the service answered ${request.status}`; }
  };
  // A request that is aborted because the page is left is not an error.
  const asking = new Set();
  document.addEventListener("htmx:beforeSend", (event) => {
    const request = event.detail.xhr;
    asking.add(request);
    request.addEventListener("loadend", () => asking.delete(request));
  });
  window.addEventListener("pagehide", () => asking.forEach((request) => { request.onabort = null; request.onerror = null; }));
  document.addEventListener("htmx:responseError", (event) => window.dokimasiaTell(sentence(event.detail.xhr), "bad"));
  document.addEventListener("htmx:sendError", () => window.dokimasiaTell("The service does not answer. It may have been stopped; this page goes on when it is back.", "bad"));
  document.addEventListener("htmx:afterOnLoad", () => { if (told.classList.contains("bad")) window.dokimasiaTell(""); });

  // Forms and buttons with data-confirm ask before they submit.
  document.addEventListener("submit", (event) => {
    const asks = event.submitter?.dataset.confirm ?? event.target.dataset.confirm;
    if (asks && !confirm(asks)) event.preventDefault();
  });
  // Inputs with data-submits submit their form when they change.
  document.addEventListener("change", (event) => {
    if (event.target.dataset?.submits !== undefined) event.target.form.requestSubmit();
  });
  // Forms with data-inline show what is wrong with them in place, so that nothing that was typed is lost.
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.dataset?.inline === undefined) return;
    event.preventDefault();
    const fault = form.querySelector(":scope > .fault") ?? document.createElement("p");
    fault.className = "fault bad";
    fault.setAttribute("role", "alert");
    form.querySelectorAll("button").forEach((button) => { button.disabled = true; });
    try {
      const reply = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)), headers: { accept: "application/json" } });
      if (reply.ok) { location.assign(reply.url); if (reply.url.split("#")[0] === location.href.split("#")[0]) location.reload(); return; }
      fault.replaceChildren(...window.dokimasiaCoded((await reply.json()).detail));
    } catch {
      fault.textContent = "The service does not answer; nothing was changed.";
    }
    form.querySelectorAll("button").forEach((button) => { button.disabled = false; });
    form.querySelector("button:not([type=button])").before(fault);
  });

  // A menu closes by Esc and by a click beside it, and is moved and sized so that all of it is on the screen.
  const menus = () => document.querySelectorAll("details.menu[open]");
  const fitMenu = (details) => {
    const card = details.querySelector(":scope > .card");
    if (!card) return;
    card.style.translate = card.style.maxHeight = "";
    const box = card.getBoundingClientRect(), width = document.documentElement.clientWidth;
    const shift = Math.min(0, width - 8 - box.right) + Math.max(0, 8 - box.left);
    if (shift) card.style.translate = `${shift}px`;
    card.style.maxHeight = `${Math.max(160, innerHeight - Math.max(0, box.top) - 12)}px`;
    card.style.overflowY = "auto";
  };
  // A page whose results have come shows them at once, or once its menu is closed: nothing moves beneath an open menu, and
  // nothing that was typed in it is lost. Until then a line says that they are ready.
  const isTyped = () => [...document.querySelectorAll("details.menu :is(input, textarea)")].some((input) => input.value !== input.defaultValue || input.checked !== input.defaultChecked);
  const ready = (before) => {
    const line = document.createElement("p"), link = document.createElement("a");
    line.className = "notice good";
    line.setAttribute("role", "status");
    link.href = location.pathname + location.search;
    link.textContent = "Show them";
    line.append("The results are ready. ", link);
    before?.before(line);
  };
  let overdue = false;
  window.dokimasiaReload = () => {
    if (overdue) return;
    overdue = menus().length > 0;
    if (!overdue) { location.reload(); return; }
    menus().forEach((details) => ready(details.querySelector(":scope > .card").firstElementChild));
    ready(document.querySelector("main .heading + *"));
  };
  document.addEventListener("dokimasia-reload", () => window.dokimasiaReload());
  document.addEventListener("toggle", () => { if (overdue && !menus().length && !isTyped()) location.reload(); }, true);
  document.addEventListener("toggle", (event) => { if (event.target.matches?.("details.menu[open]")) fitMenu(event.target); }, true);
  window.addEventListener("resize", () => menus().forEach(fitMenu));
  document.addEventListener("pointerdown", (event) => menus().forEach((details) => { if (!details.contains(event.target)) details.open = false; }));
  document.addEventListener("focusin", (event) => menus().forEach((details) => { if (!details.contains(event.target)) details.open = false; }));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      const [opened] = menus();
      if (opened) { opened.open = false; opened.querySelector("summary").focus(); return; }
      if (menu.getAttribute("aria-expanded") === "true") { fold(false); menu.focus(); }
      else if (told.textContent) window.dokimasiaTell("");
    }
    if (event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !event.target.matches("input, select, textarea")) {
      const search = document.querySelector("input[type=search]");
      if (search && !event.defaultPrevented) { event.preventDefault(); search.focus(); search.select(); }
    }
  });
})();
