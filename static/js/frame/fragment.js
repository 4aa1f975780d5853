/**
 * Requests to our own server. After a sign-out the page is reloaded, which leads to the
 * sign-in page; any other refusal is an error that carries its status. Pages can also
 * be fetched as fragments, written by the server in the reader's language.
 */

import { h } from "./dom.js";
import { ui } from "./words.js";

/** A refusal, with the status that the server gave. */
export class Refusal extends Error {
  /** @param {number} status */
  constructor(status) {
    super(ui("server_said", { status }));
    this.status = status;
  }
}

/** Within this time, another reload would only cut off the one that is on its way. */
const LEAVING_MS = 5_000;
let leftAt = -LEAVING_MS;

/** Reload the page, which leads whoever was signed out to the sign-in page. */
export function leave() {
  if (performance.now() - leftAt < LEAVING_MS) return;
  leftAt = performance.now();
  location.reload();
}

/**
 * Fetch a successful answer. After a 401 the page is left and this never returns.
 * @param {string|URL} url
 * @param {RequestInit} [options]
 * @returns {Promise<Response>}
 */
export async function ask(url, options) {
  const answer = await fetch(url, options);
  if (answer.status === 401) {
    leave();
    return new Promise(() => {});
  }
  if (!answer.ok) {
    // Unread, it would hold one of the browser's few connections.
    await answer.arrayBuffer();
    throw new Refusal(answer.status);
  }
  return answer;
}

/**
 * Fetch a page's own content as elements.
 * @param {string|URL} url
 * @param {RequestInit} [options]
 */
export async function fragment(url, options) {
  const answer = await ask(url, { headers: { "X-Fragment": "1" }, ...options });
  return document.createRange().createContextualFragment(await answer.text());
}

/**
 * Fetch the new content of `box` in a copy of it, to morph it into.
 * @param {Element} box
 * @param {string|URL} [url]
 */
export async function freshCopy(box, url = location.href) {
  const fresh = h("div");
  fresh.append(await fragment(url));
  for (const { name, value } of box.attributes) fresh.setAttribute(name, value);
  return fresh;
}
