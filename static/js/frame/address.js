/**
 * The part of a page's state that its address carries, so that a view can be linked and
 * survives a reload. Modules share the address and write only their own parameters.
 */

/** The value of a parameter, "" where it has none. */
export function addressed(name) {
  return new URLSearchParams(location.search).get(name) ?? "";
}

/**
 * Write parameters into the address; an empty value removes one. With `push` the
 * browser's way back leads to the view before.
 * @param {Record<string, string>} values @param {{push?: boolean}} [options]
 */
export function readdress(values, { push = false } = {}) {
  const query = changedQuery(location.search, values);
  if (query === location.search) return;
  const url = `${location.pathname}${query}${location.hash}`;
  if (push) history.pushState(null, "", url);
  else history.replaceState(null, "", url);
}

/** A query with some of its parameters changed. */
export function changedQuery(query, values) {
  const params = new URLSearchParams(query);
  for (const [name, value] of Object.entries(values)) {
    if (value) params.set(name, value);
    else params.delete(name);
  }
  const text = params.toString();
  return text ? `?${text}` : "";
}
