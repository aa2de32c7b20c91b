/** The ingest pipelines of a cluster: kept in a bucket all hubs see, run in this hub's thread. */

import { systemClock } from "#proto/kit/clock.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { StoredTexts, type TextKind } from "#proto/kit/stored-texts.ts";
import type { Destination } from "./ingest-document.ts";
import { IngestThread } from "./ingest-thread.ts";
import { type Definitions, FIRST_VERSION, type IngestOutcome, type Simulation } from "./ingest-work.ts";

const KIND: TextKind = {
  noun: "ingest pipeline",
  prefix: "ingest/",
  maxChars: 512 * 1024,
  maxCount: 1_000,
};

/** A document to be taken through a pipeline. */
export interface IngestItem {
  readonly pipeline: string;
  readonly destination: Destination;
  /** JSON object, UTF-8. */
  readonly source: Uint8Array;
}

export interface IngestOptions {
  /** Returns the stored scripts that processors may name, as JSON by id. */
  readonly scripts?: () => Definitions;
  /** Version that pipelines behave as, 100 × major + minor; 605 by default. */
  readonly version?: number;
}

/** What a pipeline has done. */
export interface IngestCounts {
  /** Documents that went through it, those that failed too. */
  count: number;
  failed: number;
  /** Documents in it now. */
  current: number;
  /** Time of all documents, ms; those of one request share its time evenly. */
  timeMs: number;
}

const NOTHING_DONE: IngestCounts = { count: 0, failed: 0, current: 0, timeMs: 0 };

export class IngestPipelines implements Component {
  readonly #counts = new Map<string, IngestCounts>();
  readonly #texts: StoredTexts;
  readonly #thread = new IngestThread();
  readonly #options: IngestOptions;

  constructor(bucket: StateBucket, log: Logger, options: IngestOptions = {}) {
    this.#options = options;
    this.#texts = new StoredTexts(bucket, KIND, log, () => this.refresh());
  }

  start(): Promise<void> {
    return this.#texts.start();
  }

  async stop(): Promise<void> {
    await this.#texts.stop();
    await this.#thread.stop();
  }

  /** Gives the thread the present definitions and scripts. */
  refresh(): void {
    const { scripts, version = FIRST_VERSION } = this.#options;
    const pipelines = Object.fromEntries(this.#texts.all());
    this.#thread.define({ pipelines, scripts: scripts?.() ?? {}, version });
  }

  /** Returns definitions by id. */
  all(): ReadonlyMap<string, JsonObject> {
    return new Map([...this.#texts.all()].map(([id, text]) => [id, JSON.parse(text) as JsonObject]));
  }

  /** Checks a definition and stores it. Throws request_invalid, request_too_large. */
  async put(id: string, definition: JsonObject): Promise<void> {
    const text = JSON.stringify(definition);
    this.#texts.check(id, text);
    await this.#thread.ask({ kind: "check", id, definition: text });
    await this.#texts.put(id, text);
  }

  delete(ids: readonly string[]): Promise<void> {
    return this.#texts.delete(ids);
  }

  /** Returns what each of the present pipelines has done since this hub's start, by id. */
  counts(): ReadonlyMap<string, IngestCounts> {
    const ids = [...this.#texts.all().keys()];
    return new Map(ids.map((id) => [id, { ...(this.#counts.get(id) ?? NOTHING_DONE) }]));
  }

  /** Takes documents through their pipelines; one outcome each, in order. Throws overloaded, timeout, unavailable. */
  async run(items: readonly IngestItem[]): Promise<IngestOutcome[]> {
    const startMs = systemClock.monotonic();
    for (const { pipeline } of items) this.#countOf(pipeline).current++;
    let outcomes: readonly IngestOutcome[] = [];
    try {
      outcomes = await this.#runAll(items);
      return [...outcomes];
    } finally {
      const timeMs = (systemClock.monotonic() - startMs) / items.length;
      for (const [at, { pipeline }] of items.entries()) {
        const counts = this.#countOf(pipeline);
        counts.current--;
        counts.count++;
        counts.timeMs += timeMs;
        if ((outcomes[at]?.kind ?? "failed") === "failed") counts.failed++;
      }
    }
  }

  #countOf(pipeline: string): IngestCounts {
    const known = this.#counts.get(pipeline);
    if (known !== undefined) return known;
    // Those of deleted pipelines go.
    if (this.#counts.size >= 2 * KIND.maxCount)
      for (const id of this.#counts.keys()) if (!this.#texts.all().has(id)) this.#counts.delete(id);
    const counts = { ...NOTHING_DONE };
    this.#counts.set(pipeline, counts);
    return counts;
  }

  async #runAll(items: readonly IngestItem[]): Promise<IngestOutcome[]> {
    const outcomes = await this.#thread.ask({
      kind: "run",
      tasks: items.map(({ pipeline, destination, source }) => ({
        pipeline,
        destination,
        source: Buffer.from(source.buffer, source.byteOffset, source.length).toString(),
      })),
    });
    return outcomes as IngestOutcome[];
  }

  /** Returns what `simulated` makes of each document. Throws request_invalid, overloaded, timeout. */
  async simulate(
    definition: JsonObject,
    documents: Simulation["documents"],
    verbose: boolean,
    id?: string,
  ): Promise<unknown[]> {
    const question = {
      kind: "simulate",
      ...(id !== undefined && { id }),
      definition: JSON.stringify(definition),
      documents,
      verbose,
    } as const;
    return (await this.#thread.ask(question)) as unknown[];
  }

  /** Names of processors, sorted. */
  get processorTypes(): readonly string[] {
    return PROCESSOR_TYPES;
  }

  /** Returns the grok patterns by name; `ecs`: those of `ecs_compatibility: v1`. */
  async patterns(ecs: boolean): Promise<Readonly<Record<string, string>>> {
    return (await this.#thread.ask({ kind: "patterns", ecs })) as Record<string, string>;
  }
}

/**
 * Names of the processors of ingest pipelines, as nodes list them: shippers look for some of them before they send. Those of
 * all.ts, which only the ingest thread loads; a test compares the two.
 */
export const PROCESSOR_TYPES: readonly string[] = [
  "append",
  "bytes",
  "community_id",
  "convert",
  "csv",
  "date",
  "date_index_name",
  "dissect",
  "dot_expander",
  "drop",
  "fail",
  "fingerprint",
  "foreach",
  "geoip",
  "grok",
  "gsub",
  "html_strip",
  "join",
  "json",
  "kv",
  "lowercase",
  "network_direction",
  "pipeline",
  "registered_domain",
  "remove",
  "rename",
  "reroute",
  "script",
  "set",
  "sort",
  "split",
  "terminate",
  "trim",
  "uppercase",
  "uri_parts",
  "urldecode",
  "user_agent",
];
