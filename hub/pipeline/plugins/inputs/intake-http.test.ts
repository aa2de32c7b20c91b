import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { type TestContext, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { queryObjects } from "node:v8";
import {
  brotliCompressSync,
  constants,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from "node:zlib";
import { FairShares } from "#proto/kit/fair-shares.ts";
import { TrustedProxies } from "#proto/kit/net/trusted-proxies.ts";
import { MIB } from "#proto/kit/units.ts";
import { InputWorld, plain } from "#test/contract/input-runner.ts";
import { freePort } from "#test/harness/free-ports.ts";

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly retryAfter?: string;
}

async function start(t: TestContext, name: string, more = "", world = new InputWorld()) {
  const port = await freePort();
  const input = world.make(`${name} { port => ${port} host => "127.0.0.1" ${more} }`);
  await input.start();
  const stop = (): Promise<void> => input.stop();
  t.after(stop);
  const ask = async (path: string, init: RequestInit): Promise<Answer> => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, init);
    const retryAfter = answer.headers.get("retry-after");
    return {
      status: answer.status,
      text: await answer.text(),
      ...(retryAfter !== null && { retryAfter }),
    };
  };
  const post = (path: string, body: string | Buffer, headers = {}): Promise<Answer> =>
    ask(path, { method: "POST", body: body as string, headers });
  return { world, ask, post, port, stop };
}

test("requests through a trusted proxy are charged to the client that it names, others to whom they come from", async (t) => {
  for (const [proxies, client] of [
    [["127.0.0.0/8"], "198.51.100.9"],
    [["10.0.0.0/8"], "127.0.0.1"],
  ] as const) {
    const world = new InputWorld();
    const bytes = new FairShares({ limit: MIB, what: "bytes are being taken", remedy: "wait" });
    const charged: string[] = [];
    t.mock.method(bytes, "take", (owner: string) => void charged.push(owner));
    world.shares = { ...world.shares, bytes, proxies: new TrustedProxies(proxies) };
    const { post } = await start(t, "http", "", world);
    const forwarded = { "x-forwarded-for": "203.0.113.1, 198.51.100.9" };
    assert.equal((await post("/", "line", forwarded)).status, 200);
    assert.deepEqual([...new Set(charged)], [client]);
    const [first] = world.sent;
    assert.deepEqual((plain(first!.event) as { host: unknown }).host, { ip: client });
    const { connections } = world.shares;
    assert.equal(connections.heldBy("127.0.0.1"), client === "127.0.0.1" ? connections.taken : 0);
  }
});

const JSON_TYPE = { "content-type": "application/json" };
const NANOS = "1700000000123456789";

test("loki takes streams as JSON, with labels, metadata and names by ECS", async (t) => {
  const { world, post } = await start(t, "loki");
  const push = {
    streams: [
      {
        stream: { service_name: "shop", filename: "/var/log/shop.log", job: "j" },
        values: [
          [NANOS, "one"],
          [NANOS, "two", { trace_id: "t1", detected_level: "warn" }],
        ],
      },
    ],
  };
  const body = JSON.stringify(push);
  assert.equal((await post("/loki/api/v1/push", body, { ...JSON_TYPE, "x-scope-orgid": "a" })).status, 204);
  const packed = { ...JSON_TYPE, "content-encoding": "gzip" };
  assert.equal((await post("/loki/api/v1/push", gzipSync(body), packed)).status, 204);
  assert.deepEqual(world.messages, ["one", "two", "one", "two"]);
  assert.equal(world.sent[0]!.event.timeMs, 1_700_000_000_123);
  assert.deepEqual(plain(world.sent[1]!.event), {
    message: "two",
    labels: push.streams[0]!.stream,
    attributes: { trace_id: "t1", detected_level: "warn" },
    loki: { tenant: "a" },
    service: { name: "shop" },
    log: { file: { path: "/var/log/shop.log" }, level: "warn" },
  });
});

test("what a body unpacks to is charged to its sender's address, and given back", async (t) => {
  const world = new InputWorld();
  const bytes = new FairShares({ limit: 2_000, what: "bytes are held", remedy: "send it again" });
  world.shares = { ...world.shares, bytes };
  const { post } = await start(t, "loki", "", world);
  const lines = (count: number): Buffer =>
    gzipSync(JSON.stringify({ streams: [{ stream: {}, values: Array(count).fill([NANOS, "x"]) }] }));
  const packed = { ...JSON_TYPE, "content-encoding": "gzip" };
  const refused = await post("/loki/api/v1/push", lines(100), packed);
  assert.deepEqual([refused.status, refused.retryAfter], [429, "1"]);
  assert.equal((await post("/loki/api/v1/push", lines(10), packed)).status, 204);
  assert.deepEqual([world.sent.length, bytes.taken, bytes.refused], [10, 0, 1]);
});

/** The best packing of so much takes seconds. */
const FAST = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

for (const [encoding, pack] of [
  ["gzip", gzipSync],
  ["deflate", deflateSync],
  ["br", (bytes: Buffer) => brotliCompressSync(bytes, FAST)],
  ["zstd", zstdCompressSync],
] as const)
  test(`a body of ${encoding} that unpacks beyond the limit is refused, and its bytes are given back`, async (t) => {
    const { world, post } = await start(t, "loki");
    const bomb = pack(Buffer.alloc(25 * MIB, " "));
    assert.ok(bomb.length < MIB / 4);
    const answer = await post("/loki/api/v1/push", bomb, { ...JSON_TYPE, "content-encoding": encoding });
    assert.equal(answer.status, 413);
    assert.deepEqual([world.sent.length, world.shares.bytes.taken], [0, 0]);
  });

test("bodies are unpacked by all names and forms of their encodings", async (t) => {
  const { world, post } = await start(t, "http", 'codec => "plain"');
  const framed = Buffer.from("\xff\x06\0\0sNaPpY\x01\x05\0\0CRC!x", "latin1");
  for (const [encoding, body] of [
    ["GZIP", gzipSync("x")],
    ["x-gzip", gzipSync("x")],
    ["zlib", deflateSync("x")],
    ["zstd", Buffer.concat([zstdCompressSync(""), zstdCompressSync("x")])],
    ["deflate", deflateRawSync("x")],
    ["snappy", Buffer.from([1, 0, 0x78])],
    ["snappy", framed],
    ["x-snappy-framed", framed],
    ["", Buffer.from("x")],
  ] as const)
    assert.equal((await post("/", body, { "content-encoding": encoding })).status, 200, encoding);
  assert.deepEqual(world.messages, Array(9).fill("x"));
});

test("a body in chunks of single bytes is kept in few pieces", async (t) => {
  const { world, port } = await start(t, "loki");
  // It would say that counting objects is experimental.
  t.mock.method(process, "emitWarning", () => undefined);
  const arrays = (): number => queryObjects(Uint8Array, { format: "count" });
  const before = arrays();
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.write("POST /loki/api/v1/push HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  socket.write("1\r\n \r\n".repeat(20_000));
  while (world.shares.bytes.taken < 20_000) await turn();
  const kept = arrays() - before;
  socket.destroy();
  assert.ok(kept < 2_000, `${kept} arrays`);
});

test("an input that stops answers what it has taken, and lets its sender know that no more may come", async (t) => {
  const { world, port, stop } = await start(t, "http", 'codec => "plain"');
  const release = world.fill();
  const sender = request({ port, host: "127.0.0.1", method: "POST", agent: new Agent({ keepAlive: true }) });
  sender.end("x");
  await world.untilHeld();
  const stopped = stop();
  release();
  const [answer] = (await once(sender, "response")) as [IncomingMessage];
  assert.deepEqual([answer.statusCode, answer.headers.connection], [200, "close"]);
  answer.resume();
  await stopped;
  assert.deepEqual(world.messages, ["x"]);
});

test("a body that doesn't end keeps no input from stopping", async (t) => {
  const { world, port, stop } = await start(t, "loki");
  const socket = connect(port, "127.0.0.1");
  t.after(() => socket.destroy());
  socket.on("error", () => undefined);
  socket.write("POST /loki/api/v1/push HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf");
  while (world.shares.bytes.taken === 0) await turn();
  await stop();
  assert.equal(world.shares.bytes.taken, 0);
});

/** A PushRequest of one stream `{job="j"}` with the line `hi` at 5 s, packed by snappy as one literal. */
const STREAM = Buffer.concat([
  Buffer.from([0x0a, 0x15, 0x0a, 0x09]),
  Buffer.from('{job="j"}'),
  Buffer.from([0x12, 0x08, 0x0a, 0x02, 0x08, 0x05, 0x12, 0x02]),
  Buffer.from("hi"),
]);
const PACKED = Buffer.concat([Buffer.from([STREAM.length, (STREAM.length - 1) << 2]), STREAM]);

test("otlp names the records that it leaves out, and takes the others", async (t) => {
  const { world, post } = await start(t, "otlp");
  const send = (logRecords: unknown[]): Promise<Answer> =>
    post("/v1/logs", JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }), JSON_TYPE);
  const record = { body: { stringValue: "one" } };
  assert.deepEqual(await send([record]), { status: 200, text: "{}" });
  const { status, text } = await send([record, 7, null]);
  assert.equal(status, 200);
  assert.deepEqual(JSON.parse(text), {
    partialSuccess: { rejectedLogRecords: "2", errorMessage: "2 members of logRecords aren't records" },
  });
  assert.deepEqual(world.messages, ["one", "one"]);
});

test("otlp keeps decimals without a fraction, as they may be the first of their field", async (t) => {
  const { world, post } = await start(t, "otlp");
  const attributes = '[{"key":"a","value":{"doubleValue":30}},{"key":"b","value":{"intValue":"30"}}]';
  const body = `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"severityNumber":9.0,"attributes":${attributes}}]}]}]}`;
  await post("/v1/logs", body, JSON_TYPE);
  const { fields } = world.sent[0]!.event;
  assert.equal(JSON.stringify(fields["attributes"]), '{"a":30.0,"b":30}');
  assert.deepEqual((fields["log"] as { level: unknown }).level, "info");
});

test("otlp and loki take times that are written as decimals", async (t) => {
  for (const [protocol, path, body] of [
    ["otlp", "/v1/logs", '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":1.7e18}]}]}]}'],
    ["loki", "/loki/api/v1/push", '{"streams":[{"stream":{},"values":[[1.7e+18,"a"]]}]}'],
  ] as const) {
    const { world, post } = await start(t, protocol);
    await post(path, body, JSON_TYPE);
    assert.equal(world.sent[0]!.event.timeMs, 1_700_000_000_000, protocol);
  }
});

test("otlp takes JSON in the names of the schema, and keeps what is said of the scope", async (t) => {
  const { world, post } = await start(t, "otlp");
  const attributes = [
    { key: "some_key", value: { int_value: "7" } },
    { key: "none", value: {} },
  ];
  const record = {
    time_unix_nano: "1760000000000000000",
    severity_number: "SEVERITY_NUMBER_WARN2",
    body: { kvlist_value: { values: [{ key: "a_b", value: { string_value: "c_d" } }] } },
    trace_id: "5b8efff798038103d269b633813fc60c",
    attributes,
  };
  const scope = { name: "lib", version: "1.2", attributes };
  const body = JSON.stringify({ resource_logs: [{ scope_logs: [{ scope, log_records: [record] }] }] });
  assert.deepEqual(await post("/v1/logs", body, JSON_TYPE), { status: 200, text: "{}" });
  const { event } = world.sent[0]!;
  assert.equal(event.timeMs, 1_760_000_000_000);
  assert.deepEqual(plain(event), {
    body: { a_b: "c_d" },
    log: { level: "warn" },
    attributes: { some_key: 7, none: null },
    scope: { name: "lib", version: "1.2", attributes: { some_key: 7, none: null } },
    trace: { id: "5b8efff798038103d269b633813fc60c" },
  });
});

test("loki reads the escapes of labels as Go writes them", async (t) => {
  const { world, post } = await start(t, "loki");
  const labels = String.raw`{a="\\x41 \x41\a\v", b="\xe4\xb8\xad \U0001f600", c="\q"}`;
  const entries = [{ ts: "2024-01-01T00:00:00Z", line: "a" }];
  const { status } = await post(
    "/api/prom/push",
    JSON.stringify({ streams: [{ labels, entries }] }),
    JSON_TYPE,
  );
  assert.equal(status, 204);
  assert.deepEqual(plain(world.sent[0]!.event)["labels"], {
    a: "\\x41 A\x07\x0b",
    b: "中 😀",
    c: "\\q",
  });
});

test("loki takes JSON of its first interface", async (t) => {
  const { world, post } = await start(t, "loki");
  const entries = [{ ts: "2024-05-01T10:00:00.5Z", line: "a" }, { line: "b" }];
  const body = JSON.stringify({ streams: [{ labels: '{job="j"}', entries }] });
  const answer = await post("/api/prom/push", body, { "content-type": "Application/JSON; charset=utf-8" });
  assert.equal(answer.status, 204);
  assert.deepEqual(plain(world.sent[0]!.event), { message: "a", labels: { job: "j" } });
  assert.equal(world.sent[0]!.event.timeMs, Date.UTC(2024, 4, 1, 10, 0, 0, 500));
  assert.deepEqual(world.messages, ["a", "b"]);
});

test("loki takes protobuf packed by snappy, whether a header says so or not", async (t) => {
  const { world, post } = await start(t, "loki");
  const type = { "content-type": "application/x-protobuf" };
  assert.equal((await post("/loki/api/v1/push", PACKED, type)).status, 204);
  assert.equal(
    (await post("/loki/api/v1/push", PACKED, { ...type, "content-encoding": "snappy" })).status,
    204,
  );
  assert.deepEqual(
    world.sent.map(({ event }) => [event.timeMs, plain(event)]),
    Array(2).fill([5000, { message: "hi", labels: { job: "j" } }]),
  );
});

/** A message of protobuf that holds empty ones as its field `field`, in messages of the fields `around`. */
function emptyParts(count: number, field: number, around: readonly number[]): Buffer {
  let bytes = Buffer.alloc(2 * count, Buffer.from([(field << 3) | 2, 0]));
  for (const outer of around) {
    const head = [(outer << 3) | 2];
    let { length } = bytes;
    for (; length > 127; length = Math.floor(length / 128)) head.push((length % 128) | 128);
    bytes = Buffer.concat([Buffer.from([...head, length]), bytes]);
  }
  return bytes;
}

const MANY: readonly (readonly [input: string, path: string, body: () => Buffer, type: string])[] = [
  ["loki", "/loki/api/v1/push", () => emptyParts(600_000, 2, [1]), "application/x-protobuf"],
  ["otlp", "/v1/logs", () => emptyParts(260_000, 2, [2, 1]), "application/x-protobuf"],
  [
    "loki",
    "/loki/api/v1/push",
    () => Buffer.from(`{"streams":[{"stream":{},"values":[${'["1",""],'.repeat(260_000)}["1",""]]}]}`),
    "application/json",
  ],
  [
    "otlp",
    "/v1/logs",
    () => Buffer.from(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[${"{},".repeat(260_000)}{}]}]}]}`),
    "application/json",
  ],
  [
    "splunk_hec",
    "/services/collector/event",
    () => Buffer.from('{"event":1}'.repeat(260_000)),
    "application/json",
  ],
  ["splunk_hec", "/services/collector/raw", () => Buffer.from("a\n".repeat(260_000)), "text/plain"],
];

for (const [input, path, body, type] of MANY) {
  test(`${input} refuses countless events in one request at ${path} (${type}) for good`, async (t) => {
    const { world, post } = await start(t, input);
    const bytes = Buffer.from(body());
    // In protobuf Loki takes snappy.
    const isPacked = input !== "loki" || type === "application/json";
    const headers = { "content-type": type, ...(isPacked && { "content-encoding": "gzip" }) };
    const sent: Buffer = isPacked ? gzipSync(bytes) : snappyOf(bytes);
    assert.equal((await post(path, sent, headers)).status, 413);
    assert.equal(world.sent.length, 0);
  });
}

/** Packs bytes as literals (github.com/google/snappy, format_description.txt). */
function snappyOf(bytes: Buffer): Buffer {
  const length = [];
  let left = bytes.length;
  for (; left > 127; left = Math.floor(left / 128)) length.push((left % 128) | 128);
  const parts: Buffer[] = [Buffer.from([...length, left])];
  for (let from = 0; from < bytes.length; from += 65_536) {
    const part = bytes.subarray(from, from + 65_536);
    const head = Buffer.from([61 << 2, 0, 0]);
    head.writeUInt16LE(part.length - 1, 1);
    parts.push(head, part);
  }
  return Buffer.concat(parts);
}

const NESTED = `${"[".repeat(8_000)}${"]".repeat(8_000)}`;

for (const [input, path, body] of [
  ["loki", "/loki/api/v1/push", `{"streams":[{"stream":{"a":${NESTED}},"values":[["1","a"]]}]}`],
  [
    "otlp",
    "/v1/logs",
    `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":${NESTED}}}]}]}]}`,
  ],
  ["splunk_hec", "/services/collector/event", `{"event":{"a":${NESTED}}}`],
] as const) {
  test(`${input} refuses for good what nests too deep`, async (t) => {
    const { world, post } = await start(t, input);
    assert.equal((await post(path, body, JSON_TYPE)).status, 400);
    assert.equal(world.sent.length, 0);
  });
}

test("loki refuses for good what isn't a push, and tells a sender to come back while the log is away", async (t) => {
  const { world, post } = await start(t, "loki");
  for (const body of ["{}", "nope", '{"streams":[{"stream":{}}]}', '{"streams":[{"values":[["1"]]}]}'])
    assert.equal((await post("/loki/api/v1/push", body, JSON_TYPE)).status, 400, body);
  assert.equal((await post("/loki/api/v1/push", Buffer.from([9, 9]), {})).status, 400);
  world.refuseAfter(0);
  assert.equal((await post("/loki/api/v1/push", PACKED, {})).status, 503);
  assert.equal(world.sent.length, 0);
});

test("splunk_hec takes events one behind the other, and acknowledges those in the log", async (t) => {
  const { world, post } = await start(t, "splunk_hec", 'tokens => ["k"]');
  const headers = { authorization: "Splunk k", "x-splunk-request-channel": "c1" };
  const body =
    '{"event":"a {\\"","time":1700000000.5,"host":"web-1","source":"s","sourcetype":"st"}{"event":{"message":"b","n":1},"fields":{"team":"x"}}\n\n[{"event":{"line":"c","tag":"t"}}]';
  const path = "/services/collector/event";
  assert.equal((await post(path, body)).status, 401);
  const { status, text } = await post(path, body, headers);
  const { ackId, ...answer } = JSON.parse(text) as { ackId: number };
  assert.deepEqual([status, answer], [200, { text: "Success", code: 0 }]);
  assert.deepEqual(
    world.sent.map(({ event }) => plain(event)),
    [
      { message: 'a {"', host: { name: "web-1" }, splunk: { source: "s", sourcetype: "st" } },
      { message: "b", n: 1, team: "x" },
      { message: "c", line: "c", tag: "t" },
    ],
  );
  assert.equal(world.sent[0]!.event.timeMs, 1_700_000_000_500);
  const acks = async (ids: number[]): Promise<unknown> =>
    JSON.parse(
      (await post("/services/collector/ack?channel=c1", JSON.stringify({ acks: ids }), headers)).text,
    );
  assert.deepEqual(await acks([ackId, ackId + 1]), { acks: { [ackId]: true, [ackId + 1]: false } });
  assert.deepEqual(await acks([ackId - 5_000]), { acks: { [ackId - 5_000]: true } }, "of an earlier run");
  const raw = "/services/collector/raw?channel=c1&host=h&sourcetype=st&time=5";
  assert.match((await post(raw, "x\r\ny\n", headers)).text, /"ackId":\d+/);
  assert.deepEqual(plain(world.sent[4]!.event), {
    message: "y",
    host: { name: "h" },
    splunk: { sourcetype: "st" },
  });
});

test("splunk_hec takes what Splunk's libraries and transports over them make of a log call", async (t) => {
  const { world, post } = await start(t, "splunk_hec");
  const events = [
    { message: "text", severity: "INFO" },
    { message: { temperature: "70F", chickens: 500 }, severity: "info" },
    { message: { msg: "text", meta: { n: 7 } }, severity: "warn" },
  ];
  await post("/services/collector/event/1.0", events.map((event) => JSON.stringify({ event })).join(""));
  assert.deepEqual(
    world.sent.map(({ event }) => plain(event)),
    [
      { message: "text", severity: "INFO", log: { level: "info" } },
      { temperature: "70F", chickens: 500, severity: "info", log: { level: "info" } },
      { message: "text", meta: { n: 7 }, severity: "warn", log: { level: "warn" } },
    ],
  );
});

test("splunk_hec takes times in seconds, ms and ns", async (t) => {
  const { world, post } = await start(t, "splunk_hec");
  const times = [
    "1700000000.5",
    '"1700000000.5"',
    "1700000000500",
    "1700000000500.0",
    '"1700000000500000000"',
  ];
  await post("/services/collector", times.map((time) => `{"event":"a","time":${time}}`).join(""));
  assert.deepEqual(
    world.sent.map(({ event }) => event.timeMs),
    Array(5).fill(1_700_000_000_500),
  );
});

test("splunk_hec takes what Splunk exports of a search as JSON, by rows and as a whole", async (t) => {
  const { world, post } = await start(t, "splunk_hec");
  const row = {
    _raw: "10:00 paid",
    _time: "2026-11-20T10:00:00.250+01:00",
    _cd: "1:2",
    host: "web-1",
    source: "/var/log/app.log",
    sourcetype: "app",
    index: "main",
    linecount: "1",
  };
  const rows = [
    { preview: true, offset: 0, result: row },
    { preview: false, offset: 0, result: row },
    { preview: false, lastrow: true },
  ];
  const whole = { preview: false, init_offset: 0, messages: [], fields: [{ name: "_raw" }], results: [row] };
  const table = { preview: false, offset: 0, lastrow: true, result: { status: "500", count: "3" } };
  for (const body of [rows.map((each) => JSON.stringify(each)).join("\n"), whole, table])
    assert.equal(
      (await post("/services/collector", typeof body === "string" ? body : JSON.stringify(body))).status,
      200,
    );
  const paid = {
    message: "10:00 paid",
    host: { name: "web-1" },
    splunk: { source: "/var/log/app.log", sourcetype: "app", index: "main" },
  };
  assert.deepEqual(
    world.sent.map(({ event }) => plain(event)),
    [paid, paid, { status: "500", count: "3" }],
  );
  assert.equal(world.sent[1]!.event.timeMs, Date.UTC(2026, 10, 20, 9, 0, 0, 250));
  for (const body of ['{"preview":false}', '{"preview":false,"results":[1]}', '{"result":{"_raw":"a"}}'])
    assert.equal((await post("/services/collector", body)).status, 400, body);
});

test("splunk_hec answers the question whether it is a collector, as Docker's log driver asks it", async (t) => {
  const { ask, world } = await start(t, "splunk_hec", 'tokens => ["k"]');
  const question = { method: "OPTIONS", body: '{"event":"x"}' };
  assert.equal((await ask("/services/collector/event/1.0", question)).status, 200);
  assert.match((await ask("/services/collector/health", {})).text, /"code":17/);
  assert.equal((await ask("/services/collector", {})).status, 401);
  const headers = { authorization: "Splunk k" };
  assert.equal((await ask("/services/collector", { headers })).status, 405);
  assert.equal(world.sent.length, 0);
});

test("splunk_hec refuses with a code, by which Splunk's libraries go alone", async (t) => {
  const { post, world } = await start(t, "splunk_hec", 'tokens => ["k"] max_content_length => 100');
  const path = "/services/collector/event";
  const unknown = await post(path, '{"event":"a"}', { authorization: "Splunk x" });
  assert.deepEqual([unknown.status, JSON.parse(unknown.text).code], [401, 4]);
  const headers = { authorization: "Splunk k" };
  const long = await post(path, `{"event":"${"a".repeat(200)}"}`, headers);
  assert.deepEqual([long.status, JSON.parse(long.text).code], [413, 27]);
  const odd = await post(path, '{"event":"a"}', { ...headers, "content-encoding": "odd" });
  assert.deepEqual([odd.status, JSON.parse(odd.text).code], [400, 6]);
  const astray = await post("/services/events", '{"event":"a"}', headers);
  assert.deepEqual([astray.status, JSON.parse(astray.text).code], [404, 6]);
  assert.match(JSON.parse(astray.text).text, /POST \/services\/collector\/event$/);
  assert.equal(world.sent.length, 0);
});

test("splunk_hec names the event at fault and takes none of its request", async (t) => {
  const { world, post } = await start(t, "splunk_hec");
  for (const [body, status, text] of [
    ['{"event":"a"}{"no":1}', 400, /"text":"Event field is required","code":12,"invalid-event-number":1/],
    ['{"event":"a"}{"event":""}', 400, /"Event field cannot be blank","code":13,"invalid-event-number":1/],
    ['{"event":"a"} nope', 400, /"invalid-event-number":1/],
    ['{"event":"a', 400, /"invalid-event-number":0/],
    ['"a"', 400, /"code":6/],
    ["", 400, /"code":5/],
  ] as const) {
    const answer = await post("/services/collector", body);
    assert.equal(answer.status, status, body);
    assert.match(answer.text, text);
  }
  world.refuseAfter(0);
  assert.match((await post("/services/collector", '{"event":"a"}')).text, /"code":9/);
  assert.equal(world.sent.length, 0);
});

test("intake takes each protocol at its path and lists them for another", async (t) => {
  const { world, post } = await start(t, "intake");
  await post(
    "/v1/logs",
    '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"o"}}]}]}]}',
    JSON_TYPE,
  );
  await post("/loki/api/v1/push", PACKED);
  await post("/services/collector", '{"event":"s"}');
  assert.deepEqual(world.messages, ["o", "hi", "s"]);
  const { status, text } = await post("/_bulk", "{}");
  assert.equal(status, 404);
  assert.match(text, /\/v1\/logs\n.*\/loki\/api\/v1\/push\n.*\/services\/collector\/event\n$/s);
});
