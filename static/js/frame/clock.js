/**
 * The server's time. Pages are never kept by caches, so the server wrote this one just
 * before its first byte arrived; scripts may run seconds later.
 */

const written = Number(document.documentElement.dataset.now);
const [navigation] = performance.getEntriesByType("navigation");
const { responseStart = performance.now() } = /** @type {any} */ (navigation ?? {});
const arrived = performance.timeOrigin + responseStart;
const offset = written > 0 ? written - arrived : 0;

/** Milliseconds since the epoch by the server's clock. */
export function serverNow() {
  return Date.now() + offset;
}
