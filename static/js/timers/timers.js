/**
 * The page of timers fetches its own content every two seconds, and the pill says how
 * old that is. A dead beat is a matter of seconds, so nothing here waits for a message
 * over the socket, which a dead process would not send.
 */

import { find } from "../frame/dom.js";
import { freshCopy } from "../frame/fragment.js";
import { morph } from "../frame/morph.js";
import { Pill } from "../frame/pill.js";

const ASK_MS = 2000;

const box = find("[data-live-timers]");
const pill = new Pill((paused) => paused || ask());
let asking = false;

async function load() {
  const fresh = await freshCopy(box);
  keepFilter(fresh);
  morph(box, fresh);
  showAge();
}

/** Keep what the reader is about to choose when an answer arrives. */
function keepFilter(fresh) {
  const mine = find("[data-filter]", box);
  const theirs = find("[data-filter]", fresh);
  if (mine && theirs) theirs.replaceWith(mine.cloneNode(true));
}

function showAge() {
  pill.show({ takenAt: Number(find("[data-meta]", box).dataset.takenAt) });
}

async function ask() {
  if (asking || pill.paused || document.hidden) return;
  asking = true;
  try {
    await load();
    pill.setConnected(true);
  } catch {
    pill.setConnected(false);
  }
  asking = false;
}

pill.setConnected(true);
showAge();
setInterval(ask, ASK_MS);
document.addEventListener("visibilitychange", ask);
