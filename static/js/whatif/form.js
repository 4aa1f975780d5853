/** The form of a scenario: reports edits, adds and removes members with a stepper. */

import { find, findAll, readJson } from "../frame/dom.js";

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

/** Tick a member that is not, or else let one join with the next free client id. */
function addMember(form) {
  const unticked = membersOf(form).filter(({ checked }) => !checked);
  if (unticked.length) {
    unticked.at(-1).checked = true;
    return;
  }
  const taken = new Set(membersOf(form).map(({ value }) => value));
  const next = (readJson("adding") ?? []).find((id) => !taken.has(id));
  if (next) find("[data-added]", form).append(added(form, next));
}

/** Remove the member added last, or else untick the last of those present. */
function removeMember(form) {
  const ticked = membersOf(form).filter(({ checked }) => checked);
  if (ticked.length < 2) return;
  const joining = ticked.at(-1).closest("[data-joining]");
  if (joining) joining.remove();
  else ticked.at(-1).checked = false;
}

/** The boxes of all members: those present, then those that join. */
function membersOf(form) {
  return findAll('[data-members-of-scenario] input[type="checkbox"]', form);
}

function added(form, id) {
  const row = find("[data-new-member]", form).content.firstElementChild.cloneNode(true);
  const box = find("input", row);
  box.value = id;
  box.closest("label").title = id;
  find(".check-name", row).textContent = id;
  const room = find("select", row);
  if (room) {
    room.name = `C/${id.replaceAll("~", "~0").replaceAll(":", "~1")}`;
    room.setAttribute("aria-label", `${room.getAttribute("aria-label").trim()} ${id}`);
  }
  return row;
}
