import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { IndexFixture } from "#test/support/search/shards.ts";

const docs = {
  a: { message: "GET /a took 12 ms", bytes: 100, day: "2026-11-26T10:00:00Z", tags: ["x", "y"], n: 3 },
  b: { message: "GET /b took 250 ms", bytes: 2_000, day: "2026-11-27T10:00:00Z", tags: ["y"], n: 1 },
  c: { message: "started", day: "2026-11-28T10:00:00Z", inner: { code: 7 } },
  d: { message: "GET /a took 90 ms", bytes: 50, day: "2026-11-26T12:00:00Z", n: 2 },
};
const mapping = { properties: { message: { type: "keyword" }, tags: { type: "keyword" } } };
const one = new IndexFixture({ docs, mapping });
const many = new IndexFixture({ docs, mapping, segmentDocs: 1, shards: 2 });
after(() => {
  one.close();
  many.close();
});

const TOOK = {
  type: "long",
  script: `def m = /took (\\d+) ms/.matcher(params['_source'].message); if (m.find()) emit(Long.parseLong(m.group(1)))`,
};
const KIB = { type: "double", script: "if (doc['bytes'].size() > 0) emit(doc['bytes'].value / 1024.0)" };
const WEEKDAY = {
  type: "keyword",
  script: { source: "emit(doc['day'].value.dayOfWeekEnum.toString() + params.end)", params: { end: "!" } },
};

describe("a runtime field", () => {
  const rows: readonly (readonly [what: string, query: object, ids: string[]])[] = [
    ["a range of numbers", { range: { took: { gte: 50 } } }, ["b", "d"]],
    ["a number", { term: { took: 12 } }, ["a"]],
    ["that it exists", { exists: { field: "took" } }, ["a", "b", "d"]],
    ["a term", { term: { weekday: "THURSDAY!" } }, ["a", "d"]],
    ["a prefix", { prefix: { weekday: "F" } }, ["b"]],
    ["a query string", { query_string: { query: "took:>80 AND NOT weekday:FRIDAY*" } }, ["d"]],
    ["a script", { script: { script: "doc['took'].size() > 0 && doc['took'].value == 250" } }, ["b"]],
  ];
  for (const [what, query, ids] of rows)
    test(`is found by ${what}`, async () => {
      const body = { query, sort: [{ _id: "asc" }], runtime_mappings: { took: TOOK, weekday: WEEKDAY } };
      for (const index of [one, many]) assert.deepEqual(await index.ids(body), ids);
    });

  test("sorts, and its values are returned", async () => {
    const body = {
      sort: [{ took: { order: "desc", missing: "_last" } }],
      docvalue_fields: ["took", "kib"],
      runtime_mappings: { took: TOOK, kib: KIB },
    };
    for (const index of [one, many]) {
      const { hits } = await index.search(body);
      assert.deepEqual(
        hits.map((hit) => [hit["_id"], hit["fields"]]),
        [
          ["b", { took: [250], kib: [1.953125] }],
          ["d", { took: [90], kib: [0.048828125] }],
          ["a", { took: [12], kib: [0.09765625] }],
          ["c", undefined],
        ],
      );
    }
  });

  test("is returned by fields, by its name or a pattern, in place of the document's", async () => {
    const n = { type: "long", script: "emit(doc['n'].value * 10)" };
    const day = { type: "date", script: "emit(doc['day'].value.millis)" };
    const even = { type: "boolean", script: "emit(doc['n'].value % 2 == 0)" };
    const body = {
      query: { ids: { values: ["d"] } },
      fields: ["n", "e*", "bytes", { field: "day", format: "yyyy" }],
      _source: false,
      runtime_mappings: { n, day, even },
    };
    for (const index of [one, many])
      assert.deepEqual((await index.search(body)).hits[0]!["fields"], {
        n: [20],
        even: [true],
        day: ["2026"],
        bytes: [50],
      });
  });

  test("is aggregated, also with one that is made of it", async () => {
    const body = {
      size: 0,
      aggs: {
        day: { terms: { field: "weekday" }, aggs: { took: { avg: { field: "took" } } } },
        slow: { terms: { field: "slow" } },
      },
      runtime_mappings: {
        took: TOOK,
        weekday: WEEKDAY,
        slow: { type: "boolean", script: "if (doc['took'].size() > 0) emit(doc['took'].value > 80)" },
      },
    };
    for (const index of [one, many]) {
      const { aggregations } = await index.search(body);
      assert.deepEqual(aggregations, {
        day: {
          doc_count_error_upper_bound: 0,
          sum_other_doc_count: 0,
          buckets: [
            { key: "THURSDAY!", doc_count: 2, took: { value: 51 } },
            { key: "FRIDAY!", doc_count: 1, took: { value: 250 } },
            { key: "SATURDAY!", doc_count: 1, took: { value: null } },
          ],
        },
        slow: {
          doc_count_error_upper_bound: 0,
          sum_other_doc_count: 0,
          buckets: [
            { key: 1, key_as_string: "true", doc_count: 2 },
            { key: 0, key_as_string: "false", doc_count: 1 },
          ],
        },
      });
    }
  });

  test("takes the place of a field of the index, for this search alone", async () => {
    const runtime = { n: { type: "long", script: "emit(doc['n'].size() == 0 ? 0L : doc['n'].value * 10)" } };
    for (const index of [one, many]) {
      const query = { range: { n: { gte: 20 } } };
      const sort = [{ _id: "asc" }];
      assert.deepEqual(await index.ids({ query, sort, runtime_mappings: runtime }), ["a", "d"]);
      assert.deepEqual(await index.ids({ query, sort }), []);
    }
  });

  test("without a script has the values of _source", async () => {
    const runtime = { "inner.code": { type: "keyword" }, tags: { type: "keyword" } };
    const body = { query: { term: { "inner.code": "7" } }, runtime_mappings: runtime };
    for (const index of [one, many]) {
      assert.deepEqual(await index.ids(body), ["c"]);
      assert.deepEqual(await index.ids({ ...body, query: { term: { tags: "y" } }, sort: ["_id"] }), [
        "a",
        "b",
      ]);
    }
  });

  test("of other types", async () => {
    const runtime = {
      at: { type: "date", format: "yyyy-MM-dd", script: "emit(doc['day'].value.toInstant().toEpochMilli())" },
      where: { type: "geo_point", script: "emit(52.5, 13.4)" },
      address: { type: "ip", script: "emit('10.0.0.' + (doc['n'].size() == 0 ? 9 : doc['n'].value))" },
    };
    const query = {
      bool: {
        filter: [
          { range: { at: { gte: "2026-11-26", lt: "2026-11-28" } } },
          { term: { address: "10.0.0.0/30" } },
          { geo_distance: { distance: "1km", where: { lat: 52.5, lon: 13.4 } } },
        ],
      },
    };
    const body = { query, sort: ["_id"], docvalue_fields: ["at"], runtime_mappings: runtime };
    for (const index of [one, many]) {
      const { hits } = await index.search(body);
      assert.deepEqual(
        hits.map((hit) => [hit["_id"], hit["fields"]]),
        [
          ["a", { at: ["2026-11-26"] }],
          ["b", { at: ["2026-11-27"] }],
          ["d", { at: ["2026-11-26"] }],
        ],
      );
    }
  });

  test("fails the search where its script fails, or leaves the value out", async () => {
    const failing = { type: "long", script: "emit(doc['bytes'].size() == 0 ? Long.parseLong('x') : 1L)" };
    const query = { exists: { field: "f" } };
    await assert.rejects(
      async () => one.ids({ query, runtime_mappings: { f: failing } }),
      (error) => /For input string/.test(causes(error)),
    );
    const lenient = { ...failing, on_script_error: "continue" };
    assert.deepEqual(await one.ids({ query, sort: ["_id"], runtime_mappings: { f: lenient } }), [
      "a",
      "b",
      "d",
    ]);
  });

  test("that isn't defined rightly is refused with its name", async () => {
    const rows: readonly (readonly [object, RegExp])[] = [
      [{ script: "emit(1)" }, /No type specified for runtime field \[f\]/],
      [{ type: "long", on_script_error: "skip" }, /accepted values are \[fail, continue\]/],
      [{ type: "text" }, /The mapper type \[text\] declared on runtime field \[f\] does not exist/],
      [{ type: "composite" }, /define each of their fields/],
      [{ type: "long", boost: 2 }, /unknown parameter \[boost\] on runtime field \[f\] of type \[long\]/],
      [{ type: "long", script: "emit(1, 2)" }, /emit of the runtime field \[f\] takes 1 arguments/],
      [{ type: "keyword", script: "for (int i = 0; i < 101; i++) emit('x' + i)" }, /emitting \[101\] values/],
      [{ type: "long", script: "give(1)" }, /Unknown call \[give\]/],
    ];
    for (const [f, message] of rows) {
      const failed: unknown = await (async () =>
        one.ids({ query: { exists: { field: "f" } }, runtime_mappings: { f } }))().catch(
        (error: unknown) => error,
      );
      assert.match(JSON.stringify(failed, Object.getOwnPropertyNames(failed)) + causes(failed), message);
    }
  });
});

describe("the name of a runtime field", () => {
  const own = new IndexFixture({
    docs: {
      a: { title: "Hello", message: "GET /a", labels: { foo: "z" }, obj: { x: 1 }, list: [{ k: "v" }] },
    },
    mapping: {
      properties: {
        message: { type: "keyword" },
        title: { type: "text", fields: { raw: { type: "keyword" } } },
        labels: { type: "flattened" },
        list: { type: "nested", properties: { k: { type: "keyword" } } },
        other: { type: "alias", path: "message" },
      },
    },
  });
  after(() => own.close());

  for (const name of [
    "title.raw",
    "labels.foo",
    "labels",
    "message.length",
    "obj",
    "obj.y",
    "other",
    "title",
  ])
    test(`may be ${name}`, async () => {
      const runtime = { [name]: { type: "keyword", script: "emit('own')" } };
      const { hits } = await own.search({
        query: { term: { [name]: "own" } },
        fields: [name],
        aggs: { values: { terms: { field: name } } },
        runtime_mappings: runtime,
      });
      assert.deepEqual(
        hits.map((hit) => hit["fields"]),
        [{ [name]: ["own"] }],
      );
    });

  test("leaves the fields beside it and below it as they are", async () => {
    const runtime = {
      obj: { type: "long", script: "emit(1)" },
      "list2.k": { type: "long", script: "emit(2)" },
    };
    const query = { bool: { filter: [{ term: { "obj.x": 1 } }, { term: { obj: 1 } }] } };
    assert.deepEqual(await own.ids({ query, runtime_mappings: runtime }), ["a"]);
    const nested = { nested: { path: "list", query: { term: { "list.k": "v" } } } };
    assert.deepEqual(await own.ids({ query: nested, runtime_mappings: runtime }), ["a"]);
  });

  for (const name of ["_id", "_index", "_source", "list", "list.k", "list.new"])
    test(`may not be ${name}`, async () => {
      const runtime = { [name]: { type: "keyword", script: "emit('own')" } };
      await assert.rejects(
        async () => own.search({ runtime_mappings: runtime }),
        (error) =>
          causes(error).includes(`the runtime field [${name}]`) ||
          /a runtime field can't/.test(causes(error)),
      );
    });
});

test("a runtime field may read one that is defined after it, and none may read itself through others", async () => {
  const long = (script: string, params = {}): object => ({
    type: "long",
    script: { source: script, params },
  });
  const runtime = {
    a: long("emit(doc['b'].value + doc.c.value)"),
    b: long("emit(doc[params.field].value * 10)", { field: "d" }),
    c: long('emit(doc.get("d").value)'),
    d: long("emit(4)"),
  };
  const body = { query: { term: { a: 44 } }, sort: ["_id"], runtime_mappings: runtime };
  for (const index of [one, many]) assert.deepEqual(await index.ids(body), ["a", "b", "c", "d"]);
  await assert.rejects(
    async () => one.ids({ runtime_mappings: { ...runtime, d: long("emit(doc['a'].value)") } }),
    /Cyclic dependency detected while resolving runtime fields: a -> b -> d -> a/,
  );
});

test("dates are read by the format given, and emitted in milliseconds", async () => {
  const index = new IndexFixture({
    docs: { a: { day: "26/11/2026" } },
    mapping: { properties: { day: { type: "keyword" } } },
  });
  const body = {
    query: { range: { day: { gte: "26/11/2026" } } },
    fields: ["day", "early", { field: "day", format: "yyyy" }],
    runtime_mappings: {
      day: { type: "date", format: "dd/MM/yyyy" },
      early: { type: "date", script: "emit(2020L); emit(-1L)" },
    },
  };
  const { hits } = await index.search(body);
  assert.deepEqual(
    hits.map((hit) => hit["fields"]),
    [{ day: ["26/11/2026", "2026"], early: ["1969-12-31T23:59:59.999Z", "1970-01-01T00:00:02.020Z"] }],
  );
  index.close();
});

/** Texts of an error and of what caused it. */
function causes(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const data = JSON.stringify((error as { data?: unknown }).data ?? "");
  return `${error.message} ${data} ${error.cause === undefined ? "" : causes(error.cause)}`;
}

test("emit isn't a name of other scripts", async () => {
  const script = { script: { source: "emit(1); true" } };
  await assert.rejects(async () => one.ids({ query: { script } }));
});
