/** Passes on the messages that a broker pushes, in batches of what has arrived since the last batch. */
import type { InputChannel } from "#hub/pipeline/plugins/input.ts";
import type { Event } from "#proto/event.ts";

export class Arrivals<T> {
  readonly #take: (items: readonly T[]) => Promise<void>;
  readonly #fail: (error: Error) => void;
  #waiting: T[] = [];
  #working: Promise<void> | undefined;
  #isStopped = false;

  /** `take` gets the items in their order; `fail` is called with its error, and nothing is taken any more. */
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

/** A message as it was decoded. */
export interface OffsetMessage {
  /** 0..2^48, the same whenever the message is read. */
  readonly offset: number;
  readonly events: readonly Event[];
}

export class OffsetSource {
  readonly #open: () => InputChannel;
  #channel: InputChannel | undefined;
  /** The smallest offset that may come next in the channel. */
  #next = 0;

  /** `open` opens the source's channel: once more where the source is begun again further back. */
  constructor(open: () => InputChannel) {
    this.#open = open;
  }

  /** Resolves when the log has all of them; calls must not overlap. */
  async send(messages: readonly OffsetMessage[]): Promise<void> {
    for (let at = 0; at < messages.length; ) {
      let end = at + 1;
      while (end < messages.length && messages[end]!.offset > messages[end - 1]!.offset) end++;
      const some = messages.slice(at, end);
      const channel = this.#channelFrom(some[0]!.offset);
      await channel.send(some.flatMap(({ offset, events }) => events.map((event) => ({ event, offset }))));
      this.#next = some.at(-1)!.offset + 1;
      at = end;
    }
  }

  close(): void {
    this.#channel?.close();
  }

  #channelFrom(offset: number): InputChannel {
    if (this.#channel !== undefined && offset >= this.#next) return this.#channel;
    this.#channel?.close();
    this.#channel = this.#open();
    return this.#channel;
  }
}
