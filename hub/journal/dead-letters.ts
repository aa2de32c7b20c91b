/** Dead letters: events that no output accepts, stored with the reason in a stream of their own. */

import type { Published } from "#hub/journal/connection/publisher.ts";
import type { JournalMessage, ReadOptions } from "#hub/journal/reading/reader.ts";
import type { Bounds } from "#hub/journal/streams/stream-store.ts";
import { unicodeEscape } from "#proto/kit/printable.ts";
import { type Position, START } from "#proto/position.ts";

/** Header that contains everything except the data, as JSON. */
const HEADER = "Tailrace-Dead-Letter";

/** Longer reasons are cut: headers are for short texts. */
const MAX_REASON_CHARACTERS = 1_000;
const MAX_SOURCE_CHARACTERS = 200;

/** Allowance for the header in a message. */
const HEADER_ROOM_BYTES = 16 * 1024;

export interface DeadLetter {
  /** What rejected it, such as the pipeline's id. */
  readonly source: string;
  /** The reason, for people. */
  readonly reason: string;
  /** Where it came from in RAW or DOC; undefined if it didn't come from the log. */
  readonly origin?: { readonly stream: string; readonly position: Position };
  /** The original event or batch; truncated if it is longer than a message may be. */
  readonly data: Uint8Array;
}

/** A stored dead letter. */
export interface KeptDeadLetter extends DeadLetter {
  readonly position: Position;
  /** When it was stored, ms since 1970. */
  readonly timeMs: number;
  /** Length before truncation, bytes. */
  readonly originalBytes: number;
}

/** Subject of a dead letter; the message id distinguishes two with the same data. */
export const DEAD_LETTER_SUBJECT = "dead.letter";

/** The part of the log that dead letters need. */
export interface DeadLetterLog {
  readonly maxMessageBytes: number;
  publish(
    subject: string,
    data: Uint8Array,
    options: { messageId?: string; headers: Record<string, string>; signal?: AbortSignal },
  ): Promise<Published>;
}

/**
 * Stores a dead letter. With `origin`, repeating it after a crash stores only one; `part` distinguishes several from
 * one message.
 */
export async function keepDeadLetter(
  log: DeadLetterLog,
  letter: DeadLetter,
  part = 0,
  signal?: AbortSignal,
): Promise<void> {
  const { origin, data } = letter;
  const header = {
    source: letter.source.slice(0, MAX_SOURCE_CHARACTERS),
    reason: letter.reason.slice(0, MAX_REASON_CHARACTERS),
    origin,
    bytes: data.length,
  };
  const messageId =
    origin === undefined
      ? undefined
      : `${origin.stream}/${origin.position.incarnation}/${origin.position.sequence}/${part}`;
  await log.publish(DEAD_LETTER_SUBJECT, data.subarray(0, log.maxMessageBytes - HEADER_ROOM_BYTES), {
    headers: { [HEADER]: toAscii(JSON.stringify(header)) },
    ...(messageId === undefined ? {} : { messageId }),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Decodes messages to dead letters. */
export async function readDeadLetters(messages: AsyncIterable<JournalMessage>): Promise<KeptDeadLetter[]> {
  const letters: KeptDeadLetter[] = [];
  for await (const message of messages) letters.push(parse(message));
  return letters;
}

function parse({ header, position, timeMs, data }: JournalMessage): KeptDeadLetter {
  const kept = JSON.parse(header(HEADER) || "{}") as Partial<DeadLetter> & { bytes?: number };
  return {
    source: kept.source ?? "",
    reason: kept.reason ?? "",
    ...(kept.origin === undefined ? {} : { origin: kept.origin }),
    data,
    position,
    timeMs,
    originalBytes: kept.bytes ?? data.length,
  };
}

/** Returns JSON with ASCII characters only, as headers require. */
function toAscii(json: string): string {
  return json.replace(/[\u007f-\uffff]/g, unicodeEscape);
}

interface BoundedLog {
  readonly log: {
    state(stream: string): Promise<Bounds>;
    read(stream: string, options: ReadOptions): AsyncIterable<JournalMessage>;
  };
  /** Sequence of the first message after a position. */
  readonly nextAfter: (position: Position) => number;
}

/** Yields up to `limit` messages that are stored now; skips removed ones. */
export async function* readBetween(
  { log, nextAfter }: BoundedLog,
  stream: string,
  after: Position,
  limit: number,
): AsyncGenerator<JournalMessage> {
  const { firstSequence, lastSequence } = await log.state(stream);
  const next = after.incarnation === START.incarnation ? firstSequence : nextAfter(after);
  if (limit <= 0 || next > lastSequence || firstSequence > lastSequence) return;
  const stop = new AbortController();
  const from = next < firstSequence ? START : after;
  let left = limit;
  for await (const message of log.read(stream, { after: from, signal: stop.signal })) {
    yield message;
    if (--left === 0 || message.position.sequence >= lastSequence) return;
  }
}
