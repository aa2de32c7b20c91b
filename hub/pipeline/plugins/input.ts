/**
 * The contract of inputs. One file per input holds its options, their documentation and its code; `all.ts` lists them.
 * Inputs run in the hub's main thread; after the log, the pipeline's workers take over.
 *
 * - An input must send events to a channel, which writes them to the log RAW, and await that before it confirms them
 *   to its source (acknowledges, commits an offset, moves a file's position).
 * - It must bound what it holds: a source whose `send` is pending waits.
 * - What can be read again (a file, a topic, a table) must have a channel key and offsets that stay the same after a
 *   restart: then what is sent once more is dropped. What can't (a socket) needs a key of its own for each session.
 * - Positions that only this machine knows belong in `context.state`, written after `send` has resolved.
 * - `create` opens nothing. `start` may throw: it is tried again with growing waits. `stop` must end and await
 *   everything the input started; sends still pending after two seconds reject with `cancelled`.
 */

import type { Static, TObject } from "typebox";
import type { Event } from "#proto/event.ts";
import type { Clock } from "#proto/kit/clock.ts";
import type { FairShares } from "#proto/kit/fair-shares.ts";
import { BackgroundTask, type Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { TrustedProxies } from "#proto/kit/net/trusted-proxies.ts";
import type { CodecMaker } from "./codec.ts";

/** An event with its position in its source. */
export interface InputEvent {
  readonly event: Event;
  /**
   * Where it begins in the source (byte offset, number of a message), 0..2^48, never falling within a channel. Events
   * made of one payload may share one. Without it the channel counts.
   */
  readonly offset?: number;
  /** What it takes up in the source, in the same measure; 1 without it. */
  readonly length?: number;
}

/** What events are read from. */
export interface InputSource {
  /**
   * Distinguishes the source from others of this input: the same after a restart where it can be read again, else new
   * for each session.
   */
  readonly key: string;
  /** Counts the times that a source of the same key began again (a file that was rewritten), from 0. */
  readonly generation?: number;
  /** Path of the file, or empty. */
  readonly path?: string;
}

/** The channel of one source into the log. */
export interface InputChannel {
  /**
   * Resolves when the events are durable in the log; several sends may be pending, they keep their order. While the
   * log is full or away it waits. Rejects with `cancelled` when the input is stopped, with `parsing` where an event can
   * never be stored: it isn't JSON, or too long for a message of the log.
   */
  send(events: readonly InputEvent[]): Promise<void>;
  /** Releases what is kept for the source; nothing may be sent afterwards. */
  close(): void;
}

/** What an input remembers on this machine: JSON values by key, durable when the promise resolves. */
export interface InputState {
  get(key: string): Promise<unknown>;
  put(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;
  /** Yields all entries in the order of their keys. */
  entries(): AsyncIterable<readonly [key: string, value: unknown]>;
}

/** A record that another pipeline hands over. */
export interface FedRecord {
  /** The source that its event was read from, and the pipeline that hands it over; empty: unknown. */
  readonly sourceKey: string;
  /** Grows with the events of the source. */
  readonly place: number;
  readonly body: Uint8Array;
  /** ms since 1970-01-01 UTC. */
  readonly timeMs: number;
}

/** A dead letter as an input reads it. */
export interface InputDeadLetter {
  /** Grows; the next event is read after it. */
  readonly sequence: number;
  readonly reason: string;
  /** What gave it up, e.g. the name of an output. */
  readonly source: string;
  readonly timeMs: number;
  /** The event as JSON, or a batch as stored in the log. */
  readonly data: Uint8Array;
}

/** What the senders to all inputs of a hub hold together, and each address of it. */
export interface IntakeShares {
  /** Proxies that name the senders of requests. Their connections count for no sender. */
  readonly proxies: TrustedProxies;
  /** By the address of the sender, as a load balancer names it where the input reads the PROXY protocol. */
  readonly connections: FairShares;
  /** Called for each refused connection of `address`. */
  readonly onRefused: (address: string, reason: Error) => void;
  /** Of messages that aren't whole, and of bodies until they are in the log. */
  readonly bytes: FairShares;
}

/** What an input gets besides its options. */
export interface InputContext {
  /** Name of the input in metrics and messages: its `id`, or one made of its name and options. */
  readonly id: string;
  readonly log: Logger;
  readonly clock: Clock;
  readonly state: InputState;
  /** Name of this hub; for a shared source one that all hubs use. */
  readonly hubName: string;
  /** Opens a channel of a source into the log; several may be open. */
  readonly open: (source: InputSource) => InputChannel;
  /**
   * Takes what outputs `pipeline` send to an address, until the input stops; it is confirmed to them when the handler
   * resolves. Of the records of one source, positions grow, and are the same when they come once more.
   */
  readonly receive: (address: string, handler: (records: readonly FedRecord[]) => Promise<void>) => void;
  /** Counts what the input lost, such as datagrams: their senders can't be held up. */
  readonly dropped: (count: number) => void;
  /** Counts messages that the input took in parts, as they were too long. */
  readonly cut: (count: number) => void;
  /** Reports a failure that people should see while the input continues; null: it is over. */
  readonly failing: (message: string | null) => void;
  /**
   * Returns a token of the connection with this name for requests to `host` (with its port unless that is the scheme's own), over
   * TLS or to this machine; `rejected`: the token the host has just refused with 401. Throws not_found, forbidden,
   * unauthenticated (people see "reconnect").
   */
  readonly bearer: (connection: string, host: string, rejected?: string) => Promise<string>;
  /**
   * Returns true if the value of an Authorization header names a key, token or user of this hub that may ingest into
   * every index; always false if the hub has no sign-in. `ip`: of the sender. Rejects with `overloaded`.
   */
  readonly mayIngest: (authorization: string, ip: string) => Promise<boolean>;
  /** An input that listens takes connections and bytes of its senders' share. */
  readonly shares: IntakeShares;
  /** Throws forbidden if this pipeline may not connect to the host, as the hub's settings say. */
  readonly checkTarget: (host: string) => void;
  /** Yields dead letters after a sequence, then waits for others until `signal` is aborted. */
  readonly deadLetters: (after: number, signal: AbortSignal) => AsyncIterable<InputDeadLetter>;
}

/** What an input gets when its options are read. */
export interface InputOptionsContext {
  /** Returns the maker of the codec that an option made by `codecOption` names; each source needs one of its own. */
  readonly codec: (value: unknown) => CodecMaker;
  /** Returns the path of a file named in the options, relative ones by the pipeline's folder. */
  readonly resolvePath: (path: string) => string;
  /** Reports a fault of an option that the schema can't find. */
  readonly report: (severity: "error" | "warning", option: string, message: string, hint?: string) => void;
}

export interface InputDefinition<O extends TObject = TObject, Values = NoInfer<Static<O>>> {
  readonly name: string;
  /** One sentence: where events come from. */
  readonly description: string;
  readonly options: O;
  /** True: agents bring the events, nothing is run. */
  readonly takesAgents?: boolean;
  /** True: every hub reads the same source, so that one hub at a time runs the input. False: it listens on its own hub. */
  readonly isShared?: boolean;
  /**
   * Reads the options and opens nothing; returns what makes the input, or undefined if nothing is to be run. Every
   * input has the options `add_field`, `tags` and `type` besides its own; the runtime applies them.
   */
  create(options: Values, context: InputOptionsContext): ((context: InputContext) => Component) | undefined;
}

/** Returns the definition; gives `create` the type of its options. */
export function defineInput<O extends TObject>(definition: InputDefinition<O>): InputDefinition<O> {
  return definition;
}

/** An input that is one task: `run` works until its signal is aborted. People see why it fails. */
export class TaskInput implements Component {
  readonly #context: Pick<InputContext, "failing">;
  readonly #run: (signal: AbortSignal) => Promise<void>;
  readonly #task = new BackgroundTask();

  constructor(context: Pick<InputContext, "failing">, run: (signal: AbortSignal) => Promise<void>) {
    this.#context = context;
    this.#run = run;
  }

  async start(): Promise<void> {
    this.#task.start(async (signal) => {
      try {
        await this.#run(signal);
      } catch (error) {
        if (!signal.aborted) this.#context.failing((error as Error).message);
      }
    });
  }

  async stop(): Promise<void> {
    await this.#task.stop();
  }
}
