/**
 * Keeps lists of a cluster fresh: each digest over the socket makes the page fetch its
 * own list again as a fragment, filtered and sorted by the server, at most once a
 * second. The order does not change under the pointer or with a marked row.
 */

import { find, findAll, note } from "./dom.js";
import { freshCopy } from "./fragment.js";
import { Feed } from "./live.js";
import { morph } from "./morph.js";
import { Pill } from "./pill.js";
import { scheduler } from "./schedule.js";

const list = find("[data-live-list]");
const pill = new Pill((paused) => paused || refresh());
const refresh = scheduler(() => pill.paused || fetchList().catch(() => {}));

async function fetchList({ hold = isHeld() } = {}) {
  const fresh = await freshCopy(list);
  const held = morph(list, fresh, { hold });
  const apply = find("[data-apply-order]", list);
  if (apply) apply.hidden = !held;
  return meta();
}

/** Read the numbers that the server put beside the list, and show their age. */
function meta() {
  const element = find("[data-meta]", list);
  if (!element) return null;
  const { run, seq, takenAt, answered, brokers } = element.dataset;
  pill.show({
    takenAt: Number(takenAt),
    answered: Number(answered),
    brokers: Number(brokers),
  });
  return { run, seq: Number(seq) };
}

function isHeld() {
  const table = find("[data-rows]", list);
  return Boolean(
    table &&
    (table.matches(":hover") ||
      find("tr[aria-current]", table) ||
      table.contains(document.activeElement)),
  );
}

list.addEventListener("click", (event) => {
  if (event.target.closest("[data-apply-order]")) {
    fetchList({ hold: false }).catch((error) => note(error.message));
  }
});

list.addEventListener("pointerout", (event) => {
  const table = event.target.closest("[data-rows]");
  if (table && !table.contains(event.relatedTarget)) refresh();
});

/** Ticked columns go into one parameter, as the address has them. */
list.addEventListener("change", (event) => {
  const form = event.target.closest("[data-columns]");
  if (!form) return;
  const ticked = findAll("input:checked", form).map((box) => box.value);
  const columns = find("[name=columns]", form);
  columns.value = ticked.join(",");
  columns.disabled = false;
  form.submit();
});

const feed = new Feed({
  watch: { cluster: list.dataset.cluster },
  load: async () => (pill.paused ? null : fetchList()),
  replace: () => {},
  apply: () => refresh(),
  connection: (...state) => pill.setConnected(...state),
});
feed.start(meta());
