/** Follows a move of offsets: fetches the server's own look at it every few seconds. */

import { find } from "../frame/dom.js";
import { freshCopy } from "../frame/fragment.js";
import { morph } from "../frame/morph.js";

const EVERY_MS = 3000;
const box = find("[data-outcome]");
let left = 200;

setTimeout(look, EVERY_MS);

async function look() {
  left -= 1;
  if (left < 0) return;
  try {
    if (!document.hidden) morph(box, await freshCopy(box, location.pathname));
  } catch {
    // The next request tries again; the present text stays.
  }
  setTimeout(look, EVERY_MS);
}
