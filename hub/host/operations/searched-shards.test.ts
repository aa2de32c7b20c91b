import assert from "node:assert/strict";
import { test } from "node:test";
import type { SearchShard } from "#hub/search/phases/contract.ts";
import type { SearchCall } from "#hub/search/phases/search-call.ts";
import { DEFAULT_LIMITS } from "#hub/search/query/query.ts";
import { parseSearchRequest } from "#hub/search/request/search-request.ts";
import { AppError } from "#proto/kit/errors.ts";
import { SearchedShards } from "./searched-shards.ts";

const INDEX = { name: "logs", uuid: "u", typeName: "_doc" };

test("other hosts get their part of a search before this host searches its own shards", async () => {
  const asked: string[] = [];
  const own = {
    index: INDEX,
    shard: 0,
    order: 0,
    get searcher(): never {
      asked.push("own");
      throw new AppError("unavailable", "closed");
    },
  } satisfies SearchShard;
  const other = {
    address: { hub: "b", thread: 0 },
    shards: [{ index: INDEX, shard: 1, order: 1 }],
    host: {
      collect: (call: SearchCall) => {
        asked.push(`other: shard ${call.shards[0]!.shard}`);
        return Promise.reject(new AppError("unavailable", "gone"));
      },
      search: () => Promise.reject(new Error("not asked")),
      partial: () => Promise.reject(new Error("not asked")),
    },
  };
  const body = { size: 0 };
  const limits = DEFAULT_LIMITS;
  const request = parseSearchRequest(body, limits);
  const { signal } = new AbortController();
  const options = { signal, limits };
  await assert.rejects(new SearchedShards([own], [other]).search({ request, body, options }), {
    code: "unavailable",
  });
  assert.deepEqual(asked.slice(0, 2), ["other: shard 1", "own"]);
});
