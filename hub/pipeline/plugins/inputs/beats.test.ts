import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { constants, deflateSync } from "node:zlib";
import { InputWorld, plain } from "#test/contract/input-runner.ts";
import { freePort } from "#test/harness/free-ports.ts";
import { LumberjackReader } from "./stream/lumberjack-reader.ts";

function frame(kind: string, ...numbers: number[]): Buffer {
  const bytes = Buffer.alloc(2 + numbers.length * 4);
  bytes.write(`2${kind}`);
  for (const [index, number] of numbers.entries()) bytes.writeUInt32BE(number, 2 + index * 4);
  return bytes;
}

function json(sequence: number, text: string): Buffer {
  return Buffer.concat([frame("J", sequence, Buffer.byteLength(text)), Buffer.from(text)]);
}

function compressed(...frames: Buffer[]): Buffer {
  const packed = deflateSync(Buffer.concat(frames));
  return Buffer.concat([frame("C", packed.length), packed]);
}

function lengthOf(bytes: number): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes);
  return length;
}

async function listen(t: TestContext, options = ""): Promise<{ world: InputWorld; socket: Socket }> {
  const world = new InputWorld();
  const port = await freePort();
  const input = world.make(`beats { port => ${port} host => "127.0.0.1" ${options} }`);
  await input.start();
  t.after(() => input.stop());
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  t.after(() => socket.destroy());
  return { world, socket };
}

test("beats takes windows, packed or not, and acknowledges the last event of each", async (t) => {
  const { world, socket } = await listen(t);
  socket.write(
    Buffer.concat([
      frame("W", 2),
      json(1, '{"message":"a","@timestamp":"2024-01-01T00:00:00.000Z"}'),
      json(2, '{"message":"b"}'),
    ]),
  );
  assert.deepEqual((await once(socket, "data"))[0], frame("A", 2));
  socket.write(Buffer.concat([frame("W", 1), compressed(json(1, '{"message":"c"}'))]));
  assert.deepEqual((await once(socket, "data"))[0], frame("A", 1));
  assert.deepEqual(world.messages, ["a", "b", "c"]);
  assert.equal(world.sent[0]!.event.timeMs, Date.UTC(2024, 0, 1));
  assert.deepEqual(plain(world.sent[2]!.event), { message: "c" });
});

test("beats takes a compressed window of more than one event's longest frame, and counts what it unpacks to", async () => {
  const line = "x".repeat(1024 * 1024);
  const events = Array.from({ length: 17 }, (_, index) => json(index + 1, `{"message":"${line}"}`));
  let most = 0;
  const reader = new LumberjackReader({ held: (bytes) => (most = Math.max(most, bytes)) });
  const [window] = await reader.push(Buffer.concat([frame("W", 17), compressed(...events)]));
  assert.equal(window?.payloads.length, 17);
  assert.ok(most > 17 * line.length, `${most} bytes`);
});

test("beats keeps of a long frame no more than the events that wait for others of their window", async () => {
  const reader = new LumberjackReader();
  const padding = Buffer.alloc(6 * 200_000, frame("W", 2));
  assert.deepEqual(await reader.push(compressed(padding, json(1, '{"n":1}'))), []);
  const [window] = await reader.push(json(2, '{"n":2}'));
  assert.deepEqual(window?.payloads.map(String), ['{"n":1}', '{"n":2}']);
  assert.ok(window!.payloads[0]!.buffer.byteLength < 100_000, "all that was unpacked");
});

test("beats takes what came of a window whose sender begins another one, which counts anew", async () => {
  const reader = new LumberjackReader();
  const bytes = [frame("W", 3), json(1, '{"n":1}'), frame("W", 2), json(1, '{"n":2}'), json(2, '{"n":3}')];
  const windows = await reader.push(Buffer.concat(bytes));
  assert.deepEqual(
    windows.map(({ sequence, payloads }) => [sequence, payloads.map(String)]),
    [
      [1, ['{"n":1}']],
      [2, ['{"n":2}', '{"n":3}']],
    ],
  );
});

test("beats shows a sender that it lives while a window waits for the log, and keeps its connection", async (t) => {
  const world = new InputWorld();
  const port = await freePort();
  const input = world.make(`beats { port => ${port} host => "127.0.0.1" client_inactivity_timeout => 0.5 }`);
  await input.start();
  t.after(() => input.stop());
  const release = world.fill();
  t.mock.timers.enable({ apis: ["setInterval"] });
  const socket = connect(port, "127.0.0.1");
  t.after(() => socket.destroy());
  const idle = once(socket.setTimeout(700), "timeout");
  socket.write(Buffer.concat([frame("W", 1), json(1, '{"message":"a"}')]));
  await world.untilHeld();
  await idle;
  t.mock.timers.tick(5_000);
  assert.deepEqual((await once(socket, "data"))[0], frame("A", 0));
  release();
  assert.deepEqual((await once(socket, "data"))[0], frame("A", 1));
  assert.deepEqual(world.messages, ["a"]);
});

test("beats acknowledges an event that nests too deep, and keeps it as text", async (t) => {
  const nested = `{"a":${"[".repeat(8_000)}${"]".repeat(8_000)}}`;
  const { world, socket } = await listen(t);
  const own = '{"message":"b","@metadata":{"input":"mine"}}';
  socket.write(Buffer.concat([frame("W", 2), json(1, nested), json(2, own)]));
  assert.deepEqual((await once(socket, "data"))[0], frame("A", 2));
  assert.deepEqual(plain(world.sent[0]!.event), { message: nested, tags: ["_jsonparsefailure"] });
  assert.equal(world.messages[1], "b");
});

test("beats answers a sender of version 1 in its version, with fields as pairs", async (t) => {
  const { world, socket } = await listen(t);
  const texts = ["line", "hello", "host", "web-1"].flatMap((text) => [
    Buffer.from([0, 0, 0, text.length]),
    Buffer.from(text),
  ]);
  const bytes = Buffer.concat([frame("W", 1), frame("D", 7, 2), ...texts]);
  // Each frame begins with the version.
  bytes[0] = 0x31;
  bytes[6] = 0x31;
  socket.write(bytes);
  const expected = frame("A", 7);
  expected[0] = 0x31;
  assert.deepEqual((await once(socket, "data"))[0], expected);
  assert.deepEqual(plain(world.sent[0]!.event), { line: "hello", host: "web-1" });
});

test("frames that come byte by byte are the same, pairs of version 1 too", async () => {
  const pairs = Buffer.concat([
    frame("D", 2, 1),
    Buffer.from([0, 0, 0, 1]),
    Buffer.from("k"),
    Buffer.from([0, 0, 0, 1]),
    Buffer.from("v"),
  ]);
  const bytes = Buffer.concat([frame("W", 2), compressed(json(1, '{"n":1}')), pairs]);
  const reader = new LumberjackReader();
  const windows = [];
  for (const byte of bytes) windows.push(...(await reader.push(Buffer.from([byte]))));
  assert.deepEqual(
    windows.map(({ sequence, payloads }) => [sequence, payloads.map(String)]),
    [[2, ['{"n":1}', '{"k":"v"}']]],
  );
});

for (const [what, bytes, reason] of [
  ["a compressed frame in another one", compressed(compressed(json(1, "{}"))), /holds another/],
  ["an event of version 1 with more pairs than a frame holds", frame("D", 1, 0xffffffff), /too large/],
  ["an event of version 1 with thousands of pairs", frame("D", 1, 2_000), /too large/],
  [
    "a packed frame of countless events",
    compressed(Buffer.concat(Array.from({ length: 100_001 }, () => json(1, "{}")))),
    /more than 100000 events/,
  ],
  [
    "an event of version 1 that is longer than a frame",
    Buffer.concat([
      frame("D", 1, 2, 8 * 1024 * 1024),
      Buffer.alloc(8 * 1024 * 1024),
      lengthOf(9 * 1024 * 1024),
    ]),
    /too long/,
  ],
  [
    "a window that never ends",
    Buffer.concat([frame("W", 9), ...Array.from({ length: 9 }, () => json(1, '{"n":1}'))]),
    /window/,
  ],
] as const) {
  test(`${what} is refused`, async () => {
    await assert.rejects(new LumberjackReader({ maxWindowBytes: 50 }).push(bytes), {
      code: "parsing",
      message: reason,
    });
  });
}

test("a window before one that can't be read is taken and acknowledged", async (t) => {
  const { world, socket } = await listen(t);
  // One part, packed once and repeated: packing 65 MiB takes longer than all else here.
  const part = deflateSync(Buffer.alloc(1024 * 1024), { finishFlush: constants.Z_FULL_FLUSH });
  const bomb = Buffer.concat([part, ...Array<Buffer>(64).fill(part.subarray(2))]);
  const packed = Buffer.concat([frame("C", bomb.length), bomb]);
  socket.write(Buffer.concat([frame("W", 1), json(1, '{"message":"a"}'), frame("W", 1), packed]));
  assert.deepEqual((await once(socket, "data"))[0], frame("A", 1));
  await once(socket, "close");
  assert.deepEqual(world.messages, ["a"]);
});

test("what isn't lumberjack, or too long, ends the connection and is never acknowledged", async (t) => {
  for (const bytes of [
    Buffer.from("GET / HTTP/1.1\r\n"),
    frame("J", 1, 0x7fffffff),
    frame("W", 0x7fffffff),
    Buffer.concat([frame("C", 3), Buffer.from("abc")]),
  ]) {
    const { world, socket } = await listen(t);
    socket.write(bytes);
    socket.resume();
    await once(socket, "close");
    assert.equal(world.sent.length, 0);
  }
});

test("beats reads messages by its codec and adds to them what came beside", async (t) => {
  const { world, socket } = await listen(t, "codec => json");
  const host =
    '"host":{"name":"h","os":{"name":"o"}},"@timestamp":"2024-01-01T00:00:00.000Z","@metadata":{"beat":"x"}';
  socket.write(
    Buffer.concat([
      frame("W", 4),
      json(1, `{"message":${JSON.stringify('{"a":1,"host":{"ip":"i","os":{"type":"t"}}}')},${host}}`),
      json(2, `{"message":"no json","tags":["t"]}`),
      json(3, '{"line":"[{\\"b\\":1},{\\"b\\":2}]","c":{"d":1}}'),
      json(4, '{"e":5}'),
    ]),
  );
  await world.until(5);
  const [first, second, ...rest] = world.sent.map(({ event }) => event);
  assert.deepEqual(plain(first!), { a: 1, host: { ip: "i", name: "h", os: { type: "t", name: "o" } } });
  assert.equal(first!.timeMs, Date.UTC(2024, 0, 1));
  assert.deepEqual(first!.metadata, {
    beat: "x",
    input: { beats: { host: { ip: "127.0.0.1" } } },
    ip_address: "127.0.0.1",
  });
  assert.deepEqual(plain(second!), { message: "no json", tags: ["_jsonparsefailure", "t"] });
  assert.deepEqual(rest.map(plain), [{ b: 1, c: { d: 1 } }, { b: 2, c: { d: 1 } }, { e: 5 }]);
});

test("beats joins no lines, which come mixed from many files", () => {
  const text = 'beats { port => 1 codec => multiline { pattern => "^ " what => previous } }';
  assert.throws(() => new InputWorld().make(text), /let the shipper join lines/);
});
