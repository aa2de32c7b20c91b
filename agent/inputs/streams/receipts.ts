/** Remembers what must be confirmed at its origin when the receiver has it. */

interface Receipt<T> {
  /** Sequence behind the last event of it. */
  readonly upTo: number;
  readonly token: T;
}

export class Receipts<T> {
  readonly #waiting: Receipt<T>[] = [];

  /** Events of which nothing is confirmed yet. */
  get size(): number {
    return this.#waiting.length;
  }

  /** Notes that `token` may be confirmed once all events below `upTo` are acknowledged. Ascending. */
  add(upTo: number, token: T): void {
    this.#waiting.push({ upTo, token });
  }

  /** Returns, in order, what may be confirmed now that all events below `acknowledged` are. */
  take(acknowledged: number): T[] {
    let count = 0;
    while ((this.#waiting[count]?.upTo ?? Number.POSITIVE_INFINITY) <= acknowledged) count++;
    if (count === 0) return [];
    return this.#waiting.splice(0, count).map(({ token }) => token);
  }

  /** Forgets all, as the origin gives everything again. */
  clear(): void {
    this.#waiting.length = 0;
  }
}
