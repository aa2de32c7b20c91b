/**
 * One reading of DOC for several hosts: each gets the messages of its shards, and learns regularly how far those of the
 * others reach. A host that doesn't take its messages holds up the others for a short time only; what it missed is read
 * again for it.
 */

import type { DocEntry, DocMessage } from "#hub/cluster/hosting/log-follower.ts";
import { ownerOf } from "#hub/cluster/hosting/shard-owner.ts";
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

/** Messages that wait for a host here; it has more ahead, see DocFeed. */
const MAX_WAITING = 16;
/** How long the others wait for a host that takes none. */
const HOLD_MS = 1_000;
/** Interval in which hosts learn how far the messages of others reach. */
const PASS_MS = 100;

/** The reading of one host. */
class Subscription {
  readonly host: number;
  readonly signal: AbortSignal;
  /** Everything up to here was put into the queue, or is of others. */
  reached: Position;
  /** The position that the host was last sent. */
  sent: Position;
  /** True: it was too slow, and what follows `reached` must be read again. */
  isBehind = false;
  /** True: it is time to say how far the messages of others reach. */
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
  #hasty = 0;
  #running: Promise<void> = Promise.resolve();

  /** `hosts`: how many there are. */
  constructor(read: ReadLog, hosts: number, clock: Clock) {
    this.#read = read;
    this.#hosts = hosts;
    this.#clock = clock;
  }

  /** Returns the reading of a host; one at a time for each. */
  readerOf(host: number): ReadDocs {
    return (after, signal) => this.#subscribe(new Subscription(host, after, signal));
  }

  /** Lets hosts learn at once how far the messages of others reach, until `reached` is settled; returns that. */
  async hasten<T>(reached: Promise<T>): Promise<T> {
    this.#hasty++;
    this.#pass(this.#subscriptions);
    try {
      return await reached;
    } finally {
      this.#hasty--;
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
      // Who begins later gets nothing of this reading, which may be further on.
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
    if (this.#hasty > 0) this.#pass(readers);
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

/** Fails the readings that were to go on from a position; the others are continued without them. */
function fail(readers: Iterable<Subscription>, from: Position, failure: AppError): void {
  for (const each of readers) {
    if (comparePositions(each.reached, from) > 0) continue;
    each.failure = failure;
    each.wake();
  }
}
