/**
 * The words of the pages in the reader's language. The page's first script brings them:
 * one file per language (`dashboard/frame/catalogue.py`), which browsers cache.
 */

/** @type {{language: string, rooms: Record<string, Record<string, any>>}} */
const { language, rooms } = Reflect.get(globalThis, "catalogue") ?? {
  language: "en",
  rooms: {},
};
const RULES = new Intl.PluralRules(language);

/**
 * Return the text of a key; `values` fill its braces, and `number` chooses the form of
 * a counted phrase. A key without an entry is shown with spaces for its underscores.
 */
export function word(room, key, values = {}, number = 0) {
  if (!key) return "";
  const found = rooms[room]?.[key] ?? String(key).replaceAll("_", " ");
  const text =
    typeof found === "string" ? found : (found[RULES.select(number)] ?? found.other);
  return text.replace(/\{(\w+)\}/g, (whole, name) => {
    const value = Object.hasOwn(values, name) ? (values[name] ?? whole) : whole;
    return Array.isArray(value) ? value.join(", ") : value;
  });
}

export const ui = (key, values) => word("ui", key, values);

/** Return the phrase for `n` things. */
export function plural(key, n, values = {}) {
  return word("ui", key, { n, ...values }, n);
}
