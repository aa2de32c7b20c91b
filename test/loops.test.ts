/**
 * Every loop of the search interface ends with its client and lets other work run, or is short: each file's loops without
 * a check of their own are in this list with what bounds them.
 */

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { reasonFor, uncheckedLoops } from "./loops.ts";

const ROOT = join(import.meta.dirname, "..");

const BODY = "over parts of a body or address, which the route limits to 1 to 10 MiB";
const STATE = "over indices, shards or nodes of the hub, not over documents";
const BATCH = "over a batch of at most 1,024 documents; the batches are given with pauses";
const BUCKETS = "over buckets, which search.max_buckets limits, or a batch of documents";
const QUERY =
  "over clauses of a query, at most 1,024 of each kind, or the terms they stand for, at most 20,000";
const TEXT = "over the characters or tokens of one text, of a limited length";

/** Folder or file → what bounds its loops that have no check. The longest path counts. */
const BOUNDED: ReadonlyMap<string, string> = new Map([
  ["hub/api", BODY],
  ["hub/api/routes/cluster", STATE],
  ["hub/api/routes/cat", STATE],
  ["hub/api/stats", STATE],
  [
    "hub/api/logql",
    "over the parts of a query of at most 16,384 characters, the fields of one mapping or document, or at most 500 series",
  ],
  [
    "hub/api/logql/range-window.ts",
    "over the samples of a query, at most 200,000: each enters and leaves the window once",
  ],
  ["hub/api/logql/stages.ts", "over the parts of one line or document, at most 200 of which become labels"],
  [
    "hub/api/routes/loki",
    "over the buckets of one answer, which search.max_buckets limits, or the steps of a query, at most 11,001",
  ],
  [
    "hub/api/routes/loki/log-source.ts",
    "over the stages of a query of at most 16,384 characters, or the documents of a page",
  ],
  ["hub/search/aggregations", BUCKETS],
  [
    "hub/search/aggregations/sketches",
    "over the centroids or registers of one sketch, whose number is fixed",
  ],
  [
    "hub/search/aggregations/tree/steps.ts",
    "for callers that can't wait: states of the few buckets of an answer",
  ],
  ["hub/search/aggregations/tree", "over the aggregations of a request, or a batch"],
  ["hub/search/columns", BATCH],
  ["hub/search/execute", BATCH],
  ["hub/search/execute/fetch", "over the parts of one hit; hits are fetched with pauses"],
  ["hub/search/execute/hits", "over a batch, or the best hits, at most index.max_result_window"],
  ["hub/search/execute/nodes/block-scorer.ts", BATCH],
  ["hub/search/execute/nodes/phrase-scorer.ts", "over the positions of one document"],
  ["hub/search/execute/nodes/terms-set.ts", "over the documents up to the next that matches"],
  ["hub/search/execute/nodes", `${QUERY}, or one window of at most 2,048 documents`],
  ["hub/search/fields", QUERY],
  ["hub/search/geo", "over the points or sides of one shape"],
  ["hub/search/highlight", TEXT],
  ["hub/search/intervals", "over the positions of one document"],
  ["hub/search/intervals/algebra.ts", "over the positions of one document"],
  ["hub/search/options", BODY],
  ["hub/search/parse", BODY],
  ["hub/search/parse/queries/script.ts", "for callers that can't wait: explanations of one document"],
  ["hub/search/patterns", `${TEXT}: index.max_regex_length, or one term of 32 kB`],
  ["hub/search/patterns/regexp-syntax.ts", "over the characters of a pattern: index.max_regex_length"],
  ["hub/search/phases", "over shards, or the hits that hosts found"],
  ["hub/search/query", STATE],
  ["hub/search/query/nested-scope.ts", "for callers that can't wait: nested objects of limited memory"],
  ["hub/search/request", BODY],
  ["hub/search/scoring", "over tables of fixed size"],
  ["hub/search/sort", BATCH],
  ["hub/search/source", "over the fields of one document"],
  ["hub/search/suggest", "over candidates, whose number the request's options limit"],
  ["hub/search/wire", "over parts of one message between hosts"],
  ["hub/search/dates", "over the units of one period"],
  ["hub/search", "over fields, shards or the hits of one page"],
]);

test("each loop over parts of requests and documents has a check, or a reason that bounds it", () => {
  const files = globSync("hub/{search,api}/**/*.ts", { cwd: ROOT }).filter(
    (path) => !path.endsWith(".test.ts"),
  );
  const used = new Set<string>();
  const faults: string[] = [];
  for (const path of files) {
    for (const { line, text } of uncheckedLoops(path, readFileSync(join(ROOT, path), "utf8"))) {
      const found = reasonFor(path, BOUNDED);
      const reason = isEndless(text) && found !== path ? undefined : found;
      if (reason === undefined) faults.push(`${path}:${line}: ${text}`);
      else used.add(reason);
    }
  }
  assert.deepEqual(faults, [], "add an isDue/pause, a look at the signal, or a reason to the list");
  assert.deepEqual(
    [...BOUNDED.keys()].filter((path) => !used.has(path)),
    [],
    "rows without a loop",
  );
});

/** A loop that names no end: its file needs a row of its own. */
function isEndless(text: string): boolean {
  return /^(?:for \(;;\)|while \(true\))/.test(text);
}

const EXAMPLES: readonly (readonly [name: string, text: string, unchecked: number])[] = [
  ["a loop without a check", "for (const a of b) {\n  c(a);\n}\n", 1],
  ["a loop that pauses", "for (const a of b) {\n  if (control.isDue) await control.pause();\n}\n", 0],
  ["a loop whose check comes after it", "while (a) {\n  b();\n}\nawait c;\n", 1],
  ["a loop in a loop", "for (const a of b) {\n  for (const c of a) d(c);\n  await e;\n}\n", 1],
];

for (const [name, text, unchecked] of EXAMPLES)
  test(`${name}: ${unchecked} found`, () => assert.equal(uncheckedLoops("x.ts", text).length, unchecked));
