/** The columns of the found messages: ticked ones go into one parameter. */

import { find, findAll } from "../frame/dom.js";

document.addEventListener("change", (event) => {
  const form = event.target.closest("[data-columns]");
  if (!form) return;
  const ticked = findAll("input:checked", form).map((box) => box.value);
  const columns = find("[name=columns]", form);
  columns.value = ticked.join(",");
  columns.disabled = false;
  form.submit();
});
