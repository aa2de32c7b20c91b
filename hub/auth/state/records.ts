/**
 * Typed records in a state bucket, each under `<prefix>.<id>`, changed by compare-and-set, with an expiry.
 * The stored form is JSON: {"v":1,"exp":<ms since 1970 or null>,"data":<record>}.
 */

import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";

/** Version of the stored form. */
const VERSION = 1;
/** Attempts of a compare-and-set before the record is considered too contended. Each lost attempt means that another writer won. */
const ATTEMPTS = 32;

/** Dependencies of every store. */
export interface Store {
  readonly bucket: StateBucket;
  readonly clock: Clock;
}

/** A record as it was read. */
export interface Stored<T> {
  readonly id: string;
  readonly data: T;
  /** ms since 1970, null: never. */
  readonly expiresAt: number | null;
  readonly revision: number;
}

interface Envelope {
  readonly v: number;
  readonly exp: number | null;
  readonly data: unknown;
}

/** The records of one kind. `T` must survive JSON. */
export class Records<T> {
  readonly #bucket: StateBucket;
  readonly #clock: Clock;
  readonly #prefix: string;

  /** `prefix`: the kind's name, of [a-z0-9-], dots allowed between parts. */
  constructor({ bucket, clock }: Store, prefix: string) {
    this.#bucket = bucket;
    this.#clock = clock;
    this.#prefix = `${prefix}.`;
  }

  /** Returns the record, or null if it is missing or expired. */
  async get(id: string): Promise<Stored<T> | null> {
    const entry = await this.#bucket.get(this.#prefix + id);
    if (entry === null) return null;
    const envelope = readEnvelope(entry.key, entry.value);
    if (envelope.exp !== null && envelope.exp <= this.#clock.now()) return null;
    return { id, data: envelope.data as T, expiresAt: envelope.exp, revision: entry.revision };
  }

  /** Stores a new record. Throws journal_conflict if one exists. */
  create(id: string, data: T, expiresAt: number | null = null): Promise<number> {
    return this.#bucket.create(this.#prefix + id, writeEnvelope(data, expiresAt));
  }

  /** Stores the record, whether or not one exists. */
  put(id: string, data: T, expiresAt: number | null = null): Promise<number> {
    return this.#bucket.put(this.#prefix + id, writeEnvelope(data, expiresAt));
  }

  /** Replaces the record that was read. Throws journal_conflict if it has changed since. */
  update(read: Stored<T>, data: T, expiresAt: number | null = read.expiresAt): Promise<number> {
    return this.#bucket.update(this.#prefix + read.id, writeEnvelope(data, expiresAt), read.revision);
  }

  /**
   * Changes a record by compare-and-set, repeatedly until it wins. `change` may be called again with a newer record and
   * returns null to leave it unchanged. Returns the resulting record, or null if it is missing. Throws unavailable.
   */
  async change(id: string, change: (data: T) => T | null): Promise<T | null> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const read = await this.get(id);
      if (read === null) return null;
      const data = change(read.data);
      if (data === null) return read.data;
      if (await won(this.update(read, data))) return data;
    }
    throw new AppError("unavailable", `record ${this.#prefix}${id} changes too often; try again`);
  }

  /**
   * Removes a record and returns it. Of several concurrent callers exactly one gets it. `known`: the record as this process
   * stored it; if it is unchanged, it isn't read.
   */
  async take(id: string, known?: Stored<T>): Promise<T | null> {
    if (known !== undefined && (await won(this.delete(id, known.revision)))) return known.data;
    const read = await this.get(id);
    if (read === null) return null;
    return (await won(this.delete(id, read.revision))) ? read.data : null;
  }

  /** Deletes a record. With `revision`: only if that is the newest, else throws journal_conflict. */
  delete(id: string, revision?: number): Promise<void> {
    return this.#bucket.delete(this.#prefix + id, revision);
  }

  /** Returns the ids that start with `start`, in no particular order. Some of them may have expired. */
  async ids(start = ""): Promise<string[]> {
    const keys = await this.#bucket.keys(this.#prefix + start);
    return keys.map((key) => key.slice(this.#prefix.length));
  }

  /** Returns the unexpired records whose ids start with `start`. */
  async list(start = ""): Promise<Stored<T>[]> {
    const found: Stored<T>[] = [];
    for (const id of await this.ids(start)) {
      const read = await this.get(id);
      if (read !== null) found.push(read);
    }
    return found;
  }
}

/** Returns true if the compare-and-set won, false if another writer was first. Rethrows other errors. */
export async function won(attempt: Promise<unknown>): Promise<boolean> {
  try {
    await attempt;
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === "journal_conflict") return false;
    throw error;
  }
}

/** Returns the expiry of a stored record, ms since 1970; null if it has none or the value is not a record. */
export function expiryOf(value: Uint8Array): number | null {
  try {
    const { exp } = JSON.parse(Buffer.from(value).toString()) as Partial<Envelope>;
    return typeof exp === "number" ? exp : null;
  } catch {
    return null;
  }
}

function writeEnvelope(data: unknown, expiresAt: number | null): Uint8Array {
  const envelope: Envelope = { v: VERSION, exp: expiresAt, data };
  return Buffer.from(JSON.stringify(envelope));
}

function readEnvelope(key: string, value: Uint8Array): Envelope {
  let envelope: Partial<Envelope> | null = null;
  try {
    envelope = JSON.parse(Buffer.from(value).toString()) as Partial<Envelope> | null;
  } catch (cause) {
    throw new AppError("data_corrupt", `record ${key} of the state isn't JSON`, { cause });
  }
  if (envelope?.v !== VERSION) {
    throw new AppError(
      "data_corrupt",
      `record ${key} of the state has version ${envelope?.v}; version 1 is supported`,
    );
  }
  return { v: VERSION, exp: envelope.exp ?? null, data: envelope.data };
}
