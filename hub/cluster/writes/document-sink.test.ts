import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { DocBatchView } from "#hub/engine/operations/doc-batch-view.ts";
import type { DocumentAction, DocumentBatch } from "#proto/document-batch.ts";
import { DocBatch } from "#proto/messages.ts";
import { count, MemoryLog, openNode, temporaryFolder } from "#test/support/cluster/shard-feeding.ts";
import { type BatchRow, batchOf } from "#test/support/proto/document-batch.ts";

const ORIGIN = { rawIncarnation: 1, partition: 3, rawSequence: 9 };
const SOURCES = [{ key: "agent/file/1", from: 0, to: 1_000_000 }];

/** Documents as the pipeline's worker makes them. */
function made(documents: readonly unknown[], index: string): DocumentBatch {
  return batchOf(
    documents.map((source, at) => ({
      index,
      id: `document-${String(at).padStart(11, "0")}`,
      source,
      ordinal: 256 * at,
      offset: 100 * at,
    })),
  );
}

/** The same documents in a batch that may go to several indices: the sink takes them one by one. */
function oneByOne(batch: DocumentBatch): DocumentBatch {
  return { ...batch, indexNames: [...batch.indexNames, "other"] };
}

/** What the messages of a shard hold. */
function seen({ messages }: MemoryLog, shard: number): unknown[] {
  return messages
    .map(({ data }) => new DocBatchView(data))
    .filter(({ header }) => header.shard === shard)
    .map((view) => ({
      lenient: view.header.lenient,
      sources: view.header.sources.map(({ key, from, to }) => [key, from, to]),
      operations: Array.from({ length: view.count }, (_, at) => {
        const { id, source, ordinal, sourceIndex, offset } = view.operation(at);
        return [id, Buffer.from(source).toString(), ordinal, sourceIndex, offset];
      }),
    }));
}

test("new documents of the pipeline are written alike as columns and one by one", async (t) => {
  const long = { text: "x".repeat(2_000) };
  const documents = Array.from({ length: 6_000 }, (_, at) => (at % 3 === 0 ? { at, ...long } : { at }));
  const written = async (asColumns: boolean): Promise<unknown[]> => {
    const log = new MemoryLog();
    const node = await openNode(t, log, temporaryFolder(t));
    await node.catalog.create("many", {
      settings: { number_of_shards: 2 },
      mappings: {},
      aliases: {},
    });
    const batch = made(documents, "many");
    const position = await node.sink.write(ORIGIN, SOURCES, asColumns ? batch : oneByOne(batch));
    assert.equal(position.sequence, log.messages.length);
    // Written again, under the same ids of messages: nothing is stored twice.
    await node.sink.write(ORIGIN, SOURCES, batch);
    assert.equal(log.messages.length, position.sequence);
    return [seen(log, 0), seen(log, 1)];
  };
  assert.deepEqual(await written(true), await written(false));
});

test("new fields of columns are in the mapping before they are written", async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t));
  await node.sink.write(ORIGIN, SOURCES, made([{ n: 1 }, { n: 2, word: "a" }], "logs-1"));
  const index = node.catalog.get("logs-1")!;
  assert.ok(index.mapping.field("word") !== undefined);
  await node.host.nextRefresh([index], AbortSignal.timeout(30_000));
  assert.equal(count(node, "logs-1"), 2);
});

test("documents that an index can't take are put aside one by one, with the reason", async (t) => {
  const log = new MemoryLog();
  const node = await openNode(t, log, temporaryFolder(t));
  await node.sink.write(ORIGIN, SOURCES, made([{ n: 1 }, { n: 2 }], "Bad Name"));
  await node.catalog.ensure("closed");
  await node.catalog.setState("closed", "close");
  await node.sink.write(ORIGIN, SOURCES, made([{ n: 1 }], "closed"));
  assert.equal(log.messages.length, 0);
  assert.deepEqual(
    node.dead.map(({ code }) => code),
    ["index_name_invalid", "index_name_invalid", "index_closed"],
  );
});

suite("documents go to the log as columns", () => {
  const row = (id: string, action?: DocumentAction) => ({
    index: "logs",
    id,
    source: { n: 1 },
    ...(action && { action }),
  });
  const cases: readonly [name: string, rows: BatchRow[], columns: boolean][] = [
    ["that are new", [row("id-1"), row("id-2")], true],
    ["unless one may replace another", [row("id-1"), row("id-2", "index")], false],
    ["unless their ids are of several lengths", [row("id-1"), row("id-22")], false],
  ];
  for (const [name, rows, columns] of cases) {
    test(name, async (t) => {
      const log = new MemoryLog();
      const node = await openNode(t, log, temporaryFolder(t));
      await node.catalog.create("logs", {
        settings: { number_of_shards: 1 },
        mappings: {},
        aliases: {},
      });
      await node.sink.write(ORIGIN, SOURCES, batchOf(rows));
      assert.deepEqual(
        log.messages.map(({ data }) => DocBatch.decode(data).appends !== null),
        [columns],
      );
    });
  }
});
