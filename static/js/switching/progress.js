/** Follows a change of a group: the server's own words, fetched each second. */

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
    // The next look tries again; what stands there stays.
  }
  const wait = state === "done" ? 5 * EVERY_MS : EVERY_MS;
  setTimeout(look, wait);
}
