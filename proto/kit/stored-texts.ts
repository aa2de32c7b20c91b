/** Texts by id that all hubs share: kept in a state bucket, read at the start and followed from then on. */

import { systemClock } from "./clock.ts";
import { AppError } from "./errors.ts";
import type { Component } from "./lifecycle.ts";
import type { Logger } from "./log.ts";
import type { StateBucket } from "./state-bucket.ts";

/** Longest id, bytes of UTF-8. */
const MAX_ID = 256;
/** A watch that ended is begun again after this long. */
const WATCH_AGAIN_MS = 1_000;

/** What the texts are, and how many there may be. */
export interface TextKind {
  /** In messages, e.g. "ingest pipeline". */
  readonly noun: string;
  /** Start of their keys in the bucket, e.g. "ingest/". */
  readonly prefix: string;
  /** Longest text, characters. */
  readonly maxChars: number;
  readonly maxCount: number;
}

export class StoredTexts implements Component {
  readonly #bucket: StateBucket;
  readonly #kind: TextKind;
  readonly #log: Logger;
  readonly #changed: () => void;
  readonly #stopping = new AbortController();
  readonly #texts = new Map<string, string>();
  #following: Promise<void> = Promise.resolve();

  /** `changed` is called after each change, here or by another hub, and once after the start. */
  constructor(bucket: StateBucket, kind: TextKind, log: Logger, changed: () => void = () => undefined) {
    this.#bucket = bucket;
    this.#kind = kind;
    this.#log = log;
    this.#changed = changed;
  }

  async start(): Promise<void> {
    for (const key of await this.#bucket.keys(this.#kind.prefix)) {
      const entry = await this.#bucket.get(key);
      if (entry !== null) this.#texts.set(this.#idOf(key), Buffer.from(entry.value).toString());
    }
    this.#changed();
    this.#following = this.#follow();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#following;
  }

  get(id: string): string | undefined {
    return this.#texts.get(id);
  }

  /** Returns all texts, by id in alphabetical order. */
  all(): ReadonlyMap<string, string> {
    return new Map([...this.#texts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Throws request_invalid for an id that can't be used or one text too many, request_too_large. */
  check(id: string, text: string): void {
    const { noun, maxChars, maxCount } = this.#kind;
    if (id === "" || Buffer.byteLength(id) > MAX_ID || /[*,\s]/.test(id))
      throw new AppError(
        "request_invalid",
        `[${id}] isn't an id of a ${noun}: 1 to ${MAX_ID} bytes without blanks, * and ,`,
      );
    if (text.length > maxChars)
      throw new AppError("request_too_large", `a ${noun}'s definition has at most ${maxChars} characters`);
    if (!this.#texts.has(id) && this.#texts.size >= maxCount)
      throw new AppError("request_invalid", `there are ${maxCount} ${noun}s already: delete one first`);
  }

  /** Stores a text. Throws what `check` throws, unavailable, timeout. */
  async put(id: string, text: string): Promise<void> {
    this.check(id, text);
    await this.#bucket.put(this.#keyOf(id), Buffer.from(text));
    this.#texts.set(id, text);
    this.#changed();
  }

  async delete(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      await this.#bucket.delete(this.#keyOf(id));
      this.#texts.delete(id);
    }
    this.#changed();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        for await (const { key, value } of this.#bucket.watch(signal)) {
          if (!key.startsWith(this.#kind.prefix)) continue;
          if (value === null) this.#texts.delete(this.#idOf(key));
          else this.#texts.set(this.#idOf(key), Buffer.from(value).toString());
          this.#changed();
        }
      } catch (error) {
        if (!signal.aborted)
          this.#log.warn({ err: error }, `changes of ${this.#kind.noun}s can't be seen now`);
      }
      await systemClock.sleep(WATCH_AGAIN_MS, signal);
    }
  }

  #keyOf(id: string): string {
    return `${this.#kind.prefix}${Buffer.from(id).toString("base64url")}`;
  }

  #idOf(key: string): string {
    return Buffer.from(key.slice(this.#kind.prefix.length), "base64url").toString();
  }
}
