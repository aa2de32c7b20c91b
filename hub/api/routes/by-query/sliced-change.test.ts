import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { WriteItem } from "#hub/api/ports/documents.ts";
import type { WriteResult } from "#hub/cluster/writes/writes.ts";
import { writeJson } from "#hub/search/options/json-writer.ts";
import type { ChangeOptions, DocumentPages, FoundDocument } from "./change-by-query.ts";
import { changeInParts, type PartOfDocuments, partsOf, readSlices, SlicedProgress } from "./sliced-change.ts";

/** Each part has one document, named as the part. */
function pagesOf(id: number): DocumentPages {
  const document: FoundDocument = {
    index: "lines",
    type: "_doc",
    id: String(id),
    version: 1,
    seqNo: 0,
    primaryTerm: 1,
    routing: undefined,
    source: Buffer.from("{}"),
  };
  const rest = [[document]];
  return {
    total: 1,
    next: () => Promise.resolve(rest.shift() ?? []),
    close: () => Promise.resolve(),
  };
}

function context(): ApiContext {
  const write = (items: readonly WriteItem[]): Promise<WriteResult[]> =>
    Promise.resolve(items.map(({ id }) => ({ index: "lines", id, result: "updated" }) as WriteResult));
  return { documents: { write } } as unknown as ApiContext;
}

const OPTIONS: ChangeOptions = {
  maxDocs: Number.POSITIVE_INFINITY,
  proceedOnConflict: false,
  requestsPerSecond: Number.POSITIVE_INFINITY,
  refresh: false,
  timeoutMs: 1_000,
  make: ({ index, id, source }) => ({ kind: "index", index, id, source }),
};

test("all parts are changed, and the answer has their sums and each of them", async () => {
  const progress = new SlicedProgress(6);
  const opened: PartOfDocuments[] = [];
  const open = (_: AbortSignal, part: PartOfDocuments): Promise<DocumentPages> => {
    opened.push(part);
    return Promise.resolve(pagesOf(part.id));
  };
  let begun = 0;
  const begin = (): Promise<void> => {
    begun++;
    return Promise.resolve();
  };
  await changeInParts(context(), open, { ...OPTIONS, begin }, progress, new AbortController().signal);
  const printed = progress.print(["updated"]);
  assert.deepEqual(
    opened.map(({ id, max }) => `${id}/${max}`),
    ["0/6", "1/6", "2/6", "3/6", "4/6", "5/6"],
  );
  assert.deepEqual([printed["total"], printed["updated"]], [6, 6]);
  assert.match(writeJson(printed), /"requests_per_second":-1\.0/);
  const slices = printed["slices"] as { slice_id: number; updated: number }[];
  assert.deepEqual(
    slices.map(({ slice_id: id, updated }) => [id, updated]),
    [0, 1, 2, 3, 4, 5].map((id) => [id, 1]),
  );
  assert.equal(begun, 1, "the destination is prepared once");
});

test("a limit of documents is shared out over the parts", async () => {
  const progress = new SlicedProgress(3);
  const open = (_: AbortSignal, { id }: PartOfDocuments): Promise<DocumentPages> =>
    Promise.resolve(pagesOf(id));
  await changeInParts(context(), open, { ...OPTIONS, maxDocs: 2 }, progress, new AbortController().signal);
  assert.deepEqual(
    progress.parts.map(({ updated }) => updated),
    [1, 1, 0],
  );
});

test("a part that can't be opened ends the others with its error", async () => {
  const progress = new SlicedProgress(2);
  const waiting = Promise.withResolvers<never>();
  const open = (signal: AbortSignal, { id }: PartOfDocuments): Promise<DocumentPages> => {
    if (id === 1) return Promise.reject(new Error("no such index"));
    signal.addEventListener("abort", () => waiting.reject(signal.reason as Error));
    return waiting.promise;
  };
  await assert.rejects(
    changeInParts(context(), open, OPTIONS, progress, new AbortController().signal),
    /no such index/,
  );
});

test("a speed is shared out over the parts that run at a time", () => {
  const progress = new SlicedProgress(2);
  progress.rethrottle(10);
  assert.deepEqual(
    [progress.parts[0]!.requestsPerSecond, writeJson(progress.print([])["requests_per_second"])],
    [5, "10.0"],
  );
});

test("slices: a number, or auto by the shards of the source", () => {
  const parts = (text: string | undefined, shards: number): number => partsOf(readSlices(text), shards);
  assert.deepEqual([parts(undefined, 3), parts("auto", 3), parts("auto", 90), parts("7", 3)], [1, 3, 20, 7]);
  for (const wrong of ["0", "-1", "many", "1025"])
    assert.throws(() => readSlices(wrong), { code: "request_invalid" }, wrong);
});
