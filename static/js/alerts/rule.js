/**
 * The forms of rules and silences: shows the fields that a choice uses, and how many
 * groups match a pattern now.
 */

import { find, findAll } from "../frame/dom.js";
import { fragment } from "../frame/fragment.js";

const PAUSE_MS = 300;
const kind = find("[data-kind]");

function show() {
  findAll("[data-for]").forEach((field) => {
    field.hidden = !field.dataset.for.split(" ").includes(kind.value);
  });
}

if (kind) {
  kind.addEventListener("change", show);
  show();
}

const matching = find("[data-matching]");
const fields = ["groups", "team"].map((name) => find(`[name=${name}]`));
let timer = 0;
let asked = 0;

/** Ask once the reader has stopped typing; a late answer to an older one is dropped. */
function askSoon() {
  clearTimeout(timer);
  timer = setTimeout(async () => {
    const number = ++asked;
    const query = new URLSearchParams(fields.map((field) => [field.name, field.value]));
    const said = await fragment(`${matching.dataset.matching}?${query}`).catch(() => null);
    if (said && number === asked) matching.replaceChildren(said);
  }, PAUSE_MS);
}

if (matching) fields.forEach((field) => field.addEventListener("input", askSoon));
