import assert from "node:assert/strict";
import {
  appendFileSync,
  closeSync,
  ftruncateSync,
  openSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { test } from "node:test";
import { anchorOf, fileKey } from "#agent/harvester/identity.ts";
import { type FileRow, newRow } from "#agent/registry/row.ts";
import { bench, DEFAULTS } from "#test/support/agent/file-set-bench.ts";

test("lines are sent unchanged, with exact offsets, and only once", async (t) => {
  const b = await bench(t);
  const content = Buffer.from("a\r\nb\0c\n\xff\xfe\n\n\t\u001b[1mend\n", "latin1");
  writeFileSync(b.path("a.log"), content);
  await b.scan();
  appendFileSync(b.path("a.log"), "more\n");
  await b.scan();
  await b.scan();
  assert.equal(b.text, `${content.toString("latin1")}more\n`);
  assert.deepEqual(
    b.context.output.sent.map(({ from, to }) => [from, to]),
    [
      [0, content.length],
      [content.length, content.length + 5],
    ],
  );
});

test("a line without an end waits for its rest", async (t) => {
  const b = await bench(t);
  writeFileSync(b.path("a.log"), "one\nabc");
  await b.scan();
  assert.equal(b.text, "one\n");
  appendFileSync(b.path("a.log"), "def\n");
  await b.scan();
  assert.equal(b.text, "one\nabcdef\n");
  assert.equal(b.context.output.sent[1]!.firstLineContinued, false);
});

test("a line longer than max_bytes is split, marked, and followed by the next one whole", async (t) => {
  const b = await bench(t, { maxBytes: 300_000 });
  const line = "é".repeat(500_001);
  writeFileSync(b.path("a.log"), `before\n${line}\nafter\n`);
  await b.scan();
  const { sent } = b.context.output;
  const whole = Buffer.concat(sent.map(({ data }) => data)).toString();
  assert.equal(whole, `before\n${line}\nafter\n`);
  assert.deepEqual(
    sent.slice(0, 3).map(({ lastLineOpen, firstLineContinued }) => [lastLineOpen, firstLineContinued]),
    [
      [false, false],
      [true, false],
      [true, true],
    ],
  );
  for (const { data } of sent) assert.ok(!data.toString().includes("\ufffd"), "a character was cut");
  assert.equal(sent.at(-1)!.lastLineOpen, false);
});

test("a line longer than a batch but not than max_bytes stays whole", async (t) => {
  const b = await bench(t);
  const line = "x".repeat(700_000);
  writeFileSync(b.path("a.log"), `${line}\nafter\n`);
  await b.scan();
  assert.deepEqual(
    b.context.output.sent.map(({ data, lastLineOpen }) => [data.length, lastLineOpen]),
    [[700_007, false]],
  );
});

test("lines shorter than a batch are split at a small max_bytes", async (t) => {
  const b = await bench(t, { maxBytes: 1_024 });
  const content = `short\n${"l".repeat(2_500)}\nshort\n`;
  writeFileSync(b.path("a.log"), content);
  await b.scan();
  assert.equal(b.text, content);
  for (const line of b.context.output.sent.flatMap(({ data }) => data.toString().split("\n"))) {
    assert.ok(line.length <= 1_024);
  }
});

test("a line of 50 MB passes in bounded memory", async (t) => {
  const b = await bench(t, {}, { slots: 2 });
  const fd = openSync(b.path("a.log"), "w");
  const part = Buffer.alloc(1_000_000, "q");
  for (let count = 0; count < 50; count++) writeSync(fd, part);
  writeSync(fd, "\nnext\n");
  closeSync(fd);
  let length = 0;
  await b.scan();
  for (const { data } of b.context.output.sent) length += data.length;
  assert.equal(length, 50_000_006);
  assert.ok(b.context.output.sent.every(({ data }) => data.length <= DEFAULTS.maxBytes));
});

for (const length of [65_535, 65_536, 65_537, 131_071, 131_072, 131_073]) {
  test(`lines of ${length} bytes, around the size of buffers, arrive unchanged`, async (t) => {
    const b = await bench(t, {}, { batchBytes: 65_536 });
    const content = `${"a".repeat(length - 1)}\n${"b".repeat(length - 1)}\nend\n`;
    writeFileSync(b.path("a.log"), content);
    await b.scan();
    assert.ok(b.text === content);
  });
}

test("offsets beyond 2^32 are exact", async (t) => {
  const b = await bench(t);
  const offset = 2 ** 32 + 10;
  const fd = openSync(b.path("a.log"), "w");
  ftruncateSync(fd, offset);
  writeSync(fd, "far out\n", offset);
  closeSync(fd);
  b.context.registry.put(
    fileKey(statSync(b.path("a.log"), { bigint: true }), true),
    newRow("test", b.path("a.log"), offset, 0),
  );
  await b.scan();
  const [batch] = b.context.output.sent;
  assert.deepEqual([batch!.from, batch!.to, b.text], [offset, offset + 8, "far out\n"]);
});

test("a hole of NULs that a truncation left before text passes as it is", async (t) => {
  const b = await bench(t);
  const content = Buffer.concat([Buffer.alloc(3_000), Buffer.from("text\n")]);
  writeFileSync(b.path("a.log"), content);
  await b.scan();
  assert.deepEqual(Buffer.from(b.text, "latin1"), content);
});

for (const [what, first] of [
  ["a line end soon after its fingerprint", `${"a".repeat(2_000)}\n`],
  ["a first line longer than that", `${"b".repeat(9_000)}\n`],
  ["a line end within its fingerprint alone", `c\n${"c".repeat(9_000)}\n`],
  ["a byte order mark", "\u00ef\u00bb\u00bfd\n"],
] as const) {
  test(`a long new file with ${what} is sent whole, with the fingerprint of its first 1,024 bytes`, async (t) => {
    const b = await bench(t);
    const content = first + "line\n".repeat(40_000);
    writeFileSync(b.path("a.log"), content, "latin1");
    await b.scan();
    assert.equal(b.text, content.replace("\u00ef\u00bb\u00bf", ""));
    const [[, row]] = [...b.context.registry.rows()] as [[string, FileRow]];
    assert.equal(row.head.hash, anchorOf(Buffer.from(content, "latin1"), 0, 1_024).hash);
  });
}
