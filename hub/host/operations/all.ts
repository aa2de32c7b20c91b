/** The operations of a host by the names that calls give. */

import { nextDocuments, nextPage, openContext, openDocuments } from "./contexts.ts";
import { count, validate } from "./count.ts";
import { explain, get, getRefreshed, termVectors } from "./documents.ts";
import {
  cacheStats,
  clearCaches,
  flush,
  forceMerge,
  largest,
  nextRefresh,
  refresh,
  segments,
  stats,
} from "./maintenance.ts";
import type { Operation } from "./operation.ts";
import { check, search } from "./search.ts";

export const OPERATIONS = {
  cacheStats,
  check,
  clearCaches,
  count,
  explain,
  flush,
  forceMerge,
  get,
  getRefreshed,
  largest,
  nextDocuments,
  nextPage,
  nextRefresh,
  openContext,
  openDocuments,
  refresh,
  search,
  segments,
  stats,
  termVectors,
  validate,
} satisfies Record<string, Operation>;

export type OperationName = keyof typeof OPERATIONS;
