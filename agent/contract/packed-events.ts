/** Reads events back from the form in which batches hold them. */

import { LogEvent, type tailrace } from "#proto/messages.ts";

/** Tag byte of a LogEvent in a block. */
const EVENT_TAG_BYTES = 1;

/** Yields the events that `appendEvent` wrote. */
export function* decodeEvents(bytes: Buffer): Generator<tailrace.LogEvent> {
  for (let at = 0; at < bytes.length; ) {
    at += EVENT_TAG_BYTES;
    let length = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = bytes[at++]!;
      length += (byte & 0x7f) * shift;
      if (byte < 0x80) break;
    }
    yield LogEvent.decode(bytes.subarray(at, at + length));
    at += length;
  }
}
