/** What the editor suggests now, and which of it is chosen. */

import type { Completion, Suggestion } from "#ui/services/console/completion.ts";

export class CompletionList {
  #completion: Completion | undefined;
  #chosen = 0;
  #isMoved = false;

  get isOpen(): boolean {
    return this.#completion !== undefined;
  }

  get completion(): Completion | undefined {
    return this.#completion;
  }

  get items(): readonly Suggestion[] {
    return this.#completion?.items ?? [];
  }

  /** Number of the chosen item. */
  get chosen(): number {
    return this.#chosen;
  }

  /** True where its reader chose by key. */
  get isMoved(): boolean {
    return this.#isMoved;
  }

  /** Shows suggestions with the first one chosen; undefined closes. */
  show(completion: Completion | undefined): void {
    this.#completion = completion;
    this.#chosen = 0;
    this.#isMoved = false;
  }

  /** Chooses the next item or the one before; the ends join. */
  move(step: 1 | -1): void {
    const { length } = this.items;
    this.#isMoved = true;
    if (length > 0) this.#chosen = (this.#chosen + step + length) % length;
  }
}
