/** Tasks that events belong to: each has a map in a sandbox, and the place of its first event, which is held till it ends. */

import type { Sandbox } from "#hub/pipeline/plugins/filters/script/sandbox.ts";
import type { JsonObject } from "#proto/kit/json.ts";

export interface Task {
  readonly id: string;
  /** Key of the map in the sandbox. */
  readonly map: string;
  /** Place of the first event. */
  readonly place: number;
  /** Time of the first and of the last event, by the clock or by a field. ms */
  readonly startedMs: number;
  touchedMs: number;
}

/** The tasks of all aggregate filters of a pipeline that have the same task_id. */
export class Tasks {
  readonly #tasks = new Map<string, Task>();
  readonly #name: string;
  readonly #maxTasks: number;

  /** `name` is the task_id as written; `maxTasks` bounds what is held. */
  constructor(name: string, maxTasks: number) {
    this.#name = name;
    this.#maxTasks = maxTasks;
  }

  get(id: string): Task | undefined {
    return this.#tasks.get(id);
  }

  /** Begins a task; undefined where there are too many. */
  open(sandbox: Sandbox, id: string, place: number, timeMs: number): Task | undefined {
    if (this.#tasks.size >= this.#maxTasks) return undefined;
    const task: Task = {
      id,
      map: JSON.stringify([this.#name, id]),
      place,
      startedMs: timeMs,
      touchedMs: timeMs,
    };
    sandbox.openMap(task.map, {});
    this.#tasks.set(id, task);
    return task;
  }

  /** Ends a task and returns the members of its map. */
  close(sandbox: Sandbox, task: Task): JsonObject {
    this.#tasks.delete(task.id);
    return sandbox.closeMap(task.map);
  }

  /** The tasks, the oldest first. */
  all(): readonly Task[] {
    return [...this.#tasks.values()];
  }

  /** Returns the smallest place that a task still needs. */
  heldFrom(): number | undefined {
    let smallest: number | undefined;
    for (const { place } of this.#tasks.values())
      if (smallest === undefined || place < smallest) smallest = place;
    return smallest;
  }
}
