/**
 * The output straight into a search engine: each line becomes a document of a bulk request. At least once;
 * as a document's id is made of its place in the file, a repetition replaces the document by itself.
 */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Agent as PlainAgent } from "node:http";
import { request as httpsRequest, Agent as SecureAgent } from "node:https";
import { gzipSync } from "node:zlib";
import type { Batch, Channel, Output, OutputState } from "#agent/contract/output.ts";
import { SlotPool } from "#agent/contract/slot-pool.ts";
import type { Clock } from "#proto/kit/clock.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Counter, Metrics } from "#proto/kit/metrics.ts";
import { Agent, request as httpRequest } from "#proto/kit/node-http.ts";
import { Backoff } from "#proto/kit/retry.ts";
import type { SourceFields } from "#proto/raw-encoder.ts";
import { commonFields, documentsOf } from "./documents.ts";
import type { AgentNames } from "./pipeline.ts";

export interface SearchSettings {
  /** host:port or URLs. */
  readonly hosts: readonly string[];
  /** Name of the index; %{+yyyy.MM.dd} stands for the day, UTC. */
  readonly index: string;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly bearerToken?: string | undefined;
  /** True: requests are compressed. */
  readonly gzip?: boolean;
  readonly tlsCa?: string | undefined;
}

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

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** One item of a bulk answer that was not stored. */
interface ItemError {
  readonly status: number;
  readonly reason: string;
}

interface BulkAnswer {
  readonly errors?: boolean;
  readonly items?: readonly {
    readonly index?: { readonly status?: number; readonly error?: { readonly reason?: string } };
  }[];
}

const RETRY_FIRST_MS = 50;
const RETRY_CAP_MS = 5_000;
const UNHEALTHY_AFTER_MS = 5_000;
/** A bulk answer names each document; larger ones are a fault of the receiver. */
const ANSWER_BYTES_MAX = 16 * 1_024 * 1_024;
const TOO_MANY_REQUESTS = 429;
const TOO_LARGE = 413;
/** Smaller bodies aren't worth the time. */
const GZIP_BYTES_MIN = 1_024;

export class SearchOutput implements Output {
  readonly slots: SlotPool;
  readonly maxBodyBytes: number;
  readonly confirmsCommits = false;
  readonly #options: SearchOutputOptions;
  readonly #stop = new AbortController();
  readonly #tasks = new Set<Promise<void>>();
  readonly #agent: PlainAgent;
  readonly #secureAgent: SecureAgent;
  readonly #rejected: Counter;
  readonly #acked: Counter;
  #host = 0;
  #failingSinceMs: number | undefined;
  #problem = "";
  #ackedBytes = 0;

  constructor(options: SearchOutputOptions) {
    this.#options = options;
    this.slots = new SlotPool(options.inFlight, options.batchBytes);
    this.maxBodyBytes = 4 * 1_024 * 1_024;
    const { tlsCa } = options.settings;
    this.#agent = new Agent({ keepAlive: true, maxSockets: options.inFlight });
    this.#secureAgent = new SecureAgent({
      keepAlive: true,
      maxSockets: options.inFlight,
      ...(tlsCa === undefined ? {} : { ca: readFileSync(tlsCa) }),
    });
    const { metrics } = options;
    this.#acked = metrics.counter(
      "tailrace_agent_bytes_acked_total",
      "Bytes of log data the search engine has taken.",
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
    this.#agent.destroy();
    this.#secureAgent.destroy();
  }

  async drained(signal: AbortSignal): Promise<void> {
    const aborted = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    while (this.#tasks.size > 0 && !signal.aborted) await Promise.race([Promise.all(this.#tasks), aborted]);
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
    let before: Promise<void> = Promise.resolve();
    return {
      headroom: 0,
      tailroom: 0,
      send: (batch) => {
        const task = before.then(() => this.#deliver(batch, idPrefix, common));
        before = task;
        this.#tasks.add(task);
        void task.finally(() => this.#tasks.delete(task));
      },
    };
  }

  /** Tries until the engine has the batch or the output stops. */
  async #deliver(batch: Batch, idPrefix: Buffer, common: Record<string, unknown>): Promise<void> {
    const backoff = new Backoff({ firstMs: RETRY_FIRST_MS, capMs: RETRY_CAP_MS });
    const lines = documentsOf(batch, { idPrefix, common, index: this.#options.settings.index });
    let pending: readonly string[] = lines;
    while (!this.#stop.signal.aborted) {
      if (pending.length > 0) pending = await this.#attempt(pending);
      if (pending.length === 0) {
        this.#failingSinceMs = undefined;
        this.#acked.inc(batch.body.end - batch.body.start);
        this.#ackedBytes += batch.body.end - batch.body.start;
        batch.settle();
        batch.slot.release();
        return;
      }
      await this.#options.clock.sleep(backoff.next(), this.#stop.signal);
    }
  }

  /** Sends documents and returns those that must be sent again. */
  async #attempt(documents: readonly string[]): Promise<readonly string[]> {
    let answer: Answer;
    try {
      answer = await this.#post(documents.join(""));
    } catch (error) {
      this.#fail(`the search engine can't be reached: ${(error as Error).message}`);
      this.#host++;
      return documents;
    }
    if (answer.status === TOO_LARGE && documents.length > 1) {
      const half = documents.length >> 1;
      const first = await this.#attempt(documents.slice(0, half));
      return [...first, ...(await this.#attempt(documents.slice(half)))];
    }
    if (answer.status === TOO_LARGE) {
      this.#reject(`it is longer than the engine takes: ${answer.body.slice(0, 200)}`);
      return [];
    }
    if (answer.status !== 200) {
      this.#fail(`the search engine answers ${answer.status}: ${answer.body.slice(0, 200)}`);
      return documents;
    }
    const errors = itemErrors(answer.body);
    if (errors === null) {
      this.#fail(`the search engine answers what is no bulk response: ${answer.body.slice(0, 200)}`);
      return documents;
    }
    const again: string[] = [];
    for (const [index, { status, reason }] of errors) {
      if (status === TOO_MANY_REQUESTS || status >= 500) again.push(documents[index]!);
      else this.#reject(reason);
    }
    return again;
  }

  #reject(reason: string): void {
    this.#rejected.inc();
    this.#options.log.error(
      { reason },
      "the search engine refuses a document for good; it is left out and counted",
    );
  }

  #fail(problem: string): void {
    if (this.#failingSinceMs === undefined) this.#options.log.warn(`${problem}; trying on`);
    this.#failingSinceMs ??= this.#options.clock.monotonic();
    this.#problem = problem;
  }

  #post(text: string): Promise<Answer> {
    const { hosts, gzip } = this.#options.settings;
    const compressed = gzip === true && text.length >= GZIP_BYTES_MIN;
    const body = compressed ? gzipSync(text, { level: 1 }) : Buffer.from(text);
    const host = hosts[this.#host % hosts.length]!;
    const url = new URL("/_bulk", /^https?:/.test(host) ? host : `http://${host}`);
    const secure = url.protocol === "https:";
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const request = (secure ? httpsRequest : httpRequest)(url, {
      method: "POST",
      agent: secure ? this.#secureAgent : this.#agent,
      timeout: this.#options.timeoutMs,
      signal: this.#stop.signal,
      headers: {
        "content-type": "application/x-ndjson",
        "content-length": body.length,
        ...(compressed ? { "content-encoding": "gzip" } : {}),
        ...authorizationOf(this.#options.settings),
      },
    });
    request.on("timeout", () => request.destroy(new Error(`no answer within ${this.#options.timeoutMs} ms`)));
    request.on("error", reject);
    request.on("response", (response) => {
      const chunks: Buffer[] = [];
      let length = 0;
      response.on("data", (chunk: Buffer) => {
        length += chunk.length;
        if (length > ANSWER_BYTES_MAX) request.destroy(new Error("the answer is too long"));
        else chunks.push(chunk);
      });
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
      );
      response.on("error", reject);
    });
    request.end(body);
    return promise;
  }
}

function authorizationOf({ username, password, apiKey, bearerToken }: SearchSettings): {
  authorization?: string;
} {
  if (apiKey !== undefined) return { authorization: `ApiKey ${apiKey}` };
  if (bearerToken !== undefined) return { authorization: `Bearer ${bearerToken}` };
  if (username === undefined) return {};
  return { authorization: `Basic ${Buffer.from(`${username}:${password ?? ""}`).toString("base64")}` };
}

/** Returns the failed items of a bulk answer by their place, or null where it is none. */
function itemErrors(body: string): Map<number, ItemError> | null {
  const errors = new Map<number, ItemError>();
  let answer: BulkAnswer | null;
  try {
    answer = JSON.parse(body) as BulkAnswer | null;
  } catch {
    return null;
  }
  if (answer?.errors === false) return errors;
  if (answer?.errors !== true || !Array.isArray(answer.items)) return null;
  for (const [place, { index }] of answer.items.entries()) {
    const status = index?.status ?? 500;
    if (status >= 300) errors.set(place, { status, reason: index?.error?.reason ?? "" });
  }
  return errors;
}
