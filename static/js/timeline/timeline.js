/**
 * Keeps the rebalance timeline fresh: the server draws it, and is asked every few
 * seconds while the page is seen and not paused. A span of the past does not move.
 */

import { find } from "../frame/dom.js";
import { freshCopy } from "../frame/fragment.js";
import { morph } from "../frame/morph.js";

const ASK_MS = 3000;
/** Of a group with thousands of changes the answer takes long; it is asked less often. */
const PAUSES = 5;

const box = find("[data-timeline]");
const source = box?.dataset.src ?? location.href;

async function ask() {
  const paused = find('[data-pause][aria-pressed="true"]');
  if (paused || document.hidden || box.offsetParent === null) return;
  try {
    morph(box, await freshCopy(box, source));
  } catch {
    // The server is away for a moment; the pill says so, the next question may reach it.
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
