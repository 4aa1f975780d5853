/** The server's time, from the moment at which it wrote the page. */

const written = Number(document.documentElement.dataset.now);
const offset = Number.isFinite(written) && written > 0 ? written - Date.now() : 0;

/**
 * Milliseconds since the epoch by the server's clock. A page from the browser's
 * cache would be off by its age, so a large negative difference is taken as that.
 */
export function serverNow() {
  return Date.now() + (Math.abs(offset) < 5000 ? 0 : offset);
}
