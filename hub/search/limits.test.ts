import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { DEFAULT_LIMITS } from "#hub/search/query/query.ts";
import { parseSearchRequest } from "#hub/search/request/search-request.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";
import { searchShards } from "./search.ts";

const fixture = new IndexFixture({
  mapping: {
    properties: {
      text: { type: "text" },
      offsets: { type: "text", index_options: "offsets" },
      host: { type: "keyword" },
    },
  },
  docs: [{ text: "a quick brown fox", offsets: "a quick brown fox", host: "a" }],
});
after(() => fixture.close());

const LIMITS = { ...DEFAULT_LIMITS, maxRescoreWindow: 5, maxColumnFields: 2, maxRegexLength: 8 };

const REFUSED: readonly (readonly [body: JsonObject, message: RegExp])[] = [
  [{ docvalue_fields: ["a", "b", "c"] }, /too many docvalue_fields.*\[2\] but was \[3\]/],
  [
    { rescore: { window_size: 6, query: { rescore_query: { match_all: {} } } } },
    /Rescore window \[6\] is too large\. It must be less than \[5\]/,
  ],
  [{ query: { regexp: { host: "a.+b.+c.+" } } }, /length of regex \[9\].*allowed maximum of \[8\]/],
];

describe("limits of an index", () => {
  for (const [body, message] of REFUSED) {
    test(`${JSON.stringify(body)} goes beyond them and is refused`, () => {
      assert.throws(
        () => parseSearchRequest(body, LIMITS),
        (error) => error instanceof AppError && error.status === 400 && message.test(error.message),
      );
      parseSearchRequest(body, DEFAULT_LIMITS);
    });
  }

  test("a regular expression in a query string is as short", async () => {
    const search = (query: JsonObject): Promise<unknown> => {
      const request = parseSearchRequest({ query }, LIMITS);
      return searchShards(request, fixture.shards, { signal: new AbortController().signal, limits: LIMITS });
    };
    await search({ query_string: { query: "host:/a.+b/" } });
    await assert.rejects(
      search({ query_string: { query: "host:/a.+b.+c.+/" } }),
      (error) => error instanceof AppError && /length of regex \[9\]/.test(String(error.cause)),
    );
  });

  test("a text beyond the limit of analysed characters isn't highlighted, except by offsets", async () => {
    const shards = fixture.shards.map((shard) => ({
      ...shard,
      index: { ...shard.index, maxAnalyzedOffset: 10 },
    }));
    const highlight = async (field: string, type: string): Promise<unknown> => {
      const body = { query: { match: { [field]: "fox" } }, highlight: { type, fields: { [field]: {} } } };
      const request = parseSearchRequest(body, DEFAULT_LIMITS);
      const options = { signal: new AbortController().signal, limits: DEFAULT_LIMITS };
      return (await searchShards(request, shards, options)).hits[0]!["highlight"];
    };
    assert.deepEqual(await highlight("offsets", "unified"), { offsets: ["a quick brown <em>fox</em>"] });
    for (const [field, type] of [
      ["text", "unified"],
      ["text", "plain"],
      ["offsets", "plain"],
    ] as const)
      await assert.rejects(highlight(field, type), /has exceeded \[10\] - maximum allowed to be analyzed/);
  });
});
