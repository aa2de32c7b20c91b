import assert from "node:assert/strict";
import { test } from "node:test";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import type { Connection } from "#hub/journal/connection/connection.ts";
import { HUB_USER } from "#hub/journal/connection/connection.ts";
import { RAW_STREAM } from "#proto/subjects.ts";
import { range, text, useJournal } from "#test/support/journal/test-journal.ts";
import { StreamArchive } from "./stream-archive.ts";

const log = useJournal();

test("a stream is read whole, in order, but for what comes later", async () => {
  const { archive, close } = await open();
  await log.publishNumbers(1, 2_100);
  const numbers: number[] = [];
  for await (const { data } of archive.read(RAW_STREAM)) {
    if (numbers.push(Number(text(data))) === 1) await log.publishNumbers(2_101, 2_110);
  }
  assert.deepEqual(numbers, range(1, 2_100));
  await close();
});

test("reading ends where the rest of the stream is purged meanwhile", async () => {
  const { archive, close } = await open();
  await log.publishNumbers(1, 2_100);
  const numbers: number[] = [];
  for await (const { data } of archive.read(RAW_STREAM)) {
    if (numbers.push(Number(text(data))) === 1) await log.meddle(({ streams }) => streams.purge(RAW_STREAM));
  }
  assert.ok(numbers.length < 2_100, `${numbers.length}`);
  assert.deepEqual(numbers, range(1, numbers.length));
  await close();
});

/** Opens an archive of the log with a connection of its own. */
async function open() {
  const { url, token } = log.journal.server.address;
  const nats = await connect({ servers: url, user: HUB_USER, pass: token });
  await jetstreamManager(nats);
  return { archive: new StreamArchive({ nats } as unknown as Connection), close: () => nats.close() };
}
