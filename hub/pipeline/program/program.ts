/** Compiled steps and how events go through them. */

import { StatisticsCollector } from "#hub/pipeline/batch/plugin-statistics.ts";
import type { Filter } from "#hub/pipeline/plugins/filter.ts";
import type { Event } from "#proto/event.ts";
import { FieldConflict } from "#proto/event-members.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { type Condition, ConditionFault } from "./condition.ts";

/** One step; `target` is the number of the next step. */
export type Instruction =
  | {
      readonly kind: "filter";
      readonly name: string;
      readonly id: string;
      readonly filter: Filter;
      readonly decorate: ((event: Event) => void) | undefined;
    }
  | { readonly kind: "unless"; readonly condition: Condition; readonly target: number }
  | { readonly kind: "jump"; readonly target: number }
  /** The event goes to an output; its number counts the outputs of the pipeline. */
  | { readonly kind: "output"; readonly id: string; readonly name: string; readonly output: number };

type FilterStep = Extract<Instruction, { kind: "filter" }>;

/** Events that one event may become; beyond, it is refused. */
const MAX_RESULTS = 100_000;

/** The failure of a step on an event. */
export class EventFault extends Error {
  /** Name of the plugin, or "if". */
  readonly plugin: string;

  constructor(plugin: string, message: string, cause: unknown) {
    super(message, { cause });
    this.plugin = plugin;
  }
}

export interface ProgramEvents {
  /** An event has passed all steps without being cancelled. */
  finished(event: Event): void;
  output?(event: Event, output: number): void;
  /** A step failed on an event; other results of its origin continue. */
  refused(event: Event, fault: EventFault): void;
  /** A filter was applied to an event; used by simulations only. */
  stepped?(
    event: Event,
    step: { readonly id: string; readonly name: string; readonly matched: boolean },
  ): void;
}

interface Waiting {
  readonly event: Event;
  readonly at: number;
}

export class Program {
  /** What each plugin did so far. */
  readonly statistics: StatisticsCollector;
  readonly #instructions: readonly Instruction[];
  readonly #clock: Clock;

  constructor(instructions: readonly Instruction[], clock: Clock) {
    this.#instructions = instructions;
    this.#clock = clock;
    this.statistics = new StatisticsCollector(
      instructions.map((step) => (step.kind === "filter" || step.kind === "output" ? step : undefined)),
    );
  }

  /** Takes an event and everything made of it to the end. */
  run(event: Event, events: ProgramEvents): void {
    this.#runFrom(event, 0, events);
  }

  /** Flushes the stateful filters; `made` is called for each event they emit, with its key, before the event continues. */
  flush(made: (event: Event, pluginId: string, key: string) => ProgramEvents): void {
    for (const [at, step] of this.#instructions.entries()) {
      if (step.kind !== "filter" || step.filter.flush === undefined) continue;
      const out: { event: Event; key: string }[] = [];
      step.filter.flush((event, key) => out.push({ event, key }));
      for (const { event, key } of out) {
        step.decorate?.(event);
        this.#runFrom(event, at + 1, made(event, step.id, key));
      }
    }
  }

  /** Lowest position of the events that a filter still needs; undefined: no filter needs any. */
  heldFrom(): number | undefined {
    let lowest: number | undefined;
    for (const step of this.#instructions) {
      const held = step.kind === "filter" ? step.filter.heldFrom?.() : undefined;
      if (held !== undefined && (lowest === undefined || held < lowest)) lowest = held;
    }
    return lowest;
  }

  #runFrom(event: Event, start: number, events: ProgramEvents): void {
    const waiting: Waiting[] = [];
    let results = 1;
    this.#runOne(event, start, waiting, events);
    // Children follow their parent, in the order of their creation.
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const before = waiting.length;
      if (++results > MAX_RESULTS) {
        events.refused(next.event, new EventFault("", `an event became more than ${MAX_RESULTS}`, undefined));
        return;
      }
      this.#runOne(next.event, next.at, waiting, events);
      if (waiting.length > before) waiting.unshift(...waiting.splice(before));
    }
  }

  #runOne(event: Event, start: number, waiting: Waiting[], events: ProgramEvents): void {
    const instructions = this.#instructions;
    const { statistics } = this;
    const isTimed = statistics.begin();
    let at = start;
    let plugin = "if";
    try {
      while (at < instructions.length && !event.cancelled) {
        const step = instructions[at]!;
        at++;
        if (step.kind === "filter") {
          plugin = step.name;
          const startedMs = isTimed ? this.#clock.monotonic() : 0;
          const matched = apply(step, event, at, waiting);
          if (isTimed) statistics.took(at - 1, this.#clock.monotonic() - startedMs);
          statistics.passed(at - 1, matched, event.cancelled);
          events.stepped?.(event, { id: step.id, name: step.name, matched });
          plugin = "if";
        } else if (step.kind === "unless") {
          if (!step.condition(event)) at = step.target;
        } else if (step.kind === "jump") {
          at = step.target;
        } else {
          plugin = step.name;
          statistics.passed(at - 1, true, false);
          events.output?.(event, step.output);
          plugin = "if";
        }
      }
    } catch (error) {
      statistics.failed(at - 1);
      const message =
        error instanceof ConditionFault ? error.message : `${plugin} failed: ${(error as Error).message}`;
      events.refused(event, new EventFault(plugin, message, error));
      return;
    }
    if (!event.cancelled) events.finished(event);
  }
}

function apply(step: FilterStep, event: Event, next: number, waiting: Waiting[]): boolean {
  const { filter, decorate } = step;
  try {
    const matched = filter.apply(event, (child, decorated) => {
      if (decorated) decorate?.(child);
      waiting.push({ event: child, at: next });
    });
    // An event that ends here isn't shown to anybody, and a field that can't be added to it isn't a fault.
    if (matched && !event.cancelled) decorate?.(event);
    return matched;
  } catch (error) {
    if (filter.conflicted === undefined || !isConflict(error)) throw error;
    filter.conflicted(event);
    return false;
  }
}

/** Returns true where a field couldn't be set because of what the event holds. */
function isConflict(error: unknown): boolean {
  return error instanceof FieldConflict || (error instanceof AppError && error.code === "settings_invalid");
}
