import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { encode } from "@msgpack/msgpack";
import { fieldReference } from "#proto/field-reference.ts";
import { InputWorld, plain } from "#test/contract/input-runner.ts";
import { freePort } from "#test/harness/free-ports.ts";
import { DATAGRAMS, sendDatagrams } from "#test/support/kit/send-datagrams.ts";
import { startInput } from "#test/support/pipeline/listening-input.ts";

test("udp makes an event of each datagram", async (t) => {
  const { world, port } = await startInput(
    t,
    (at) => `udp { port => ${at} host => "127.0.0.1" codec => json }`,
  );
  const socket = createSocket("udp4");
  for (const n of [1, 2])
    await new Promise((resolve) => socket.send(`{"n":${n}}`, port, "127.0.0.1", resolve));
  await world.until(2);
  socket.close();
  assert.deepEqual(
    world.sent.map(({ event }) => plain(event)),
    [1, 2].map((n) => ({ n, host: { ip: "127.0.0.1" } })),
  );
});

test("udp drops datagrams while those that wait have too many events", async (t) => {
  const { world, port } = await startInput(
    t,
    (at) => `udp { port => ${at} host => "127.0.0.1" codec => line }`,
  );
  const goOn = world.fill();
  const socket = createSocket("udp4");
  t.after(() => socket.close());
  const payload = "a\n".repeat(30_000);
  const send = () => new Promise((resolve) => socket.send(payload, port, "127.0.0.1", resolve));
  await send();
  await world.untilHeld();
  await send();
  await world.untilFailing(/the log takes them too slowly/);
  assert.equal(world.drops, 1);
  goOn();
  await world.until(30_000);
  assert.equal(world.sent.length, 30_000);
});

test("udp counts what the kernel drops while its buffer is full", {
  skip: process.platform !== "linux" && "only Linux tells what its kernel drops",
}, async (t) => {
  const world = new InputWorld();
  const port = await freePort();
  const input = world.make(`udp { port => ${port} host => "127.0.0.1" receive_buffer_bytes => 4096 }`);
  await input.start();
  t.after(() => input.stop());
  sendDatagrams(port);
  await world.until(1);
  await input.stop();
  assert.ok(world.drops > 300 && world.drops < DATAGRAMS, `${world.drops} dropped`);
});

test("udp takes no harm of datagrams that nest too deep, or whose own fields are in its way", async (t) => {
  const nested = `{"a":${"[".repeat(8_000)}${"]".repeat(8_000)}}`;
  const socket = createSocket("udp4");
  t.after(() => socket.close());
  for (const [codec, payload, expected] of [
    ["json", nested, { message: nested, tags: ["_jsonparsefailure"], host: { ip: "127.0.0.1" } }],
    ["json", '{"host":"web"}', { host: "web" }],
    [
      "es_bulk",
      `{"index":{}}\n${nested}\n`,
      { message: nested, tags: ["_jsonparsefailure"], host: { ip: "127.0.0.1" } },
    ],
  ] as const) {
    const { world, port } = await startInput(
      t,
      (at) => `udp { port => ${at} host => "127.0.0.1" codec => ${codec} }`,
    );
    await new Promise((resolve) => socket.send(payload, port, "127.0.0.1", resolve));
    await world.until(1);
    assert.deepEqual(plain(world.sent[0]!.event), expected);
  }
});

test("http answers when events are in the log, by the body's type, and keeps passwords out of them", async (t) => {
  const { world, port } = await startInput(
    t,
    (at) =>
      `http { port => ${at} host => "127.0.0.1" user => "u" password => "p" max_content_length => 1000 response_code => 202 }`,
  );
  const headers = { authorization: `Basic ${Buffer.from("u:p").toString("base64")}` };
  const post = async (body: string | Buffer, more: Record<string, string> = {}): Promise<number> => {
    const answer = await fetch(`http://127.0.0.1:${port}/path?q=1`, {
      method: "POST",
      body: body as string,
      headers: { ...headers, ...more },
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  assert.equal(await post('[{"a":1},{"a":2}]', { "content-type": "application/json" }), 202);
  assert.equal(await post("plain text", { "content-type": "text/plain" }), 202);
  assert.equal(
    await post(gzipSync('{"a":3}'), {
      "content-type": "application/json; charset=utf-8",
      "content-encoding": "gzip",
    }),
    202,
  );
  assert.equal(await post("x".repeat(1001)), 413);
  assert.equal(await post(gzipSync(Buffer.alloc(100_000)), { "content-encoding": "gzip" }), 413);
  assert.equal(await post("x", { "content-encoding": "gzip" }), 400);
  assert.equal(await post("x", { authorization: "Basic eDp5" }), 401);
  assert.deepEqual(
    world.sent.map(({ event }) => event.fields["a"] ?? event.fields["message"]),
    [1, 2, "plain text", 3],
  );
  const event = plain(world.sent[0]!.event);
  assert.deepEqual([event["host"], (event["url"] as { path: string }).path], [{ ip: "127.0.0.1" }, "/path"]);
  assert.doesNotMatch(JSON.stringify([event, world.sent[0]!.event.metadata]), /Basic/);
});

test("http names headers as existing pipelines read them, and reads bodies in the encoding of their type", async (t) => {
  for (const [ecs, field] of [
    ["disabled", "headers"],
    ["v8", "[@metadata][input][http][request][headers]"],
  ] as const) {
    const { world, port } = await startInput(
      t,
      (at) => `http { port => ${at} host => "127.0.0.1" ecs_compatibility => ${ecs} }`,
    );
    const answer = await fetch(`http://127.0.0.1:${port}/meh.json?q=1`, {
      method: "POST",
      body: Buffer.from('{"msg":"A Coru\u00f1a"}', "latin1"),
      headers: {
        "content-type": "application/json; charset=ISO-8859-1",
        "user-agent": "x",
        "x-forwarded-for": "1.2.3.4",
      },
    });
    assert.equal(await answer.text(), "ok");
    const { event } = world.sent[0]!;
    assert.equal(event.fields["msg"], "A Coruña");
    assert.partialDeepStrictEqual(event.get(fieldReference(field)), {
      content_type: "application/json; charset=ISO-8859-1",
      content_length: "18",
      http_accept: "*/*",
      http_host: `127.0.0.1:${port}`,
      http_user_agent: "x",
      x_forwarded_for: "1.2.3.4",
      request_method: "POST",
      request_path: "/meh.json?q=1",
      http_version: "HTTP/1.1",
    });
    if (ecs === "v8")
      assert.deepEqual(event.fields["url"], { domain: "127.0.0.1", port, path: "/meh.json", query: "q=1" });
  }
});

test("http makes an event of a request without a body, unless its type has a codec that reads none", async (t) => {
  const { world, port } = await startInput(t, (at) => `http { port => ${at} host => "127.0.0.1" }`);
  const url = `http://127.0.0.1:${port}/log?levelname=INFO&msg=a+b`;
  for (const type of ["text/plain", "application/json", "application/x-ndjson"])
    assert.equal((await fetch(url, { headers: { "content-type": type } })).status, 200);
  assert.deepEqual(world.messages, [""]);
  assert.partialDeepStrictEqual(world.sent[0]!.event.fields, {
    http: { request: { method: "GET" } },
    url: { path: "/log", query: "levelname=INFO&msg=a+b" },
  });
});

for (const [codec, type, body] of [
  ['plain { charset => "ISO-8859-1" }', "text/plain; charset=ISO-8859-1", Buffer.from("\u00f1", "latin1")],
  ['plain { charset => "ISO-8859-1" }', "text/plain; charset=utf-8", Buffer.from("\u00f1", "latin1")],
  ["msgpack", "application/msgpack; charset=binary", encode({ message: "\u00f1" })],
  ["plain", "text/plain; charset=ISO-8859-1", Buffer.from("\u00f1", "latin1")],
] as const)
  test(`http reads a body by its type only where the codec reads UTF-8: ${codec}, ${type}`, async (t) => {
    const { world, port } = await startInput(
      t,
      (at) => `http { port => ${at} host => "127.0.0.1" codec => ${codec} }`,
    );
    await fetch(`http://127.0.0.1:${port}/`, {
      method: "POST",
      body: Buffer.from(body),
      headers: { "content-type": type },
    });
    assert.deepEqual(world.messages, ["ñ"]);
  });

test("heartbeat and generator number their events under the name that is asked for", async () => {
  const rows: [input: string, events: object[]][] = [
    [
      "heartbeat { interval => 0.001 count => 2 sequence => sequence }",
      [
        { message: "ok", clock: 1 },
        { message: "ok", clock: 2 },
      ],
    ],
    [
      "heartbeat { interval => 0.001 count => 1 sequence => sequence message => epoch ecs_compatibility => v8 }",
      [{ message: "epoch", event: { sequence: 1 } }],
    ],
    ["heartbeat { count => 1 message => epoch ecs_compatibility => v1 }", [{ message: "epoch" }]],
    [
      'generator { lines => ["a", "b"] count => 2 }',
      [0, 0, 1, 1].map((sequence, place) => ({ message: "ab"[place % 2], event: { sequence } })),
    ],
    [
      "generator { message => line count => 1 ecs_compatibility => disabled }",
      [{ message: "line", sequence: 0 }],
    ],
  ];
  for (const [text, events] of rows) {
    const world = new InputWorld();
    const input = world.make(text);
    await input.start();
    await world.until(events.length);
    await input.stop();
    assert.deepEqual(
      world.sent.map(({ event }) => plain(event)),
      events,
      text,
    );
  }
});

test("heartbeat, pipeline and dead_letter_queue make the events they are told", async () => {
  const beat = new InputWorld();
  const heart = beat.make("heartbeat { interval => 0.001 count => 2 message => sequence }");
  await heart.start();
  await beat.until(2);
  await heart.stop();
  assert.deepEqual(
    beat.sent.map(({ event }) => event.fields["clock"]),
    [1, 2],
  );

  const world = new InputWorld();
  const input = world.make('pipeline { address => "a1" }');
  await input.start();
  const record = (sourceKey: string, place: number) => ({
    sourceKey,
    place,
    body: Buffer.from(`{"p":${place}}`),
    timeMs: 5,
  });
  await world.handlers.get("a1")!([record("s", 7), record("", 0), record("s", 9)]);
  await input.stop();
  assert.deepEqual(
    world.sent.map(({ key, offset, event }) => [key, offset, event.fields["p"]]),
    [
      ["s", 7, 7],
      ["s", 9, 9],
      ["other", undefined, 0],
    ],
  );

  const dead = new InputWorld();
  dead.letters.push(
    { sequence: 3, reason: "old", source: "x", timeMs: 1, data: Buffer.from("{}") },
    {
      sequence: 4,
      reason: "refused",
      source: "elasticsearch",
      timeMs: Date.UTC(2026, 1, 1),
      data: Buffer.from('{"m":1}'),
    },
  );
  const letters = dead.make('dead_letter_queue { start_timestamp => "2026-01-01T00:00:00Z" }');
  await letters.start();
  await dead.until(1);
  await letters.stop();
  assert.deepEqual(plain(dead.sent[0]!.event), { m: 1 });
  assert.equal((dead.sent[0]!.event.metadata["dead_letter_queue"] as { reason: string }).reason, "refused");
  assert.equal(dead.state.get("sequence"), 4);
});
