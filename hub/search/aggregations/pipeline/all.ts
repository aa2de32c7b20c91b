/** Every type of pipeline aggregation. */

import type { PipelineType } from "#hub/search/aggregations/tree/pipeline.ts";
import { bucketScript, bucketSelector } from "./bucket-scripts.ts";
import { bucketSort } from "./bucket-sort.ts";
import { PARENT_TYPES } from "./parents.ts";
import { SIBLING_TYPES } from "./siblings.ts";

/** By their names. */
export const PIPELINES_BY_NAME: ReadonlyMap<string, PipelineType> = new Map(
  [...PARENT_TYPES, ...SIBLING_TYPES, bucketSort, bucketScript, bucketSelector].map((type) => [
    type.name,
    type,
  ]),
);
