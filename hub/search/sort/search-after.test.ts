/** Paging by `search_after` with the sort values as they are printed: each hit comes once. */

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { parseJson } from "#hub/search/options/json.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { floatText } from "#proto/kit/number-text.ts";
import { Random } from "#test/support/engine/random.ts";
import { IndexFixture } from "#test/support/search/shards.ts";
import { NUMERIC_TYPES } from "./sort-request.ts";

/** Pages after which a walk is taken for endless. */
const MAX_PAGES = 200;

interface Printed {
  readonly hits: readonly { readonly _id: string; readonly sort: readonly unknown[] }[];
}

/** Returns ids and first sort values of all hits, read in pages. */
async function walk(
  index: IndexFixture,
  sort: readonly JsonObject[],
  size: number,
  request: JsonObject = {},
): Promise<{ ids: string[]; values: unknown[] }> {
  const found: Printed["hits"][number][] = [];
  for (let page = 0; page < MAX_PAGES; page++) {
    const body = {
      ...request,
      sort,
      size,
      _source: false,
      ...(page > 0 && { search_after: found.at(-1)!.sort }),
    };
    const { hits } = parseJson(await index.printed(body)) as unknown as Printed;
    if (hits.length === 0)
      return { ids: found.map(({ _id }) => _id), values: found.map((hit) => hit.sort[0]) };
    found.push(...hits);
  }
  assert.fail(`${JSON.stringify(sort)} doesn't end: ${JSON.stringify(found.slice(-3))}`);
}

const FLOATS = new IndexFixture({
  shards: 2,
  mapping: {
    properties: {
      f: { type: "float" },
      h: { type: "half_float" },
      l: { type: "long" },
      o: { type: "nested", properties: { f: { type: "float" }, l: { type: "long" } } },
      n: { type: "long" },
    },
  },
  docs: [
    { f: 0.1, h: 0.1, l: 1, n: 1, o: [{ f: 0.1, l: 1 }] },
    {
      f: 0.1,
      h: 0.1,
      l: [1, 2],
      n: 2,
      o: [
        { f: 0.1, l: 1 },
        { f: 0.3, l: 2 },
      ],
    },
    {
      f: [0.1, 0.3],
      h: [0.1, 0.3],
      l: [1, 2],
      n: 3,
      o: [
        { f: 0.1, l: 1 },
        { f: 0.3, l: 2 },
      ],
    },
    {
      f: [0.1, 0.3],
      h: [0.1, 0.3],
      l: [-1, -2],
      n: 4,
      o: [
        { f: 0.7, l: -1 },
        { f: 0.7, l: -2 },
      ],
    },
    { f: 0.7, h: 0.7, l: 3, n: 5 },
    { n: 6 },
    { n: 7 },
  ],
});
after(() => FLOATS.close());

/** [options of the key, ids in ascending order, printed values in it] */
const ROWS: readonly (readonly [
  field: string,
  options: JsonObject,
  ids: string,
  values: readonly unknown[],
])[] = [
  ["f", { mode: "min" }, "0123456", [0.1, 0.1, 0.1, 0.1, 0.7, "Infinity", "Infinity"]],
  ["f", { mode: "avg" }, "0123456", [0.1, 0.1, 0.2, 0.2, 0.7, "Infinity", "Infinity"]],
  ["f", { mode: "sum", missing: "_first" }, "5601234", ["-Infinity", "-Infinity", 0.1, 0.1, 0.4, 0.4, 0.7]],
  ["f", { mode: "median", missing: 0.1 }, "0156234", [0.1, 0.1, 0.1, 0.1, 0.2, 0.2, 0.7]],
  ["f", { mode: "max", missing: "0.1" }, "0156234", [0.1, 0.1, 0.1, 0.1, 0.3, 0.3, 0.7]],
  [
    "h",
    { mode: "avg", missing: 0.1 },
    "0156234",
    [0.099975586, 0.099975586, 0.1, 0.1, 0.2000122, 0.2000122, 0.7001953],
  ],
  ["l", { mode: "avg", missing: 2 }, "3012564", [-1, 1, 2, 2, 2, 2, 3]],
  [
    "o.f",
    { mode: "avg", missing: 0.1, nested: { path: "o" } },
    "0456123",
    [0.1, 0.1, 0.1, 0.1, 0.2, 0.2, 0.7],
  ],
  ["o.l", { mode: "avg", missing: 5, nested: { path: "o" } }, "3012456", [-1, 1, 2, 2, 5, 5, 5]],
];

for (const [field, options, ids, values] of ROWS) {
  test(`pages by ${field} with ${JSON.stringify(options)} go on after the printed values`, async () => {
    for (const size of [1, 3]) {
      const up = await walk(FLOATS, [{ [field]: { ...options, order: "asc" } }, { n: "asc" }], size);
      assert.deepEqual([up.ids.join(""), up.values], [ids, values]);
      const turned = options["missing"] === "_first" ? { missing: "_last" } : {};
      const last = options["missing"] === undefined ? { missing: "_first" } : {};
      const down = await walk(
        FLOATS,
        [{ [field]: { ...options, ...turned, ...last, order: "desc" } }, { n: "desc" }],
        size,
      );
      assert.deepEqual([down.ids.toReversed().join(""), down.values.toReversed()], [ids, values]);
    }
  });
}

test("pages by score show it as hits do, and go on after it", async () => {
  const index = new IndexFixture({
    shards: 2,
    mapping: { properties: { t: { type: "text" }, n: { type: "long" } } },
    docs: ["a b", "a a b", "a c", "a c", "a c d e"].map((t, n) => ({ t, n })),
  });
  try {
    const body = { query: { match: { t: "a" } }, track_scores: true };
    for (const order of ["asc", "desc"]) {
      const sort = [{ _score: { order } }, { n: order }];
      const { ids } = await walk(index, sort, 1, body);
      assert.deepEqual(ids.toSorted(), ["0", "1", "2", "3", "4"], order);
      for (const [, score, shown] of (await index.printed({ ...body, sort })).matchAll(
        /"_score":([^,]+),.*?"sort":\[([^,]+),/g,
      ))
        assert.equal(shown, floatText(Number(score)));
    }
    const constant = { query: { constant_score: { filter: { match: { t: "a" } } } }, size: 1 };
    assert.match(await index.printed({ ...constant, sort: ["_score", "n"] }), /"sort":\[1\.0,0\]/);
  } finally {
    index.close();
  }
});

/** Kinds of columns with random values of them. */
const KINDS: readonly (readonly [type: string, options: JsonObject, value: (random: Random) => unknown])[] = [
  ["float", {}, (random) => random.below(50) / 10],
  ["half_float", {}, (random) => random.below(50) / 7],
  ["double", {}, (random) => (random.below(50) / 7) * 10 ** (random.below(40) - 20)],
  ["long", {}, (random) => random.below(2 ** 52) * (random.oneIn(2) ? 1 : -1)],
  ["integer", {}, (random) => random.below(20) - 10],
  ["date", {}, (random) => 1.7e12 + random.below(20)],
  ["scaled_float", { scaling_factor: 100 }, (random) => random.below(50) / 7],
  ["long", {}, (random) => `${random.oneIn(2) ? "" : "-"}${farLong(random)}`],
  ["unsigned_long", {}, (random) => String(2n * farLong(random))],
  ["date_nanos", {}, (random) => `2023-11-14T22:13:20.0000000${10 + random.below(50)}Z`],
];

/** A whole number beyond 2^53, which shares the nearest double with others. */
function farLong(random: Random): bigint {
  return 2n ** 62n + BigInt(random.below(40)) * (random.oneIn(2) ? 1n : 300n);
}
const DOCS = 60;

describe("a walk by random columns", () => {
  for (const [at, [type, options, value]] of KINDS.entries()) {
    test(`visits each document once by ${type} (${at}), up and down, whatever the mode and the missing values`, async () => {
      const random = new Random(7);
      const values = (): unknown => {
        if (random.oneIn(6)) return [];
        return Array.from({ length: random.oneIn(3) ? 1 + random.below(3) : 1 }, () => value(random));
      };
      const index = new IndexFixture({
        shards: 2,
        segmentDocs: 25,
        mapping: { properties: { v: { type, ...options }, n: { type: "long" } } },
        docs: Array.from({ length: DOCS }, (_, n) => ({ v: values(), n })),
      });
      try {
        const all = Array.from({ length: DOCS }, (_, n) => String(n)).toSorted();
        for (const order of ["asc", "desc"]) {
          for (const mode of ["min", "max", "avg", "sum", "median"]) {
            const missing = random.pick(["_last", "_first", value(random)]);
            const compared = random.pick([{}, ...NUMERIC_TYPES.map((name) => ({ numeric_type: name }))]);
            const sort = [{ v: { order, mode, missing, ...compared } }, { n: "asc" }];
            const { ids } = await walk(index, sort, random.pick([2, 5, 8, 13]));
            assert.deepEqual(ids.toSorted(), all, JSON.stringify(sort));
          }
        }
      } finally {
        index.close();
      }
    });
  }
});

/** Whole numbers of which each shares its double with a neighbour, and their ids, ascending. */
const FAR = [-(2n ** 63n) + 1n, -(2n ** 53n) - 2n, -(2n ** 53n) - 1n, 5n, 2n ** 53n, 2n ** 53n + 1n]
  .concat(Array.from({ length: 9 }, (_, at) => 2n ** 62n + BigInt(at)))
  .concat(2n ** 63n - 2n);

describe("whole numbers beyond 2^53", () => {
  // Neighbours are in different shards and segments, and the shards have columns without such numbers too.
  const order = FAR.map((_, at) => (at * 7) % FAR.length);
  const index = new IndexFixture({
    shards: 2,
    segmentDocs: 3,
    mapping: { properties: { v: { type: "long" } } },
    docs: [...order.map((at) => ({ v: String(FAR[at]) })), ...Array.from({ length: 4 }, () => ({}))],
  });
  after(() => index.close());

  test("are sorted and printed exactly, up and down", async () => {
    const sorted = async (sort: JsonObject): Promise<unknown[]> => {
      const { hits } = parseJson(
        await index.printed({ size: 50, sort: [{ v: sort }] }),
      ) as unknown as Printed;
      return hits.map((hit) => hit.sort[0]);
    };
    const shown = FAR.map((value) => (Number.isSafeInteger(Number(value)) ? Number(value) : value));
    const ends = Array.from({ length: 4 }, () => 2n ** 63n - 1n);
    assert.deepEqual(await sorted({ order: "asc" }), [...shown, ...ends]);
    assert.deepEqual(await sorted({ order: "desc", missing: "_first" }), [...ends, ...shown.toReversed()]);
    const middle = 2n ** 62n + 3n;
    const at = shown.indexOf(middle);
    assert.deepEqual(
      await sorted({ order: "asc", missing: String(middle) }),
      shown.toSpliced(at, 0, middle, middle, middle, middle),
    );
  });

  test("are paged through without a gap, by numbers and by texts", async () => {
    for (const size of [1, 4]) {
      for (const direction of ["asc", "desc"]) {
        const { values } = await walk(index, [{ v: { order: direction, missing: "_first" } }], size, {
          query: { exists: { field: "v" } },
        });
        const ascending = direction === "asc" ? values : values.toReversed();
        assert.deepEqual(
          ascending.map((value) => BigInt(value as number)),
          FAR,
        );
      }
    }
    const after = String(2n ** 62n + 3n);
    const answer = await index.printed({ size: 1, sort: ["v"], search_after: [after] });
    assert.match(answer, /"sort":\[4611686018427387908\]/);
  });
});

test("a number goes after whole ones without its fraction, and a text that isn't whole is refused", async () => {
  const index = new IndexFixture({
    shards: 1,
    mapping: { properties: { n: { type: "long" }, b: { type: "integer" } } },
    docs: [-2, -1, 0, 1, 2].map((n) => ({ n, b: n })),
  });
  try {
    const ids = (field: string, value: unknown): Promise<string[]> =>
      index.ids({ sort: [field], search_after: [value] });
    for (const field of ["n", "b"]) {
      assert.deepEqual(await ids(field, 1.5), ["4"]);
      assert.deepEqual(await ids(field, -1.5), ["2", "3", "4"]);
      assert.deepEqual(await ids(field, "+1"), ["4"]);
      for (const text of ["1.5", "1e0", "0x1", " 1", ""])
        await assert.rejects(ids(field, text), { code: "request_invalid" });
    }
  } finally {
    index.close();
  }
});

describe("the ends of whole numbers", () => {
  const [min, max] = [-(2n ** 63n), 2n ** 63n - 1n];
  const rows: readonly (readonly [type: string, values: readonly (bigint | undefined)[]])[] = [
    ["long", [max, max, 5n, min, undefined, max - 1n, undefined, min, max - 2n]],
    ["long", [7n, 5n, undefined, -5n, undefined]],
    ["unsigned_long", [max, max + 1n, 2n * max + 1n, 2n * max, 5n, 0n, undefined, 0n, undefined]],
  ];
  for (const [at, [type, values]] of rows.entries()) {
    for (const segmentDocs of [1, 4, 20]) {
      test(`are values like others of ${type} (${at}), in segments of ${segmentDocs} documents`, async () => {
        const docs = values.map((v, id) => (v === undefined ? { id } : { v: String(v), id }));
        const mapping = { properties: { v: { type }, id: { type: "long" } } };
        const index = new IndexFixture({ shards: 2, segmentDocs, mapping, docs });
        const [low, high] = type === "long" ? [min, max] : [0n, 2n * max + 1n];
        try {
          for (const order of ["asc", "desc"]) {
            for (const missing of ["_first", "_last"]) {
              const none = (order === "asc") === (missing === "_last") ? high : low;
              const shown = values.map((value, id) => ({ value: value ?? none, id: String(id) }));
              const sign = order === "asc" ? 1 : -1;
              shown.sort((a, b) =>
                a.value === b.value ? Number(a.id) - Number(b.id) : a.value < b.value ? -sign : sign,
              );
              for (const size of [1, 4]) {
                const walked = await walk(index, [{ v: { order, missing } }, { id: "asc" }], size);
                assert.deepEqual(
                  walked.ids,
                  shown.map(({ id }) => id),
                );
                assert.deepEqual(
                  walked.values.map((value) => BigInt(value as number)),
                  shown.map(({ value }) => value),
                );
              }
            }
          }
        } finally {
          index.close();
        }
      });
    }
  }

  test("limit what documents without a value count as, and come before numbers beyond them", async () => {
    const index = new IndexFixture({
      shards: 1,
      mapping: { properties: { l: { type: "long" }, u: { type: "unsigned_long" } } },
      docs: [{ l: "9007199254740993", u: 1 }, {}],
    });
    try {
      for (const [field, missing, shown] of [
        ["l", 1e300, max],
        ["l", "-99999999999999999999", min],
        ["u", 1e300, 2n * max + 1n],
        ["u", -5, 0n],
      ] as const) {
        const answer = await index.printed({
          sort: [{ [field]: { missing } }],
          query: { ids: { values: ["1"] } },
        });
        assert.match(answer, new RegExp(`"sort":\\[${shown}\\]`));
      }
      assert.deepEqual(await index.ids({ sort: ["l"], search_after: [1e300] }), []);
      assert.deepEqual(await index.ids({ sort: ["l"], search_after: [Number.NEGATIVE_INFINITY] }), [
        "0",
        "1",
      ]);
    } finally {
      index.close();
    }
  });

  test("are the same for nested objects, wherever a segment has none", async () => {
    const index = new IndexFixture({
      shards: 2,
      segmentDocs: 2,
      mapping: {
        properties: { o: { type: "nested", properties: { l: { type: "long" } } }, id: { type: "long" } },
      },
      docs: [[], [], [max], [5], [], [max - 9n, min], [7], [], []].map((values, id) => ({
        id,
        o: values.map((value) => ({ l: String(value) })),
      })),
    });
    try {
      for (const order of ["asc", "desc"]) {
        for (const missing of ["_first", "_last"]) {
          for (const mode of ["min", "max", "sum", "avg", "median"]) {
            const sort = [{ "o.l": { order, missing, mode, nested: { path: "o" } } }, { id: "asc" }];
            const { ids } = await walk(index, sort, 1);
            assert.equal(ids.toSorted().join(""), "012345678", JSON.stringify(sort));
          }
        }
      }
    } finally {
      index.close();
    }
  });
});

test("whole numbers of nested objects beyond 2^53 are sorted and walked exactly", async () => {
  const far = 2n ** 60n;
  const max = 2n ** 63n - 1n;
  const values = [
    [far + 2n],
    [far, far + 9n],
    [],
    [far + 1n, far + 8n],
    [5n],
    [max],
    [max - 1n],
    [-far - 1n, -far],
  ];
  const index = new IndexFixture({
    shards: 2,
    segmentDocs: 3,
    mapping: { properties: { o: { type: "nested", properties: { l: { type: "long" } } } } },
    docs: values.map((each) => ({ o: each.map((value) => ({ l: String(value) })) })),
  });
  try {
    // The largest number of the field and documents without one are equal.
    for (const [order, mode, ids, missing] of [
      ["asc", "min", "74130625", "_last"],
      ["asc", "min", "27413065", "_first"],
      ["asc", "max", "74031625", "_last"],
      ["desc", "max", "56130472", "_last"],
      ["desc", "min", "56031472", "_last"],
    ] as const)
      for (const size of [1, 2, 9]) {
        const sort = [{ "o.l": { order, mode, missing, nested: { path: "o" } } }, { _id: "asc" }];
        const found = (await walk(index, sort, size)).ids.join("");
        assert.equal(found, ids, JSON.stringify([order, mode, missing, size]));
      }
  } finally {
    index.close();
  }
});

test("a sum, mean or median of nested objects beside numbers beyond 2^53 is printed as it is sorted", async () => {
  const index = new IndexFixture({
    shards: 1,
    mapping: { properties: { o: { type: "nested", properties: { l: { type: "long" } } } } },
    docs: [
      { o: [{ l: 5 }, { l: 7 }] },
      { o: [{ l: "1152921504606846977" }] },
      { o: [{ l: 20 }] },
      { o: [{}, { l: 3 }, { l: 4 }] },
      { o: [{ l: 30 }, { l: 31 }] },
    ],
  });
  const far = 2n ** 60n + 1n;
  try {
    for (const [mode, ids, shown] of [
      ["sum", "30241", [7, 12, 20, 61, far]],
      ["avg", "30241", [4, 6, 20, 31, far]],
      ["median", "30241", [4, 6, 20, 31, far]],
    ] as const) {
      for (const size of [1, 2]) {
        const key = { mode, nested: { path: "o" } };
        const up = await walk(index, [{ "o.l": { ...key, order: "asc" } }], size);
        assert.deepEqual([up.ids.join(""), up.values], [ids, shown]);
        const down = await walk(index, [{ "o.l": { ...key, order: "desc" } }], size);
        assert.deepEqual(down.ids.toReversed().join(""), ids);
      }
    }
  } finally {
    index.close();
  }
});

test("a page after any hit has the next ones, whichever blocks are left out for it", async () => {
  const count = 10_000;
  const far = 2n ** 60n;
  // Mostly ascending, as times are, and one without a value now and then.
  const values = Array.from({ length: count }, (_, at) =>
    at % 1_500 === 7 ? undefined : (at * 7 + ((at * 7_919) % 4_000)) >> 2,
  );
  const docs = values.map((value, at) => ({
    id: at,
    even: at % 2 === 0,
    ...(value !== undefined && { n: value, far: String(far + BigInt(value)) }),
  }));
  const index = new IndexFixture({
    mapping: { properties: { n: { type: "long" }, far: { type: "long" }, id: { type: "long" } } },
    docs,
  });
  const numberOf = (at: number): number => values[at] ?? Number.POSITIVE_INFINITY;
  try {
    for (const sign of [1, -1])
      for (const isEven of [false, true]) {
        const order = [...docs.keys()]
          .filter((at) => !isEven || at % 2 === 0)
          .toSorted(
            (a, b) => (numberOf(a) === numberOf(b) ? 0 : sign * (numberOf(a) - numberOf(b))) || a - b,
          );
        for (const field of ["n", "far"])
          for (const track_total_hits of [true, false])
            for (const start of [3, 2_500, 4_980]) {
              const at = order[start]!;
              const value = values[at];
              const shown =
                value === undefined ? 2n ** 63n - 1n : field === "n" ? value : far + BigInt(value);
              const sort = [
                { [field]: { order: sign > 0 ? "asc" : "desc", missing: sign > 0 ? "_last" : "_first" } },
                "id",
              ];
              const ids = await index.ids({
                sort,
                size: 40,
                track_total_hits,
                search_after: [shown, at],
                ...(isEven && { query: { term: { even: true } } }),
              });
              assert.deepEqual(ids.map(Number), order.slice(start + 1, start + 41));
            }
      }
  } finally {
    index.close();
  }
});

describe("a mean that is rounded to beyond its values", () => {
  const count = 2_000;
  // By descending numbers the better hits are in the later blocks.
  for (const [value, order, second] of [
    [0.1, "asc", "asc"],
    [0.7, "desc", "asc"],
    [0.7, "asc", "desc"],
    [0.1, "desc", "desc"],
  ] as const) {
    test(`hides no block from a page or a walk: ${value} ${order}, numbers ${second}`, async () => {
      const mean = (value + value + value) / 3;
      assert.notEqual(mean, value, "the mean is rounded");
      const numbers = Array.from({ length: count }, (_, at) => at);
      const index = new IndexFixture({
        mapping: { properties: { d: { type: "double" }, id: { type: "long" } } },
        docs: numbers.map((id) => ({ d: [value, value, value], id })),
      });
      try {
        const ids = (second === "asc" ? numbers : numbers.toReversed()).map(String);
        const sort = [{ d: { order, mode: "avg" } }, { id: second }];
        const uncounted = { track_total_hits: false };
        assert.deepEqual(await index.ids({ sort, size: 5, ...uncounted }), ids.slice(0, 5));
        const page = await index.ids({ sort, size: 5, search_after: [mean, Number(ids[9])], ...uncounted });
        assert.deepEqual(page, ids.slice(10, 15));
        assert.deepEqual((await walk(index, sort, 90, uncounted)).ids, ids);
      } finally {
        index.close();
      }
    });
  }
});

test("whole numbers that no field can hold are refused, whatever their length", async () => {
  const index = new IndexFixture({
    shards: 1,
    segmentDocs: 2,
    mapping: { properties: { n: { type: "long" }, d: { type: "date_nanos" } } },
    docs: [{ n: "9007199254740993" }, { n: 5 }, { n: 7 }, {}],
  });
  try {
    const long = "9".repeat(400);
    for (const field of ["n", "d"]) {
      for (const value of ["9".repeat(1_000_000), long, BigInt(long), -BigInt(long), "1".repeat(31)]) {
        for (const request of [
          { search_after: [value], sort: [field] },
          { sort: [{ [field]: { missing: value } }] },
        ]) {
          await assert.rejects(index.ids(request), (error: Error) => {
            const cause = error.cause instanceof AppError ? error.cause : (error as AppError);
            assert.deepEqual([cause.code, cause.message.length < 200], ["request_invalid", true]);
            return true;
          });
        }
      }
    }
  } finally {
    index.close();
  }
});

test("pages by texts go on before and after a value for missing ones that no document has", async () => {
  const index = new IndexFixture({
    mapping: { properties: { k: { type: "keyword" }, ip: { type: "ip" }, n: { type: "long" } } },
    // The second segment has neither field, the third one no value near that for missing ones.
    docs: [
      { k: "b", ip: "10.0.0.2", n: 5 },
      { k: "y", ip: "10.0.0.20", n: 4 },
      { n: 9 },
      { n: 1 },
      { k: "a", ip: "10.0.0.1", n: 2 },
      { n: 7 },
    ],
    segmentDocs: 2,
  });
  for (const [field, missing] of [
    ["k", "m"],
    ["ip", "10.0.0.10"],
  ] as const) {
    for (const order of ["asc", "desc"]) {
      const sort = [{ [field]: { order, missing } }, { n: { order } }];
      const { ids } = await walk(index, sort, 1);
      assert.equal(ids.join(""), order === "asc" ? "403521" : "125304", `${field} ${order}`);
    }
  }
  index.close();
});
