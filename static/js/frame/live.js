/**
 * A feed of changes over the socket, with a numbered document behind it.
 *
 * The page watches first and loads the document afterwards, so that no change falls
 * between the two. Each update carries (run, seq): the next number is applied, an old
 * one ignored, a gap or another run means that the document is loaded anew. A socket
 * that breaks is opened again after a growing, jittered wait, without end.
 */

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
const PING_MS = 20_000;
const ANSWER_MS = 45_000;

export class Feed {
  /**
   * @param {object} options
   * @param {{cluster: string, group?: string}} options.watch
   * @param {() => Promise<{run: string, seq: number}>} options.load gets the document
   * @param {(update: object) => void} options.apply takes the update that follows
   * @param {(document: object) => void} options.replace takes a whole new document
   * @param {(connected: boolean) => void} options.connection
   */
  constructor(options) {
    this.options = options;
    this.run = null;
    this.seq = 0;
    this.waiting = [];
    this.loading = false;
    this.failures = 0;
  }

  /** Begin from a document that the page has already. */
  start(known) {
    if (known) [this.run, this.seq] = [known.run, known.seq];
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
    socket.addEventListener("open", () =>
      this.send({ op: "watch", ...this.options.watch }),
    );
    socket.addEventListener("message", (event) => this.receive(JSON.parse(event.data)));
    socket.addEventListener("close", () => socket === this.socket && this.closed());
    clearInterval(this.pinger);
    this.pinger = setInterval(() => this.ping(), PING_MS);
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN)
      this.socket.send(JSON.stringify(message));
  }

  /** A connection that is silently dead is found by the missing answer to a ping. */
  ping() {
    if (performance.now() - this.heard > ANSWER_MS) this.socket.close();
    else this.send({ op: "ping" });
  }

  closed() {
    clearInterval(this.pinger);
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
      this.reload();
    } else if (message.type === "update" || message.type === "overview") {
      this.take(message);
    }
  }

  take(update) {
    if (this.loading) this.waiting.push(update);
    else if (update.run === this.run && update.seq <= this.seq) return;
    else if (update.run === this.run && update.seq === this.seq + 1) {
      this.seq = update.seq;
      this.options.apply(update);
    } else this.reload();
  }

  async reload() {
    if (this.loading) return;
    this.loading = true;
    try {
      const loaded = await this.options.load();
      if (loaded) {
        [this.run, this.seq] = [loaded.run, loaded.seq];
        this.options.replace(loaded);
      }
    } catch {
      setTimeout(() => this.reload(), FIRST_WAIT_MS * 4);
    }
    this.loading = false;
    const waiting = this.waiting.filter((update) => this.follows(update));
    this.waiting = [];
    waiting.forEach((update) => this.take(update));
  }

  /**
   * Updates that arrived while loading and are older than what was loaded are done.
   * One of another run is the sign that what was loaded, if anything, is not the newest.
   */
  follows(update) {
    return update.run !== this.run || update.seq > this.seq;
  }
}
