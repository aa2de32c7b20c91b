/** Messages that an agent could write by hand, with values that no agent of ours sends. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { zstdCompressSync } from "node:zlib";
import { DefaultPipeline } from "#hub/pipeline/default/default-pipeline.ts";
import { PipelineSet } from "#hub/pipeline/program/pipeline-set.ts";
import { RegexpGuard } from "#hub/pipeline/regexp/regexp-guard.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { Compression, LogBatch, type tailrace } from "#proto/messages.ts";
import { DocumentPacker } from "./document-packer.ts";
import { decodeRawMessage, type MessageProcessor } from "./raw-message.ts";

const TEXT = Buffer.from("x\n");
const DEEP = Buffer.from(`${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`);

const DEFAULT = new DefaultPipeline("main", systemClock);

/** Returns the documents that a pipeline makes of a message. */
function documentsOf(
  batch: tailrace.LogBatch.$Properties,
  block: tailrace.LogBlock.$Properties,
  pipeline: MessageProcessor = DEFAULT,
): string[] {
  const source = { fileKey: "f", inputType: "log" };
  const whole = { agentId: "a", ...batch, block: { source, from: 0, to: 2 ** 23, readTimeMs: 1, ...block } };
  const out = new DocumentPacker(16);
  const message = decodeRawMessage(LogBatch.encode(whole).finish(), [[0, 2 ** 23]]);
  pipeline.process(message, out);
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

/** A pipeline of the installation's own that changes nothing. */
const configured = await PipelineSet.make({
  pipelines: [
    {
      id: "main",
      files: [{ path: "main.conf", text: "input { shipper {} }\noutput { elasticsearch {} }\n" }],
    },
  ],
  fallback: DEFAULT,
  variables: {},
  clock: systemClock,
  guard: new RegexpGuard(),
});

for (const [name, pipeline] of [
  ["the default pipeline", DEFAULT],
  ["a configured pipeline", configured],
] as const)
  test(`${name} lets no event say which agent and container it came from`, () => {
    const kubernetes = { pod: { name: "mine" } };
    const fieldsJson = Buffer.from(JSON.stringify({ kubernetes, container: { id: "c" }, other: { a: 1 } }));
    const forged = {
      shipper: { id: "b" },
      "shipper.id": "b",
      kubernetes: { pod: { name: "other" }, node: 1 },
      stream: "stdout",
    };
    const of = (batch: tailrace.LogBatch.$Properties): Record<string, unknown> => {
      const events = [event({ fieldsJson: Buffer.from(JSON.stringify(forged)) })];
      return JSON.parse(documentsOf(batch, { events }, pipeline)[0]!) as Record<string, unknown>;
    };
    const document = of({ fieldsJson });
    assert.equal((document["shipper"] as { id: string }).id, "a");
    assert.deepEqual(
      [document["kubernetes"], document["container"], document["other"]],
      [kubernetes, { id: "c" }, undefined],
    );
    assert.deepEqual([document["stream"], document["shipper.id"]], ["stdout", undefined]);
    const { stream: _, ...displaced } = forged;
    assert.deepEqual(document["json"], displaced);
    assert.deepEqual(of({})["kubernetes"], forged.kubernetes, "of a source without a container");
  });

test("a line says nothing of its agent and container either, by whole or dotted names", () => {
  const fieldsJson = Buffer.from(JSON.stringify({ kubernetes: { pod: { name: "mine" } } }));
  const line = {
    message: "m",
    "shipper.id": "b",
    "kubernetes.pod.name": "other",
    container: { id: "c" },
    json: 1,
  };
  const [text] = documentsOf({ fieldsJson }, { data: Buffer.from(`${JSON.stringify(line)}\n`) });
  const document = JSON.parse(text!) as Record<string, unknown>;
  assert.deepEqual(document["kubernetes"], { pod: { name: "mine" } });
  assert.deepEqual(document["container"], { id: "c" }, "the source has none");
  assert.deepEqual(document["json_"], { "shipper.id": "b", "kubernetes.pod.name": "other" });
  assert.equal(document["shipper.id"], undefined);
});
