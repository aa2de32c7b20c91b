import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { answeringClient } from "#test/harness/answering-client.ts";
import { type Page, scrollPages, sequenceEnds, shardPages } from "./document-pages.ts";

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
    return OK({
      _scroll_id: "s",
      hits: { total: 3, hits: at > 2 ? [] : [{ _id: String(at), _version: 1 }] },
    });
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

const hit = (at: number): object => ({ _id: String(at), _version: 1, _source: {} });
const hits = (count: number): object[] => Array.from({ length: count }, (_, at) => hit(at));

/** Reads all that a source gives whose searches answer `given`, the first one with `first`. */
async function idsOf(t: TestContext, first: object, given: object): Promise<string[]> {
  let asked = 0;
  const client = await answeringClient(t, () => OK({ _scroll_id: "s", hits: asked++ === 0 ? first : given }));
  const ids: string[] = [];
  for await (const { documents } of scrollPages(client, "x", true))
    ids.push(...documents.map(({ id }) => id));
  return ids;
}

for (const [what, first, given] of [
  ["never ends", { total: 5, hits: hits(2) }, { hits: hits(2) }],
  ["has more in a page than it has", { total: { value: 1, relation: "eq" }, hits: hits(2) }, { hits: [] }],
  ["has no total", { hits: hits(2) }, { hits: [] }],
  ["has a total that isn't a number", { total: { value: 1, relation: "gte" }, hits: hits(1) }, { hits: [] }],
  ["has hits that are none", { total: 2, hits: [null, 5] }, { hits: [] }],
  ["has hits without ids", { total: 2, hits: [{ _source: {} }] }, { hits: [] }],
  ["stops to list hits", { total: 2, hits: hits(1) }, {}],
] as const) {
  test(`a scroll that ${what} is refused`, async (t) => {
    await assert.rejects(idsOf(t, first, given), {
      code: "request_invalid",
      message: /isn't that of a search cluster/,
    });
  });
}

for (const [what, shards] of [
  ["operations beyond what a number holds", { 0: [{ seq_no: { global_checkpoint: 9e17 } }] }],
  ["operations that aren't a number", { 0: [{ seq_no: { global_checkpoint: "many" } }] }],
  ["a shard by another name", { x: [{ seq_no: { global_checkpoint: 1 } }] }],
] as const) {
  test(`a source with ${what} is refused`, async (t) => {
    const client = await answeringClient(t, () => OK({ indices: { x: { shards } }, count: 1 }));
    await assert.rejects(sequenceEnds(client, "x"), {
      code: "request_invalid",
      message: /isn't that of a search cluster/,
    });
  });
}

/** Reads a shard of `to` operations of which those with the numbers `documents` are documents. */
async function readShard(
  t: TestContext,
  to: number,
  documents: readonly number[],
): Promise<{ ids: string[]; requests: number }> {
  let requests = 0;
  const client = await answeringClient(t, (_path, sent) => {
    requests++;
    const { size, query } = JSON.parse(sent) as {
      size: number;
      query: { range: { _seq_no: { gte: number; lt: number } } };
    };
    const { gte, lt } = query.range._seq_no;
    return OK({
      hits: {
        hits: documents
          .filter((at) => at >= gte && at < lt)
          .slice(0, size)
          .map(hit),
      },
    });
  });
  const ids: string[] = [];
  for await (const page of shardPages(client, { index: "x", shard: 0, from: 0, to }))
    ids.push(...page.documents.map(({ id }) => id));
  return { ids, requests };
}

test("numbers without documents are passed in few requests", async (t) => {
  const { ids, requests } = await readShard(t, 2 ** 52, [0, 2 ** 40]);
  assert.deepEqual(ids, ["0", String(2 ** 40)]);
  assert.ok(requests < 60, String(requests));
});

test("a wide window with more documents than a page is read again in pages", async (t) => {
  const many = Array.from({ length: 25_000 }, (_, at) => 100_000 + at);
  const { ids } = await readShard(t, 200_000, many);
  assert.deepEqual(ids, many.map(String));
});

test("a window with more documents than numbers is refused", async (t) => {
  const client = await answeringClient(t, () => OK({ hits: { hits: hits(600) } }));
  await assert.rejects(shardPages(client, { index: "x", shard: 0, from: 0, to: 500 }).next(), {
    message: /600 hits/,
  });
});
