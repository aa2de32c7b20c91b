import assert from "node:assert/strict";
import { test } from "node:test";
import { DocBatchView } from "#hub/engine/operations/doc-batch-view.ts";
import { jsonShape } from "#proto/codec/json-shape.ts";
import { count, MemoryLog, openNode, temporaryFolder } from "#test/support/cluster/shard-feeding.ts";

const ORIGIN = { rawIncarnation: 1, partition: 3, rawSequence: 9 };
const SOURCES = [{ key: "agent/file/1", from: 0, to: 1_000_000 }];

/** Documents as the pipeline has them: as columns, and one by one. */
function made(documents: readonly unknown[], index: string) {
  const sources = documents.map((each) => Buffer.from(JSON.stringify(each)));
  const ids = sources.map((_, at) => `document-${String(at).padStart(11, "0")}`);
  let end = 0;
  const columns = {
    index,
    bytes: Buffer.concat(sources),
    ends: Uint32Array.from(sources, ({ length }) => (end += length)),
    ids: Buffer.from(ids.join("")),
    idBytes: 20,
    ordinals: Uint32Array.from(sources, (_, at) => 256 * at),
    sourceIndices: new Uint32Array(sources.length).fill(1),
    offsets: Float64Array.from(sources, (_, at) => 100 * at),
    shapes: Float64Array.from(sources, (source) => jsonShape(source)),
  };
  const list = sources.map((source, at) => ({
    index,
    id: ids[at]!,
    source,
    ordinal: 256 * at,
    sourceIndex: 1,
    offset: 100 * at,
    action: "append" as const,
  }));
  return { columns, list };
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
    const { columns, list } = made(documents, "many");
    const position = asColumns
      ? await node.sink.append(ORIGIN, SOURCES, columns)
      : await node.sink.write(ORIGIN, SOURCES, list);
    assert.equal(position?.sequence, log.messages.length);
    // Written again, under the same ids of messages: nothing is stored twice.
    await node.sink.append(ORIGIN, SOURCES, columns);
    assert.equal(log.messages.length, position?.sequence);
    return [seen(log, 0), seen(log, 1)];
  };
  assert.deepEqual(await written(true), await written(false));
});

test("new fields of columns are in the mapping before they are written", async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t));
  const { columns } = made([{ n: 1 }, { n: 2, word: "a" }], "logs-1");
  await node.sink.append(ORIGIN, SOURCES, columns);
  const index = node.catalog.get("logs-1")!;
  assert.ok(index.mapping.field("word") !== undefined);
  await node.host.nextRefresh([index], AbortSignal.timeout(5_000));
  assert.equal(count(node, "logs-1"), 2);
});

test("columns that an index can't take are left to those who write one by one", async (t) => {
  const log = new MemoryLog();
  const node = await openNode(t, log, temporaryFolder(t));
  assert.equal(await node.sink.append(ORIGIN, SOURCES, made([{ n: 1 }], "Bad Name").columns), null);
  await node.catalog.ensure("closed");
  await node.catalog.setState("closed", "close");
  assert.equal(await node.sink.append(ORIGIN, SOURCES, made([{ n: 1 }], "closed").columns), null);
  assert.equal(log.messages.length, 0);
});
