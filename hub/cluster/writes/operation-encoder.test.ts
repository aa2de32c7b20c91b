import assert from "node:assert/strict";
import { test } from "node:test";
import { actionCode } from "#proto/document-batch.ts";
import { DocBatch, DocOperation, type tailrace } from "#proto/messages.ts";
import { encodeOperations } from "./operation-encoder.ts";

test("operations are encoded as from objects", () => {
  const sources = Array.from({ length: 200 }, (_, n) => `{"n":"${"é".repeat(n)}"}`);
  const text = sources.map((source, n) => `${"-".repeat(n % 5)}${source}\n`).join("");
  const bytes = Buffer.from(text);
  const starts = Uint32Array.from(sources, (source) => bytes.indexOf(source));
  const ends = Uint32Array.from(sources, (source, n) => starts[n]! + Buffer.byteLength(source));
  const ids = sources.map((_, n) => "i".repeat(1 + ((7 * n) % 512)));
  let idEnd = 0;
  const idEnds = Uint32Array.from(ids, (id) => (idEnd += id.length));
  const head = DocBatch.encode({ index: "a", shard: 2, timeMs: 5 }).finish();
  for (const action of ["index", "create"] as const) {
    const actions = new Uint8Array(sources.length).fill(actionCode(action));
    const columns = {
      bytes,
      start: 0,
      starts,
      ends,
      gap: 0,
      indexNames: [],
      ids: Buffer.from(ids.join("")),
      idEnds,
    };
    const places = Uint32Array.from([0, 1, 3, 150, 199]);
    const { operations, ...rest } = DocBatch.decode(encodeOperations(head, { ...columns, actions }, places));
    assert.deepEqual([rest.index, rest.shard, rest.timeMs], ["a", 2, 5]);
    const kind = action === "create" ? DocOperation.Kind.CREATE : DocOperation.Kind.INDEX;
    const wanted = Array.from(places, (n) =>
      DocOperation.decode(
        DocOperation.encode({ kind, id: ids[n]!, source: Buffer.from(sources[n]!), ordinal: n }).finish(),
      ),
    );
    assert.deepEqual(operations.map(fieldsOf), wanted.map(fieldsOf));
  }
});

function fieldsOf({
  kind,
  id,
  source,
  ordinal,
  appendOnly,
  routing,
  hasVersion,
}: tailrace.DocOperation.$Properties): unknown {
  return { kind, id, source: Buffer.from(source ?? []).toString(), ordinal, appendOnly, routing, hasVersion };
}
