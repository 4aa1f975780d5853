/**
 * The socket of a page: it says what the page watches, and passes on messages. A broken
 * one is reopened after a growing, jittered wait, without end. After one that the server
 * refused or ended, the page first asks whether it is still signed in; if not, it is left,
 * and no other socket is opened. One that was refused because a bound is reached is opened
 * again when somebody comes back to the page.
 */

import { ask } from "./fragment.js";

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
const PING_MS = 20_000;
const ANSWER_MS = 45_000;
const CLOSE_SIGNED_OUT = 4401;
const SIGNED_IN_ONLY = "/account/sessions/";
const REFUSED = 1008;

export class LiveSocket {
  /** @type {WebSocket} */
  // @ts-expect-error there is one from `start` on
  socket;
  heard = 0;

  /**
   * @param {object} options
   * @param {object|object[]} options.watch what to watch: a cluster, a group of it, its
   *   labs, or several of these
   * @param {() => void} options.ready called whenever the server has begun to watch
   * @param {(message: any) => void} options.hear takes each message that follows
   * @param {(connected: boolean, refusal?: string) => void} options.connection
   */
  constructor(options) {
    this.options = options;
    this.failures = 0;
  }

  start() {
    this.open();
    addEventListener("online", () => this.retryNow());
    addEventListener("pageshow", (event) => event.persisted && this.retryNow());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.retryNow();
    });
  }

  open() {
    clearTimeout(this.retry);
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${scheme}//${location.host}/ws/live/`);
    this.socket = socket;
    this.heard = performance.now();
    let refused = true;
    socket.addEventListener("open", () => {
      refused = false;
      for (const each of [this.options.watch].flat()) this.watch(each);
    });
    socket.addEventListener("message", (event) => this.receive(JSON.parse(event.data)));
    socket.addEventListener("close", async (event) => {
      if (refused || event.code === CLOSE_SIGNED_OUT) {
        if (socket === this.socket) this.options.connection(false);
        await askWhetherSignedIn();
      }
      if (socket === this.socket) this.closed(event);
    });
    clearInterval(this.pinger);
    this.pinger = setInterval(() => this.ping(), PING_MS);
  }

  /** @param {object} what to watch beside what is watched */
  watch(what) {
    this.send({ op: "watch", ...what });
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN)
      this.socket.send(JSON.stringify(message));
  }

  /** Find a connection that is silently dead by the missing answer to a ping. */
  ping() {
    if (performance.now() - this.heard > ANSWER_MS) this.socket.close();
    else this.send({ op: "ping" });
  }

  /** @param {{code?: number, reason?: string}} [event] */
  closed(event = {}) {
    clearInterval(this.pinger);
    if (event.code === REFUSED) {
      this.options.connection(false, event.reason);
      return;
    }
    this.options.connection(false);
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.failures);
    this.failures += 1;
    this.retry = setTimeout(() => this.open(), wait * (0.5 + Math.random() / 2));
  }

  retryNow() {
    if (this.socket.readyState === WebSocket.CLOSED) this.open();
  }

  receive(message) {
    this.heard = performance.now();
    if (message.type === "watching") {
      this.failures = 0;
      this.options.connection(true);
      this.options.ready();
    } else if (message.type === "update" || message.type === "overview") {
      this.options.hear(message);
    }
  }
}

/**
 * Leave the page if nobody is signed in any more; then this never returns. A server that
 * is away is no news.
 */
async function askWhetherSignedIn() {
  const headers = { "X-Fragment": "1" };
  const signal = AbortSignal.timeout(LONGEST_WAIT_MS);
  await ask(SIGNED_IN_ONLY, { method: "HEAD", headers, signal }).catch(() => {});
}
