/**
 * What an output is. One file per output holds its options, their documentation and its code; `all.ts` lists them.
 *
 * - An output that makes documents must say for each event which index it goes to, or why it can't.
 * - The cursor moves on only when every output has what the event meant for it.
 */

import type { Static, TObject } from "typebox";
import type { Event } from "#proto/event.ts";

/** Where a document goes. */
export interface DocumentTarget {
  readonly index: string;
  /** Empty: the id follows from the event's place in the log. */
  readonly id: string;
}

/** An output at work. */
export interface Output {
  /** Returns where the event's document goes, or undefined where it takes the event without keeping it. */
  route(event: Event): DocumentTarget | undefined;
}

export interface OutputDefinition<O extends TObject = TObject> {
  readonly name: string;
  /** One sentence: where events go. */
  readonly description: string;
  readonly options: O;
  create(options: Static<O>, context: OutputContext): Output;
}

export interface OutputContext {
  /** Tells a fault of an option that the schema can't see. */
  readonly report: (severity: "error" | "warning", option: string, message: string, hint?: string) => void;
}

/** Returns the definition; gives `create` the type of its options. */
export function defineOutput<O extends TObject>(definition: OutputDefinition<O>): OutputDefinition<O> {
  return definition;
}
