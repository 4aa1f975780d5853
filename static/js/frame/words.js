/** The page's words in the reader's language, as the server put them into the page. */

import { readJson } from "./dom.js";

const CATALOG = readJson("catalog") ?? {};

/**
 * Return the text of a key; `values` fill its braces. A key without an entry is shown
 * with its underscores opened.
 */
export function word(room, key, values = {}) {
  if (!key) return "";
  const text = CATALOG[room]?.[key] ?? String(key).replaceAll("_", " ");
  return text.replace(/\{(\w+)\}/g, (whole, name) => {
    const value = values[name] ?? whole;
    return Array.isArray(value) ? value.join(", ") : value;
  });
}

export const ui = (key, values) => word("ui", key, values);

/** Return the text for `n` things: keys end in `_one` and `_other`. */
export function plural(key, n, values = {}) {
  return ui(`${key}_${n === 1 ? "one" : "other"}`, { n, ...values });
}
