/** Messages that an agent could write by hand, with values that no agent of ours sends. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { zstdCompressSync } from "node:zlib";
import { DefaultPipeline } from "#hub/pipeline/default/default-pipeline.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { Compression, LogBatch, type tailrace } from "#proto/messages.ts";
import { DocumentPacker } from "./document-packer.ts";
import { decodeRawMessage } from "./raw-message.ts";

const TEXT = Buffer.from("x\n");
const DEEP = Buffer.from(`${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`);

/** Returns the documents that the default pipeline makes of a message. */
function documentsOf(batch: tailrace.LogBatch.$Properties, block: tailrace.LogBlock.$Properties): string[] {
  const source = { fileKey: "f", inputType: "log" };
  const whole = { agentId: "a", ...batch, block: { source, from: 0, to: 2 ** 23, readTimeMs: 1, ...block } };
  const out = new DocumentPacker(16);
  const message = decodeRawMessage(LogBatch.encode(whole).finish(), [[0, 2 ** 23]]);
  new DefaultPipeline("main", systemClock).process(message, out);
  const { bytes, ends } = out.pack().documents;
  const text = Buffer.from(bytes);
  return [...ends].map((end, at) => text.toString("utf8", at === 0 ? 0 : ends[at - 1], end));
}

const event = (more: tailrace.LogEvent.$Properties = {}): tailrace.LogEvent.$Properties => ({
  offset: 1,
  message: Buffer.from("x"),
  length: 1,
  ...more,
});

const ROWS: [string, tailrace.LogBatch.$Properties, tailrace.LogBlock.$Properties][] = [
  ["fields that nest deep", { fieldsJson: Buffer.from(`{"fields":${DEEP.toString()}}`) }, { data: TEXT }],
  ["an event's fields that nest deep", {}, { events: [event({ fieldsJson: DEEP })] }],
  ["a read time that no date has", {}, { data: TEXT, readTimeMs: 2 ** 60 }],
  ["an event's time that no date has", {}, { events: [event({ timeMs: 2 ** 60 })] }],
];

for (const [name, batch, block] of ROWS)
  test(`${name} do not keep the line from being stored`, () => {
    const [document, ...others] = documentsOf(batch, block);
    assert.equal((JSON.parse(document!) as { message: string }).message, "x");
    assert.deepEqual(others, []);
  });

test("a message whose names make its lines too large together is refused", () => {
  const data = Buffer.from("x\n".repeat(5_000));
  assert.throws(() => documentsOf({ hostName: "h".repeat(100_000) }, { data }), { code: "data_corrupt" });
});

test("data that unpack to more than their message says are refused", () => {
  const data = zstdCompressSync(Buffer.from("x\n".repeat(1_000)));
  const block = { compression: Compression.ZSTD, data };
  assert.equal(documentsOf({}, { ...block, dataBytes: 2_000 }).length, 1_000);
  for (const dataBytes of [0, 1_999])
    assert.throws(() => documentsOf({}, { ...block, dataBytes }), { code: "data_corrupt" });
});
