/** Messages between the main thread and a worker of the pipeline. */

import type { PipelineDefinition } from "#hub/pipeline/language/pipeline-definition.ts";
import type { Variables } from "#hub/pipeline/language/plugin-options.ts";
import type { Interval } from "#proto/kit/interval-set.ts";
import type { MessageOutput } from "./document-packer.ts";
import type { PipelineStatistics } from "./plugin-statistics.ts";

/** What a worker is started with. */
export interface WorkerSettings {
  /** Id of the default pipeline, which takes what no other takes. */
  readonly defaultId: string;
  /** Checked, without faults. Empty: there is the default pipeline alone. */
  readonly pipelines: readonly PipelineDefinition[];
  /** Values of `${NAME}` in their texts. */
  readonly variables: Variables;
  /** True: the thread before ended as a batch took too long; see RegexpGuard.isCareful. */
  readonly isCareful?: boolean;
}

export interface WorkItem {
  /** An encoded LogBatch. */
  readonly data: Uint8Array;
  /** Parts of its source to process. */
  readonly ranges: readonly Interval[];
  /** Its sequence in RAW. */
  readonly sequence: number;
}

/** To the worker: process these messages. Without items: flush the filters that keep events, as one result. */
export interface WorkRequest {
  readonly id: number;
  readonly items: readonly WorkItem[];
}

export type WorkResult = { readonly output: MessageOutput } | { readonly failure: WorkFailure };

/** Why a message gave no documents. */
export interface WorkFailure {
  readonly reason: string;
  /** False: the message itself is at fault, a retry changes nothing. */
  readonly retryable: boolean;
}

/** `id` of a response without results: the worker is ready. */
export const READY = 0;

/** `id` of a response without results: the current work is slow but continues. */
export const SLOW = -1;

/** `id` of a response with statistics only. */
export const STATISTICS = -2;

/** From the worker: its results, in the order of the items. */
export interface WorkResponse {
  readonly id: number;
  readonly results: readonly WorkResult[];
  /** Sequence of the oldest message that a filter still needs, after this work; undefined: none is needed. */
  readonly heldSequence?: number | undefined;
  /** Statistics of the plugins since the last response that had them. */
  readonly statistics?: readonly PipelineStatistics[] | undefined;
}
