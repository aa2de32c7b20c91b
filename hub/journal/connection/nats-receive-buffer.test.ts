import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { MIB } from "#proto/kit/units.ts";
import { DOC_STREAM } from "#proto/subjects.ts";
import { useJournal } from "#test/support/journal/test-journal.ts";
import { receiveRoomily } from "./nats-receive-buffer.ts";

const log = useJournal();
const SUBJECT = "doc.1.0f8fad5bd9cb469fa165708674289590.0";

test("messages of all sizes come as they were stored, the large ones in memory of their own size", async () => {
  const sizes = [1, 65_535, 65_536, 65_537, 3 * MIB, 0, 7 * MIB, 100_000, 500_000, 12];
  const seeds = sizes.map((_, number) => createHash("sha256").update(`message ${number}`).digest());
  for (const [number, size] of sizes.entries())
    await log.journal.publish(SUBJECT, Buffer.alloc(size, seeds[number]!));
  const stop = new AbortController();
  const { incarnation } = log.journal.incarnation(DOC_STREAM);
  let number = 0;
  const after = { incarnation, sequence: 0 };
  for await (const { data } of log.journal.read(DOC_STREAM, { after, signal: stop.signal })) {
    const size = sizes[number]!;
    assert.ok(Buffer.from(data).equals(Buffer.alloc(size, seeds[number]!)), `message ${number}`);
    if (size > MIB) assert.ok(data.buffer.byteLength < size + MIB / 4, `room for message ${number}`);
    if (++number === sizes.length) break;
  }
  stop.abort();
  assert.equal(number, sizes.length);
});

test("the client that comes with the packages is known, another one is left as it is", async () => {
  const parse = (): void => undefined;
  await log.meddle(async (_, nats) => assert.equal(receiveRoomily(nats), true));
  for (const other of [{}, { protocol: 1 }, { protocol: { parser: { parse } } }]) {
    assert.equal(receiveRoomily(other), false);
  }
});
