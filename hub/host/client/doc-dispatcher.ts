/**
 * One reading of DOC for several hosts. Each host gets the messages of its shards, and regularly the position up to which
 * all other messages belong to other hosts. A host that doesn't take its messages holds up the others only briefly; the
 * messages that it missed are read again for it.
 */

import type { DocEntry, DocMessage } from "#hub/cluster/shards/log-follower.ts";
import { ownerOf } from "#hub/cluster/shards/shard-owner.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { comparePositions, type Position } from "#proto/position.ts";
import { shardOfDoc } from "#proto/subjects.ts";
import type { ReadDocs } from "./doc-feed.ts";

/** A message of DOC with the subject that names its shard. */
export interface AddressedDoc extends DocMessage {
  readonly subject: string;
}

/** Yields messages as LogFollowerOptions.read does. */
export type ReadLog = (after: Position, signal: AbortSignal) => AsyncIterable<AddressedDoc>;

/** Maximum messages that wait here for a host; DocFeed sends it more ahead. */
const MAX_WAITING = 16;
/** How long the others wait for a host that takes no messages. */
const HOLD_MS = 1_000;
/** Interval at which hosts get the position up to which messages belong to others. */
const PASS_MS = 100;

/** The reading of one host. */
class Subscription {
  readonly host: number;
  readonly signal: AbortSignal;
  /** Everything up to here was put into the queue, or belongs to others. */
  reached: Position;
  /** The last position that was sent to the host. */
  sent: Position;
  /** True: it was too slow, and the messages after `reached` must be read again. */
  isBehind = false;
  /** True: the position up to which messages belong to others is due. */
  isPassDue = false;
  failure: AppError | undefined;
  readonly queue: DocMessage[] = [];
  changed = Promise.withResolvers<void>();
  taken = Promise.withResolvers<void>();

  constructor(host: number, after: Position, signal: AbortSignal) {
    this.host = host;
    this.signal = signal;
    this.reached = after;
    this.sent = after;
  }

  get isFull(): boolean {
    return this.queue.length >= MAX_WAITING;
  }

  add(message: DocMessage): void {
    this.queue.push(message);
    this.changed.resolve();
  }

  wake(): void {
    this.changed.resolve();
    this.taken.resolve();
  }
}

export class DocDispatcher {
  readonly #read: ReadLog;
  readonly #clock: Clock;
  readonly #hosts: number;
  readonly #subscriptions = new Set<Subscription>();
  #reading: AbortController | undefined;
  /** Callers that wait for a position. */
  #urgent = 0;
  #running: Promise<void> = Promise.resolve();

  /** `hosts`: number of hosts. */
  constructor(read: ReadLog, hosts: number, clock: Clock) {
    this.#read = read;
    this.#hosts = hosts;
    this.#clock = clock;
  }

  /** Returns the reading of a host; one at a time for each. */
  readerOf(host: number): ReadDocs {
    return (after, signal) => this.#subscribe(new Subscription(host, after, signal));
  }

  /** Sends hosts the positions of others' messages without delay until `reached` settles; returns its result. */
  async expedite<T>(reached: Promise<T>): Promise<T> {
    this.#urgent++;
    this.#pass(this.#subscriptions);
    try {
      return await reached;
    } finally {
      this.#urgent--;
    }
  }

  async *#subscribe(own: Subscription): AsyncIterable<DocEntry> {
    const wake = (): void => own.wake();
    own.signal.addEventListener("abort", wake, { once: true });
    const passing = setInterval(() => {
      own.isPassDue = true;
      own.changed.resolve();
    }, PASS_MS).unref();
    this.#subscriptions.add(own);
    this.#restart();
    try {
      while (!own.signal.aborted) {
        const message = own.queue.shift();
        if (message !== undefined) {
          own.sent = message.position;
          own.taken.resolve();
          yield message;
        } else if (own.failure !== undefined) throw own.failure;
        else if (own.isBehind) this.#rejoin(own);
        else if (own.isPassDue && comparePositions(own.reached, own.sent) > 0) {
          own.isPassDue = false;
          own.sent = own.reached;
          yield { position: own.sent, data: null };
        } else {
          own.changed = Promise.withResolvers();
          await own.changed.promise;
        }
      }
    } finally {
      clearInterval(passing);
      own.signal.removeEventListener("abort", wake);
      this.#subscriptions.delete(own);
      own.wake();
    }
  }

  #rejoin(own: Subscription): void {
    own.isBehind = false;
    this.#restart();
  }

  /** Reads again from the lowest position that a host needs. */
  #restart(): void {
    this.#reading?.abort();
    const reading = new AbortController();
    this.#reading = reading;
    this.#running = this.#running.then(() => this.#run(reading.signal));
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // A subscription that begins later gets nothing of this reading, which may be past its position.
      const readers = new Set(this.#active());
      const [lowest] = [...readers].toSorted((a, b) => comparePositions(a.reached, b.reached));
      if (lowest === undefined) return;
      const from = lowest.reached;
      try {
        for await (const message of this.#read(from, signal)) {
          if (signal.aborted) return;
          await this.#dispatch(message, readers);
        }
        if (!signal.aborted) fail(readers, from, new AppError("closed", "reading the log has ended"));
      } catch (error) {
        if (!signal.aborted) fail(readers, from, toAppError(error));
      }
    }
  }

  #active(): Subscription[] {
    return [...this.#subscriptions].filter(
      ({ failure, isBehind, signal }) => failure === undefined && !isBehind && !signal.aborted,
    );
  }

  async #dispatch({ subject, position, data }: AddressedDoc, readers: Set<Subscription>): Promise<void> {
    const { indexUuid, shard } = shardOfDoc(subject);
    const owner = ownerOf(indexUuid, shard, this.#hosts);
    for (const each of readers) {
      if (each.host !== owner || comparePositions(position, each.reached) <= 0) continue;
      if (each.isFull) await this.#waitFor(each);
      if (each.signal.aborted || each.isBehind) readers.delete(each);
      else each.add({ position, data });
    }
    for (const each of readers) if (comparePositions(position, each.reached) > 0) each.reached = position;
    if (this.#urgent > 0) this.#pass(readers);
  }

  #pass(readers: Iterable<Subscription>): void {
    for (const each of readers) {
      each.isPassDue = true;
      each.changed.resolve();
    }
  }

  /** Waits until a host has taken a message; one that takes none for too long is left behind. */
  async #waitFor(receiver: Subscription): Promise<void> {
    const late = new AbortController();
    const timer = this.#clock.sleep(HOLD_MS, late.signal).then(() => "late" as const);
    while (receiver.isFull && !receiver.signal.aborted) {
      receiver.taken = Promise.withResolvers();
      const first = await Promise.race([receiver.taken.promise, timer]);
      if (first !== "late") continue;
      receiver.isBehind = true;
      return;
    }
    late.abort();
  }
}

/** Fails the readings that had to continue from a position; the others continue without them. */
function fail(readers: Iterable<Subscription>, from: Position, failure: AppError): void {
  for (const each of readers) {
    if (comparePositions(each.reached, from) > 0) continue;
    each.failure = failure;
    each.wake();
  }
}
