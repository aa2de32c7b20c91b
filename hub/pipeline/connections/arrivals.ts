/** What a broker pushes, handed over as many at a time as have come meanwhile, one batch after the other. */
export class Arrivals<T> {
  readonly #take: (items: readonly T[]) => Promise<void>;
  readonly #fail: (error: Error) => void;
  #waiting: T[] = [];
  #working: Promise<void> | undefined;
  #isStopped = false;

  /** `take` gets the items in their order; `fail` hears why it failed, and nothing is taken any more. */
  constructor(take: (items: readonly T[]) => Promise<void>, fail: (error: Error) => void) {
    this.#take = take;
    this.#fail = fail;
  }

  /** Items that wait. Who adds bounds it: by what the broker sends unacknowledged, or by `taken`. */
  get waiting(): number {
    return this.#waiting.length;
  }

  add(item: T): void {
    if (this.#isStopped) return;
    this.#waiting.push(item);
    this.#working ??= this.#work();
  }

  /** Resolves when everything that was added is taken, or the taking has ended. */
  async taken(): Promise<void> {
    await this.#working;
  }

  /** Waits for the batch at work and lets the rest go. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#working;
  }

  async #work(): Promise<void> {
    try {
      // One turn later: what came in one read goes together.
      await Promise.resolve();
      while (this.#waiting.length > 0 && !this.#isStopped) {
        const items = this.#waiting;
        this.#waiting = [];
        await this.#take(items);
      }
    } catch (error) {
      this.#isStopped = true;
      this.#fail(error as Error);
    } finally {
      this.#working = undefined;
    }
  }
}
