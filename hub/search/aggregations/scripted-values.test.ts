import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { gatherWarnings } from "#hub/search/options/request-version.ts";
import type { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { AggregationsFixture } from "#test/support/search/aggregations.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const fixture = new AggregationsFixture();
after(() => fixture.close());
const one = (aggregation: JsonObject): Promise<JsonObject> => fixture.aggregate(aggregation);

describe("values that scripts make", () => {
  test("a metric takes the results of a script, or of each value of a field", async () => {
    const plain = await one({ sum: { field: "score" } });
    const doubled = await one({ sum: { field: "score", script: "_value * 2" } });
    const own = await one({
      sum: { script: { source: "doc.score.size() == 0 ? 0 : doc.score.value * params.f", params: { f: 2 } } },
    });
    assert.equal(doubled["value"], 2 * (plain["value"] as number));
    assert.equal(own["value"], doubled["value"]);
  });

  test("documents for which the script gives null have no value", async () => {
    const answer = await one({ stats: { script: "null" } });
    assert.equal(answer["count"], 0);
  });

  test("terms of a script are texts, and numbers where the field has numbers", async () => {
    const plain = await one({ terms: { field: "host", order: { _key: "asc" } } });
    const hosts = await one({ terms: { script: "doc.host.value + '!'", order: { _key: "asc" } } });
    const keys = (answer: JsonObject): unknown[] =>
      (answer["buckets"] as JsonObject[]).map((bucket) => bucket["key"]);
    const named = (keys(plain) as string[]).map((key) => `${key}!`);
    for (const key of named) assert.ok(keys(hosts).includes(key), key);
    const scores = await one({
      terms: { field: "score", script: "_value + 1", order: { _key: "asc" }, size: 1 },
    });
    const first = await one({ terms: { field: "score", order: { _key: "asc" }, size: 1 } });
    assert.equal(keys(scores)[0], (keys(first)[0] as number) + 1);
  });

  test("value_type of terms is warned of only where it has no effect", async () => {
    const warningsOf = async (more: JsonObject, name = "terms"): Promise<readonly string[]> => {
      const warnings = new Set<string>();
      await gatherWarnings(warnings, 605, () => one({ [name]: { value_type: "long", ...more } }));
      return [...warnings];
    };
    assert.deepEqual(await warningsOf({ script: "1" }), []);
    assert.deepEqual(await warningsOf({ field: "nothing", missing: 1 }), []);
    assert.deepEqual(await warningsOf({ field: "host" }), [
      "[terms] [value_type] has no effect here: the type of the field counts",
    ]);
    assert.deepEqual(await warningsOf({ field: "nothing", missing: 1 }, "rare_terms"), []);
    assert.deepEqual(await warningsOf({ field: "host" }, "rare_terms"), [
      "[rare_terms] [value_type] has no effect here: the type of the field counts",
    ]);
  });

  test("valueType is the old name of value_type", async () => {
    const warnings = new Set<string>();
    const answer = await gatherWarnings(warnings, 605, () =>
      one({ terms: { script: "1", valueType: "double", include: [1] } }),
    );
    assert.deepEqual(
      (answer["buckets"] as JsonObject[]).map(({ key }) => Number(key)),
      [1],
    );
    assert.deepEqual([...warnings], ["Deprecated field [valueType] used, expected [value_type] instead"]);
  });

  describe("include and exclude of terms", () => {
    const docs = [
      { n: 1, f: 1, d: "2018-01-02", b: true },
      { n: 2, f: 2.5, d: "2018-01-03", b: false },
      { n: 3, f: 3.7 },
    ];
    const properties = {
      n: { type: "long" },
      f: { type: "double" },
      d: { type: "date" },
      b: { type: "boolean" },
    };
    const numbers = new IndexFixture({ docs, mapping: { properties }, shards: 2 });
    after(() => numbers.close());
    const [n, f] = ["doc['n'].value", "doc['f'].value"];
    const partition = { partition: 0, num_partitions: 2 };
    const [d, b] = ["d", "b"].map((field) => `doc.${field}.empty ? null : doc.${field}.value`);
    const first = '1514851200000,"key_as_string":"2018-01-02T00:00:00.000Z"';
    const second = '1514937600000,"key_as_string":"2018-01-03T00:00:00.000Z"';
    const [no, yes] = ['0,"key_as_string":"false"', '1,"key_as_string":"true"'];

    for (const [terms, keys] of [
      [{ script: f, value_type: "double", include: [1, "2.50"] }, ["1.0", "2.5"]],
      [{ script: n, value_type: "number", include: ["1.0", "x", ""] }, ["1.0"]],
      [{ script: f, value_type: "double", exclude: ["1.0"] }, ["2.5", "3.7"]],
      [{ script: f, value_type: "long", include: [1, 2] }, ["1", "2"]],
      [{ script: f, value_type: "long" }, ["1", "2", "3"]],
      [{ script: n, value_type: "long", include: partition }, ["3"]],
      [{ script: n, include: [1, 2] }, ['"1"', '"2"']],
      [{ script: f, include: ["1.0", "2.50"] }, ['"1.0"']],
      [{ script: d, value_type: "date" }, [first, second]],
      [{ script: d, value_type: "date", include: ["2018-01-03"] }, [second]],
      [{ script: d, value_type: "date", exclude: ["2018-01-03"], missing: "2018-01-03" }, [first]],
      [
        { script: d, value_type: "date", format: "dd/MM/yyyy", include: ["02/01/2018"] },
        ['1514851200000,"key_as_string":"02/01/2018"'],
      ],
      [{ script: b, value_type: "boolean" }, [no, yes]],
      [{ script: b, value_type: "boolean", include: ["true"] }, [yes]],
      [{ script: b, value_type: "boolean", include: ["false"], missing: false }, [no]],
      [{ field: "nope", value_type: "double", missing: 1.5, include: ["1.50"] }, ["1.5"]],
      [{ field: "nope", value_type: "double", missing: 1, include: [1] }, ["1.0"]],
      [{ field: "nope", value_type: "long", missing: "1", exclude: ["1.0"] }, []],
      [{ field: "nope", value_type: "date", missing: "2018-01-02", include: ["2018-01-02"] }, [first]],
      [{ field: "nope", value_type: "boolean", missing: true, exclude: ["true"] }, []],
      [{ field: "nope", value_type: "string", missing: "x", include: "x|y" }, ['"x"']],
      [{ field: "nope", value_type: "long", include: "x|y" }, []],
    ] as const)
      test(`compare numbers where keys are numbers, else texts: ${JSON.stringify(terms)}`, async () => {
        const text = await numbers.printed({
          size: 0,
          aggs: { a: { terms: { ...terms, order: { _key: "asc" } } } },
        });
        assert.deepEqual(
          [...text.matchAll(/"key":(.+?),"doc_count"/g)].map(([, key]) => key),
          keys,
        );
      });

    test("take no regular expression where keys are numbers", async () => {
      for (const value_type of ["long", "date", "boolean"]) {
        const aggs = { a: { terms: { script: n, value_type, include: "1|2" } } };
        await assert.rejects(numbers.search({ size: 0, aggs }), ({ data }: AppError) =>
          /aggregation_failed/.test(JSON.stringify(data)),
        );
      }
    });
  });

  test("aggregations of a script answer as those of the field whose values it returns", async () => {
    const has = (then: string): string => `doc.score.size() == 0 ? null : ${then}`;
    const ranges = [{ to: 3 }, { from: 3 }];
    const rows: readonly [type: string, body: JsonObject][] = [
      ["value_count", {}],
      ["cardinality", {}],
      ["percentiles", { percents: [50] }],
      ["percentile_ranks", { values: [3] }],
      ["median_absolute_deviation", {}],
      ["histogram", { interval: 2 }],
      ["range", { ranges }],
    ];
    for (const [type, body] of rows) {
      const plain = await one({ [type]: { ...body, field: "score" } });
      assert.deepEqual(await one({ [type]: { ...body, script: has("doc.score.value") } }), plain, type);
      assert.deepEqual(await one({ [type]: { ...body, field: "score", script: "_value" } }), plain, type);
    }
  });

  test("times of a script have buckets of dates", async () => {
    const script = "doc.at.size() == 0 ? null : doc.at.value.millis";
    const body = { interval: "1d", min_doc_count: 1 };
    const counts = (answer: JsonObject): unknown[] =>
      (answer["buckets"] as JsonObject[]).map((bucket) => [bucket["key"], bucket["doc_count"]]);
    const plain = await one({ date_histogram: { ...body, field: "at" } });
    const scripted = await one({ date_histogram: { ...body, script } });
    assert.ok(counts(plain).length > 0);
    assert.deepEqual(counts(scripted), counts(plain));
    const [first] = scripted["buckets"] as JsonObject[];
    assert.match(String(first!["key_as_string"]), /^\d{4}-\d{2}-\d{2}T00:00:00\.000Z$/);
    const range = { ranges: [{ from: "2000-01-01" }] };
    const [later] = (await one({ date_range: { ...range, script } }))["buckets"] as JsonObject[];
    const [known] = (await one({ date_range: { ...range, field: "at" } }))["buckets"] as JsonObject[];
    assert.equal(later!["doc_count"], known!["doc_count"]);
  });

  test("a script of a metric that returns no number is refused", async () => {
    await assert.rejects(one({ sum: { script: "'abc'" } }), /all shards failed/);
  });

  test("scripted_metric counts over the shards with its four scripts", async () => {
    const counted = await one({ value_count: { field: "score" } });
    const answer = await one({
      scripted_metric: {
        init_script: "state.found = []",
        map_script: "if (doc.score.size() > 0) { state.found.add(doc.score.size()) }",
        combine_script: "int n = 0; for (v in state.found) { n += v } return n",
        reduce_script: "int n = 0; for (s in states) { n += s } return n * params.factor",
        params: { factor: 3 },
      },
    });
    assert.equal(answer["value"], 3 * (counted["value"] as number));
  });

  test("scripted_metric without combine_script hands its state on, and needs map_script", async () => {
    const answer = await one({
      scripted_metric: {
        init_script: "state.n = 0",
        map_script: "state.n += 1",
        reduce_script: "long n = 0; for (s in states) { n += s.n } return n",
      },
    });
    assert.equal(typeof answer["value"], "number");
    await assert.rejects(
      one({ scripted_metric: { init_script: "state.n = 0" } }),
      /map_script field is required in \[a\]/,
    );
  });

  test("a loop without end in map_script fails the search", async () => {
    await assert.rejects(
      one({ scripted_metric: { map_script: "for (int i = 0; i < 100000; i++) { state.n = i }" } }),
      /all shards failed/,
    );
  });

  test("matrix_stats has the moments of documents with all fields", async () => {
    const stats = await one({ extended_stats: { field: "score" } });
    // Rounding depends on the order in which shards are merged.
    const body = { size: 0, aggs: { a: { matrix_stats: { fields: ["score", "status"] } } } };
    const answer = (await fixture.one.search(body)).aggregations!["a"] as JsonObject;
    const field = (answer["fields"] as JsonObject[]).find(({ name }) => name === "score");
    assert.equal(answer["doc_count"], stats["count"]);
    assert.ok(Math.abs((field!["mean"] as number) - (stats["avg"] as number)) < 1e-9);
    assert.equal((field!["correlation"] as JsonObject)["score"], 1);
    assert.ok(((field!["correlation"] as JsonObject)["status"] as number) > 0.9);
  });
});

test("values within lists are counted, those of a list that holds another many times too", async () => {
  const nested = "def l = [1]; for (int i = 0; i < 60; i++) { l = [l, l]; } return ";
  const rows: readonly (readonly [source: string, error: RegExp])[] = [
    [`${nested} l`, /a value may have at most 10000 members/],
    [`${nested} ['a': l]`, /a value may have at most 10000 members/],
    ["def l = []; l.add(l); return l", /Iterable object is self-referencing itself/],
    ["def m = [:]; def n = ['m': m]; m.n = n; return m", /Iterable object is self-referencing itself/],
    ["def l = []; for (int i = 0; i < 110; i++) { l = [l]; } return l", /nested deeper than 100/],
  ];
  for (const [source, error] of rows)
    await assert.rejects(
      one({ terms: { script: source } }),
      (failure: AppError) => error.test(String(failure.cause)),
      source,
    );
  const answer = await one({ terms: { script: "return [['x', null], new HashSet(['y']), [['z']]]" } });
  const buckets = answer["buckets"] as JsonObject[];
  assert.deepEqual(
    buckets.map((bucket) => bucket["key"]),
    ["x", "y", "z"],
  );
});
