/** Ports of the HTTP interfaces to pipelines: ingest pipelines of documents, pipelines of events, dead letters. */

import type { JsonObject } from "#proto/kit/json.ts";

/** Events to try a pipeline with. */
export interface PipelineSamples {
  /** Instead of the stored pipeline's text. */
  readonly text?: string;
  /** Fields of each. */
  readonly events: readonly JsonObject[];
}

/** What a grok expression did with a text. */
export interface GrokOutcome {
  readonly matched: boolean;
  readonly start: number;
  readonly end: number;
  readonly fields: readonly { readonly name: string; readonly value: string }[];
  readonly matchedPattern: string;
  readonly failedPattern: string;
}

/** Where a document that went through an ingest pipeline is to go. */
export type IngestDestination = Partial<
  Record<"_index" | "_type" | "_id" | "_routing" | "_version" | "_version_type", string>
>;

/** The result of an ingest pipeline for a document. */
export type IngestOutcome =
  | { readonly kind: "done"; readonly source: string; readonly destination: IngestDestination }
  | { readonly kind: "dropped" }
  | {
      readonly kind: "failed";
      readonly message: string;
      /** Absent: no processor failed. */
      readonly fault?: {
        readonly processorType: string;
        readonly processorTag?: string;
        readonly javaClass: string;
        /** What clients get of a script that failed: script_stack, script, lang, caused_by. */
        readonly script?: JsonObject;
      };
    };

/** What an ingest pipeline has done: documents, those that failed, those in it now, time in ms. */
export interface IngestCounts {
  readonly count: number;
  readonly failed: number;
  readonly current: number;
  readonly timeMs: number;
}

/** Ingest pipelines: documents sent over HTTP pass through those that the request or the index names. */
export interface IngestPipelines {
  /** Definitions by id, in their order. */
  all(): ReadonlyMap<string, JsonObject>;
  /** Throws request_invalid, request_too_large. */
  put(id: string, definition: JsonObject): Promise<void>;
  delete(ids: readonly string[]): Promise<void>;
  /** Resolves with one outcome per item, in order. Throws overloaded, timeout, unavailable. */
  run(
    items: readonly {
      readonly pipeline: string;
      readonly destination: IngestDestination;
      /** JSON object, UTF-8. */
      readonly source: Uint8Array;
    }[],
  ): Promise<readonly IngestOutcome[]>;
  /** Returns the `docs` of `_simulate`. Throws request_invalid, overloaded, timeout. */
  simulate(
    definition: JsonObject,
    documents: readonly { readonly source: JsonObject; readonly destination: IngestDestination }[],
    verbose: boolean,
  ): Promise<unknown[]>;
  /** What each pipeline has done since this hub's start, by id. */
  counts(): ReadonlyMap<string, IngestCounts>;
  /** Names of processors, sorted. */
  readonly processorTypes: readonly string[];
  /** Grok patterns by name; `ecs`: with fields of the Elastic Common Schema. */
  patterns(ecs: boolean): Promise<Readonly<Record<string, string>>>;
}

/** The pipelines, for administrators. */
export interface PipelineAdmin {
  list(): Promise<JsonObject>;
  /** Throws not_found. */
  get(id: string): Promise<JsonObject>;
  /** Throws settings_invalid with the places of all faults, request_invalid, request_too_large, journal_conflict. */
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
  /** Returns letters after a sequence, oldest first. */
  letters(after: number, limit: number): Promise<JsonObject[]>;
  /** Sends a letter, or what it was changed to, through a pipeline again; empty: through those of agents' events. Throws not_found, request_invalid. */
  replay(sequence: number, event: JsonObject | undefined, pipeline: string): Promise<JsonObject>;
}
