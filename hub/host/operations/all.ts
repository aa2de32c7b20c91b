/** The operations of a host, by the names that calls use. */

import type { OperationName } from "#hub/host/contract/calls.ts";
import { nextDocuments, nextPage, openContext, openDocuments, openPoint, openSnapshot } from "./contexts.ts";
import { count, validate } from "./count.ts";
import { explain, get, getRefreshed, termVectors } from "./documents.ts";
import {
  cacheStats,
  clearCaches,
  flush,
  forceMerge,
  holdsShard,
  largest,
  nextRefresh,
  refresh,
  segments,
  stats,
} from "./maintenance.ts";
import type { Operation } from "./operation.ts";
import { asked, check, progress, search } from "./search.ts";

export const OPERATIONS = {
  asked,
  cacheStats,
  check,
  clearCaches,
  count,
  explain,
  flush,
  forceMerge,
  get,
  getRefreshed,
  holdsShard,
  largest,
  nextDocuments,
  nextPage,
  nextRefresh,
  openContext,
  openDocuments,
  openPoint,
  openSnapshot,
  progress,
  refresh,
  search,
  segments,
  stats,
  termVectors,
  validate,
} satisfies Record<OperationName, Operation>;
