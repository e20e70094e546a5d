"use strict";
// The review by keyboard: keys press the buttons that name them, digits delete sentences or choose answers, and unsaved text
// is stored as a draft on the server while it is written.
(() => {
  const begin = document.querySelector("[data-begin]");
  if (begin) {
    document.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.target === document.body || event.target.id === "content")) begin.click();
    });
  }
  const form = document.getElementById("decide");
  if (!form) {
    document.addEventListener("keydown", (event) => {
      const plain = event.target === document.body || event.target.id === "content";
      if (plain && event.key === "z") document.querySelector("#undo button")?.click();
    });
    return;
  }
  const text = form.elements.text;
  const editor = form.querySelector(".editor");
  const boxes = [...form.querySelectorAll(".sentences input")];
  const result = document.getElementById("result");
  const keys = document.getElementById("keys");
  const kept = form.querySelector(".kept");
  const faults = document.getElementById("faults");
  const may = form.dataset.may !== undefined;
  const places = document.getElementById("places");
  const keeps = places ? [...places.querySelectorAll('[data-place="first"] input')] : [];
  // The text that replaces a kept one is required only once that is chosen.
  const otherwise = () => {
    const box = places?.querySelector("[data-otherwise]");
    if (!box || !keeps.length) return;
    box.hidden = !keeps.find((input) => input.value === "")?.checked;
    box.querySelector("textarea").disabled = box.hidden;
  };
  const placeFields = () => {
    const fields = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (name.startsWith("place-")) fields.append(name, value);
    return fields;
  };
  let byHand = form.querySelector(".editor")?.open === true;
  let sent = false;
  let waiting = 0;
  let latest = null;

  const sentences = (struck) => boxes.filter((box) => box.checked === struck).map((box) => box.closest("label").querySelector(".sentence").textContent);
  const show = () => {
    if (!result) return;
    const rest = sentences(false);
    result.hidden = !boxes.some((box) => box.checked);
    const accept = document.getElementById("accept");
    if (accept) accept.textContent = result.hidden ? "Accept" : "Accept what is left";
    result.querySelector(".text").textContent = rest.join(" ") || "Nothing would be left: reject the text instead.";
  };
  const keep = async (body) => {
    latest = null;
    if (sent) return;
    try {
      const reply = await fetch(form.dataset.draft, { method: "POST", body: typeof body === "string" ? new URLSearchParams({ text: body }) : body, keepalive: true });
      if (!reply.ok) throw new Error();
      const draft = await reply.json();
      if (kept) kept.textContent = "kept on the server";
      if (faults && latest === null) faults.textContent = draft.faults;
      if (typeof body !== "string" && latest === null) text.value = draft.text;
    } catch {
      if (kept) kept.textContent = "not kept: the service does not answer";
    }
  };
  const keepSoon = (body) => {
    latest = body;
    clearTimeout(waiting);
    waiting = setTimeout(() => keep(body), 400);
  };
  const flush = () => { clearTimeout(waiting); if (latest !== null) keep(latest); };
  if (may) {
    for (const box of boxes) box.addEventListener("change", () => { show(); keepSoon(sentences(false).join("\n")); });
    if (places) {
      places.addEventListener("input", () => { byHand = false; if (kept) kept.textContent = ""; otherwise(); keepSoon(placeFields()); });
      places.querySelector("[data-clear]")?.addEventListener("click", () => {
        for (const select of places.querySelectorAll(".order select")) select.value = "";
        keepSoon(placeFields());
      });
    }
    if (text) text.addEventListener("input", () => { byHand = true; if (kept) kept.textContent = ""; keepSoon(text.value); });
    document.getElementById("discard")?.addEventListener("click", () => {
      text.value = boxes.map((box) => box.closest("label").querySelector(".sentence").textContent).join("\n");
      keepSoon(sentences(false).join("\n"));
      editor.open = false;
    });
    window.addEventListener("pagehide", flush);
    if (faults && text && !text.readOnly && text.value !== text.defaultValue) keepSoon(text.value);
  }
  form.addEventListener("submit", (event) => {
    if (sent) { event.preventDefault(); return; }
    if (event.submitter?.value === "delete" && !boxes.some((box) => box.checked)) {
      event.preventDefault();
      window.dokimasiaTell("Strike the sentences out first: click them, or press their numbers.", "bad");
      return;
    }
    sent = true;
    clearTimeout(waiting);
  });
  window.addEventListener("pageshow", () => { sent = false; show(); otherwise(); });

  // Digits: a number is used once no longer number can follow, or after a short pause.
  let typed = "";
  let typing = 0;
  const applyNumber = () => {
    clearTimeout(typing);
    const box = boxes[Number(typed) - 1];
    typed = "";
    if (box && !box.disabled) { box.click(); box.closest("label").scrollIntoView({ block: "nearest" }); }
  };
  const digit = (key) => {
    if (boxes.length) {
      typed += key;
      clearTimeout(typing);
      if (Number(typed) * 10 > boxes.length) applyNumber();
      else typing = setTimeout(applyNumber, 600);
      return;
    }
    const order = [...form.querySelectorAll(".order select")];
    const open = order.find((select) => !select.value);
    if (open && order.some((select) => select.options[Number(key)]) && !places.disabled) {
      const free = open.options[Number(key)]?.value;
      if (free && !order.some((select) => select.value === free)) {
        open.value = free;
        const empty = order.filter((select) => !select.value);
        if (empty.length === 1) empty[0].value = [...open.options].map((option) => option.value).find((value) => value && !order.some((other) => other.value === value));
        open.dispatchEvent(new Event("input", { bubbles: true }));
      }
      return;
    }
    const measures = [...form.querySelectorAll('.measure:not([data-place="several"], [data-place="order"])')];
    const measure = measures.find((item) => item.contains(document.activeElement)) ?? measures.find((item) => !item.querySelector(":checked")) ?? measures[0];
    const radio = measure?.querySelectorAll("input")[Number(key) - 1];
    if (radio && !radio.matches(":disabled")) {
      radio.checked = true;
      radio.dispatchEvent(new Event("input", { bubbles: true }));
      radio.focus(); if (measures.length > 1) radio.blur();
    }
  };
  const edit = () => {
    const first = places?.querySelector("textarea:not(:disabled), input:not([type=radio], [type=checkbox])");
    if (first && !byHand) { first.focus(); return; }
    if (editor) editor.open = true;
    if (text) { text.focus(); text.scrollIntoView({ block: "nearest" }); }
  };
  const press = (key) => {
    for (const button of document.querySelectorAll("[data-key]")) {
      if (button.dataset.key.includes(key) && !button.disabled) { button.click(); return true; }
    }
    return false;
  };
  for (const button of document.querySelectorAll('[data-key="?"]')) button.addEventListener("click", () => keys.showModal());

  document.addEventListener("keydown", (event) => {
    const writing = event.target.matches("textarea, select, input:not([type=checkbox], [type=radio])");
    if (writing) {
      if (event.key === "Escape") { event.target.blur(); flush(); }
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && (event.target === text || places?.contains(event.target))) {
        event.preventDefault();
        form.requestSubmit(form.querySelector(event.target === text ? 'button[value="edit"], button[value="reply"]' : 'button[value="compose"]') ?? undefined);
      }
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || keys.open) return;
    if (/^[0-9]$/.test(event.key)) { event.preventDefault(); digit(event.key); return; }
    if (event.key === "e" && text && may) { event.preventDefault(); edit(); return; }
    if (event.key.length === 1 && press(event.key.toLowerCase())) event.preventDefault();
  });
  show();
  otherwise();
})();
