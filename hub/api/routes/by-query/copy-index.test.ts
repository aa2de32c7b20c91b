import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import { Tasks } from "#hub/api/context/tasks.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import type { WriteItem } from "#hub/api/ports/documents.ts";
import { ANONYMOUS } from "#hub/auth/accounts/principal.ts";
import type { WriteResult } from "#hub/cluster/writes/writes.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { startCopy } from "./copy-index.ts";

const REQUEST = { principal: ANONYMOUS, headers: {}, flag: () => undefined } as unknown as ApiRequest;

/** A context whose writes are answered by `write`, and the indices that were deleted in it. */
function context(write: (item: WriteItem) => WriteResult): { parts: ApiContext; deleted: string[] } {
  const deleted: string[] = [];
  const parts = {
    tasks: new Tasks(systemClock),
    documents: { write: (items: readonly WriteItem[]) => Promise.resolve(items.map(write)) },
    indices: {
      get: () => undefined,
      deleteExactly: ({ uuid }: { uuid: string }) => {
        deleted.push(uuid);
        return Promise.resolve();
      },
    },
    maintenance: { refresh: () => Promise.resolve() },
  } as unknown as ApiContext;
  return { parts, deleted };
}

/** A copy of documents 1 to 3. */
function copyOfThree(finish: () => Promise<void>) {
  const pages = [["1", "2"], ["3"], []];
  const source = { index: "from", type: undefined, seqNo: 0, primaryTerm: 1, routing: "r" };
  return {
    action: "copy",
    description: "",
    target: { name: "to", uuid: "made" },
    finish,
    open: () =>
      Promise.resolve({
        total: 3,
        next: () =>
          Promise.resolve(
            pages.shift()!.map((id) => ({ ...source, id, version: 7, source: Buffer.from("{}") })),
          ),
        close: () => Promise.resolve(),
      }),
  };
}

test("a copy keeps ids, routing and versions, and no pipeline runs", async () => {
  const items: WriteItem[] = [];
  const { parts, deleted } = context((item) => {
    items.push(item);
    return { index: "to", id: item.id!, result: "created" } as WriteResult;
  });
  let finished = 0;
  const copy = await startCopy(
    parts,
    REQUEST,
    copyOfThree(() => Promise.resolve(void finished++)),
  );
  await copy.done;
  assert.deepEqual(
    items.map(({ id, routing, version }) => [id, routing, version]),
    ["1", "2", "3"].map((id) => [id, "r", 7]),
  );
  assert.deepEqual([finished, deleted], [1, []]);
});

test("a copy that fails, or can't begin, leaves no index", async () => {
  const error = new AppError("unavailable", "the log is full");
  const { parts, deleted } = context(({ id }) => ({ index: "to", id: id!, error }));
  const copy = await startCopy(
    parts,
    REQUEST,
    copyOfThree(() => assert.fail("it isn't complete")),
  );
  await assert.rejects(copy.done, /document \[1\] can't be copied into \[to\].*the log is full/);
  assert.deepEqual(deleted, ["made"]);
  parts.tasks.start = () => {
    throw new AppError("overloaded", "too many");
  };
  await assert.rejects(
    startCopy(
      parts,
      REQUEST,
      copyOfThree(() => Promise.resolve()),
    ),
    { code: "overloaded" },
  );
  assert.deepEqual(deleted, ["made", "made"]);
});
