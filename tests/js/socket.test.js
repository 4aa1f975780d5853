import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import "./page.js";

const { LiveSocket } = await import("../../static/js/frame/socket.js");

const settled = () => new Promise((resolve) => setImmediate(resolve));
let asked, left, sockets, told;
let minute = 0;

class FakeSocket extends EventTarget {
  static OPEN = 1;
  constructor() {
    super();
    sockets.push(this);
  }
  send() {}
  end(code) {
    this.dispatchEvent(Object.assign(new Event("close"), { code }));
  }
}

function live(status) {
  globalThis.fetch = async (url, options) => {
    asked.push([options.method, url]);
    if (!status) throw new TypeError("away");
    return { status, ok: status < 300 };
  };
  const socket = new LiveSocket({ watch: {}, connection: () => {} });
  socket.open();
  return socket;
}

beforeEach(() => {
  [asked, left, sockets, told] = [[], false, [], []];
  globalThis.WebSocket = FakeSocket;
  globalThis.location = { protocol: "http:", host: "h", reload: () => (left = true) };
  // Each test is another page: whether the last one was left does not count.
  const now = (minute += 1) * 60_000;
  performance.now = () => now;
});

async function after(status, end) {
  const socket = live(status);
  end(sockets[0]);
  await settled();
  clearTimeout(socket.retry);
  clearInterval(socket.pinger);
  return { asked: asked.length, left, again: socket.retry !== undefined };
}

const opened = (code) => (socket) => {
  socket.dispatchEvent(new Event("open"));
  socket.end(code);
};

test("who was signed out is led to the sign-in page", async () => {
  assert.deepEqual(await after(401, opened(4401)), {
    asked: 1,
    left: true,
    again: false,
  });
  assert.deepEqual(asked[0], ["HEAD", "/account/sessions/"]);
});

test("who is refused from the start, too", async () => {
  const refuse = (socket) => socket.end(1006);
  assert.deepEqual(await after(401, refuse), {
    asked: 1,
    left: true,
    again: false,
  });
});

test("who is still signed in stays, and connects again", async () => {
  assert.deepEqual(await after(200, opened(4401)), {
    asked: 1,
    left: false,
    again: true,
  });
});

test("a server that is away makes nobody leave", async () => {
  const refuse = (socket) => socket.end(1006);
  assert.deepEqual(await after(0, refuse), {
    asked: 1,
    left: false,
    again: true,
  });
});

test("a connection that breaks asks nothing", async () => {
  assert.deepEqual(await after(401, opened(1006)), {
    asked: 0,
    left: false,
    again: true,
  });
});

function refusable() {
  const socket = new LiveSocket({
    watch: { cluster: "east" },
    ready: () => {},
    hear: () => {},
    connection: (...state) => told.push(state),
  });
  socket.open = () => told.push(["open"]);
  return socket;
}

test("a socket that is refused is not opened again by itself", () => {
  const socket = refusable();
  socket.closed({ code: 1008, reason: "32 live pages are open" });
  assert.deepEqual(told, [[false, "32 live pages are open"]]);
  assert.equal(socket.retry, undefined);
});

test("a socket that breaks is opened again", () => {
  const socket = refusable();
  socket.closed({ code: 1006, reason: "" });
  assert.deepEqual(told, [[false]]);
  assert.notEqual(socket.retry, undefined);
  clearTimeout(socket.retry);
});
