/**
 * The live tail: asks each second what has come since the offsets of the last answer,
 * and puts it on top. The list is bounded; what falls off its end is counted.
 */

import { copyButton } from "../frame/copying.js";
import { find, findAll } from "../frame/dom.js";

const ASK_MS = 1000;
const FIELDS = ["stored", "queue", "offset", "keys", "tag", "size", "id"];
const COPIED = ["keys", "id"].map((field) => FIELDS.indexOf(field));
const CSS = { stored: "mono", offset: "num", size: "num", id: "mono cut wide-only" };

const box = find("[data-tail]");
const rows = find("[data-tail-rows]", box);
const said = find("[data-tail-said]", box);
const error = find("[data-tail-error]", box);
const pause = find("[data-tail-pause]");
const titles = findAll("th", box).map((head) => head.textContent);
const most = Number(box.dataset.most);
const counts = { shown: 0, came: 0, dropped: 0, skipped: 0, filtered: 0 };
let offsets = "";
let asking = false;
let paused = false;

function address() {
  const query = new URLSearchParams(location.search);
  query.set("offsets", offsets);
  return `${box.dataset.address}?${query}`;
}

async function step() {
  const answer = await fetch(address(), { headers: { Accept: "application/json" } });
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.detail);
  offsets = told.offsets;
  put(told.rows);
  counts.skipped += told.skipped;
  counts.filtered += told.filtered;
  show(Object.entries(told.failed).map(([where, why]) => `${where}: ${why}`));
}

/** Put the rows on top, in one piece, and drop those beyond the bound. */
function put(fresh) {
  const piece = document.createDocumentFragment();
  for (const row of fresh) piece.append(drawn(row));
  rows.prepend(piece);
  counts.came += fresh.length;
  while (rows.children.length > most) {
    rows.lastElementChild.remove();
    counts.dropped += 1;
  }
  counts.shown = rows.children.length;
}

function drawn(row) {
  const line = document.createElement("tr");
  for (const field of FIELDS) {
    const cell = line.insertCell();
    cell.className = CSS[field] || "";
    if (field === "stored") {
      const link = document.createElement("a");
      link.href = row.url;
      link.textContent = row.stored;
      cell.append(link);
    } else {
      cell.textContent = row[field];
    }
  }
  return line;
}

/**
 * Put the copy buttons into a row when somebody points at it or comes to it by
 * keyboard: with buttons in all of 2,000 rows a second the page takes twice the time.
 */
function offerCopies({ target }) {
  const line = target.closest("tr");
  if (!line || find(".copy", line)) return;
  for (const at of COPIED) {
    const cell = line.cells[at];
    const text = cell.textContent;
    if (!text) continue;
    cell.classList.add("copies");
    cell.append(copyButton(text, `${titles[at]} ${text}`));
  }
}

function show(problems) {
  error.hidden = problems.length === 0;
  error.textContent = problems.join(" · ");
  said.textContent =
    counts.came + counts.skipped + counts.filtered === 0
      ? said.dataset.waiting
      : said.dataset.shown.replace(/\{(\w+)\}/g, (_, name) =>
          counts[name].toLocaleString("en"),
        );
}

async function ask() {
  if (asking || paused || document.hidden) return;
  asking = true;
  try {
    await step();
  } catch (problem) {
    show([problem.message]);
  }
  asking = false;
}

pause.addEventListener("click", () => {
  paused = !paused;
  pause.setAttribute("aria-pressed", String(paused));
});
rows.addEventListener("pointerover", offerCopies);
rows.addEventListener("focusin", offerCopies);
setInterval(ask, ASK_MS);
ask();
