/** Ports of the HTTP interfaces to pipelines: ingest pipelines of documents, pipelines of events, dead letters. */

import type { JsonObject } from "#proto/kit/json.ts";

/** Events for testing a pipeline. */
export interface PipelineSamples {
  /** Text to use instead of the stored pipeline. */
  readonly text?: string;
  /** The fields of each event. */
  readonly events: readonly JsonObject[];
}

/** The result of a grok expression for a text. */
export interface GrokOutcome {
  readonly matched: boolean;
  readonly start: number;
  readonly end: number;
  readonly fields: readonly { readonly name: string; readonly value: string }[];
  readonly matchedPattern: string;
  readonly failedPattern: string;
}

/** The destination of a document after an ingest pipeline. */
export type IngestDestination = Partial<
  Record<"_index" | "_type" | "_id" | "_routing" | "_version" | "_version_type", string>
>;

/** The result of an ingest pipeline for a document. */
export type IngestOutcome =
  | {
      readonly kind: "done";
      readonly source: string;
      readonly destination: IngestDestination;
      /** True: it goes through the pipelines of its new index. */
      readonly isRerouted?: true;
    }
  | { readonly kind: "dropped" }
  | ({ readonly kind: "failed" } & IngestFailure);

/** Why a document failed in a pipeline. */
export interface IngestFailure {
  readonly message: string;
  /** Absent: no processor failed. */
  readonly fault?: {
    readonly processorType: string;
    readonly processorTag?: string;
    readonly javaClass: string;
    /** Details of a failed script for clients: script_stack, script, lang, caused_by. */
    readonly script?: JsonObject;
  };
}

/** Counts of an ingest pipeline: documents, failures, documents in it now, time in ms. */
export interface IngestCounts {
  readonly count: number;
  readonly failed: number;
  readonly current: number;
  readonly timeMs: number;
}

/** Ingest pipelines, which documents sent over HTTP pass through if the request or the index names them. */
export interface IngestPipelines {
  /** Returns the definitions by id, in their order. */
  all(): ReadonlyMap<string, JsonObject>;
  /** Throws request_invalid, request_too_large. */
  put(id: string, definition: JsonObject): Promise<void>;
  delete(ids: readonly string[]): Promise<void>;
  /** Resolves with one outcome per item, in order. Throws overloaded, timeout, unavailable. */
  run(
    items: readonly {
      readonly pipeline: string;
      readonly destination: IngestDestination;
      /** A JSON object in UTF-8. */
      readonly source: Uint8Array;
    }[],
  ): Promise<readonly IngestOutcome[]>;
  /**
   * Returns the `docs` of `_simulate`: sources are JSON texts, what failed is {failed: IngestFailure}. `id`: of a stored
   * pipeline. Throws request_invalid, overloaded, timeout.
   */
  simulate(
    definition: JsonObject,
    documents: readonly { readonly source: string; readonly destination: IngestDestination }[],
    verbose: boolean,
    id?: string,
  ): Promise<unknown[]>;
  /** Returns the counts of each pipeline since this hub's start, by id. */
  counts(): ReadonlyMap<string, IngestCounts>;
  /** Names of processors, sorted. */
  readonly processorTypes: readonly string[];
  /** Returns the grok patterns by name; `ecs`: those with fields of the Elastic Common Schema. */
  patterns(ecs: boolean): Promise<Readonly<Record<string, string>>>;
}

/** The pipelines, for administrators. */
export interface PipelineAdmin {
  list(): Promise<JsonObject>;
  /** Throws not_found. */
  get(id: string): Promise<JsonObject>;
  /** Throws settings_invalid with the positions of all faults, request_invalid, request_too_large, journal_conflict. */
  put(
    id: string,
    content: { readonly text: string; readonly description: string; readonly by: string },
    revision?: number,
  ): Promise<JsonObject>;
  /** Throws not_found, request_invalid, journal_conflict. */
  delete(id: string, revision?: number): Promise<void>;
  /** Throws not_found, settings_invalid, timeout, overloaded. */
  simulate(id: string, samples: PipelineSamples): Promise<JsonObject>;
  /** Throws request_invalid, timeout, overloaded. */
  grok(question: {
    readonly pattern: string;
    readonly text: string;
    readonly definitions: string;
    readonly ecs: boolean;
  }): Promise<GrokOutcome>;
}

/** The dead letters: events that no output accepted. */
export interface DeadLetterBox {
  /** Returns the dead letters after a sequence, oldest first. */
  letters(after: number, limit: number): Promise<JsonObject[]>;
  /**
   * Sends a dead letter, or its edited event, through a pipeline again; empty: through the pipelines of agents' events. Throws
   * not_found, request_invalid.
   */
  replay(sequence: number, event: JsonObject | undefined, pipeline: string): Promise<JsonObject>;
}
