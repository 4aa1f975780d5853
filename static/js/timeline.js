/**
 * Keeps the rebalance timeline fresh: the server draws it, and is asked every few
 * seconds while the page is seen and not paused. A span of the past does not move.
 */

import { find, h } from "./dom.js";
import { morph } from "./morph.js";

const ASK_MS = 3000;

const box = find("[data-timeline]");
const source = box?.dataset.src ?? location.href;
let asking = false;

async function ask() {
  const paused = find('[data-pause][aria-pressed="true"]');
  const shown = box.offsetParent !== null;
  if (asking || paused || document.hidden || !shown) return;
  asking = true;
  try {
    const answer = await fetch(source, { headers: { "X-Fragment": "1" } });
    if (answer.status === 401) location.reload();
    else if (answer.ok) draw(await answer.text());
  } catch {
    // The server is away for a moment; the pill says so, the next question may reach it.
  }
  asking = false;
}

function draw(text) {
  const fresh = h("div");
  fresh.append(document.createRange().createContextualFragment(text));
  for (const { name, value } of box.attributes) fresh.setAttribute(name, value);
  morph(box, fresh);
}

if (box) {
  if (box.dataset.src) ask();
  if (!new URL(source, location.href).searchParams.has("until")) setInterval(ask, ASK_MS);
  document.addEventListener("visibilitychange", ask);
}
