/** Paging by `search_after` with the sort values as they are printed: each hit comes once. */

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { parseJson } from "#hub/search/options/json.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { floatText } from "#proto/kit/number-text.ts";
import { Random } from "#test/support/engine/random.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

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
];
const DOCS = 60;

describe("a walk by random columns", () => {
  for (const [type, options, value] of KINDS) {
    test(`visits each document once by ${type}, up and down, whatever the mode and the missing values`, async () => {
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
            const sort = [{ v: { order, mode, missing } }, { n: "asc" }];
            const { ids } = await walk(index, sort, 1 + random.below(9));
            assert.deepEqual(ids.toSorted(), all, JSON.stringify(sort));
          }
        }
      } finally {
        index.close();
      }
    });
  }
});
