import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { QUERIES_BY_NAME } from "#hub/search/parse/queries/all.ts";
import { QueryParser } from "#hub/search/parse/query-parser.ts";
import { DEFAULT_LIMITS } from "#hub/search/query/query.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { asRead, hostsOf, type TestShard } from "#test/support/search/hosts.ts";
import { IndexFixture } from "#test/support/search/shards.ts";
import { writeJson } from "./options/json-writer.ts";
import { parseSuggest, suggest, suggestOnHosts } from "./suggest.ts";

const fixture = new IndexFixture({
  mapping: {
    properties: {
      name: { type: "completion" },
      title: { type: "text", fields: { complete: { type: "completion", max_input_length: 8 } } },
      body: { type: "text" },
      host: { type: "keyword" },
    },
  },
  docs: {
    a: { name: "Nevermind", title: "Ten  Songs", body: "amsterdam meetup", host: "a" },
    b: { name: { input: ["Nirvana", "Never  more"], weight: 34 }, body: "amsterdam", host: "b" },
    c: { name: [{ input: "Nirvana", weight: 3 }, { input: "Tenth" }], body: "amsterdum", host: "a" },
    d: { name: "nevada", title: ["Tent", "Tenor"], host: "b" },
    e: { name: "nirvana", host: "a" },
  },
  deleted: ["e"],
  shards: 3,
  segmentDocs: 2,
});
after(() => fixture.close());

const parser = new QueryParser(QUERIES_BY_NAME);

async function ask(
  body: JsonObject,
  shards: readonly TestShard[] = fixture.shards,
  typedKeys = false,
): Promise<JsonObject> {
  const { signal } = new AbortController();
  const suggesters = parseSuggest({ suggest: body }, { maxRegexLength: 20 });
  const [wanted, spread] = await Promise.allSettled([
    suggest(suggesters, shards, { signal, typedKeys }),
    suggestOnHosts(
      suggesters,
      {
        body: { suggest: body },
        limits: { ...DEFAULT_LIMITS, maxRegexLength: 20 },
        version: 605,
        nowMs: 0,
        typedKeys,
      },
      hostsOf(shards, 2),
      signal,
    ),
  ]);
  assert.deepEqual(asRead(spread), asRead(wanted), "over two hosts");
  if (wanted.status === "rejected") throw wanted.reason;
  return asRead(wanted.value.suggest) as JsonObject;
}

/** Texts of the options with their scores, for each word. */
async function found(body: JsonObject, shards: readonly TestShard[] = fixture.shards): Promise<string[]> {
  const { s } = await ask({ s: body }, shards);
  return (s as { options: { text: string; score?: number; _score?: number }[] }[]).map(({ options }) =>
    options.map(({ text, score, _score }) => `${text} ${(_score ?? score ?? 0).toFixed(2)}`).join(", "),
  );
}

const CASES: readonly (readonly [body: JsonObject, expected: readonly string[]])[] = [
  [
    { prefix: "n", completion: { field: "name" } },
    ["Never  more 34.00, Nirvana 3.00, Nevermind 1.00, nevada 1.00"],
  ],
  [{ prefix: "NEVER ", completion: { field: "name" } }, ["Never  more 34.00, Nevermind 1.00"]],
  [{ text: "never m", completion: { field: "name" } }, ["Never  more 34.00"]],
  [{ prefix: "nirv", completion: { field: "name" } }, ["Nirvana 34.00, Nirvana 3.00"]],
  [{ prefix: "nirv", completion: { field: "name", skip_duplicates: true } }, ["Nirvana 34.00"]],
  [{ prefix: "n", completion: { field: "name", size: 1 } }, ["Never  more 34.00"]],
  [{ prefix: "ten", completion: { field: "title.complete" } }, ["Ten  Songs 1.00, Tenor 1.00"]],
  [{ prefix: "ten song", completion: { field: "title.complete" } }, [""]],
  [{ prefix: "narv", completion: { field: "name" } }, [""]],
  [{ prefix: "narv", completion: { field: "name", fuzzy: true } }, ["Nirvana 34.00, Nirvana 3.00"]],
  [
    { prefix: "xirv", completion: { field: "name", fuzzy: { prefix_length: 0 } } },
    ["Nirvana 34.00, Nirvana 3.00"],
  ],
  [{ regex: "n[ae]v.*a", completion: { field: "name" } }, ["nevada 1.00"]],
  [
    { text: "The amsterdma meetpu", term: { field: "body" } },
    ["", "amsterdam 0.89, amsterdum 0.78", "meetup 0.83"],
  ],
  [{ text: "amsterdam", term: { field: "body" } }, [""]],
  [{ text: "amsterdum", term: { field: "body", suggest_mode: "popular" } }, ["amsterdam 0.89"]],
  [{ text: "amsterdum", term: { field: "body", suggest_mode: "popular", accuracy: 0.9 } }, [""]],
  [{ text: "amsterdam", term: { field: "body", suggest_mode: "popular" } }, [""]],
  [{ text: "amsterdam", term: { field: "body", suggest_mode: "always", max_edits: 1 } }, ["amsterdum 0.89"]],
  [{ text: "met", term: { field: "body" } }, [""]],
];

suite("suggestions", () => {
  for (const [body, expected] of CASES) {
    test(`${JSON.stringify(body)} gives ${expected.join(" | ") || "nothing"}`, async () => {
      assert.deepEqual(await found(body), expected);
    });
  }

  test("have the positions of the words, and the document of an input", async () => {
    const { s } = await ask({ text: "a meetpu", s: { term: { field: "body" } } });
    assert.deepEqual(
      (s as JsonObject[]).map(({ text, offset, length }) => [text, offset, length]),
      [
        ["a", 0, 1],
        ["meetpu", 2, 6],
      ],
    );
    const { c } = await ask({ c: { prefix: "nevad", completion: { field: "name" } } });
    const [{ options }] = c as [{ options: JsonObject[] }];
    assert.equal(
      JSON.stringify(options[0]!["_source"]),
      '{"name":"nevada","title":["Tent","Tenor"],"host":"b"}',
    );
    assert.deepEqual(
      [options[0]!["_index"], options[0]!["_type"], options[0]!["_id"]],
      ["logs", "_doc", "d"],
    );
  });

  test("have their kind before their names with typed_keys", async () => {
    const answer = await ask({ t: { text: "amsterdma", term: { field: "body" } } }, fixture.shards, true);
    const [{ options }] = answer["term#t"] as [{ options: JsonObject[] }];
    assert.equal(options[0]!["text"], "amsterdam");
  });

  test("come only of documents that exist for the request", async () => {
    const query = { term: { host: "a" } };
    const both = { filter: parser.parse(query), sentFilter: { anyOf: [query] } };
    const shards = fixture.shards.map((shard): TestShard => ({ ...shard, ...both }));
    const body = { prefix: "n", completion: { field: "name" } };
    assert.deepEqual(await found(body, shards), ["Nirvana 3.00, Nevermind 1.00"]);
  });

  const REFUSED: readonly (readonly [body: JsonObject, message: RegExp])[] = [
    [{ s: { prefix: "a", completion: { field: "none" } } }, /no mapping found for field \[none\]/],
    [{ s: { prefix: "a", completion: { field: "body" } } }, /all shards failed/],
    [{ s: { completion: { field: "name" } } }, /required text option is missing/],
    [{ s: { text: "a", trem: { field: "name" } } }, /no \[trem\]; did you mean "term"/],
    [{ s: { text: "a", term: { field: "none" } } }, /no mapping found for field \[none\]/],
    [
      { s: { prefix: "a", completion: { field: "name", contexts: { c: "x" } } } },
      /doesn't expect any context/,
    ],
    [{ s: { regex: "n.*".repeat(7), completion: { field: "name" } } }, /length of regex \[21\]/],
    [{ s: "text" }, /must be an object/],
  ];
  for (const [body, message] of REFUSED) {
    test(`${JSON.stringify(body)} is refused`, async () => {
      await assert.rejects(
        async () => ask(body),
        (error) => error instanceof AppError && error.status < 502 && message.test(error.message),
      );
    });
  }
});

test("suggestions that ran out of time are marked, and are those found until then", async () => {
  let nowMs = 0;
  const clock = { ...systemClock, now: () => 0, monotonic: () => (nowMs += 20) };
  const body = { s: { prefix: "n", completion: { field: "name" } } };
  const suggesters = parseSuggest({ suggest: body }, { maxRegexLength: 20 });
  const options = { signal: new AbortController().signal, clock };
  const { suggest: found, timedOut } = await suggest(suggesters, fixture.shards, options, 10);
  assert.equal(timedOut, true);
  assert.ok(Array.isArray(found["s"]));
  assert.equal((await suggest(suggesters, fixture.shards, options)).timedOut, false);
});

test("points are completed by their geohashes where a field of theirs says so, however they are written", async () => {
  const places = new IndexFixture({
    mapping: {
      properties: {
        at: { type: "geo_point", fields: { hash: { type: "completion" }, cell: { type: "keyword" } } },
      },
    },
    docs: [
      { at: "hgjhrwysvqw7" },
      { at: { lat: 41.12, lon: 71.34 } },
      { at: [[71.34, 41.12], "hgm4psywmkn7"] },
    ],
  });
  try {
    const texts = async (prefix: string): Promise<unknown[]> => {
      const answer = await ask({ s: { prefix, completion: { field: "at.hash" } } }, places.shards);
      const [entry] = answer["s"] as unknown as { options: JsonObject[] }[];
      return entry!.options.map((option) => option["text"]);
    };
    assert.deepEqual(await texts("hgm"), ["hgm4psywmkn7"]);
    assert.deepEqual(await texts("tx6"), ["tx69zmsjq7xd", "tx69zmsjq7xd"]);
    const { hits } = await places.search({ query: { term: { "at.cell": "hgm4psywmkn7" } } });
    assert.equal(hits.length, 1);
  } finally {
    places.close();
  }
});

test("a completion shows the parts of documents that the search asks for", async () => {
  const docs = [{ name: "quick", more: 1 }];
  const index = new IndexFixture({ mapping: { properties: { name: { type: "completion" } } }, docs });
  const shown = async (_source: unknown): Promise<unknown> => {
    const body = { suggest: { s: { prefix: "q", completion: { field: "name" } } }, _source };
    const suggesters = parseSuggest(body, { maxRegexLength: 20 });
    const found = await suggest(suggesters, index.shards, { signal: new AbortController().signal });
    const [entry] = found.suggest["s"] as unknown as { options: JsonObject[] }[];
    const [option] = entry!.options;
    return "_source" in option! ? JSON.parse(writeJson(option["_source"])) : null;
  };
  try {
    assert.equal(await shown(false), null);
    assert.deepEqual(await shown(["more"]), { more: 1 });
    assert.deepEqual(await shown(undefined), docs[0]);
  } finally {
    index.close();
  }
});

test("a value of a completion field that is none is refused with what it may be", () => {
  const make = (name: unknown): unknown =>
    new IndexFixture({
      mapping: { properties: { name: { type: "completion" } } },
      docs: [{ name } as JsonObject],
    });
  assert.throws(
    () => make({ input: "a", wieght: 1 }),
    /failed to parse field \[name\] of type \[completion\]/,
  );
  assert.throws(() => make({ input: "a", weight: 1.5 }), /failed to parse/);
  assert.throws(() => make({ input: [{}] }), /failed to parse/);
  assert.throws(() => make(" "), /failed to parse/);
});
