import assert from "node:assert/strict";
import { test } from "node:test";
import { accessBlock } from "#test/bench/access-corpus.ts";
import { corpusBlock } from "#test/bench/log-corpus.ts";
import { testKernel } from "#test/support/engine/kernel.ts";
import { roundTrip } from "#test/support/engine/round-trip.ts";
import { KernelColumns } from "./columnar-packing.ts";
import { StoredReader, StoredWriter } from "./stored.ts";

const columns = new KernelColumns(await testKernel());

test("100,000 documents of logs come back byte for byte through a file", () => {
  const writer = new StoredWriter(256 * 1024, columns);
  const blocks = [accessBlock, corpusBlock].flatMap((blockOf) =>
    Array.from({ length: 50 }, (_, block) => () => blockOf(block, 500_000)),
  );
  for (const block of blocks) for (const { json } of block()) writer.add(Buffer.from(json));
  const [file, entry] = roundTrip((out) => writer.finish(out));
  const reader = new StoredReader(file, entry);
  let doc = 0;
  for (const block of blocks)
    for (const { json } of block())
      assert.ok(Buffer.from(json).equals(reader.get(doc++)), `document ${doc - 1}`);
  assert.equal(doc, 100_000);
  reader.close();
});
