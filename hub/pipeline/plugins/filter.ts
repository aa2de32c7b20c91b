/**
 * The contract of filters. One file per filter holds its options, their documentation and its code; `all.ts` lists
 * them.
 *
 * - A filter must change only the event it is given, and the events it adds.
 * - It must return true if it did its work: then `add_field`, `add_tag` and the like are applied.
 * - It must not throw because of data: it tags the event instead.
 * - It must not wait: it runs in a thread that does nothing else meanwhile. Only dns and sleep do, each within a
 *   limit.
 * - A filter that keeps something of an event for later ones (aggregate, elapsed) is `stateful`: it runs in one thread,
 *   and the log isn't purged beyond the oldest event that it reports as held. After a crash those events come again.
 * - The same events in the same order must give the same results, apart from what its options say is random or timed.
 */

import type { Static, TObject } from "typebox";
import type { RegexpGuard } from "#hub/pipeline/regexp/regexp-guard.ts";
import type { Event } from "#proto/event.ts";
import type { Clock } from "#proto/kit/clock.ts";
import type { Names } from "./host-names.ts";

/** A filter running in one thread. */
export interface Filter {
  /**
   * Works on `event`; returns whether it did. `emit` adds an event after it, which continues with the next step;
   * `matched` true applies the decorations to it too.
   */
  apply(event: Event, emit: (event: Event, matched: boolean) => void): boolean;
  /**
   * Tags an event in which the filter or its decorations couldn't set a field: a value is in the way, or a name that the event
   * gave isn't a field's. Without it the event is refused.
   */
  conflicted?(event: Event): void;
  /**
   * Called about once a second between events, where the filter is stateful. `emit` adds an event, which continues with
   * the next step; `key` distinguishes it from all others that this filter ever made (the task and `place` of its first
   * event): the same after a repetition.
   */
  flush?(emit: (event: Event, key: string) => void): void;
  /** Returns the smallest `place` of the events that the filter still needs; undefined: of none. */
  heldFrom?(): number | undefined;
}

/** What a filter gets besides its options. */
export interface FilterContext {
  readonly clock: Clock;
  /** 0 ≤ x < 1. */
  readonly random: () => number;
  /**
   * Position of the current event in the log: grows from event to event of one thread, and is the same after a
   * repetition.
   */
  readonly place: () => number;
  /** What the filters of one pipeline share in one thread, by names of theirs. */
  readonly shared: Map<string, unknown>;
  /** Names of hosts; default: those of name servers. */
  readonly names?: Names;
  /** True: the options were found to be without fault before, so that what takes long may wait for the first event. */
  readonly isChecked: boolean;
  /** Runs regular expressions that may run away on some data. */
  readonly guard: RegexpGuard;
  /** True: field names by the Elastic Common Schema. */
  readonly ecs: boolean;
  /** Returns a variable's value: a secret of the keystore, or of the environment. Throws for a pipeline of the page. */
  readonly variable: (name: string) => string | undefined;
  /** Returns the path of a file named in the options, relative ones by the pipeline's folder. */
  readonly resolvePath: (path: string) => string;
  /** Reports a fault of an option that the schema can't detect; with "error" the filter isn't used. */
  readonly report: (severity: "error" | "warning", option: string, message: string, hint?: string) => void;
}

export interface FilterDefinition<O extends TObject = TObject, Values = NoInfer<Static<O>>> {
  readonly name: string;
  /** One sentence: what it does to an event. */
  readonly description: string;
  readonly options: O;
  /** True: it keeps something of events for later ones. */
  readonly stateful?: boolean;
  create(options: Values, context: FilterContext): Filter;
}

/** Returns the definition; gives `create` the type of its options. */
export function defineFilter<O extends TObject>(definition: FilterDefinition<O>): FilterDefinition<O> {
  return definition;
}
