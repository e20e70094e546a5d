"use strict";
// Runs before anything is drawn: the theme that was chosen at this browser, and that scripts run here.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  try {
    const told = localStorage.getItem("dokimasia-theme");
    if (told === "light" || told === "dark") root.dataset.theme = told;
  } catch { /* a browser that keeps nothing follows the system */ }
})();
