import assert from "node:assert/strict";
import { test } from "node:test";
import { actionCode, type DocumentBatch } from "#proto/document-batch.ts";
import {
  count,
  MemoryLog,
  openNode,
  options,
  put,
  temporaryFolder,
} from "#test/support/cluster/shard-feeding.ts";
import type { AppendResult } from "./writes.ts";

const ACTION = '{"index":{}}\n';

/** The documents of a bulk request, with action lines between them. */
function runOf(index: string, documents: readonly string[]): DocumentBatch {
  const bytes = Buffer.from(documents.map((document) => `${ACTION}${document}\n`).join(""));
  let end = -1;
  const ends = Uint32Array.from(documents, (document) => {
    end += 1 + ACTION.length + Buffer.byteLength(document);
    return end;
  });
  const actions = new Uint8Array(documents.length).fill(actionCode("index"));
  return { bytes, start: ACTION.length, ends, gap: 1 + ACTION.length, indexNames: [index], actions };
}

function idsOf({ ids, idBytes }: AppendResult): string[] {
  const count = ids.length / idBytes;
  return Array.from({ length: count }, (_, place) =>
    Buffer.from(ids.subarray(place * idBytes, (place + 1) * idBytes)).toString(),
  );
}

test("new documents in a run of bytes get ids of one shard", async (t) => {
  const log = new MemoryLog();
  const node = await openNode(t, log, temporaryFolder(t));
  const documents = Array.from({ length: 60 }, (_, number) => `{"number":${number},"text":"é ${number}"}`);
  const result = await node.documents.append(runOf("a", documents), options);
  assert.equal(result!.index, "a");
  const ids = idsOf(result!);
  assert.equal(new Set(ids).size, 60);
  assert.equal(result!.failures.size, 0);
  assert.equal(log.messages.length, 1);
  assert.equal(count(node, "a"), 60);
  for (const place of [0, 31, 59]) {
    const found = await node.documents.get("a", ids[place]!, {});
    assert.equal(Buffer.from(found!.source).toString(), documents[place]);
    assert.equal(found!.seqNo, result!.seqNos[place]);
  }
});

test("of a run of documents those fail that don't fit the mapping", async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t));
  await node.documents.write([put("1", { n: 1 })], options);
  const result = await node.documents.append(runOf("a", ['{"n":2}', '{"n":"no"}', '{"n":3}']), options);
  const codes = [0, 1, 2].map((place) => result!.failures.get(place)?.code ?? "in");
  assert.deepEqual(codes, ["in", "mapping_parse", "in"]);
  assert.equal(count(node, "a"), 3);
});

test("a run for an index that can't be is left to those who write one by one", async (t) => {
  const log = new MemoryLog();
  const node = await openNode(t, log, temporaryFolder(t));
  assert.equal(await node.documents.append(runOf("Bad Name", ["{}"]), options), null);
  assert.equal(log.messages.length, 0);
});
