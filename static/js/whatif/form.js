/** The form of a scenario: reports edits, adds and removes members with a stepper. */

import { find, findAll, h, readJson } from "../frame/dom.js";
import { ui } from "../frame/words.js";

/**
 * @param {HTMLFormElement} form
 * @param {() => void} edited called after each edit
 */
export function tendForm(form, edited) {
  form.addEventListener("input", edited);
  const stepper = find("[data-member-count]", form);
  stepper.hidden = false;
  find("[data-more]", stepper).addEventListener("click", () => {
    addMember(form);
    edited();
  });
  find("[data-fewer]", stepper).addEventListener("click", () => {
    removeMember(form);
    edited();
  });
  const drop = find("[data-drop-lists]", form);
  if (!drop) return;
  drop.hidden = false;
  drop.addEventListener("click", () => {
    findAll("[data-list]", form).forEach((field) => field.remove());
    drop.closest("p").remove();
    edited();
  });
}

/** Let a leaving member stay, or else one join with the next free client id. */
function addMember(form) {
  const leaving = findAll('input[name="r"]:checked', form);
  if (leaving.length) {
    leaving.at(-1).checked = false;
    return;
  }
  const box = find("[data-added]", form);
  const taken = new Set(findAll('input[name="a"]', form).map(({ value }) => value));
  const next = (readJson("adding") ?? []).find((id) => !taken.has(id));
  if (next) box.append(added(next));
}

/** Remove the member added last, or else the last of those present. */
function removeMember(form) {
  const joining = findAll('[data-added] input[name="a"]:checked', form);
  if (joining.length) {
    joining.at(-1).closest("label").remove();
    return;
  }
  const staying = findAll('input[name="r"]:not(:checked)', form);
  if (staying.length > 1) staying.at(-1).checked = true;
}

function added(id) {
  return h(
    "label",
    { class: "check", title: id },
    h("input", { type: "checkbox", name: "a", value: id, checked: true }),
    " ",
    h("span", { class: "check-name" }, id),
    " ",
    h("span", { class: "tag" }, ui("new")),
  );
}
