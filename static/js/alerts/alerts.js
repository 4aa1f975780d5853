/**
 * The page of alerts fetches its own content every few seconds, and the pill says how
 * long ago the rules were judged. What a reader is about to press stays in its place.
 */

import { find } from "../frame/dom.js";
import { freshCopy } from "../frame/fragment.js";
import { morph } from "../frame/morph.js";
import { Pill } from "../frame/pill.js";

const ASK_MS = 3000;

const box = find("[data-live-alerts]");
const pill = new Pill((paused) => paused || ask());
let asking = false;

async function ask() {
  if (asking || pill.paused || document.hidden) return;
  asking = true;
  try {
    morph(box, await freshCopy(box));
    showAge();
    pill.setConnected(true);
  } catch {
    pill.setConnected(false);
  }
  asking = false;
}

function showAge() {
  pill.show({ takenAt: Number(find("[data-meta]", box).dataset.takenAt) });
}

pill.setConnected(true);
showAge();
setInterval(ask, ASK_MS);
document.addEventListener("visibilitychange", ask);
