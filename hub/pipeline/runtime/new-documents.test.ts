import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { DocumentPacker } from "#hub/pipeline/batch/packed-documents.ts";
import { unpack } from "./delivery.ts";
import { newDocuments } from "./new-documents.ts";

type Added = Parameters<DocumentPacker["add"]>;

function packed(...documents: readonly Added[]) {
  const out = new DocumentPacker(16);
  for (const document of documents) {
    out.json.text(JSON.stringify({ number: document[2] }));
    out.add(...document);
  }
  return out.pack();
}

const FIRST: Added = ["logs", "id-1", 0, 10, 5];

suite("documents stay columns", () => {
  const cases: readonly [name: string, documents: readonly Added[], stay: boolean][] = [
    ["that are new", [FIRST, ["logs", "id-2", 1, 20, 5]], true],
    ["unless there are none", [], false],
    ["unless they go to several indices", [FIRST, ["other", "id-2", 1, 20, 5]], false],
    ["unless one may replace another", [FIRST, ["logs", "id-2", 1, 20, 5, "index"]], false],
    ["unless their ids are of several lengths", [FIRST, ["logs", "id-22", 1, 20, 5]], false],
    ["unless their ids go beyond ASCII", [["logs", "id-é", 0, 10, 5]], false],
  ];
  for (const [name, documents, stay] of cases)
    test(name, () => assert.equal(newDocuments(packed(...documents), []) !== null, stay));
});

test("columns say of each document what objects would", () => {
  const documents = Array.from(
    { length: 300 },
    (_, at): Added => ["logs", `id-${1000 + at}`, at, at * 10, 5],
  );
  for (const ends of [[], [3_000], [500, 1_200, 3_000]]) {
    const ranges = ends.map((to, at) => ({ key: "k", from: at === 0 ? 0 : ends[at - 1]!, to }));
    const all = packed(...documents);
    const { bytes, ids, idBytes, ...columns } = newDocuments(all, ranges)!;
    for (const [at, object] of unpack(all, ranges).entries()) {
      const start = at === 0 ? 0 : columns.ends[at - 1]!;
      assert.deepEqual(
        {
          id: Buffer.from(ids.subarray(at * idBytes, (at + 1) * idBytes)).toString(),
          source: Buffer.from(bytes.subarray(start, columns.ends[at])).toString(),
          ordinal: columns.ordinals[at],
          sourceIndex: columns.sourceIndices[at],
          offset: columns.offsets[at],
          shape: columns.shapes[at],
          index: columns.index,
        },
        {
          id: object.id,
          source: Buffer.from(object.source).toString(),
          ordinal: object.ordinal,
          sourceIndex: object.sourceIndex,
          offset: object.offset,
          shape: object.shape,
          index: object.index,
        },
      );
    }
  }
});

test("ids given as bytes and as text keep their order", () => {
  const ascii = (text: string) => Buffer.from(text);
  const documents = ["id-1", ascii("id-2"), ascii("id-3"), "é", ascii("id-5")].map(
    (id, number): Added => ["logs", id, number, number, 5],
  );
  assert.deepEqual(
    unpack(packed(...documents), []).map(({ id }) => id),
    ["id-1", "id-2", "id-3", "é", "id-5"],
  );
});
