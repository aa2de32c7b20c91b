import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { plainCodec } from "#hub/pipeline/plugins/codecs/plain.ts";
import { JournalExportReader } from "#hub/pipeline/plugins/inputs/stream/journal-export.ts";
import { Listener } from "#hub/pipeline/plugins/inputs/stream/listener.ts";
import { StreamSession } from "#hub/pipeline/plugins/inputs/stream/stream-session.ts";
import { FairShares } from "#proto/kit/fair-shares.ts";
import { TrustedProxies } from "#proto/kit/net/trusted-proxies.ts";
import { InputWorld } from "#test/contract/input-runner.ts";
import { replaceMethod } from "#test/support/kit/replaced-method.ts";
import { connectInput, received } from "#test/support/pipeline/listening-input.ts";
import { RelpReader } from "./relp.ts";

const NO_PROXIES = new TrustedProxies([]);

const sharesOf = (limit: number): FairShares =>
  new FairShares({ limit, what: "bytes are held", remedy: "send it again" });

const LINE = "<34>1 2024-05-01T10:00:00Z web-3 su 7 - - hello";

test("relp answers each message when it is in the log, and the end of the session", async (t) => {
  const { world, socket } = await connectInput(t, "relp");
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
  const { world, port, socket, input } = await connectInput(t, "relp");
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
  const { world, socket } = await connectInput(t, "relp");
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
  const { world, socket } = await connectInput(t, "relp");
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

export const counted: Reader = () => {
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
    const { socket } = await connectInput(t, name, "", world);
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
    const { port, socket } = await connectInput(t, name, "proxy_protocol => true", world);
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
