/** Shows the fields of a schedule that the chosen one uses. */

import { find, findAll } from "../frame/dom.js";

const every = find("[data-every]");

function show() {
  findAll("[data-for]").forEach((field) => {
    field.hidden = !field.dataset.for.split(" ").includes(every.value);
  });
}

if (every) {
  every.addEventListener("change", show);
  show();
}
