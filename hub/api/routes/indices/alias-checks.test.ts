import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { AliasAction, AliasOptions, IndexInfo, Indices } from "#hub/api/ports/indices.ts";
import { checkFilters, checkWriteIndices } from "./alias-checks.ts";

/** Stubs of indices that write to the alias "a"; `reads` counts how often all are read. */
function indicesOf(...names: string[]): { readonly indices: Indices; readonly reads: () => number } {
  let reads = 0;
  const all = (): IndexInfo[] => {
    reads++;
    return names.map((name) => ({ name, aliases: { a: { is_write_index: true } } }) as unknown as IndexInfo);
  };
  return { indices: { all } as unknown as Indices, reads: () => reads };
}

const add = (index: string, alias: string, info: AliasOptions = {}): AliasAction => ({
  kind: "add",
  index,
  alias,
  info,
});
const WRITES: AliasOptions = { is_write_index: true };

/** [steps on an alias that y writes to, whether they are refused] */
const CHANGES: readonly (readonly [name: string, steps: readonly AliasAction[], isRefused: boolean])[] = [
  ["a second write index", [add("x", "a", WRITES)], true],
  ["one that takes the place of the other", [add("y", "a"), add("x", "a", WRITES)], false],
  [
    "one after the other leaves the alias",
    [{ kind: "remove", index: "y", alias: "a" }, add("x", "a", WRITES)],
    false,
  ],
  [
    "one in place of an index that is removed",
    [{ kind: "remove_index", index: "y" }, add("x", "a", WRITES)],
    false,
  ],
  ["one of another alias", [add("x", "b", WRITES)], false],
];
for (const [name, steps, isRefused] of CHANGES)
  test(`write indices are checked after all steps: ${name}`, () => {
    const check = (): void => checkWriteIndices(indicesOf("y").indices, steps);
    if (isRefused) assert.throws(check, { message: "alias [a] has more than one write index [x,y]" });
    else check();
  });

test("the check of write indices reads the indices once, however many aliases are added", () => {
  const { indices, reads } = indicesOf("y");
  checkWriteIndices(
    indices,
    Array.from({ length: 100 }, (_, at) => add("x", `b${at}`, WRITES)),
  );
  assert.equal(reads(), 1);
});

test("each filter is checked once, however many aliases have it", async () => {
  const checked: unknown[] = [];
  const parts = {
    cluster: { settings: () => ({ persistent: {}, transient: {} }) },
    shards: { check: async ({ body }: { body: unknown }) => void checked.push(body) },
  } as unknown as ApiContext;
  const filters = [{ term: { n: 1 } }, { term: { n: 1 } }, { term: { n: 2n ** 60n } }];
  await checkFilters(
    parts,
    filters.flatMap((filter) => [add("x", "a", { filter }), add("y", "a", { filter })]),
  );
  assert.deepEqual(checked, [{ query: filters[0] }, { query: filters[2] }]);
});
