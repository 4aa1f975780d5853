/** Colours of the theme for figures. Report files carry a copy of this script. */

/**
 * Return a copy of a figure in which every `--name` is that property's value.
 * `--name/14` is the colour at 14 % opacity.
 * @param {unknown} value
 * @param {CSSStyleDeclaration} style
 */
export function colored(value, style) {
  if (Array.isArray(value)) return value.map((each) => colored(each, style));
  if (value && typeof value === "object") {
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, colored(each, style)]),
    );
  }
  if (typeof value !== "string" || !/^--[a-z]/.test(value)) return value;
  const [name, percent] = value.split("/");
  const found = style.getPropertyValue(name).trim();
  return percent ? translucent(found, Number(percent) / 100) : found;
}

/** Turn #rrggbb into rgba. */
function translucent(hex, opacity) {
  const parts = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  return `rgba(${parts.join(",")},${opacity})`;
}

const LETTER_PX = 6;
const IDEOGRAPH_PX = 11;
const MARGINS_PX = 90;
const widthOf = (text) =>
  [...text].reduce((sum, sign) => sum + (sign > "\u2e7f" ? IDEOGRAPH_PX : LETTER_PX), 0);

const NARROW_PX = 520;
const LEGEND_LINE_PX = 19;

/**
 * Leave out the labels of epochs, in place, that are wider than their epoch; on a
 * narrow page make room for the lines of the legend.
 */
export function fitted(layout, width, data = []) {
  if (layout.showlegend && width < NARROW_PX) {
    const named = data.filter((trace) => trace.showlegend !== false).length;
    layout.height += LEGEND_LINE_PX * Math.ceil(named / 2);
  }
  layout.annotations = (layout.annotations ?? []).filter(({ name, text }) => {
    const [kind, share] = (name ?? "").split(" ");
    return kind !== "epoch" || share * (width - MARGINS_PX) > widthOf(text);
  });
  return layout;
}
