"use strict";
// The button that compares works once two runs are ticked.
(() => {
  const button = document.getElementById("compare");
  if (!button) return;
  const told = document.getElementById("ticked");
  const count = () => {
    const ticked = document.querySelectorAll("input[name=compare]:checked").length;
    button.disabled = ticked < 2;
    told.textContent = ticked < 2 ? "Tick two or more runs" : `${ticked} runs ticked`;
  };
  document.addEventListener("change", count);
  count();
})();
