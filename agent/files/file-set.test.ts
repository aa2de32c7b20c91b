import assert from "node:assert/strict";
import fs, {
  appendFileSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { systemHasBirthTimes } from "#agent/harvester/identity.ts";
import { bench, DEFAULTS, LONG } from "#test/support/agent/file-set-bench.ts";

test("nothing is read while the output has no slot, and everything when it has", async (t) => {
  const b = await bench(t, {}, { slots: 1, batchBytes: 16_384 });
  b.context.output.acking = false;
  writeFileSync(b.path("a.log"), LONG.repeat(20));
  await b.search();
  await b.context.output.until(() => b.context.output.sent.length === 1);
  for (let turns = 0; turns < 20; turns++) await turn();
  assert.equal(b.context.output.sent.length, 1);
  b.context.output.acking = true;
  b.context.output.sent[0]!.ack();
  while (b.files.busy) await turn();
  assert.equal(b.text, LONG.repeat(20));
});

test("after a restart reading continues after the last acknowledged byte, not after the last read one", async (t) => {
  const b = await bench(t, {}, { batchBytes: 16_384 });
  b.context.output.acking = false;
  writeFileSync(b.path("a.log"), LONG.repeat(12));
  await b.search();
  await b.context.output.until(() => b.context.output.sent.length === 3);
  const [first, , third] = b.context.output.sent;
  first!.ack();
  third!.ack();
  const from = first!.to;
  await b.restart();
  await b.scan();
  assert.equal(b.context.output.sent[0]!.from, from);
});

test("a rewind sends again what isn't committed, and nothing below", async (t) => {
  const b = await bench(t, {}, { confirmsCommits: true });
  writeFileSync(b.path("a.log"), "1\n2\n3\n");
  await b.scan();
  for (const [, row] of b.context.registry.rows()) row.committed = 2;
  b.files.rewind();
  while (b.files.busy) await turn();
  assert.equal(b.text, "1\n2\n3\n2\n3\n");
  assert.equal(b.context.output.sent[1]!.firstLineContinued, false);
});

test("a closed file is rewound too", async (t) => {
  const b = await bench(t, { closeEof: true }, { confirmsCommits: true });
  writeFileSync(b.path("a.log"), "1\n2\n");
  await b.scan();
  await b.scan();
  assert.equal(b.files.state().files, 0);
  b.files.rewind();
  await b.scan();
  assert.equal(b.text, "1\n2\n1\n2\n");
});

test("an inactive file is closed, and read on when it grows", async (t) => {
  const b = await bench(t);
  writeFileSync(b.path("a.log"), "1\n");
  await b.scan();
  b.context.clock.ms += DEFAULTS.closeInactiveMs + 1;
  await b.scan();
  assert.equal(b.files.state().files, 0);
  await b.scan();
  assert.equal(b.files.state().files, 0);
  appendFileSync(b.path("a.log"), "2\n");
  await b.scan();
  assert.equal(b.text, "1\n2\n");
});

test("with a limit of open files all of them get their turn", async (t) => {
  const b = await bench(t, { harvesterLimit: 2 });
  for (let file = 0; file < 7; file++) writeFileSync(b.path(`${file}.log`), `${file}\n`);
  for (let round = 0; round < 7; round++) {
    await b.scan();
    assert.ok(b.files.state().files <= 2);
    b.context.clock.ms += 2_000;
  }
  assert.deepEqual(b.text.trim().split("\n").sort(), ["0", "1", "2", "3", "4", "5", "6"]);
});

test("files that wait for a place are opened without another search, in their order", async (t) => {
  const b = await bench(t, { harvesterLimit: 2 });
  const names = ["0", "1", "2", "3", "4", "5", "6"];
  for (const name of names) writeFileSync(b.path(`${name}.log`), `${name}\n`);
  await b.scan();
  while (b.context.output.sent.length < names.length) {
    assert.equal(b.files.state().waitingFiles, names.length - b.context.output.sent.length);
    const { length } = b.context.output.sent;
    b.context.clock.ms += 200;
    await b.context.output.until(
      () => b.context.output.sent.length >= length + 2 || b.context.output.sent.length === names.length,
    );
    assert.ok(b.files.state().files <= 2);
  }
  assert.deepEqual(b.text.trim().split("\n").sort(), names);
  assert.equal(b.files.state().waitingFiles, 0);
});

test("a file that is written to all the time gives way to those that wait", async (t) => {
  const b = await bench(t, { harvesterLimit: 1 });
  writeFileSync(b.path("hot.log"), "hot\n");
  await b.scan();
  writeFileSync(b.path("cold.log"), "cold\n");
  for (let round = 0; round < 60; round++) {
    appendFileSync(b.path("hot.log"), "hot\n");
    await b.scan();
    b.context.clock.ms += 99;
  }
  await b.context.output.until(() => b.text.includes("cold"));
  appendFileSync(b.path("hot.log"), "last\n");
  await b.scan();
  b.context.clock.ms += 200;
  await b.context.output.until(() => b.text.includes("last"));
  assert.equal(b.text.match(/hot/g)?.length, 61);
});

test("a file is not closed before what waits for the registry is sent", async (t) => {
  const b = await bench(t, { closeEof: true });
  const written = Promise.withResolvers<void>();
  t.mock.method(b.context.registry, "checkpoint", () => written.promise, { times: 1 });
  writeFileSync(b.path("a.log"), "1\n");
  await b.search();
  while (b.context.output.slots.available < 4 || !b.files.busy) await turn();
  await b.search();
  written.resolve();
  await b.scan();
  await b.scan();
  assert.deepEqual([b.text, b.files.state().files], ["1\n", 0]);
});

test("a file rewritten with as many bytes while it is closed is read again", async (t) => {
  const b = await bench(t, { closeEof: true });
  writeFileSync(b.path("a.log"), "1\n");
  await b.search();
  while (b.files.busy) await turn();
  writeFileSync(b.path("a.log"), "2\n");
  utimesSync(b.path("a.log"), 1, 1);
  await b.scan();
  await b.scan();
  assert.equal(b.text, "1\n2\n");
});

test("tail_files reads a file that a hint names before the second search from its start", async (t) => {
  const b = await bench(t, { tailFiles: true });
  writeFileSync(b.path("old.log"), "old\n");
  await b.scan();
  writeFileSync(b.path("new.log"), "new\n");
  b.files.look(b.path("new.log"), false);
  while (b.files.busy) await turn();
  assert.equal(b.text, "new\n");
});

test("idle files are closed where the system gave no descriptor to scan with", async (t) => {
  const b = await bench(t);
  writeFileSync(b.path("a.log"), "a\n");
  await b.scan();
  b.context.clock.ms += 2_000;
  b.files.beginScan();
  b.files.endScan({ complete: false, exhausted: true, unseen: new Set() });
  assert.equal(b.files.state().files, 0);
});

test("tail_files skips existing lines, reads new ones, and continues after a restart", async (t) => {
  const b = await bench(t, { tailFiles: true });
  writeFileSync(b.path("a.log"), "before\n");
  await b.scan();
  appendFileSync(b.path("a.log"), "after\n");
  writeFileSync(b.path("b.log"), "new\n");
  await b.scan();
  assert.deepEqual(b.text.split("\n").sort(), ["", "after", "new"]);
  await b.restart();
  writeFileSync(b.path("c.log"), "while away\n");
  await b.scan();
  assert.equal(b.text, "while away\n");
});

test("files older than ignore_older are left alone until they change", async (t) => {
  const b = await bench(t, { ignoreOlderMs: 3_600_000 });
  b.context.clock.ms = Date.now();
  writeFileSync(b.path("a.log"), "old\n");
  utimesSync(b.path("a.log"), 1, 1);
  await b.scan();
  assert.deepEqual([b.text, [...b.context.registry.rows()].length], ["", 0]);
  appendFileSync(b.path("a.log"), "new\n");
  await b.scan();
  assert.equal(b.text, "old\nnew\n");
});

test("a file that was too old by a wrong clock is read once the clock is right", async (t) => {
  const b = await bench(t, { ignoreOlderMs: 3_600_000 });
  b.context.clock.ms = Date.now() + 10 * 3_600_000;
  writeFileSync(b.path("a.log"), "new\n");
  await b.scan();
  assert.equal(b.text, "");
  b.context.clock.ms = Date.now();
  await b.scan();
  assert.equal(b.text, "new\n");
});

test("records, archives, links, folders and empty files are not read", async (t) => {
  const b = await bench(t);
  writeFileSync(b.path("gzip.log"), Buffer.from([0x1f, 0x8b, 8, 0, 0, 0]));
  writeFileSync(b.path("binary.log"), Buffer.from(Array.from({ length: 400 }, (_, index) => index % 20)));
  writeFileSync(b.path("empty.log"), "");
  mkdirSync(b.path("folder.log"));
  symlinkSync(b.path("target"), b.path("link.log"));
  writeFileSync(b.path("target"), "t\n");
  await b.scan();
  assert.deepEqual([b.text, b.files.state().files, [...b.context.registry.rows()].length], ["", 0, 0]);
});

test("a rewind in the middle of a read begins the read again, in the same generation", async (t) => {
  const b = await bench(t, {}, { confirmsCommits: true, near: false });
  writeFileSync(b.path("a.log"), LONG);
  await b.scan();
  appendFileSync(b.path("a.log"), "more\n");
  await b.search();
  b.files.rewind();
  await b.context.output.until(() => b.text.endsWith(`${LONG}more\n`));
  const { sent } = b.context.output;
  assert.equal(sent.at(-1)!.source.generation, sent[0]!.source.generation);
});

test("the agent tests whether this file system has birth times, and leaves no file", async (t) => {
  const b = await bench(t);
  assert.equal(typeof systemHasBirthTimes(b.logs), "boolean");
  assert.deepEqual(readdirSync(b.logs), []);
});

test("a file that waits for its fields is read although it is deleted during the wait", async (t) => {
  let awaited = true;
  const b = await bench(t, { fieldsOf: () => new Uint8Array(), awaitsFields: () => awaited });
  writeFileSync(b.path("a.log"), "one\n");
  await b.scan();
  rmSync(b.path("a.log"));
  await b.scan();
  assert.equal(b.text, "");
  awaited = false;
  await b.scan();
  assert.equal(b.text, "one\n");
});

test("what a file had that was gone before it had its turn is counted, once", async (t) => {
  const b = await bench(t, { harvesterLimit: 1 });
  b.context.output.acking = false;
  writeFileSync(b.path("a.log"), "one\n");
  await b.scan();
  writeFileSync(b.path("b.log"), "never read\n");
  await b.scan();
  rmSync(b.path("b.log"));
  await b.scan();
  await b.scan();
  const { values } = await b.context.metrics.lostBytes.get();
  assert.deepEqual(values, [{ labels: { input: "test" }, value: "never read\n".length }]);
});

for (const closeEof of [false, true])
  test(`a file that was read before a restart is deleted after its time, with close_eof: ${closeEof}`, async (t) => {
    const b = await bench(t, { deleteAfterMs: 60_000, closeEof });
    writeFileSync(b.path("whole.log"), "one\n");
    writeFileSync(b.path("part.log"), "two\nthr");
    await b.scan();
    await b.scan();
    await b.restart();
    await b.scan();
    b.context.clock.ms += 59_000;
    await b.scan();
    assert.deepEqual(readdirSync(b.logs).sort(), ["part.log", "whole.log"]);
    b.context.clock.ms += 2_000;
    await b.scan();
    await b.scan();
    assert.deepEqual(readdirSync(b.logs), ["part.log"]);
    assert.equal(b.text, "");
  });

test("a path that can't be read doesn't keep deletions elsewhere from being noticed", async (t) => {
  const b = await bench(t);
  b.symlinks = true;
  symlinkSync("loop.log", b.path("loop.log"));
  writeFileSync(b.path("a.log"), "one\ntwo");
  await b.scan();
  rmSync(b.path("a.log"));
  for (let round = 0; round < 3; round++) {
    await b.scan();
    b.context.clock.ms += DEFAULTS.quietMs + 1;
  }
  assert.deepEqual([b.text, b.files.state().files], ["one\ntwo", 0]);
  await b.scan();
  b.context.clock.ms += 61_000;
  await b.scan();
  assert.equal([...b.context.registry.rows()].length, 0);
});

test("files below a path that can't be read are not forgotten", async (t) => {
  const b = await bench(t, { closeEof: true });
  writeFileSync(b.path("a.log"), "one\n");
  await b.scan();
  await b.scan();
  for (let round = 0; round < 3; round++) {
    b.files.beginScan();
    b.files.endScan({ complete: true, exhausted: false, unseen: new Set([b.logs]) });
    b.context.clock.ms += 61_000;
  }
  await b.scan();
  assert.equal(b.text, "one\n");
});

test("a file that its server has lost is closed, and the others are looked after", async (t) => {
  const b = await bench(t);
  const names = ["a.log", "b.log", "c.log"];
  for (const name of names) writeFileSync(b.path(name), "one\n");
  await b.scan();
  for (const name of names) rmSync(b.path(name));
  const { fstatSync } = fs;
  let staleCalls = 0;
  const mocked = t.mock.method(fs, "fstatSync", (fd: number) => {
    // The look at the first file, and its closing.
    if (++staleCalls > 2) return fstatSync(fd);
    throw Object.assign(new Error("ESTALE: stale file handle"), { code: "ESTALE" });
  });
  syncBuiltinESMExports();
  t.after(() => {
    mocked.mock.restore();
    syncBuiltinESMExports();
  });
  await b.scan();
  assert.deepEqual([b.files.state().files, b.files.state().errors], [2, 1]);
  b.context.clock.ms += DEFAULTS.quietMs + 1;
  await b.scan();
  assert.equal(b.files.state().files, 0);
});
