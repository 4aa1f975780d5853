/**
 * A feed of changes over the socket, with a numbered document behind it.
 *
 * The page watches first and loads the document afterwards, so that no change falls
 * between the two. Each update carries (run, seq): the next number is applied, an old
 * one is ignored, and after a gap or with another run the document is loaded again.
 */

import { LiveSocket } from "./socket.js";

const AGAIN_MS = 2000;

export class Feed {
  /**
   * @param {object} options
   * @param {{cluster: string, group?: string}} options.watch
   * @param {() => Promise<{run: string, seq: number}|null|undefined>} options.load gets the document
   * @param {(update: any) => void} options.apply takes the update that follows
   * @param {(document: any) => void} options.replace takes a whole new document
   * @param {(connected: boolean, refusal?: string) => void} options.connection
   */
  constructor(options) {
    this.options = options;
    this.run = null;
    this.seq = 0;
    this.waiting = [];
    this.loading = false;
    this.socket = new LiveSocket({
      watch: options.watch,
      ready: () => this.reload(),
      hear: (update) => this.take(update),
      connection: options.connection,
    });
  }

  /** Begin with a document that the page already has. */
  start(known) {
    if (known) [this.run, this.seq] = [known.run, known.seq];
    this.socket.start();
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
      setTimeout(() => this.reload(), AGAIN_MS);
    }
    this.loading = false;
    const waiting = this.waiting.filter((update) => this.follows(update));
    this.waiting = [];
    waiting.forEach((update) => this.take(update));
  }

  /**
   * Updates that arrived while loading and are older than the loaded document are done.
   * One of another run shows that the loaded document, if any, is not the newest.
   */
  follows(update) {
    return update.run !== this.run || update.seq > this.seq;
  }
}
