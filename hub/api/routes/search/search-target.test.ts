import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { IndexInfo, ResolveOptions } from "#hub/api/ports/indices.ts";
import { decodeDateMath } from "#hub/cluster/catalog/date-math-name.ts";
import { resolveIndices } from "#hub/cluster/catalog/index-names.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { searchedIndices } from "./search-target.ts";

const few = { term: { level: "error" } };
const today = { range: { at: { gte: "now/d" } } };
const index = {
  name: "secrets",
  uuid: "u",
  state: "open",
  mapping: {},
  settings: { numberOfShards: 1, numberOfReplicas: 0, creationDate: 0, raw: { hidden: "true" } },
  aliases: {
    "logs-few": { filter: few },
    "logs-all": { is_hidden: true },
    [decodeDateMath("<logs-{now/d}>")]: { filter: today },
  },
} as unknown as IndexInfo;

const parts = {
  indices: {
    resolve: (expression: string | undefined, options: ResolveOptions) =>
      resolveIndices(new Map([[index.name, index]]), expression, options),
  },
  cluster: { settings: () => ({ persistent: {}, transient: {} }) },
} as unknown as Pick<ApiContext, "indices" | "cluster">;

/** Filters of a search of an expression; undefined: it sees everything. */
const FILTERS: readonly (readonly [string, ResolveOptions, JsonObject[] | undefined])[] = [
  ["logs-few", {}, [few]],
  ["logs-f*", {}, [few]],
  ["*few,*all", {}, [few]],
  ["*few,*all", { expandHidden: true }, undefined],
  ["*few,logs-all", {}, undefined],
  ["*few,*secrets", {}, [few]],
  ["<logs-{now/d}>", {}, [today]],
  ["*few,secrets", {}, undefined],
];

for (const [expression, options, filters] of FILTERS) {
  test(`a search of ${expression} with ${JSON.stringify(options)} has the filters of the aliases that it means`, () => {
    const { targets } = searchedIndices(parts, { expression, types: undefined, options });
    assert.deepEqual(
      targets.map((target) => target.filters),
      [filters],
    );
  });
}
