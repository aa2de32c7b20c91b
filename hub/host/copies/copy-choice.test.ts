import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { CopyWish } from "#hub/host/contract/calls.ts";
import { type ChoiceOptions, type CopyHolders, choosePlan, copyKey, hasOther } from "./copy-choice.ts";

const INDEX = "u1";

/** Hub "a" is here; `have`: shards of the hubs. */
function options(
  have: Readonly<Record<string, readonly number[]>>,
  more: Partial<ChoiceOptions> & { readonly loads?: Readonly<Record<string, number>> } = {},
): ChoiceOptions {
  const { loads = {}, ...rest } = more;
  const holders: CopyHolders = {
    node: "a",
    isAlone: false,
    isHere: (_uuid, shard) => have["a"]?.includes(shard) ?? false,
    elsewhere: (_uuid, shard) =>
      Object.keys(have)
        .filter((id) => id !== "a" && have[id]!.includes(shard))
        .map((id) => ({ id, threads: 1, load: loads[id] ?? 0 })),
  };
  return { holders, wish: undefined, failed: new Set(), isLost: false, shards: () => 3, ...rest };
}

/** The hub of each shard. */
function hubs(given: ChoiceOptions): string {
  return [...choosePlan([{ uuid: INDEX, typeName: "_doc" }], given).used.values()].join("");
}

const ALL = { a: [0, 1, 2], b: [0, 1, 2], c: [0, 1, 2] };

describe("the copies that a search reads", () => {
  const table: [
    name: string,
    have: Readonly<Record<string, readonly number[]>>,
    more: object,
    want: string,
  ][] = [
    ["this hub's where it has them", ALL, {}, "aaa"],
    ["of others where it has none", { a: [0], b: [1], c: [2] }, {}, "abc"],
    ["of the hub with the least to do", { ...ALL, a: [] }, { loads: { b: 2, c: 1 } }, "ccc"],
    ["of the hubs that are named", ALL, { wish: { only: ["c"] } }, "ccc"],
    [
      "of hubs that are preferred, where they have them",
      { ...ALL, b: [1] },
      { wish: { prefer: ["b"] } },
      "aba",
    ],
    ["another where one failed", ALL, { failed: new Set([copyKey("a", INDEX, 1)]) }, "aba"],
    ["of others where no thread works here", ALL, { isLost: true }, "bbb"],
    ["none where no hub has one", { a: [0, 1] }, {}, "aa-"],
    ["none beside the named hubs", { a: [0, 1, 2], b: [1] }, { wish: { only: ["b"] } }, "-b-"],
  ];
  for (const [name, have, more, want] of table)
    test(name, () => assert.equal(hubs(options(have, more)), want));

  test("shards of this hub aren't named, those of others by hub and thread", () => {
    const own = choosePlan([{ uuid: INDEX, typeName: "_doc" }], options(ALL));
    assert.deepEqual(own.targets, [{ uuid: INDEX, typeName: "_doc" }]);
    const { targets, merger } = choosePlan(
      [{ uuid: INDEX, typeName: "_doc", shards: [2, 1, 9] }],
      options({ ...ALL, a: [2] }),
    );
    assert.deepEqual(targets[0]?.elsewhere, [{ at: { hub: "b", thread: 0 }, shards: [1] }]);
    assert.equal(merger, undefined);
  });

  test("the hub with most shards merges where no thread works here", () => {
    const { merger } = choosePlan(
      [{ uuid: INDEX, typeName: "_doc" }],
      options({ a: [], b: [0], c: [1, 2] }, { isLost: true }),
    );
    assert.deepEqual(merger, { hub: "c", thread: 0 });
  });

  test("a session reads the same copies through every hub, and sessions are spread", () => {
    const seen = new Set<string>();
    for (let session = 0; session < 40; session++) {
      const wish: CopyWish = { session: String(session) };
      const here = hubs(options(ALL, { wish }));
      const { holders } = options(ALL);
      const there: CopyHolders = {
        ...holders,
        node: "b",
        elsewhere: () => ["c", "a"].map((id) => ({ id, threads: 1, load: 0 })),
      };
      assert.equal(hubs({ ...options(ALL, { wish }), holders: there }), here);
      seen.add(here);
    }
    assert.deepEqual([...seen].sort(), ["aaa", "bbb", "ccc"]);
  });

  test("no other copy is left where all have failed", () => {
    const failed = new Set(["a", "b"].map((hub) => copyKey(hub, INDEX, 0)));
    assert.equal(hasOther(INDEX, 0, options({ a: [0], b: [0] }, { failed })), false);
    assert.equal(hasOther(INDEX, 0, options(ALL, { failed })), true);
  });
});
