/**
 * Copies one stream into another NATS and keeps the sequence of each message. Messages of buckets, whose revisions have
 * gaps, get higher sequences.
 */

import {
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  type PubAck,
  type StreamConfig,
  type StreamInfo,
  type StreamState,
} from "@nats-io/jetstream";
import { headers as newHeaders } from "@nats-io/transport-node";
import type { Connection } from "#hub/journal/connection/connection.ts";
import { isConflict, isMissingStream, judge, toJournalError } from "#hub/journal/connection/nats-errors.ts";
import { retriedCall } from "#hub/journal/connection/retried-call.ts";
import { type Clock, systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { Backoff } from "#proto/kit/retry.ts";
import { MIB } from "#proto/kit/units.ts";
import { type ArchivedMessage, BUCKET_PREFIX, CONDITION, StreamArchive } from "./stream-archive.ts";

/** Maximum messages in flight, and their maximum bytes: the connection buffers them. */
const WINDOW = { messages: 64, bytes: 16 * MIB };
/** The copy fails if no message is stored for this long: a cluster elects a leader within seconds. */
const STALLED_MS = 60_000;
const RETRY = { firstMs: 100, capMs: 2_000 };
/** Maximum growth of a stored message: the header by which its sequence is checked. */
const HEADER_GROWTH_BYTES = 64;

const MESSAGE_ID = /^Nats-Msg-Id$/i;
const EXPECTED = "Nats-Expected-Last-Sequence";

export interface StreamCopyOptions {
  /** The log that is copied; nothing else may use it meanwhile. */
  readonly from: Connection;
  readonly to: Connection;
  /** Replicas of the copies. */
  readonly replicas: number;
  readonly clock?: Clock;
  readonly signal: AbortSignal;
  /** Called after each stream. */
  readonly progress: (stream: string, messages: number) => void;
}

/** Subjects on which a copy receives its messages while it is made; no one else publishes there. */
export interface Staging {
  /** Before each subject. */
  readonly prefix: string;
  /** The stream's subjects, with a wildcard at the end. */
  readonly subjects: string;
}

/** A message with its sequence in the copy. */
interface Placed extends ArchivedMessage {
  /** True if it is stored again without its id because another message of the stream has the same id. */
  readonly isRepeated?: boolean;
}

/** Makes one copy; removes an existing one first. */
export class StreamCopy {
  readonly #options: StreamCopyOptions;
  readonly #clock: Clock;
  readonly #archive: StreamArchive;
  readonly #name: string;
  readonly #staging: Staging | undefined;

  constructor(options: StreamCopyOptions, name: string, staging?: Staging) {
    this.#options = options;
    this.#staging = staging;
    this.#clock = options.clock ?? systemClock;
    this.#archive = new StreamArchive(options.from);
    this.#name = name;
  }

  /** Throws unavailable, timeout, journal_full, or the reason of the signal. */
  async run(): Promise<void> {
    const { from, progress } = this.#options;
    const found = await infoOf(from, this.#name);
    if (found === undefined) return;
    const { config, state } = found;
    await this.#removeCopy();
    await this.#create(config, state);
    for await (const window of windowsOf(this.#placed(config, state))) await this.#store(window);
    if (!this.#isBucket)
      await manage(this.#options.to, `stream ${this.#name}`, ({ streams }) =>
        streams.purge(this.#name, { filter: fillerOf(config) }),
      );
    await this.#check(state);
    progress(this.#name, state.messages);
  }

  /** Of buckets only the order of revisions matters. */
  get #isBucket(): boolean {
    return this.#name.startsWith(BUCKET_PREFIX);
  }

  async #removeCopy(): Promise<void> {
    await manage(this.#options.to, `stream ${this.#name}`, async ({ streams }) =>
      streams.delete(this.#name).catch((error: unknown) => {
        if (!isMissingStream(error)) throw error;
      }),
    );
  }

  async #create(config: StreamConfig, state: StreamState): Promise<void> {
    const growth = state.messages * HEADER_GROWTH_BYTES + WINDOW.bytes;
    const wanted = {
      ...config,
      ...(this.#staging !== undefined && stagedConfig(this.#staging)),
      num_replicas: this.#options.replicas,
      first_seq: this.#firstSequence(state),
      max_bytes: config.max_bytes < 0 ? config.max_bytes : Math.max(config.max_bytes, state.bytes + growth),
    };
    await manage(this.#options.to, `stream ${this.#name}`, ({ streams }) => streams.add(wanted));
  }

  #firstSequence({ first_seq, last_seq }: StreamState): number {
    return this.#isBucket ? last_seq + 1 : Math.max(1, first_seq);
  }

  /** Yields the messages with their sequences, and a filler, which is removed later, for each missing sequence. */
  async *#placed(config: StreamConfig, state: StreamState): AsyncGenerator<Placed> {
    let next = this.#firstSequence(state);
    const filler = (): Placed => ({
      subject: fillerOf(config),
      sequence: next++,
      headers: [],
      data: new Uint8Array(),
    });
    for await (const message of this.#archive.read(this.#name)) {
      while (!this.#isBucket && next < message.sequence) yield filler();
      yield { ...message, sequence: next++ };
    }
    while (!this.#isBucket && next <= state.last_seq) yield filler();
  }

  /** Stores the messages at their sequences; after a failure repeats those beyond the stream's end. */
  async #store(window: readonly Placed[]): Promise<void> {
    const { to, signal } = this.#options;
    const backoff = new Backoff(RETRY);
    let endMs = this.#clock.monotonic() + STALLED_MS;
    for (let left = window; left.length > 0; ) {
      signal.throwIfAborted();
      const acks = await Promise.allSettled(left.map((message) => this.#publish(message)));
      if (acks.every((ack, at) => isStored(ack, left[at]!))) return;
      const { state } = (await infoOf(to, this.#name)) ?? { state: { last_seq: 0 } };
      const rest = left.flatMap((message, at) =>
        message.sequence > state.last_seq ? [afterFailure(message, acks[at]!)] : [],
      );
      if (rest.length < left.length) endMs = this.#clock.monotonic() + STALLED_MS;
      else if (this.#clock.monotonic() >= endMs) throw toJournalError(faultOf(acks), `stream ${this.#name}`);
      if (!acks.some(isOtherMessage)) await this.#clock.sleep(backoff.next(), signal);
      left = rest;
    }
  }

  async #publish({ subject, sequence, headers, data, isRepeated = false }: Placed): Promise<PubAck> {
    const { to } = this.#options;
    const head = newHeaders();
    for (const [name, value] of headers)
      if (!CONDITION.test(name) && !(isRepeated && MESSAGE_ID.test(name))) head.append(name, value);
    head.set(EXPECTED, String(sequence - 1));
    const at = (this.#staging?.prefix ?? "") + subject;
    const ack = await jetstream(to.nats).publish(at, data, { headers: head });
    to.answered();
    return ack;
  }

  /** Throws unavailable if the copy differs. */
  async #check(state: StreamState): Promise<void> {
    const copy = (await infoOf(this.#options.to, this.#name))?.state;
    const isSame =
      copy?.messages === state.messages && (this.#isBucket || copy.last_seq === Math.max(0, state.last_seq));
    if (isSame) return;
    throw new AppError(
      "unavailable",
      `the copy of ${this.#name} has ${copy?.messages} messages instead of ${state.messages}; start the hub again`,
    );
  }
}

function stagedConfig({ prefix, subjects }: Staging): Partial<StreamConfig> {
  const staged = prefix + subjects;
  return { subjects: [staged], subject_transform: { src: staged, dest: subjects } };
}

type Settled = PromiseSettledResult<PubAck>;

function isStored(ack: Settled, { sequence }: Placed): boolean {
  return ack.status === "fulfilled" && ack.value.seq === sequence;
}

/**
 * Returns whether a message wasn't stored because another one has its id: an agent sent it again after the server forgot the
 * first.
 */
function isOtherMessage(ack: Settled): boolean {
  return ack.status === "fulfilled" && ack.value.duplicate;
}

/** Returns the message to send again. Throws errors that a repetition can't cure. */
function afterFailure(message: Placed, ack: Settled): Placed {
  if (ack.status === "fulfilled") return ack.value.duplicate ? { ...message, isRepeated: true } : message;
  if (judge(ack.reason) === "fatal" && !isConflict(ack.reason))
    throw toJournalError(ack.reason, `message ${message.sequence}`);
  return message;
}

function faultOf(acks: readonly Settled[]): unknown {
  return acks.find((ack) => ack.status === "rejected")?.reason ?? new Error("messages were stored elsewhere");
}

/** Returns a subject of the stream that no message uses. */
function fillerOf({ subjects }: StreamConfig): string {
  return (subjects[0] ?? "").replace(/[>*]$/, "missing");
}

/** Gathers messages up to the window's limits. */
async function* windowsOf(messages: AsyncIterable<Placed>): AsyncGenerator<Placed[]> {
  let window: Placed[] = [];
  let bytes = 0;
  for await (const message of messages) {
    window.push(message);
    bytes += message.data.length;
    if (window.length < WINDOW.messages && bytes < WINDOW.bytes) continue;
    yield window;
    window = [];
    bytes = 0;
  }
  if (window.length > 0) yield window;
}

/** Returns undefined if the stream is missing. Throws unavailable or timeout. */
export async function infoOf(connection: Connection, name: string): Promise<StreamInfo | undefined> {
  return manage(connection, `stream ${name}`, ({ streams }) =>
    streams.info(name).catch((error: unknown) => {
      if (isMissingStream(error)) return undefined;
      throw error;
    }),
  );
}

/** Makes an idempotent call; repeats it while the cluster has no leader. Throws unavailable or timeout. */
export async function manage<T>(
  connection: Connection,
  what: string,
  call: (manager: JetStreamManager) => Promise<T>,
): Promise<T> {
  try {
    return await retriedCall(connection, async (nats, timeout) =>
      call(await jetstreamManager(nats, { checkAPI: false, timeout })),
    );
  } catch (error) {
    throw toJournalError(error, what);
  }
}
