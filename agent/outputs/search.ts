/**
 * The output directly to a search engine: each line becomes a document of a bulk request. Delivery is at least once; a
 * document's id is derived from its offset in the file, so a repeated line replaces its document.
 */

import { createHash } from "node:crypto";
import { allEnded, type Batch, type Channel, type Output, type OutputState } from "#agent/contract/output.ts";
import { SlotPool } from "#agent/contract/slot-pool.ts";
import type { Clock } from "#proto/kit/clock.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Counter, Metrics } from "#proto/kit/metrics.ts";
import { Backoff } from "#proto/kit/retry.ts";
import type { SourceFields } from "#proto/raw-encoder.ts";
import { type Answer, BulkClient, type ItemError, itemErrors, type SearchSettings } from "./bulk-client.ts";
import { BulkWriter, documentsIn } from "./bulk-writer.ts";
import { commonFields, type DocumentOptions } from "./documents.ts";
import { OUTPUT_RETRY } from "./lane.ts";
import type { AgentNames } from "./pipeline.ts";

export interface SearchOutputOptions {
  readonly names: AgentNames;
  readonly settings: SearchSettings;
  readonly batchBytes: number;
  readonly inFlight: number;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

const UNHEALTHY_AFTER_MS = 5_000;
const TOO_MANY_REQUESTS = 429;
const TOO_LARGE = 413;
/** Size of a body: a batch of lines of ordinary length fits into one. */
const BODY_BYTES = 1_024 * 1_024;
/** Bodies at the same time; further batches wait for one. */
const BODIES_MAX = 4;

export class SearchOutput implements Output {
  readonly slots: SlotPool;
  readonly maxBodyBytes: number;
  readonly confirmsCommits = false;
  readonly #options: SearchOutputOptions;
  readonly #stop = new AbortController();
  readonly #tasks = new Set<Promise<void>>();
  readonly #client: BulkClient;
  /** Buffers in which bodies are written. */
  readonly #spaces: SlotPool;
  readonly #rejected: Counter;
  readonly #acked: Counter;
  #failingSinceMs: number | undefined;
  #problem = "";
  #ackedBytes = 0;

  constructor(options: SearchOutputOptions) {
    this.#options = options;
    const { settings, inFlight, timeoutMs } = options;
    const bodies = Math.min(inFlight, BODIES_MAX);
    this.slots = new SlotPool(inFlight, options.batchBytes, bodies * BODY_BYTES);
    this.#spaces = new SlotPool(bodies, BODY_BYTES, 0, this.slots.memory);
    this.maxBodyBytes = 4 * 1_024 * 1_024;
    this.#client = new BulkClient({
      settings,
      connections: bodies,
      timeoutMs,
      signal: this.#stop.signal,
      onFault: (error) =>
        options.log.warn({ error }, "renewed authorities can't be used; those of before stay in use"),
    });
    const { metrics } = options;
    this.#acked = metrics.counter(
      "tailrace_agent_bytes_acked_total",
      "Bytes of log data accepted by the search engine.",
    );
    this.#rejected = metrics.counter(
      "tailrace_agent_rejected_documents_total",
      "Documents the search engine will never take.",
    );
  }

  get ackedBytes(): number {
    return this.#ackedBytes;
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#tasks);
    this.#client.close();
  }

  drained(signal: AbortSignal): Promise<void> {
    return allEnded(this.#tasks, signal);
  }

  state(): OutputState {
    const since = this.#failingSinceMs;
    const late = since !== undefined && this.#options.clock.monotonic() - since > UNHEALTHY_AFTER_MS;
    return late ? { healthy: false, reason: this.#problem } : { healthy: true, reason: "" };
  }

  channel(source: SourceFields, fieldsJson: Uint8Array): Channel {
    const key = `${this.#options.names.agentId}/${source.fileKey}/${source.generation}`;
    const idPrefix = createHash("sha256").update(`${key}/direct`).digest().subarray(0, 8);
    const common = commonFields(this.#options.names, source, fieldsJson);
    const documents = { idPrefix, common, index: this.#options.settings.index };
    let before: Promise<void> = Promise.resolve();
    return {
      headroom: 0,
      tailroom: 0,
      send: (batch) => {
        const task = before.then(() => this.#deliver(batch, documents));
        before = task;
        this.#tasks.add(task);
        void task.finally(() => this.#tasks.delete(task));
      },
    };
  }

  /** Tries until the engine has stored the batch or the output stops. */
  async #deliver(batch: Batch, documents: DocumentOptions): Promise<void> {
    const space = await this.#spaces.acquire(this.#stop.signal);
    if (space === null) return;
    try {
      const writer = new BulkWriter(batch, documents, this.slots.memory);
      for (let body = writer.next(space.buffer); body !== null; body = writer.next(space.buffer))
        if (!(await this.#deliverBody(body))) return;
    } finally {
      space.release();
    }
    const { start, end } = batch.body;
    this.#acked.inc(end - start);
    this.#ackedBytes += end - start;
    batch.settle();
    batch.slot.release();
  }

  /** Returns false if the output stops before the engine has stored everything. */
  async #deliverBody(body: Buffer): Promise<boolean> {
    const backoff = new Backoff(OUTPUT_RETRY);
    let pending = body;
    while (!this.#stop.signal.aborted) {
      pending = await this.#attempt(pending);
      if (pending.length === 0) {
        this.#failingSinceMs = undefined;
        return true;
      }
      await this.#options.clock.sleep(backoff.next(), this.#stop.signal);
    }
    return false;
  }

  /** Sends documents and returns those that must be sent again. */
  async #attempt(body: Buffer): Promise<Buffer> {
    let answer: Answer;
    try {
      answer = await this.#client.post(body);
    } catch (error) {
      this.#fail(`the search engine can't be reached: ${(error as Error).message}`);
      this.#client.nextHost();
      return body;
    }
    if (answer.status === TOO_LARGE) return await this.#halve(body, answer);
    if (answer.status !== 200) {
      this.#fail(`the search engine answers ${answer.status}: ${answer.body.slice(0, 200)}`);
      return body;
    }
    const errors = itemErrors(answer.body);
    if (errors === null) {
      this.#fail(`the search engine's answer isn't a bulk response: ${answer.body.slice(0, 200)}`);
      return body;
    }
    if (errors.size === 0) return Buffer.alloc(0);
    return this.#again(body, errors);
  }

  /** Returns the failed documents that may succeed later; counts the others. */
  #again(body: Buffer, errors: ReadonlyMap<number, ItemError>): Buffer {
    const documents = [...documentsIn(body)];
    const again: Buffer[] = [];
    for (const [index, { status, reason }] of errors) {
      const document = documents[index];
      if (document === undefined) continue;
      if (status !== TOO_MANY_REQUESTS && status < 500) this.#reject(reason);
      else {
        again.push(document);
        this.#fail(`the search engine doesn't store documents at present: ${status} ${reason.slice(0, 200)}`);
      }
    }
    return Buffer.concat(again);
  }

  /** Sends both halves of a body that is too large for the engine. */
  async #halve(body: Buffer, answer: Answer): Promise<Buffer> {
    const documents = [...documentsIn(body)];
    if (documents.length === 1) {
      this.#reject(`it is longer than the engine accepts: ${answer.body.slice(0, 200)}`);
      return Buffer.alloc(0);
    }
    const middle = documents
      .slice(0, documents.length >> 1)
      .reduce((bytes, document) => bytes + document.length, 0);
    const first = await this.#attempt(body.subarray(0, middle));
    return Buffer.concat([first, await this.#attempt(body.subarray(middle))]);
  }

  #reject(reason: string): void {
    this.#rejected.inc();
    this.#options.log.error(
      { reason },
      "the search engine refuses a document permanently; it is dropped and counted",
    );
  }

  #fail(problem: string): void {
    if (this.#failingSinceMs === undefined) this.#options.log.warn(`${problem}; retrying`);
    this.#failingSinceMs ??= this.#options.clock.monotonic();
    this.#problem = problem;
  }
}
