/** A source whose messages are known by an offset: what is read once more is known by it, and the log drops it. */

import type { InputChannel } from "#hub/pipeline/plugins/input.ts";
import type { Event } from "#proto/event.ts";

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
