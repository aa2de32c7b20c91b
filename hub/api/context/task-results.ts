/** Results of tasks whose clients didn't wait, in the index `.tasks`: they outlive the process and can be read on every hub. */

import { randomUUID } from "node:crypto";
import { TYPE_SETTING } from "#hub/api/compat/mapping-types.ts";
import type { Documents, WriteItem } from "#hub/api/ports/documents.ts";
import type { Indices, Shards } from "#hub/api/ports/indices.ts";
import { TASKS_INDEX } from "#hub/cluster/catalog/index-names.ts";
import { DEFAULT_LIMITS } from "#hub/search/query/query.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import type { Logger } from "#proto/kit/log.ts";
import { DAY_MS, HOUR_MS } from "#proto/kit/units.ts";

/** Age at which results are deleted. */
const KEEP_MS = 7 * DAY_MS;
/** Results that are kept, the newest. */
const KEEP_RESULTS = 10_000;
/** Old results are searched for after this many new ones, and after this time. */
const STORED_A_LOOK = 100;
const LOOK_MS = HOUR_MS;
/** Maximum number of results deleted at a time. */
const PAGE = 1_000;
const WRITE_TIMEOUT_MS = 10_000;

const KEYWORD = { type: "keyword" };
const LONG = { type: "long" };
const UNINDEXED = { type: "object", enabled: false };

const MAPPING: JsonObject = {
  dynamic: "strict",
  properties: {
    completed: { type: "boolean" },
    owner: KEYWORD,
    task: {
      properties: {
        action: KEYWORD,
        cancellable: { type: "boolean" },
        id: LONG,
        parent_task_id: KEYWORD,
        node: KEYWORD,
        running_time_in_nanos: LONG,
        start_time_in_millis: LONG,
        type: KEYWORD,
        status: UNINDEXED,
        description: { type: "text" },
        headers: UNINDEXED,
      },
    },
    response: UNINDEXED,
    error: UNINDEXED,
  },
};

/** A stored result as `_tasks/{id}` prints it, with the owner of the task. */
export interface TaskResult extends JsonObject {
  readonly owner: string;
}

/** The interfaces that the results are stored through, without checks of a sender's rights. */
export interface TaskResultsOptions {
  readonly documents: Pick<Documents, "write" | "get">;
  readonly indices: Pick<Indices, "get" | "createExact">;
  readonly shards: Pick<Shards, "openDocuments" | "closeContexts">;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Stores and finds results. */
export class TaskResults {
  readonly #options: TaskResultsOptions;
  #stored = 0;
  #lookMs = Number.NEGATIVE_INFINITY;
  #looking = false;

  constructor(options: TaskResultsOptions) {
    this.#options = options;
  }

  /** Stores the result of a task; `id` includes the node. Only logs a failure because the task itself has succeeded. */
  async store(id: string, result: TaskResult): Promise<void> {
    const { log } = this.#options;
    try {
      await this.#ensure();
      const source = Buffer.from(JSON.stringify({ completed: true, ...result }));
      await this.#write([{ kind: "index", index: TASKS_INDEX, id, source }]);
    } catch (err) {
      log.warn({ err, task: id }, "the result of a task can't be stored; it is kept in memory alone");
      return;
    }
    await this.#deleteOld();
  }

  /** Returns the stored result of a task; undefined if there is none. Throws unavailable. */
  async get(id: string): Promise<TaskResult | undefined> {
    const { documents, indices } = this.#options;
    if (indices.get(TASKS_INDEX) === undefined) return undefined;
    const document = await documents.get(TASKS_INDEX, id, {});
    if (document === null) return undefined;
    const result: unknown = JSON.parse(Buffer.from(document.source).toString());
    return isObject(result) && typeof result["owner"] === "string" ? (result as TaskResult) : undefined;
  }

  async #ensure(): Promise<void> {
    const { indices } = this.#options;
    if (indices.get(TASKS_INDEX) !== undefined) return;
    // A second hub has a copy so that the result is found after the hub that ran the task is gone.
    const settings = {
      number_of_shards: 1,
      number_of_replicas: 0,
      auto_expand_replicas: "0-1",
      [TYPE_SETTING]: "task",
    };
    try {
      await indices.createExact(TASKS_INDEX, { settings, mappings: MAPPING, aliases: {} });
    } catch (error) {
      // The result of another task, on this or another hub, created the index in the meantime.
      if (!(error instanceof AppError && error.code === "index_exists")) throw error;
    }
  }

  async #deleteOld(): Promise<void> {
    const { clock, log } = this.#options;
    const isDue = ++this.#stored % STORED_A_LOOK === 0 || clock.monotonic() - this.#lookMs >= LOOK_MS;
    if (!isDue || this.#looking) return;
    this.#looking = true;
    this.#lookMs = clock.monotonic();
    try {
      await this.#deletePage();
    } catch (err) {
      log.warn({ err }, "old results of tasks can't be deleted now; it is tried again within an hour");
    } finally {
      this.#looking = false;
    }
  }

  async #deletePage(): Promise<void> {
    const { clock, indices, shards } = this.#options;
    const index = indices.get(TASKS_INDEX);
    if (index === undefined) return;
    const id = randomUUID();
    const before = "task.start_time_in_millis";
    const call = {
      id,
      targets: [{ uuid: index.uuid, typeName: "task" }],
      body: { sort: [{ [before]: "asc" }], size: PAGE },
      limits: DEFAULT_LIMITS,
      typedKeys: false,
      objectTotals: false,
      maxSlices: 1,
    };
    try {
      const signal = AbortSignal.timeout(WRITE_TIMEOUT_MS);
      const { total, documents } = await shards.openDocuments(call, signal);
      const tooOld = (source: Uint8Array): boolean => startOf(source) < clock.now() - KEEP_MS;
      const due = documents.filter(({ source }, at) => at < total - KEEP_RESULTS || tooOld(source));
      if (due.length > 0)
        await this.#write(due.map((each) => ({ kind: "delete", index: TASKS_INDEX, id: each.id })));
    } finally {
      shards.closeContexts([id]);
    }
  }

  async #write(items: readonly WriteItem[]): Promise<void> {
    const { documents } = this.#options;
    const signal = AbortSignal.timeout(WRITE_TIMEOUT_MS);
    const results = await documents.write(items, {
      refresh: "false",
      timeoutMs: WRITE_TIMEOUT_MS,
      signal,
    });
    for (const result of results) if ("error" in result) throw result.error;
  }
}

function startOf(source: Uint8Array): number {
  const { task } = JSON.parse(Buffer.from(source).toString()) as {
    task?: { start_time_in_millis?: number };
  };
  return task?.start_time_in_millis ?? 0;
}
