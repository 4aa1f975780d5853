/** The columns of a table: ticked boxes go into one parameter, as the address has it. */

import { find, findAll } from "./dom.js";

/** @param {Event} event a change of a box */
export function chooseColumns(event) {
  const form = /** @type {Element} */ (event.target).closest("[data-columns]");
  if (!(form instanceof HTMLFormElement)) return;
  const ticked = findAll("input:checked", form).map((box) => box.value);
  const columns = find("[name=columns]", form);
  columns.value = ticked.join(",");
  columns.disabled = false;
  form.submit();
}
