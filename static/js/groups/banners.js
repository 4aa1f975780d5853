/**
 * The banners above a group's tabs: which broker is missing or silent, since when, and
 * until when status, findings and epoch are held; a fault of ours; what it means that a
 * group's queues have no single owners.
 */

import { serverNow } from "../frame/clock.js";
import { find, h } from "../frame/dom.js";
import { clock, count, duration } from "../frame/format.js";
import { morph } from "../frame/morph.js";
import { standingOf } from "./standing.js";
import { plural, ui, word } from "../frame/words.js";

/** Brokers that are named one by one; the others are counted. */
const BROKERS_NAMED = 3;
/** Kinds of groups that readers would misunderstand without an explanation. */
const EXPLAINED = ["shared_pop", "assigned_by_hand", "offline"];

export class StandingBanner {
  constructor(box) {
    this.box = box;
  }

  draw(state) {
    const standing = standingOf(state);
    const named = standing.troubles.slice(0, BROKERS_NAMED);
    const rest = standing.complete ? "" : restOf(standing);
    this.box.hidden = !named.length && !rest;
    say(this.box, [...named.flatMap(sentences), rest]);
  }
}

export class KindBanner {
  constructor(box) {
    this.box = box;
  }

  draw({ kind }) {
    this.box.hidden = !EXPLAINED.includes(kind);
    say(this.box, [this.box.hidden ? "" : word("kind_sentence", kind)]);
  }
}

export class FaultBanner {
  constructor(box) {
    this.box = box;
  }

  draw({ fault, taken_at: takenAt }) {
    this.box.hidden = !fault;
    const words = fault
      ? [h("strong", {}, ui("fault", { fault })), " "]
      : [];
    const time = clock(takenAt);
    say(this.box, [...words, fault ? ui("fault_rest", { time }) : ""]);
  }
}

/** Change only what differs: a live region reads out everything that is inserted. */
function say(box, parts) {
  morph(find("span", box), h("span", {}, ...parts.filter(Boolean)));
}

/** The age ticks visibly only, not for screen readers. */
function sentences(trouble) {
  const { state, name, since } = trouble;
  const key = `broker_${state}`;
  const what =
    since === null
      ? ui(`${key}_now`, { name })
      : ui(`${key}_since`, { name, time: clock(since) });
  const end =
    since === null
      ? ui("full_stop")
      : ui("for_span", { span: duration(serverNow() - since) });
  return [
    h("strong", {}, what),
    h("span", { "aria-hidden": "true" }, end),
    ` ${queuesOf(trouble)} `,
  ];
}

function queuesOf({ old, never, lastLag, answers }) {
  const said = [];
  if (old) said.push(plural("banner_old", old));
  if (old && lastLag !== null) said.push(ui("banner_lag", { lag: count(lastLag) }));
  if (never) said.push(plural("banner_never", never));
  if (answers && !said.length) said.push(ui("banner_answers"));
  return said.join(" ");
}

function restOf({ troubles, held }) {
  const more = troubles.length - BROKERS_NAMED;
  return [
    more > 0 && plural("banner_more", more),
    !troubles.length && ui("banner_part"),
    held
      ? ui("banner_held", { time: clock(held.as_of), until: clock(held.until) })
      : ui("banner_judged"),
  ]
    .filter(Boolean)
    .join(" ");
}
