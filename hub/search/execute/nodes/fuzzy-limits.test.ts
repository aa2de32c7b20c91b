/** Fuzzy clauses that stand for many terms: searches end, or are refused, without keeping the thread. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DEFAULT_LIMITS } from "#hub/search/query/query.ts";
import { parseSearchRequest } from "#hub/search/request/search-request.ts";
import { searchShards } from "#hub/search/search.ts";
import type { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

/** All are similar to each other: one edit apart at most. */
const WORDS = Array.from({ length: 300 }, (_, at) => `w${at.toString(36).padStart(2, "0")}`);

const index = new IndexFixture({
  mapping: { properties: { text: { type: "text" }, parts: { type: "nested" } } },
  docs: WORDS.map((_, at) => {
    const text = WORDS.slice(at, at + 20).join(" ");
    return { text, parts: [{ text }] };
  }),
});
after(() => index.close());

function match(field: string, words: readonly string[]): JsonObject {
  return { match: { [field]: { query: words.join(" "), fuzziness: 2, max_expansions: 300 } } };
}

function search(query: JsonObject, body: JsonObject = {}): ReturnType<typeof searchShards> {
  const request = parseSearchRequest({ ...body, query }, DEFAULT_LIMITS);
  return searchShards(request, index.shards, {
    limits: DEFAULT_LIMITS,
    signal: new AbortController().signal,
  });
}

const isRefused = (error: AppError): boolean =>
  /more than 20000 terms; search for fewer words, give more characters, or lower \[max_expansions\]/.test(
    String(error.cause),
  );

test("fuzzy clauses that stand for too many terms together are refused with the remedy", async () => {
  await assert.rejects(search(match("text", WORDS.slice(0, 80))), isRefused);
});

test("those among nested objects are counted together", async () => {
  const should = [WORDS.slice(0, 40), WORDS.slice(40, 80)].map((words) => ({
    nested: { path: "parts", query: match("parts.text", words) },
  }));
  await assert.rejects(search({ bool: { should } }), isRefused);
  assert.equal((await search(should[0]!)).total, WORDS.length);
});

test("a query within the limit may be explained for each hit", async () => {
  const { hits } = await search(match("text", WORDS.slice(0, 5)), { explain: true, size: 5 });
  assert.ok(hits.every((hit) => hit["_explanation"] !== undefined));
});

test("many fuzzy words find as many documents as there are", async () => {
  const { total } = await search(match("text", WORDS.slice(0, 20)));
  assert.equal(total, WORDS.length);
});
