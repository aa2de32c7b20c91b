import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_LIMITS } from "#hub/search/query/query.ts";
import { decodeValue } from "#hub/search/wire/value-reader.ts";
import { encodeValue } from "#hub/search/wire/value-writer.ts";
import { AppError } from "#proto/kit/errors.ts";
import { deferHits, RemoteSearchHost } from "./remote-host.ts";
import type { SearchCall } from "./search-call.ts";

const CALL = { body: {}, limits: DEFAULT_LIMITS, version: 605, nowMs: 0, shards: [] };

test("a collection whose reply comes after the search was cancelled is closed", async () => {
  const closed: unknown[] = [];
  const host = new RemoteSearchHost((operation, payload, _signal, late) => {
    if (operation === "close") {
      closed.push(decodeValue(payload));
      return Promise.resolve(encodeValue({ value: undefined, warnings: [] }));
    }
    late?.(encodeValue({ value: { id: "c1" }, warnings: [] }));
    return Promise.reject(new AppError("cancelled", "the request was cancelled"));
  });
  await assert.rejects(host.collect(CALL, AbortSignal.abort()), { code: "cancelled" });
  assert.deepEqual(closed, [{ id: "c1", version: 605, places: [] }]);
});

for (const [whose, closed, sent] of [
  ["that closes with the fetch is told nothing more", true, ["collect", "fetch"]],
  ["of a version that keeps it is told to close it", undefined, ["collect", "fetch", "close"]],
] as const) {
  test(`after a fetch a host ${whose}`, async () => {
    const operations: string[] = [];
    const hits = { hits: [], timedOut: false };
    const host = new RemoteSearchHost((operation) => {
      operations.push(operation);
      const value = operation === "collect" ? { id: "c1", partial: {} } : { ...hits, closed };
      return Promise.resolve(encodeValue({ value, warnings: [] }));
    });
    const { signal } = new AbortController();
    const collection = await host.collect(CALL, signal);
    assert.deepEqual(await collection.fetch([], signal), hits);
    collection.close();
    assert.deepEqual(operations, sent);
  });
}

const HITS = { hits: [{ _id: "a" }, { _id: "b" }], timedOut: false };

for (const [name, reply] of [
  ["deferred", { deferred: deferHits(HITS) }],
  ["as hosts of earlier versions send them", { fetched: HITS }],
] as const)
  test(`hits that a host fetched at once come ${name}`, async () => {
    const calls: unknown[] = [];
    const host = new RemoteSearchHost((_operation, payload) => {
      const { defersHits, fetchesIfSoon, fetches } = decodeValue(payload) as SearchCall;
      calls.push({ defersHits, fetchesIfSoon, fetches });
      return Promise.resolve(encodeValue({ value: { id: undefined, partial: {}, ...reply }, warnings: [] }));
    });
    const { signal } = new AbortController();
    const collection = await host.collect(CALL, signal);
    assert.deepEqual(await collection.fetch([1], signal), { hits: [{ _id: "b" }], timedOut: false });
    // Hubs of earlier versions would fetch whatever the search asks for.
    assert.deepEqual(calls, [{ defersHits: true, fetchesIfSoon: true, fetches: undefined }]);
  });
