import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DEFAULT_LIMITS } from "#hub/search/query/query.ts";
import { parseSearchRequest } from "#hub/search/request/search-request.ts";
import { searchShards } from "#hub/search/search.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const fixture = new IndexFixture({
  mapping: {
    properties: {
      message: { type: "text" },
      host: { type: "keyword" },
      took: { type: "long" },
    },
  },
  docs: {
    a: { message: "connection refused by upstream", host: "web-1", took: 1 },
    b: { message: "connection reset by peer", host: "web-2", took: 2 },
    c: { message: "upstream refused the connection", host: "web-1", took: 3 },
    d: { message: "disk is full", host: "db-1", took: 4 },
  },
});
after(() => fixture.close());

const ANY = { min_term_freq: 1, min_doc_freq: 1 };

async function found(query: JsonObject): Promise<string[]> {
  const request = parseSearchRequest({ query: { more_like_this: query } }, DEFAULT_LIMITS);
  const options = { signal: new AbortController().signal, limits: DEFAULT_LIMITS };
  const { hits, shards } = await searchShards(request, fixture.shards, options);
  assert.deepEqual(shards.failures, []);
  return hits.map((hit) => String(hit["_id"])).sort();
}

const CASES: readonly (readonly [what: string, query: JsonObject, expected: string[]])[] = [
  ["words of a text", { ...ANY, fields: ["message"], like: "refused upstream" }, ["a", "c"]],
  [
    "a stored document, which isn't found itself",
    { ...ANY, fields: ["message"], like: { _id: "a", doc: { message: "connection refused by upstream" } } },
    ["b", "c"],
  ],
  [
    "the same with all of its words",
    {
      ...ANY,
      fields: ["message"],
      minimum_should_match: "100%",
      include: true,
      like: { _id: "a", doc: { message: "connection refused by upstream" } },
    },
    ["a"],
  ],
  ["keywords", { ...ANY, like: { doc: { host: "web-1" } } }, ["a", "c"]],
  [
    "what another document lacks",
    { ...ANY, fields: ["message"], like: "connection refused", unlike: { doc: { message: "refused" } } },
    ["a", "b", "c"],
  ],
  [
    "common words only",
    { ...ANY, fields: ["mess*"], like: "disk connection", min_doc_freq: 2 },
    ["a", "b", "c"],
  ],
  ["rare words only", { ...ANY, fields: ["message"], like: "disk connection", max_doc_freq: 1 }, ["d"]],
  [
    "the most telling word",
    { ...ANY, fields: ["message"], like: "connection disk", max_query_terms: 1 },
    ["d"],
  ],
  [
    "long words",
    { ...ANY, fields: ["message"], like: "disk connection", min_word_length: 5 },
    ["a", "b", "c"],
  ],
  ["short words", { ...ANY, fields: ["message"], like: "disk connection", max_word_length: 5 }, ["d"]],
  [
    "no stop words",
    { ...ANY, fields: ["message"], like: "disk connection", stop_words: ["disk"] },
    ["a", "b", "c"],
  ],
  ["nothing where words are too rare", { fields: ["message"], like: "connection connection" }, []],
  [
    "another type where it may be left out",
    { ...ANY, fields: ["took", "message"], like: "disk", fail_on_unsupported_field: false, boost_terms: 2 },
    ["d"],
  ],
];

for (const [what, query, expected] of CASES) {
  test(`documents are like ${what}: ${expected.join(", ") || "none"}`, async () => {
    assert.deepEqual(await found(query), expected);
  });
}

for (const [query, message] of [
  [{}, /\[like\]/],
  [{ like: [] }, /requires either 'like' texts or documents/],
  [{ like: "a", fields: [] }, /'fields' to be non-empty/],
  [{ like: [1] }, /must hold texts and documents, but holds/],
  [{ like: Array.from({ length: 101 }, () => "a") }, /at most 100 items/],
] as const) {
  test(`${JSON.stringify(query).slice(0, 60)} is refused`, async () => {
    await assert.rejects(found(query), (error) => error instanceof AppError && message.test(error.message));
  });
}

test("a field of numbers fails the search where it must have words", async () => {
  const body = { query: { more_like_this: { ...ANY, fields: ["took"], like: "1" } } };
  const request = parseSearchRequest(body, DEFAULT_LIMITS);
  const options = { signal: new AbortController().signal, limits: DEFAULT_LIMITS };
  await assert.rejects(searchShards(request, fixture.shards, options), { message: /all shards failed/ });
});
