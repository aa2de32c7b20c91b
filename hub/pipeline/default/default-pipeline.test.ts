import assert from "node:assert/strict";
import { test } from "node:test";
import { jsonShape } from "#proto/codec/json-shape.ts";
import type { Interval } from "#proto/kit/interval-set.ts";
import { DocumentPacker } from "../runtime/packed-documents.ts";
import type { RawMessage } from "../runtime/raw-message.ts";
import { DefaultPipeline } from "./default-pipeline.ts";

process.env["TZ"] = "UTC";

const NOW = Date.UTC(2026, 10, 21, 1, 2, 3, 4);
const clock = { now: () => NOW, monotonic: () => 0, sleep: () => Promise.resolve() };

function rawMessage(data: Buffer, changes: Partial<RawMessage> = {}): RawMessage {
  const from = changes.from ?? 0;
  return {
    agentId: "a-1",
    agentName: "web-1",
    agentVersion: "6.5.0",
    hostName: "host-1",
    fieldsJson: new Uint8Array(),
    sourceKey: "a-1/f/0",
    pipelineId: "",
    sequence: 1,
    inputType: "log",
    path: "/var/log/x.log",
    from,
    readTimeMs: NOW,
    firstLineContinued: false,
    data,
    events: [],
    ranges: [[from, from + data.length]],
    ...changes,
  };
}

function run(data: Buffer | string, changes: Partial<RawMessage> = {}) {
  const out = new DocumentPacker(16);
  new DefaultPipeline("main", clock).process(rawMessage(Buffer.from(data), changes), out);
  const packed = out.pack();
  const documents: Record<string, unknown>[] = [];
  let start = 0;
  for (const [at, end] of packed.ends.entries()) {
    documents.push(JSON.parse(Buffer.from(packed.bytes.subarray(start, end)).toString()));
    // Shapes that are told by the line's form are those that a look at the document gives.
    assert.equal(packed.shapes[at], jsonShape(packed.bytes, start, end));
    start = end;
  }
  return { packed, documents };
}

/** The members that a line itself brings. */
function own(line: Buffer | string, changes: Partial<RawMessage> = {}): Record<string, unknown> {
  const { documents } = run(Buffer.concat([Buffer.from(line), Buffer.from("\n")]), changes);
  assert.equal(documents.length, 1);
  const { host, shipper, input, event, ...rest } = documents[0]!;
  assert.ok(host !== undefined && shipper !== undefined && input !== undefined && event !== undefined);
  const { file, offset, ...log } = rest["log"] as Record<string, unknown>;
  assert.deepEqual([file, offset], [{ path: "/var/log/x.log" }, 0]);
  delete rest["log"];
  return Object.keys(log).length === 0 ? rest : { ...rest, log };
}

const READ_TIME = "2026-11-21T01:02:03.004Z";

const COMBINED =
  '83.149.9.216 - frank [17/May/2015:10:05:03 +0200] "GET /a?b=\\"c HTTP/1.1" 200 203023 "http://e.com/" "Mozilla/5.0 (X11)"';

const ROWS: [name: string, line: Buffer | string, expected: Record<string, unknown>][] = [
  [
    "a line of the combined log",
    COMBINED,
    {
      "@timestamp": "2015-05-17T08:05:03.000Z",
      message: COMBINED,
      source: { address: "83.149.9.216" },
      user: { name: "frank" },
      http: {
        version: "1.1",
        request: { method: "GET", referrer: "http://e.com/" },
        response: { status_code: 200, body: { bytes: 203023 } },
      },
      url: { original: '/a?b=\\"c' },
      user_agent: { original: "Mozilla/5.0 (X11)" },
    },
  ],
  [
    "a line of the common log without a size",
    '::1 - - [01/Jan/2024:00:00:00 +0000] "HEAD / HTTP/2.0" 304 -',
    {
      "@timestamp": "2024-01-01T00:00:00.000Z",
      message: '::1 - - [01/Jan/2024:00:00:00 +0000] "HEAD / HTTP/2.0" 304 -',
      source: { address: "::1" },
      http: { version: "2.0", request: { method: "HEAD" }, response: { status_code: 304 } },
      url: { original: "/" },
    },
  ],
  [
    "an access line whose request is no HTTP",
    '10.0.0.1 - - [01/Jan/2024:00:00:00 +0000] "\\x16\\x03" 400 157 "-" "-"',
    {
      "@timestamp": "2024-01-01T00:00:00.000Z",
      message: '10.0.0.1 - - [01/Jan/2024:00:00:00 +0000] "\\x16\\x03" 400 157 "-" "-"',
      source: { address: "10.0.0.1" },
      http: { response: { status_code: 400, body: { bytes: 157 } } },
    },
  ],
  [
    "an access line with a virtual host",
    'e.com:443 10.0.0.1 - - [29/Feb/2024:23:59:59 -0130] "GET /x HTTP/1.1" 200 5 "-" "curl/8"',
    {
      "@timestamp": "2024-03-01T01:29:59.000Z",
      message: 'e.com:443 10.0.0.1 - - [29/Feb/2024:23:59:59 -0130] "GET /x HTTP/1.1" 200 5 "-" "curl/8"',
      source: { address: "10.0.0.1" },
      http: {
        version: "1.1",
        request: { method: "GET" },
        response: { status_code: 200, body: { bytes: 5 } },
      },
      url: { original: "/x", domain: "e.com" },
      user_agent: { original: "curl/8" },
    },
  ],
  [
    "an access line with an impossible day is plain",
    '10.0.0.1 - - [31/Feb/2024:00:00:00 +0000] "GET / HTTP/1.1" 200 5',
    { "@timestamp": READ_TIME, message: '10.0.0.1 - - [31/Feb/2024:00:00:00 +0000] "GET / HTTP/1.1" 200 5' },
  ],
  [
    "a line of syslog, its year that of the last such day",
    "Mar 27 13:06:56 ip-10 sshd[1291]: Server listening on :: port 22.",
    {
      "@timestamp": "2026-03-27T13:06:56.000Z",
      message: "Server listening on :: port 22.",
      process: { name: "sshd", pid: 1291 },
      log: { syslog: { hostname: "ip-10" } },
    },
  ],
  [
    "a line of syslog of last year's December",
    "Dec  9 00:00:01 h kernel: [ 1.5] up",
    {
      "@timestamp": "2025-12-09T00:00:01.000Z",
      message: "[ 1.5] up",
      process: { name: "kernel" },
      log: { syslog: { hostname: "h" } },
    },
  ],
  [
    "a line of syslog without a tag",
    "Nov 20 00:00:01 h last message repeated 3 times",
    {
      "@timestamp": "2026-11-20T00:00:01.000Z",
      message: "last message repeated 3 times",
      log: { syslog: { hostname: "h" } },
    },
  ],
  [
    "a line of syslog with an RFC 3339 time",
    "2024-05-01T10:00:00.123456+02:00 web cron[7]: (root) CMD",
    {
      "@timestamp": "2024-05-01T08:00:00.123Z",
      message: "(root) CMD",
      process: { name: "cron", pid: 7 },
      log: { syslog: { hostname: "web" } },
    },
  ],
  [
    "a line of RFC 5424",
    '<165>1 2003-10-11T22:14:15.003Z m.example.com evnt - ID47 [ex@1 a="b\\]" c="d"][y] \ufeffAn event',
    {
      "@timestamp": "2003-10-11T22:14:15.003Z",
      message: "An event",
      process: { name: "evnt" },
      log: {
        level: "notice",
        syslog: {
          priority: 165,
          facility: { code: 20 },
          severity: { code: 5 },
          version: "1",
          hostname: "m.example.com",
          msgid: "ID47",
          structured_data: { "ex@1": { a: "b]", c: "d" }, y: {} },
        },
      },
    },
  ],
  [
    "a JSON line keeps its members and gives time, level and message",
    '{ "time":"2024-05-01T10:00:00Z","level":"WARN","msg":"hi \\u00e4","a":{"b":[1.0]} }',
    {
      "@timestamp": "2024-05-01T10:00:00.000Z",
      message: "hi ä",
      time: "2024-05-01T10:00:00Z",
      level: "WARN",
      msg: "hi ä",
      a: { b: [1] },
      log: { level: "warn" },
    },
  ],
  [
    "a JSON line of pino, bare of a message",
    '{"level":50,"time":1714557600123}',
    {
      "@timestamp": "2024-05-01T10:00:00.123Z",
      message: '{"level":50,"time":1714557600123}',
      level: 50,
      time: 1714557600123,
      log: { level: "error" },
    },
  ],
  ["an empty JSON line", "{}", { "@timestamp": READ_TIME, message: "{}" }],
  [
    "a JSON line with a time of its own",
    '{"@timestamp":"2024-05-01T10:00:00.5+01:00","message":"m"}',
    { "@timestamp": "2024-05-01T10:00:00.5+01:00", message: "m" },
  ],
  [
    "a JSON line whose members meet Tailrace's",
    '{"host":"db1","log":{"logger":"x"},"tags":["t"],"message":7,"@timestamp":"soon","__proto__":1}',
    {
      "@timestamp": READ_TIME,
      message:
        '{"host":"db1","log":{"logger":"x"},"tags":["t"],"message":7,"@timestamp":"soon","__proto__":1}',
      tags: ["t"],
      json: { host: "db1", message: 7, "@timestamp": "soon" },
      ["__proto__"]: 1,
      log: { logger: "x" },
    },
  ],
  ["a line that only looks like JSON", '{"a":}', { "@timestamp": READ_TIME, message: '{"a":}' }],
  [
    "a line with a leading time and level",
    "2024-05-01 10:00:00,123 [main] ERROR c.x.Y - went wrong",
    {
      "@timestamp": "2024-05-01T10:00:00.123Z",
      message: "2024-05-01 10:00:00,123 [main] ERROR c.x.Y - went wrong",
      log: { level: "error" },
    },
  ],
  [
    "a line of nginx's error log",
    "2024/05/01 10:00:00 [warn] 12#0: low",
    {
      "@timestamp": "2024-05-01T10:00:00.000Z",
      message: "2024/05/01 10:00:00 [warn] 12#0: low",
      log: { level: "warn" },
    },
  ],
  ["a plain line", 'just "text"\t\u0001 \\', { "@timestamp": READ_TIME, message: 'just "text"\t\u0001 \\' }],
  [
    "a word that is a level in passing",
    "an error came",
    { "@timestamp": READ_TIME, message: "an error came" },
  ],
  [
    "bytes that are no UTF-8",
    Buffer.from([0x61, 0xff, 0xc3, 0x28, 0x00]),
    { "@timestamp": READ_TIME, message: "a\ufffd\ufffd(\u0000", tags: ["invalid_utf8"] },
  ],
];

for (const [name, line, expected] of ROWS) {
  test(`${name} becomes the document meant for it`, () => assert.deepEqual(own(line), expected));
}

test("integers beyond 2^53 are kept digit by digit, merged or not", () => {
  for (const line of ['{"n":12345678901234567890}\n', '{"n":12345678901234567890,"host":{"ip":"x"}}\n']) {
    assert.match(Buffer.from(run(line).packed.bytes).toString(), /"n":12345678901234567890[,}]/);
  }
});

test("a carriage return is cut before a newline only, an empty line makes no event, a hole of NULs is passed over", () => {
  const { packed, documents } = run("a\r\n\r\n\nb\rc\n\0\0\0d\n");
  assert.deepEqual(
    documents.map(({ message }) => message),
    ["a", "b\rc", "d"],
  );
  assert.deepEqual([...packed.offsets], [0, 6, 13]);
  assert.deepEqual(packed.counts, { events: 3, emptyLines: 2, nulBytes: 3, invalidUtf8: 0, dropped: 0 });
});

test("parts of a split line are marked and not read as a format", () => {
  const tail = run('10.0.0.1 - - [01/Jan/2024:00:00:00 +0000] "GET / HTTP/1.1" 200 5\nx', {
    firstLineContinued: true,
  });
  assert.deepEqual(
    tail.documents.map(({ log, http }) => [(log as { flags?: string[] }).flags, http]),
    [
      [["continued"], undefined],
      [["open"], undefined],
    ],
  );
});

test("only the ranges asked for are read, and a line's ordinal is its place in the block", () => {
  const text = "l0\nl1\nl2\nl3\nl4\n";
  const ranges: Interval[] = [
    [103, 106],
    [109, 112],
  ];
  const { packed, documents } = run(text, { from: 100, ranges });
  assert.deepEqual(
    documents.map(({ message }) => message),
    ["l1", "l3"],
  );
  assert.deepEqual([...packed.offsets], [103, 109]);
  assert.deepEqual([...packed.ordinals], [256, 768]);
});

test("ranges that tile a block yield each byte once, wherever they are cut", () => {
  const text = "one\ntwo\r\nthree\n\nfour";
  const whole = run(text).documents.map(({ message }) => message);
  for (let cut = 0; cut <= text.length; cut++) {
    const ranges: Interval[] = [
      [0, cut],
      [cut, text.length],
    ].filter(([from, to]) => from! < to!) as [number, number][];
    const parts = run(text, { ranges }).documents.map(({ message }) => message);
    assert.equal(parts.join("").replaceAll("\r", ""), whole.join(""), `cut at ${cut}`);
  }
});

test("fields and tags of the input stand in each document", () => {
  const fieldsJson = Buffer.from('{"fields":{"env":"prod"},"tags":["a","b"]}');
  const [document] = run("x\n", { fieldsJson }).documents;
  assert.deepEqual([document!["fields"], document!["tags"]], [{ env: "prod" }, ["a", "b"]]);
});

test("events that the agent has cut bring their time and fields along", () => {
  const events = [
    {
      offset: 0,
      timeMs: Date.UTC(2020, 0, 1),
      message: Buffer.from("m1"),
      fieldsJson: Buffer.from('{"log":{"x":1},"k":2}'),
    },
    { offset: 1, message: Buffer.from("Mar 27 13:06:56 h p[1]: m2") },
    { offset: 2, message: Buffer.from("outside of the ranges") },
  ];
  const { packed, documents } = run("", { events, ranges: [[0, 2]], path: "" });
  assert.equal(documents.length, 2);
  assert.deepEqual([...packed.timesMs], [Date.UTC(2020, 0, 1), Date.UTC(2026, 2, 27, 13, 6, 56)]);
  const { message, k, log } = documents[0]!;
  assert.deepEqual([message, k, log], ["m1", 2, { offset: 0, x: 1 }]);
  assert.deepEqual(packed.indexNames, ["logs-2020.01.01", "logs-2026.03.27"]);
});

test("random bytes never break a document", () => {
  let seed = 1;
  const random = (limit: number): number => {
    seed = (seed * 1103515245 + 12345) & 0x7fffffff;
    return seed % limit;
  };
  const starts = [
    "",
    "{",
    '{"a":"',
    "1.2.3.4 - - [",
    COMBINED.slice(0, 60),
    "<34>1 ",
    "<13>",
    "Mar 27 13:06:56 h ",
    "2024-01-01T00:00:00Z h ",
  ];
  for (let round = 0; round < 2000; round++) {
    const start = starts[random(starts.length)]!;
    const noise = Buffer.from(Array.from({ length: random(60) }, () => random(256)));
    run(Buffer.concat([Buffer.from(start), noise]));
  }
});

test("lines of all forms in one message have the shapes of their documents", () => {
  const time = "[17/May/2015:10:05:03 +0000]";
  const lines = [
    `10.0.0.1 - - ${time} "GET /a HTTP/1.1" 200 12 "-" "agent"`,
    `10.0.0.1 - - ${time} "GET /a HTTP/1.1" 200 12 "http://from/" "agent"`,
    `10.0.0.1 - ann ${time} "GET /a HTTP/1.1" 304 - "-" "-"`,
    `10.0.0.1 - ann ${time} "GET /a HTTP/1.1" 200 12`,
    `10.0.0.1 - - ${time} "-" 408 - "-" "-"`,
    `shop:80 10.0.0.1 - - ${time} "GET /a HTTP/1.1" 200 12 "-" "agent"`,
    "nothing known",
    "2026-11-21T01:02:03Z ERROR it broke",
    "<34>1 2026-11-21T01:02:03Z host app 12 ID47 - a message",
    "Nov 21 01:02:03 host app[12]: a message",
    '{"level":"warn","message":"a","n":null}',
    '{"level":"warn","message":"a","n":1}',
  ];
  const { documents } = run(`${[...lines, ...lines].join("\n")}\nthe last one`, {
    fieldsJson: Buffer.from('{"fields":{"team":"a"},"tags":["x"]}'),
  });
  assert.equal(documents.length, 2 * lines.length + 1);
});
