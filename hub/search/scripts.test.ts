import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { AppError } from "#proto/kit/errors.ts";
import { hitsFixture } from "#test/support/search/hits.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const fixture = hitsFixture();
const { one, many } = fixture;
after(() => fixture.close());

/** Ids of the documents for which a script is true. */
const matching = (source: string, params: object = {}) => ({
  query: { script: { script: { source, params } } },
  sort: [{ _id: "asc" }],
});

describe("a script as a query", () => {
  const rows: readonly (readonly [source: string, ids: string[], params?: object])[] = [
    ["doc['n'].value > params.least", ["a", "d"], { least: 2 }],
    ["doc['n'].size() == 2 && doc['n'][1] == 9", ["b"]],
    ["doc['host'].value == 'ü'", ["c"]],
    ["doc['host'].empty", ["d"]],
    ["doc['x'].size() > 0 && doc['x'].value * 2 == 3", ["a"]],
    ["doc['at'].size() > 0 && doc['at'].value.getDayOfMonth() == 2", ["c"]],
    ["doc['at'].value.getMillis() == 0", ["d"]],
    ["doc['coordinates'].lat != null && doc['coordinates'].lat > 52", ["a", "c"]],
    ["doc['name.keyword'].value == 'quick'", ["c"]],
    ["doc.containsKey('nothing')", []],
    ["doc['n'].value == 9007199254740993L", ["d"]],
  ];
  for (const [source, ids, params] of rows) {
    test(`${source} finds ${ids.join(", ") || "nothing"}`, async () => {
      for (const index of [one, many]) assert.deepEqual(await index.ids(matching(source, params)), ids);
    });
  }

  test("a script that fails fails the search, with its position", async () => {
    for (const source of [
      "doc['n'].value",
      "doc['nothing'].value == 1",
      "doc['name'].value == 'x'",
      "1 / (doc['n'].value - 3) > 0",
    ])
      await assert.rejects(async () => one.ids(matching(source)));
  });
});

test("script_score sees the score and the document", async () => {
  const query = {
    function_score: {
      query: { constant_score: { filter: { terms: { host: ["a", "b"] } }, boost: 2 } },
      script_score: { script: { source: "_score * params.by + doc['n'].value", params: { by: 10 } } },
    },
  };
  for (const index of [one, many]) {
    const { hits } = await index.search({ query });
    assert.deepEqual(
      hits.map((hit) => [hit["_id"], hit["_score"]]),
      [
        ["a", 23],
        ["b", 21],
      ],
    );
  }
});

describe("the values of a field", () => {
  const properties = {
    d: { type: "double" },
    s: { type: "scaled_float", scaling_factor: 100 },
    at: { type: "date" },
    place: { type: "geo_point" },
    k: { type: "keyword" },
    n: { type: "long" },
  };
  const docs = [
    {
      d: [0.5, 1.5],
      s: [0.25, 1.75],
      at: ["2018-01-02T00:00:00Z", "2018-01-03T00:00:00Z"],
      place: [{ lat: 1, lon: 2 }],
      k: ["a", "b", "cc"],
      n: [4, 5, 6],
    },
  ];
  const index = new IndexFixture({ docs, mapping: { properties } });
  after(() => index.close());

  /** Returns what a script gives as a field of the document. */
  async function fieldOf(source: string): Promise<unknown> {
    const { hits } = await index.search({ script_fields: { f: { script: { source } } } });
    return (hits[0]!["fields"] as { f: unknown[] }).f;
  }

  test("contain what is equal to one of them", async () => {
    const rows: readonly (readonly [source: string, found: boolean])[] = [
      ["doc['d'].contains(doc['d'].value)", true],
      ["doc['d'].contains(1.5)", true],
      ["doc['d'].contains(1.25)", false],
      ["doc['s'].contains(doc['s'].value)", true],
      ["doc['s'].contains(1.75)", true],
      ["doc['at'].contains(doc['at'].value)", true],
      ["doc['at'].contains(doc['at'].value.plusDays(1))", true],
      ["doc['at'].contains(doc['at'].value.plusDays(2))", false],
      ["doc['place'].contains(doc['place'].value)", true],
      ["doc['k'].contains('b')", true],
      ["doc['k'].contains('x')", false],
      ["doc['n'].contains(5L)", true],
    ];
    for (const [source, found] of rows) assert.deepEqual(await fieldOf(source), [found], source);
  });

  test("have the methods of a list that read it", async () => {
    const rows: readonly (readonly [source: string, result: unknown])[] = [
      ["doc['k'].stream().filter(x -> x.length() > 1).count()", 1],
      ["int all = 0; def i = doc['n'].iterator(); while (i.hasNext()) { all += i.next() } all", 15],
      ["def l = []; doc['n'].forEach(x -> l.add(x)); l.size()", 3],
      ["doc['n'].each(x -> x).size()", 3],
      ["doc['k'].indexOf('b') + doc['d'].indexOf(1.5)", 2],
      ["doc['k'].toString()", "[a, b, cc]"],
      ["'' + doc['n']", "[4, 5, 6]"],
      ["doc['n'].equals([4, 5, 6])", true],
      ["doc['n'].equals(doc['n'])", true],
      ["doc['n'].equals(doc['k'])", false],
      ["doc['n'] == doc['k']", false],
      ["doc['n'].hashCode() == doc['n'].asList().hashCode()", true],
      ["doc['n'].any(x -> x > 5)", true],
      ["doc['n'].find(x -> x > 4)", 5],
      ["doc['n'].sum()", 15],
      ["doc['k'].join('-')", "a-b-cc"],
      ["doc['n'].asList() === doc['n'] && doc['n'].asCollection() === doc['n']", true],
      ["def l = doc['n'].toArray(); l[0] = 7; l[0] + doc['n'][0]", 11],
      ["doc['n'].findResult(x -> x > 4 ? x * 2 : null)", 10],
      ["doc['n'].split(x -> x > 4).toString()", "[[5, 6], [4]]"],
    ];
    for (const [source, result] of rows) assert.deepEqual(await fieldOf(source), [result], source);
  });

  test("can't be changed", async () => {
    for (const change of [
      "doc['n'].add(1)",
      "doc['n'].set(0, 1)",
      "doc['n'].remove(0)",
      "doc['n'].clear()",
      "doc['n'].asList().add(1)",
      "doc['n'].eachWithIndex((value, at) -> {}).add(1)",
      "def i = doc['n'].iterator(); i.next(); i.remove()",
    ]) {
      const source = `try { ${change} } catch (UnsupportedOperationException e) { return 'refused' }`;
      assert.deepEqual(await fieldOf(source), ["refused"], change);
    }
  });
});

describe("a document with many values", () => {
  const numbers = Array.from({ length: 40_000 }, (_, at) => at);
  const big = numbers.slice(0, 5_000).map((at) => String(2n ** 60n + BigInt(at)));
  const place = numbers.slice(0, 5_000).map((at) => ({ lat: at / 100, lon: 1 }));
  const texts = (count: number): string[] => numbers.slice(0, count).map(String);
  const docs = [
    {
      n: numbers,
      k: texts(10_000),
      f: numbers.map((at) => at + 0.5),
      one: "4999",
      some: texts(900),
      big,
      place,
    },
  ];
  const keyword = { type: "keyword" };
  const properties = {
    n: { type: "long" },
    k: keyword,
    f: { type: "double" },
    one: keyword,
    some: keyword,
    big: { type: "long" },
    place: { type: "geo_point" },
  };
  const large = new IndexFixture({ docs, mapping: { properties } });
  after(() => large.close());
  const valued = (source: string) => ({ size: 0, aggs: { a: { terms: { script: { source } } } } });

  test("costs nothing where a script reads one of them", async () => {
    for (const [source, key] of [
      ["doc['n'].value", 0],
      ["doc['k'].value", "0"],
      ["doc['n'].size() + doc['k'].length", 50_000],
      ["doc['f'].value + (doc['n'].empty ? 1 : 0)", "0.5"],
    ] as const) {
      const { aggregations } = await large.search(valued(source));
      assert.partialDeepStrictEqual(aggregations, { a: { buckets: [{ key: String(key) }] } }, source);
    }
  });

  for (const source of [
    "doc['n'].values.size()",
    "doc['k'].values.size()",
    "doc['n'].contains(-1)",
    "doc['f'].getDates().size()",
    "Collections.max(doc['n'])",
    "for (x in doc['n']) { return 1 }",
    "doc['k'].indexOf('0')",
    "doc['k'].stream().count()",
    "doc['k'].toString().length()",
    "'' + doc['k']",
    "doc['place'].value.lat",
    "doc['place'].empty ? 1 : 0",
    "doc['big'].size()",
  ])
    test(`costs steps where all are converted: ${source}`, async () => {
      await assert.rejects(large.search(valued(source)), ({ data }: AppError) =>
        /maximum number of statements/.test(JSON.stringify(data)),
      );
    });

  for (const [source, key, params] of [
    ["new HashSet(params.allowed).contains(doc['one'].value)", "true", { allowed: texts(5_000) }],
    ["new HashSet(doc['some'].values).size()", "900"],
    ["new ArrayList(doc['some']).size()", "900"],
  ] as const)
    test(`lets a script put some of them in a collection: ${source}`, async () => {
      const aggs = { a: { terms: { script: { source, params } } } };
      const { aggregations } = await large.search({ size: 0, aggs });
      assert.partialDeepStrictEqual(aggregations, { a: { buckets: [{ key }] } });
    });

  test("is read and parsed once for all scripts of a hit", async () => {
    const source = "params._source.n.add(1); params._source.n.size() + doc['n'].size()";
    const { hits } = await large.search({
      script_fields: { a: { script: { source } }, b: { script: { source } } },
    });
    assert.deepEqual(hits[0]?.["fields"], { a: [80_001], b: [80_002] });
  });
});

test("scripts of a hit share the objects and lists of the document, but not its own fields", async () => {
  const { hits } = await one.search({
    query: { ids: { values: ["b"] } },
    script_fields: {
      a: {
        script:
          "params._source.z = 1; params._source.remove('host'); params._source.n.add(0); params._source.z",
      },
      b: { script: "[params._source.z, params._source.host, params._source.n.size()]" },
    },
  });
  assert.deepEqual(hits[0]!["fields"], { a: [1], b: [null, "a", 3] });
});

test("script_fields are values of a hit, and leave the document out", async () => {
  const { hits } = await one.search({
    query: { ids: { values: ["b"] } },
    script_fields: {
      double: { script: { source: "doc['n'].value * params.by", params: { by: 2 } } },
      list: { script: "def l = []; for (v in doc['n']) { l.add(v + 1) } l" },
      source: { script: "params._source.host + doc['host'].value" },
      broken: { script: "doc['nothing'].value", ignore_failure: true },
    },
  });
  assert.deepEqual(hits[0]!["fields"], { double: [2], list: [2, 10], source: ["aa"] });
  assert.equal(hits[0]!["_source"], undefined);
});

test("a point that a script returns has its coordinates", async () => {
  const { hits } = await one.search({
    query: { ids: { values: ["a"] } },
    script_fields: { place: { script: "doc['coordinates'].get(0)" } },
  });
  const [{ lat, lon }] = (hits[0]!["fields"] as { place: [{ lat: number; lon: number }] }).place;
  assert.ok(Math.abs(lat) <= 90 && Math.abs(lon) <= 180);
});

test("bucket_script computes from the numbers of a bucket, bucket_selector keeps buckets", async () => {
  const body = {
    size: 0,
    query: { exists: { field: "host" } },
    aggs: {
      hosts: {
        terms: { field: "host", order: { _key: "asc" } },
        aggs: {
          n: { sum: { field: "n" } },
          x: { sum: { field: "x" } },
          ratio: {
            bucket_script: { buckets_path: { n: "n", docs: "_count" }, script: "params.n / params.docs" },
          },
          many: {
            bucket_selector: {
              buckets_path: { n: "n" },
              script: { source: "params.n > params.least", params: { least: 2 } },
            },
          },
        },
      },
    },
  };
  for (const index of [one, many]) {
    const { aggregations } = await index.search(body);
    const { buckets } = aggregations!["hosts"] as { buckets: { key: string; ratio: { value: number } }[] };
    assert.deepEqual(
      buckets.map(({ key, ratio }) => [key, ratio.value]),
      [
        ["a", 10],
        ["b", 3],
      ],
    );
  }
});

describe("a Lucene expression", () => {
  const expression = (source: string, params: object = {}): object => ({
    lang: "expression",
    source,
    params,
  });

  test("decides, scores, sorts and makes fields", async () => {
    for (const index of [one, many]) {
      const query = { script: { script: expression("doc['n'].value > least", { least: 2 }) } };
      assert.deepEqual(await index.ids({ query, sort: [{ _id: "asc" }] }), ["a", "d"]);
      const scored = {
        function_score: {
          query: { constant_score: { filter: { terms: { host: ["a", "b"] } }, boost: 2 } },
          script_score: { script: expression("_score * by + doc['n'].max()", { by: 10 }) },
        },
      };
      const { hits } = await index.search({ query: scored });
      assert.deepEqual(
        hits.map((hit) => [hit["_id"], hit["_score"]]),
        [
          ["b", 29],
          ["a", 23],
        ],
      );
      const order = { _script: { type: "number", order: "desc", script: expression("-doc['x'].value") } };
      const ids = await index.ids({ query: { ids: { values: ["a", "c"] } }, sort: [order] });
      assert.deepEqual(ids, ["c", "a"]);
      const made = await index.search({
        query: { ids: { values: ["a"] } },
        script_fields: { f: { script: expression("doc['at'].getYear() + doc['coordinates'].lat * 0") } },
      });
      assert.deepEqual(made.hits[0]!["fields"], { f: [2018] });
    }
  });

  test("makes values of aggregations and numbers of buckets", async () => {
    const least = { buckets_path: { n: "n" }, script: expression("n > least", { least: 2 }) };
    const aggs = {
      most: { max: { field: "n", script: expression("_value % 100") } },
      hosts: {
        terms: { field: "host", order: { _key: "asc" } },
        aggs: {
          n: { sum: { script: expression("doc['n'].sum()") } },
          ratio: {
            bucket_script: { buckets_path: { n: "n", c: "_count" }, script: expression("n / c / 2") },
          },
          many: { bucket_selector: least },
        },
      },
    };
    for (const index of [one, many]) {
      const { aggregations } = await index.search({ size: 0, aggs });
      const { buckets } = aggregations!["hosts"] as { buckets: { key: string; ratio: { value: number } }[] };
      assert.deepEqual(
        buckets.map(({ key, ratio }) => [key, ratio.value]),
        [
          ["a", 5],
          ["b", 1.5],
        ],
      );
      assert.equal((aggregations!["most"] as { value: number }).value, 92);
    }
  });

  test("that names what its params don't have is refused, and so is one in a metric's script", async () => {
    const refused = async (body: object, reason: RegExp): Promise<void> =>
      assert.rejects(
        async () => one.search(body as never),
        (error: Error & { data?: object }) => reason.test(`${error.message} ${JSON.stringify(error.data)}`),
      );
    const query = (script: object): object => ({ query: { script: { script } } });
    await refused(query(expression("1 + n")), /Unknown variable \[n\]/);
    await refused(query(expression("1 + n", { n: "x" })), /Parameter \[n\] must be a numeric type/);
    const metric = { map_script: expression("1"), combine_script: "1", reduce_script: "1" };
    await refused({ aggs: { a: { scripted_metric: metric } } }, /script_lang not supported \[expression\]/);
  });
});
