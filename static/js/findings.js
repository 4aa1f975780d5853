/**
 * The findings beside the map: what is wrong, why it is thought so, what to do.
 *
 * A finding is {rule, level, title, text, evidence: [[name, value]], advice}; each text
 * may be a plain string or {key, params} of the catalog's room "finding".
 */

import { find, h, icon } from "./dom.js";
import { word } from "./words.js";

const ICONS = { crit: "crit", warn: "warn", info: "info" };

export class Findings {
  constructor(panel) {
    this.panel = panel;
    this.list = find("[data-findings-list]", panel);
    this.badge = find("[data-findings-count]", panel);
  }

  draw(state) {
    this.panel.hidden = !state.findings.length;
    const worst = state.findings.filter(({ level }) => level !== "info").length;
    this.badge.textContent = String(state.findings.length);
    this.badge.classList.toggle("badge-crit", worst > 0);
    const fresh = h("div", {}, ...state.findings.map(finding));
    if (fresh.innerHTML !== this.list.innerHTML)
      this.list.replaceChildren(...fresh.childNodes);
  }
}

function finding({ level, title, text, evidence = [], advice }) {
  return h(
    "section",
    { class: "finding" },
    h(
      "h3",
      {},
      h("span", { class: level }, icon(ICONS[level] ?? "info")),
      h("span", {}, say(title)),
    ),
    h("p", {}, say(text)),
    evidence.length ? h("dl", { class: "evidence" }, ...evidence.flatMap(pair)) : null,
    advice ? h("div", { class: "advice" }, say(advice)) : null,
  );
}

function pair([name, value]) {
  return [h("dt", {}, say(name)), h("dd", {}, say(value))];
}

function say(text) {
  return text && typeof text === "object"
    ? word("finding", text.key, text.params)
    : String(text ?? "");
}
