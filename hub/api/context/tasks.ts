/** Tasks: long operations that outlive their request. They are listed, report progress and a result, and can be cancelled. */

import { randomInt } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { itemError } from "#hub/api/http/error-body.ts";
import { type ApiRequest, opaqueId } from "#hub/api/http/request.ts";
import type { Cluster } from "#hub/api/ports/cluster.ts";
import { EVERYBODY, keyOf } from "#hub/auth/accounts/principal.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { FairShares } from "#proto/kit/fair-shares.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { TaskResults } from "./task-results.ts";

/**
 * Maximum number of running tasks, and of running searches besides them; one owner may have half. Each reads a snapshot and holds
 * a page of documents.
 */
const MAX_RUNNING = 40;

const SHARED = {
  limit: MAX_RUNNING,
  remedy: "wait for one to end (GET _tasks) or cancel one",
  everybody: EVERYBODY,
};

/** Ended tasks whose answers are kept, the newest. */
const MAX_ENDED = 1000;

/** The operation of a task. */
export interface TaskWork {
  /** Principal.id of the task's creator. */
  readonly owner: string;
  readonly action: string;
  readonly description: string;
  /** Headers with which the client identifies itself; see taskHeaders. */
  readonly headers?: JsonObject;
  /** True: a search, which is counted separately: principals that may only read must not keep other tasks from starting. */
  readonly isSearch?: true;
  /** Progress, as the list of tasks shows it. */
  status(): JsonObject;
  /** Sets another speed, documents per second; absent: the work has none. */
  rethrottle?(perSecond: number): void;
  run(signal: AbortSignal): Promise<JsonObject>;
  /** Called with the outcome before the task ends; must not throw. */
  store?(task: Task): Promise<void>;
}

/** A started task. */
export interface Task {
  readonly id: number;
  readonly work: TaskWork;
  readonly startMs: number;
  /** Time that it has been running, or ran. */
  runningMs(): number;
  readonly cancelled: boolean;
  readonly response: JsonObject | undefined;
  readonly error: AppError | undefined;
  /** Resolves when the task has ended, with whatever outcome. */
  readonly ended: Promise<void>;
}

/** Exclusive maximum of the first number; numbers of tasks have at most 15 digits. */
const MAX_FIRST = 2 ** 47;

export class Tasks {
  readonly #clock: Clock;
  readonly #running = new Map<number, RunningTask>();
  readonly #ended = new Map<number, RunningTask>();
  /** Shares of searches, and of other tasks. */
  readonly #shares = {
    search: new FairShares({ ...SHARED, what: "searches run in the background" }),
    other: new FairShares({ ...SHARED, what: "tasks run" }),
  };
  #next: number;

  /**
   * `first`: number of the first task, random by default. If numbering restarted with each start of the hub, numbers would
   * name results of earlier tasks, which are kept in an index.
   */
  constructor(clock: Clock, first = randomInt(1, MAX_FIRST)) {
    this.#clock = clock;
    this.#next = first;
  }

  /** Returns a number for a request that is listed as a task without being one. */
  nextId(): number {
    return this.#next++;
  }

  /** Tasks that were refused because too many ran. */
  get refused(): number {
    return this.#shares.search.refused + this.#shares.other.refused;
  }

  /** Starts work. Throws overloaded if too many tasks run already, of its owner or in total. */
  start(work: TaskWork): Task {
    this.#sharesOf(work).take(work.owner);
    const task = new RunningTask(this.nextId(), work, this.#clock);
    this.#running.set(task.id, task);
    void task.ended.then(() => this.#keep(task));
    return task;
  }

  /** Running tasks, the oldest first. */
  running(): Task[] {
    return [...this.#running.values()];
  }

  /** Returns a task that runs or whose answer is still kept. */
  get(id: number): Task | undefined {
    return this.#running.get(id) ?? this.#ended.get(id);
  }

  /** Cancels a running task; false if it doesn't run. */
  cancel(id: number): boolean {
    const task = this.#running.get(id);
    task?.cancel();
    return task !== undefined;
  }

  /** Ends all tasks and waits for them. */
  async stop(): Promise<void> {
    const running = [...this.#running.values()];
    for (const task of running) task.cancel();
    await Promise.all(running.map(({ ended }) => ended));
  }

  #sharesOf({ isSearch }: TaskWork): FairShares {
    return isSearch === true ? this.#shares.search : this.#shares.other;
  }

  #keep(task: RunningTask): void {
    this.#running.delete(task.id);
    this.#sharesOf(task.work).give(task.work.owner);
    // The answer of a search is kept elsewhere.
    if (task.work.isSearch === true) return;
    this.#ended.set(task.id, task);
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > MAX_ENDED && oldest !== undefined) this.#ended.delete(oldest);
  }
}

class RunningTask implements Task {
  readonly id: number;
  readonly work: TaskWork;
  readonly startMs: number;
  readonly ended: Promise<void>;
  response: JsonObject | undefined;
  error: AppError | undefined;
  readonly #clock: Clock;
  readonly #abort = new AbortController();
  readonly #startedMs: number;
  #ranMs: number | undefined;

  constructor(id: number, work: TaskWork, clock: Clock) {
    this.id = id;
    this.work = work;
    this.#clock = clock;
    this.startMs = clock.now();
    this.#startedMs = clock.monotonic();
    this.ended = this.#run();
  }

  get cancelled(): boolean {
    return this.#abort.signal.aborted;
  }

  runningMs(): number {
    return this.#ranMs ?? this.#clock.monotonic() - this.#startedMs;
  }

  cancel(): void {
    this.#abort.abort(new AppError("cancelled", "by user request"));
  }

  async #run(): Promise<void> {
    try {
      this.response = await this.work.run(this.#abort.signal);
    } catch (error) {
      this.error = toAppError(error);
    }
    this.#ranMs = this.#clock.monotonic() - this.#startedMs;
    await this.work.store?.(this);
  }
}

/** Returns a task as `_tasks` prints it. */
export function printTask(task: Task, nodeId: string, detailed = true): JsonObject {
  const { id, work, startMs } = task;
  return {
    node: nodeId,
    id,
    type: "transport",
    action: work.action,
    ...(detailed && { status: work.status(), description: work.description }),
    start_time_in_millis: startMs,
    running_time_in_nanos: Math.round(task.runningMs() * 1e6),
    cancellable: true,
    headers: work.headers ?? {},
  };
}

/** Returns the header with which a client finds its tasks. */
export function taskHeaders({ headers }: { readonly headers: IncomingHttpHeaders }): JsonObject {
  const id = opaqueId(headers);
  return id === undefined ? {} : { "X-Opaque-Id": id };
}

/** Returns the part of `_tasks/{id}` with the outcome of an ended task; {} while it runs. */
export function printOutcome({ response, error }: Task): JsonObject {
  if (error !== undefined) return { error: itemError(error) };
  return response === undefined ? {} : { response };
}

/** Returns the function that stores the result of a task in the index `.tasks`. */
export function storing({
  cluster,
  taskResults,
}: {
  readonly cluster: Cluster;
  readonly taskResults?: TaskResults;
}): Pick<TaskWork, "store"> {
  if (taskResults === undefined) return {};
  return {
    store: (task) => {
      const node = cluster.nodes()[0]!.id;
      const result = { owner: task.work.owner, task: printTask(task, node), ...printOutcome(task) };
      return taskResults.store(`${node}:${task.id}`, result);
    },
  };
}

/**
 * Returns whether the sender of a request may see and cancel the tasks of `owner`: only the owner and administrators
 * may.
 */
export function maySeeTasksOf(
  { principal, may }: Pick<ApiRequest, "principal" | "may">,
  owner: string,
): boolean {
  return owner === keyOf(principal) || may("administer");
}
