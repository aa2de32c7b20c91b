/** The ingest pipelines of a cluster: kept in a bucket all hubs see, run in this hub's thread. */

import { parseJsonObject } from "#proto/codec/json.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import type { Destination } from "./ingest-document.ts";
import { IngestThread } from "./ingest-thread.ts";
import type { IngestOutcome } from "./ingest-work.ts";

const PREFIX = "ingest/";
/** Longest definition, characters of JSON. */
const MAX_TEXT = 512 * 1024;
const MAX_PIPELINES = 1_000;
/** Longest id, bytes of UTF-8. */
const MAX_ID = 256;
/** A watch that ended is begun again after so long. */
const WATCH_AGAIN_MS = 1_000;

/** A document to be taken through a pipeline. */
export interface IngestItem {
  readonly pipeline: string;
  readonly destination: Destination;
  /** JSON object, UTF-8. */
  readonly source: Uint8Array;
}

export class IngestPipelines implements Component {
  readonly #bucket: StateBucket;
  readonly #log: Logger;
  readonly #thread = new IngestThread();
  readonly #stopping = new AbortController();
  readonly #definitions = new Map<string, string>();
  #following: Promise<void> = Promise.resolve();

  constructor(bucket: StateBucket, log: Logger) {
    this.#bucket = bucket;
    this.#log = log;
  }

  async start(): Promise<void> {
    for (const key of await this.#bucket.keys(PREFIX)) {
      const entry = await this.#bucket.get(key);
      if (entry !== null) this.#definitions.set(idOf(key), Buffer.from(entry.value).toString());
    }
    this.#tellThread();
    this.#following = this.#follow();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#following;
    await this.#thread.stop();
  }

  /** Returns definitions by id. */
  all(): ReadonlyMap<string, JsonObject> {
    const ids = [...this.#definitions.keys()].toSorted();
    return new Map(ids.map((id) => [id, JSON.parse(this.#definitions.get(id)!) as JsonObject]));
  }

  /** Checks a definition and stores it. Throws request_invalid, request_too_large. */
  async put(id: string, definition: JsonObject): Promise<void> {
    if (id === "" || Buffer.byteLength(id) > MAX_ID || /[*,\s]/.test(id))
      throw new AppError(
        "request_invalid",
        `[${id}] is no id of a pipeline: 1 to ${MAX_ID} bytes without blanks, * and ,`,
      );
    const text = JSON.stringify(definition);
    if (text.length > MAX_TEXT)
      throw new AppError("request_too_large", `a pipeline's definition has at most ${MAX_TEXT} characters`);
    if (!this.#definitions.has(id) && this.#definitions.size >= MAX_PIPELINES)
      throw new AppError(
        "request_invalid",
        `there are ${MAX_PIPELINES} ingest pipelines already: delete one first`,
      );
    await this.#thread.ask({ kind: "check", definition: text });
    await this.#bucket.put(keyOf(id), Buffer.from(text));
    this.#definitions.set(id, text);
    this.#tellThread();
  }

  async delete(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      await this.#bucket.delete(keyOf(id));
      this.#definitions.delete(id);
    }
    this.#tellThread();
  }

  /** Takes documents through their pipelines; one outcome each, in order. Throws overloaded, timeout, unavailable. */
  async run(items: readonly IngestItem[]): Promise<IngestOutcome[]> {
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

  /** Returns the `docs` of the answer. Throws request_invalid, overloaded, timeout. */
  async simulate(
    definition: JsonObject,
    documents: readonly { readonly source: JsonObject; readonly destination: Destination }[],
    verbose: boolean,
  ): Promise<unknown[]> {
    const shown = await this.#thread.ask({
      kind: "simulate",
      definition: JSON.stringify(definition),
      documents: documents.map(({ source, destination }) => ({
        source: JSON.stringify(source),
        destination,
      })),
      verbose,
    });
    return (shown as unknown[]).map(withSources);
  }

  /** Returns the grok patterns by name. */
  async patterns(): Promise<Readonly<Record<string, string>>> {
    return (await this.#thread.ask({ kind: "patterns" })) as Record<string, string>;
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        for await (const { key, value } of this.#bucket.watch(signal)) {
          if (!key.startsWith(PREFIX)) continue;
          if (value === null) this.#definitions.delete(idOf(key));
          else this.#definitions.set(idOf(key), Buffer.from(value).toString());
          this.#tellThread();
        }
      } catch (error) {
        if (!signal.aborted) this.#log.warn({ err: error }, "changes of ingest pipelines can't be seen now");
      }
      await systemClock.sleep(WATCH_AGAIN_MS, signal);
    }
  }

  #tellThread(): void {
    this.#thread.define(Object.fromEntries(this.#definitions));
  }
}

/** Sources come as text; see `shown` of the thread. */
function withSources(shown: unknown): unknown {
  if (shown === null || typeof shown !== "object") return shown;
  const { doc, processor_results: results } = shown as { doc?: JsonObject; processor_results?: unknown[] };
  if (results !== undefined) return { processor_results: results.map(withSources) };
  if (doc === undefined) return shown;
  return { ...shown, doc: { ...doc, _source: parseJsonObject(String(doc["_source"])) } };
}

function keyOf(id: string): string {
  return `${PREFIX}${Buffer.from(id).toString("base64url")}`;
}

function idOf(key: string): string {
  return Buffer.from(key.slice(PREFIX.length), "base64url").toString();
}
