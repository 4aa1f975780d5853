/**
 * Keeps the rebalance timeline fresh: the server draws it, and is asked every few
 * seconds while the page is visible and not paused. A span in the past does not move.
 */

import { find } from "../frame/dom.js";
import { freshCopy } from "../frame/fragment.js";
import { morph } from "../frame/morph.js";
import { Selecting } from "./selecting.js";

const ASK_MS = 3000;
/** With thousands of changes an answer takes long, so it is requested less often. */
const PAUSES = 5;

const box = find("[data-timeline]");
const source = box?.dataset.src ?? location.href;
const selecting = box && new Selecting(box);

async function ask() {
  const paused = find('[data-pause][aria-pressed="true"]');
  if (paused || document.hidden || box.offsetParent === null || selecting.busy) return;
  try {
    const fresh = await freshCopy(box, source);
    if (!selecting.busy) morph(box, fresh);
  } catch {
    // The server is unavailable; the pill says so, and the next request may reach it.
  }
}

async function follow() {
  for (;;) {
    const began = performance.now();
    await ask();
    const took = performance.now() - began;
    await new Promise((resolve) => setTimeout(resolve, Math.max(ASK_MS, took * PAUSES)));
  }
}

if (box && !new URL(source, location.href).searchParams.has("until")) follow();
