import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { test } from "node:test";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { decode, decodeMulti, ExtData, encode } from "@msgpack/msgpack";
import { FORWARD_DECODING } from "#hub/pipeline/formats/forward-entries.ts";
import { ValueStream } from "#hub/pipeline/formats/message-pack.ts";
import { ChunkPositions } from "#hub/pipeline/plugins/inputs/stream/chunk-positions.ts";
import { ForwardHandshake, forwardMessage } from "#hub/pipeline/plugins/inputs/stream/forward-protocol.ts";
import { InputWorld, plain } from "#test/contract/input-runner.ts";
import { connectInput, received } from "#test/support/pipeline/listening-input.ts";

test("forward takes every mode, acknowledges chunks, and takes one that comes again only once", async (t) => {
  const { world, socket } = await connectInput(t, "forward");
  const entry = (n: number): [number, object] => [1_700_000_000 + n, { log: `line ${n}\n`, n }];
  const packed = Buffer.concat([encode(entry(4)), encode(entry(5))]);
  socket.write(encode(["app", ...entry(1)]));
  socket.write(encode(["app", [entry(2), entry(3)], { chunk: "c1" }]));
  assert.deepEqual(decode(await received(socket)), { ack: "c1" });
  socket.write(encode(["app", packed, { chunk: "c2" }]));
  assert.deepEqual(decode(await received(socket)), { ack: "c2" });
  const gzip = { chunk: "c3", compressed: "gzip" };
  socket.write(encode(["app", gzipSync(encode(entry(6))), gzip]));
  assert.deepEqual(decode(await received(socket)), { ack: "c3" });
  socket.write(encode(["app", packed, { chunk: "c2" }]));
  assert.deepEqual(decode(await received(socket)), { ack: "c2" });
  assert.deepEqual(world.messages, ["line 1", "line 2", "line 3", "line 4", "line 5", "line 6"]);
  assert.equal(world.sent[5]!.event.timeMs, 1_700_000_006_000);
  assert.deepEqual(plain(world.sent[0]!.event), {
    message: "line 1",
    n: 1,
    fluent: { tag: "app" },
    host: { ip: "127.0.0.1" },
  });
});

const BOMBS: readonly (readonly [what: string, message: () => Uint8Array, reason: RegExp])[] = [
  ["lists in lists", () => Buffer.alloc(2_000_000, 0x91), /nested too deep/],
  [
    "announced lists of a million places",
    () => Buffer.concat(Array.from({ length: 60 }, () => Buffer.from([0xdd, 0, 0x0f, 0x42, 0x40]))),
    /too many values/,
  ],
  [
    "entries without anything in them, packed",
    () =>
      encode(["t", gzipSync(Buffer.alloc(3_000_000, Buffer.from([0x92, 0, 0x80]))), { compressed: "gzip" }]),
    /too many values/,
  ],
];

for (const [what, message, reason] of BOMBS) {
  test(`forward makes nothing of ${what}, and ends the connection`, async (t) => {
    const before = process.memoryUsage().rss;
    const bytes = message();
    const world = new InputWorld();
    const context = world.context();
    const warned: string[] = [];
    t.mock.method(context.log, "warn", ({ err }: { err: Error }) => void warned.push(err.message));
    t.mock.method(world, "context", () => context);
    const { socket } = await connectInput(t, "forward", "", world);
    const ended = new Promise((resolve) => socket.once("close", resolve));
    socket.on("error", () => undefined);
    socket.write(bytes);
    await ended;
    assert.match(warned.join("\n"), reason);
    assert.equal(world.sent.length, 0);
    assert.ok(process.memoryUsage().rss - before < 400 * 1024 * 1024, "memory");
  });
}

test("values of MessagePack may come byte by byte", () => {
  const value = {
    a: [1, -1, 300, 70_000, 2 ** 40, 1.5, null, true],
    b: "x".repeat(300),
    c: new Uint8Array(40),
    d: {},
  };
  const bytes = Buffer.concat([encode(value), encode([[]]), encode("end")]);
  const stream = new ValueStream({});
  const found = Array.from(bytes, (_, at) => [...stream.values(bytes.subarray(at, at + 1))]).flat();
  assert.deepEqual(found, [...decodeMulti(bytes)]);
  assert.equal(stream.pendingBytes, 0);
});

/** An EventTime. */
function time(seconds: number): ExtData {
  const data = Buffer.alloc(8);
  data.writeUInt32BE(seconds);
  return new ExtData(0, data);
}

test("forward gives the records of a group of Fluent Bit what they share, and keeps metadata", async () => {
  const entries = [
    [[time(0xffffffff), { schema: "otlp" }], { resource: { attributes: { "service.name": "shop" } } }],
    [[time(5), { otlp: { severity_number: 9 } }], { log: "a" }],
    [[time(0xfffffffe), {}], {}],
    [[time(6), {}], { log: "b" }],
  ];
  const decoded = [...new ValueStream(FORWARD_DECODING).values(encode(["app", entries]))];
  assert.deepEqual((await forwardMessage(decoded[0])).entries, [
    {
      timeMs: 5_000,
      record: { resource: { attributes: { "service.name": "shop" } }, log: "a" },
      metadata: { otlp: { severity_number: 9 } },
    },
    { timeMs: 6_000, record: { log: "b" }, metadata: undefined },
  ]);
});

test("forward takes texts written as bytes, signs of life and entries packed by zstd", async (t) => {
  const { world, socket } = await connectInput(t, "forward");
  const bytes = (text: string): Uint8Array => Buffer.from(text);
  // A record whose key is bytes: {"k": 1}.
  const record = Buffer.from([0x81, 0xc4, 0x01, 0x6b, 0x01]);
  const entry = Buffer.concat([Buffer.from([0x92, 0x05]), record]);
  socket.write(encode(null));
  socket.write(encode([bytes("app"), entry, { chunk: bytes("c1") }]));
  assert.deepEqual(decode(await received(socket)), { ack: bytes("c1") });
  // Each that a buffer was given is a frame of its own.
  const frames = Buffer.concat([zstdCompressSync(entry), zstdCompressSync(Buffer.concat([entry, entry]))]);
  socket.write(encode(["app", frames, { chunk: "c2", compressed: "zstd" }]));
  assert.deepEqual(decode(await received(socket)), { ack: "c2" });
  // Packed entries that are written as a text, with a time that is no UTF-8.
  const timed = Buffer.concat([Buffer.from([0x92, 0xcf, 0, 0, 0, 0, 0x71, 0x3f, 0xb3, 0xff]), record]);
  const head = Buffer.concat([Buffer.from([0x93]), encode("app"), Buffer.from([0xa0 + timed.length])]);
  socket.write(Buffer.concat([head, timed, encode({ chunk: "c2t" })]));
  assert.deepEqual(decode(await received(socket)), { ack: "c2t" });
  assert.equal(world.sent.at(-1)!.event.timeMs, 0x713fb3ff * 1000);
  const expected = { k: 1, host: { ip: "127.0.0.1" }, fluent: { tag: "app" } };
  assert.deepEqual(
    world.sent.map(({ event }) => plain(event)),
    Array(5).fill(expected),
  );
  socket.on("error", () => undefined).resume();
  socket.write(encode(["app", entry, { chunk: "c3", compressed: "lz4" }]));
  await once(socket, "close");
  assert.equal(world.sent.length, 5);
});

test("forward counts what entries unpack to, and refuses groups that share more than memory has", async () => {
  let most = 0;
  const zeros = encode([5, { k: "0".repeat(1_000_000) }]);
  await forwardMessage(
    ["app", gzipSync(zeros), { compressed: "gzip" }],
    (bytes) => (most = Math.max(most, bytes)),
  );
  assert.ok(most > 1_000_000, `${most} bytes`);
  const begin = [[time(0xffffffff), {}], { k: "0".repeat(1_000_000) }];
  const entries = [begin, ...Array.from({ length: 1_000 }, () => [5, {}])];
  const [decoded] = new ValueStream(FORWARD_DECODING).values(encode(["app", entries]));
  await assert.rejects(forwardMessage(decoded), /share too much/);
  const bomb = gzipSync(Buffer.alloc(33 * 1024 * 1024));
  await assert.rejects(
    forwardMessage(["app", bomb, { compressed: "gzip" }]),
    /send shorter ones: chunk_limit_size/,
  );
});

test("forward sends a chunk that comes again after a restart to the offsets it had, one of another tag to new ones", async (t) => {
  const { world, socket } = await connectInput(t, "forward");
  const entries = [1, 2].map((n) => [1_700_000_000 + n, { log: `line ${n}` }]);
  socket.write(encode(["app", 1_700_000_000, { log: "before" }]));
  socket.write(encode(["app", entries, { chunk: "c1" }]));
  assert.deepEqual(decode(await received(socket)), { ack: "c1" });
  const { socket: second } = await connectInput(t, "forward", "", world);
  second.write(encode(["app", entries, { chunk: "c1" }]));
  assert.deepEqual(decode(await received(second)), { ack: "c1" });
  second.write(encode(["web", entries, { chunk: "c1" }]));
  assert.deepEqual(decode(await received(second)), { ack: "c1" });
  const [before, one, two, oneAgain, twoAgain, other] = world.sent;
  assert.deepEqual([before!.offset, one!.offset, two!.offset], [0, 1, 2]);
  assert.deepEqual([oneAgain!.key, oneAgain!.offset, twoAgain!.offset], [one!.key, 1, 2]);
  assert.notEqual(other!.key, one!.key);
});

test("the places of chunks are bounded: the oldest is forgotten, also over restarts", async () => {
  const { state } = new InputWorld().context();
  const first = new ChunkPositions(state, 3);
  await first.load();
  for (let n = 0; n < 5; n++) await first.store(`c${n}`, { key: "k", offset: n });
  const second = new ChunkPositions(state, 3);
  await second.load();
  const known = () => [0, 1, 2, 3, 4].map((n) => second.earlier(`c${n}`)?.offset);
  assert.deepEqual(known(), [undefined, undefined, 2, 3, 4]);
  await second.store("c5", { key: "k", offset: 5 });
  assert.deepEqual(known(), [undefined, undefined, undefined, 3, 4]);
});

test("forward lets in who knows the shared key and a user's password", async (t) => {
  const more = 'shared_key => "k" users => { "u" => "p" } self_hostname => "hub"';
  const sha = (...parts: string[]): string => createHash("sha512").update(parts.join("")).digest("hex");
  for (const [key, password, isIn] of [
    ["k", "p", true],
    ["other", "p", false],
    ["k", "other", false],
  ] as const) {
    const { world, socket } = await connectInput(t, "forward", more);
    const [, { nonce, auth }] = decode(await received(socket)) as [string, { nonce: string; auth: string }];
    socket.write(
      encode(["PING", "me", "salt", sha("salt", "me", nonce, key), "u", sha(auth, "u", password)]),
    );
    const [, accepted, , host, digest] = decode(await received(socket)) as [
      string,
      boolean,
      string,
      string,
      string,
    ];
    assert.equal(accepted, isIn);
    socket.write(encode(["app", 5, { log: "in" }]));
    if (!isIn) {
      await once(socket, "close");
      assert.equal(world.sent.length, 0);
      continue;
    }
    assert.deepEqual([host, digest], ["hub", sha("salt", "hub", nonce, "k")]);
    await world.until(1);
  }
});

test("forward says of a sender that it sent no shared key", () => {
  const handshake = new ForwardHandshake({ sharedKey: "k", users: {}, hostName: "hub" });
  assert.throws(() => handshake.answer(["app", 5, { log: "in" }]), /the sender has no shared_key/);
  assert.throws(() => handshake.answer({}), /doesn't speak the Forward protocol/);
});
