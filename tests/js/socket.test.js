import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import "./page.js";

const { LiveSocket } = await import("../../static/js/frame/socket.js");

let told;

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

beforeEach(() => (told = []));

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
