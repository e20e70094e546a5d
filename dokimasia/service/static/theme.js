"use strict";
// Runs before the page is drawn: applies the theme stored in this browser, and marks that scripts run.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  try {
    const theme = localStorage.getItem("dokimasia-theme");
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  } catch { /* without local storage, follow the system's theme */ }
})();
