/**
 * The box in the head of a table that chooses all rows shown. It follows the rows'
 * boxes: ticked where all are, in between where some are. The list is fetched again
 * while it is open, so rows may come and leave between two choices.
 */

import { find, findAll } from "../frame/dom.js";

const ALL = "[data-choose-all]";
const EACH = "tr:not(.gone) > .letter-choice input[name=letter]";

const list = find("[data-live-list]");

function follow() {
  const all = find(ALL, list);
  if (!all) return;
  const boxes = findAll(EACH, list);
  const chosen = boxes.filter((box) => box.checked).length;
  all.checked = chosen > 0 && chosen === boxes.length;
  all.indeterminate = chosen > 0 && !all.checked;
}

list.addEventListener("change", ({ target }) => {
  if (target.matches(ALL)) {
    findAll(EACH, list).forEach((box) => (box.checked = target.checked));
  }
  follow();
});

new MutationObserver(follow).observe(list, {
  attributeFilter: ["class"],
  childList: true,
  subtree: true,
});
// What a browser kept of an earlier visit is put back when the page is shown.
addEventListener("pageshow", follow);
follow();
