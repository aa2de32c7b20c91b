/**
 * Encodes messages of a stream as bytes: per message a line of JSON (subject, sequence, headers, length) and then its
 * data.
 */

import type { ArchivedMessage } from "#hub/journal/streams/stream-archive.ts";
import { AppError } from "#proto/kit/errors.ts";

interface RecordHead {
  readonly subject: string;
  readonly sequence: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly bytes: number;
}

const NEWLINE = 0x0a;

/** Counts messages. */
export interface Count {
  messages: number;
}

/** Encodes `messages`. */
export async function* encodeRecords(
  messages: AsyncIterable<ArchivedMessage>,
  count: Count,
): AsyncGenerator<Uint8Array> {
  for await (const { subject, sequence, headers, data } of messages) {
    const head: RecordHead = { subject, sequence, headers, bytes: data.length };
    count.messages++;
    yield Buffer.from(`${JSON.stringify(head)}\n`);
    yield data;
  }
}

/** Decodes messages. Throws data_corrupt if the bytes end too early. */
export async function* decodeRecords(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<ArchivedMessage> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of bytes) {
    rest = Buffer.concat([rest, chunk]);
    let at = 0;
    for (let end = rest.indexOf(NEWLINE, at); end >= 0; end = rest.indexOf(NEWLINE, at)) {
      const head = JSON.parse(rest.toString("utf8", at, end)) as RecordHead;
      const from = end + 1;
      if (rest.length < from + head.bytes) break;
      const { subject, sequence, headers } = head;
      yield { subject, sequence, headers, data: rest.subarray(from, from + head.bytes) };
      at = from + head.bytes;
    }
    rest = rest.subarray(at);
  }
  if (rest.length > 0)
    throw new AppError("data_corrupt", "a stream of the snapshot ends in the middle of a message");
}
