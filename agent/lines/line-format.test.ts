import assert from "node:assert/strict";
import { test } from "node:test";
import { type LineSettings, lineOptionsOf, lineProperties } from "#agent/inputs/log.ts";
import { convert, Type } from "#proto/kit/schema.ts";
import type { CutEvent, FileView } from "./event-format.ts";
import { jsonDecoderOf } from "./json-line.ts";
import { LineFormat } from "./line-format.ts";

const schema = Type.Object(lineProperties);

function settings(given: object): LineSettings {
  return convert(schema, structuredClone(given)) as LineSettings;
}

function formatOf(given: object, maxBytes = 1_000): LineFormat {
  const options = lineOptionsOf(settings({ on_long: "split", encoding: "utf-8", ...given }));
  assert.ok(options);
  return new LineFormat(options, maxBytes);
}

function view(content: Buffer | string, given: Partial<FileView> = {}): FileView {
  const buffer = Buffer.from(content);
  return {
    buffer,
    start: 0,
    end: buffer.length,
    offset: 0,
    continued: false,
    afterCut: false,
    cuts: [],
    expired: false,
    final: false,
    ...given,
  };
}

/** Returns texts with their flags, and checks that the events tile the bytes. */
function texts(events: Iterable<CutEvent>): string[] {
  let at = 0;
  const found: string[] = [];
  for (const { start, end, message, fieldsJson } of events) {
    assert.equal(start, at);
    at = end;
    const flags = (fieldsJson.length === 0 ? {} : JSON.parse(Buffer.from(fieldsJson).toString())) as {
      log?: { flags?: string[] };
    };
    const cut = (flags.log?.flags ?? []).filter((flag) => flag !== "multiline");
    if (message !== null) found.push([message.toString(), ...cut].join(" #"));
  }
  return found;
}

const AFTER = { "multiline.pattern": "^[[:space:]]" };
const DATE = { "multiline.pattern": "^\\d{4}-", "multiline.negate": true };
const BEFORE = { "multiline.pattern": "\\\\$", "multiline.match": "before" };
const latin = (text: string): Buffer => Buffer.from(text, "latin1");
const swapped = (text: string): Buffer => Buffer.from(text, "utf16le").swap16();

for (const [name, given, content, expected, more] of [
  [
    "include comes before exclude",
    { include_lines: ["a"], exclude_lines: ["b"] },
    "a\nab\nb\nca\n",
    ["a", "ca"],
  ],
  ["a leading (?i) is understood", { include_lines: ["(?i)ERR"] }, "err 1\nok\n", ["err 1"]],
  ["only the line end's carriage return goes", { include_lines: ["."] }, "a\rb\r\nc\r\n", ["a\rb", "c"]],
  ["an unfinished line waits", { include_lines: ["."] }, "a\nb", ["a"]],
  [
    "an unfinished line of a finished file counts",
    { include_lines: ["."] },
    "a\nb",
    ["a", "b #open"],
    { final: true },
  ],
  ["empty lines aren't events", { include_lines: [""] }, "\n\na\n", ["a"]],
  ["a hole of NULs before text is passed over", { include_lines: ["."] }, "\0\0\0a\n", ["a"]],
  ["latin1", { encoding: "latin1" }, latin("äö\nü\n"), ["äö", "ü"]],
  ["gbk", { encoding: "gbk" }, Buffer.from("c4e3bac30a", "hex"), ["你好"]],
  ["shift_jis", { encoding: "sjis" }, Buffer.from("93fa967b0a", "hex"), ["日本"]],
  [
    "utf-16 little endian, with a line feed within a character",
    { encoding: "utf-16le" },
    Buffer.from("a\u0a0ab\nc\n", "utf16le"),
    ["a\u0a0ab", "c"],
  ],
  ["utf-16 big endian", { encoding: "utf-16be" }, swapped("a\u0a0ab\r\nc\n"), ["a\u0a0ab", "c"]],
  ["a terminator of two characters", { line_terminator: "||" }, "a|b||c||d", ["a|b", "c"]],
  ["null_terminator", { line_terminator: "null_terminator" }, "a\nb\0c\0", ["a\nb", "c"]],
  ["lines that match continue the one before", AFTER, "a\n 1\n 2\nb\nc\n 3\n", ["a\n 1\n 2", "b"]],
  ["the last event ends with the time", AFTER, "a\n 1\n", ["a\n 1"], { expired: true }],
  ["a half line waits although the time is over", AFTER, "a\n 1\n 2", ["a\n 1"], { expired: true }],
  [
    "a time cut is made again at its place",
    AFTER,
    "a\n 1\n 2\nb\n",
    ["a", "1\n 2".padStart(5)],
    { cuts: [2] },
  ],
  [
    "lines that don't match continue the one before",
    DATE,
    "2026-1 a\nb\n2026-2 c\nd\n2026-3\n",
    ["2026-1 a\nb", "2026-2 c\nd"],
  ],
  ["lines that match belong to the one behind", BEFORE, "a\\\nb\\\nc\nd\ne\\\n", ["a\\\nb\\\nc", "d"]],
  [
    "a flush pattern ends an event",
    { "multiline.pattern": "^begin", "multiline.negate": true, "multiline.flush_pattern": "^end" },
    "begin\nx\nend\nbegin\n",
    ["begin\nx\nend"],
  ],
  ["a fixed number of lines", { "multiline.count_lines": 2 }, "a\nb\nc\nd\ne\n", ["a\nb", "c\nd"]],
  [
    "lines in a row that match",
    { "multiline.type": "while_pattern", "multiline.pattern": "^\\{" },
    "{a\n{b\nx\n{c\ny\n",
    ["{a\n{b", "x", "{c", "y"],
  ],
  ["carriage returns within an event go too", AFTER, "a\r\n 1\r\nb\r\n", ["a\n 1"]],
  [
    "too many lines are split and marked",
    { ...AFTER, "multiline.max_lines": 2 },
    "a\n 1\n 2\n 3\nb\nc\n",
    ["a\n 1 #open", " 2\n 3 #continued", "b"],
  ],
  [
    "too many lines are truncated and marked",
    { ...AFTER, "multiline.max_lines": 2, on_long: "truncate" },
    "a\n 1\n 2\n 3\nb\nc\n",
    ["a\n 1 #truncated", "b"],
  ],
] as readonly [string, object, Buffer | string, string[], Partial<FileView>?][]) {
  test(`lines become events: ${name}`, () => {
    assert.deepEqual(texts(formatOf(given).cut(view(content, more))), expected);
  });
}

for (const [name, onLong, content, expected] of [
  [
    "split without cutting a character",
    "split",
    `${"ä".repeat(6)}\nok\n`,
    ["äääää #open", "ä #continued", "ok"],
  ],
  ["truncated, the next one whole", "truncate", `${"x".repeat(35)}\nok\n`, ["xxxxxxxxxx #truncated", "ok"]],
] as const) {
  test(`a line longer than the limit is ${name}`, () => {
    const given = { include_lines: [""], on_long: onLong };
    assert.deepEqual(texts(formatOf(given, 10).cut(view(content))), expected);
  });
}

test("what truncation leaves out may end in a later read, and after a restart", () => {
  const given = { on_long: "truncate" };
  const first = formatOf(given, 10);
  assert.deepEqual(texts(first.cut(view("x".repeat(15)))), ["xxxxxxxxxx #truncated"]);
  assert.deepEqual(texts(first.cut(view("xxx\nnext\n", { continued: true, offset: 15 }))), ["next"]);
  assert.deepEqual(texts(formatOf(given, 10).cut(view("xxx\nnext\n", { continued: true, offset: 15 }))), [
    "next",
  ]);
  const cut = { continued: true, afterCut: true, offset: 3 };
  assert.deepEqual(texts(formatOf(given, 10).cut(view("def\n", cut))), ["def #continued"]);
});

test("a truncated event of many lines ends in a later read", () => {
  const format = formatOf({ ...AFTER, "multiline.max_lines": 2, on_long: "truncate" });
  assert.deepEqual(texts(format.cut(view("a\n 1\n 2\n"))), ["a\n 1 #truncated"]);
  assert.deepEqual(texts(format.cut(view(" 3\n 4\nb\nc\n", { offset: 8 }))), ["b"]);
});

test("the same bytes are cut at the same places from wherever an event begins", () => {
  const content = Array.from({ length: 200 }, (_, n) => (n % 7 < 3 ? `line ${n}\n` : `  more ${n}\n`)).join(
    "",
  );
  const format = formatOf({ ...AFTER, "multiline.max_lines": 3 });
  const whole = [...format.cut(view(content))];
  for (const { start } of whole) {
    const again = [...format.cut(view(content, { start, offset: start }))];
    assert.deepEqual(
      again.map(({ end }) => end),
      whole.filter((each) => each.start >= start).map(({ end }) => end),
    );
  }
});

for (const [name, given, line, message, fields, timeMs] of [
  ["under json", { "json.enabled": true }, '{"a":1}', "", { json: { a: 1 } }, 0],
  [
    "under the root",
    { "json.keys_under_root": true },
    '{"a":1,"message":"m","host":"h"}',
    "",
    { a: 1, json: { message: "m", host: "h" } },
    0,
  ],
  [
    "with a message key",
    { "json.message_key": "log" },
    '{"log":"text","n":12345678901234567890}',
    "text",
    { json: { log: "text", n: "BIG" } },
    0,
  ],
  [
    "overwriting",
    { "json.keys_under_root": true, "json.overwrite_keys": true },
    '{"host":"h","@timestamp":"1970-01-01T00:00:01Z"}',
    "",
    { host: "h" },
    1_000,
  ],
  [
    "overwriting with what isn't a time",
    { "json.keys_under_root": true, "json.overwrite_keys": true },
    '{"@timestamp":"invalid"}',
    "",
    {
      json: { "@timestamp": "invalid" },
      error: { message: "@timestamp not overwritten (no time)", type: "json" },
    },
    0,
  ],
  [
    "overwriting with what isn't a time, of a line with an error",
    { "json.keys_under_root": true, "json.overwrite_keys": true },
    '{"@timestamp":"invalid","error":{"message":"disk full"}}',
    "",
    {
      json: { "@timestamp": "invalid", error: { message: "disk full" } },
      error: { message: "@timestamp not overwritten (no time)", type: "json" },
    },
    0,
  ],
  ["with tags", { "json.keys_under_root": true }, '{"tags":["a"]}', "", { tags: ["a"] }, 0],
  ["no JSON, unmarked", { "json.enabled": true }, "plain", "plain", {}, 0],
  [
    "no JSON, marked",
    { "json.add_error_key": true },
    "[1]",
    "[1]",
    { error: { message: "Error decoding JSON: the line is not a JSON object", type: "json" } },
    0,
  ],
  [
    "a message key of another type",
    { "json.message_key": "m", "json.add_error_key": true },
    '{"m":1}',
    '{"m":1}',
    { json: { m: 1 }, error: { message: 'Error decoding JSON: the object has no text "m"', type: "json" } },
    0,
  ],
  [
    "a name that is special to the language",
    { "json.keys_under_root": true },
    '{"__proto__":1}',
    "",
    '{"__proto__":1}',
    0,
  ],
] as readonly [string, object, string, string, object | string, number][]) {
  test(`a JSON line is decoded: ${name}`, () => {
    const [event] = formatOf(given).cut(view(`${line}\n`));
    assert.equal(event!.message!.toString(), message);
    const text = Buffer.from(event!.fieldsJson).toString().replace("12345678901234567890", '"BIG"');
    if (typeof fields === "string") assert.equal(text, fields);
    else assert.deepEqual(text === "" ? {} : JSON.parse(text), fields);
    assert.equal(event!.timeMs, timeMs);
  });
}

test("a JSON line that nests too deep stays text", () => {
  const deep = `{"a":${"[".repeat(8_000)}${"]".repeat(8_000)}}`;
  const [event] = formatOf({ "json.enabled": true }, 1_000_000).cut(view(`${deep}\n`));
  assert.deepEqual([event!.message!.toString(), event!.fieldsJson.length], [deep, 0]);
});

test("filters and multiline use the message key", () => {
  const given = { "json.message_key": "m", exclude_lines: ["^DEBUG"] };
  assert.deepEqual(texts(formatOf(given).cut(view('{"m":"DEBUG x"}\n{"m":"kept"}\n'))), ["kept"]);
  const joined = {
    "json.message_key": "m",
    "multiline.pattern": "^\\d",
    "multiline.negate": true,
    exclude_lines: ["^2.*\\n at b"],
  };
  const lines = ["1 a", " at a", "2 b", " at b", "3 c"].map((m) => `${JSON.stringify({ m, n: 1 })}\n`);
  const events = [...formatOf(joined).cut(view(lines.join(""), { final: true }))];
  assert.deepEqual(texts(events), ["1 a\n at a", "3 c"]);
  assert.deepEqual(JSON.parse(String(events[0]!.fieldsJson)), {
    json: { m: "1 a", n: 1 },
    log: { flags: ["multiline"] },
  });
});

test("an object over several lines is decoded, and lines that are none together stay text", () => {
  const given = { "json.keys_under_root": true, "multiline.pattern": "^[{#]", "multiline.negate": true };
  const object = '{\n  "n": 1\n}';
  const others = '#{"n":1}\n"rest"';
  const events = [...formatOf(given).cut(view(`${object}\n${others}\n`, { final: true }))];
  assert.deepEqual(
    events.map(({ message }) => String(message)),
    ["", others],
  );
  assert.equal((JSON.parse(String(events[0]!.fieldsJson)) as { n: number }).n, 1);
  const two = { "json.enabled": true, "multiline.type": "count", "multiline.count_lines": 2 };
  const [kept] = formatOf(two).cut(view('{"n":1}\n{"n":2}\n', { final: true }));
  assert.equal(String(kept!.message), '{"n":1}\n{"n":2}');
});

test("without settings of lines, blocks are sent unchanged", () => {
  assert.equal(lineOptionsOf(settings({})), null);
});

for (const [given, message] of [
  [{ encoding: "klingon" }, /encoding: "klingon" is unknown/],
  [{ encoding: "hz-gb-2312" }, /"hz-gb-2312" is not supported.*convert the file/],
  [{ include_lines: ["("] }, /include_lines: "\(" isn't a regular expression/],
  [{ "multiline.match": "after" }, /multiline\.pattern is missing/],
  [{ "multiline.type": "count" }, /multiline\.count_lines is missing/],
] as const) {
  test(`settings of lines are refused: ${JSON.stringify(given)}`, () => {
    assert.throws(() => lineOptionsOf(settings(given)), { code: "settings_invalid", message });
  });
}

test("the tags of a JSON line join those of its input", () => {
  const own = Buffer.from(JSON.stringify({ fields: { a: 1 }, tags: ["x", "y"] }));
  const decoder = jsonDecoderOf({ "json.keys_under_root": true }, own);
  assert.deepEqual(decoder?.decode(['{"tags":["y","z"]}']).fields, { tags: ["x", "y", "z"] });
});
