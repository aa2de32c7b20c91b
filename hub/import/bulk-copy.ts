/**
 * Writes copied documents into a hub, at most a number of them per second. A document that the hub has in this
 * version, or a later one, stays.
 */

import { writeJson } from "#hub/search/options/json-writer.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { type ClusterClient, RETRY_PAUSES_MS } from "./cluster-client.ts";
import type { SourceDocument } from "./document-pages.ts";

export class Pace {
  readonly #perSecond: number;
  readonly #clock: Clock;
  /** Monotonic time, ms, at which the documents taken so far are due. */
  #dueMs: number;

  /** `perSecond`: Infinity for no limit. */
  constructor(perSecond: number, clock: Clock) {
    this.#perSecond = perSecond;
    this.#clock = clock;
    this.#dueMs = clock.monotonic();
  }

  /** Resolves when `count` more documents may be sent. Idle time isn't made up for. */
  async take(count: number, signal: AbortSignal): Promise<void> {
    const nowMs = this.#clock.monotonic();
    const waitMs = this.#dueMs - nowMs;
    this.#dueMs = Math.max(this.#dueMs, nowMs) + (count / this.#perSecond) * 1000;
    if (waitMs > 0) await this.#clock.sleep(waitMs, signal);
    signal.throwIfAborted();
  }
}

/** Counts of copied documents by outcome. */
export interface CopyCounts {
  written: number;
  /** Documents that the hub already had. */
  existing: number;
  refused: number;
  /** Reasons of refusals, each with the id of a document; at most `MAX_REASONS`. */
  readonly reasons: string[];
}

/** Bytes of one request; a hub accepts more. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;
const MAX_REASONS = 5;
/** No pipeline: the documents went through those of their index before the source stored them. */
const PATH = "/_bulk?pipeline=_none";
const CONFLICT = 409;
const CREATED_BELOW = 300;
const isBusy = (status: number): boolean => status === 429 || status >= 500;

export class BulkCopy {
  readonly counts: CopyCounts = { written: 0, existing: 0, refused: 0, reasons: [] };
  readonly #hub: ClusterClient;
  readonly #target: string;
  readonly #isStream: boolean;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;

  /** `isStream`: `target` is a data stream, which takes new documents only. */
  constructor(
    hub: ClusterClient,
    target: { readonly name: string; readonly isStream: boolean },
    run: { readonly clock: Clock; readonly signal: AbortSignal },
  ) {
    this.#hub = hub;
    this.#target = target.name;
    this.#isStream = target.isStream;
    this.#clock = run.clock;
    this.#signal = run.signal;
  }

  /** Resolves when the hub has stored or refused each document. Throws unavailable. */
  async write(documents: readonly SourceDocument[]): Promise<void> {
    let body: string[] = [];
    let batch: SourceDocument[] = [];
    let bytes = 0;
    for (const document of documents) {
      const line = `${writeJson(this.#action(document))}\n${writeJson(document.source)}\n`;
      if (bytes > 0 && bytes + line.length > MAX_BODY_BYTES) {
        await this.#send(batch, body);
        [body, batch, bytes] = [[], [], 0];
      }
      body.push(line);
      batch.push(document);
      bytes += line.length;
    }
    if (batch.length > 0) await this.#send(batch, body);
  }

  #action({ id, version, routing }: SourceDocument): JsonObject {
    const place = { _index: this.#target, _id: id, ...(routing !== undefined && { routing }) };
    if (this.#isStream) return { create: place };
    return { index: { ...place, ...(version !== undefined && { version, version_type: "external" }) } };
  }

  async #send(documents: readonly SourceDocument[], lines: readonly string[]): Promise<void> {
    let waiting = lines.map((_line, at) => at);
    for (let attempt = 0; waiting.length > 0; attempt++) {
      const answer = await this.#hub.ask("POST", PATH, waiting.map((at) => lines[at]!).join(""));
      const items = Array.isArray(answer["items"]) ? (answer["items"] as JsonObject[]) : [];
      if (items.length !== waiting.length)
        throw new AppError("unavailable", "the hub answered for other documents than it was sent");
      const busy: number[] = [];
      waiting.forEach((at, item) => {
        const result = Object.values(items[item]!)[0] as JsonObject;
        if (isBusy(Number(result["status"]))) busy.push(at);
        else this.#count(documents[at]!.id, result);
      });
      waiting = busy;
      if (busy.length === 0) return;
      const pauseMs = RETRY_PAUSES_MS[attempt];
      if (pauseMs === undefined)
        throw new AppError("unavailable", "the hub has no capacity for further documents");
      await this.#clock.sleep(pauseMs, this.#signal);
      this.#signal.throwIfAborted();
    }
  }

  #count(id: string, { status, error }: JsonObject): void {
    const { counts } = this;
    if (Number(status) < CREATED_BELOW) counts.written++;
    else if (Number(status) === CONFLICT) counts.existing++;
    else {
      counts.refused++;
      const reason = isObject(error) ? String(error["reason"] as string) : "no reason given";
      if (counts.reasons.length < MAX_REASONS) counts.reasons.push(`document ${id}: ${reason}`);
    }
  }
}
