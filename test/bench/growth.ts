/**
 * How costs grow: the same measures at sizes that rise by a factor, and the exponent of each, which is 1 where twice as much
 * costs twice as much. CPU is that of the hub and its nats-server, so that other work on the machine matters little. After
 * each size the table so far goes to stderr, as Markdown.
 */

import type { Benchmark, BenchmarkContext, Result } from "./benchmark.ts";
import { growAgents } from "./growth/agents.ts";
import { growDocuments } from "./growth/documents.ts";
import { growFields } from "./growth/fields.ts";
import { growIndices } from "./growth/indices.ts";
import { growValues } from "./growth/values.ts";

type Dimension = readonly [name: string, grow: (context: BenchmarkContext) => Promise<Result[]>];

const DIMENSIONS: readonly Dimension[] = [
  ["documents", growDocuments],
  ["values", growValues],
  ["indices", growIndices],
  ["fields", growFields],
  ["agents", growAgents],
];

export const growth: Benchmark = {
  name: "growth",
  about:
    "exponents of costs by documents, distinct values, shards, fields, agents; --docs N, --scale X, --only documents|values|…",
  async run(context) {
    const results: Result[] = [];
    for (const [name, grow] of DIMENSIONS) {
      if (!name.includes(context.only)) continue;
      results.push(...(await grow(context)));
    }
    return results;
  },
};
