import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { WriteResult } from "#hub/cluster/writes/writes.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { ChangeProgress, changeByQuery, type FoundDocument } from "./change-by-query.ts";

const DOCUMENT: Omit<FoundDocument, "id"> = {
  index: "lines",
  type: "_doc",
  version: 1,
  seqNo: 0,
  primaryTerm: 1,
  routing: undefined,
  source: Buffer.from("{}"),
};

test("writes that a cancelled task doesn't wait for aren't failures", async () => {
  const control = new AbortController();
  const done = { index: "lines", id: "1", result: "updated" };
  const givenUp = { index: "lines", id: "2", error: new AppError("cancelled", "given up") };
  const write = (): Promise<WriteResult[]> => {
    control.abort(new AppError("cancelled", "by user request"));
    return Promise.resolve([done, givenUp] as WriteResult[]);
  };
  const documents = ["1", "2"].map((id) => ({ ...DOCUMENT, id }));
  let closed = 0;
  const pages = {
    total: 2,
    next: () => Promise.resolve(documents),
    close: () => {
      closed++;
      return Promise.resolve();
    },
  };
  const progress = new ChangeProgress();
  const options = {
    maxDocs: Number.POSITIVE_INFINITY,
    proceedOnConflict: false,
    requestsPerSecond: Number.POSITIVE_INFINITY,
    refresh: false,
    timeoutMs: 1_000,
    make: ({ index, id, source }: FoundDocument) => ({ kind: "index" as const, index, id, source }),
  };
  const parts = { documents: { write } } as unknown as ApiContext;
  await assert.rejects(changeByQuery(parts, pages, options, progress, control.signal), {
    code: "cancelled",
    message: "by user request",
  });
  assert.deepEqual([progress.updated, progress.failures, closed], [1, [], 1]);
});

test("a change that waits for its next page heeds a new speed at once", async () => {
  const written = Promise.withResolvers<void>();
  const write = (): Promise<WriteResult[]> => {
    written.resolve();
    return Promise.resolve([{ index: "lines", id: "1", result: "updated" }] as WriteResult[]);
  };
  const rest = [[{ ...DOCUMENT, id: "1" }], [{ ...DOCUMENT, id: "1" }], []];
  const pages = {
    total: 2,
    next: () => Promise.resolve(rest.shift() ?? []),
    close: () => Promise.resolve(),
  };
  const progress = new ChangeProgress();
  const options = {
    maxDocs: Number.POSITIVE_INFINITY,
    proceedOnConflict: false,
    requestsPerSecond: 1e-8,
    refresh: false,
    timeoutMs: 1_000,
    make: ({ index, id, source }: FoundDocument) => ({ kind: "index" as const, index, id, source }),
  };
  const parts = { documents: { write } } as unknown as ApiContext;
  const { signal } = new AbortController();
  const done = changeByQuery(parts, pages, options, progress, signal);
  await written.promise;
  await new Promise(setImmediate);
  assert.ok(Number(progress.print([])["throttled_until_millis"]) > 0);
  progress.rethrottle(Number.POSITIVE_INFINITY);
  await done;
  assert.equal(progress.updated, 2);
});

test("a page that may not be written fails each of its writes, and nothing is written", async () => {
  const pages = {
    total: 2,
    next: () => Promise.resolve(["1", "2"].map((id) => ({ ...DOCUMENT, id }))),
    close: () => Promise.resolve(),
  };
  const progress = new ChangeProgress();
  const checked: string[][] = [];
  const options = {
    maxDocs: Number.POSITIVE_INFINITY,
    proceedOnConflict: false,
    requestsPerSecond: Number.POSITIVE_INFINITY,
    refresh: false,
    timeoutMs: 1_000,
    checkPage: (names: readonly string[]) => {
      checked.push([...names]);
      return Promise.reject(new AppError("unavailable", "too few copies"));
    },
    make: ({ index, id, source }: FoundDocument) => ({ kind: "index" as const, index, id, source }),
  };
  const write = (): never => assert.fail("nothing may be written");
  const parts = {
    documents: { write },
    indices: { get: () => undefined, all: () => [] },
  } as unknown as ApiContext;
  await changeByQuery(parts, pages, options, progress, new AbortController().signal);
  assert.deepEqual(checked, [["lines"]]);
  const failed = progress.failures.map(({ id, status, cause }) => [
    id,
    status,
    (cause as JsonObject)["reason"],
  ]);
  assert.deepEqual(failed, [
    ["1", 503, "too few copies"],
    ["2", 503, "too few copies"],
  ]);
});

test("writes that a busy server refuses are repeated and counted, and only they", async () => {
  const rest = [["1", "2"].map((id) => ({ ...DOCUMENT, id })), []];
  const pages = { total: 2, next: () => Promise.resolve(rest.shift() ?? []), close: () => Promise.resolve() };
  const written: string[][] = [];
  const write = (items: readonly { readonly id: string }[]): Promise<WriteResult[]> => {
    written.push(items.map(({ id }) => id));
    const refused = new AppError("overloaded", "busy");
    return Promise.resolve(
      items.map(({ id }) =>
        id === "2" && written.length < 3
          ? { index: "lines", id, error: refused }
          : { index: "lines", id, result: "updated" },
      ) as WriteResult[],
    );
  };
  const progress = new ChangeProgress();
  const options = {
    maxDocs: Number.POSITIVE_INFINITY,
    proceedOnConflict: false,
    requestsPerSecond: Number.POSITIVE_INFINITY,
    refresh: false,
    timeoutMs: 1_000,
    backoffMs: [0, 0, 0],
    make: ({ index, id, source }: FoundDocument) => ({ kind: "index" as const, index, id, source }),
  };
  const parts = { documents: { write } } as unknown as ApiContext;
  await changeByQuery(parts, pages, options, progress, new AbortController().signal);
  assert.deepEqual(written, [["1", "2"], ["2"], ["2"]]);
  assert.deepEqual(progress.print(["updated"])["retries"], { bulk: 2, search: 0 });
  assert.equal(progress.updated, 2);
});

for (const when of ["in the pause before others are repeated", "while the repetition is checked"]) {
  test(`writes that succeeded count in a change that is cancelled ${when}`, async () => {
    const control = new AbortController();
    const cancel = (): void => control.abort(new AppError("cancelled", "by user request"));
    let checks = 0;
    const pages = {
      total: 2,
      next: () => Promise.resolve(["1", "2"].map((id) => ({ ...DOCUMENT, id }))),
      close: () => Promise.resolve(),
    };
    const write = (): Promise<WriteResult[]> => {
      if (when.startsWith("in")) cancel();
      const error = new AppError("overloaded", "busy");
      return Promise.resolve([
        { index: "lines", id: "1", result: "updated" },
        { index: "lines", id: "2", error },
      ] as WriteResult[]);
    };
    const progress = new ChangeProgress();
    const options = {
      maxDocs: Number.POSITIVE_INFINITY,
      proceedOnConflict: false,
      requestsPerSecond: Number.POSITIVE_INFINITY,
      refresh: false,
      timeoutMs: 1_000,
      backoffMs: [0],
      checkPage: (): Promise<void> => {
        if (++checks === 1) return Promise.resolve();
        cancel();
        return Promise.reject(new AppError("unavailable", "too few copies"));
      },
      make: ({ index, id, source }: FoundDocument) => ({ kind: "index" as const, index, id, source }),
    };
    const parts = { documents: { write } } as unknown as ApiContext;
    await assert.rejects(changeByQuery(parts, pages, options, progress, control.signal), {
      code: "cancelled",
    });
    assert.deepEqual([progress.updated, progress.batches, progress.failures], [1, 1, []]);
  });
}
