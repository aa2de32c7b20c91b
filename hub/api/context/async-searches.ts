/**
 * Searches that outlive their request. Each belongs to the principal that submitted it; its answer is kept until it
 * expires. Their number and the bytes of their answers are bounded, in total and for each owner. They run as tasks,
 * which can be listed and cancelled.
 */

import { randomBytes } from "node:crypto";
import type { Cluster } from "#hub/api/ports/cluster.ts";
import { EVERYBODY } from "#hub/auth/accounts/principal.ts";
import type { Found } from "#hub/host/contract/found.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { FairShares } from "#proto/kit/fair-shares.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { MIB } from "#proto/kit/units.ts";
import type { Task, Tasks } from "./tasks.ts";

/**
 * Maximum number of searches, including ended ones; one owner may have half. Their memory is bounded by MAX_KEPT_BYTES and by
 * the limit of tasks.
 */
const MAX_SEARCHES = 1_000;
/** Maximum bytes of an answer that is kept, like search.max_async_search_response_size of 7.16. */
const MAX_ANSWER_BYTES = 10 * MIB;
/** Maximum bytes of all answers that are kept. */
const MAX_KEPT_BYTES = 64 * MIB;
/** Interval at which expired searches are removed. */
const SWEEP_MS = 5_000;

const REMEDY = "delete some with DELETE /_async_search/{id} or use shorter times";

export const ASYNC_SEARCH_ACTION = "indices:data/read/async_search/submit";

/** Result of an ended search, with the point in time that it read. */
export interface AsyncFound {
  readonly response: Found;
  readonly pointId?: string;
  /** True: no hits were requested. */
  readonly isCountOnly: boolean;
}

/** A search to be run. */
export interface AsyncWork {
  /** Principal.id of the submitter. */
  readonly owner: string;
  readonly description: string;
  readonly headers: JsonObject;
  readonly keepAliveMs: number;
  /** Names of the searched indices, in the form in which rights are granted on them. */
  readonly names: readonly string[];
  /** Number of shards that it searches. */
  readonly shards: number;
  /** True: names of aggregations are prefixed with their types. */
  readonly typedKeys: boolean;
  /** Runs the search; collected shards are counted under `progress`. */
  readonly run: (signal: AbortSignal, progress: string) => Promise<AsyncFound>;
  /** Returns how many shards have been collected. */
  done(progress: string): Promise<number>;
  /** Ends the count. */
  forget(progress: string): void;
}

/** A search that was submitted. */
export interface AsyncSearch {
  readonly id: string;
  /** Without the search itself, which holds the request. */
  readonly work: Omit<AsyncWork, "run">;
  readonly task: Task;
  /** ms since 1970-01-01 UTC. */
  readonly startMs: number;
  expiresMs: number;
  /** Undefined while it runs. */
  endedMs: number | undefined;
  found: AsyncFound | undefined;
  error: AppError | undefined;
  /** Bytes of its answer that are counted. */
  bytes: number;
}

export class AsyncSearches {
  readonly #searches = new Map<string, AsyncSearch>();
  /** Searches about to start, by id. */
  readonly #starting = new Map<string, AsyncWork["run"]>();
  readonly #tasks: Tasks;
  readonly #cluster: Pick<Cluster, "nodes">;
  readonly #clock: Clock;
  readonly #shares = new FairShares({
    limit: MAX_SEARCHES,
    what: "searches in the background are kept",
    remedy: REMEDY,
    everybody: EVERYBODY,
  });
  readonly #byteShares = new FairShares({
    limit: MAX_KEPT_BYTES,
    what: "bytes of answers of searches in the background are kept",
    remedy: REMEDY,
    everybody: EVERYBODY,
  });
  #timer: NodeJS.Timeout | undefined;

  /** `tasks` is stopped by its owner; `cluster`: its first node is this hub, whose id begins the ids of its searches. */
  constructor(tasks: Tasks, cluster: Pick<Cluster, "nodes">, clock: Clock) {
    this.#tasks = tasks;
    this.#cluster = cluster;
    this.#clock = clock;
  }

  get size(): number {
    return this.#searches.size;
  }

  /** Current bytes of the answers that are kept. */
  get bytes(): number {
    return this.#byteShares.taken;
  }

  /** Searches and answers that were refused because too many were kept. */
  get refused(): number {
    return this.#shares.refused + this.#byteShares.refused;
  }

  /** Begins a search. Throws overloaded. */
  submit({ run, ...work }: AsyncWork): AsyncSearch {
    this.#sweep();
    this.#shares.take(work.owner);
    const id = `${this.#cluster.nodes()[0]?.id ?? ""}.${randomBytes(24).toString("base64url")}`;
    const task = this.#begin(id, work);
    this.#starting.set(id, run);
    const startMs = this.#clock.now();
    const ends = { endedMs: undefined, found: undefined, error: undefined, bytes: 0 };
    const search = { id, work, task, startMs, expiresMs: startMs + work.keepAliveMs, ...ends };
    this.#searches.set(id, search);
    this.#timer ??= setInterval(() => this.#sweep(), SWEEP_MS).unref();
    return search;
  }

  /**
   * Returns a search of `owner`. If `keepAliveMs` is given, the search is kept for that time from now on. Throws
   * not_found.
   */
  get(id: string, owner: string, keepAliveMs?: number): AsyncSearch {
    this.#sweep();
    const search = this.#searches.get(id);
    if (search === undefined || search.work.owner !== owner) throw this.#missing(id);
    if (keepAliveMs !== undefined)
      search.expiresMs = Math.max(search.expiresMs, this.#clock.now() + keepAliveMs);
    return search;
  }

  /** Ends a search and forgets it. */
  delete({ id, task, work, bytes }: AsyncSearch): void {
    if (!this.#searches.delete(id)) return;
    this.#shares.give(work.owner);
    this.#byteShares.give(work.owner, bytes);
    this.#tasks.cancel(task.id);
    work.forget(id);
    if (this.#searches.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Keeps the answer of an ended search; an answer that is too large becomes an error. */
  keep(search: AsyncSearch): void {
    const { found, id } = search;
    if (found === undefined || search.bytes > 0 || !this.#searches.has(id)) return;
    const bytes = sizeOf(found.response);
    try {
      checkSize(bytes);
      this.#byteShares.take(search.work.owner, bytes);
      search.bytes = bytes;
    } catch (error) {
      search.error = toAppError(error);
      search.found = undefined;
    }
  }

  stop(): void {
    for (const search of this.#searches.values()) this.delete(search);
  }

  /** Starts the task of a search. Throws overloaded. */
  #begin(id: string, { owner, description, headers }: AsyncSearch["work"]): Task {
    try {
      return this.#tasks.start({
        owner,
        action: ASYNC_SEARCH_ACTION,
        description,
        headers,
        isSearch: true,
        status: () => ({}),
        run: (signal) => this.#run(id, signal),
      });
    } catch (error) {
      this.#shares.give(owner);
      throw error;
    }
  }

  async #run(id: string, signal: AbortSignal): Promise<JsonObject> {
    // The search can be found by its id only after `submit` has returned.
    await Promise.resolve();
    const [search, run] = [this.#searches.get(id), this.#starting.get(id)];
    this.#starting.delete(id);
    if (search === undefined || run === undefined) return {};
    try {
      search.found = await run(signal, id);
    } catch (error) {
      search.error = toAppError(error);
    }
    search.endedMs = this.#clock.now();
    search.work.forget(id);
    return {};
  }

  #missing(id: string): AppError {
    const [self, ...others] = this.#cluster.nodes();
    const opener = id.slice(0, id.indexOf("."));
    const other = opener === self?.id ? undefined : others.find((node) => node.id === opener);
    const where =
      other === undefined ? "" : `: it was submitted through the hub ${other.name}, which alone has it`;
    return new AppError("not_found", `${id.slice(0, 100)}${where}`);
  }

  #sweep(): void {
    const nowMs = this.#clock.now();
    for (const search of this.#searches.values()) if (search.expiresMs <= nowMs) this.delete(search);
  }
}

/** Throws request_invalid. */
function checkSize(bytes: number): void {
  if (bytes <= MAX_ANSWER_BYTES) return;
  throw new AppError(
    "request_invalid",
    `Can't store an async search response larger than [${MAX_ANSWER_BYTES}] bytes: this one has [${bytes}]; ask for fewer hits or buckets, or wait for the answer with wait_for_completion_timeout`,
  );
}

function sizeOf({ hits, aggregations, suggest }: Found): number {
  return hits.bytes.length + (aggregations?.bytes.length ?? 0) + (suggest?.bytes.length ?? 0);
}
