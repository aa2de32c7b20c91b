/** What the editor suggests now, and which of it is chosen. */

import type { Completion, Suggestion } from "../services/console/completion.ts";

export class CompletionList {
  #completion: Completion | undefined;
  #chosen = 0;

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

  /** Shows suggestions with the first one chosen; undefined closes. */
  show(completion: Completion | undefined): void {
    this.#completion = completion;
    this.#chosen = 0;
  }

  /** Chooses the next item or the one before; the ends join. */
  move(step: 1 | -1): void {
    const { length } = this.items;
    if (length > 0) this.#chosen = (this.#chosen + step + length) % length;
  }
}
