/**
 * Keys that work on every page: / search, j k Enter in lists, p pause, g c and g g to
 * go somewhere, ? for the list of keys. They do nothing while the reader types or holds
 * a modifier.
 */

import { find, findAll } from "./dom.js";

const TYPING = "input, textarea, select, [contenteditable]";
const GO_WITHIN_MS = 1200;
let goAt = -Infinity;

export function listenForKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey)
      return;
    if (event.target instanceof Element && event.target.matches(TYPING))
      return leaveField(event);
    if (find("dialog[open]")) return;
    const act =
      performance.now() - goAt < GO_WITHIN_MS ? GO[event.key] : KEYS[event.key];
    goAt = -Infinity;
    if (act?.(event)) event.preventDefault();
  });
  findAll("[data-help-open]").forEach((b) => b.addEventListener("click", openHelp));
}

const KEYS = {
  "/": () => focus("[data-filter] input") || focus("[data-search]"),
  "?": () => openHelp(),
  p: () => press("[data-pause]"),
  j: () => moveRow(1),
  k: () => moveRow(-1),
  Enter: (event) => event.target === document.body && openRow(),
  g: () => {
    goAt = performance.now();
    return true;
  },
};

const GO = {
  c: () => press(".nav a[href]:nth-of-type(1)"),
  g: () => press(".nav a[href]:nth-of-type(2)"),
};

function leaveField(event) {
  if (event.key === "Escape") event.target.blur();
}

function focus(selector) {
  const field = find(selector);
  field?.focus();
  field?.select();
  return Boolean(field);
}

function press(selector) {
  const target = find(selector);
  target?.click();
  return Boolean(target);
}

function openHelp() {
  find("[data-help]")?.showModal();
  return true;
}

/** Move the mark in the first list of the page; it is scrolled into view. */
function moveRow(step) {
  const rows = findAll("[data-rows] tbody tr:not(.gone)");
  if (!rows.length) return false;
  const now = rows.findIndex((row) => row.hasAttribute("aria-current"));
  const next = Math.min(rows.length - 1, Math.max(0, now + step));
  rows[now]?.removeAttribute("aria-current");
  rows[next].setAttribute("aria-current", "true");
  rows[next].scrollIntoView({ block: "nearest" });
  return true;
}

function openRow() {
  return press("[data-rows] tr[aria-current] [data-open]");
}
