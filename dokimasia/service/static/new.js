"use strict";
// The form of a new run: more fields for more values, and files uploaded from where they are named.
(() => {
  const fields = (form, name) => Array.from(form.querySelectorAll(`[name="${name}"]`));
  const another = (form, name) => {
    const all = fields(form, name);
    const next = all.at(-1).cloneNode();
    next.value = "";
    next.id = `${all[0].id}-${all.length}`;
    next.setAttribute("aria-label", `${name} ${all.length + 1}`);
    all.at(-1).after(next);
    return next;
  };
  document.addEventListener("click", (event) => {
    const more = event.target.closest?.("[data-more]");
    if (more) another(more.form, more.dataset.more).focus();
  });
  const send = async (files) => {
    const body = new FormData();
    for (const file of files) body.append("file", file, file.name);
    const reply = await fetch("/api/uploads", { method: "POST", body });
    const told = await reply.json();
    if (!reply.ok) throw new Error(told.detail);
    return told;
  };
  document.addEventListener("change", async (event) => {
    const name = event.target.dataset?.upload;
    if (!name || !event.target.files.length) return;
    const form = event.target.form;
    const said = form.querySelector(`[data-uploaded="${name}"]`);
    said.textContent = "Uploading …";
    said.className = "note";
    try {
      const kept = await send(event.target.files);
      const all = fields(form, name);
      const empty = all.find((one) => !one.value) ?? (all.length > 1 ? another(form, name) : all[0]);
      empty.value = kept.called;
      said.textContent = `${kept.name}: ${kept.files} file${kept.files === 1 ? "" : "s"}`;
    } catch (problem) {
      said.textContent = problem.message;
      said.className = "bad";
    }
    event.target.value = "";
  });
  // A form that was filled in and not sent asks before it is left.
  const asked = document.getElementById("run-form");
  if (asked) {
    let filled = asked.dataset.filled !== undefined;
    asked.addEventListener("input", () => { filled = true; });
    asked.addEventListener("submit", () => { filled = false; });
    window.addEventListener("beforeunload", (event) => { if (filled) event.preventDefault(); });
  }
  // A folded group opens where the browser or the page leads into it.
  const open = (element) => { for (let one = element?.closest("details"); one; one = one.parentElement.closest("details")) one.open = true; };
  open(document.querySelector('[aria-invalid="true"]'));
  document.querySelector('[aria-invalid="true"]')?.focus();
})();
