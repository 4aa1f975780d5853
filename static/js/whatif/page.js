/**
 * The what-if page: it is computed again a quarter of a second after an edit. The old
 * numbers stay, dimmed, until the new ones arrive; the URL is always the scenario
 * shown.
 */

import { copyText } from "../frame/copying.js";
import { find, note } from "../frame/dom.js";
import { fragment } from "../frame/fragment.js";
import { ui } from "../frame/words.js";
import { tendForm } from "./form.js";
import { drawMaps } from "./maps.js";

const WAIT_MS = 250;
/** What is shown unless the address says otherwise. */
const FIRST = { view: "map", only: "all" };
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
  const link = event.target.closest("[data-row-link], [data-choose] a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (link.dataset.rowLink) {
    find("[data-strategy]").value = link.dataset.rowLink;
    run();
  } else choose(link);
});
addEventListener("popstate", () => location.reload());

/** Show the map or the moves, all queues or those that move, without asking again. */
function choose(link) {
  const name = link.closest("[data-choose]").dataset.choose;
  const query = new URLSearchParams(location.search);
  if (link.dataset.value === FIRST[name]) query.delete(name);
  else query.set(name, link.dataset.value);
  history.replaceState(null, "", `?${query}`);
  for (const each of link.parentElement.children) {
    each.toggleAttribute("aria-current", each === link);
    if (each === link) each.setAttribute("aria-current", "true");
  }
  const view = query.get("view") ?? FIRST.view;
  for (const part of results.querySelectorAll("[data-view]"))
    part.hidden = part.dataset.view !== view;
  find('[data-choose="only"]', results).hidden = view !== "map";
  drawMaps();
}

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
  const chosen = [...new URLSearchParams(location.search)].filter(([key]) => FIRST[key]);
  for (const [key, value] of chosen) query.set(key, value);
  const fresh = await fragment(`?${query}`, { signal });
  const open = [...results.querySelectorAll("details")].map(({ open }) => open);
  results.replaceChildren(fresh);
  results.querySelectorAll("details").forEach((each, at) => (each.open = open[at]));
  const canonical = find("[data-canonical]", results).dataset.canonical;
  const beside = new URLSearchParams(chosen).toString();
  history.replaceState(null, "", `?${canonical}${beside && `&${beside}`}`);
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
  const button = find("[data-share]");
  if (!button) return;
  button.hidden = false;
  button.addEventListener("click", () => {
    void copyText(location.href, { button, said: ui("link_copied") });
  });
}
