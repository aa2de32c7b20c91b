/** The options of a pipeline. */

import type { PipelineDefinition } from "#hub/pipeline/language/pipeline-definition.ts";
import type { Variables } from "#hub/pipeline/language/plugin-options.ts";
import type { Clock } from "#proto/kit/clock.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import type { OutputReach } from "./output-host.ts";
import type {
  DeadLetterSink,
  DocLosses,
  DocumentSink,
  EventListener,
  PipelineEvents,
  RawSource,
} from "./ports.ts";
import type { InputReach } from "./running-input.ts";

export interface PipelineSettings {
  /** Name of the default pipeline; goes into the documents' ids. */
  readonly id: string;
  /** Empty: the default pipeline alone. */
  readonly pipelines?: readonly PipelineDefinition[];
  /** pipeline.workers */
  readonly workers: number;
  /** pipeline.batch.size, events. */
  readonly batchSize: number;
  /** pipeline.batch.delay, ms. */
  readonly batchDelayMs: number;
}

/** How partitions are shared among hubs: those given by `Pipeline.assign` are processed. */
export interface Sharing {
  /** False from the moment that another hub may have taken this one's partitions over. Called before each write. */
  readonly mayWrite: () => boolean;
}

export interface PipelineOptions {
  readonly settings: PipelineSettings;
  readonly source: RawSource;
  readonly sink: DocumentSink;
  readonly deadLetters: DeadLetterSink;
  /** Holds the cursors. */
  readonly cursors: StateBucket;
  /** Id of this hub, the same after each start. */
  readonly hub: string;
  /** Set where partitions are shared with other hubs; without it this one processes all. */
  readonly sharing?: Sharing;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock?: Clock;
  readonly listener?: EventListener;
  readonly events?: PipelineEvents;
  /** What DOC has lost; without it nothing. */
  readonly losses?: DocLosses;
  /** The dependencies of inputs; without it none is run. */
  readonly inputs?: InputReach;
  /** What outputs may reach; without it they reach nothing but the log. */
  readonly outputs?: Omit<OutputReach, "feed">;
  /** Returns what `${NAME}` stands for in the pipelines' texts; the environment without it. */
  readonly variables?: () => Promise<Variables>;
  /** See OutputContext.signInPort. */
  readonly signInPort?: number | undefined;
  /** Script of the workers. */
  readonly workerScript?: URL;
  readonly inFlightBytes?: number;
  /** See `network.trusted_proxies`; none without it. */
  readonly trustedProxies?: readonly string[];
  readonly workTimeoutMs?: number;
}
