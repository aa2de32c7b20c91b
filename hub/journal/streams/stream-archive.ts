/** Reads whole streams message by message and recreates them, for snapshots. */

import {
  DeliverPolicy,
  type JetStreamManager,
  type JsMsg,
  jetstream,
  jetstreamManager,
  type StoredMsg,
  type StreamConfig,
  type StreamState,
} from "@nats-io/jetstream";
import { headers as newHeaders } from "@nats-io/transport-node";
import type { Connection } from "#hub/journal/connection/connection.ts";
import { isMissingMessage, toJournalError } from "#hub/journal/connection/nats-errors.ts";
import { AppError } from "#proto/kit/errors.ts";
import { MIB } from "#proto/kit/units.ts";
import { renewedIdentity } from "./stream-store.ts";
import { allSubjects, subjectPage } from "./stream-subjects.ts";

/** A stored message. */
export interface ArchivedMessage {
  readonly subject: string;
  /** Sequence in the stream that it was read from. */
  readonly sequence: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly data: Uint8Array;
}

/** Conditions of a publisher, stored as headers; they were met then and would fail when published again. */
export const CONDITION = /^Nats-Expected-/i;
/** Of the names of buckets' streams, which store the newest message of each subject. */
export const BUCKET_PREFIX = "KV_";
/** Maximum publishes that wait for their acknowledgement. */
const WINDOW = 64;

/** Time for a page of a bucket's keys: an old server needs 2 s for 100,000, several times that beside other work. */
const SUBJECTS_TIMEOUT_MS = 15_000;

/** Bytes asked for ahead; above the largest message. */
const AHEAD_BYTES = 16 * MIB;
/** Interval in which a reader that waits asks the stream whether there are more messages, and how often in a row. */
const LOOK_MS = 2_000;
const MAX_QUIET = 30;

export class StreamArchive {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Returns the names of all streams, sorted, including those of state buckets. */
  async names(): Promise<string[]> {
    const manager = await this.#manager();
    const names: string[] = [];
    for await (const name of manager.streams.names()) names.push(name);
    return names.sort();
  }

  /** Returns the stream's JetStream configuration. */
  async config(stream: string): Promise<StreamConfig> {
    return (await (await this.#manager()).streams.info(stream)).config;
  }

  /**
   * Yields the messages that are stored at the time of the call, in order; of a bucket's key that is overwritten meanwhile the
   * new one, at the end. Messages purged meanwhile may be missing. Throws unavailable if those that are left don't come.
   */
  async *read(stream: string): AsyncGenerator<ArchivedMessage> {
    const manager = await this.#manager();
    const { nats } = this.#connection;
    const unseen = new Set(
      stream.startsWith(BUCKET_PREFIX)
        ? await allSubjects((offset) => subjectPage(nats, stream, ">", offset, SUBJECTS_TIMEOUT_MS))
        : [],
    );
    const { state } = await manager.streams.info(stream);
    if (state.messages === 0) return;
    for await (const message of this.#readUpTo(stream, state)) {
      unseen.delete(message.subject);
      yield message;
    }
    for (const subject of unseen) {
      const found = await newestOf(manager, stream, subject);
      if (found !== null) yield archived(found);
    }
  }

  async *#readUpTo(stream: string, state: StreamState): AsyncGenerator<ArchivedMessage> {
    const consumer = await jetstream(this.#connection.nats).consumers.get(stream, {
      deliver_policy: DeliverPolicy.All,
    });
    const messages = await consumer.consume({ max_bytes: AHEAD_BYTES });
    const iterator = messages[Symbol.asyncIterator]();
    const look = new Looks();
    let next = state.first_seq;
    try {
      for (let quiet = 0, coming = iterator.next(); ; ) {
        const got = await Promise.race([coming, look.next]);
        if (got === undefined) {
          if (!(await this.#holds(stream, next, state.last_seq))) return;
          if (++quiet === MAX_QUIET)
            throw new AppError("unavailable", `reading ${stream} stopped at message ${next}`);
          continue;
        }
        this.#connection.answered();
        if (got.done === true || got.value.seq > state.last_seq) return;
        yield archived(got.value);
        next = got.value.seq + 1;
        if (next > state.last_seq) return;
        // A server that lags behind the others counts only what it has stored itself.
        if (got.value.info.pending === 0 && !(await this.#holds(stream, next, state.last_seq))) return;
        quiet = 0;
        coming = iterator.next();
      }
    } finally {
      look.end();
      messages.stop();
    }
  }

  /** Returns whether the stream still has a message from `first` to `last`: the rest may have been purged. */
  async #holds(stream: string, first: number, last: number): Promise<boolean> {
    const manager = await this.#manager();
    const { state } = await manager.streams.info(stream);
    if (state.messages === 0 || state.first_seq > last || first > last) return false;
    const nextFrom = { seq: first, next_by_subj: ">" }; // the client's type doesn't know it
    const found = await manager.streams.getMessage(stream, nextFrom);
    return found !== null && found.seq <= last;
  }

  /** Creates a stream from `config`, with a new identity, and stores `messages` in it in order. It must not exist. */
  async write(
    config: StreamConfig,
    messages: AsyncIterable<Omit<ArchivedMessage, "sequence">>,
  ): Promise<void> {
    try {
      await (await this.#manager()).streams.add({ ...renewedIdentity(config), num_replicas: 1 });
      const stream = jetstream(this.#connection.nats);
      const waiting = new Set<Promise<unknown>>();
      for await (const { subject, headers, data } of messages) {
        const head = newHeaders();
        for (const [name, value] of headers) if (!CONDITION.test(name)) head.append(name, value);
        const published: Promise<void> = stream.publish(subject, data, { headers: head }).then(() => {
          waiting.delete(published);
          this.#connection.answered();
        });
        published.catch(() => undefined); // it stays among those waited for, and is thrown there
        waiting.add(published);
        if (waiting.size >= WINDOW) await Promise.all(waiting);
      }
      await Promise.all(waiting);
    } catch (error) {
      throw toJournalError(error, `stream ${config.name}`);
    }
  }

  #manager(): Promise<JetStreamManager> {
    return jetstreamManager(this.#connection.nats, { checkAPI: false });
  }
}

/** Wakes a reader at intervals; a timer for each message would cost more than the message. */
class Looks {
  #wake = Promise.withResolvers<undefined>();
  readonly #timer = setInterval(() => {
    this.#wake.resolve(undefined);
    this.#wake = Promise.withResolvers();
  }, LOOK_MS);

  /** Resolves at the next look. */
  get next(): Promise<undefined> {
    return this.#wake.promise;
  }

  end(): void {
    clearInterval(this.#timer);
  }
}

async function newestOf(
  manager: JetStreamManager,
  stream: string,
  subject: string,
): Promise<StoredMsg | null> {
  try {
    return await manager.streams.getMessage(stream, { last_by_subj: subject });
  } catch (error) {
    if (isMissingMessage(error)) return null; // damaged
    throw error;
  }
}

function archived(message: JsMsg | StoredMsg): ArchivedMessage {
  const { subject, seq, data } = message;
  const headers = "headers" in message ? message.headers : message.header;
  const kept = [...(headers ?? [])].flatMap(([name, values]) =>
    values.map((value) => [name, value] as const),
  );
  return { subject, sequence: seq, headers: kept, data };
}
