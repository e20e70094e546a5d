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
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      if (menu.getAttribute("aria-expanded") === "true") { fold(false); menu.focus(); }
      else if (told.textContent) window.dokimasiaTell("");
    }
    if (event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !event.target.matches("input, select, textarea")) {
      const search = document.querySelector("input[type=search]");
      if (search && !event.defaultPrevented) { event.preventDefault(); search.focus(); search.select(); }
    }
  });
})();
