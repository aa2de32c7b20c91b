import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { MIB } from "#proto/kit/units.ts";
import { DOC_STREAM } from "#proto/subjects.ts";
import { useJournal } from "#test/support/journal/test-journal.ts";
import { sendUncopied } from "./nats-zero-copy.ts";

const log = useJournal();
const SUBJECT = "doc.1.0f8fad5bd9cb469fa165708674289590.0";

/** Bytes that no other message has. */
function messageOf(number: number, sizeBytes: number): Uint8Array {
  const seed = createHash("sha256").update(`message ${number}`).digest();
  return Buffer.alloc(sizeBytes, seed);
}

test("messages of all sizes, sent at the same time, are stored as they were", async () => {
  const sizes = [1, 65_535, 65_536, 3 * MIB, 10, 10, 7 * MIB, 100_000, 0, 500_000];
  const messages = sizes.map((size, number) => messageOf(number, size));
  const stored = await Promise.all(messages.map((data) => log.journal.publish(SUBJECT, data)));
  for (const [number, { sequence }] of stored.entries()) {
    const found = await log.journal.message(DOC_STREAM, sequence);
    assert.ok(Buffer.from(found!.data).equals(messages[number]!), `message ${number}`);
  }
});

test("the client that comes with the packages is known, another one is left as it is", async () => {
  const other = { protocol: { flushPending: () => undefined, outbound: [] } };
  const { flushPending } = other.protocol;
  await log.meddle(async (_, nats) => assert.equal(sendUncopied(nats), true));
  assert.equal(sendUncopied(other), false);
  assert.equal(other.protocol.flushPending, flushPending);
  assert.equal(sendUncopied({}), false);
});
