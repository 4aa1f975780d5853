/** Follows runs that are under way. */

import { find, findAll } from "../frame/dom.js";
import { ask, fragment } from "../frame/fragment.js";

const FIRST_MS = 1000;
const SLOWEST_MS = 5000;

/** Ask for one run until it ends, more slowly while nothing changes. */
async function follow(box) {
  const all = box.hasAttribute("data-run-reload") ? document : box;
  let pause = FIRST_MS;
  let last = "";
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    const run = await look(box.dataset.run);
    if (!run) continue;
    if (!run.active && (await showEnd(box))) return;
    const text = JSON.stringify(run);
    pause = text === last ? Math.min(pause * 1.5, SLOWEST_MS) : FIRST_MS;
    last = text;
    show(all, run);
  }
}

/**
 * Show how a run ended; false if the server is away. A row of the list is put in the
 * place of the old one, because a reload would lose what is typed above the list.
 */
async function showEnd(box) {
  const list = box.closest("[data-runs]");
  if (!list) {
    location.reload();
    return true;
  }
  try {
    const row = find(`#${box.id}`, await fragment(list.dataset.runs));
    if (row) box.replaceWith(row);
    return true;
  } catch {
    return false;
  }
}

async function look(url) {
  try {
    return await (await ask(url)).json();
  } catch {
    return null; // the server is away for a moment; the next request may reach it
  }
}

function show(box, run) {
  const set = (selector, text) => {
    const place = find(selector, box);
    if (place) place.textContent = text;
  };
  set("[data-run-percent]", `${run.percent} %`);
  set("[data-run-word]", run.word);
  set("[data-run-phase]", run.phase);
  const bar = find("[data-run-bar]", box);
  if (bar) bar.value = run.percent;
}

findAll("[data-run]").forEach(follow);
