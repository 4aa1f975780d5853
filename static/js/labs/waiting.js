/** Reloads the list of labs once the embedded cluster, which was asked for, runs. */

import { find } from "../frame/dom.js";
import { fragment } from "../frame/fragment.js";

const ASK_MS = 2000;

async function look() {
  const fresh = await fragment(location.href).catch(() => null);
  if (fresh && !find("[data-labs-waiting]", fresh)) location.reload();
}

setInterval(look, ASK_MS);
