/**
 * Writes the registry's changes to its database, once a second and on demand. After a failure the agent keeps shipping,
 * and the database is reopened before the next attempt: after a full disk its log may end in half a record, after which
 * nothing is readable, and other failures leave it read-only.
 */

import type { Logger } from "#proto/kit/log.ts";
import type { Counter } from "#proto/kit/metrics.ts";
import type { Database } from "./store.ts";

export interface CheckpointOptions {
  /** Opens the database, as it was opened at the start. */
  readonly open: () => Promise<Database>;
  /** Returns the current value of a key; undefined: the key is to be deleted. */
  readonly valueOf: (key: string) => string | undefined;
  /** Returns every key there is. */
  readonly keys: () => Iterable<string>;
  /** Called after each checkpoint that is on disk. */
  readonly onWritten: () => void;
  /** `path.data`, for messages. */
  readonly folder: string;
  readonly failures: Counter;
  readonly log: Logger;
}

/** Loss of this much is repeated after a crash of the machine; more often would cost more than it saves. */
const EVERY_MS = 1_000;
/** In parts: the text of ten thousand rows would take the memory that the agent has. */
const KEYS_PER_BATCH = 500;

export class Checkpoints {
  readonly #options: CheckpointOptions;
  readonly #changed = new Set<string>();
  #database: Database | null;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  #queued: Promise<void> | undefined;
  #problem = "";

  constructor(database: Database, options: CheckpointOptions) {
    this.#database = database;
    this.#options = options;
    this.#timer = setInterval(() => void this.write(), EVERY_MS);
  }

  /** Why the last checkpoint failed; empty if it did not. */
  get problem(): string {
    return this.#problem;
  }

  /** Records that the value of a key has changed. */
  touch(key: string): void {
    this.#changed.add(key);
  }

  /**
   * Writes what has changed, durably. Never rejects: on a full disk the agent continues shipping and tries again.
   * Callers that come while a write is in progress share the next one.
   */
  write(): Promise<void> {
    this.#queued ??= this.#writing.then(() => {
      this.#queued = undefined;
      this.#writing = this.#write();
      return this.#writing;
    });
    return this.#queued;
  }

  /** Writes what has changed, marks the end as one in order with `mark`, and closes the database. */
  async close(mark: readonly [key: string, value: string]): Promise<void> {
    clearInterval(this.#timer);
    await this.write();
    const database = this.#database;
    this.#database = null;
    try {
      if (this.#problem === "") await database?.put(...mark);
    } catch (error) {
      this.#options.log.debug({ error }, "the end of the registry can't be marked"); // the next start reads on anyway
    } finally {
      await database?.close();
    }
  }

  async #write(): Promise<void> {
    if (this.#changed.size === 0) return;
    const keys = [...this.#changed];
    this.#changed.clear();
    try {
      this.#database ??= await this.#openAnew(keys);
      for (let at = 0; at < keys.length; at += KEYS_PER_BATCH) {
        const operations = this.#operationsOf(keys.slice(at, at + KEYS_PER_BATCH));
        const sync = at + KEYS_PER_BATCH >= keys.length;
        await this.#database.batch(operations, { sync } as object);
      }
    } catch (error) {
      await this.#fail(keys, error as Error);
      return;
    }
    if (this.#problem !== "") this.#options.log.info("the registry can be written again");
    this.#problem = "";
    this.#options.onWritten();
  }

  /** Opens the database and adds every key to `keys`: what it kept of the failed writes is unknown. */
  async #openAnew(keys: string[]): Promise<Database> {
    const database = await this.#options.open();
    const known = new Set(keys);
    for (const key of this.#options.keys()) if (!known.has(key)) keys.push(key);
    return database;
  }

  async #fail(keys: readonly string[], error: Error): Promise<void> {
    const { folder, log, failures } = this.#options;
    for (const key of keys) this.#changed.add(key);
    failures.inc();
    const problem = `the registry in ${folder} can't be written: ${error.message}`;
    if (this.#problem === "")
      log.error({ error }, `${problem}; shipping continues, a restart would resend data`);
    this.#problem = problem;
    const database = this.#database;
    this.#database = null;
    await database?.close().catch((closing: unknown) => log.debug({ error: closing }, "closing it failed"));
  }

  #operationsOf(keys: readonly string[]) {
    return keys.map((key) => {
      const value = this.#options.valueOf(key);
      return value === undefined ? { type: "del" as const, key } : { type: "put" as const, key, value };
    });
  }
}
