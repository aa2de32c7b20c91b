/** What is asked of an index, each with its name. */

import { aggregations, compositePages } from "./aggregation-checks.ts";
import { collapsed } from "./collapse-checks.ts";
import { columns, sources } from "./fetch-checks.ts";
import { highlights } from "./highlight-checks.ts";
import { matching } from "./match-checks.ts";
import { innerHits, nestedSort } from "./nested-checks.ts";
import { pages, scrolls, terminated } from "./paging-checks.ts";
import { pipelines } from "./pipeline-checks.ts";
import type { Subject } from "./question.ts";
import { rescored } from "./rescore-checks.ts";
import { scores } from "./score-checks.ts";
import type { SearchedIndex } from "./searched-index.ts";
import { cutTerms, partitions } from "./term-checks.ts";

/** Returns what is wrong with answers; undefined: nothing. */
export type Check = (subject: Subject, index: SearchedIndex) => Promise<string | undefined>;

export const CHECKS: readonly (readonly [name: string, check: Check])[] = [
  ["matching", matching],
  ["aggregations", aggregations],
  ["aggregations", aggregations],
  ["aggregations", aggregations],
  ["composite", compositePages],
  ["pages", pages],
  ["scrolls", scrolls],
  ["terminated", terminated],
  ["collapsed", collapsed],
  ["scores", scores],
  ["scores", scores],
  ["rescored", rescored],
  ["pipelines", pipelines],
  ["partitions", partitions],
  ["cut terms", cutTerms],
  ["highlights", highlights],
  ["highlights", highlights],
  ["sources", sources],
  ["columns", columns],
  ["nested sort", nestedSort],
  ["inner hits", innerHits],
];
