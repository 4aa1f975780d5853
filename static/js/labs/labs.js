/**
 * Labs while they are played: each message over the socket that a run has progressed
 * makes the page fetch its own content again, written by the server in the reader's
 * language, a few times a second at most. Without messages the page asks every ten
 * seconds.
 */

import { find } from "../frame/dom.js";
import { freshCopy } from "../frame/fragment.js";
import { morph } from "../frame/morph.js";
import { Pill } from "../frame/pill.js";
import { scheduler } from "../frame/schedule.js";
import { LiveSocket } from "../frame/socket.js";

const SPACING_MS = 300;
const ASK_MS = 10_000;
const NEAR_END_PX = 80;

const box = find("[data-live-labs]");
const pill = new Pill((paused) => paused || refresh());
const refresh = scheduler(() => pill.paused || load().catch(() => {}), SPACING_MS);

async function load() {
  const fresh = await freshCopy(box);
  const following = atEnd();
  morph(box, fresh);
  if (following && runs()) scrollTo(0, document.documentElement.scrollHeight);
  showAge();
}

/** Readers at the end of the steps stay at the end; others are left alone. */
function atEnd() {
  const root = document.documentElement;
  const scrolls = root.scrollHeight > innerHeight + NEAR_END_PX;
  return scrolls && scrollY + innerHeight > root.scrollHeight - NEAR_END_PX;
}

function runs() {
  return find("[data-lab-state]", box)?.dataset.labState === "running";
}

function showAge() {
  pill.show({ takenAt: Number(find("[data-meta]", box).dataset.takenAt) });
}

new LiveSocket({
  watch: { cluster: box.dataset.cluster, labs: true },
  ready: refresh,
  // A message carries no content: it only says that there is something to fetch.
  hear: (word) => {
    if (!box.dataset.run || box.dataset.run === word.run) refresh();
  },
  connection: (...state) => pill.setConnected(...state),
}).start();
showAge();
setInterval(refresh, ASK_MS);
