/**
 * Sends a host the messages of DOC that it reads. Their memory is transferred, and they are sent ahead only as far as the
 * host keeps up.
 */

import type { DocEntry } from "#hub/cluster/shards/log-follower.ts";
import type { Peer } from "#hub/host/wire/peer.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { KIB } from "#proto/kit/units.ts";
import type { Position } from "#proto/position.ts";

/** Maximum bytes and messages sent ahead to a host; a single message may be larger. */
const AHEAD_BYTES = 8 * 1024 * 1024;
const AHEAD_MESSAGES = 256;
/** Documents of at most so many bytes ahead of a host are few: they take it less time than a search's slice. */
const FEW_BYTES = 64 * KIB;

/** See LogFollowerOptions.read. */
export type ReadDocs = (after: Position, signal: AbortSignal) => AsyncIterable<DocEntry>;

/** A reading of the host. */
interface Reading {
  readonly number: number;
  readonly abort: AbortController;
  bytesAhead: number;
  messagesAhead: number;
  taken: PromiseWithResolvers<void>;
}

export class DocFeed {
  readonly #host: Pick<Peer, "notify">;
  readonly #read: ReadDocs;
  #reading: Reading | undefined;
  #running: Promise<void> = Promise.resolve();
  readonly #onFew: () => void;
  #sent: Position | undefined;

  /** `onFew` is called before a message is sent with which the host has only few documents to write. */
  constructor(host: Pick<Peer, "notify">, read: ReadDocs, onFew: () => void) {
    this.#host = host;
    this.#read = read;
    this.#onFew = onFew;
  }

  /** The last message that was sent; undefined before the first. */
  get sent(): Position | undefined {
    return this.#sent;
  }

  /** Begins a reading and ends the previous one. */
  begin({ reading, after }: { readonly reading: number; readonly after: Position }): void {
    this.#reading?.abort.abort();
    const next: Reading = {
      number: reading,
      abort: new AbortController(),
      bytesAhead: 0,
      messagesAhead: 0,
      taken: Promise.withResolvers(),
    };
    this.#reading = next;
    this.#running = this.#running.then(() => this.#run(next, after));
  }

  /** Called when the host has finished with a message of this many bytes. */
  credit({ reading, bytes }: { readonly reading: number; readonly bytes: number }): void {
    const current = this.#reading;
    if (current?.number !== reading) return;
    current.bytesAhead -= bytes;
    current.messagesAhead--;
    current.taken.resolve();
  }

  /** Ends a reading. */
  end({ reading }: { readonly reading: number }): void {
    if (this.#reading?.number === reading) this.#reading.abort.abort();
  }

  /** Ends everything and waits for it. */
  async stop(): Promise<void> {
    this.#reading?.abort.abort();
    await this.#running;
  }

  async #run(reading: Reading, after: Position): Promise<void> {
    const { signal } = reading.abort;
    const wake = (): void => reading.taken.resolve();
    signal.addEventListener("abort", wake, { once: true });
    try {
      if (signal.aborted) return;
      for await (const message of this.#read(after, signal)) {
        while (message.data !== null && isFull(reading) && !signal.aborted) {
          reading.taken = Promise.withResolvers();
          await reading.taken.promise;
        }
        if (signal.aborted) return;
        this.#send(reading, message);
      }
      if (!signal.aborted) this.#fail(reading, new AppError("closed", "reading the log has ended"));
    } catch (error) {
      if (!signal.aborted) this.#fail(reading, error);
    } finally {
      signal.removeEventListener("abort", wake);
    }
  }

  #send(reading: Reading, { position, data }: DocEntry): void {
    this.#sent = position;
    if (data === null) {
      this.#host.notify("passed", { reading: reading.number, position });
      return;
    }
    reading.bytesAhead += data.length;
    reading.messagesAhead++;
    if (reading.bytesAhead <= FEW_BYTES) this.#onFew();
    this.#host.notify("doc", { reading: reading.number, position }, [data]);
  }

  #fail({ number }: Reading, error: unknown): void {
    this.#host.notify("readingFailed", { reading: number, error: toAppError(error) });
  }
}

function isFull({ bytesAhead, messagesAhead }: Reading): boolean {
  return messagesAhead > 0 && (bytesAhead >= AHEAD_BYTES || messagesAhead >= AHEAD_MESSAGES);
}
