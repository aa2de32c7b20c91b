/**
 * The contract of outputs. One file per output holds its options, their documentation and its code; `all.ts` lists
 * them. It has two halves: the *shaper* runs in the worker threads and makes of an event what is to be delivered, the
 * *writer* runs once, in the hub's main thread, and delivers it.
 *
 * - The cursor moves only once every output has delivered the event's records.
 * - A shaper must not wait nor throw for what data brings; it refuses the event with a reason instead.
 * - A writer must resolve only when its records are where they belong. For a failure that may pass it throws (AppError with a
 *   retryable code) or names the records in `again`: the runtime tries again with growing waits. It names records that
 *   can never be delivered in `refused`: they go to the dead letters.
 * - A writer must open what it needs in `write` and not before, and give up at once when `signal` is aborted.
 * - After a crash the last records come once more: where the other side can recognise repetitions by `id`, it should.
 */

import type { Static, TObject } from "typebox";
import type { Event } from "#proto/event.ts";
import type { Clock } from "#proto/kit/clock.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Codec } from "./codec.ts";

/** Where a document of this installation's search engine goes. */
export interface DocumentTarget {
  readonly index: string;
  /** Empty: the id follows from the event's position in the log. */
  readonly id: string;
  /** What is done to the document; "index" without it. All but "index" and "create" need an id. */
  readonly action?: DocumentAction;
}

/** `upsert` merges into the document or makes it. */
export type DocumentAction = "index" | "create" | "update" | "upsert" | "delete";

/** What a writer delivers for one event. */
export interface ShapedRecord {
  /** Where it goes, as the writer understands it: a path, a topic, or JSON of several values. Few different ones are best. */
  readonly target: string;
  readonly body: Uint8Array;
}

/** An event that this output will never take. */
export interface Refusal {
  readonly refused: string;
}

/** The half in the worker threads: exactly one of the two. */
export type Shaper =
  /** Documents for this installation's search engine; undefined: the event is taken and not kept. */
  | { route(event: Event): DocumentTarget | Refusal | undefined }
  /** Records for the writer; undefined: there is nothing to deliver for the event. */
  | { shape(event: Event): ShapedRecord | Refusal | undefined };

/** A record in flight to a writer. */
export interface OutputRecord extends ShapedRecord {
  /** Of the event at this output: the same when it is delivered once more after a crash. */
  readonly id: string;
  /** The source that its event was read from; empty: unknown. */
  readonly sourceKey: string;
  /** Grows with the events of the source and the results of each; the same when it is delivered once more. */
  readonly place: number;
  /** The same for records of events that came in one message of the log. */
  readonly message?: object;
  /** ms since 1970-01-01 UTC. */
  readonly timeMs: number;
}

/** What a write left undone; an index is that of one of the records given. */
export interface WriteRest {
  /** Indexes of records that are to be tried again. */
  readonly again?: readonly number[];
  /** Records that are refused permanently. */
  readonly refused?: readonly { readonly place: number; readonly reason: string }[];
}

/** The half in the main thread. */
export interface OutputWriter {
  /** Writes that may run at the same time; 1 without it, and then records keep their order per source. */
  readonly parallel?: number;
  /** Delivers records in their order. See the rules above. */
  write(records: readonly OutputRecord[], signal: AbortSignal): Promise<WriteRest | undefined>;
  /** Closes what is open. No write is pending then. */
  stop(): Promise<void>;
}

/** What a writer gets besides its options. */
export interface WriterContext {
  /** Name of the output in metrics and messages: its `id`, or one made of its name and options. */
  readonly id: string;
  readonly log: Logger;
  readonly clock: Clock;
  /**
   * Returns a token of the connection with this name for requests to `host` (with its port unless that is the scheme's own), over
   * TLS or to this machine; `rejected`: the token the host has just refused with 401. Throws not_found, forbidden,
   * unauthenticated (people see "reconnect").
   */
  readonly bearer: (connection: string, host: string, rejected?: string) => Promise<string>;
  /** Hands records to the inputs `pipeline` with this address; resolves when they are durable in the log. Throws unavailable while there is none. */
  readonly feed: (address: string, records: readonly OutputRecord[]) => Promise<void>;
  /** Returns where a file may be written. Throws forbidden outside of the folders that the hub's settings allow. */
  readonly writablePath: (path: string) => string;
  /** Throws forbidden where pipelines may not connect to the host, as the hub's settings say. */
  readonly checkTarget: (host: string) => void;
}

export interface OutputContext {
  /** Returns the codec that an option made by `codecOption` names. */
  readonly codec: (value: unknown) => Codec;
  /** Reports a fault of an option that the schema can't detect. */
  readonly report: (severity: "error" | "warning", option: string, message: string, hint?: string) => void;
  /** Port of this machine where the hub's search interface answers only who signs in; undefined: that isn't known. */
  readonly signInPort?: number | undefined;
}

export interface OutputDefinition<O extends TObject = TObject, Values = NoInfer<Static<O>>> {
  readonly name: string;
  /** One sentence: where events go. */
  readonly description: string;
  readonly options: O;
  /** Makes the half of a worker thread; also called once where a pipeline is only checked. */
  create(options: Values, context: OutputContext): Shaper;
  /** Makes the half of the main thread, with the options that `create` accepted; absent or undefined: the shaper routes documents. */
  writer?(options: Values, context: WriterContext): OutputWriter | undefined;
}

/** Returns the definition; gives `create` the type of its options. */
export function defineOutput<O extends TObject>(definition: OutputDefinition<O>): OutputDefinition<O> {
  return definition;
}
