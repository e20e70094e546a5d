"use strict";
// The form of a new run: more fields for more values, and files uploaded from where they are named.
(() => {
  const fields = (name) => Array.from(document.getElementsByName(name));
  const another = (name) => {
    const last = fields(name).at(-1);
    const next = last.cloneNode();
    next.value = "";
    next.id = `${name}-${fields(name).length}`;
    next.setAttribute("aria-label", `${name} ${fields(name).length + 1}`);
    last.after(next);
    return next;
  };
  document.addEventListener("click", (event) => {
    const more = event.target.closest?.("[data-more]");
    if (more) another(more.dataset.more).focus();
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
    const said = document.querySelector(`[data-uploaded="${name}"]`);
    said.textContent = "Uploading …";
    said.className = "note";
    try {
      const kept = await send(event.target.files);
      const empty = fields(name).find((one) => !one.value) ?? (fields(name).length > 1 ? another(name) : fields(name)[0]);
      empty.value = kept.path;
      said.textContent = `${kept.name}: ${kept.files} file${kept.files === 1 ? "" : "s"}`;
    } catch (problem) {
      said.textContent = problem.message;
      said.className = "bad";
    }
    event.target.value = "";
  });
  // A folded group opens where the browser or the page leads into it.
  const open = (element) => { for (let one = element?.closest("details"); one; one = one.parentElement.closest("details")) one.open = true; };
  open(document.querySelector('[aria-invalid="true"]'));
  document.querySelector('[aria-invalid="true"]')?.focus();
})();
