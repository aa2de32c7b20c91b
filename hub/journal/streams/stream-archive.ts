/** Reads whole streams message by message and recreates them, for snapshots. */

import {
  DeliverPolicy,
  type JetStreamManager,
  type JsMsg,
  jetstream,
  jetstreamManager,
  type StreamConfig,
} from "@nats-io/jetstream";
import { headers as newHeaders } from "@nats-io/transport-node";
import type { Connection } from "#hub/journal/connection/connection.ts";
import { toJournalError } from "#hub/journal/connection/nats-errors.ts";
import { renewedIdentity } from "./stream-store.ts";

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
/** Maximum publishes that wait for their acknowledgement. */
const WINDOW = 64;

/** Messages asked for at once, and the time to wait for them. */
const BATCH_MESSAGES = 1_000;
const BATCH_MS = 2_000;

export class StreamArchive {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Returns the names of all streams, sorted, including those behind state buckets. */
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

  /** Yields the messages that are stored at the time of the call, in order. Messages purged meanwhile may be missing. */
  async *read(stream: string): AsyncGenerator<ArchivedMessage> {
    const { state } = await (await this.#manager()).streams.info(stream);
    if (state.messages === 0) return;
    const consumer = await jetstream(this.#connection.nats).consumers.get(stream, {
      deliver_policy: DeliverPolicy.All,
    });
    for (;;) {
      const messages = await consumer.fetch({ max_messages: BATCH_MESSAGES, expires: BATCH_MS });
      let seen = 0;
      try {
        for await (const message of messages) {
          if (message.seq > state.last_seq) return;
          seen++;
          yield archived(message);
          if (message.seq === state.last_seq || message.info.pending === 0) return;
        }
      } finally {
        messages.stop();
      }
      // What was still to come may have been purged.
      if (seen === 0 && (await consumer.info()).num_pending === 0) return;
    }
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
        const published = stream.publish(subject, data, { headers: head });
        waiting.add(published);
        void published.finally(() => waiting.delete(published)).catch(() => undefined);
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

function archived({ subject, seq, headers, data }: JsMsg): ArchivedMessage {
  const kept = [...(headers ?? [])].flatMap(([name, values]) =>
    values.map((value) => [name, value] as const),
  );
  return { subject, sequence: seq, headers: kept, data };
}
