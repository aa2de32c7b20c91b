import assert from "node:assert/strict";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type TestContext as Run, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { StreamSink } from "#agent/inputs/streams/stream-sink.ts";
import { eventsOf, type TestContext, testContext } from "#test/support/agent/recording-output.ts";
import { OrphanedSpools } from "./orphaned-spools.ts";
import { ORIGIN_FILE } from "./spool.ts";

const NONE = new Uint8Array();
const spools = (context: TestContext): string => join(context.dataFolder, "spool");

/** Leaves a line in the spool of the input `id`. */
async function leave(context: TestContext, id: string, fields: string, text: string): Promise<void> {
  const { slots } = context.output;
  const held = Array.from({ length: slots.available }, () => slots.tryAcquire());
  const sink = new StreamSink(
    "tcp",
    { ...context, id, fieldsJson: Buffer.from(fields) },
    { spoolBytes: 10_000 },
  );
  sink.open();
  assert.equal(sink.offer(Buffer.from(text), NONE), true);
  await sink.stop();
  for (const slot of held) slot?.release();
}

function start(t: Run, context: TestContext, inputIds: readonly string[]): OrphanedSpools {
  const orphans = new OrphanedSpools({ ...context, inputIds });
  orphans.start();
  t.after(() => orphans.stop());
  return orphans;
}

test("spools of former inputs are sent, each with its input's id, fields and tags", async (t) => {
  const context = await testContext();
  t.after(() => context.dispose());
  await leave(context, "tcp-0a1b2c3d", '{"tags":["a"]}', "one");
  await leave(context, "tcp-1a1b2c3d", '{"tags":["b"]}', "two");
  await leave(context, "web/1", "", "three");
  await leave(context, "kept", "", "four");
  const orphans = start(t, context, ["kept", "tcp-ffffffff"]);
  while (readdirSync(spools(context)).length > 1) await turn();
  const sent = context.output.sent.map(({ source, fieldsJson }, at) => [
    source.inputId,
    source.inputType,
    fieldsJson,
    eventsOf(context)[at]!.message,
  ]);
  sent.sort(([a = ""], [b = ""]) => (a < b ? -1 : 1));
  assert.deepEqual(sent, [
    ["tcp-0a1b2c3d", "tcp", '{"tags":["a"]}', "one"],
    ["tcp-1a1b2c3d", "tcp", '{"tags":["b"]}', "two"],
    ["web/1", "tcp", "", "three"],
  ]);
  assert.deepEqual([readdirSync(spools(context)), orphans.problem], [["kept"], ""]);
});

test("what is not acknowledged at a stop is sent again at the next start, as the same source", async (t) => {
  const context = await testContext();
  t.after(() => context.dispose());
  context.output.acking = false;
  await leave(context, "tcp-0a1b2c3d", "", "one");
  const first = start(t, context, []);
  await context.output.until(() => context.output.sent.length === 1);
  await first.stop();
  context.output.acking = true;
  start(t, context, []);
  await context.output.until(() => context.output.sent.length === 2);
  const [before, after] = context.output.sent;
  assert.deepEqual([after!.source, after!.from], [before!.source, before!.from]);
  while (readdirSync(spools(context)).length > 0) await turn();
});

test("a spool of an earlier version, which has no origin, stays and is named; an empty one is removed", async (t) => {
  const context = await testContext();
  t.after(() => context.dispose());
  await leave(context, "tcp-0a1b2c3d", "", "one");
  const folder = join(spools(context), "tcp-0a1b2c3d");
  rmSync(join(folder, ORIGIN_FILE));
  mkdirSync(join(spools(context), "tcp-1a1b2c3d"));
  const orphans = start(t, context, ["tcp-ffffffff"]);
  assert.match(orphans.problem, new RegExp(`^${folder} holds lines .* a spool and the id: tcp-0a1b2c3d;`));
  assert.deepEqual([readdirSync(spools(context)), readdirSync(folder).length], [["tcp-0a1b2c3d"], 1]);
  await orphans.stop();
  assert.deepEqual(context.output.sent, []);
});
