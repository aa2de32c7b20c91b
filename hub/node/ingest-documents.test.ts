import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { ingestDocuments } from "#hub/api/context/ingest-documents.ts";
import type { WriteItem } from "#hub/api/ports/documents.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import { parseBulk } from "#hub/api/routes/documents/bulk-parser.ts";
import { IngestPipelines } from "#hub/pipeline/ingest/ingest-pipelines.ts";
import { systemClock } from "#proto/kit/clock.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";

/** Pipelines of indices by the first part of their names. */
const OWN_PIPELINES: Readonly<Record<string, string>> = { logs: "routing", ring: "ring" };
const LAST_PIPELINES: Readonly<Record<string, string>> = { last: "moved", lost: "asked" };

async function openDocuments(t: TestContext) {
  const ingest = new IngestPipelines(new MemoryBucket(), silentLogger(), { version: 717 });
  await ingest.start();
  t.after(() => ingest.stop());
  await ingest.put("p", { processors: [{ set: { field: "b", value: 2 } }] });
  await ingest.put("moved", { processors: [{ set: { field: "_index", value: "{{to}}" } }] });
  await ingest.put("routing", {
    processors: [
      { reroute: { if: "ctx.to != null && ctx.to != 'x'", dataset: "{{to}}" } },
      { reroute: { if: "ctx.to == 'x'", destination: "x" } },
      { set: { field: "left", value: true } },
    ],
  });
  await ingest.put("ring", {
    processors: [
      { reroute: { if: "ctx._index == 'ring-a-b'", namespace: "c" } },
      { reroute: { destination: "ring-a-b" } },
    ],
  });
  await ingest.put("asked", { processors: [{ set: { field: "z", value: 9 } }] });
  const written: WriteItem[] = [];
  const reads = { all: 0 };
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
    {
      all: () => {
        reads.all++;
        return [{ name: "x-1", aliases: { x: {} } }] as unknown as IndexInfo[];
      },
      settingsFor: (index) => ({
        default_pipeline: OWN_PIPELINES[index.split("-")[0]!] ?? "p",
        final_pipeline: LAST_PIPELINES[index],
      }),
      ensure: unused,
      putSettings: unused,
    },
    systemClock,
  );
  return { wrapped, reads, written, texts: () => written.map(textsOf) };
}

/** Documents without types need no index. */
function unused(): never {
  throw new Error("no index is needed");
}

function textsOf(item: WriteItem): [kind: string, source: string | false, upsert: string | false] {
  return [
    item.kind,
    "source" in item && Buffer.from(item.source).toString(),
    "upsert" in item && Buffer.from(item.upsert).toString(),
  ];
}

test("documents that updates make go through the index's own pipeline", async (t) => {
  const { wrapped, texts } = await openDocuments(t);
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
  assert.deepEqual(texts(), [
    ["update", '{"a":1,"b":2}', false],
    ["update", '{"a":1}', '{"c":3,"b":2}'],
    ["update", '{"a":1}', false],
  ]);
});

test("a document that is sent on goes through the pipelines of the index that it comes to, and never in a circle", async (t) => {
  const { wrapped, written } = await openDocuments(t);
  const sent: readonly (readonly [string, JsonObject])[] = [
    ["logs-app-default", { to: "X y" }],
    ["logs-app-default", { to: "x" }],
    ["logs-app-default", {}],
    ["logs-app-default", { to: "app" }],
    ["ring-a-b", {}],
  ];
  const results = await wrapped.write(
    sent.map(([index, fields], n) => ({
      kind: "index",
      index,
      id: String(n),
      source: Buffer.from(JSON.stringify(fields)),
    })),
    {} as Parameters<typeof wrapped.write>[1],
  );
  const stream = (dataset: string): JsonObject => ({
    data_stream: { type: "logs", dataset, namespace: "default" },
  });
  assert.deepEqual(
    written.map((item) => [
      item.index,
      "source" in item && (JSON.parse(Buffer.from(item.source).toString()) as unknown),
    ]),
    [
      ["logs-x_y-default", { to: "X y", ...stream("x_y") }],
      ["x", { to: "x", b: 2 }],
      ["logs-app-default", { left: true }],
      ["logs-app-default", { to: "app", ...stream("app") }],
    ],
  );
  const { error } = results[4] as { error: Error };
  assert.equal(
    error.message,
    "index cycle detected while processing pipelines for document [4]: [ring-a-b, ring-a-c, ring-a-b]",
  );
});

test("the final pipeline is that of the index that a document comes to, and can't send it on", async (t) => {
  const { wrapped, written } = await openDocuments(t);
  const results = await wrapped.write(
    (
      [
        ["last", "last"],
        ["last", "x"],
        ["plain", "lost"],
      ] as const
    ).map(([index, to], n) => ({
      kind: "index",
      index,
      id: String(n),
      ...(index === "plain" && { pipeline: "moved" }),
      source: Buffer.from(JSON.stringify({ to })),
    })),
    {} as Parameters<typeof wrapped.write>[1],
  );
  assert.deepEqual(
    written.map((item) => [item.index, "source" in item && Buffer.from(item.source).toString()]),
    [
      ["last", '{"to":"last","b":2}'],
      ["lost", '{"to":"lost","z":9}'],
    ],
  );
  const { error } = results[1] as { error: Error };
  assert.equal(
    error.message,
    "final pipeline [moved] can't change the target index (from [last] to [x]) for document [1]",
  );
});

test("an upsert of a bulk goes through the pipeline that its request names, doc_as_upsert doesn't", async (t) => {
  const { wrapped, texts } = await openDocuments(t);
  const lines = [
    { update: { _id: "1" } },
    { doc: { a: 1 }, upsert: { c: 3 } },
    { update: { _id: "1" } },
    { doc: { a: 1 }, doc_as_upsert: true },
    { update: { _id: "1", pipeline: "_none" } },
    { doc: { a: 1 }, upsert: { c: 3 } },
    { update: { _id: "1" } },
    { script: { source: "ctx._source.a = 1" }, upsert: { c: 3 } },
  ];
  const body = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const defaults = { index: "x", routing: undefined, pipeline: "asked", source: undefined };
  const items = [...parseBulk(body, { ...defaults, type: undefined, requiresAlias: false })];
  const writes = items.flatMap(({ write }) => ("kind" in write ? [write] : []));
  await wrapped.write(writes, {} as Parameters<typeof wrapped.write>[1]);
  assert.deepEqual(texts(), [
    ["update", '{"a":1}', '{"c":3,"z":9}'],
    ["update", '{"a":1,"b":2}', false],
    ["update", '{"a":1}', '{"c":3}'],
  ]);
  assert.deepEqual(
    items.flatMap(({ write }) => ("script" in write ? [write.pipeline] : [])),
    ["asked"],
  );
});

test("a document that requires an alias may go to one that its pipeline chooses, and nowhere else", async (t) => {
  const { wrapped, texts, reads } = await openDocuments(t);
  const item = { kind: "index", index: "plain", pipeline: "moved", requiresAlias: true } as const;
  const results = await wrapped.write(
    ["x", "x-1", "x", "x-1"].map((to, n) => ({
      ...item,
      id: String(n),
      source: Buffer.from(JSON.stringify({ to })),
    })),
    {} as Parameters<typeof wrapped.write>[1],
  );
  assert.deepEqual(texts(), [
    ["index", '{"to":"x"}', false],
    ["index", '{"to":"x"}', false],
  ]);
  assert.equal(reads.all, 2, "all indices are read once for each name");
  const [, failure] = results as unknown as { error: Error }[];
  assert.match(
    failure!.error.message,
    /no such index \[x-1\] and \[require_alias\] request flag is \[true\]/,
  );
});
