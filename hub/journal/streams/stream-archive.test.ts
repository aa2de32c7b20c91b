import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import type { Connection } from "#hub/journal/connection/connection.ts";
import { HUB_USER } from "#hub/journal/connection/connection.ts";
import { MIB } from "#proto/kit/units.ts";
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

test("reading ends where the last messages are purged, of messages that are larger than a pull", async () => {
  const { archive, close } = await open();
  const large = Buffer.alloc(3 * MIB, "x");
  for (const id of range(1, 12)) await log.journal.publish("raw.1.agent", large, { messageId: `${id}` });
  const sequences: number[] = [];
  for await (const { sequence, data } of archive.read(RAW_STREAM)) {
    assert.equal(data.length, large.length);
    if (sequences.push(sequence) === 1)
      for (const last of [11, 12]) await log.meddle(({ streams }) => streams.deleteMessage(RAW_STREAM, last));
  }
  assert.deepEqual(sequences, range(1, 10));
  await close();
});

test("a stream is read whole where the consumer's server lags", async () => {
  const { archive, close } = await open(lagging);
  await log.publishNumbers(1, 12);
  const numbers: number[] = [];
  for await (const { data } of archive.read(RAW_STREAM)) numbers.push(Number(text(data)));
  assert.deepEqual(numbers, range(1, 12));
  await close();
});

test("a bucket is read whole, with keys that are overwritten meanwhile", async () => {
  const { archive, close } = await open();
  const bucket = await log.journal.bucket("archived");
  const keys = range(1, 20).map((number) => `k${number}`); // more than is asked for ahead
  for (const key of keys) await bucket.put(key, Buffer.alloc(MIB, "x"));
  const read: string[] = [];
  for await (const { subject, data } of archive.read("KV_archived")) {
    if (read.push(`${subject}: ${data.length}`) > 1) continue;
    for (const key of ["k19", "k20", "later"]) await bucket.put(key, Buffer.from("new"));
  }
  const expected = keys.map((key, at) => `$KV.archived.${key}: ${at < 18 ? MIB : 3}`);
  assert.deepEqual(read.sort(), expected.sort());
  await close();
});

test("a message that can't be stored again fails the whole stream, even if others follow", async () => {
  const { archive, close } = await open();
  const config = {
    ...(await archive.config(RAW_STREAM)),
    name: "RESTORED",
    subjects: ["restored"],
    max_msg_size: 10,
  };
  const messages = async function* () {
    for (const size of [1, 11, 1, 1]) {
      yield { subject: "restored", headers: [], data: Buffer.alloc(size, "x") };
      await sleep(50); // the answer to each comes before the next
    }
  };
  await assert.rejects(archive.write(config, messages()), { code: "request_too_large" });
  await close();
});

/** Opens an archive of the log with a connection of its own. */
async function open(change: (nats: NatsConnection) => void = () => undefined) {
  const { url, token } = log.journal.server.address;
  const nats = await connect({ servers: url, user: HUB_USER, pass: token });
  change(nats);
  await jetstreamManager(nats);
  return {
    archive: new StreamArchive({ nats, answered: () => undefined } as unknown as Connection),
    close: () => nats.close(),
  };
}

/** Changes the number of messages that consumers still have to deliver to 0, the last part of a reply subject. */
function lagging(nats: NatsConnection): void {
  const subscribe = nats.subscribe.bind(nats);
  nats.subscribe = (subject, { callback, ...options } = {}) => {
    const late: typeof callback = (error, message) => {
      const reply = message.reply?.replace(/^(\$JS\.ACK\..*\.)\d+$/, "$10");
      void callback?.(error, Object.create(message, { reply: { value: reply } }));
    };
    return subscribe(subject, { ...options, ...(callback !== undefined && { callback: late }) });
  };
}
