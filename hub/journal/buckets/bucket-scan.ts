/**
 * Reads all entries of a bucket, once or continuously. The stream keeps one message per key, so its messages are the
 * current state.
 */

import { DeliverPolicy } from "@nats-io/jetstream";
import type { Connection } from "#hub/journal/connection/connection.ts";
import { abortable } from "#hub/journal/connection/waits.ts";
import { type Delivery, IDLE, PullSession } from "#hub/journal/reading/pull-session.ts";
import type { StoredMessage, StreamStore } from "#hub/journal/streams/stream-store.ts";
import type { StateChange } from "#proto/kit/state-bucket.ts";

/** Header that marks a deletion. */
export const OPERATION_HEADER = "KV-Operation";

/** Entries fetched ahead: values of at most 1 MiB, so 64 MiB at worst, some kilobytes in practice. */
const AHEAD_ENTRIES = 64;
/** The same without values: at most 1 KiB each. */
const AHEAD_KEYS = 512;

/** An entry, or the marker of a deleted one. */
export interface ScannedEntry extends StateChange {
  /** When it was written, ms since 1970. */
  readonly timeMs: number;
}

/** What a bucket stores below a prefix at a moment. */
export interface StoredKeys {
  readonly filter: string;
  readonly subjects: readonly string[];
  /** Sequence of the newest message, as a leader has acknowledged it; 0: there is none. */
  readonly newest: number;
}

/** Reads the stream of a bucket. */
export class BucketScan {
  readonly #connection: Connection;
  readonly #streams: StreamStore;
  readonly #stream: string;
  readonly #prefix: string;
  readonly #quietMs: number | undefined;

  /**
   * `prefix`: the part of subjects before the key, "$KV.<name>.". `quietMs`: how long the server holds the pulls of a watch open
   * that has no changes.
   */
  constructor(
    connection: Connection,
    streams: StreamStore,
    stream: string,
    prefix: string,
    quietMs: number | undefined,
  ) {
    this.#connection = connection;
    this.#streams = streams;
    this.#stream = stream;
    this.#prefix = prefix;
    this.#quietMs = quietMs;
  }

  /** Returns what is stored below `prefix`, which is empty or ends with a dot. Throws errors of StreamStore, or the reason of `signal`. */
  async stored(prefix: string, signal: AbortSignal): Promise<StoredKeys> {
    const filter = `${this.#prefix}${prefix}>`;
    const asked = Promise.all([
      this.#streams.subjects(this.#stream, filter),
      this.#streams.lastMessage(this.#stream, filter),
    ]);
    const [subjects, newest] = await abortable(asked, signal);
    return { filter, subjects, newest: newest?.sequence ?? 0 };
  }

  /**
   * Returns the keys of what was stored: each that is stored since then, whatever is written meanwhile. Their values may be left
   * out (empty; null: deleted). `tries`: as for sessions. Throws errors of the session and of StreamStore, or the reason of
   * `signal`.
   *
   * The stream's keys and its newest message decide when the listing is complete. A consumer alone can't: a key that is
   * overwritten goes to the end of the stream, and the number of messages that it still has to deliver is wrong while keys are
   * overwritten. In nats-server 2.9 it stays too high, in newer ones it is too low for a moment. And the consumer may be one of
   * a server that hasn't stored the newest messages yet, while they have been acknowledged.
   */
  async list(
    { filter, subjects, newest }: StoredKeys,
    signal: AbortSignal,
    tries: number,
  ): Promise<ScannedEntry[]> {
    if (subjects.length === 0) return [];
    const entries = new Map<string, ScannedEntry>();
    const unseen = new Set(subjects);
    const session = await this.#session(true, signal, tries, filter);
    try {
      for (let last = 0; last < newest; ) {
        const got = await session.next();
        if (got === IDLE) {
          // The newest is damaged or was removed meanwhile, or the server doesn't have it: each of its entries may be stale.
          for (const subject of subjects) unseen.add(subject);
          break;
        }
        const entry = this.#toEntry(got);
        entries.set(entry.key, entry);
        unseen.delete(got.subject);
        last = got.sequence;
      }
    } finally {
      await session.close();
    }
    for (const entry of await this.#newest([...unseen], signal)) entries.set(entry.key, entry);
    return [...entries.values()];
  }

  /**
   * Calls `take` with each entry that the server can read, values included unless `headersOnly`. Returns how many more it stores,
   * which are damaged, if nobody writes meanwhile. Throws errors of the session.
   */
  async readAll(
    take: (entry: ScannedEntry) => void,
    { headersOnly, signal, tries }: { headersOnly: boolean; signal: AbortSignal; tries: number },
  ): Promise<number> {
    const session = await this.#session(headersOnly, signal, tries);
    try {
      let unread = session.pending;
      while (unread > 0) {
        const got = await session.next();
        if (got === IDLE) break; // the server counts what it can't deliver
        take(this.#toEntry(got));
        unread--;
      }
      return unread;
    } finally {
      await session.close();
    }
  }

  /**
   * Yields the differences from `known` (key to revision): first all current entries, then every change. Updates `known`.
   * Throws when the session ends; called again, it yields the changes made meanwhile.
   */
  async *follow(known: Map<string, number>, signal: AbortSignal, tries: number): AsyncGenerator<StateChange> {
    const session = await this.#session(false, signal, tries);
    try {
      const unseen = new Set(known.keys());
      const { sequence, isReadable } = await this.#end();
      let listEnd = sequence;
      if (listEnd === 0) yield* this.#forget(unseen, known, signal);
      for (;;) {
        const got = await session.next();
        if (got === IDLE) {
          if (isReadable || listEnd === 0) continue;
          listEnd = 0;
          yield* this.#forget(unseen, known, signal);
          continue;
        }
        const { key, value, revision } = this.#toEntry(got);
        const change: StateChange = { key, value, revision };
        unseen.delete(key);
        if (remember(change, known)) yield change;
        if (listEnd === 0 || got.sequence < listEnd) continue;
        listEnd = 0;
        yield* this.#forget(unseen, known, signal);
      }
    } finally {
      await session.close();
    }
  }

  async #session(
    headersOnly: boolean,
    signal: AbortSignal,
    tries: number,
    filter?: string,
  ): Promise<PullSession> {
    await this.#connection.whenConnected(signal);
    return PullSession.open({
      connection: this.#connection,
      stream: this.#stream,
      maxBytes: 0,
      maxMessages: headersOnly ? AHEAD_KEYS : AHEAD_ENTRIES,
      tries,
      signal,
      ...(this.#quietMs !== undefined && { idleExpiresMs: this.#quietMs }),
      consumer: {
        deliver_policy: DeliverPolicy.All,
        headers_only: headersOnly,
        ...(filter !== undefined && { filter_subject: filter }),
      },
    });
  }

  /**
   * Returns the last sequence of the stream, 0 if it has no messages. `isReadable`: its message or a later one will be
   * delivered. A newest message that is damaged or was purged won't be: the list then ends when the server has nothing to
   * deliver. The stream's own last sequence decides because after damage nats-server 2.9 can answer a request for the newest
   * message of all subjects with an older one.
   */
  async #end(): Promise<{ readonly sequence: number; readonly isReadable: boolean }> {
    // The state first: a write in between makes the message newer, so that it is readable.
    const { messages, lastSequence } = await this.#streams.settledState(this.#stream);
    const message = await this.#streams.lastMessage(this.#stream, `${this.#prefix}>`);
    const isReadable = message !== null && message.sequence >= lastSequence;
    return { sequence: messages === 0 ? 0 : lastSequence, isReadable };
  }

  /** Forgets those of `keys` that were deleted while no watch ran, and whose markers were purged. */
  async *#forget(
    keys: Set<string>,
    known: Map<string, number>,
    signal: AbortSignal,
  ): AsyncGenerator<StateChange> {
    const subjects = [...keys].map((key) => this.#prefix + key);
    // Overwritten since the watch began: still to be delivered.
    for (const { key } of await this.#newest(subjects, signal)) keys.delete(key);
    for (const key of keys) {
      yield { key, value: null, revision: known.get(key)! };
      known.delete(key);
    }
    keys.clear();
  }

  /** Asks for the newest messages of subjects; leaves those out that have none, or a damaged one. */
  async #newest(subjects: readonly string[], signal: AbortSignal): Promise<ScannedEntry[]> {
    const found: ScannedEntry[] = [];
    for (let at = 0; at < subjects.length; at += AHEAD_ENTRIES) {
      const asked = subjects
        .slice(at, at + AHEAD_ENTRIES)
        .map((subject) => this.#streams.lastMessage(this.#stream, subject));
      for (const message of await abortable(Promise.all(asked), signal))
        if (message !== null) found.push(this.#toEntry(message));
    }
    return found;
  }

  #toEntry({ subject, sequence, data, header, timeMs }: Delivery | StoredMessage): ScannedEntry {
    const key = subject.slice(this.#prefix.length);
    return { key, value: header(OPERATION_HEADER) === "" ? data : null, revision: sequence, timeMs };
  }
}

/** Returns true if the change is new. */
function remember({ key, value, revision }: StateChange, known: Map<string, number>): boolean {
  const before = known.get(key);
  if (before === revision) return false; // lower ones are new too: the bucket was rolled back
  if (value !== null) known.set(key, revision);
  else known.delete(key);
  return value !== null || before !== undefined;
}
