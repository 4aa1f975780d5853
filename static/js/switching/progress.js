/** Follows a change of a group: the server's own words, fetched each second. */

import { find, h } from "../frame/dom.js";
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
    if (!document.hidden) await refresh();
  } catch {
    // The next look tries again; what stands there stays.
  }
  const wait = state === "done" ? 5 * EVERY_MS : EVERY_MS;
  setTimeout(look, wait);
}

async function refresh() {
  const answer = await fetch(location.pathname, { headers: { "X-Fragment": "1" } });
  if (answer.status === 401) return location.reload();
  if (!answer.ok) return;
  const fresh = h("div", { "data-progress": true });
  fresh.append(document.createRange().createContextualFragment(await answer.text()));
  morph(box, fresh);
}
