/**
 * What an input is. One file per input holds its options, their documentation and its code; `all.ts` lists them.
 *
 * - An input must hand events to the log before it tells its source that they are taken.
 * - It must bound what it holds and stop reading when the log takes no more.
 * - Its `stop` must end and await everything it started.
 */

import type { Static, TObject } from "typebox";
import type { Component } from "#proto/kit/lifecycle.ts";

export interface InputDefinition<O extends TObject = TObject> {
  readonly name: string;
  /** One sentence: where events come from. */
  readonly description: string;
  readonly options: O;
  /** Returns the input, or undefined where it needs nothing run: the log brings its events. */
  create(options: Static<O>): Component | undefined;
}

/** Returns the definition; gives `create` the type of its options. */
export function defineInput<O extends TObject>(definition: InputDefinition<O>): InputDefinition<O> {
  return definition;
}
