/** Opens a figure's table below it; without scripts, the link leads to a page. */

import { find, findAll } from "../frame/dom.js";
import { fragment } from "../frame/fragment.js";
import { ui } from "../frame/words.js";

async function toggle(link) {
  const place = find(`#${link.getAttribute("aria-controls")}`);
  const open = place.hidden;
  place.hidden = !open;
  link.setAttribute("aria-expanded", String(open));
  if (!open || place.dataset.loaded) return;
  try {
    place.replaceChildren(await fragment(link.href));
    place.dataset.loaded = "yes";
  } catch (error) {
    place.textContent = ui("action_failed", { reason: error.message });
  }
}

findAll("[data-twin-of]").forEach((link) =>
  link.addEventListener("click", (event) => {
    event.preventDefault();
    toggle(link);
  }),
);

/** A choice leads to its own URL; one beside a figure returns to that figure. */
const form = find("[data-view-form]");
[...(form?.elements ?? [])].forEach((field) =>
  field.addEventListener("change", () => {
    form.action = field.dataset.stays ?? "";
    form.submit();
  }),
);
