import assert from "node:assert/strict";
import { test } from "node:test";
import { COMBINED, own, run } from "#test/support/pipeline/run-default-pipeline.ts";

process.env["TZ"] = "UTC";

const READ_TIME = "2026-11-21T01:02:03.004Z";

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
    "an access line whose request isn't HTTP",
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
    "an access line of 29 February in a year without one is plain",
    '10.0.0.1 - - [29/Feb/2023:00:00:00 +0000] "GET / HTTP/1.1" 200 5',
    { "@timestamp": READ_TIME, message: '10.0.0.1 - - [29/Feb/2023:00:00:00 +0000] "GET / HTTP/1.1" 200 5' },
  ],
  [
    "the offset of a plain line's time may have hours alone",
    "2026-11-20 14:05:06.25+01 [7] LOG: ready",
    { "@timestamp": "2026-11-20T13:05:06.250Z", message: "2026-11-20 14:05:06.25+01 [7] LOG: ready" },
  ],
  [
    "a number behind a time isn't an offset",
    "2026-11-20 14:05:06-12x",
    { "@timestamp": "2026-11-20T14:05:06.000Z", message: "2026-11-20 14:05:06-12x" },
  ],
  [
    "29 February of a year without one isn't a time",
    "2023-02-29T10:00:00Z started",
    { "@timestamp": READ_TIME, message: "2023-02-29T10:00:00Z started" },
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
  [
    "a JSON line whose time and level are decimals without a fraction",
    '{"level":50.0,"time":1714557600.0}',
    {
      "@timestamp": "2024-05-01T10:00:00.000Z",
      message: '{"level":50.0,"time":1714557600.0}',
      level: 50,
      time: 1714557600,
      log: { level: "error" },
    },
  ],
  [
    "a JSON line with decimals where Tailrace has objects",
    '{"host":30.0,"log":3.0}',
    {
      "@timestamp": READ_TIME,
      message: '{"host":30.0,"log":3.0}',
      json: { host: 30, log: 3 },
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
    "bytes that aren't UTF-8",
    Buffer.from([0x61, 0xff, 0xc3, 0x28, 0x00]),
    { "@timestamp": READ_TIME, message: "a\ufffd\ufffd(\u0000", tags: ["invalid_utf8"] },
  ],
];

for (const [name, line, expected] of ROWS) {
  test(`${name} becomes the document meant for it`, () => assert.deepEqual(own(line), expected));
}

test("integers beyond 2^53 and decimals without a fraction are kept as they are written, merged or not", () => {
  for (const n of ["12345678901234567890", "30.0"])
    for (const more of ["", ',"host":{"ip":"x"}']) {
      const { bytes } = run(`{"n":${n}${more}}\n`).packed.documents;
      assert.match(Buffer.from(bytes).toString(), new RegExp(`"n":${n}[,}]`));
    }
});
