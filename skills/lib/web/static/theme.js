// Before anything is drawn: the theme that was chosen, if it was another than the system's.
(function () {
  "use strict";
  try {
    var chosen = localStorage.getItem("lockstep-theme");
    if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
  } catch (error) { /* storage is switched off: the system's theme */ }
})();
