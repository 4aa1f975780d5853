/** Positions and times of a timeline's picture, without the picture. */

/** A selection is this long at least; anything shorter is a click. */
export const SHORTEST_MS = 1000;
const STEPS = 60;

/** The time at a share (0 to 1) of a span; outside of it, the nearer end. */
export function timeAt({ since, until }, share) {
  const within = Math.min(1, Math.max(0, share));
  return Math.round(since + (until - since) * within);
}

/** A selection from two times in either order; null if it is too short to be one. */
export function selection(one, other) {
  const [since, until] = [Math.min(one, other), Math.max(one, other)];
  return until - since < SHORTEST_MS ? null : { since, until };
}

/** The place and width of a selection, in per cent of the picture. */
export function placed({ since, until }, { since: from, until: to }) {
  const share = (time) => ((time - since) / (until - since)) * 100;
  return { x: share(from), width: share(to) - share(from) };
}

/**
 * Where a key leads: the times of the cursor and of the selection's other end. Without
 * Shift both move together; null is any other key.
 */
export function step({ since, until }, { cursor, anchor }, { key, shiftKey }) {
  const one = Math.max(SHORTEST_MS, Math.round((until - since) / STEPS));
  const towards = {
    ArrowLeft: cursor - one,
    ArrowRight: cursor + one,
    Home: since,
    End: until,
  }[key];
  if (towards === undefined) return null;
  const next = Math.min(until, Math.max(since, towards));
  return { cursor: next, anchor: shiftKey ? anchor : next };
}
