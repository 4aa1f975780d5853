/** The tags beside a group's name. */

import { find, h } from "./dom.js";
import { ui, word } from "./words.js";

export class Heading {
  constructor(element) {
    this.tags = find("[data-tags]", element);
  }

  draw(state) {
    this.tags.replaceChildren(
      ...tags(state).map((text) => h("span", { class: "tag" }, text)),
    );
  }
}

function tags(state) {
  const { mode, orderly, strategy, members, managed, kind } = state;
  const reporters = members.filter((member) => member.strategy !== null).length;
  const source =
    strategy.source === "reported"
      ? ui("reported_by", { n: reporters, all: members.length })
      : ui("assumed");
  return [
    mode,
    kind !== "owned" && kind !== "offline" && kind !== "broadcasting"
      ? word("kind", kind)
      : null,
    orderly ? ui("orderly") : null,
    strategy.name && kind === "owned" ? `${strategy.name} · ${source}` : null,
    managed ? ui("hosted_here") : null,
  ].filter(Boolean);
}
