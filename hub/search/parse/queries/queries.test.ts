import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const DOCS: Record<string, JsonObject> = {
  a: {
    message: "GET /index.html quick brown fox",
    status: 200,
    host: "web-1",
    at: "2018-11-14T10:00:00Z",
    ip: "10.0.0.1",
    ok: true,
    bytes: 1.5,
  },
  b: {
    message: "POST /login failed password for root",
    status: 401,
    host: "web-2",
    at: "2018-11-14T11:30:00Z",
    ip: "10.0.0.2",
    ok: false,
    bytes: 2.5,
    tags: ["auth", "error"],
  },
  c: {
    message: "the quick fox jumps over the brown dog",
    status: 500,
    host: "db-1",
    at: "2018-11-15T00:00:00Z",
    ip: "192.168.1.7",
    ok: false,
    tags: ["error"],
  },
  d: {
    message: "brown bread",
    status: 404,
    host: "web-1",
    at: "2018-12-01T00:00:00Z",
    ip: "2001:db8::1",
    user: { name: "ann", age: 9007199254740993n as unknown as number },
  },
  e: { message: "gone", status: 404, host: "web-9", at: "2018-12-01T00:00:00Z", ip: "10.0.0.9" },
};

/** Stop words such as "the" have no terms. */
const STOP: JsonObject = { fields: ["message"], analyzer: "stop" };

const MAPPING = {
  properties: {
    message: { type: "text", fields: { keyword: { type: "keyword", ignore_above: 256 } } },
    status: { type: "integer" },
    host: { type: "keyword" },
    at: { type: "date" },
    ip: { type: "ip" },
    ok: { type: "boolean" },
    bytes: { type: "double" },
    tags: { type: "keyword" },
    user: { properties: { name: { type: "keyword" }, age: { type: "long" } } },
    secret: { type: "keyword", index: false },
  },
};

function docText(doc: JsonObject): string {
  return JSON.stringify(doc, (_key, value: unknown) =>
    typeof value === "bigint" ? `#${value}#` : value,
  ).replace(/"#(\d+)#"/g, "$1");
}

const one = new IndexFixture({
  mapping: MAPPING,
  docs: Object.fromEntries(Object.entries(DOCS).map(([id, doc]) => [id, docText(doc)])),
  deleted: ["e"],
});
const many = new IndexFixture({
  mapping: MAPPING,
  docs: Object.fromEntries(Object.entries(DOCS).map(([id, doc]) => [id, docText(doc)])),
  deleted: ["e"],
  segmentDocs: 1,
  shards: 2,
});
after(() => {
  one.close();
  many.close();
});

/** [query, ids that match, in any order] */
const MATCHES: readonly (readonly [query: JsonObject, ids: string])[] = [
  [{ match_all: {} }, "abcd"],
  [{ match_none: {} }, ""],
  [{ match: { message: "quick" } }, "ac"],
  [{ match: { message: "QUICK bread" } }, "acd"],
  [{ match: { message: { query: "quick brown", operator: "and" } } }, "ac"],
  [{ match: { message: { query: "quick brown bread", minimum_should_match: "3" } } }, ""],
  [{ match: { message: { query: "quick brown bread", minimum_should_match: "70%" } } }, "acd"],
  [{ match: { message: { query: "qiuck", fuzziness: "AUTO" } } }, "ac"],
  [{ match: { message: "" } }, ""],
  [{ match: { message: { query: "", zero_terms_query: "all" } } }, "abcd"],
  [{ match: { status: 404 } }, "d"],
  [{ match: { status: "404" } }, "d"],
  [{ match: { nothing: "x" } }, ""],
  [{ match: { status: { query: "abc", lenient: true } } }, ""],
  [{ match_phrase: { message: "quick brown" } }, "a"],
  [{ match_phrase: { message: { query: "quick brown", slop: 4 } } }, "ac"],
  [{ match_phrase: { message: "brown quick" } }, ""],
  [{ match_phrase: { message: "quick fox" } }, "c"],
  [{ match_phrase: { message: "bread" } }, "d"],
  [{ match_phrase_prefix: { message: "quick bro" } }, "a"],
  [{ match_phrase_prefix: { message: "bro" } }, "acd"],
  [{ multi_match: { query: "web-1", fields: ["host", "message"] } }, "ad"],
  [{ multi_match: { query: "quick", fields: ["mess*^2"] } }, "ac"],
  [{ multi_match: { query: "404" } }, "d"],
  ...["best_fields", "cross_fields", "phrase"].flatMap((type): [JsonObject, string][] => {
    const blank = { query: "", type, fields: ["message"] };
    return [
      [{ multi_match: blank }, ""],
      [{ multi_match: { ...blank, zero_terms_query: "all" } }, "abcd"],
    ];
  }),
  [{ term: { host: "web-1" } }, "ad"],
  [{ term: { host: { value: "web-1", boost: 2 } } }, "ad"],
  [{ term: { message: "quick" } }, "ac"],
  [{ term: { message: "Quick" } }, ""],
  [{ term: { "message.keyword": "brown bread" } }, "d"],
  [{ term: { status: 200 } }, "a"],
  [{ term: { status: 200.5 } }, ""],
  [{ term: { ok: true } }, "a"],
  [{ term: { ok: "false" } }, "bc"],
  [{ term: { ip: "10.0.0.1" } }, "a"],
  [{ term: { ip: "10.0.0.0/30" } }, "ab"],
  [{ term: { ip: "2001:db8::/32" } }, "d"],
  [{ term: { at: "2018-11-14" } }, "ab"],
  [{ term: { "user.age": 9007199254740993n } }, "d"],
  [{ term: { "user.age": 9007199254740992 } }, ""],
  [{ term: { _id: "c" } }, "c"],
  [{ term: { _index: "logs" } }, "abcd"],
  [{ term: { _index: "other" } }, ""],
  [{ prefix: { _index: "lo" } }, "abcd"],
  [{ prefix: { _index: "ot" } }, ""],
  [{ wildcard: { _index: "l*s" } }, "abcd"],
  [{ wildcard: { _index: "l*x" } }, ""],
  [{ term: { _index: { value: "LOGS", case_insensitive: true } } }, "abcd"],
  [{ term: { _index: "LOGS" } }, ""],
  [{ prefix: { _index: { value: "Lo", case_insensitive: true } } }, "abcd"],
  [{ wildcard: { _index: { value: "L*S", case_insensitive: true } } }, "abcd"],
  [{ wildcard: { _index: "L*S" } }, ""],
  [{ query_string: { query: "_index:lo*" } }, "abcd"],
  [{ query_string: { query: "_index:ot*" } }, ""],
  [{ terms: { host: ["web-1", "db-1"] } }, "acd"],
  [{ terms: { status: [200, 404, 999] } }, "ad"],
  [{ terms: { tags: [] } }, ""],
  [{ range: { status: { gte: 400, lt: 500 } } }, "bd"],
  [{ range: { status: { gt: 401 } } }, "cd"],
  [{ range: { status: { gt: 400.5, lte: "404" } } }, "bd"],
  [{ range: { status: { from: 401, to: 500, include_upper: false } } }, "bd"],
  [{ range: { bytes: { gt: 1.5 } } }, "b"],
  [{ range: { at: { gte: "2018-11-14", lte: "2018-11-14" } } }, "ab"],
  [{ range: { at: { gte: "2018-11-14T11:00:00+01:00" } } }, "abcd"],
  [{ range: { at: { gt: "2018-11-14" } } }, "cd"],
  [{ range: { at: { lt: "2018-11-15" } } }, "ab"],
  [{ range: { at: { lt: "2018-11-15", time_zone: "+01:00" } } }, "ab"],
  [{ range: { at: { gte: "2018-11-15", time_zone: "-12:00" } } }, "d"],
  [{ range: { at: { gte: "2018-11-15||-1d/d", lt: "2018-11-15||/d" } } }, "ab"],
  [{ range: { at: { gte: "14/11/2018", lte: "15/11/2018", format: "dd/MM/yyyy" } } }, "abc"],
  [{ range: { at: { gte: "now-100y" } } }, "abcd"],
  [{ range: { host: { gte: "web", lt: "web-2" } } }, "ad"],
  [{ range: { ip: { gte: "10.0.0.2", lte: "192.168.255.255" } } }, "bc"],
  [{ range: { "user.age": { gte: 9007199254740993n } } }, "d"],
  [{ range: { "user.age": { gt: 9007199254740993n } } }, ""],
  [{ range: { tags: {} } }, "bc"],
  [{ bool: { must: [{ match: { message: "brown" } }], must_not: [{ term: { host: "db-1" } }] } }, "ad"],
  [{ bool: { must_not: { term: { host: "web-1" } } } }, "bc"],
  [{ bool: { should: [{ term: { status: 200 } }, { term: { status: 500 } }] } }, "ac"],
  [{ bool: { filter: { range: { status: { gte: 400 } } }, should: [{ term: { status: 500 } }] } }, "bcd"],
  [
    {
      bool: {
        should: [{ match: { message: "quick" } }, { match: { message: "dog" } }],
        minimum_should_match: 2,
      },
    },
    "c",
  ],
  [{ bool: {} }, "abcd"],
  [{ exists: { field: "tags" } }, "bc"],
  [{ exists: { field: "user" } }, "d"],
  [{ exists: { field: "user.*" } }, "d"],
  [{ exists: { field: "nothing" } }, ""],
  [{ ids: { values: ["a", "d", "x"] } }, "ad"],
  [{ prefix: { host: "web" } }, "abd"],
  [{ prefix: { message: { value: "bro" } } }, "acd"],
  [{ wildcard: { host: "w*-1" } }, "ad"],
  [{ wildcard: { host: "web-?" } }, "abd"],
  [{ wildcard: { host: "db-1" } }, "c"],
  [{ wildcard: { host: { value: "W*-1", case_insensitive: true } } }, "ad"],
  [{ wildcard: { host: { value: "DB-1", case_insensitive: true } } }, "c"],
  [{ wildcard: { host: { value: "W*-1", case_insensitive: false } } }, ""],
  [{ prefix: { host: { value: "WEB", case_insensitive: true } } }, "abd"],
  [{ term: { host: { value: "WEB-2", case_insensitive: true } } }, "b"],
  [{ term: { host: { value: "WEB", case_insensitive: true } } }, ""],
  [{ regexp: { host: { value: "(WEB|dB)-[12]", case_insensitive: true } } }, "abcd"],
  [{ regexp: { host: { value: "[A-W][^X]b-2", case_insensitive: true } } }, "b"],
  [{ regexp: { host: "(web|db)-[12]" } }, "abcd"],
  [{ regexp: { host: "web-.{2}" } }, ""],
  [{ term: { host: { value: "WEB-1", case_insensitive: true } } }, "ad"],
  [{ term: { host: { value: "WEB-1", case_insensitive: false } } }, ""],
  [{ prefix: { host: { value: "Web", case_insensitive: true } } }, "abd"],
  [{ wildcard: { host: { value: "W?B-1", case_insensitive: true } } }, "ad"],
  [{ regexp: { host: { value: "(WEB|Db)-1", case_insensitive: true } } }, "acd"],
  [{ fuzzy: { message: { value: "bown" } } }, "acd"],
  [{ fuzzy: { message: { value: "brow", prefix_length: 3 } } }, "acd"],
  [{ fuzzy: { message: { value: "brow", prefix_length: 4 } } }, ""],
  [{ fuzzy: { message: { value: "brown", prefix_length: 9 } } }, "acd"],
  [{ constant_score: { filter: { term: { status: 404 } } } }, "d"],
  [{ dis_max: { queries: [{ term: { status: 200 } }, { match: { message: "fox" } }] } }, "ac"],
  [{ type: { value: "_doc" } }, "abcd"],
  [{ query_string: { query: "quick AND NOT dog" } }, "a"],
  [{ query_string: { query: "status:[400 TO 499]" } }, "bd"],
  [{ query_string: { query: "status:{401 TO 500]" } }, "cd"],
  [{ query_string: { query: "status:>=404 -host:db-1" } }, "d"],
  [{ query_string: { query: 'message:"quick brown"~4' } }, "ac"],
  [{ query_string: { query: "host:web*" } }, "abd"],
  [{ query_string: { query: "_exists_:tags" } }, "bc"],
  [{ query_string: { query: "tags:*" } }, "bc"],
  [{ query_string: { query: "*:*" } }, "abcd"],
  [{ query_string: { query: "*" } }, "abcd"],
  [{ query_string: { query: "host:(web\\-1 OR db\\-1)" } }, "acd"],
  [{ query_string: { query: "quick brown", default_operator: "AND", default_field: "message" } }, "ac"],
  [{ query_string: { query: "the AND quick", ...STOP } }, "ac"],
  [{ query_string: { query: "quick (the OR a) dog", default_operator: "and", ...STOP } }, "c"],
  [{ query_string: { query: '"the" AND quick', ...STOP } }, "ac"],
  [{ query_string: { query: "the", ...STOP } }, ""],
  [{ query_string: { query: "NOT the", ...STOP } }, ""],
  [{ simple_query_string: { query: "the + quick", ...STOP } }, "ac"],
  [{ simple_query_string: { query: "the quick dog", default_operator: "and", ...STOP } }, "c"],
  // Words side by side are one text for each of several fields: no field of a document has both.
  [{ query_string: { query: "quick db\\-1", default_operator: "AND", fields: ["message", "host"] } }, ""],
  [{ query_string: { query: "quick AND db\\-1", fields: ["message", "host"] } }, "c"],
  [
    {
      query_string: {
        query: "quick db-1",
        fields: ["message", "host"],
        type: "cross_fields",
        default_operator: "AND",
      },
    },
    "c",
  ],
  [{ query_string: { query: "quick fox", default_operator: "AND", fields: ["message", "host"] } }, "ac"],
  [
    { query_string: { query: "quick fox host:db-1", default_operator: "AND", fields: ["message", "host"] } },
    "c",
  ],
  [
    { query_string: { query: "brown bread OR gone", default_operator: "AND", default_field: "message" } },
    "acd",
  ],
  [{ query_string: { query: "quick 404", lenient: true, fields: ["message", "status"] } }, "ac"],
  [{ query_string: { query: "tags:(auth error)" } }, ""],
  [{ query_string: { query: "tags:(auth OR error)" } }, "bc"],
  [{ query_string: { query: "tags:(auth error)", type: "cross_fields" } }, "bc"],
  [{ query_string: { query: "quick brown dog", default_field: "message", minimum_should_match: "3" } }, "c"],
  [{ query_string: { query: "quick bread^2 fox", default_field: "message", default_operator: "AND" } }, ""],
  [
    { query_string: { query: "message:quick brow* dog", default_operator: "AND", default_field: "message" } },
    "c",
  ],
  [
    { query_string: { query: "quick brown NOT dog", default_operator: "AND", default_field: "message" } },
    "a",
  ],
  [
    { query_string: { query: "quick brown -dog", default_operator: "AND", fields: ["message", "host"] } },
    "a",
  ],
  [{ query_string: { query: "Bre?d", default_field: "message" } }, "d"],
  [{ query_string: { query: "message:/br.*d/" } }, "d"],
  [{ query_string: { query: "qiuck~", default_field: "message" } }, "ac"],
  [{ query_string: { query: "at:[2018-11-14 TO 2018-11-14]" } }, "ab"],
  [{ query_string: { query: "+brown +bread", fields: ["message"] } }, "d"],
  [{ simple_query_string: { query: "quick + -dog", fields: ["message"] } }, "a"],
  [{ simple_query_string: { query: '"brown fox" | bread', fields: ["message"] } }, "ad"],
  [{ simple_query_string: { query: "bre*", fields: ["message"] } }, "d"],
  [{ simple_query_string: { query: '((( "', fields: ["message"] } }, ""],
];

describe("queries", () => {
  for (const [query, ids] of MATCHES) {
    test(`${JSON.stringify(query, (_k, v: unknown) => (typeof v === "bigint" ? String(v) : v))} matches ${ids || "nothing"}`, async () => {
      assert.equal((await one.ids({ query })).sort().join(""), ids);
      assert.equal((await many.ids({ query })).sort().join(""), ids, "in many segments and shards");
      assert.equal((await one.search({ query, size: 0 })).total, ids.length, "counted alone");
      assert.equal(
        (await many.search({ query, size: 1, sort: [{ at: "desc" }] })).total,
        ids.length,
        "counted and sorted",
      );
    });
  }
});

/** [query, code, message] */
const FAULTS: readonly (readonly [query: unknown, code: string, message: RegExp])[] = [
  [{ foo: {} }, "parsing", /no \[query\] registered for \[foo\]/],
  [{ mathc: { a: 1 } }, "parsing", /did you mean "match"/],
  [{ match: {} }, "parsing", /is empty/],
  [{ term: { "": 1 } }, "request_invalid", /^field name is null or empty$/],
  [{ range: { "": { gte: 1 } } }, "request_invalid", /^field name is null or empty$/],
  [{ exists: { field: "" } }, "request_invalid", /^field name is null or empty$/],
  [{ terms: { "": [1] } }, "request_invalid", /^field name cannot be null\.$/],
  [{ match_phrase: { "": "x" } }, "request_invalid", /^\[match_phrase\] requires fieldName$/],
  [{ match: "x" }, "parsing", /\[match\] query malformed, no start_object after query name/],
  [{ foo: "x" }, "parsing", /\[foo\] query malformed, no start_object after query name/],
  [{ match: { a: "x", b: "y" } }, "parsing", /doesn't support multiple fields, found \[a\] and \[b\]/],
  [{ match: { a: { query: "x", foo: 1 } } }, "parsing", /\[match\] query does not support \[foo\]/],
  [{ bool: { foo: [] } }, "parsing", /\[bool\] query does not support \[foo\]/],
  [{ bool: { must: [{}] } }, "request_invalid", /query malformed, empty clause found/],
  [{ range: { status: { gte: "abc" } } }, "query_shard", /For input string: "abc"/],
  [{ range: { at: { gte: "yesterday" } } }, "parsing", /failed to parse date field \[yesterday\]/],
  [{ range: { at: { gte: "now-1x" } } }, "parsing", /isn't date math/],
  [{ term: { secret: "x" } }, "query_shard", /not indexed/],
  [{ terms: { host: "x" } }, "parsing", /array of values/],
  [{ regexp: { host: "(" } }, "request_invalid", /invalid at character/],
  [{ regexp: { host: "a{2,1}" } }, "request_invalid", /fewer times/],
  ...["prefix", "wildcard", "regexp", "fuzzy"].map(
    (kind) =>
      [
        { [kind]: { host: { value: "w", rewrite: "top_terms_x" } } },
        "request_invalid",
        /^Failed to parse rewrite_method \[top_terms_x\]$/,
      ] as const,
  ),
  [{ query_string: { query: "w*", rewrite: "foo" } }, "request_invalid", /rewrite_method \[foo\]$/],
  [{ regexp: { host: { value: "w", flags: "FOO" } } }, "request_invalid", /^Unknown regexp flag \[FOO\]$/],
  [{ wildcard: { status: "4*" } }, "query_shard", /keyword and text fields/],
  [{ query_string: { query: "a AND" } }, "query_shard", /missing at the end/],
  [{ query_string: { query: '"open' } }, "query_shard", /closing quote/],
  [{ query_string: { query: "(a" } }, "query_shard", /expected "\)"/],
  [
    { bool: { should: Array.from({ length: 1100 }, () => ({ match_all: {} })) } },
    "request_invalid",
    /at most 1024 clauses/,
  ],
];

describe("faulty queries", () => {
  for (const [query, code, message] of FAULTS) {
    test(`${JSON.stringify(query).slice(0, 60)} is refused with ${code}`, async () => {
      await assert.rejects(one.search({ query }), (error) => {
        assert.ok(error instanceof AppError);
        const inner = error.message === "all shards failed" ? (error.cause as AppError) : error;
        assert.equal(inner.code, code);
        assert.match(inner.message, message);
        return true;
      });
    });
  }
});

describe("scores", () => {
  test("follow BM25 of Lucene 7, and the best comes first", async () => {
    const { hits, maxScore } = await one.search({ query: { match: { message: "brown" } } });
    assert.deepEqual(
      hits.map((hit) => hit["_id"]),
      ["d", "a", "c"],
    );
    // 5 documents with the field, 3 of them with the term; lengths 5, 6, 8, 2, and 1 of the deleted one.
    const idf = Math.log(1 + (5 - 3 + 0.5) / (3 + 0.5));
    const average = (5 + 6 + 8 + 2 + 1) / 5;
    const expected = (idf * 2.2) / (1 + 1.2 * (0.25 + (0.75 * 2) / average));
    assert.ok(Math.abs(maxScore! - expected) < 1e-6, `${maxScore} is not ${expected}`);
  });

  test("of filters are 0, of constant_score the boost, of match_all 1", async () => {
    const filter = await one.search({ query: { bool: { filter: { match: { message: "brown" } } } } });
    assert.equal(filter.maxScore, 0);
    const constant = await one.search({
      query: { constant_score: { filter: { term: { status: 404 } }, boost: 3.5 } },
    });
    assert.equal(constant.maxScore, 3.5);
    assert.equal((await one.search({ query: { match_all: { boost: 2 } } })).maxScore, 2);
  });

  test("add up over the clauses of bool and take the best of dis_max", async () => {
    const score = async (query: JsonObject): Promise<number> => (await one.search({ query })).maxScore!;
    const quick = await score({ match: { message: "quick" } });
    const open = { constant_score: { filter: { term: { ok: true } } } };
    const both = await score({ bool: { must: [{ match: { message: "quick" } }, open] } });
    assert.ok(Math.abs(both - quick - 1) < 1e-6);
    const best = await score({
      dis_max: { queries: [{ match: { message: "quick" } }, open], tie_breaker: 0.5 },
    });
    assert.ok(Math.abs(best - Math.max(quick, 1) - 0.5 * Math.min(quick, 1)) < 1e-6);
  });

  test("below min_score drop the hit", async () => {
    assert.deepEqual(await one.ids({ query: { match: { message: "brown" } }, min_score: 0.6 }), ["d"]);
  });
});

describe("fractions", () => {
  const fractions = new IndexFixture({
    mapping: { properties: { half: { type: "half_float" }, float: { type: "float" } } },
    docs: [{ half: 1.2, float: 0.1 }],
  });
  after(() => fractions.close());

  for (const [query, count] of [
    [{ term: { half: 1.2 } }, 1],
    [{ range: { half: { gte: 1.2, lte: 1.2 } } }, 1],
    [{ range: { half: { gt: 1.2 } } }, 0],
    [{ range: { float: { gte: 0.1, lte: 0.1 } } }, 1],
    [{ range: { float: { lt: 0.1 } } }, 0],
  ] as const) {
    test(`${JSON.stringify(query)} compares with the rounded value`, async () => {
      assert.equal((await fractions.search({ query })).total, count);
    });
  }
});
