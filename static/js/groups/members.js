/** The table of members, in the order in which RocketMQ sorts them. */

import { atLeast, known, numberCell, ownerBadge } from "./cells.js";
import { hasHues } from "./document.js";
import { copyButton } from "../frame/copying.js";
import { find, h, icon } from "../frame/dom.js";
import { serverNow } from "../frame/clock.js";
import { compact, count, moment, rate } from "../frame/format.js";
import { morph } from "../frame/morph.js";
import { compareText } from "./status.js";
import { ui, word } from "../frame/words.js";

export class MemberTable {
  constructor(table) {
    this.body = find("tbody", table);
    this.nobody = find("[data-nobody]");
    this.mayChange = table.dataset.mayChange === "true";
  }

  draw(state) {
    const rows = sortedMembers(state).map((member) => this.row(state, member));
    morph(this.body, h("tbody", {}, ...rows));
    this.nobody.hidden = rows.length > 0;
  }

  row(state, member) {
    return h(
      "tr",
      { "data-key": `${member.connection} ${member.client_id}` },
      h(
        "td",
        {},
        hasHues(state) && ownerBadge(member),
        ` ${member.label}${connection(member)}`,
        member.managed && [" ", h("span", { class: "tag" }, ui("hosted_here"))],
        ...busy(member),
      ),
      h(
        "td",
        { class: "cut", title: member.client_id },
        `${member.client_id} `,
        copyButton(member.client_id, ui("client_id")),
        h("span", { class: "second dim" }, known(member.address, String, "not_asked")),
      ),
      uncounted(state, member)
        ? numberCell(null, String, uncounted(state, member))
        : h("td", { class: "num strong" }, String(member.queues)),
      unmeasured(state, member)
        ? numberCell(null, count, unmeasured(state, member))
        : numberCell(member.lag, atLeast(member.lag_partial, count)),
      unmeasured(state, member)
        ? numberCell(null, rate, unmeasured(state, member))
        : numberCell(member.rate_out, atLeast(member.rate_partial, rate), "first_sample"),
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

/**
 * Members in the order in which RocketMQ sorts them, with `connection`: the member's
 * number among the `connections` with its client id, from 1.
 */
export function sortedMembers({ members }) {
  const all = new Map();
  const numbered = [...members]
    .sort((a, b) => compareText(a.client_id, b.client_id))
    .map((member) => {
      const connection = (all.get(member.client_id) ?? 0) + 1;
      all.set(member.client_id, connection);
      return { ...member, connection };
    });
  return numbered.map((member) => ({
    ...member,
    connections: all.get(member.client_id),
  }));
}

function connection({ connection: n, connections: all }) {
  return all > 1 ? ` · ${ui("connection", { n, all })}` : "";
}

/** Why nobody can say how many queues a member has, if nobody can. */
function uncounted({ kind }, { reported_at: reported }) {
  if (kind === "assigned_by_hand" && !reported) return "not_asked";
  return { shared_pop: "shared", mixed: "mixed" }[kind];
}

/** Why a member's lag is not known: no lag is, or the member's queues are not. */
function unmeasured(state, member) {
  return state.kind === "broadcasting" ? state.kind : uncounted(state, member);
}

/** Names of ours are in capitals; another class is shown by its own name. */
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

/** A call of its listener that takes long: it may never return. */
function busy({ busy_since: since }) {
  if (!since) return [];
  const text = ui("listener_busy", { time: moment(since, serverNow()) });
  return [" ", h("span", { class: "state warn" }, icon("warn"), text)];
}

function removeButton(member) {
  return h(
    "button",
    { class: "button button-small", type: "button", "data-remove": member.client_id },
    icon("minus", "icon-small"),
    ui("remove"),
  );
}
