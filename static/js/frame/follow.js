/**
 * Follows something that was started: fetches the server's look at it every few seconds,
 * as long as that says by `data-active` that it goes on.
 */

import { find } from "./dom.js";
import { freshCopy } from "./fragment.js";
import { morph } from "./morph.js";

const EVERY_MS = 3000;
const box = find("[data-follow]");

setTimeout(look, EVERY_MS);

async function look() {
  if (!box.querySelector("[data-active]")) return;
  try {
    if (!document.hidden) morph(box, await freshCopy(box));
  } catch {
    // The next request tries again; the present text stays.
  }
  setTimeout(look, EVERY_MS);
}
