import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import "./page.js";

const { LiveSocket } = await import("../../static/js/frame/socket.js");

const settled = () => new Promise((resolve) => setImmediate(resolve));
let asked, left, sockets;

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
  [asked, left, sockets] = [[], false, []];
  globalThis.WebSocket = FakeSocket;
  globalThis.location = { protocol: "http:", host: "h", reload: () => (left = true) };
});

async function after(status, end) {
  const socket = live(status);
  end(sockets[0]);
  await settled();
  clearTimeout(socket.retry);
  clearInterval(socket.pinger);
  return { asked: asked.length, left };
}

const opened = (code) => (socket) => {
  socket.dispatchEvent(new Event("open"));
  socket.end(code);
};

test("who was signed out is led to the sign-in page", async () => {
  assert.deepEqual(await after(401, opened(4401)), { asked: 1, left: true });
  assert.deepEqual(asked[0], ["HEAD", "/account/sessions/"]);
});

test("who is refused from the start, too", async () => {
  const refuse = (socket) => socket.end(1006);
  assert.deepEqual(await after(401, refuse), { asked: 1, left: true });
});

test("who is still signed in stays, and connects again", async () => {
  assert.deepEqual(await after(200, opened(4401)), { asked: 1, left: false });
});

test("a server that is away makes nobody leave", async () => {
  const refuse = (socket) => socket.end(1006);
  assert.deepEqual(await after(0, refuse), { asked: 1, left: false });
});

test("a connection that breaks asks nothing", async () => {
  assert.deepEqual(await after(401, opened(1006)), { asked: 0, left: false });
});
