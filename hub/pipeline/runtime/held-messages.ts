/** Messages whose events a filter still holds, such as open tasks of `aggregate`: cursors stay below them. */

interface Answer {
  /** Messages (or a flush) whose results aren't durable yet. */
  pending: number;
  /** Sequence of the oldest message needed after this work. */
  readonly heldFrom: number;
}

const NOTHING = Number.POSITIVE_INFINITY;

/** Follows the answers of one thread, in their order. */
export class HeldMessages {
  readonly #answers: Answer[] = [];
  readonly #bySequence = new Map<number, Answer>();
  #durable = NOTHING;

  /** The thread has answered for these messages; `heldSequence`: the oldest it needs now. */
  answered(sequences: readonly number[], heldSequence: number | undefined): void {
    const answer = { pending: sequences.length, heldFrom: heldSequence ?? NOTHING };
    this.#answers.push(answer);
    for (const sequence of sequences) this.#bySequence.set(sequence, answer);
    this.#settle();
  }

  /** All that a message led to is durable. */
  finished(sequence: number): void {
    const answer = this.#bySequence.get(sequence);
    if (answer === undefined) return;
    this.#bySequence.delete(sequence);
    answer.pending--;
    this.#settle();
  }

  /** Sequence that cursors must stay below; infinity where nothing is held. */
  get heldFrom(): number {
    return this.#answers.reduce((lowest, { heldFrom }) => Math.min(lowest, heldFrom), this.#durable);
  }

  #settle(): void {
    for (let first = this.#answers[0]; first?.pending === 0; first = this.#answers[0]) {
      this.#durable = first.heldFrom;
      this.#answers.shift();
    }
  }
}
