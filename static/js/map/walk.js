/**
 * Keyboard navigation of the map: it is one tab stop, arrows move from cell to cell, m
 * goes to the next moved queue, u to the next without an owner.
 */

/** Where a key leads from the active cell: [row, column], or null for other keys. */
export function step(model, active, key) {
  const columns = model.columns.length;
  if (!columns) return null;
  const at = Math.max(
    0,
    model.columns.findIndex((column) => column.key === active),
  );
  switch (key) {
    case "ArrowRight":
      return at + 1 < columns ? at + 1 : at;
    case "ArrowLeft":
      return at > 0 ? at - 1 : at;
    case "ArrowDown":
      return inOtherRow(model, at, 1);
    case "ArrowUp":
      return inOtherRow(model, at, -1);
    case "Home":
      return 0;
    case "End":
      return columns - 1;
    case "m":
      return nextWhere(model, at, (column) => column.moved);
    case "u":
      return nextWhere(model, at, (column) => column.unowned);
    default:
      return null;
  }
}

/** The nearest queue of the next row that has any; "no owner" is the last row. */
function inOtherRow(model, at, direction) {
  const rows = [...model.rows.map(({ columns }) => columns), model.unowned];
  const here = model.columns[at];
  const own = here.unowned ? rows.length - 1 : (here.rows[0] ?? 0);
  for (let row = own + direction; row >= 0 && row < rows.length; row += direction) {
    if (!rows[row].length) continue;
    const indexes = rows[row].map((column) => model.columns.indexOf(column));
    return indexes.reduce((a, b) => (Math.abs(b - at) < Math.abs(a - at) ? b : a));
  }
  return at;
}

function nextWhere(model, at, holds) {
  const count = model.columns.length;
  for (let away = 1; away <= count; away += 1) {
    const index = (at + away) % count;
    if (holds(model.columns[index])) return index;
  }
  return at;
}
