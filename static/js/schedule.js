/**
 * When to draw: the first change in the next animation frame, further ones merged to
 * at most one drawing a second. A hidden page draws when it is shown again.
 */

const SPACING_MS = 1000;

/** @param {() => void} draw @returns {() => void} asks for one drawing */
export function scheduler(draw, spacing = SPACING_MS) {
  let asked = false;
  let last = -Infinity;

  function run() {
    asked = false;
    last = performance.now();
    draw();
  }

  return function ask() {
    if (asked) return;
    asked = true;
    const wait = last + spacing - performance.now();
    if (wait <= 0) requestAnimationFrame(run);
    else setTimeout(() => requestAnimationFrame(run), wait);
  };
}
