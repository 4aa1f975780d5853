/** Cells of the tables of queues and members. */

import { LETTERS } from "./document.js";
import { dash, h, icon } from "../frame/dom.js";
import { clock } from "../frame/format.js";
import { holdersOf, lastOf } from "./standing.js";
import { queueStatus, reasonOf, stateIcon } from "./status.js";
import { ui, word } from "../frame/words.js";

/** A number as `write` formats it, else the dash, with the reason if one is given. */
export function known(value, write, reason) {
  if (value !== null && value !== undefined) return write(value);
  return dash(reason ? word("unknown", reason) : ui("not_known"));
}

/** The mark of a value that is not fresh, with the time of that value. */
export function asOf(milliseconds) {
  const text = ui("as_of", { time: clock(milliseconds) });
  return h("span", { class: "as-of" }, icon("timers", "icon-small"), text);
}

/** The status of a queue or, if its shown values are old, their time. */
export function queueState(state, queue) {
  const last = lastOf(queue);
  return last ? asOf(last.at) : stateBadge(queueStatus(state, queue));
}

export function numberCell(value, write, reason, css = "num") {
  return h("td", { class: css }, known(value, write, reason));
}

/** Return a writer for numbers that may be known only in part. */
export function atLeast(partial, write) {
  return partial ? (value) => `≥ ${write(value)}` : write;
}

export function stateBadge({ level, word: key }) {
  return h(
    "span",
    { class: `state ${level}` },
    icon(stateIcon(level, key)),
    word("status", key),
  );
}

/** The letter of a member on its hue, or a dot for an unknown one. */
export function ownerBadge(member) {
  if (!member) return h("span", { class: "owner" }, "·");
  return h("span", { class: `owner slot-${member.slot}` }, LETTERS[member.slot]);
}

/** Who holds a queue: badges, names, and how that is known. */
export function ownerCell(queue, members, unowned) {
  const { owners, source, old } = holdersOf(queue);
  if (owners.length) {
    const holders = owners.map((id) => [
      ownerBadge(members.get(id)),
      ` ${members.get(id)?.label ?? id} `,
    ]);
    return h(
      "td",
      { "data-flash": true, title: owners.join(", ") },
      ...holders,
      h("span", { class: "dim" }, ui(old ? `last_${source}` : source)),
    );
  }
  if (!unowned) {
    const reason = reasonOf(queue, "owners");
    return h("td", { "data-flash": true }, known(null, String, reason));
  }
  const expected = members.get(queue.expected);
  return h(
    "td",
    { "data-flash": true },
    h("span", { class: "owner owner-none" }),
    ` ${ui("no_owner")} `,
    expected && h("span", { class: "dim" }, `${ui("expects")} `),
    expected && ownerBadge(expected),
  );
}
