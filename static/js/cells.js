/** Cells of tables that are drawn in the browser, the same as the server's. */

import { LETTERS } from "./document.js";
import { dash, h, icon } from "./dom.js";
import { stateIcon } from "./status.js";
import { ui, word } from "./words.js";

/** A number by its writer, or the dash with the reason, where one is given. */
export function known(value, write, reason) {
  if (value !== null && value !== undefined) return write(value);
  return dash(reason ? word("unknown", reason) : ui("not_known"));
}

export function numberCell(value, write, reason, css = "num") {
  return h("td", { class: css }, known(value, write, reason));
}

export function stateBadge({ level, word: key }) {
  return h(
    "span",
    { class: `state ${level}` },
    icon(stateIcon(level, key)),
    word("status", key),
  );
}

/** The letter of a member on its hue, or the dot of somebody unknown. */
export function ownerBadge(member) {
  if (!member) return h("span", { class: "owner" }, "·");
  return h("span", { class: `owner slot-${member.slot}` }, LETTERS[member.slot]);
}

/** Who holds a queue, as badges, names and how that is known. */
export function ownerCell(queue, members, unowned) {
  if (queue.owners.length) {
    const holders = queue.owners.map((id) => [
      ownerBadge(members.get(id)),
      ` ${members.get(id)?.label ?? id} `,
    ]);
    const source = ui(queue.owner_source ?? "assumed");
    return h(
      "td",
      { "data-flash": true, title: queue.owners.join(", ") },
      ...holders,
      h("span", { class: "dim" }, source),
    );
  }
  if (!unowned)
    return h("td", { "data-flash": true }, known(null, String, queue.unknown.owners));
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
