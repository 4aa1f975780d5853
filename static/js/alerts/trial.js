/** Follows the trial of a rule until it has ended; the server draws all of it. */

import { find, findAll } from "../frame/dom.js";
import { Refusal, fragment } from "../frame/fragment.js";

const FIRST_MS = 500;
const SLOWEST_MS = 5000;

/**
 * Show the trial at an address in `box`, again and again while it is active.
 * @param {HTMLElement} box
 */
export async function follow(box) {
  const url = box.dataset.trial;
  let pause = FIRST_MS;
  while (find("[data-trial-active]", box) && box.dataset.trial === url) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 1.3, SLOWEST_MS);
    const fresh = await look(url);
    if (fresh === null) return; // it is gone
    if (fresh && box.isConnected && box.dataset.trial === url) box.replaceChildren(fresh);
  }
}

async function look(url) {
  try {
    return await fragment(url);
  } catch (error) {
    // The server may be away for a moment; a trial that was deleted stays away.
    return error instanceof Refusal && error.status === 404 ? null : undefined;
  }
}

findAll("[data-trial]").forEach(follow);
