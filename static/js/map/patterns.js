/**
 * The patterns of the map: for queues without an owner, and for old values. Their ids
 * are used inside the SVG that has them, so each drawing brings its own.
 */

import { s } from "../frame/dom.js";

/** @returns {SVGElement} all patterns that may fill cells and bars */
export function patterns() {
  return s(
    "defs",
    {},
    hatch(),
    stripes("old", 8, "old-line"),
    stripes("old-lag", 4, "lag-bar"),
  );
}

/** Cells without an owner. */
function hatch() {
  return s(
    "pattern",
    {
      id: "hatch",
      width: 5,
      height: 5,
      patternUnits: "userSpaceOnUse",
      patternTransform: "rotate(45)",
    },
    s("rect", { class: "hatch-ground", width: 5, height: 5 }),
    s("rect", { class: "hatch-line", width: 1.4, height: 5 }),
  );
}

/** Stripes, half of them open: over cells that show an old value, and as their bars. */
function stripes(id, size, css) {
  return s(
    "pattern",
    {
      id,
      width: size,
      height: size,
      patternUnits: "userSpaceOnUse",
      patternTransform: "rotate(45)",
    },
    s("rect", { class: css, width: size / 2, height: size }),
  );
}
