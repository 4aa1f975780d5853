/**
 * Keeps lists of a cluster, or of all clusters, fresh: each digest over the socket makes
 * the page fetch its own list again as a fragment, filtered and sorted by the server, at
 * most once a second. The order does not change under the pointer or with a marked row.
 */

import { chooseColumns } from "./columns.js";
import { find, note } from "./dom.js";
import { freshCopy } from "./fragment.js";
import { Feed } from "./live.js";
import { morph } from "./morph.js";
import { Pill } from "./pill.js";
import { scheduler } from "./schedule.js";
import { LiveSocket } from "./socket.js";

const ASK_MS = 10_000;
const ASK_SOON_MS = 2000;

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
  const { run, seq, takenAt, answered, brokers, of } = element.dataset;
  pill.show({
    takenAt: Number(takenAt),
    answered: Number(answered),
    brokers: Number(brokers),
    of,
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

list.addEventListener("change", chooseColumns);

/** A list of one cluster follows its numbered digests. */
function followOne() {
  const feed = new Feed({
    watch: { cluster: list.dataset.cluster },
    load: async () => (pill.paused ? null : fetchList()),
    replace: () => {},
    apply: () => refresh(),
    connection: (...state) => pill.setConnected(...state),
  });
  feed.start(meta());
}

/**
 * A list over all clusters is woken by the digests of each of them. It also asks by
 * itself: a cluster that is attached meanwhile, or not collected, has nobody to wake it.
 */
function followAll() {
  const names = () => (find("[data-meta]", list)?.dataset.names ?? "").split(" ");
  const watched = new Set(names().filter(Boolean));
  const socket = new LiveSocket({
    watch: [...watched].map((cluster) => ({ cluster })),
    ready: refresh,
    hear: refresh,
    connection: (...state) => pill.setConnected(...state),
  });
  meta();
  socket.start();
  setInterval(() => find("[data-soon]", list) && refresh(), ASK_SOON_MS);
  setInterval(async () => {
    if (pill.paused) return;
    await fetchList().catch(() => {});
    for (const cluster of names()) {
      if (!cluster || watched.has(cluster)) continue;
      watched.add(cluster);
      socket.options.watch = [...watched].map((each) => ({ cluster: each }));
      socket.watch({ cluster });
    }
  }, ASK_MS);
}

if (list.dataset.cluster) followOne();
else followAll();
