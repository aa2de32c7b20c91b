/**
 * The log's streams: their definitions with size limits, and the JetStream API calls to create, inspect and purge
 * them.
 */

import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import {
  type ClusterInfo,
  DiscardPolicy,
  type JetStreamManager,
  jetstreamManager,
  type PeerInfo,
  RetentionPolicy,
  StorageType,
  type StoredMsg,
  type StreamConfig,
  type StreamInfo,
} from "@nats-io/jetstream";
import { errors, millis, type NatsConnection, nanos } from "@nats-io/transport-node";
import type { Connection } from "#hub/journal/connection/connection.ts";
import {
  isLeaderless,
  isMissingMessage,
  isMissingStream,
  isTimeout,
  toJournalError,
} from "#hub/journal/connection/nats-errors.ts";
import { answerTime, firstAnswer, retriedCall } from "#hub/journal/connection/retried-call.ts";
import { abortable, within } from "#hub/journal/connection/waits.ts";
import { type Clock, systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { StreamDefinition } from "./stream-definitions.ts";
import { allSubjects, subjectPage } from "./stream-subjects.ts";

/** How long the server remembers message ids: longer than any client retries without a cause. */
const DUPLICATE_WINDOW_MS = 10 * 60_000;

/** Headroom above what is stored when a new limit would cut into it. */
const HEADROOM_BYTES = 16 * 1024 ** 2;

/** Calls are retried for this long: a cluster may need 9 s to elect a leader, more on a busy machine. */
const CALL_TIMEOUT_MS = 15_000;

/** A server that is asked for a copy answers within milliseconds; one that is lost, and was chosen, never does. */
const COPY_TIMEOUT_MS = 300;

/**
 * A page of subjects is asked for again later than other answers where a stream has many messages: nats-server 2.9 needs up to
 * 2 s for 100,000, more on a busy machine, and answers nothing else of the connection meanwhile. An answer is also missing where
 * the leader is lost, so few messages aren't waited for so long, and of many a page is asked for until 12 s, as other answers are.
 */
const SUBJECTS_AGAIN_MS = { least: 1_000, each: 0.03, most: 4_000 };

/**
 * A replica that hasn't answered its leader for this long counts as silent; normally it answers every one to two seconds. Others
 * are elected after 4 s without a leader at the earliest: one that heard a majority more recently is the leader.
 */
const SILENT_MS = 3_000;

/**
 * A leader that was paused takes answers that were sent before for new ones; after this long it has heard of the other
 * leader or of silence.
 */
const ASK_AGAIN_MS = SILENT_MS;

/**
 * A stream's description is this prefix and its identity. The creation time can't serve as identity: 2.9 changes it
 * when the stream is updated. Every version keeps descriptions.
 */
const DESCRIPTION = "Tailrace's log, ";

/** First and last sequence of a stream; an empty one has last = first - 1. */
export interface Bounds {
  readonly firstSequence: number;
  readonly lastSequence: number;
}

export interface StreamState extends Bounds {
  readonly name: string;
  readonly messages: number;
  readonly bytes: number;
  readonly maxBytes: number;
  /** Assigned at the stream's creation: a different value means a different stream. */
  readonly identity: string;
  /** Number of servers that are to store it. */
  readonly replicas: number;
  /** False if most replicas were silent: the server that answered may not know messages which others store. */
  readonly hasMajority: boolean;
}

export interface StoredMessage {
  readonly subject: string;
  readonly sequence: number;
  readonly data: Uint8Array;
  readonly messageId: string;
  readonly timeMs: number;
  /** Returns a header, or an empty string. */
  readonly header: (name: string) => string;
}

/** The server that answered hasn't heard of a majority lately: others may have elected another leader. */
class NoMajority extends AppError {
  constructor() {
    super("unavailable", "most servers of the log can't be reached");
  }
}

/** JetStream API calls, answered by the leader. All throw `unavailable` or `timeout` (retryable) while there is none. */
export class StreamStore {
  readonly #connection: Connection;
  readonly #clock: Clock;

  constructor(connection: Connection, clock = systemClock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  /** Creates the stream or updates it to its definition. Never sets a limit below the stored size. */
  async ensure(definition: StreamDefinition): Promise<void> {
    await this.#create(`stream ${definition.name}`, async (manager) => {
      const found = await manager.streams.info(definition.name).catch((error: unknown) => {
        if (isMissingStream(error)) return undefined;
        throw error;
      });
      if (found === undefined) {
        await manager.streams.add(toConfig(definition, randomUUID(), definition.maxBytes));
        return;
      }
      const { config, state } = found;
      const maxBytes = definition.keepLimit
        ? config.max_bytes
        : Math.max(definition.maxBytes, state.bytes + HEADROOM_BYTES); // the server deletes what exceeds the limit
      const replicas = Math.max(definition.replicas, config.num_replicas);
      const wanted = toConfig({ ...definition, replicas }, identityOf(config) || randomUUID(), maxBytes);
      const same = Object.entries(wanted).every(
        ([key, value]) => isDeepStrictEqual(value, config[key as keyof StreamConfig] ?? false), // the server leaves out what is false
      );
      if (!same) await manager.streams.update(definition.name, wanted);
    });
  }

  /** Raises the replicas of a stream that has fewer. */
  async replicate(stream: string, replicas: number): Promise<void> {
    await this.#create(`replicas of ${stream}`, async (manager) => {
      const { config } = await manager.streams.info(stream);
      if (config.num_replicas < replicas)
        await manager.streams.update(stream, { ...config, num_replicas: replicas });
    });
  }

  /** Returns what the first server that takes itself for the leader knows. Also throws unavailable if the stream doesn't exist. */
  state(stream: string): Promise<StreamState> {
    return this.#call(`state of ${stream}`, async (manager) => toState(await manager.streams.info(stream)));
  }

  /**
   * Returns the state that a majority stores, for decisions about what was lost: a server that was paused answers as
   * the leader for a moment when it resumes, and its stream ends where it had stopped. `isLost`: whether a state means
   * a loss; it is asked for once more then, some seconds later, where there are replicas. See also `state`.
   */
  async settledState(
    stream: string,
    isLost: (state: StreamState) => boolean = () => false,
  ): Promise<StreamState> {
    const state = await this.majorityState(stream);
    if (state.replicas < 2 || !isLost(state)) return state;
    await this.#clock.sleep(ASK_AGAIN_MS);
    return this.majorityState(stream);
  }

  /** Returns the state according to a server that hears a majority; waits up to `withinMs` for one. See `settledState`. */
  majorityState(stream: string, withinMs = CALL_TIMEOUT_MS): Promise<StreamState> {
    const call = async (manager: JetStreamManager): Promise<StreamState> => {
      const state = toState(await manager.streams.info(stream));
      if (!state.hasMajority) throw new NoMajority();
      return state;
    };
    return this.#call(`state of ${stream}`, call, withinMs);
  }

  /**
   * Removes the messages below a sequence, at most all that a majority stores; see `settledState`. `sequence` is asked after
   * that: a loss that was found meanwhile gives another one.
   */
  async purgeBelow(stream: string, sequence: () => number): Promise<void> {
    const isShort = ({ lastSequence }: StreamState): boolean => lastSequence + 1 < sequence();
    const { firstSequence, lastSequence } = await this.settledState(stream, isShort);
    const below = Math.min(sequence(), lastSequence + 1);
    if (below > firstSequence) await this.purge(stream, below);
  }

  /** Removes all messages below `sequence`, or those of one subject only. */
  async purge(stream: string, sequence: number, subject?: string): Promise<void> {
    const which = { seq: sequence, ...(subject === undefined ? {} : { filter: subject }) };
    await this.#call(`purge of ${stream}`, async (manager) => manager.streams.purge(stream, which));
  }

  /**
   * Returns the subjects of all messages that fit `filter`, of damaged ones too, according to a server that hears a majority:
   * each that is stored during the whole call. For streams of some hundred thousand subjects.
   */
  async subjects(stream: string, filter: string): Promise<string[]> {
    const { messages } = await this.majorityState(stream); // its short answer finds the leader
    const { least, each, most } = SUBJECTS_AGAIN_MS;
    const againMs = Math.min(most, least + each * messages);
    return allSubjects((offset) => {
      const ask = async (_: JetStreamManager, nats: NatsConnection): Promise<StreamInfo> => {
        const page = await subjectPage(nats, stream, filter, offset, CALL_TIMEOUT_MS);
        if (!toState(page).hasMajority) throw new NoMajority();
        return page;
      };
      return this.#call(`subjects of ${stream}`, ask, CALL_TIMEOUT_MS, againMs);
    });
  }

  /** Returns the message with `sequence`, or null if there is none (any more). */
  message(stream: string, sequence: number): Promise<StoredMessage | null> {
    return this.#message(stream, { seq: sequence });
  }

  /**
   * Returns the message with `sequence` according to any server that stores the stream, null if that one has none; it needs no
   * leader. Throws client errors.
   */
  async copy(stream: string, sequence: number): Promise<StoredMessage | null> {
    const { nats } = this.#connection;
    const manager = await jetstreamManager(nats, { checkAPI: false, timeout: CALL_TIMEOUT_MS });
    const answered = new AbortController();
    const late = new AbortController();
    const options = { ping: () => nats.flush(), clock: this.#clock };
    void answerTime(COPY_TIMEOUT_MS, options, answered.signal).then(() =>
      late.abort(new errors.TimeoutError()),
    );
    try {
      const found = await abortable(manager.direct.getMessage(stream, { seq: sequence }), late.signal);
      return found === null ? null : toMessage(found);
    } finally {
      answered.abort();
    }
  }

  /** Returns the newest message of a subject (wildcards allowed), or null. */
  lastMessage(stream: string, subject: string): Promise<StoredMessage | null> {
    return this.#message(stream, { last_by_subj: subject });
  }

  #message(stream: string, query: { seq: number } | { last_by_subj: string }): Promise<StoredMessage | null> {
    return this.#call(`message of ${stream}`, async (manager) => {
      try {
        const found = await manager.streams.getMessage(stream, query);
        return found === null ? null : toMessage(found);
      } catch (error) {
        if (isMissingMessage(error)) return null;
        throw error;
      }
    });
  }

  /** Makes a call that the hub needs to start. */
  async #create(what: string, call: (manager: JetStreamManager) => Promise<void>): Promise<void> {
    const manage = async (nats: NatsConnection, timeout: number): Promise<void> =>
      call(await jetstreamManager(nats, { checkAPI: false, timeout }));
    try {
      await retriedCall(this.#connection, manage);
    } catch (error) {
      throw toJournalError(error, what);
    }
  }

  /**
   * Makes an idempotent call; repeats it while the cluster has no leader, and beside one that had no answer for `againMs` (0.5 s
   * where it isn't given).
   */
  async #call<T>(
    what: string,
    call: (manager: JetStreamManager, nats: NatsConnection) => Promise<T>,
    withinMs = CALL_TIMEOUT_MS,
    againMs?: number,
  ): Promise<T> {
    const manage = async (nats: NatsConnection): Promise<T> =>
      call(await jetstreamManager(nats, { checkAPI: false, timeout: withinMs }), nats);
    const isPassing = (error: unknown): boolean =>
      isLeaderless(error) || isTimeout(error) || error instanceof NoMajority;
    try {
      return await within(withinMs, (deadline) =>
        firstAnswer(
          (signal) => this.#connection.repeatable(manage, signal),
          {
            isPassing,
            isConnected: () => this.#connection.connected,
            ping: () => this.#connection.nats.flush(),
            ...(againMs !== undefined && { againMs }),
          },
          deadline,
        ),
      );
    } catch (error) {
      throw toJournalError(error, what);
    }
  }
}

function toMessage({ subject, seq, data, timestamp, header: headers }: StoredMsg): StoredMessage {
  const header = (name: string): string => headers?.get(name) ?? "";
  return {
    subject,
    sequence: seq,
    data,
    messageId: header("Nats-Msg-Id"),
    timeMs: Date.parse(timestamp),
    header,
  };
}

function toConfig(
  definition: StreamDefinition,
  identity: string,
  maxBytes: number,
): Partial<StreamConfig> & { name: string } {
  return {
    name: definition.name,
    description: DESCRIPTION + identity,
    subjects: [...definition.subjects],
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    discard: definition.whenFull === "wait" ? DiscardPolicy.New : DiscardPolicy.Old,
    max_bytes: maxBytes,
    max_msg_size: definition.maxMessageBytes,
    // Set by hand, these would remove messages that aren't processed yet, or leave their senders without an answer.
    max_age: 0,
    max_msgs: -1,
    max_msgs_per_subject: -1,
    no_ack: false,
    duplicate_window: nanos(DUPLICATE_WINDOW_MS),
    allow_direct: true,
    num_replicas: definition.replicas,
  };
}

/** Returns `config` with a new identity, so that hubs that remember the old stream notice the difference. */
export function renewedIdentity(config: StreamConfig): StreamConfig {
  return identityOf(config) === "" ? config : { ...config, description: DESCRIPTION + randomUUID() };
}

function identityOf({ description = "" }: StreamConfig): string {
  return description.startsWith(DESCRIPTION) ? description.slice(DESCRIPTION.length) : "";
}

/** See StreamState: a server without a majority continues to answer as the leader. `wanted`: number of replicas. */
export function hasMajority({ name = "", leader = "", replicas = [] }: ClusterInfo, wanted: number): boolean {
  if (replicas.length === 0 && (wanted === 1 || name === "")) return true; // without a cluster there is no name
  // The leader has never heard of one whose time is 0, and may leave it out.
  const isHeard = ({ offline, active }: PeerInfo): boolean =>
    !offline && active > 0 && millis(active) <= SILENT_MS;
  const heard = 1 + replicas.filter(isHeard).length;
  return leader !== "" && 2 * heard > Math.max(wanted, 1 + replicas.length);
}

function toState({ config, state, cluster = {} }: StreamInfo): StreamState {
  // A stream that never had a message reports 0 and 0.
  const firstSequence = Math.max(1, state.first_seq);
  return {
    name: config.name,
    firstSequence,
    lastSequence: Math.max(state.last_seq, firstSequence - 1),
    messages: state.messages,
    bytes: state.bytes,
    maxBytes: config.max_bytes,
    identity: identityOf(config),
    replicas: config.num_replicas,
    hasMajority: hasMajority(cluster, config.num_replicas),
  };
}
