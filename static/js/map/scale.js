/**
 * Which form of the map fits, and how high a cell is filled.
 *
 * The width decides first: the largest form whose cells fit is taken. Fill levels are
 * six steps, because a level is still visible in greyscale and at eight pixels, while
 * intensity is not.
 */

import { shown } from "../groups/standing.js";

export const NARROW = 560;
const LARGE = { most: 24, narrowest: 26, widest: 33 };
const SMALL = { queues: 100, members: 12, narrowest: 7, widest: 12 };
const STRIPS = { queues: 500, members: 60 };

/** The measures that fill a cell. `steps` are the upper ends of levels 1 to 4. */
export const MEASURES = {
  lag: { field: "lag", steps: [100, 1_000, 10_000, 100_000] },
  rate: { field: "rate_in", steps: [1, 10, 100, 1_000] },
  age: { field: "lag_ms", steps: [1_000, 10_000, 60_000, 600_000] },
};

/** Share of a cell's height per level. */
export const FRACTIONS = [0, 0.1, 0.24, 0.46, 0.72, 1];

/** Level 0 to 5 of a queue, by its last value if it has no other; null if unknown. */
export function levelOf(queue, measure) {
  const { field, steps } = MEASURES[measure];
  return levelOfValue(shown(queue, field), steps);
}

export function levelOfValue(value, steps = MEASURES.lag.steps) {
  if (value === null || value === undefined) return null;
  if (value <= 0) return 0;
  const at = steps.findIndex((step) => value < step);
  return at < 0 ? 5 : at + 1;
}

/** The forms that may be chosen for this many queues and members at this width. */
export function formsFor({ queues, members, groups, width, left }) {
  if (width < NARROW) return ["packed", "table"];
  if (gridCell({ queues, members, groups, width, left }))
    return ["grid", "packed", "table"];
  return queues <= STRIPS.queues && members <= STRIPS.members
    ? ["strips", "blocks", "table"]
    : ["blocks", "strips", "table"];
}

/**
 * The width of a grid's cell, gap of one or two pixels included, and whether it is
 * large enough for a number; null when no grid fits.
 */
export function gridCell({ queues, members, width, left, groups = 1 }) {
  const room = width - left - MARGIN_BARS - (groups - 1) * GROUP_GAP;
  const pitch = Math.floor(room / Math.max(1, queues));
  if (queues <= LARGE.most && pitch >= LARGE.narrowest) {
    return { pitch: Math.min(pitch, LARGE.widest), large: true };
  }
  const small = queues <= SMALL.queues && members <= SMALL.members;
  if (small && pitch >= SMALL.narrowest) {
    return { pitch: Math.min(pitch, SMALL.widest), large: false };
  }
  return null;
}

export const MARGIN_BARS = 208;
export const GROUP_GAP = 10;
