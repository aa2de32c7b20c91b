import assert from "node:assert/strict";
import { appendFileSync, copyFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { bench, LONG } from "#test/support/agent/file-set-bench.ts";

test("rotation by copy and truncation repeats nothing and keeps what only the copy has", async (t) => {
  const b = await bench(t);
  writeFileSync(b.path("a.log"), LONG);
  await b.scan();
  appendFileSync(b.path("a.log"), "only in the copy\n");
  copyFileSync(b.path("a.log"), b.path("a.log.1"));
  writeFileSync(b.path("a.log"), "new\n");
  await b.scan();
  await b.scan();
  await b.scan();
  assert.deepEqual(b.text.split("\n").sort(), `${LONG}only in the copy\nnew\n`.split("\n").sort());
});

test("rotation by copy and truncation while the agent was away repeats nothing", async (t) => {
  const b = await bench(t);
  writeFileSync(b.path("a.log"), LONG);
  await b.scan();
  await b.restart();
  appendFileSync(b.path("a.log"), "only in the copy\n");
  copyFileSync(b.path("a.log"), b.path("a.log.1"));
  truncateSync(b.path("a.log"));
  await b.scan();
  await b.scan();
  assert.equal(b.text, "only in the copy\n");
});

test("a file that was copied, truncated and rewritten while the hub's log was lost sends no line twice", async (t) => {
  const b = await bench(t, {}, { confirmsCommits: true });
  writeFileSync(b.path("a.log"), LONG);
  await b.scan();
  for (const [, row] of b.context.registry.rows()) row.committed = row.sent;
  copyFileSync(b.path("a.log"), b.path("a.log.1"));
  const anew = LONG.replaceAll("x", "y");
  writeFileSync(b.path("a.log"), `${anew}and more\n`);
  b.files.rewind();
  while (b.files.busy) await turn();
  await b.scan();
  await b.scan();
  assert.equal(b.text, `${LONG}${anew}and more\n`);
});

test("a copy of which nothing is acknowledged yet waits for the original", async (t) => {
  const b = await bench(t);
  b.context.output.acking = false;
  writeFileSync(b.path("a.log"), LONG);
  await b.scan();
  copyFileSync(b.path("a.log"), b.path("a.log.1"));
  await b.scan();
  writeFileSync(b.path("a.log"), "new\n");
  await b.scan();
  b.context.output.acking = true;
  for (const batch of b.context.output.sent) batch.ack();
  await b.scan();
  await b.scan();
  assert.equal(b.text, `${LONG}new\n`);
});

test("a copy goes on under the name of an original that is gone and of which nothing was acknowledged", async (t) => {
  const b = await bench(t);
  b.context.output.acking = false;
  writeFileSync(b.path("a.log"), LONG);
  await b.scan();
  const [first] = b.context.output.sent;
  copyFileSync(b.path("a.log"), b.path("a.log.1"));
  await b.restart();
  rmSync(b.path("a.log"));
  await b.scan();
  await b.scan();
  const [again] = b.context.output.sent;
  assert.equal(again?.source.fileKey, first?.source.fileKey);
  assert.equal(again?.source.generation, first?.source.generation);
  assert.equal(b.text, LONG);
});

test("a copy goes on under the name of an original whose inode another file has", async (t) => {
  const b = await bench(t);
  b.context.output.acking = false;
  writeFileSync(b.path("a.log"), LONG);
  await b.scan();
  const [first] = b.context.output.sent;
  copyFileSync(b.path("a.log"), b.path("a.log.1"));
  rmSync(b.path("a.log"));
  writeFileSync(b.path("a.log"), "another\n");
  await b.restart("a.log");
  await b.scan();
  await b.scan();
  const [, again] = b.context.output.sent;
  assert.deepEqual(again?.source.fileKey, first?.source.fileKey);
  assert.deepEqual(again?.source.generation, first?.source.generation);
  assert.equal(b.text, `another\n${LONG}`);
});

test("a copy that is still being made waits until it is whole", async (t) => {
  const b = await bench(t);
  writeFileSync(b.path("a.log"), LONG);
  await b.scan();
  writeFileSync(b.path("a.log.1"), LONG.slice(0, 2_000));
  await b.scan();
  appendFileSync(b.path("a.log.1"), `${LONG.slice(2_000)}only in the copy\n`);
  truncateSync(b.path("a.log"));
  await b.scan();
  await b.scan();
  assert.equal(b.text, `${LONG}only in the copy\n`);
});

test("a copy whose original stays is taken as read, and read on where it grows", async (t) => {
  const b = await bench(t);
  writeFileSync(b.path("a.log"), LONG);
  await b.scan();
  copyFileSync(b.path("a.log"), b.path("a.log.copy"));
  await b.scan();
  b.context.clock.ms += 11_000;
  await b.scan();
  appendFileSync(b.path("a.log.copy"), "grown\n");
  await b.scan();
  assert.equal(b.text, `${LONG}grown\n`);
});

test("two files that happen to hold the same few lines are both sent", async (t) => {
  const b = await bench(t);
  writeFileSync(b.path("a.log"), "started\n");
  await b.scan();
  writeFileSync(b.path("a.log.1"), "started\n");
  await b.scan();
  assert.equal(b.text, "started\nstarted\n");
});

test("a copy that is deleted while it waits for the original is read all the same", async (t) => {
  const b = await bench(t);
  b.context.output.acking = false;
  writeFileSync(b.path("a.log"), LONG);
  await b.scan();
  copyFileSync(b.path("a.log"), b.path("a.log.1"));
  appendFileSync(b.path("a.log.1"), "only in the copy\n");
  writeFileSync(b.path("a.log"), "new\n");
  await b.scan();
  rmSync(b.path("a.log.1"));
  await b.scan();
  b.context.output.acking = true;
  for (const batch of b.context.output.sent) batch.ack();
  await b.scan();
  assert.equal(b.text, `${LONG}new\nonly in the copy\n`);
  b.context.clock.ms += 6_000;
  await b.scan();
  assert.equal(b.files.state().files, 1, "and let go of when it is done");
});

for (const [names, first, second, what] of [
  [["worker-1.log", "worker-2.log"], LONG, LONG, "the same content"],
  [["worker-1.log", "worker-2.log"], LONG, `${LONG}its own\n`, "the same beginning"],
  [["a.log", "a.log.copy"], LONG, `${LONG}its own\n`, "the same beginning, and the other's name in its own"],
] as const) {
  test(`a file beside another one that stays is read although it has ${what}`, async (t) => {
    const b = await bench(t);
    writeFileSync(b.path(names[0]), first);
    await b.scan();
    writeFileSync(b.path(names[1]), second);
    await b.scan();
    b.context.clock.ms += 11_000;
    await b.scan();
    appendFileSync(b.path(names[0]), "goes on\n");
    await b.scan();
    const expected = names[1].startsWith(names[0]) ? "its own\n" : second;
    assert.equal(b.text, `${first}${expected}goes on\n`);
  });
}

test("a file that looks like the copy of one that is always written is read in the end", async (t) => {
  const b = await bench(t);
  writeFileSync(b.path("worker-1.log"), LONG);
  await b.scan();
  b.context.output.acking = false;
  writeFileSync(b.path("worker-2.log"), `${LONG}its own\n`);
  for (let second = 0; second < 15; second++) {
    appendFileSync(b.path("worker-1.log"), LONG);
    await b.scan();
    for (const batch of b.context.output.sent.slice(0, -1)) batch.ack();
    b.context.clock.ms += 1_000;
  }
  assert.match(b.text, /its own/);
});

for (const [how, write] of [
  ["the same content again", LONG],
  ["that content and more", `${LONG}more\n`],
] as const) {
  test(`a file in the place of one that is gone, with ${how}, is another one`, async (t) => {
    const b = await bench(t);
    writeFileSync(b.path("a.log"), LONG);
    writeFileSync(b.path("other.log"), "keeps its inode\n");
    await b.scan();
    writeFileSync(b.path("new"), write);
    renameSync(b.path("new"), b.path("a.log"));
    await scanLong(b);
    assert.equal(b.text, `${LONG}keeps its inode\n${write}`);
  });
}

/** Scans until no file waits for a decision any more. */
async function scanLong(b: Awaited<ReturnType<typeof bench>>): Promise<void> {
  for (let search = 0; search < 4; search++) {
    await b.scan();
    b.context.clock.ms += 6_000;
  }
}

for (const names of [
  ["job-20261121.log", "job-20261122.log"],
  ["run.1.log", "run.2.log"],
  ["a.log", "a.log.1"],
  ["m.log", "m-20261122.log"],
] as const) {
  test(`${names[1]}, written after ${names[0]} was deleted, is read whole though it has the same text`, async (t) => {
    const b = await bench(t, {}, { confirmsCommits: true });
    writeFileSync(b.path(names[0]), LONG);
    await b.scan();
    for (const [, row] of b.context.registry.rows()) row.committed = row.sent;
    await b.scan();
    rmSync(b.path(names[0]));
    await b.scan();
    writeFileSync(b.path(names[1]), `${LONG}and more\n`);
    await scanLong(b);
    assert.equal(b.text, `${LONG}${LONG}and more\n`);
  });
}

test("files of the same text that are rotated twice by renaming are all read", async (t) => {
  const b = await bench(t);
  writeFileSync(b.path("a.log"), LONG);
  await b.scan();
  for (let rotation = 0; rotation < 2; rotation++) {
    if (rotation === 1) renameSync(b.path("a.log.1"), b.path("a.log.2"));
    renameSync(b.path("a.log"), b.path("a.log.1"));
    writeFileSync(b.path("a.log"), LONG);
    await scanLong(b);
  }
  assert.equal(b.text, LONG.repeat(3));
});

test("files of the same text that were rotated twice while the agent was away are all read", async (t) => {
  for (const keepsFirst of [true, false]) {
    const b = await bench(t);
    writeFileSync(b.path("a.log"), LONG);
    await b.scan();
    await b.restart();
    if (keepsFirst) renameSync(b.path("a.log"), b.path("a.log.2"));
    else rmSync(b.path("a.log"));
    writeFileSync(b.path("a.log.1"), LONG);
    writeFileSync(b.path("a.log"), LONG);
    await scanLong(b);
    assert.equal(b.text, LONG.repeat(2), `${keepsFirst}`);
  }
});

for (const [what, content] of [
  ["shorter", "new\n"],
  ["longer", `new ${LONG}`],
] as const) {
  test(`a short file that is copied, truncated and written ${what} repeats nothing`, async (t) => {
    const b = await bench(t);
    writeFileSync(b.path("a.log"), "one\ntwo\n");
    await b.scan();
    appendFileSync(b.path("a.log"), "only in the copy\n");
    copyFileSync(b.path("a.log"), b.path("a.log.1"));
    writeFileSync(b.path("a.log"), content);
    await scanLong(b);
    const expected = `one\ntwo\nonly in the copy\n${content}`;
    assert.deepEqual(b.text.split("\n").sort(), expected.split("\n").sort());
  });
}

test("a copy whose original was truncated and renamed while the agent was away repeats nothing", async (t) => {
  const b = await bench(t);
  writeFileSync(b.path("a.log"), LONG);
  await b.scan();
  await b.restart();
  copyFileSync(b.path("a.log"), b.path("a.log.copy1"));
  writeFileSync(b.path("a.log"), "new\n");
  renameSync(b.path("a.log"), b.path("a.log.1"));
  await scanLong(b);
  assert.equal(b.text, "new\n");
});

for (const [name, expected] of [
  ["a.log.copy1", ""],
  ["a.log.bak", ""],
  ["a.log~", ""],
  ["a.log.1", LONG],
  ["a.log.old", LONG],
] as const) {
  test(`${name}, whose original was deleted while the agent was away, is ${expected === "" ? "its copy" : "another file"}`, async (t) => {
    const b = await bench(t);
    writeFileSync(b.path("a.log"), LONG);
    await b.scan();
    await b.restart();
    copyFileSync(b.path("a.log"), b.path(name));
    rmSync(b.path("a.log"));
    await scanLong(b);
    assert.equal(b.text, expected);
  });
}
