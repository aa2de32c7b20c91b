/**
 * How costs grow: the same measures at sizes that rise by a factor, and the exponent of each, which is 1 where twice as much
 * costs twice as much. CPU is that of the hub and its nats-server, so that other work on the machine matters little. After
 * each size the table so far goes to stderr, as Markdown.
 */

import { type Benchmark, type Case, measureCases } from "./benchmark.ts";
import { growAgents } from "./growth/agents.ts";
import { growDocuments } from "./growth/documents.ts";
import { growFields } from "./growth/fields.ts";
import { growIndices } from "./growth/indices.ts";
import { growValues } from "./growth/values.ts";

const DIMENSIONS: readonly Case[] = [
  { name: "documents", measure: growDocuments },
  { name: "values", measure: growValues },
  { name: "indices", measure: growIndices },
  { name: "fields", measure: growFields },
  { name: "agents", measure: growAgents },
];

export const growth: Benchmark = {
  name: "growth",
  about:
    "exponents of costs by documents, distinct values, shards, fields, agents; --docs N, --scale X, --only documents|values|…",
  run: (context) => measureCases(DIMENSIONS, context),
};
