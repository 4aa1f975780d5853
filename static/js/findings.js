/**
 * The findings beside the map: what is wrong, why it is thought so, what to do.
 *
 * A finding carries keys and values; the end of a value's name is its unit. The server
 * says the same in `dashboard/views/findings.py`.
 */

import { find, h, icon } from "./dom.js";
import { clock, count, duration, rate } from "./format.js";
import { word } from "./words.js";

export class Findings {
  /** @param {Element} panel @param {{onQueue: Function}} callbacks */
  constructor(panel, { onQueue }) {
    this.panel = panel;
    this.list = find("[data-findings-list]", panel);
    this.badge = find("[data-findings-count]", panel);
    this.drawn = null;
    panel.addEventListener("click", ({ target }) => {
      const button = target.closest("[data-show-queue]");
      if (button) onQueue(button.dataset.showQueue.split(" "));
    });
  }

  draw({ findings }) {
    // Most redraws change nothing here; the text under a reader's eye stays.
    const drawn = JSON.stringify(findings);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    this.panel.hidden = !findings.length;
    const worst = findings.filter(({ level }) => level !== "info").length;
    this.badge.textContent = String(findings.length);
    this.badge.classList.toggle("badge-crit", worst > 0);
    this.list.replaceChildren(...findings.map(finding));
  }
}

function finding(found) {
  const { key, level, since, text, advice, values, evidence, queues } = found;
  return h(
    "section",
    { class: "finding", "data-finding": key },
    h(
      "h3",
      {},
      h("span", { class: level }, icon(level)),
      h("span", {}, word("finding", `${key}.title`), ...age(since)),
    ),
    h("p", {}, word("finding", `${key}.${text}`, written(values))),
    evidence.length ? h("dl", { class: "evidence" }, ...evidence.flatMap(pair)) : null,
    h("div", { class: "advice" }, word("finding", `${key}.${advice}`)),
    queues.length ? h("p", {}, showButton(queues, found.queue_count)) : null,
  );
}

function age(since) {
  if (since === null) return [];
  const text = word("finding", "since", { time: clock(since) });
  return [" ", h("span", { class: "small dim" }, text)];
}

function showButton(queues, n) {
  const key = `show_queues_${n === 1 ? "one" : "other"}`;
  return h(
    "button",
    {
      class: "button button-small",
      type: "button",
      "data-show-queue": queues.map(encodeURIComponent).join(" "),
    },
    word("finding", key, { n: count(n) }),
  );
}

function pair([name, value]) {
  return [h("dt", {}, word("finding", `seen.${name}`)), h("dd", {}, write(name, value))];
}

function written(values) {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, write(name, value)]),
  );
}

/** Write one value with the unit that its name ends in. */
export function write(name, value) {
  if (Array.isArray(value)) return value.join(", ");
  if (typeof value !== "number") return String(value);
  if (name.endsWith("_ms")) return duration(value);
  if (name.endsWith("_at")) return clock(value);
  if (name.endsWith("_rate")) return rate(value);
  return count(value);
}
