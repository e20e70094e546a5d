"use strict";
// The form of a new run: adds inputs for more values, and uploads files next to the fields that name them.
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
  // A field with a new upload loses the message about what stood there before, and the summary above the form its name.
  const correct = (input) => {
    const field = input.closest(".field");
    if (!field?.querySelector(":scope > .fault")) return;
    field.querySelector(":scope > .fault").remove();
    field.querySelectorAll('[aria-invalid="true"]').forEach((one) => one.removeAttribute("aria-invalid"));
    const summary = document.querySelector("[data-to-correct]"), left = [...document.querySelectorAll("#run-form .field:has(> .fault) > label")];
    if (!summary) return;
    if (!left.length) { summary.closest(".notice").remove(); return; }
    const labels = left.map((label) => label.firstChild.textContent.trim()).join(", ");
    summary.textContent = `Please correct ${left.length === 1 ? "one field" : `${left.length} fields`}: ${labels}.`;
  };
  const send = async (files) => {
    const body = new FormData();
    for (const file of files) body.append("file", file, file.name);
    const reply = await fetch("/api/uploads", { method: "POST", body });
    const uploaded = await reply.json();
    if (!reply.ok) throw new Error(uploaded.detail);
    return uploaded;
  };
  document.addEventListener("change", async (event) => {
    const name = event.target.dataset?.upload;
    if (name === undefined || !event.target.files.length) return;
    const form = event.target.form;
    const message = form.querySelector(`[data-uploaded="${name}"]`);
    message.textContent = "Uploading …";
    message.className = "note";
    try {
      const upload = await send(event.target.files);
      if (event.target.dataset.reloads !== undefined) { location.reload(); return; }
      const all = fields(form, name);
      const empty = all.find((input) => !input.value) ?? (all.length > 1 ? another(form, name) : all[0]);
      empty.value = upload.called;
      correct(empty);
      message.textContent = `${upload.name}: ${upload.files} file${upload.files === 1 ? "" : "s"}`;
      if (name === "data" && upload.check?.faults.length) {
        const others = upload.check.faults.length - 1 + upload.check.more;
        message.textContent += `. ${upload.check.faults[0]}${others ? ` And ${others} more: Look at the data.` : ""}`;
        message.className = "bad";
      }
    } catch (problem) {
      message.textContent = problem.message;
      message.className = "bad";
    }
    event.target.value = "";
  });
  // Ask before leaving a form that was filled in and not sent.
  const runForm = document.getElementById("run-form");
  if (runForm) {
    let filled = runForm.dataset.filled !== undefined;
    runForm.addEventListener("input", () => { filled = true; });
    runForm.addEventListener("submit", () => { filled = false; });
    window.addEventListener("beforeunload", (event) => { if (filled) event.preventDefault(); });
  }
  // Open the folded group that contains an invalid field.
  const open = (element) => { for (let group = element?.closest("details"); group; group = group.parentElement.closest("details")) group.open = true; };
  open(document.querySelector('[aria-invalid="true"]'));
  document.querySelector('[aria-invalid="true"]')?.focus();
})();
