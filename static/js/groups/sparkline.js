/**
 * The lag of a queue over the last 15 minutes as a line without axes. Zero is the
 * baseline and the largest value the top; time that nobody looked at is a gap.
 */

import { s } from "../frame/dom.js";
import { compact } from "../frame/format.js";
import { ui } from "../frame/words.js";

export const SPAN_MS = 15 * 60_000;
/** Points further apart have no line between them. */
const APART_MS = 75_000;
const MARGIN = 2;

/**
 * A queue's points, [time, lag], with the newest look as the last.
 * @returns {[number, number|null][]}
 */
export function pointsOf({ trend, taken_at: takenAt }, key, lag) {
  const lags = trend?.lag[key] ?? [];
  const kept = lags.map((value, at) => [trend.at[at], value]);
  if (lag !== null) kept.push([takenAt, lag]);
  return kept.filter(([at]) => at > takenAt - SPAN_MS);
}

/** The runs of known points as the coordinates of polylines. */
export function runsOf(points, { until, width, height }) {
  const top = Math.max(1, ...points.map(([, lag]) => lag ?? 0));
  const runs = [];
  let before = null;
  for (const [at, lag] of points) {
    if (lag !== null) {
      const x = MARGIN + (width - 2 * MARGIN) * (1 - (until - at) / SPAN_MS);
      const y = height - MARGIN - (height - 2 * MARGIN) * (lag / top);
      if (before === null || at - before > APART_MS) runs.push([]);
      runs.at(-1).push(`${x.toFixed(1)},${y.toFixed(1)}`);
    }
    before = lag === null ? null : at;
  }
  return runs;
}

/** Draw a queue's line; its title says between which values the lag was. */
export function sparkline(points, { until, level, width = 64, height = 18 }) {
  const known = points.map(([, lag]) => lag).filter((lag) => lag !== null);
  if (known.length < 2) return null;
  const runs = runsOf(points, { until, width, height });
  const values = { from: compact(Math.min(...known)), to: compact(Math.max(...known)) };
  const [x, y] = runs.at(-1).at(-1).split(",");
  return s(
    "svg",
    {
      class: `spark ${level}`,
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
    },
    s("title", {}, ui("lag_between", values)),
    ...runs
      .filter((run) => run.length > 1)
      .map((run) => s("polyline", { points: run.join(" ") })),
    s("circle", { cx: x, cy: y, r: "1.6" }),
  );
}
