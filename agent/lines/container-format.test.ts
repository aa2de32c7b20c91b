import assert from "node:assert/strict";
import { test } from "node:test";
import { ContainerFormat, type ContainerOptions } from "./container-format.ts";
import type { FileView } from "./event-format.ts";
import { multilineOf } from "./multiline.ts";

const T = "2026-11-21T00:00:01.123456789Z";
const cri = (stream: string, tag: string, text: string): string => `${T} ${stream} ${tag} ${text}\n`;
const docker = (stream: string, log: string): string => `${JSON.stringify({ log, stream, time: T })}\n`;

function formatOf(given: Partial<ContainerOptions> = {}, maxBytes = 10_000): ContainerFormat {
  const options: ContainerOptions = {
    format: "auto",
    stream: "all",
    multiline: null,
    json: null,
    include: [],
    exclude: [],
    onFiltered: () => undefined,
    ...given,
  };
  return new ContainerFormat(options, maxBytes);
}

function view(content: string, given: Partial<FileView> = {}): FileView {
  const buffer = Buffer.from(content);
  const rest = { continued: false, afterCut: false, cuts: [], expired: false, final: false, ...given };
  return { buffer, start: 0, end: buffer.length, offset: 0, ...rest };
}

const AFTER = { multiline: multilineOf({ "multiline.pattern": "^ " }) };
const out = (tag: string, text: string): string => cri("stdout", tag, text);
const err = (tag: string, text: string): string => cri("stderr", tag, text);

for (const [name, content, expected, given, more] of [
  ["CRI", out("F", "one") + err("F", "two"), ["stdout one", "stderr two"]],
  ["CRI pieces", out("P", "a") + out("P", "b") + out("F", "c") + out("F", "d"), ["stdout abc", "stdout d"]],
  [
    "pieces of two streams between each other",
    out("P", "a") + err("P", "x") + err("F", "y") + out("F", "b"),
    ["stderr xy", "stdout ab"],
  ],
  ["a piece without its rest waits", out("F", "a") + out("P", "b"), ["stdout a"]],
  ["an unknown tag is a whole line", out("X", "a"), ["stdout a"]],
  ["further tags", out("P:x", "a") + out("F:y", "b"), ["stdout ab"]],
  ["an empty text", out("F", "") + out("F", "a"), ["stdout a"]],
  ["docker", docker("stdout", "one\n") + docker("stderr", "two\r\n"), ["stdout one", "stderr two"]],
  ["docker pieces", docker("stdout", "a") + docker("stdout", "b\n"), ["stdout ab"]],
  [
    "what isn't a line of a runtime is kept",
    `garbage\n${out("F", "a")}{"log":1}\n`,
    ["! garbage", "stdout a", '! {"log":1}'],
  ],
  ["one stream only", out("F", "a") + err("F", "b"), ["stderr b"], { stream: "stderr" }],
  [
    "stack traces per stream",
    out("F", "a") + out("F", " 1") + err("F", "x") + out("F", " 2") + err("F", " y") + out("F", "b"),
    ["stdout a\n 1\n 2"],
    AFTER,
  ],
  [
    "the last ones when time is over",
    out("F", "a") + out("F", " 1") + err("F", "x"),
    ["stdout a\n 1", "stderr x"],
    AFTER,
    { expired: true },
  ],
  [
    "a finished file's pieces",
    out("F", "a") + out("P", "b"),
    ["stdout a", "stdout b open"],
    {},
    { final: true },
  ],
  ["filters", out("F", "a") + out("F", "b"), ["stdout b"], { exclude: [/a/] }],
] as readonly [string, string, string[], Partial<ContainerOptions>?, Partial<FileView>?][]) {
  test(`container lines become events: ${name}`, () => {
    const found = [...formatOf(given).cut(view(content, more))].flatMap(({ message, fieldsJson }) => {
      if (message === null) return [];
      const fields = JSON.parse(Buffer.from(fieldsJson).toString()) as {
        stream?: string;
        log?: { flags: string[] };
      };
      const flags = fields.log?.flags.filter((flag) => flag !== "multiline") ?? [];
      return [[fields.stream ?? "!", message.toString(), ...flags].join(" ")];
    });
    assert.deepEqual(found, expected);
  });
}

test("the time of an event is that of its first line", () => {
  const [event] = formatOf().cut(view(out("F", "a")));
  assert.equal(event!.timeMs, Date.parse("2026-11-21T00:00:01.123Z"));
});

test("a place is safe only where no event of either stream is open, and reading on there repeats nothing", () => {
  const lines = [];
  for (let n = 0; n < 200; n++) {
    const stream = n % 3 === 0 ? "stderr" : "stdout";
    lines.push(cri(stream, n % 5 < 2 ? "P" : "F", n % 7 < 4 ? ` more ${n}` : `line ${n}`));
  }
  const content = lines.join("");
  for (const options of [{}, AFTER]) {
    const all = [...formatOf(options).cut(view(content))];
    const texts = all.flatMap(({ message }) => (message === null ? [] : [message.toString()]));
    let safe = 0;
    for (const [index, { safe: isSafe, end }] of all.entries()) {
      if (!isSafe) continue;
      safe++;
      const rest = [...formatOf(options).cut(view(content, { start: end, offset: end }))];
      const before = all.slice(0, index + 1).filter(({ message }) => message !== null).length;
      assert.deepEqual(
        rest.flatMap(({ message }) => (message === null ? [] : [message.toString()])),
        texts.slice(before),
      );
    }
    assert.ok(safe > 10, `${safe} safe places`);
  }
});

test("an event that never ends is cut at the limit", () => {
  const content = out("P", "x".repeat(100)).repeat(50) + out("F", "end");
  const texts = [...formatOf({}, 2_000).cut(view(content))].map(({ message }) => message!.length);
  assert.equal(
    texts.reduce((sum, each) => sum + each, 0),
    5_003,
  );
  assert.ok(Math.max(...texts) < 2_000);
});
