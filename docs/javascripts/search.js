// From files there is no search: browsers let no page read its index there. The header says so, and how to have one.
if (location.protocol === "file:") {
  const note = document.createElement("span");
  note.className = "no-search";
  note.textContent = "No search from files; with it: python3 -m http.server --directory site";
  document.querySelector(".md-header__inner")?.append(note);
}
