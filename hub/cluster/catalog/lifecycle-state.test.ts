import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS } from "#proto/kit/units.ts";
import { type IndexMetadata, parseMapping } from "./index-metadata.ts";
import { parsePolicy, unusedActions } from "./lifecycle-policy.ts";
import { IndexRelations, lifecycleOf } from "./lifecycle-state.ts";

const NOW_MS = 1_000 * DAY_MS;

/** An index that was made so many days ago. */
function index(
  name: string,
  ageDays: number,
  { raw = {}, aliases = {}, ...rest }: Partial<IndexMetadata> & { raw?: object } = {},
): IndexMetadata {
  return {
    name,
    uuid: name,
    state: "open",
    settings: {
      numberOfShards: 1,
      numberOfReplicas: 0,
      creationDate: NOW_MS - ageDays * DAY_MS,
      raw: { "lifecycle.name": "p", ...raw },
    },
    mapping: parseMapping(name, {}, {}),
    aliases,
    ...rest,
  };
}

const DELETION = { min_age: "30d", actions: { delete: {} } };
const ROLLING = { hot: { actions: { rollover: { max_age: "1d" } } }, delete: DELETION };
const PLAIN = {
  warm: { min_age: "2d", actions: { readonly: {} } },
  cold: { min_age: "50d", actions: {} },
  delete: DELETION,
};
const ALIASED = { "lifecycle.rollover_alias": "logs" };
const WRITE = { aliases: { logs: { is_write_index: true } } };
const OLD = { aliases: { logs: { is_write_index: false } } };

for (const [what, phases, indices, expected] of [
  ["a young index without rollover is new", { delete: DELETION }, [index("a", 29)], "new complete"],
  ["an old one is deleted", { delete: DELETION }, [index("a", 31)], "delete delete delete"],
  ["a phase waits for those before it", PLAIN, [index("a", 31)], "warm complete readonly"],
  ["writes are blocked once", PLAIN, [index("a", 3, { raw: { "blocks.write": "true" } })], "warm complete"],
  ["a clock set back makes it younger", { delete: DELETION }, [index("a", -9)], "new complete"],
  [
    "the age counts from origination_date",
    { delete: DELETION },
    [index("a", 1, { raw: { "lifecycle.origination_date": String(NOW_MS - 31 * DAY_MS) } })],
    "delete delete delete",
  ],
  [
    "the index that an alias writes to is never deleted",
    { delete: DELETION },
    [index("a", 31, WRITE)],
    /write index of alias \[logs\]/,
  ],
  [
    "the index that a stream writes to is never deleted",
    { delete: DELETION },
    [index("a", 31, { dataStream: "s" })],
    /write index of data stream \[s\]/,
  ],
  [
    "the index that is written to is not blocked",
    { warm: { actions: { readonly: {} } } },
    [index("a", 31, { dataStream: "s" })],
    "warm complete",
  ],
  [
    "the index of a stream is rolled over",
    ROLLING,
    [index("a-1", 99, { dataStream: "s" })],
    "hot check-rollover-ready rollover",
  ],
  [
    "before its rollover an index has no age",
    ROLLING,
    [index("a-1", 99, { ...WRITE, raw: ALIASED })],
    "hot check-rollover-ready rollover",
  ],
  ["without an alias nothing is done", ROLLING, [index("a-1", 99, WRITE)], /rollover_alias\] .* is empty/],
  [
    "an alias elsewhere is named",
    ROLLING,
    [index("a-1", 99, { raw: ALIASED })],
    /does not point to index \[a-1\]/,
  ],
  [
    "an alias without write index is named",
    ROLLING,
    [index("a-1", 99, { ...OLD, raw: ALIASED }), index("a-2", 98, { ...OLD, raw: ALIASED })],
    /not the write index for alias \[logs\]/,
  ],
  [
    "the age counts from the creation of the next generation",
    ROLLING,
    [index("a-1", 99, { ...OLD, raw: ALIASED }), index("a-2", 29, { ...WRITE, raw: ALIASED })],
    "hot complete",
  ],
  [
    "after that it is deleted",
    ROLLING,
    [index("a-1", 99, { ...OLD, raw: ALIASED }), index("a-2", 31, { ...WRITE, raw: ALIASED })],
    "delete delete delete",
  ],
  [
    "a restored index, which is younger than its successor, counts from its own creation",
    ROLLING,
    [index("a-1", 0, { ...OLD, raw: ALIASED }), index("a-2", 400, { ...WRITE, raw: ALIASED })],
    "hot complete",
  ],
  [
    "an index that the alias left at its rollover has its age by its number",
    ROLLING,
    [index("a-1", 99, { raw: ALIASED }), index("a-2", 31, { ...WRITE, raw: ALIASED })],
    "delete delete delete",
  ],
  [
    "a stored rollover counts, whatever became of later generations",
    ROLLING,
    [index("a-1", 99, { raw: ALIASED, rolledOverMs: NOW_MS - 5 * DAY_MS })],
    "hot complete",
  ],
  [
    "an index that is written to again is rolled over again",
    ROLLING,
    [index("a-1", 99, { dataStream: "s", rolledOverMs: NOW_MS - 50 * DAY_MS })],
    "hot check-rollover-ready rollover",
  ],
  [
    "indexing_complete counts from when it is found",
    ROLLING,
    [index("a-1", 99, { raw: { "lifecycle.indexing_complete": true } })],
    "hot complete",
  ],
] as const) {
  test(`lifecycle: ${what}`, () => {
    const policyOf = () => ({ version: 1, modifiedMs: 0, policy: { phases } });
    const state = lifecycleOf(indices[0], new IndexRelations(indices), policyOf, NOW_MS)!;
    if (typeof expected !== "string") {
      assert.match(state.error ?? "", expected);
      assert.deepEqual(state.due, []);
      return;
    }
    assert.equal([state.phase, state.step, ...state.due.map(({ kind }) => kind)].join(" "), expected);
    assert.equal(state.error, undefined);
  });
}

test("lifecycle: settings of earlier versions, which took any value, do nothing", () => {
  const raw = { "lifecycle.origination_date": "2001-01-01", "lifecycle.rollover_alias": 5 };
  const policyOf = () => ({ version: 1, modifiedMs: 0, policy: { phases: { delete: DELETION } } });
  const state = lifecycleOf(index("a", 29, { raw }), new IndexRelations([]), policyOf, NOW_MS);
  assert.deepEqual(state?.due, []);
});

test("lifecycle: an index names no policy, or one that isn't there", () => {
  const relations = new IndexRelations([]);
  assert.equal(
    lifecycleOf(index("a", 1, { raw: { "lifecycle.name": "" } }), relations, () => undefined, 0),
    undefined,
  );
  const state = lifecycleOf(index("a", 99), relations, () => undefined, NOW_MS)!;
  assert.equal(state.error, "policy [p] does not exist");
  assert.deepEqual(state.due, []);
});

for (const [phases, expected] of [
  [{ tepid: {} }, /^Timeseries lifecycle does not support phase \[tepid\]$/],
  [
    { warm: { actions: { rollover: { max_docs: 1 } } } },
    /^invalid action \[rollover\] defined in phase \[warm\]$/,
  ],
  [{ warm: { actions: { burn: {} } } }, /^unknown LifecycleAction \[burn\]$/],
  [{ hot: { actions: { rollover: {} } } }, /^At least one max_\* rollover condition must be set\.$/],
  [{ hot: { actions: { rollover: { min_docs: 1 } } } }, /^At least one max_\*/],
  [{ hot: { actions: { rollover: { max_docs: "x" } } } }, /\[max_docs: x\] must be a whole number/],
  [
    { hot: { actions: { readonly: {} } } },
    /the \[readonly\] action\(s\) may not be used in the \[hot\] phase/,
  ],
  [{ warm: { actions: { forcemerge: {} } } }, /\[max_num_segments\] must be a positive integer/],
  [{ delete: { min_age: "soon", actions: {} } }, /failed to parse setting \[min_age\] with value \[soon\]/],
  [{ delete: { min_age: {}, actions: {} } }, /failed to parse setting \[min_age\]/],
  [{ delete: { min_age: 30, actions: {} } }, /\[min_age\] with value \[30\].*unit is missing/],
  [{ delete: { min_age: "30", actions: {} } }, /unit is missing/],
  [{ delete: { min_age: -1, actions: {} } }, /unit is missing/],
  [{ delete: { after: "1d" } }, /\[delete\] unknown field \[after\]/],
  [[], /\[phases\] must be an object/],
  [{ hot: { actions: { set_priority: { x: "y".repeat(65_536) } } } }, /at most 65536 characters/],
] as const) {
  test(`lifecycle: ${JSON.stringify(phases).slice(0, 60)} is refused`, () => {
    assert.throws(() => parsePolicy({ phases }), { message: expected });
  });
}

test("lifecycle: actions without effect are named with their phase", () => {
  const phases = {
    hot: { actions: { rollover: { max_docs: 1 }, forcemerge: { max_num_segments: 1, index_codec: "x" } } },
    cold: { actions: { freeze: {} } },
  };
  parsePolicy({ phases });
  assert.deepEqual(
    unusedActions({ phases }).map(([action]) => action),
    ["hot.forcemerge.index_codec", "cold.freeze"],
  );
});
