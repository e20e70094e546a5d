"use strict";
// Enables the button that compares runs once one is selected.
(() => {
  const button = document.getElementById("compare");
  if (!button) return;
  const label = document.getElementById("ticked");
  const count = () => {
    const ticked = document.querySelectorAll("input[type=checkbox]:is([name=compare], [name=runs]):checked").length;
    button.disabled = !ticked;
    label.textContent = ticked ? `${ticked} ${ticked === 1 ? "run" : "runs"} selected` : "Select runs to compare";
  };
  document.addEventListener("change", count);
  count();
})();
