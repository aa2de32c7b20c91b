/** Every type of pipeline aggregation. */

import { bucketSort } from "./bucket-sort.ts";
import { PARENT_TYPES } from "./parents.ts";
import type { PipelineType } from "./pipeline-type.ts";
import { SIBLING_TYPES } from "./siblings.ts";

export const PIPELINE_TYPES: readonly PipelineType[] = [...PARENT_TYPES, ...SIBLING_TYPES, bucketSort];
