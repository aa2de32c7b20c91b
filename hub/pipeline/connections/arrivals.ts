/** Passes on the messages that a broker pushes, in batches of what has arrived since the last batch. */
import type { InputChannel } from "#hub/pipeline/plugins/input.ts";
import type { Event } from "#proto/event.ts";
import { AppError } from "#proto/kit/errors.ts";

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

  /** Waits for the current batch and discards the rest. */
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

/** Why LostData counts what `sendReadable` refuses. */
export const REFUSED = "the log can't take their events";

/**
 * Sends items, one by one where the log refuses an event of theirs as what can't be read: each item that it refuses by
 * itself goes to `refused`, as it would be refused again and hold up all after it. Rejects with other errors of `send`.
 */
export async function sendReadable<T>(
  items: readonly T[],
  send: (items: readonly T[]) => Promise<void>,
  refused: (error: AppError) => void,
): Promise<void> {
  try {
    await send(items);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "parsing") throw error;
    if (items.length === 1) refused(error);
    else for (const item of items) await sendReadable([item], send, refused);
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
  readonly #refused: (error: AppError) => void;
  #channel: InputChannel | undefined;
  /** The smallest offset that may come next in the channel. */
  #next = 0;

  /**
   * `open` opens the source's channel: once more where the source is begun again further back. `refused` is called for
   * each message that the log never takes.
   */
  constructor(open: () => InputChannel, refused: (error: AppError) => void) {
    this.#open = open;
    this.#refused = refused;
  }

  /** Resolves when the log has all of them but those it refuses; calls must not overlap. */
  async send(messages: readonly OffsetMessage[]): Promise<void> {
    for (let at = 0; at < messages.length; ) {
      let end = at + 1;
      while (end < messages.length && messages[end]!.offset > messages[end - 1]!.offset) end++;
      await sendReadable(messages.slice(at, end), (some) => this.#send(some), this.#refused);
      at = end;
    }
  }

  close(): void {
    this.#channel?.close();
  }

  async #send(messages: readonly OffsetMessage[]): Promise<void> {
    const channel = this.#channelFrom(messages[0]!.offset);
    // What fails is sent once more, from its first message on.
    this.#next = Number.POSITIVE_INFINITY;
    await channel.send(messages.flatMap(({ offset, events }) => events.map((event) => ({ event, offset }))));
    this.#next = messages.at(-1)!.offset + 1;
  }

  #channelFrom(offset: number): InputChannel {
    if (this.#channel !== undefined && offset >= this.#next) return this.#channel;
    this.#channel?.close();
    this.#channel = this.#open();
    return this.#channel;
  }
}
