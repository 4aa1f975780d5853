/**
 * The findings beside the map: what is wrong, the evidence for it, and what to do.
 *
 * A finding carries keys and values; the end of a value's name is its unit. For REST
 * and for reports, `dashboard/findings/said.py` writes the same sentences.
 */

import { find, h, icon } from "../frame/dom.js";
import { clock, count, duration, rate } from "../frame/format.js";
import { standingOf } from "./standing.js";
import { ui, word } from "../frame/words.js";

export class Findings {
  /** @param {HTMLElement} panel @param {{onQueue: Function}} callbacks */
  constructor(panel, { onQueue }) {
    this.panel = panel;
    this.list = find("[data-findings-list]", panel);
    this.badge = find("[data-findings-count]", panel);
    this.head = find("[data-findings-head]", panel);
    this.stopped = find("[data-findings-stopped]", panel);
    this.foot = find("[data-findings-foot]", panel);
    this.drawn = null;
    panel.addEventListener("click", (event) => {
      const target = /** @type {Element} */ (event.target);
      /** @type {HTMLElement|null} */
      const button = target.closest("[data-show-queue]");
      if (button) onQueue((button.dataset.showQueue ?? "").split(" "));
    });
  }

  draw(state) {
    const { findings, rules } = state;
    const { asOf } = standingOf(state);
    // Most redraws change nothing here; the text being read stays.
    const drawn = JSON.stringify([findings, rules, asOf]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    const lacking = rules ? rules.unchecked.length + rules.failed.length : 0;
    this.panel.hidden = !findings.length && !lacking && !asOf;
    this.badge.hidden = !findings.length;
    tally(this.badge, findings);
    this.list.replaceChildren(...findings.map(finding));
    find("[data-rules]", this.panel).replaceChildren(...fared(findings, rules));
    this.drawStop(asOf && clock(asOf));
  }

  /** Say that the rules have stopped: an empty list would look healthy. */
  drawStop(time) {
    this.head.classList.toggle("striped", Boolean(time));
    this.foot.hidden = !time;
    this.foot.textContent = time ? ui("rules_stopped", { time }) : "";
    this.stopped.replaceChildren(
      ...(time ? [icon("timers", "icon-small"), ui("stopped", { time })] : []),
    );
  }
}

/** The tab of the findings, with their number; it is hidden if there are none. */
export class FindingsTab {
  constructor(link) {
    this.link = link;
  }

  draw({ findings }) {
    this.link.hidden = !findings.length;
    tally(find(".badge", this.link), findings);
  }
}

/** Write the number of findings, in red if one of them is critical. */
function tally(badge, findings) {
  const crit = findings.some(({ level }) => level === "crit");
  badge.textContent = String(findings.length);
  badge.classList.toggle("badge-crit", crit);
}

/** The results of the rules: which failed, found nothing, or were not checked. */
function fared(findings, rules) {
  if (!rules) return [];
  const others = rules.checked - findings.filter(({ as_of: of }) => !of).length;
  const lacking = new Map();
  for (const { key, why, names } of rules.unchecked) {
    const reason = word("finding", `rules.${why}`, { names: names.join(", ") });
    lacking.set(reason, [...(lacking.get(reason) ?? []), title(key)]);
  }
  const nothing = word("finding", "rules.nothing", { n: count(others) }, others);
  return [
    ...rules.failed.map(failure),
    ...(others ? [h("p", {}, nothing)] : []),
    ...[...lacking].map(unchecked),
  ];
}

function failure({ key, error }) {
  const text = word("finding", "rules.failed", { title: title(key), error });
  return h("p", { class: "crit" }, icon("crit", "icon-small"), " ", text);
}

function unchecked([reason, titles]) {
  return h(
    "details",
    {},
    h("summary", {}, `${reason}: ${count(titles.length)}`),
    h("p", {}, titles.join(" · ")),
  );
}

function title(key) {
  return word("finding", `${key}.title`);
}

function finding(found) {
  const { key, level, text, advice, values, evidence, queues } = found;
  const partly = new Set(found.at_least ?? []);
  return h(
    "section",
    { class: "finding", "data-finding": key },
    h(
      "h3",
      {},
      h("span", { class: level }, icon(level)),
      h("span", {}, title(key), ...ages(found)),
    ),
    h("p", {}, word("finding", `${key}.${text}`, written(values, partly))),
    evidence.length
      ? h("dl", { class: "evidence" }, evidence.flatMap((each) => pair(each, partly)))
      : null,
    h("div", { class: "advice" }, word("finding", `${key}.${advice}`)),
    queues.length ? h("p", {}, showButton(queues, found.queue_count)) : null,
  );
}

function ages(found) {
  return ["since", "as_of"]
    .filter((key) => found[key])
    .flatMap((key) => {
      const text = word("finding", key, { time: clock(found[key]) });
      return [" ", h("span", { class: "small dim" }, text)];
    });
}

function showButton(queues, n) {
  return h(
    "button",
    {
      class: "button button-small",
      type: "button",
      "data-show-queue": queues.map(encodeURIComponent).join(" "),
    },
    word("finding", "show_queues", { n: count(n) }, n),
  );
}

function pair([name, value], partly) {
  const seen = word("finding", `seen.${name}`);
  return [h("dt", {}, seen), h("dd", {}, write(name, value, partly.has(name)))];
}

function written(values, partly) {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      write(name, value, partly.has(name)),
    ]),
  );
}

/** Write a value with the unit that its name ends in, marked if it may be more. */
export function write(name, value, atLeast = false) {
  if (Array.isArray(value)) return (atLeast ? [...value, "…"] : value).join(", ");
  if (typeof value !== "number") return String(value);
  return atLeast ? `≥ ${figure(name, value)}` : figure(name, value);
}

function figure(name, value) {
  if (name.endsWith("_ms")) return duration(value);
  if (name.endsWith("_at")) return clock(value);
  if (name.endsWith("_rate")) return rate(value);
  return count(value);
}
