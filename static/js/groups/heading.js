/** The tags beside a group's name, and the link to what-if while it can be used. */

import { find, h } from "../frame/dom.js";
import { standingOf } from "./standing.js";
import { plural, ui, word } from "../frame/words.js";

export class Heading {
  constructor(element) {
    this.tags = find("[data-tags]", element);
    this.whatif = find("[data-whatif]", element);
    this.why = find("[data-whatif-why]", element);
  }

  draw(state) {
    if (this.whatif) this.offer(standingOf(state));
    this.tags.replaceChildren(
      ...tags(state).map((text) => h("span", { class: "tag" }, text)),
    );
  }

  offer({ unseen, queues }) {
    const link = this.whatif;
    this.why.hidden = !unseen;
    this.why.textContent = unseen ? plural("whatif_needs", queues, { all: queues, n: unseen }) : "";
    if (unseen) {
      link.removeAttribute("href");
      link.setAttribute("role", "link");
      link.setAttribute("aria-disabled", "true");
    } else {
      link.setAttribute("href", link.dataset.whatif);
      link.removeAttribute("role");
      link.removeAttribute("aria-disabled");
    }
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
