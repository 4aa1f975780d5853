/**
 * When to draw: the first change in the next animation frame, further ones merged into
 * at most one drawing per second, or ten for changes that must be seen at once, such as
 * a queue that changed hands. A hidden page draws when it is shown again.
 */

const SPACING_MS = 1000;
const SOON_MS = 100;

/**
 * @param {() => void} draw
 * @returns {(options?: {soon?: boolean}) => void} requests one drawing
 */
export function scheduler(draw, spacing = SPACING_MS) {
  let due = Infinity;
  let timer = 0;
  let last = -Infinity;

  function run() {
    due = Infinity;
    last = performance.now();
    draw();
  }

  return function ask({ soon = false } = {}) {
    const at = last + (soon ? SOON_MS : spacing);
    if (at >= due) return;
    due = at;
    clearTimeout(timer);
    const wait = at - performance.now();
    // Two requested frames would draw twice: the second finds nothing due.
    const frame = () => requestAnimationFrame(() => due < Infinity && run());
    if (wait <= 0) frame();
    else timer = setTimeout(frame, wait);
  };
}
