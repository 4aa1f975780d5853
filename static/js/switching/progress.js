/** Follows a change of a group: fetches the server's own text each second. */

import { find } from "../frame/dom.js";
import { freshCopy } from "../frame/fragment.js";
import { morph } from "../frame/morph.js";

const EVERY_MS = 1000;
const box = find("[data-progress]");
let left = 600;

setTimeout(look, EVERY_MS);

async function look() {
  const state = find("[data-state]", box)?.dataset.state;
  left -= 1;
  if (state === "replaced" || left < 0) return;
  try {
    if (!document.hidden) morph(box, await freshCopy(box, location.pathname));
  } catch {
    // The next request tries again; the present text stays.
  }
  const wait = state === "done" ? 5 * EVERY_MS : EVERY_MS;
  setTimeout(look, wait);
}
