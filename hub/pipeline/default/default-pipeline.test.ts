import assert from "node:assert/strict";
import { test } from "node:test";
import type { Interval } from "#proto/kit/interval-set.ts";
import { COMBINED, run } from "#test/support/pipeline/run-default-pipeline.ts";

process.env["TZ"] = "UTC";

test("a carriage return is cut before a newline only, an empty line makes no event, a hole of NULs is passed over", () => {
  const { packed, documents } = run("a\r\n\r\n\nb\rc\n\0\0\0d\n");
  assert.deepEqual(
    documents.map(({ message }) => message),
    ["a", "b\rc", "d"],
  );
  assert.deepEqual([...packed.documents.offsets!], [0, 6, 13]);
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
  assert.deepEqual([...packed.documents.offsets!], [103, 109]);
  assert.deepEqual([...packed.documents.ordinals!], [256, 768]);
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
  assert.deepEqual([...packed.documents.timesMs!], [Date.UTC(2020, 0, 1), Date.UTC(2026, 2, 27, 13, 6, 56)]);
  const { message, k, log } = documents[0]!;
  assert.deepEqual([message, k, log], ["m1", 2, { offset: 0, x: 1 }]);
  assert.deepEqual(packed.documents.indexNames, ["logs-2020.01.01", "logs-2026.03.27"]);
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

test("a host that a JSON line names is the document's only host name", () => {
  for (const line of ['{"host.name":"web-3","a":1}', '{"host":{"name":"web-3","os":"x"},"a":1}']) {
    const [document] = run(`${line}\n`).documents;
    const { host, json } = document as { host: { name?: string }; json?: unknown };
    assert.equal(host.name, "web-3");
    assert.deepEqual([document!["host.name"], json], [undefined, undefined]);
  }
});

test("a line of JSON that nests deeper than the stack is kept as text, beside the others of its block", () => {
  const deep = `{"host":{"deep":${"[".repeat(50_000)}1${"]".repeat(50_000)}}}`;
  const { documents } = run(`{"message":"one"}\n${deep}\n{"message":"two"}\n`);
  assert.deepEqual(
    documents.map(({ message }) => message),
    ["one", deep, "two"],
  );
});
