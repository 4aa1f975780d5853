/**
 * What a rule found, in words: its title, how old it is, and its evidence, each value with
 * the unit that its name ends in.
 */

import { copyButton } from "../frame/copying.js";
import { h } from "../frame/dom.js";
import { clock, count, duration, rate } from "../frame/format.js";
import { word } from "../frame/words.js";

/** Evidence that names one thing, which can be copied. */
const IDS = new Set(["client_id", "member", "topic", "held_by"]);

/** What a rule finds, in a few words. */
export function title(key) {
  return word("finding", `${key}.title`);
}

export function ages(found) {
  return ["since", "as_of"]
    .filter((key) => found[key])
    .flatMap((key) => {
      const text = word("finding", key, { time: clock(found[key]) });
      return [" ", h("span", { class: "small dim" }, text)];
    });
}

export function pair([name, value], partly) {
  const seen = word("finding", `seen.${name}`);
  const text = write(name, value, partly.has(name));
  const copy = IDS.has(name) ? [" ", copyButton(text, seen)] : [];
  return [h("dt", {}, seen), h("dd", {}, text, ...copy)];
}

export function written(values, partly) {
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
