"use strict";
(() => {
  const form = JSON.parse(document.getElementById("form").textContent);
  const at = (id) => document.getElementById(id);
  const make = (tag, text, attributes = {}) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  };

  // What was answered stays in this browser; the saved file is what is handed in.
  const place = `dokimasia-annotation-${form.form}`;
  let answers = {};
  try { answers = JSON.parse(localStorage.getItem(place) || "{}"); } catch { answers = {}; }
  const keep = () => { try { localStorage.setItem(place, JSON.stringify(answers)); } catch { /* a page from a file may keep nothing */ } };
  const done = (item) => form.measures.every((one) => (answers[item.item] || {})[one.name]);
  let number = Math.max(0, form.items.findIndex((item) => !done(item)));
  let saved = true;

  const titled = (title, text) => text ? [make("h2", title), make("pre", text, { class: "text" })] : [];
  const standing = () => {
    const count = form.items.filter(done).length;
    at("standing").textContent = `${number + 1} of ${form.items.length} · ${count} answered`;
    at("save").textContent = count === form.items.length ? "Save my answers" : `Save (${count} of ${form.items.length})`;
  };

  const picture = (name, alt) => {
    const image = make("img", undefined, { src: form.images[name], alt, tabindex: "0" });
    image.addEventListener("click", () => image.classList.toggle("large"));
    return image;
  };
  const shown = (item) => {
    const parts = [];
    if (item.images.length) {
      const images = make("div", undefined, { class: "images" });
      item.images.forEach((name, place) => images.append(picture(name, `Image ${place + 1}`)));
      parts.push(images);
    }
    parts.push(...titled(form.kind === "criterion" ? "The question" : "The request", item.question), ...titled("The options", item.choices));
    if (item.aid) {
      const aid = make("details");
      aid.append(make("summary", form.kind === "pair" ? "The criteria" : "What a good response gets right"), make("pre", item.aid, { class: "text" }));
      parts.push(aid);
    }
    if (form.kind === "pair") {
      const sides = make("div", undefined, { class: "sides" });
      for (const side of ["left", "right"]) {
        const column = make("section");
        column.append(...titled(side === "left" ? "Left" : "Right", item[side] || "(empty)"));
        sides.append(column);
      }
      parts.push(sides);
    } else if (form.kind === "perturbation") {
      if (item.compared.length) {
        const sides = make("div", undefined, { class: "sides" });
        for (const [title, name] of item.compared) {
          const column = make("section");
          column.append(make("h2", title), picture(name, title));
          sides.append(column);
        }
        parts.push(sides);
      }
      parts.push(...titled("The gold answer", item.gold));
      if (item.difference.length) {
        const text = make("pre", undefined, { class: "text" });
        const tags = { same: "span", removed: "del", added: "ins" };
        for (const [kind, words] of item.difference) text.append(make(tags[kind], words));
        parts.push(make("h2", "What was changed in it"), text);
      }
      parts.push(...titled("The edit that was asked for", item.instruction), ...titled("What was changed, in words", item.description), ...titled("Rationale", item.rationale), ...titled("A checking model's doubt", item.doubt), ...titled(`Meant as: ${item.title}`, item.definition));
    } else if (form.kind === "ranking") {
      item.responses.forEach((text, place) => parts.push(...titled(`Response ${String.fromCharCode(65 + place)}`, text || "(empty)")));
    } else if (form.kind === "response") {
      parts.push(...titled("The reference answer", item.reference), ...titled("The response", item.response || "(empty)"));
    } else {
      parts.push(...titled("The criterion", item.criterion), ...titled("What is held to be true", item.ground_truth));
    }
    return parts;
  };

  const asked = (item, measure) => {
    const group = make("fieldset");
    const choices = make("div", undefined, { class: "choices" });
    measure.options.forEach((option) => {
      const label = make("label");
      const input = make("input", undefined, { type: "radio", name: measure.name, value: option.value });
      input.checked = (answers[item.item] || {})[measure.name] === option.value;
      input.addEventListener("change", () => {
        answers[item.item] = { ...answers[item.item], [measure.name]: option.value };
        saved = false;
        keep();
        standing();
      });
      label.append(input, make("span", option.label));
      choices.append(label);
    });
    group.append(make("legend", measure.question), choices);
    return group;
  };

  const show = () => {
    const item = form.items[number];
    const comment = make("textarea", (answers[item.item] || {}).comment || "", { "aria-label": "Remark (may stay empty)", placeholder: "Remark (may stay empty)" });
    comment.addEventListener("input", () => {
      answers[item.item] = { ...answers[item.item], comment: comment.value };
      saved = false;
      keep();
    });
    at("item").replaceChildren(...shown(item), ...form.measures.map((one) => asked(item, one)), ...(form.kind === "perturbation" ? [] : [comment]));
    at("back").disabled = number === 0;
    at("next").disabled = number === form.items.length - 1;
    standing();
    window.scrollTo(0, 0);
  };

  const move = (step) => { number = Math.min(form.items.length - 1, Math.max(0, number + step)); show(); };
  at("back").addEventListener("click", () => move(-1));
  at("next").addEventListener("click", () => move(1));
  at("save").addEventListener("click", () => {
    const lines = form.items.filter((item) => answers[item.item]).map((item) => JSON.stringify({ item: item.item, ...form.adds, ...answers[item.item] }));
    const link = make("a", "", { href: URL.createObjectURL(new Blob([lines.join("\n") + "\n"], { type: "application/jsonl" })), download: `${form.annotator}.jsonl` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    saved = true;
  });
  addEventListener("beforeunload", (event) => { if (!saved) event.preventDefault(); });
  show();
})();
