import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { answeringClient } from "#test/harness/answering-client.ts";
import { type Page, scrollPages, sequenceEnds } from "./document-pages.ts";

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

/** Reads the pages "0", "1" and "2" from a source that loses its second answer, which it has passed then. */
async function scrollWithLoss(t: TestContext, mayRepeat: boolean, lost: "reset" | 504): Promise<string[]> {
  let at = 0;
  let hasLost = false;
  const client = await answeringClient(t, (path, _body, method) => {
    if (method === "DELETE") return OK({});
    at = path === "/_search/scroll" ? at + 1 : 0;
    if (at === 1 && !hasLost) {
      hasLost = true;
      return lost === "reset" ? undefined : { status: lost, body: {} };
    }
    return OK({ _scroll_id: "s", hits: { hits: at > 2 ? [] : [{ _id: String(at), _version: 1 }] } });
  });
  const pages: Page[] = [];
  for await (const page of scrollPages(client, "x", mayRepeat)) pages.push(page);
  return pages.flatMap(({ documents }) => documents.map(({ id }) => id));
}

for (const lost of ["reset", 504] as const) {
  test(`a scroll whose page got lost by ${lost} starts again, without a gap`, async (t) => {
    assert.deepEqual(await scrollWithLoss(t, true, lost), ["0", "0", "1", "2"]);
  });
}

test("a scroll whose documents may not come twice ends where a page got lost", async (t) => {
  await assert.rejects(scrollWithLoss(t, false, 504), { code: "unavailable", message: /504/ });
});
