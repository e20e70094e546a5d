"use strict";
// Edits trees by dragging: a node dropped on a node of the layer above moves there; on one of its own layer it is merged into it. Both ask for a reason.
(() => {
  const dialog = document.getElementById("dragged");
  if (!dialog) return;
  const form = dialog.querySelector("form");
  const rows = [...document.querySelectorAll("tr[data-node]")];
  let dragged = null;
  const kind = (target) => {
    if (!dragged || target === dragged) return "";
    const [from, to] = [Number(dragged.dataset.layer), Number(target.dataset.layer)];
    const parent = dragged.dataset.node.replace(/<[^<>]*>$/, "");
    if (to === from) return "merge";
    return to === from - 1 && target.dataset.node !== parent ? "move" : "";
  };
  const name = (row) => row.querySelector("a").textContent;
  for (const row of rows) {
    row.addEventListener("dragstart", (event) => {
      dragged = row;
      row.classList.add("dragging");
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", row.dataset.node);
    });
    row.addEventListener("dragend", () => {
      for (const other of rows) other.classList.remove("dragging", "over");
      dragged = null;
    });
    row.addEventListener("dragover", (event) => {
      if (kind(row)) { event.preventDefault(); row.classList.add("over"); }
    });
    row.addEventListener("dragleave", () => row.classList.remove("over"));
    row.addEventListener("drop", (event) => {
      const what = kind(row);
      if (!what) return;
      event.preventDefault();
      form.elements.kind.value = what;
      form.elements.node.value = dragged.dataset.node;
      form.elements.into.value = row.dataset.node;
      document.getElementById("dragged-what").textContent = what === "move"
        ? `Move “${name(dragged)}” to below “${name(row)}”.` : `Merge “${name(dragged)}” into “${name(row)}”.`;
      dialog.showModal();
      form.elements.reason.focus();
    });
  }
  dialog.querySelector('[value="cancel"]').addEventListener("click", () => dialog.close());
})();
