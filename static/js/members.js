/** The table of members, in the order in which RocketMQ sorts them. */

import { known, numberCell, ownerBadge } from "./cells.js";
import { hasHues } from "./document.js";
import { find, h, icon } from "./dom.js";
import { compact, count, rate } from "./format.js";
import { morph } from "./morph.js";
import { compareText } from "./status.js";
import { ui, word } from "./words.js";

export class MemberTable {
  constructor(table) {
    this.body = find("tbody", table);
    this.mayChange = table.dataset.mayChange === "true";
  }

  draw(state) {
    const rows = sortedMembers(state).map((member) => this.row(state, member));
    morph(this.body, h("tbody", {}, ...rows));
  }

  row(state, member) {
    return h(
      "tr",
      { "data-key": member.client_id },
      h(
        "td",
        {},
        hasHues(state) && ownerBadge(member),
        ` ${member.label}`,
        member.managed && [" ", h("span", { class: "tag" }, ui("hosted_here"))],
      ),
      h(
        "td",
        { class: "cut", title: member.client_id },
        `${member.client_id} `,
        h("span", { class: "second dim" }, known(member.address, String, "not_asked")),
      ),
      h("td", { class: "num strong" }, String(member.queues)),
      numberCell(member.lag, count),
      numberCell(member.rate_out, rate, "first_sample"),
      numberCell(member.in_hand, compact, "not_asked"),
      h("td", {}, strategy(member)),
      h("td", { class: "own-topics" }, subscriptions(member)),
      h("td", {}, language(member)),
      h("td", { class: "cut" }, idle(member)),
      this.mayChange &&
        h("td", { class: "num" }, member.managed ? removeButton(member) : ""),
    );
  }
}

export function sortedMembers(state) {
  return [...state.members].sort((a, b) => compareText(a.client_id, b.client_id));
}

/** Our names are in capitals; another class is shown by its own name. */
function strategy({ strategy: name }) {
  if (!name || name === name.toUpperCase()) return known(name, String, "not_asked");
  return [name, " ", h("span", { class: "second dim" }, ui("not_simulated"))];
}

function subscriptions(member) {
  if (!member.subscriptions.length) return known(null, String, "not_asked");
  return member.subscriptions
    .map(({ topic, expression }) => `${topic} ${expression}`)
    .join(", ");
}

function language({ language: name, version }) {
  const short = version?.replace(/^V/, "").replaceAll("_", ".");
  return [name, short].filter(Boolean).join(" ") || known(null, String, "not_asked");
}

function idle(member) {
  if (!member.idle) return "";
  return h("span", { class: "state unk" }, icon("idle"), word("idle", member.idle));
}

function removeButton(member) {
  return h(
    "button",
    { class: "button button-small", type: "button", "data-remove": member.client_id },
    icon("minus", "icon-small"),
    ui("remove"),
  );
}
