import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { GelfCodec } from "#hub/pipeline/plugins/inputs/stream/gelf-codec.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { plain } from "#test/contract/input-runner.ts";
import { connectInput } from "#test/support/pipeline/listening-input.ts";

const GELF = {
  version: "1.1",
  host: "web-1",
  short_message: "short",
  full_message: "long",
  timestamp: 1_700_000_000.5,
  level: 3,
  _container_id: "c1",
  _n: 5,
};

test("gelf takes messages by TCP and UDP, whole, packed and in chunks, and names them by ECS", async (t) => {
  const { world, port, socket } = await connectInput(t, "gelf");
  socket.write(`${JSON.stringify(GELF)}\0nope\0`);
  await world.until(2);
  const datagrams = createSocket("udp4");
  const send = (payload: Buffer): Promise<void> =>
    new Promise((resolve) => datagrams.send(payload, port, "127.0.0.1", () => resolve()));
  const packed = gzipSync(JSON.stringify(GELF));
  const half = Math.ceil(packed.length / 2);
  const chunk = (number: number, part: Buffer): Buffer =>
    Buffer.concat([Buffer.from([0x1e, 0x0f, 1, 2, 3, 4, 5, 6, 7, 8, number, 2]), part]);
  await send(packed);
  await send(chunk(1, packed.subarray(half)));
  await send(chunk(0, packed.subarray(0, half)));
  await world.until(4);
  datagrams.close();
  for (const place of [0, 2, 3]) {
    const { event } = world.sent[place]!;
    assert.equal(event.timeMs, 1_700_000_000_500);
    assert.deepEqual(plain(event), {
      message: "short",
      full_message: "long",
      host: { name: "web-1" },
      log: { level: "error", syslog: { severity: { code: 3 } } },
      container: { id: "c1" },
      n: 5,
      observer: { ip: "127.0.0.1" },
    });
  }
  assert.deepEqual(world.sent[1]!.event.fields["tags"], ["_gelfparsefailure"]);
});

test("gelf takes a message that is too long in parts as text, and the next one whole", async (t) => {
  const { world, socket } = await connectInput(t, "gelf");
  const long = JSON.stringify({ short_message: "x".repeat(2_500_000) });
  socket.write(`${long}\0{"short_message":"next"}\0`);
  await world.until(1);
  const isNext = (): boolean => world.messages.at(-1) === "next";
  while (!isNext()) await world.until(world.sent.length + 1);
  const parts = world.sent.slice(0, -1).map(({ event }) => event.fields);
  assert.equal(parts.map(({ message }) => message).join(""), long);
  for (const { tags } of parts) assert.deepEqual(tags, ["_gelfparsefailure", "line_cut"]);
  assert.equal(world.cuts, 1);
});

test("gelf reads times and levels that are decimals without a fraction, and keeps such fields", async (t) => {
  const { world, socket } = await connectInput(t, "gelf");
  socket.write('{"short_message":"a","timestamp":1700000000.0,"level":3.0,"_took":2.0}\0');
  await world.until(1);
  const { event } = world.sent[0]!;
  assert.equal(event.timeMs, 1_700_000_000_000);
  assert.equal(event.get(fieldReference("[log][level]")), "error");
  assert.equal(JSON.stringify(event.fields["took"]), "2.0");
});

test("gelf keeps a message that nests too deep as text, and a sender's own value in the place of its address", async (t) => {
  const nested = `{"short_message":"a","_a":${"[".repeat(8_000)}${"]".repeat(8_000)}}`;
  const { world, port, socket } = await connectInput(t, "gelf");
  const datagrams = createSocket("udp4");
  t.after(() => datagrams.close());
  const send = (text: string): Promise<void> =>
    new Promise((resolve) => datagrams.send(text, port, "127.0.0.1", () => resolve()));
  await send(nested);
  await send('{"short_message":"b","_observer":"mine"}');
  await world.until(2);
  socket.write(`${nested}\0`);
  await world.until(3);
  assert.deepEqual(
    world.sent.map(({ event: { fields } }) => [fields["message"], fields["tags"]]),
    [
      [nested, ["_gelfparsefailure"]],
      ["b", undefined],
      [nested, ["_gelfparsefailure"]],
    ],
  );
  assert.equal(world.sent[1]!.event.fields["observer"], "mine");
});

test("gelf says why a message can't be read, and reads those after it", () => {
  const codec = new GelfCodec();
  for (const [bytes, reason] of [
    [gzipSync(Buffer.alloc(5 * 1024 * 1024)), /more than 4194304 bytes/],
    [gzipSync('{"short_message":"a"}').subarray(0, 12), /damaged/],
    [Buffer.from("[1]"), /isn't a JSON object/],
  ] as const) {
    const [event] = codec.decode(bytes, 0);
    assert.match(JSON.stringify(event!.fields["error"]), reason);
    assert.deepEqual(event!.fields["tags"], ["_gelfparsefailure"]);
    assert.equal(codec.decode(Buffer.from('{"short_message":"a"}'), 0)[0]!.fields["message"], "a");
  }
});

test("gelf loses no member whose name is taken, and takes a message of the first format", () => {
  const codec = new GelfCodec();
  const fieldsOf = (message: object) => plain(codec.decode(Buffer.from(JSON.stringify(message)), 0)[0]!);
  assert.deepEqual(fieldsOf({ host: "a", short_message: "b", _host: "c", _message: "d" }), {
    message: "b",
    host: { name: "a" },
    _host: "c",
    _message: "d",
  });
  assert.deepEqual(fieldsOf({ short_message: "b", message: "c" }), { message: "b", _message: "c" });
  assert.deepEqual(fieldsOf({ host: "a", message: "text", full_message: "long" }), {
    message: "text",
    host: { name: "a" },
    full_message: "long",
  });
});

test("messages of GELF of which one byte came wait within the limit of memory", () => {
  let dropped = 0;
  const codec = new GelfCodec((chunks) => (dropped += chunks));
  for (let id = 0; id < 30_000; id++) {
    const chunk = Buffer.from([0x1e, 0x0f, 0, 0, 0, 0, 0, 0, id >> 8, id, 0, 128, 0x7b]);
    assert.deepEqual(codec.decode(chunk, 0), []);
  }
  assert.ok(dropped > 5_000, String(dropped));
});

test("chunks of GELF that come alone are dropped after five seconds and counted", () => {
  let dropped = 0;
  const codec = new GelfCodec((chunks) => {
    dropped += chunks;
  });
  const chunk = (id: number, number: number): Buffer =>
    Buffer.concat([Buffer.from([0x1e, 0x0f, id, 0, 0, 0, 0, 0, 0, 0, number, 2]), Buffer.from("{}")]);
  assert.deepEqual(codec.decode(chunk(1, 0), 0), []);
  assert.deepEqual(codec.decode(chunk(2, 0), 6_000), []);
  assert.equal(dropped, 1);
  assert.deepEqual(codec.decode(chunk(1, 1), 6_000), []);
  assert.equal(codec.decode(chunk(2, 1), 6_001).length, 1);
  assert.deepEqual(codec.decode(chunk(3, 2), 6_001), [], "a number beyond the count");
  assert.equal(dropped, 2);
});
