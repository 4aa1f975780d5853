/**
 * The findings beside the map: what is wrong, the evidence for it, and what to do.
 *
 * Causes stand before what follows from them. For REST and for reports,
 * `dashboard/findings/said.py` writes the same sentences.
 */

import { find, findAll, h, icon } from "../frame/dom.js";
import { clock, count } from "../frame/format.js";
import { ages, pair, title, written } from "./found.js";
import { standingOf } from "./standing.js";
import { ui, word } from "../frame/words.js";

export class Findings {
  /**
   * @param {HTMLElement} panel
   * @param {{page: any, onShow?: ((key: string) => void)|null}} use `onShow` takes the
   *   key of a finding whose queues are to be shown; without it a link leads to them
   */
  constructor(panel, { page, onShow = null }) {
    this.panel = panel;
    this.page = page;
    this.onShow = onShow;
    this.shown = "";
    this.none = find("[data-findings-none]", panel);
    this.list = find("[data-findings-list]", panel);
    this.badge = find("[data-findings-count]", panel);
    this.head = find("[data-findings-head]", panel);
    this.stopped = find("[data-findings-stopped]", panel);
    this.foot = find("[data-findings-foot]", panel);
    this.drawn = null;
    panel.addEventListener("click", (event) => {
      const target = /** @type {Element} */ (event.target);
      /** @type {HTMLElement|null} */
      const button = target.closest("button[data-show]");
      if (button) onShow?.(button.dataset.show ?? "");
    });
  }

  draw(state) {
    const { findings, rules } = state;
    const { asOf } = standingOf(state);
    // Most redraws change nothing here; the text being read stays.
    const drawn = JSON.stringify([findings, rules, asOf, this.shown]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    const lacking = rules ? rules.unchecked.length + rules.failed.length : 0;
    const alone = this.panel.dataset.alone !== undefined;
    this.panel.hidden = !alone && !findings.length && !lacking && !asOf;
    this.none.hidden = Boolean(findings.length || asOf);
    this.badge.hidden = !findings.length;
    tally(this.badge, findings);
    this.list.replaceChildren(...findings.map((each) => this.finding(each)));
    find("[data-rules]", this.panel).replaceChildren(...fared(findings, rules));
    this.drawStop(asOf && clock(asOf));
  }

  /** Mark the finding whose queues are shown, "" for none. */
  markShown(key) {
    this.shown = key;
    for (const button of findAll("button[data-show]", this.panel))
      button.setAttribute("aria-pressed", String(button.dataset.show === key));
  }

  finding(found) {
    const { key, level, text, advice, values, evidence, cause } = found;
    const partly = new Set(found.at_least ?? []);
    const follows = cause && word("finding", "follows", { title: title(cause) });
    return h(
      "section",
      { class: "finding", "data-finding": key, id: `finding-${key}` },
      h(
        "h3",
        {},
        h("span", { class: level }, icon(level)),
        h("span", {}, title(key), ...ages(found)),
      ),
      follows ? h("p", { class: "small dim" }, follows) : null,
      h("p", {}, word("finding", `${key}.${text}`, written(values, partly))),
      evidence.length
        ? h("dl", { class: "evidence" }, evidence.flatMap((each) => pair(each, partly)))
        : null,
      h("div", { class: "advice" }, word("finding", `${key}.${advice}`)),
      h("p", { class: "leads" }, ...this.leads(found)),
    );
  }

  /** The queues concerned, and where to read, try or compare. */
  leads({ key, queues, queue_count: n }) {
    const { urls, leads } = this.page;
    const { docs, lab, whatif } = leads?.[key] ?? {};
    const link = (url, name, values) =>
      h("a", { href: url }, word("finding", name, values));
    return [
      queues.length && this.shower(key, n),
      whatif && link(urls.whatif, "to_whatif"),
      lab && link(`${urls.labs}#lab-${lab}`, "to_lab", { lab }),
      docs && h("a", { href: docs, rel: "noreferrer" }, word("finding", "to_docs")),
    ].filter(Boolean);
  }

  shower(key, n) {
    const text = word("finding", "show_queues", { n: count(n) }, n);
    const look = { class: "button button-small", "data-show": key };
    const { allocation } = this.page.urls;
    if (!this.onShow) return h("a", { ...look, href: `${allocation}?finding=${key}` }, text);
    const pressed = String(key === this.shown);
    return h("button", { ...look, type: "button", "aria-pressed": pressed }, text);
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

/** The tab of the findings, with their number. */
export class FindingsTab {
  constructor(link) {
    this.link = link;
  }

  draw({ findings }) {
    const badge = find(".badge", this.link);
    badge.hidden = !findings.length;
    tally(badge, findings);
  }
}

/** Write the number of findings, in the colour of the worst of them. */
function tally(badge, findings) {
  const worst = ["crit", "warn"].find((each) =>
    findings.some(({ level }) => level === each),
  );
  badge.textContent = String(findings.length);
  badge.classList.toggle("badge-crit", worst === "crit");
  badge.classList.toggle("badge-warn", worst === "warn");
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
