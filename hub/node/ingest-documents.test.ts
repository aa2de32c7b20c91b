import assert from "node:assert/strict";
import { test } from "node:test";
import { ingestDocuments } from "#hub/api/context/ingest-documents.ts";
import type { WriteItem } from "#hub/api/ports/documents.ts";
import { IngestPipelines } from "#hub/pipeline/ingest/ingest-pipelines.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";

test("documents that updates make go through the index's own pipeline", async (t) => {
  const ingest = new IngestPipelines(new MemoryBucket(), silentLogger(), { version: 717 });
  await ingest.start();
  t.after(() => ingest.stop());
  await ingest.put("p", { processors: [{ set: { field: "b", value: 2 } }] });
  const written: WriteItem[] = [];
  const documents = {
    write: (items: readonly WriteItem[]) => {
      written.push(...items);
      return Promise.resolve([]);
    },
    append: () => Promise.resolve(null),
  };
  const wrapped = ingestDocuments(
    documents as unknown as Parameters<typeof ingestDocuments>[0],
    ingest,
    { settingsFor: () => ({ default_pipeline: "p" }) },
    systemClock,
  );
  const update = { kind: "update", index: "x", id: "1", detectNoop: true } as const;
  const source = Buffer.from('{"a":1}');
  await wrapped.write(
    [
      { ...update, source, docAsUpsert: true },
      { ...update, source, docAsUpsert: false, upsert: Buffer.from('{"c":3}') },
      { ...update, source, docAsUpsert: false },
    ],
    {} as Parameters<typeof wrapped.write>[1],
  );
  const texts = written.map((each) => [
    each.kind,
    "source" in each && Buffer.from(each.source).toString(),
    "upsert" in each && Buffer.from(each.upsert).toString(),
  ]);
  assert.deepEqual(texts, [
    ["update", '{"a":1,"b":2}', false],
    ["update", '{"a":1}', '{"c":3,"b":2}'],
    ["update", '{"a":1}', false],
  ]);
});
