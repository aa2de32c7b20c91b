/** Prints the statistics of indices: sections of JSON of `_stats`, `_nodes/stats` and `_cluster/stats`, and cells of `_cat`. */

import type { HostedShardStats } from "#hub/cluster/shards/hosted-index.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { compileWildcard } from "#hub/search/patterns/wildcard.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { indexing, ofShards, SECTIONS, type Statistic, searching } from "./stats-sections.ts";
import { fieldBytes, type StatsSource } from "./stats-source.ts";

/** Options of a request for the sections. */
export interface StatsOptions {
  /** Returns whether a section is requested. */
  readonly wanted: (section: string) => boolean;
  /** Patterns of the search groups to show. */
  readonly groups: readonly string[];
  /** Patterns of the mapping types to show. */
  readonly types: readonly string[];
  /** Patterns of the fields whose field data and completions are shown individually. */
  readonly fieldDataOf: readonly string[];
  readonly completionsOf: readonly string[];
  /** True: sizes of segment files are requested. */
  readonly fileSizes: boolean;
}

/** A cell of a table: printed in the unit that the request asks for. */
export type StatCell = number | boolean | { readonly bytes: number } | { readonly ms: number };

/** Names of sections in requests that differ from those in answers. */
const REQUEST_NAMES: Readonly<Record<string, string>> = { merges: "merge" };

/** Names of sections in requests; `suggest` has no statistics. */
export const SECTION_NAMES: readonly string[] = [
  ...Object.keys(SECTIONS).map((name) => REQUEST_NAMES[name] ?? name),
  "suggest",
];

/** Additional details of sections, on request. */
const DETAILS: Readonly<Record<string, (source: StatsSource, options: StatsOptions) => JsonObject>> = {
  indexing: ({ counts, types, ...rest }, options) =>
    named("types", types, options.types, (type) =>
      printAll(indexing(), {
        ...rest,
        shards: [],
        types: [],
        counts: counts.filter((_counts, at) => types[at] === type),
      }),
    ),
  search: (source, options) =>
    named(
      "groups",
      source.counts.flatMap(({ groups }) => [...groups.keys()]),
      options.groups,
      (name) =>
        printAll(
          searching(({ counts }) => counts.flatMap((each) => each.groups.get(name) ?? [])),
          source,
        ),
    ),
  fielddata: ({ shards }, { fieldDataOf }) => ({
    ...byField(shards, "fieldData", fieldDataOf, "memory_size_in_bytes"),
    // Numbers of terms are computed for each segment.
    ...(answersAs(800) && { global_ordinals: { build_time_in_millis: 0 } }),
  }),
  completion: ({ shards }, { completionsOf }) =>
    byField(shards, "completions", completionsOf, "size_in_bytes"),
  segments: (source, { fileSizes }) => {
    const segment = {
      size_in_bytes: ofShards("bytes")(source),
      description: "Segment: all parts in one file",
    };
    return { file_sizes: fileSizes ? { seg: segment } : {} };
  },
};

/** Returns the requested sections as JSON. */
export function printSections(source: StatsSource, options: StatsOptions): JsonObject {
  return Object.fromEntries(
    Object.entries(SECTIONS)
      .filter(([name]) => options.wanted(REQUEST_NAMES[name] ?? name))
      .map(([name, statistics]) => [
        name,
        { ...printAll(statistics, source), ...DETAILS[name]?.(source, options) },
      ]),
  );
}

/** Returns the cell of a column, e.g. "store.size"; undefined if there is no such statistic. */
export function statCell(source: StatsSource, column: string): StatCell | undefined {
  const statistic = BY_COLUMN.get(column);
  if (statistic === undefined) return undefined;
  const value = statistic.value(source);
  if (typeof value === "boolean" || statistic.unit === "plain") return value;
  return statistic.unit === "bytes" ? { bytes: value } : { ms: value };
}

const BY_COLUMN: ReadonlyMap<string, Statistic> = new Map(
  Object.entries(SECTIONS).flatMap(([section, statistics]) =>
    statistics.map((statistic) => [`${section}.${statistic.column}`, statistic] as const),
  ),
);

function printAll(statistics: readonly Statistic[], source: StatsSource): JsonObject {
  const shown = statistics.filter(({ from = 0 }) => answersAs(from));
  return Object.fromEntries(shown.map(({ key, value }) => [key, value(source)]));
}

/** Returns {[key]: {name: …}} with the names that match a pattern; {} if none does. */
function named(
  key: string,
  names: readonly string[],
  patterns: readonly string[],
  print: (name: string) => JsonObject,
): JsonObject {
  const tests = patterns.map((pattern) => compileWildcard(pattern === "_all" ? "*" : pattern));
  const found = [...new Set(names)].filter((name) => tests.some((test) => test.matches(name))).sort();
  if (found.length === 0) return {};
  return { [key]: Object.fromEntries(found.map((name) => [name, print(name)])) };
}

function byField(
  shards: readonly HostedShardStats[],
  kind: "fieldData" | "completions",
  patterns: readonly string[],
  key: string,
): JsonObject {
  const bytes = fieldBytes(shards, kind);
  return named("fields", [...bytes.keys()], patterns, (field) => ({ [key]: bytes.get(field)! }));
}
