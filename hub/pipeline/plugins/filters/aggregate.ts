/** Filter aggregate: joins what several events say of one task. */

import type { Static } from "typebox";
import { defineFilter, type Filter, type FilterContext } from "#hub/pipeline/plugins/filter.ts";
import { Sandbox, type Script, ScriptFault } from "#hub/pipeline/plugins/filters/script/sandbox.ts";
import { Event, Timestamp } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { compileFormat, type Format } from "#proto/format.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { flag, list, oneOf, optional, options, text, withoutEffect } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

const EXCEPTION_TAG = "_aggregateexception";
const TIMEOUT_TAG = "_aggregatetimeout";

/** Without a limit a task that never ends would keep the log from being purged. s */
const DEFAULT_TIMEOUT_S = 1800;

/** Longest that one call of the code may take, and the memory that all maps of a pipeline have. */
const SCRIPT_LIMITS = { timeoutMs: 1_000, memoryBytes: 128 * 1024 * 1024 };

/** Tasks held at a time; events of others are tagged. */
const MAX_TASKS = 100_000;

/** Name under which the filters of a pipeline find what they share. */
const SHARED = "aggregate";

/** What all aggregate filters of one pipeline share: the engine, and the tasks by the text of task_id. */
interface Shared {
  readonly sandbox: Sandbox;
  readonly tasks: Map<string, { readonly tasks: Tasks; owner: AggregateFilter | undefined }>;
}

const OPTIONS = options({
  task_id: text("id of the task, a format; events without it pass unchanged"),
  code: text(
    "JavaScript with `event` and `map`, the task's own object: map['sum'] ||= 0; map['sum'] += event.get('n')",
  ),
  map_action: oneOf(
    ["create", "update", "create_or_update"],
    "create: only if the task has no map yet; update: only if it has one",
    "create_or_update",
  ),
  end_of_task: flag("ends the task after this event", false),
  aggregate_maps_path: withoutEffect("the events of open tasks are read again from the log after a restart"),
  timeout: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      description: `timeout of a task after its first event, s; default: ${DEFAULT_TIMEOUT_S}`,
    }),
  ),
  inactivity_timeout: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      description: "timeout of a task after its last event, s",
    }),
  ),
  timeout_code: optional(
    text("JavaScript with `event`, the event made from a task's map when the task times out"),
  ),
  push_map_as_event_on_timeout: flag("makes an event from the map when the task times out", false),
  push_previous_map_as_event: flag(
    "makes an event from a task's map when an event of another task arrives",
    false,
  ),
  timeout_timestamp_field: optional(
    text("field whose time is used instead of the clock, and as @timestamp of the new event"),
  ),
  timeout_task_id_field: optional(text("field of the new event for the task's id")),
  timeout_tags: list("tags of the new event"),
  map_count_warning_threshold: withoutEffect(
    "the number of tasks is a metric",
    Type.Integer({ default: 5000 }),
  ),
});

type Options = Static<typeof OPTIONS>;

export const aggregateFilter = defineFilter({
  name: "aggregate",
  description: "combines the data of several events of a task",
  options: OPTIONS,
  stateful: true,
  create(values, context) {
    const shared = sharedOf(context);
    if (
      values.push_previous_map_as_event &&
      values.push_map_as_event_on_timeout === false &&
      values.end_of_task
    )
      context.report(
        "error",
        "end_of_task",
        "push_previous_map_as_event ends tasks itself",
        "take end_of_task out",
      );
    try {
      return new AggregateFilter(values, context, shared);
    } catch (error) {
      if (!(error instanceof ScriptFault)) throw error;
      context.report(
        "error",
        "code",
        `${error.message} (the code is JavaScript here)`,
        "write it as for the filter js",
      );
      return { apply: () => false };
    }
  },
});

function sharedOf({ shared }: FilterContext): Shared {
  const known = shared.get(SHARED) as Shared | undefined;
  if (known !== undefined) return known;
  const made: Shared = { sandbox: new Sandbox(SCRIPT_LIMITS), tasks: new Map() };
  shared.set(SHARED, made);
  return made;
}

class AggregateFilter implements Filter {
  readonly #values: Options;
  readonly #context: FilterContext;
  readonly #sandbox: Sandbox;
  readonly #entry: { readonly tasks: Tasks; owner: AggregateFilter | undefined };
  readonly #taskId: Format;
  readonly #code: Script;
  readonly #timeoutCode: Script | undefined;

  constructor(values: Options, context: FilterContext, { sandbox, tasks }: Shared) {
    this.#values = values;
    this.#context = context;
    this.#sandbox = sandbox;
    this.#taskId = compileFormat(values.task_id);
    this.#code = sandbox.compile(values.code, ["map"]);
    this.#timeoutCode =
      values.timeout_code === undefined ? undefined : sandbox.compile(values.timeout_code, []);
    const entry = tasks.get(values.task_id) ?? {
      tasks: new Tasks(values.task_id, MAX_TASKS),
      owner: undefined,
    };
    tasks.set(values.task_id, entry);
    this.#entry = entry;
    // One filter of a task's filters watches the time: the one that says something about it, else the first.
    const says =
      values.timeout !== undefined ||
      values.inactivity_timeout !== undefined ||
      values.push_map_as_event_on_timeout ||
      values.push_previous_map_as_event;
    if (entry.owner === undefined || says) entry.owner = this;
  }

  apply(event: Event, emit: (event: Event, matched: boolean) => void): boolean {
    const id = this.#taskId(event);
    // A task_id that the event says nothing of stays as it was written.
    if (id === "" || id === this.#values.task_id) return false;
    const { tasks } = this.#entry;
    tasks.keepTo(this.#sandbox.generation);
    const timeMs = this.#timeOf(event);
    if (this.#values.push_previous_map_as_event) this.#pushOthers(id, emit);
    let task = tasks.get(id);
    if (task === undefined ? this.#values.map_action === "update" : this.#values.map_action === "create")
      return false;
    if (task !== undefined && this.#hasExpired(task, timeMs)) {
      const made = this.#expire(task);
      if (made !== undefined) emit(made, false);
      task = undefined;
    }
    task ??= tasks.open(this.#sandbox, id, this.#context.place(), timeMs);
    if (task === undefined) {
      event.tag(EXCEPTION_TAG);
      return false;
    }
    task.touchedMs = Math.max(task.touchedMs, timeMs);
    const done = this.#run(task, event, emit);
    if (this.#values.end_of_task) tasks.close(this.#sandbox, task);
    return done;
  }

  flush(emit: (event: Event, key: string) => void): void {
    if (this.#entry.owner !== this) return;
    const nowMs = this.#context.clock.now();
    this.#entry.tasks.keepTo(this.#sandbox.generation);
    for (const task of this.#entry.tasks.all()) {
      // Where a field has the time, a task without further events ends by the clock.
      if (!this.#hasExpired(task, nowMs)) continue;
      const made = this.#expire(task);
      if (made !== undefined) emit(made, `${task.id} ${task.place}`);
    }
  }

  heldFrom(): number | undefined {
    return this.#entry.owner === this ? this.#entry.tasks.heldFrom() : undefined;
  }

  #run(task: Task, event: Event, emit: (event: Event, matched: boolean) => void): boolean {
    try {
      return this.#code.call(event, (added) => emit(added, false), { map: task.map });
    } catch (error) {
      if (!(error instanceof ScriptFault)) throw error;
      event.tag(EXCEPTION_TAG);
      return false;
    }
  }

  #timeOf(event: Event): number {
    const { timeout_timestamp_field: field } = this.#values;
    const value = field === undefined ? undefined : event.get(fieldReference(field));
    return value instanceof Timestamp ? value.ms : this.#context.clock.now();
  }

  #hasExpired(task: Task, nowMs: number): boolean {
    const { timeout = DEFAULT_TIMEOUT_S, inactivity_timeout } = (this.#entry.owner ?? this).#values;
    if (nowMs > task.startedMs + timeout * 1000) return true;
    return inactivity_timeout !== undefined && nowMs > task.touchedMs + inactivity_timeout * 1000;
  }

  #pushOthers(id: string, emit: (event: Event, matched: boolean) => void): void {
    for (const task of this.#entry.tasks.all()) {
      if (task.id !== id) emit(this.#eventOf(task, false), false);
    }
  }

  /** Ends a task by itself; returns the event made of it, where one is wanted. */
  #expire(task: Task): Event | undefined {
    const values = (this.#entry.owner ?? this).#values;
    if (
      values.push_map_as_event_on_timeout ||
      values.push_previous_map_as_event ||
      values.timeout_code !== undefined
    ) {
      const event = (this.#entry.owner ?? this).#eventOf(task, true);
      return values.push_map_as_event_on_timeout || values.push_previous_map_as_event ? event : undefined;
    }
    this.#entry.tasks.close(this.#sandbox, task);
    return undefined;
  }

  #eventOf(task: Task, isTimeout: boolean): Event {
    const { timeout_timestamp_field, timeout_task_id_field, timeout_tags } = this.#values;
    const members = this.#entry.tasks.close(this.#sandbox, task);
    const event = new Event(
      members,
      timeout_timestamp_field === undefined ? this.#context.clock.now() : task.startedMs,
    );
    if (timeout_task_id_field !== undefined) event.set(fieldReference(timeout_task_id_field), task.id);
    for (const tag of timeout_tags) event.tag(tag);
    if (isTimeout && !this.#values.push_map_as_event_on_timeout) event.tag(TIMEOUT_TAG);
    if (this.#timeoutCode !== undefined) {
      try {
        this.#timeoutCode.call(event, () => undefined);
      } catch (error) {
        if (!(error instanceof ScriptFault)) throw error;
        event.tag(EXCEPTION_TAG);
      }
    }
    return event;
  }
}

interface Task {
  readonly id: string;
  /** Key of the map in the sandbox. */
  readonly map: string;
  /** Position of the first event. */
  readonly place: number;
  /** Time of the first and of the last event, by the clock or by a field. ms */
  readonly startedMs: number;
  touchedMs: number;
}

/** The tasks of all aggregate filters of a pipeline that have the same task_id. */
class Tasks {
  readonly #tasks = new Map<string, Task>();
  readonly #name: string;
  readonly #maxTasks: number;
  #generation = 0;

  /** `name` is the task_id as written; `maxTasks` bounds what is held. */
  constructor(name: string, maxTasks: number) {
    this.#name = name;
    this.#maxTasks = maxTasks;
  }

  /** Forgets the tasks whose maps went with an earlier engine of the sandbox. */
  keepTo(generation: number): void {
    if (generation !== this.#generation) this.#tasks.clear();
    this.#generation = generation;
  }

  get(id: string): Task | undefined {
    return this.#tasks.get(id);
  }

  /** Begins a task; undefined if there are too many. */
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

  /** Returns the smallest position that a task still needs. */
  heldFrom(): number | undefined {
    let smallest: number | undefined;
    for (const { place } of this.#tasks.values())
      if (smallest === undefined || place < smallest) smallest = place;
    return smallest;
  }
}
