import assert from "node:assert/strict";
import fs, { appendFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { type Bench, bench, LONG } from "#test/support/agent/file-set-bench.ts";

/** Scans until `condition` holds: other threads unpack, which a busy machine delays. */
async function scanUntil(b: Bench, condition: () => boolean): Promise<void> {
  const deadline = AbortSignal.timeout(30_000);
  while (!condition()) {
    assert.ok(!deadline.aborted, "in vain");
    await b.scan();
    await turn();
  }
}

/** Scans so often that what could still come has come. */
async function scanOn(b: Bench): Promise<void> {
  for (let round = 0; round < 50; round++) {
    await b.scan();
    await turn();
  }
}

test("an archive is read once, also after it was renamed and after a restart", async (t) => {
  const b = await bench(t, { archives: true });
  writeFileSync(b.path("a.log.1.gz"), gzipSync(`${LONG}last line without an end`));
  await scanUntil(b, () => b.files.state().linesRead > 0 && b.files.state().files === 0);
  assert.equal(b.text, `${LONG}last line without an end`);
  renameSync(b.path("a.log.1.gz"), b.path("a.log.2.gz"));
  await scanOn(b);
  assert.equal(b.text, `${LONG}last line without an end`);
  await b.restart();
  await scanOn(b);
  assert.equal(b.text, "");
  assert.deepEqual(
    readdirSync(b.context.dataFolder).filter((name) => name.startsWith("unpacked")),
    [],
  );
});

test("an archive made of a file that was read brings only what that had not", async (t) => {
  const b = await bench(t, { archives: true });
  writeFileSync(b.path("a.log"), LONG);
  await b.scan();
  const [first] = b.context.output.sent;
  await b.restart();
  rmSync(b.path("a.log"));
  writeFileSync(b.path("a.log.1.gz"), gzipSync(`${LONG}written while the agent was away\n`));
  await scanUntil(b, () => b.text !== "");
  assert.equal(b.text, "written while the agent was away\n");
  const [again] = b.context.output.sent;
  assert.deepEqual(
    [again?.source.fileKey, again?.source.generation, again?.from],
    [first?.source.fileKey, first?.source.generation, LONG.length],
  );
});

test("an archive that a killed agent had sent in part is continued under the same source name", async (t) => {
  const b = await bench(t, { archives: true }, { batchBytes: 16_384, slots: 2 });
  b.context.output.acking = false;
  writeFileSync(b.path("a.log.gz"), gzipSync(LONG.repeat(12)));
  while (b.context.output.sent.length === 0) {
    await b.search();
    await turn();
  }
  const [first] = b.context.output.sent;
  first!.ack();
  await b.restart();
  await scanUntil(b, () => b.context.output.sent.at(-1)?.to === LONG.length * 12);
  const [again] = b.context.output.sent;
  assert.deepEqual([again?.from, again?.source], [first?.to, first?.source]);
});

test("a broken archive is logged once, and read when it is complete", async (t) => {
  const b = await bench(t, { archives: true });
  const whole = gzipSync(LONG);
  writeFileSync(b.path("a.log.gz"), whole.subarray(0, 200));
  await scanUntil(b, () => b.files.state().errors > 0);
  await scanOn(b);
  const { errors, lastError } = b.files.state();
  assert.equal(errors, 1);
  assert.match(lastError, /a\.log\.gz: the archive can't be unpacked: unexpected end of file/);
  appendFileSync(b.path("a.log.gz"), whole.subarray(200));
  await scanUntil(b, () => b.text === LONG);
});

test("archives that were there before a first start with tail_files are left alone", async (t) => {
  const b = await bench(t, { archives: true, tailFiles: true });
  writeFileSync(b.path("old.log.gz"), gzipSync(LONG));
  await scanOn(b);
  assert.equal(b.text, "");
  writeFileSync(b.path("new.log.gz"), gzipSync("new\n"));
  await scanUntil(b, () => b.text !== "");
  assert.equal(b.text, "new\n");
});

test("archives that are deleted before their turn are read all the same", async (t) => {
  const b = await bench(t, { archives: true });
  const texts = Array.from({ length: 6 }, (_, file) => `${file} ${LONG}`);
  for (const [file, text] of texts.entries()) writeFileSync(b.path(`${file}.log.gz`), gzipSync(text));
  await b.scan();
  for (const file of texts.keys()) rmSync(b.path(`${file}.log.gz`));
  await scanUntil(b, () => b.text.length === texts.join("").length);
  assert.deepEqual(
    b.text.match(/^\d 0 x/gm)?.sort(),
    texts.map((_, file) => `${file} 0 x`),
  );
});

test("an archive for which the disk has no space is read when there is some", async (t) => {
  const b = await bench(t, { archives: true });
  writeFileSync(b.path("a.log.gz"), gzipSync(LONG));
  const mocked = t.mock.method(fs, "writeSync", () => {
    throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
  });
  syncBuiltinESMExports();
  t.after(() => syncBuiltinESMExports());
  await scanUntil(b, () => b.files.state().errors > 0);
  mocked.mock.restore();
  syncBuiltinESMExports();
  await scanOn(b);
  assert.equal(b.text, "");
  assert.match(b.files.state().lastError, /no space left on device; looking again later/);
  b.context.clock.ms += 60_000;
  await scanUntil(b, () => b.text === LONG);
});

test("an archive that can't be unpacked for lack of space is tried less and less often", async (t) => {
  const b = await bench(t, { archives: true });
  writeFileSync(b.path("a.log.gz"), gzipSync(LONG));
  let tries = 0;
  const mocked = t.mock.method(fs, "writeSync", () => {
    tries++;
    throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
  });
  syncBuiltinESMExports();
  t.after(() => {
    mocked.mock.restore();
    syncBuiltinESMExports();
  });
  await scanUntil(b, () => b.files.state().errors === 1);
  for (let minute = 0; minute < 60; minute++) {
    b.context.clock.ms += 60_000;
    await scanOn(b);
  }
  assert.ok(tries > 2 && tries < 12, `${tries}`);
});
