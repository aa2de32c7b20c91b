import assert from "node:assert/strict";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext as Run, test } from "node:test";
import { readJournalEntry } from "#proto/codec/journal-entry.ts";
import { convert } from "#proto/kit/schema.ts";
import { eventsOf, type TestContext, testContext } from "#test/support/agent/recording-output.ts";
import { JournaldInput, journalArguments, journaldInput } from "./journald.ts";

/** Prints entries as journalctl does, from the cursor it is given on, and continues following. */
const JOURNALCTL = `#!/bin/sh
echo "$@" >> "$0.calls"
n=0
for argument in "$@"; do case "$argument" in --after-cursor=c*) n=\${argument#--after-cursor=c};; esac; done
while [ "$n" -lt 3 ]; do
  n=$((n + 1))
  echo '{"__CURSOR":"c'$n'","__REALTIME_TIMESTAMP":"1700000000123456","MESSAGE":"entry '$n'","PRIORITY":"4","_PID":"7"}'
done
exec sleep 60
`;

const settings = (given: object): never => convert(journaldInput.schema, { ...given }) as never;

async function start(t: Run, context: TestContext, acking: boolean): Promise<JournaldInput> {
  const command = join(context.folder, "journalctl");
  writeFileSync(command, JOURNALCTL);
  chmodSync(command, 0o755);
  context.output.acking = acking;
  const input = new JournaldInput(settings({ command }), context);
  t.after(() => input.stop());
  await input.start();
  return input;
}

test("after a restart the journal is continued after the last acknowledged entry", async (t) => {
  let context = await testContext();
  t.after(() => context.dispose());
  const first = await start(t, context, true);
  await context.output.until(() => eventsOf(context).length === 3);
  assert.equal(first.problem(), "");
  const [event] = eventsOf(context);
  assert.deepEqual(event, {
    offset: 0,
    message: "entry 1",
    timeMs: 1_700_000_000_123,
    fields: { process: { pid: 7 }, log: { level: "warning", syslog: { priority: 4 } } },
  });
  await first.stop();
  context = await context.restart();
  const second = await start(t, context, true);
  const calls = join(context.folder, "journalctl.calls");
  while (readFileSync(calls, "utf8").split("\n").length < 3)
    await new Promise((resolve) => setImmediate(resolve));
  await second.stop();
  assert.match(readFileSync(calls, "utf8"), /--no-tail\n.*--after-cursor=c3/);
  assert.deepEqual(eventsOf(context), []);
});

test("an entry that was not acknowledged comes again after a restart", async (t) => {
  let context = await testContext();
  t.after(() => context.dispose());
  const first = await start(t, context, false);
  await context.output.until(() => eventsOf(context).length === 3);
  await first.stop();
  context = await context.restart();
  const second = await start(t, context, true);
  await context.output.until(() => eventsOf(context).length === 3);
  await second.stop();
});

test("after a change of the input's id the journal is continued, too", async (t) => {
  const context = await testContext();
  t.after(() => context.dispose());
  context.registry.setPosition("journald/journald-0a1b2c3d", "c2");
  context.registry.setPosition("journald/other", "c9");
  const input = await start(t, context, true);
  await context.output.until(() => eventsOf(context).length === 1);
  assert.equal(eventsOf(context)[0]?.message, "entry 3");
  await input.stop();
  assert.deepEqual(
    ["test", "journald-0a1b2c3d", "other"].map((id) => context.registry.position(`journald/${id}`)),
    ["c3", undefined, "c9"],
  );
});

test("a program that can't be run is reported and retried", async (t) => {
  const context = await testContext();
  t.after(() => context.dispose());
  const input = new JournaldInput(settings({ command: "/nonexistent/journalctl" }), context);
  t.after(() => input.stop());
  await input.start();
  while (input.state().errors === 0) await new Promise((resolve) => setImmediate(resolve));
  assert.match(input.state().lastError, /ENOENT/);
  assert.match(input.problem(), /^input test: journalctl can't be read: .*ENOENT/);
});

test("conditions become arguments", () => {
  const given = {
    units: ["a.service"],
    identifiers: ["b"],
    priority: "0..4",
    transports: ["kernel"],
    matches: ["_UID=1"],
    seek: "tail",
    merge: true,
    directory: "/j",
  };
  assert.deepEqual(journalArguments(settings(given), undefined).slice(4), [
    "--lines=0",
    "--directory=/j",
    "--merge",
    "--unit=a.service",
    "--identifier=b",
    "--priority=0..4",
    "_TRANSPORT=kernel",
    "_UID=1",
  ]);
});

for (const [name, value, message] of [
  ["bytes that aren't text", [104, 255], Buffer.of(104, 255)],
  ["a field that stands twice", ["a", "b"], Buffer.from("a\nb")],
  ["none", null, Buffer.alloc(0)],
] as const) {
  test(`the message of an entry is read: ${name}`, () => {
    assert.deepEqual(readJournalEntry(JSON.stringify({ __CURSOR: "c", MESSAGE: value }))!.message, message);
  });
}

test("an invalid entry is skipped", () => {
  assert.equal(readJournalEntry("-- No entries --"), null);
  assert.equal(readJournalEntry("{}"), null);
  const deep = `${"[".repeat(8_000)}${"]".repeat(8_000)}`;
  assert.equal(readJournalEntry(`{"__CURSOR":"c","MESSAGE":${deep}}`), null);
});
