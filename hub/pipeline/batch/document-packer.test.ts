import assert from "node:assert/strict";
import { test } from "node:test";
import { documentsOf, selectDocuments } from "#proto/document-batch.ts";
import { DocumentPacker } from "./document-packer.ts";

type Added = Parameters<DocumentPacker["add"]>;

function packed(...documents: readonly Added[]) {
  const out = new DocumentPacker(16);
  for (const document of documents) {
    out.json.text(JSON.stringify({ number: document[2] }));
    out.add(...document);
  }
  return out.pack().documents;
}

const MANY = Array.from(
  { length: 300 },
  (_, at): Added => [
    `logs-${at % 3}`,
    at % 7 === 0 ? `id-${at}` : `идентификатор-${at}`,
    at,
    at * 10,
    5 + at,
  ],
);

test("a batch has every value that was added for a document", () => {
  for (const ends of [[], [3_000], [500, 1_200, 3_000]]) {
    const ranges = ends.map((to, at) => ({ key: "k", from: at === 0 ? 0 : ends[at - 1]!, to }));
    for (const [at, document] of documentsOf(packed(...MANY), ranges).entries()) {
      const [index, id, number, offset, timestampMs] = MANY[at]!;
      const { source, shape, ...rest } = document;
      assert.equal(Buffer.from(source).toString(), `{"number":${number}}`);
      assert.ok(shape !== undefined && shape >= 0);
      const sourceIndex = 1 + ends.findIndex((end) => offset < end);
      const action = "append";
      assert.deepEqual(rest, { index, id, ordinal: 256 * at, sourceIndex, offset, timestampMs, action });
    }
  }
});

test("documents that are selected are those of the batch", () => {
  const batch = packed(...MANY);
  const all = documentsOf(batch, []);
  const places = Uint32Array.of(0, 1, 7, 150, 299);
  assert.deepEqual(
    documentsOf(selectDocuments(batch, places), []).map((document) => ({
      ...document,
      source: Buffer.from(document.source).toString(),
    })),
    Array.from(places, (at) => ({ ...all[at]!, source: Buffer.from(all[at]!.source).toString() })),
  );
});

test("ids given as bytes and as text keep their order", () => {
  const bytes = (text: string) => Buffer.from(text);
  const documents = ["id-1", bytes("id-2"), bytes("id-3"), "é", bytes("id-5")].map(
    (id, number): Added => ["logs", id, number, number, 5],
  );
  assert.deepEqual(
    documentsOf(packed(...documents), []).map(({ id }) => id),
    ["id-1", "id-2", "id-3", "é", "id-5"],
  );
});
