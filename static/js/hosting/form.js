/** The form of a hosted group: shows the options in use, adds rows for topics. */

import { find, findAll } from "../frame/dom.js";

const NEARBY = "MACHINE_ROOM_NEARBY";
const form = find("[data-wish]");
const { strategy, inner, listener } = form.elements;

/** Show the fields that the chosen strategy and listener use. */
function show() {
  const [outer, named] = strategy.value.split("-");
  const used = [outer, ...(outer === NEARBY ? [named ?? inner.value] : [])];
  for (const field of findAll("[data-strategies]", form))
    field.hidden = !field.dataset.strategies.split(" ").some((each) => used.includes(each));
  inner.closest("[data-strategies]").hidden ||= named !== undefined;
  const known = findAll("[data-listeners]", form);
  const takes = (field) => field.dataset.listeners.split(" ").includes(listener.value);
  for (const field of known)
    field.hidden =
      field.dataset.listeners === "*" ? BUILT_IN.has(listener.value) : !takes(field);
}

const BUILT_IN = new Set(form.dataset.builtIn.split(" "));
for (const choice of [strategy, inner, listener]) choice.addEventListener("change", show);
show();

const more = find("[data-more-topics]", form);
more.hidden = false;
more.addEventListener("click", () => {
  const rows = findAll(".topic-row", form);
  const row = rows.at(-1).cloneNode(true);
  for (const field of findAll("input", row)) field.value = "";
  rows.at(-1).after(row);
  find("input", row).focus();
});
