/**
 * The what-if page: it is computed again a quarter of a second after an edit. The old
 * numbers stay, dimmed, until the new ones arrive; the URL is always the scenario
 * shown.
 */

import { find, note } from "../frame/dom.js";
import { fragment } from "../frame/fragment.js";
import { ui } from "../frame/words.js";
import { tendForm } from "./form.js";
import { drawMaps } from "./maps.js";

const WAIT_MS = 250;
const form = find("[data-scenario]");
const results = find("[data-results]");
let timer = 0;
/** @type {AbortController|null} */
let asking = null;
let people = peopleNow();

drawMaps();
tendForm(form, () => edited());
tendShare();
form.addEventListener("submit", (event) => {
  event.preventDefault();
  run();
});
results.addEventListener("click", (event) => {
  const link = event.target.closest("[data-row-link]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  find("[data-strategy]").value = link.dataset.rowLink;
  run();
});
addEventListener("popstate", () => location.reload());

function edited() {
  results.classList.add("outdated");
  clearTimeout(timer);
  timer = setTimeout(run, WAIT_MS);
}

async function run() {
  clearTimeout(timer);
  asking?.abort();
  asking = new AbortController();
  results.classList.add("outdated");
  results.setAttribute("aria-busy", "true");
  try {
    /** @type {any} every field of the form is a string */
    const fields = new FormData(form);
    await load(new URLSearchParams(fields), asking.signal);
  } catch (error) {
    if (error.name === "AbortError") return;
    note(ui("action_failed", { reason: error.message }), 12);
  }
  results.classList.remove("outdated");
  results.removeAttribute("aria-busy");
}

async function load(query, signal) {
  for (const [key, value] of [...query]) if (!value.trim()) query.delete(key, value);
  const fresh = await fragment(`?${query}`, { signal });
  const open = [...results.querySelectorAll("details")].map(({ open }) => open);
  results.replaceChildren(fresh);
  results.querySelectorAll("details").forEach((each, at) => (each.open = open[at]));
  const canonical = find("[data-canonical]", results).dataset.canonical;
  history.replaceState(null, "", `?${canonical}`);
  const kept = find("[data-query]");
  if (kept) kept.value = canonical;
  drawMaps();
  sayOfMembers();
}

function peopleNow() {
  return find("[data-people]", results)?.dataset.people;
}

function sayOfMembers() {
  const output = find("[data-member-count] output");
  const then = JSON.parse(find("#comparison", results).textContent).members.then;
  if (output) output.textContent = then.length;
  if (peopleNow() !== people) note(ui("members_changed_meanwhile"), 12);
  people = peopleNow();
}

function tendShare() {
  const button = find("[data-copy]");
  if (!button || !navigator.clipboard) return;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(location.href);
    note(ui("link_copied"));
  });
}
