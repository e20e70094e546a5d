"use strict";
// The button that compares works once a run is ticked.
(() => {
  const button = document.getElementById("compare");
  if (!button) return;
  const told = document.getElementById("ticked");
  const count = () => {
    const ticked = document.querySelectorAll("input[name=compare]:checked").length;
    button.disabled = !ticked;
    told.textContent = ticked ? `${ticked} ${ticked === 1 ? "run" : "runs"} ticked` : "Tick runs to compare";
  };
  document.addEventListener("change", count);
  count();
})();
