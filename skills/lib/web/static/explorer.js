// Keyboard, theme, and what happens now. Every page says all that it has to say without this.
(function () {
  "use strict";
  var base = document.body.dataset.base;
  var follows = document.body.dataset.follow;

  // Theme.
  var theme = document.getElementById("theme");
  function isDark() {
    var chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  }
  function label() { theme.textContent = isDark() ? "Light" : "Dark"; }
  function switchTheme() {
    var next = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    try { localStorage.setItem("lockstep-theme", next); } catch (error) { /* for this page alone */ }
    label();
  }
  theme.hidden = false;
  theme.addEventListener("click", switchTheme);
  label();

  // Keyboard.
  var help = document.getElementById("help");
  var keys = document.getElementById("keys");
  keys.hidden = false;
  keys.addEventListener("click", function () { help.showModal(); });
  var selected = -1;
  var afterG = 0;
  function rows() { return Array.prototype.slice.call(document.querySelectorAll("[data-row]")); }
  function select(step) {
    var found = rows();
    if (!found.length) return;
    var before = document.querySelector("[data-row].selected");
    selected = before ? found.indexOf(before) : -1;
    selected = Math.max(0, Math.min(found.length - 1, selected + step));
    if (before) before.classList.remove("selected");
    found[selected].classList.add("selected");
    var inside = found[selected].querySelector("a, summary");
    if (inside) inside.focus({ preventScroll: true });
    found[selected].scrollIntoView({ block: "nearest" });
  }
  document.addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    var at = event.target;
    if (at.matches("input, textarea, select")) { if (event.key === "Escape") at.blur(); return; }
    if (help.open) return;
    var now = Date.now();
    if (now - afterG < 1500) {
      afterG = 0;
      var way = { r: "/", s: "/skills", c: "/compare" }[event.key];
      if (way) { location.assign(base + way); event.preventDefault(); return; }
    }
    if (event.key === "g") afterG = now;
    else if (event.key === "j") select(1);
    else if (event.key === "k") select(-1);
    else if (event.key === "t") switchTheme();
    else if (event.key === "?") help.showModal();
    else if (event.key === "/") {
      var search = document.getElementById("search");
      if (search) { search.focus(); search.select(); } else location.assign(base + "/#search");
    } else return;
    event.preventDefault();
  });
  if (location.hash === "#search" && document.getElementById("search")) document.getElementById("search").focus();

  // A filter is used as soon as it is chosen.
  var filters = document.getElementById("filters");
  if (filters) filters.addEventListener("change", function (event) { if (event.target.matches("select")) filters.submit(); });

  // A link to a turn opens it; one that is on another page of the timeline leads there.
  function openTurn() {
    var named = /^#turn-(\d+)$/.exec(location.hash);
    if (!named) return;
    var turn = document.getElementById("turn-" + named[1]);
    if (turn) {
      var folded = turn.querySelector("details");
      if (folded) folded.open = true;
      turn.scrollIntoView();
    } else if (location.search.indexOf("turn=") < 0) {
      location.replace("?turn=" + named[1] + location.hash);
    }
  }
  addEventListener("hashchange", openTurn);
  openTurn();

  // What happens now: the server says that something did, and the part of the page that may have changed is read anew.
  if (!follows || !window.EventSource) return;
  var loading = false;
  var again = false;
  function isTyping(part) {
    var at = document.activeElement;
    if (at && part.contains(at) && at.matches("input, textarea, select")) return true;
    return Array.prototype.some.call(part.querySelectorAll("input:not([type=hidden]), textarea"), function (field) {
      return field.value !== field.defaultValue;
    });
  }
  function load() {
    if (loading) { again = true; return; }
    loading = true;
    fetch(location.href, { headers: { Accept: "text/html" }, credentials: "same-origin" })
      .then(function (answer) { return answer.ok ? answer.text() : Promise.reject(answer.status); })
      .then(function (text) {
        var fresh = new DOMParser().parseFromString(text, "text/html");
        ["live", "live-list"].forEach(function (name) {
          var old = document.getElementById(name);
          var made = fresh.getElementById(name);
          if (!old || !made || isTyping(old)) return;
          keep(old, made);
          old.replaceWith(document.adoptNode(made));
        });
        document.title = fresh.title;
      })
      .catch(function () { /* the next event tries again */ })
      .finally(function () {
        loading = false;
        if (again) { again = false; setTimeout(load, 400); }
      });
  }
  // What a person opened, chose and scrolled to stays so.
  function keep(old, made) {
    old.querySelectorAll("li.turn").forEach(function (turn) {
      var same = made.querySelector("#" + turn.id);
      if (!same) return;
      var before = turn.querySelectorAll("details");
      same.querySelectorAll("details").forEach(function (one, at) { if (before[at]) one.open = before[at].open; });
      if (turn.classList.contains("selected")) same.classList.add("selected");
    });
    var before = old.querySelectorAll("details.panel, details.trail-words");
    made.querySelectorAll("details.panel, details.trail-words").forEach(function (one, at) {
      if (before[at]) one.open = before[at].open;
    });
    var chosen = old.querySelector("tr.selected");
    if (chosen && chosen.id && made.querySelector("#" + chosen.id)) made.querySelector("#" + chosen.id).classList.add("selected");
    var box = old.querySelector(".graph-box");
    var fresh = made.querySelector(".graph-box");
    if (box && fresh) requestAnimationFrame(function () { fresh.scrollTop = box.scrollTop; fresh.scrollLeft = box.scrollLeft; });
  }
  var source = new EventSource(base + "/live");
  source.onmessage = function (event) {
    var news = JSON.parse(event.data);
    var mine = follows === "*" ? news.run !== "*" : news.run === "*" || follows.split(".")[0] === news.run;
    if (mine) setTimeout(load, Math.random() * 250);
  };
})();
