/** Compiled steps and how events go through them. */

import type { Event } from "#proto/event.ts";
import type { Filter } from "../filters/filter.ts";
import { type Condition, ConditionFault } from "./condition.ts";

/** One step; `target` is the number of the step to go on with. */
export type Instruction =
  | {
      readonly kind: "filter";
      readonly name: string;
      readonly filter: Filter;
      readonly decorate: ((event: Event) => void) | undefined;
    }
  | { readonly kind: "unless"; readonly condition: Condition; readonly target: number }
  | { readonly kind: "jump"; readonly target: number }
  /** The event goes to an output; its number counts the outputs of the pipeline. */
  | { readonly kind: "output"; readonly output: number };

/** Events that one event may become; beyond, it is refused. */
const MAX_RESULTS = 100_000;

/** An event that can't go on. */
export class EventFault extends Error {
  /** Name of the plugin, or "if". */
  readonly plugin: string;

  constructor(plugin: string, message: string, cause: unknown) {
    super(message, { cause });
    this.plugin = plugin;
  }
}

export interface ProgramEvents {
  /** An event has come to its end, not cancelled. */
  finished(event: Event): void;
  output?(event: Event, output: number): void;
  /** An event can't go on; others of its kin do. */
  refused(event: Event, fault: EventFault): void;
}

export class Program {
  readonly #instructions: readonly Instruction[];

  constructor(instructions: readonly Instruction[]) {
    this.#instructions = instructions;
  }

  /** Takes an event and everything that becomes of it to the end. */
  run(event: Event, events: ProgramEvents): void {
    const waiting: { event: Event; at: number }[] = [];
    let results = 1;
    this.#runOne(event, 0, waiting, events);
    // Children come out behind their parent, in the order in which they were made.
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

  #runOne(event: Event, start: number, waiting: { event: Event; at: number }[], events: ProgramEvents): void {
    const instructions = this.#instructions;
    let at = start;
    let plugin = "if";
    try {
      while (at < instructions.length && !event.cancelled) {
        const step = instructions[at]!;
        at++;
        if (step.kind === "filter") {
          plugin = step.name;
          const next = at;
          const matched = step.filter.apply(event, (child, decorated) => {
            if (decorated) step.decorate?.(child);
            waiting.push({ event: child, at: next });
          });
          if (matched) step.decorate?.(event);
          plugin = "if";
        } else if (step.kind === "unless") {
          if (!step.condition(event)) at = step.target;
        } else if (step.kind === "jump") {
          at = step.target;
        } else {
          events.output?.(event, step.output);
        }
      }
    } catch (error) {
      const message =
        error instanceof ConditionFault ? error.message : `${plugin} failed: ${(error as Error).message}`;
      events.refused(event, new EventFault(plugin, message, error));
      return;
    }
    if (!event.cancelled) events.finished(event);
  }
}
