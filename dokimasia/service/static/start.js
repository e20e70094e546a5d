"use strict";
// Enables the button that compares runs once one is ticked.
(() => {
  const button = document.getElementById("compare");
  if (!button) return;
  const label = document.getElementById("ticked");
  const count = () => {
    const ticked = document.querySelectorAll("input[name=compare]:checked").length;
    button.disabled = !ticked;
    label.textContent = ticked ? `${ticked} ${ticked === 1 ? "run" : "runs"} ticked` : "Tick runs to compare";
  };
  document.addEventListener("change", count);
  count();
})();
