import assert from "node:assert/strict";
import { test } from "node:test";
import { answeringClient } from "#test/harness/answering-client.ts";
import { sequenceEnds } from "./document-pages.ts";

const OK = (body: object) => ({ status: 200, body });

test("a shard is read up to what each copy that may answer has", async (t) => {
  const copy = (max: number, local: number, global: number) => ({
    seq_no: { max_seq_no: max, local_checkpoint: local, global_checkpoint: global },
  });
  const shards = {
    // Operation 10 is being indexed; the second copy hasn't heard yet that all have 7.
    0: [copy(11, 9, 7), copy(9, 8, 6)],
    // The second copy is still being made.
    1: [copy(5, 5, 5), copy(-1, -1, -2), {}],
    // No documents.
    2: [copy(-1, -1, -1)],
  };
  const client = await answeringClient(t, (path) =>
    OK(path.startsWith("/x/_stats") ? { indices: { x: { shards } } } : { count: 1 }),
  );
  const ends = await sequenceEnds(client, "x");
  assert.deepEqual(
    [...ends!],
    [
      [0, 8],
      [1, 6],
      [2, 0],
    ],
  );
});
