import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { LogBatch } from "./messages.ts";
import { appendEvent, BatchEncoder, type BlockFields, encodeSource, eventSize } from "./raw-encoder.ts";

const NUMBERS = [0, 1, 127, 128, 16_383, 16_384, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 40 + 5, 2 ** 53 - 1];
const NUMBERS_32 = NUMBERS.filter((value) => value < 2 ** 32);
const TEXTS = ["", "a", "größe/ log\n€", "x".repeat(200)];

function pick<T>(values: readonly T[]): T {
  return values[Math.floor(Math.random() * values.length)]!;
}

function randomCase() {
  const block: BlockFields = {
    from: pick(NUMBERS),
    to: pick(NUMBERS),
    readTimeMs: pick(NUMBERS),
    lastLineOpen: pick([true, false]),
    firstLineContinued: pick([true, false]),
    compression: pick([0, 1]),
    dataBytes: pick(NUMBERS_32),
  };
  return {
    identity: {
      agentId: pick(TEXTS),
      agentName: pick(TEXTS),
      agentVersion: pick(TEXTS),
      hostName: pick(TEXTS),
      fieldsJson: randomBytes(pick([0, 1, 300])),
    },
    source: {
      inputId: pick(TEXTS),
      inputType: pick(TEXTS),
      fileKey: pick(TEXTS),
      generation: pick(NUMBERS_32),
      path: pick(TEXTS),
    },
    epoch: pick(NUMBERS_32),
    number: pick(NUMBERS),
    block,
  };
}

test("a batch of raw data is written as the generated code writes it, with and without free bytes before the data", () => {
  for (let round = 0; round < 500; round++) {
    const { identity, source, epoch, number, block } = randomCase();
    const data = randomBytes(pick([0, 1, 127, 128, 5_000]));
    const expected = LogBatch.encode({
      ...identity,
      epoch,
      number,
      block: { source, ...block, data },
    }).finish();
    const encoder = new BatchEncoder(identity);
    const encoded = encodeSource(source);
    for (const before of [0, encoder.headroom(encoded)]) {
      const buffer = Buffer.concat([Buffer.alloc(before), data]);
      const body = { buffer, start: before, end: buffer.length, events: false };
      const message = encoder.encode(epoch, number, encoded, block, body);
      assert.deepEqual(message, Buffer.from(expected));
      if (before > 0) assert.equal(message.buffer, buffer.buffer, "the data was copied");
    }
  }
});

test("a batch of events is written as the generated code writes it", () => {
  for (let round = 0; round < 200; round++) {
    const { identity, source, epoch, number, block } = randomCase();
    const events = Array.from({ length: pick([1, 3, 40]) }, () => ({
      offset: pick(NUMBERS),
      timeMs: pick(NUMBERS),
      message: randomBytes(pick([0, 1, 200])),
      fieldsJson: randomBytes(pick([0, 20])),
      length: pick(NUMBERS_32),
    }));
    const expected = LogBatch.encode({
      ...identity,
      epoch,
      number,
      block: { source, ...block, events },
    }).finish();
    const encoder = new BatchEncoder(identity);
    const encoded = encodeSource(source);
    const start = encoder.headroom(encoded);
    const buffer = Buffer.alloc(start + events.reduce((sum, event) => sum + eventSize(event), 0));
    let end = start;
    for (const event of events) end = appendEvent(buffer, end, event);
    assert.equal(end, buffer.length);
    const message = encoder.encode(epoch, number, encoded, block, { buffer, start, end, events: true });
    assert.deepEqual(message, Buffer.from(expected));
  }
});
