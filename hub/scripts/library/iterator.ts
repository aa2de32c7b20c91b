/** Iterators of scripts. */

import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { type CallContext, type Methods, ScriptObject } from "#hub/scripts/values/values.ts";
import { MOVED_SHIFT } from "./members.ts";
import type { Detachable } from "./removal.ts";

/** Walks through members as they were when it was made. */
export class ScriptIterator extends ScriptObject {
  readonly type = "Iterator";
  readonly methods = ITERATOR_METHODS;
  readonly members: readonly unknown[];
  at = 0;
  readonly #source: unknown;
  #removed = 0;
  #removedAt = 0;

  /** `source`: the list or set that remove() changes. */
  constructor(members: readonly unknown[], source?: unknown) {
    super();
    this.members = members;
    this.#source = source;
  }

  /** Takes the member that next() gave last out of what is walked through. */
  remove(context: CallContext): void {
    if (this.at === 0 || this.#removedAt === this.at)
      throw new ScriptException("IllegalStateException", null);
    this.#removedAt = this.at;
    const member = this.members[this.at - 1];
    if (member instanceof ScriptObject && "detach" in member) (member as unknown as Detachable).detach();
    else if (Array.isArray(this.#source)) {
      context.spend(this.#source.length >> MOVED_SHIFT);
      this.#source.splice(this.at - 1 - this.#removed++, 1);
    } else if (this.#source instanceof Set) this.#source.delete(member);
    else throw new ScriptException("UnsupportedOperationException", "remove");
  }
}

const ITERATOR_METHODS: Methods = new Map(
  Object.entries({
    hasNext: (self: ScriptIterator) => self.at < self.members.length,
    next: (self: ScriptIterator) => {
      if (self.at >= self.members.length) throw new ScriptException("NoSuchElementException", null);
      return self.members[self.at++];
    },
    remove: (self: ScriptIterator, _: readonly unknown[], context: CallContext) => {
      self.remove(context);
      return null;
    },
  }),
);
