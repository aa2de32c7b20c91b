/** Records of one kind by name. The bucket of the index catalog is authoritative; this hub's copy follows it. */

import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { encodeName, nameIn } from "./catalog-keys.ts";

export class NamedRecords<T> {
  readonly #bucket: StateBucket;
  readonly #prefix: string;
  readonly #records = new Map<string, T>();
  readonly #revisions = new Map<string, number>();

  /** `prefix` of the keys, different for each kind. */
  constructor(bucket: StateBucket, prefix: string) {
    this.#bucket = bucket;
    this.#prefix = prefix;
  }

  /** By name. */
  all(): Readonly<Record<string, T>> {
    return Object.fromEntries(this.#records);
  }

  get(name: string): T | undefined {
    return this.#records.get(name);
  }

  /** Stores `record`, which must be JSON. */
  async put(name: string, record: T): Promise<void> {
    const key = this.#prefix + encodeName(name);
    const bytes = Buffer.from(JSON.stringify(record));
    this.take(key, bytes, await this.#bucket.put(key, bytes));
  }

  async delete(names: readonly string[]): Promise<void> {
    for (const name of names) {
      await this.#bucket.delete(this.#prefix + encodeName(name));
      this.#records.delete(name);
    }
  }

  /** Applies a change of the bucket; `value` null: removed. Older revisions and other keys have no effect. */
  take(key: string, value: Uint8Array | null, revision: number): void {
    const name = nameIn(key, this.#prefix);
    if (name === undefined || revision <= (this.#revisions.get(key) ?? 0)) return;
    if (value === null) {
      this.#records.delete(name);
      return;
    }
    this.#revisions.set(key, revision);
    this.#records.set(name, JSON.parse(Buffer.from(value).toString()) as T);
  }
}
