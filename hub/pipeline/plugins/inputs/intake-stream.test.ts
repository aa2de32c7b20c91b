import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { decode, decodeMulti, ExtData, encode } from "@msgpack/msgpack";
import { FORWARD_DECODING } from "#hub/pipeline/formats/forward-entries.ts";
import { ValueStream } from "#hub/pipeline/formats/message-pack.ts";
import { plainCodec } from "#hub/pipeline/plugins/codecs/plain.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { FairShares } from "#proto/kit/fair-shares.ts";
import { TrustedProxies } from "#proto/kit/net/trusted-proxies.ts";
import { InputWorld, plain } from "#test/contract/input-runner.ts";
import { freePort } from "#test/harness/free-ports.ts";
import { replaceMethod } from "#test/support/kit/replaced-method.ts";
import { RelpReader } from "./relp.ts";
import { ChunkPositions } from "./stream/chunk-positions.ts";
import { ForwardHandshake, forwardMessage } from "./stream/forward-protocol.ts";
import { GelfCodec } from "./stream/gelf-codec.ts";
import { JournalExportReader } from "./stream/journal-export.ts";
import { Listener } from "./stream/listener.ts";
import { StreamSession } from "./stream/stream-session.ts";

const NO_PROXIES = new TrustedProxies([]);

async function start(t: TestContext, name: string, more = "", world = new InputWorld()) {
  const port = await freePort();
  const input = world.make(`${name} { port => ${port} host => "127.0.0.1" ${more} }`);
  await input.start();
  t.after(() => input.stop());
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  t.after(() => socket.destroy());
  return { world, port, socket, input };
}

const sharesOf = (limit: number): FairShares =>
  new FairShares({ limit, what: "bytes are held", remedy: "send it again" });

async function received(socket: Socket): Promise<Buffer> {
  const [data] = (await once(socket, "data")) as [Buffer];
  return data;
}

const LINE = "<34>1 2024-05-01T10:00:00Z web-3 su 7 - - hello";

test("relp answers each message when it is in the log, and the end of the session", async (t) => {
  const { world, socket } = await start(t, "relp");
  const offer = "relp_version=0\nrelp_software=librelp,1.11.0,http://librelp.adiscon.com\ncommands=syslog";
  socket.write(`1 open ${offer.length} ${offer}\n`);
  assert.match(String(await received(socket)), /^1 rsp \d+ 200 OK\nrelp_version=0\n/);
  socket.write(`2 syslog ${LINE.length} ${LINE}\n3 syslog ${LINE.length} ${LINE}\n`);
  assert.equal(String(await received(socket)), "2 rsp 6 200 OK\n3 rsp 6 200 OK\n");
  assert.deepEqual(world.messages, ["hello", "hello"]);
  socket.write("4 close 0\n");
  assert.equal(String(await received(socket)), "4 rsp 6 200 OK\n0 serverclose 0\n");
  await once(socket, "close");
});

test("an input that stops takes what it has begun with and answers it, and ends idle connections", async (t) => {
  const { world, port, socket, input } = await start(t, "relp");
  const release = world.fill();
  const idle = connect(port, "127.0.0.1");
  await once(idle, "connect");
  socket.write(`1 syslog ${LINE.length} ${LINE}\n`);
  await world.untilHeld();
  const stopped = input.stop();
  idle.resume();
  await once(idle, "close");
  release();
  assert.equal(String(await received(socket)), "1 rsp 6 200 OK\n");
  await once(socket, "close");
  await stopped;
  assert.deepEqual(world.messages, ["hello"]);
});

test("a sender that ends its side after its last message gets the answer to it", async (t) => {
  const { world, socket } = await start(t, "relp");
  const letFirst = world.fill();
  socket.write(`1 syslog ${LINE.length} ${LINE}\n`);
  await world.untilHeld();
  socket.end(`2 syslog ${LINE.length} ${LINE}\n`);
  await once(socket, "finish");
  // The end comes while the last message waits for the log.
  for (let turn = 0; turn < 10; turn++) await nextTurn();
  const letLast = world.fill();
  letFirst();
  await world.until(1);
  for (let turn = 0; turn < 10; turn++) await nextTurn();
  letLast();
  const answers = (await socket.toArray()) as Buffer[];
  assert.equal(String(Buffer.concat(answers)), "1 rsp 6 200 OK\n2 rsp 6 200 OK\n");
});

test("relp doesn't answer a message that the log didn't take", async (t) => {
  const { world, socket } = await start(t, "relp");
  world.refuseAfter(0);
  let answer = "";
  socket.on("data", (data) => {
    answer += String(data);
  });
  socket.write(`1 syslog ${LINE.length} ${LINE}\n`);
  await once(socket, "close");
  assert.equal(answer, "");
});

test("frames of RELP may come byte by byte; what is none is refused", () => {
  const reader = new RelpReader();
  const bytes = Buffer.from(`1 open 0\n2 syslog ${LINE.length} ${LINE}\n3 close 0 \n`);
  const frames = [...bytes].flatMap((byte) => reader.push(Buffer.from([byte])));
  assert.deepEqual(
    frames.map(({ transaction, command, data }) => [transaction, command, String(data)]),
    [
      ["1", "open", ""],
      ["2", "syslog", LINE],
      ["3", "close", ""],
    ],
  );
  const wrong = [
    "GET / HTTP/1.1\r\nHost: example.com and much more text that follows it\r\n",
    "1 syslog 3 abcd\n",
    "1 syslog 9999999 a",
  ];
  for (const text of wrong)
    assert.throws(() => new RelpReader().push(Buffer.from(text)), { code: "parsing" }, text);
});

const LONG = "x".repeat(5_000);

/** Returns what takes a stream's pieces, and what came of them. */
type Reader = () => { push: (piece: Buffer) => unknown; found: () => unknown };

const counted: Reader = () => {
  const world = new InputWorld();
  const codec = plainCodec.create({ charset: "UTF-8" });
  const session = new StreamSession({ context: world.context(), codec, delimiter: "\n", countsOctets: true });
  return { push: (piece) => session.push(piece), found: () => world.messages };
};
const relp: Reader = () => {
  const reader = new RelpReader();
  const found: string[] = [];
  return {
    push: (piece) => found.push(...reader.push(piece).map(({ data }) => String(data))),
    found: () => found,
  };
};
const journal: Reader = () => {
  const reader = new JournalExportReader();
  const found: unknown[] = [];
  return {
    push: (piece) => found.push(...reader.push(piece).map(({ fields }) => fields["A"])),
    found: () => found,
  };
};

for (const [what, reader, text, expected] of [
  ["counted payloads", counted, `${LONG.length + 3} <1>${LONG}8 <1>short`, [`<1>${LONG}`, "<1>short"]],
  ["lines beside counted payloads", counted, `${LONG}\n8 <1>short${LONG}\n`, [LONG, "<1>short", LONG]],
  ["frames of RELP", relp, `1 syslog ${LONG.length} ${LONG}\n2 syslog 1 a\n`, [LONG, "a"]],
  ["fields of a journal", journal, `A=${LONG}\n\nA=short\n\n`, [LONG, "short"]],
] as const)
  test(`${what} may come byte by byte, and each byte is copied a few times`, async (t) => {
    const concat = Buffer.concat.bind(Buffer);
    let copied = 0;
    replaceMethod(t, Buffer, "concat", (parts) => {
      const whole = concat(parts);
      copied += whole.length;
      return whole;
    });
    const { push, found } = reader();
    for (const byte of Buffer.from(text)) await push(Buffer.from([byte]));
    assert.deepEqual(found(), expected);
    assert.ok(copied < 20 * text.length, `${copied} bytes for ${text.length}`);
  });

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
  const { world, port, socket } = await start(t, "gelf");
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
  const { world, socket } = await start(t, "gelf");
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
  const { world, socket } = await start(t, "gelf");
  socket.write('{"short_message":"a","timestamp":1700000000.0,"level":3.0,"_took":2.0}\0');
  await world.until(1);
  const { event } = world.sent[0]!;
  assert.equal(event.timeMs, 1_700_000_000_000);
  assert.equal(event.get(fieldReference("[log][level]")), "error");
  assert.equal(JSON.stringify(event.fields["took"]), "2.0");
});

test("gelf keeps a message that nests too deep as text, and a sender's own value in the place of its address", async (t) => {
  const nested = `{"short_message":"a","_a":${"[".repeat(8_000)}${"]".repeat(8_000)}}`;
  const { world, port, socket } = await start(t, "gelf");
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

test("forward takes every mode, acknowledges chunks, and takes one that comes again only once", async (t) => {
  const { world, socket } = await start(t, "forward");
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
    const { socket } = await start(t, "forward", "", world);
    const ended = new Promise((resolve) => socket.once("close", resolve));
    socket.on("error", () => undefined);
    socket.write(bytes);
    await ended;
    assert.match(warned.join("\n"), reason);
    assert.equal(world.sent.length, 0);
    assert.ok(process.memoryUsage().rss - before < 400 * 1024 * 1024, "memory");
  });
}

test("an address that holds too much of messages that aren't whole loses the connection that brings more", async (t) => {
  const faults: string[] = [];
  const listener = new Listener({
    host: "127.0.0.1",
    port: 0,
    tls: undefined,
    shares: {
      proxies: NO_PROXIES,
      connections: sharesOf(100),
      bytes: sharesOf(1_000),
      onRefused: () => undefined,
    },
    onFault: (error) => faults.push(error.message),
    serve: async ({ socket, chunks, held }) => {
      let bytes = 0;
      for await (const chunk of chunks) {
        held((bytes += chunk.length));
        socket.write("k");
      }
    },
  });
  await listener.start();
  t.after(() => listener.stop());
  const open = async (bytes: number): Promise<Socket> => {
    const socket = connect(listener.port, "127.0.0.1");
    t.after(() => socket.destroy());
    socket.on("error", () => undefined);
    socket.write(Buffer.alloc(bytes));
    await once(socket, "data");
    return socket;
  };
  const [large, small] = [await open(300), await open(150)];
  const ended = new Promise((resolve) => large.once("close", resolve));
  large.write(Buffer.alloc(200));
  await ended;
  // What it held is free again.
  const third = await open(300);
  assert.deepEqual([small.closed, third.closed], [false, false]);
  assert.match(faults.join(), /450 bytes are held for you, of 1000 for all users/);
});

for (const [name, whole] of [
  ["tcp", ["one\n", "two\n", "part\n", "three\n"]],
  ["syslog", ["one\n", "two\n", "part\n", "three\n"]],
  ["gelf", ["one", "two", "part", "three"].map((text) => `{"short_message":"${text}"}\0`)],
  ["relp", ["one", "two", "part", "three"].map((text, at) => `${at + 1} syslog ${text.length} ${text}\n`)],
] as const) {
  test(`${name} sends what is whole before a connection ends that may hold no more, and tags what is cut`, async (t) => {
    const world = new InputWorld();
    world.shares = { ...world.shares, bytes: sharesOf(100) };
    const { socket } = await start(t, name, "", world);
    socket.on("error", () => undefined).resume();
    const ended = new Promise((resolve) => socket.once("close", resolve));
    const [one = "", two = "", part = "", three = ""] = whole;
    socket.write(one + two + part.slice(0, 3));
    await world.until(2);
    const rest = name === "relp" ? `5 syslog 99 ${"x".repeat(60)}` : "x".repeat(70);
    socket.write(part.slice(3) + three + rest);
    await ended;
    assert.deepEqual(world.messages.slice(0, 4), ["one", "two", "part", "three"]);
    const tags = world.sent.slice(4).map(({ event }) => event.fields["tags"] as string[]);
    assert.deepEqual(
      tags.map((some) => some.includes("line_cut")),
      name === "relp" ? [] : [true],
    );
  });
}

test("an address that has too many connections gets no more", async (t) => {
  const connections = sharesOf(8);
  const refused: string[] = [];
  const listener = new Listener({
    host: "127.0.0.1",
    port: 0,
    tls: undefined,
    shares: {
      proxies: NO_PROXIES,
      connections,
      bytes: sharesOf(1_000),
      onRefused: (address) => refused.push(address),
    },
    onFault: () => undefined,
    serve: async ({ socket, chunks }) => {
      socket.write("k");
      for await (const chunk of chunks) socket.write(chunk);
    },
  });
  await listener.start();
  t.after(() => listener.stop());
  const open = (): Socket => {
    const socket = connect(listener.port, "127.0.0.1").on("error", () => undefined);
    t.after(() => socket.destroy());
    return socket;
  };
  const held = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const socket = open();
      await once(socket, "data");
      return socket;
    }),
  );
  await once(open().resume(), "close");
  assert.deepEqual([connections.taken, connections.refused, refused], [4, 1, ["127.0.0.1"]]);
  held[0]!.destroy();
  while (connections.taken > 3) await new Promise((resolve) => setImmediate(resolve));
  await once(open(), "data");
});

for (const name of ["tcp", "syslog"]) {
  test(`${name} counts the connections of a load balancer by who sends, and what these hold`, async (t) => {
    const world = new InputWorld();
    const connections = sharesOf(10);
    const bytes = sharesOf(1_000);
    const refused: string[] = [];
    world.shares = { proxies: NO_PROXIES, connections, bytes, onRefused: (address) => refused.push(address) };
    const { port, socket } = await start(t, name, "proxy_protocol => true", world);
    const say = (from: Socket, ip: string): void =>
      void from.on("error", () => undefined).write(`PROXY TCP4 ${ip} 198.51.100.1 5678 443\r\nline\nrest`);
    const open = (ip: string): Socket => {
      const opened = connect(port, "127.0.0.1").resume();
      t.after(() => opened.destroy());
      say(opened, ip);
      return opened;
    };
    say(socket, "192.0.2.1");
    await world.until(1);
    for (let count = 2; count <= 6; count++) {
      open(`192.0.2.${count % 2}`);
      await world.until(count);
    }
    // Each of the two addresses has three of ten: with a fourth it would have more than what stays free.
    await once(open("192.0.2.1"), "close");
    assert.deepEqual(refused, ["192.0.2.1"]);
    assert.deepEqual(
      ["127.0.0.1", "192.0.2.0", "192.0.2.1"].map((ip) => connections.heldBy(ip)),
      [0, 3, 3],
    );
    assert.equal(bytes.heldBy("127.0.0.1"), 0);
    socket.destroy();
    while (connections.taken > 5) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(connections.heldBy("192.0.2.1"), 2);
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
  const { world, socket } = await start(t, "forward");
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
  // Packed entries that are written as a text, with a time that isn't UTF-8.
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
  const { world, socket } = await start(t, "forward");
  const entries = [1, 2].map((n) => [1_700_000_000 + n, { log: `line ${n}` }]);
  socket.write(encode(["app", 1_700_000_000, { log: "before" }]));
  socket.write(encode(["app", entries, { chunk: "c1" }]));
  assert.deepEqual(decode(await received(socket)), { ack: "c1" });
  const { socket: second } = await start(t, "forward", "", world);
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
    const { world, socket } = await start(t, "forward", more);
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
