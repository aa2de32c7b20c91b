import assert from "node:assert/strict";
import {
  appendFileSync,
  closeSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { inodeOf } from "#agent/harvester/identity.ts";
import { type FileRow, newRow } from "#agent/registry/row.ts";
import { bench, DEFAULTS, LONG } from "#test/support/agent/file-set-bench.ts";

test("the unfinished last line of a rotated file is sent after a time without writes", async (t) => {
  const b = await bench(t, {}, {}, "*.log");
  writeFileSync(b.path("a.log"), "one\nlast");
  await b.scan();
  renameSync(b.path("a.log"), b.path("a.old"));
  await b.scan();
  assert.equal(b.text, "one\n");
  b.context.clock.ms += DEFAULTS.quietMs + 1;
  await b.scan();
  assert.equal(b.text, "one\nlast");
  assert.equal(b.context.output.sent[1]!.lastLineOpen, true);
});

test("a renamed file is read on and its successor from the start", async (t) => {
  const b = await bench(t);
  writeFileSync(b.path("a.log"), "1\n");
  await b.scan();
  renameSync(b.path("a.log"), b.path("a.log.1"));
  appendFileSync(b.path("a.log.1"), "2\n");
  writeFileSync(b.path("a.log"), "3\n");
  await b.scan();
  assert.deepEqual(b.text.split("\n").sort(), ["", "1", "2", "3"]);
  assert.equal(b.context.output.sent.length, 3);
});

test("lines written to a file after it was moved out of the patterns arrive", async (t) => {
  const b = await bench(t, {}, {}, "*.log");
  writeFileSync(b.path("a.log"), "1\n");
  await b.scan();
  renameSync(b.path("a.log"), b.path("elsewhere"));
  appendFileSync(b.path("elsewhere"), "2\n");
  await b.scan();
  assert.equal(b.text, "1\n2\n");
});

test("a chain of renames between two scans loses and repeats nothing", async (t) => {
  const b = await bench(t);
  for (let generation = 0; generation < 5; generation++) {
    for (let age = generation; age > 0; age--)
      renameSync(b.path(age === 1 ? "a.log" : `a.log.${age - 1}`), b.path(`a.log.${age}`));
    writeFileSync(b.path("a.log"), `${generation}\n`);
    if (generation % 2 === 0) await b.scan();
  }
  await b.scan();
  assert.deepEqual(b.text.trim().split("\n").sort(), ["0", "1", "2", "3", "4"]);
});

for (const [name, content] of [
  ["shorter", "new\n"],
  ["longer", `new ${LONG}${LONG}`],
  ["as long", "y".repeat(LONG.length - 1).concat("\n")],
  ["longer, with the same beginning", `${LONG.slice(0, 1_500)}${"z".repeat(3_000)}\n`],
] as const) {
  test(`a file truncated and rewritten with ${name} content is read from its start`, async (t) => {
    const b = await bench(t);
    writeFileSync(b.path("a.log"), LONG);
    await b.scan();
    truncateSync(b.path("a.log"));
    writeFileSync(b.path("a.log"), content);
    utimesSync(b.path("a.log"), 1, 1);
    await b.scan();
    assert.equal(b.text, LONG + content);
    const { sent } = b.context.output;
    const { generation } = sent.at(-1)!.source;
    assert.notEqual(generation, sent[0]!.source.generation);
    assert.equal(sent.find(({ source }) => source.generation === generation)!.from, 0);
  });

  test(`a file rewritten with ${name} content while the agent was away is read from its start`, async (t) => {
    const b = await bench(t);
    writeFileSync(b.path("a.log"), LONG);
    await b.scan();
    await b.restart();
    writeFileSync(b.path("a.log"), content);
    utimesSync(b.path("a.log"), 1, 1);
    await b.scan();
    assert.equal(b.text, content);
  });
}

test("a deleted file is read to its end and held open until its lines are committed", async (t) => {
  const b = await bench(t, {}, { confirmsCommits: true });
  writeFileSync(b.path("a.log"), "1\n");
  await b.scan();
  const fd = openSync(b.path("a.log"), "a");
  rmSync(b.path("a.log"));
  writeSync(fd, "2\n");
  closeSync(fd);
  await b.scan();
  assert.equal(b.text, "1\n2\n");
  b.context.clock.ms += DEFAULTS.quietMs + 1;
  await b.scan();
  assert.deepEqual([b.files.state().files, b.files.state().openDeletedBytes], [1, 4]);
  for (const [, row] of b.context.registry.rows()) row.committed = 4;
  await b.scan();
  assert.deepEqual([b.files.state().files, b.files.state().openDeletedBytes], [0, 0]);
  b.context.clock.ms += 120_000;
  await b.scan();
  b.context.clock.ms += 120_000;
  await b.scan();
  assert.equal([...b.context.registry.rows()].length, 0, "the row is forgotten");
});

test("a new file that got the inode of a deleted one is read from its start", async (t) => {
  const b = await bench(t, { closeEof: true });
  writeFileSync(b.path("a.log"), "first\n");
  await b.scan();
  const { ino } = statSync(b.path("a.log"));
  await b.scan();
  assert.equal(b.files.state().files, 0);
  rmSync(b.path("a.log"));
  writeFileSync(b.path("a.log"), "second\nthird\n");
  await b.scan();
  assert.equal(b.text, "first\nsecond\nthird\n", `inode ${ino} before, ${statSync(b.path("a.log")).ino} now`);
});

test("a file replaced by renaming another one over it is read from its start, once", async (t) => {
  const b = await bench(t);
  writeFileSync(b.path("a.log"), "old\n");
  await b.scan();
  writeFileSync(b.path("temporary"), "new\n");
  renameSync(b.path("temporary"), b.path("a.log"));
  await b.scan();
  await b.scan();
  assert.equal(b.text, "old\nnew\n");
});

test("two names of one file are read once", async (t) => {
  const b = await bench(t);
  writeFileSync(b.path("a.log"), "1\n");
  linkSync(b.path("a.log"), b.path("b.log"));
  await b.scan();
  appendFileSync(b.path("b.log"), "2\n");
  await b.scan();
  assert.equal(b.text, "1\n2\n");
});

test("a file moved within its folder while the agent was away is read on", async (t) => {
  const b = await bench(t, {}, {}, "*.log");
  writeFileSync(b.path("a.log"), "1\n");
  await b.scan();
  await b.restart();
  appendFileSync(b.path("a.log"), "2\n");
  for (const [, row] of b.context.registry.rows()) row.size = -1;
  renameSync(b.path("a.log"), b.path("a.old"));
  writeFileSync(b.path("a.log"), "3\n");
  await b.scan();
  assert.deepEqual(b.text.split("\n").sort(), ["", "2", "3"]);
});

test("the lines of a file deleted while the output is away are held, and all arrive when it is back", async (t) => {
  const b = await bench(t, {}, { slots: 1, batchBytes: 16_384 });
  b.context.output.acking = false;
  writeFileSync(b.path("a.log"), LONG.repeat(30));
  await b.search();
  await b.context.output.until(() => b.context.output.sent.length === 1);
  rmSync(b.path("a.log"));
  b.context.clock.ms += 3_600_000;
  await b.search();
  assert.deepEqual([b.files.state().files, b.files.state().openDeletedBytes], [1, LONG.length * 30]);
  b.context.output.acking = true;
  b.context.output.sent[0]!.ack();
  while (b.files.busy) await turn();
  assert.equal(b.text, LONG.repeat(30));
});

test("without birth times, the content identifies a reused inode", async (t) => {
  const b = await bench(t, { closeEof: true }, { hasBirthTimes: false });
  writeFileSync(b.path("a.log"), "first\n");
  await b.scan();
  await b.scan();
  const { ino } = statSync(b.path("a.log"));
  rmSync(b.path("a.log"));
  writeFileSync(b.path("a.log"), "second\nthird\n");
  await b.scan();
  await b.scan();
  appendFileSync(b.path("a.log"), "fourth\n");
  await b.scan();
  assert.equal(
    b.text,
    "first\nsecond\nthird\nfourth\n",
    `inode ${ino} before, ${statSync(b.path("a.log")).ino} now`,
  );
});

test("a row whose inode another file got while the agent was away is forgotten in time", async (t) => {
  const b = await bench(t);
  writeFileSync(b.path("a.log"), "first\n");
  await b.scan();
  rmSync(b.path("a.log"));
  writeFileSync(b.path("b.log"), "second\n");
  await b.restart("b.log");
  await b.scan();
  await b.scan();
  assert.equal([...b.context.registry.rows()].length, 2, "copies of the first may be waiting");
  b.context.clock.ms += 61_000;
  await b.scan();
  assert.deepEqual(
    [...b.context.registry.rows()].map(([, { path }]) => path),
    [b.path("b.log")],
  );
});

test("a file moved while the agent was stopped is continued, although the registry has others with its inode", async (t) => {
  const b = await bench(t, {}, {}, "*.log");
  writeFileSync(b.path("a.log"), "1\n");
  await b.scan();
  const [[key, row]] = [...b.context.registry.rows()] as [[string, FileRow]];
  b.context.registry.delete(key);
  b.context.registry.put(`${inodeOf(key)}-1`, newRow("test", b.path("old.log"), 7, 0));
  b.context.registry.put(key, row);
  await b.restart();
  renameSync(b.path("a.log"), b.path("a.old"));
  appendFileSync(b.path("a.old"), "2\n");
  await b.scan();
  assert.equal(b.text, "2\n");
});

test("a file outside the patterns that has the inode of a known one is left alone", async (t) => {
  const b = await bench(t, {}, {}, "*.log");
  writeFileSync(b.path("a.log"), "first\n");
  await b.scan();
  rmSync(b.path("a.log"));
  writeFileSync(b.path("a.txt"), "none of its business\n");
  await b.restart("a.txt");
  await b.scan();
  await b.scan();
  assert.deepEqual([b.text, b.files.state().files], ["", 0]);
});

test("a file whose device has another number after a restart is read on", async (t) => {
  const b = await bench(t);
  writeFileSync(b.path("a.log"), LONG);
  await b.scan();
  const [first] = b.context.output.sent;
  const [[key, row]] = [...b.context.registry.rows()] as [[string, FileRow]];
  await b.restart();
  b.context.registry.delete(key);
  b.context.registry.put(`ff${key}`, { ...row, source: null });
  await b.reopen();
  appendFileSync(b.path("a.log"), "more\n");
  await b.scan();
  assert.equal(b.text, "more\n");
  const { source, from } = b.context.output.sent[0]!;
  assert.deepEqual([source.fileKey, source.generation], [`ff${key}`, 0]);
  assert.equal(from, first!.to);
  assert.deepEqual(
    [...b.context.registry.rows()].map(([each]) => each),
    [key],
  );
});

test("another file at the path of one on a device of another number is read from its start", async (t) => {
  const b = await bench(t);
  writeFileSync(b.path("a.log"), LONG);
  await b.scan();
  const [[key, row]] = [...b.context.registry.rows()] as [[string, FileRow]];
  await b.restart();
  b.context.registry.delete(key);
  b.context.registry.put(`ff${key}1`, row);
  await b.reopen();
  await b.scan();
  assert.equal(b.text, LONG);
});

test("after a change of the input's id a file that was renamed meanwhile is read on", async (t) => {
  const b = await bench(t, {}, {}, "*.log");
  writeFileSync(b.path("a.log"), "1\n");
  await b.scan();
  await b.restart();
  for (const [, row] of b.context.registry.rows()) row.input = "log-0a1b2c3d";
  renameSync(b.path("a.log"), b.path("a.log.1"));
  appendFileSync(b.path("a.log.1"), "2\n");
  await b.reopen();
  await b.scan();
  assert.equal(b.text, "2\n");
});

test("the files of another input of the settings stay that input's", async (t) => {
  const b = await bench(t);
  writeFileSync(b.path("a.log"), "1\n");
  await b.scan();
  await b.restart();
  for (const [, row] of b.context.registry.rows()) row.input = "other";
  await b.reopen();
  assert.deepEqual(
    [...b.context.registry.rows()].map(([, { input }]) => input),
    ["other"],
  );
});
