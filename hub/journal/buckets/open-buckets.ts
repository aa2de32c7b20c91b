/** The state buckets of this process, each opened once and recreated if the server lost it. */

import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { NatsBucket, type NatsBucketOptions } from "./nats-bucket.ts";

/** Options shared by all buckets of a hub. */
export type BucketGround = Omit<NatsBucketOptions, "name">;

export class OpenBuckets {
  readonly #ground: BucketGround;
  readonly #open = new Map<string, Promise<NatsBucket>>();

  constructor(ground: BucketGround) {
    this.#ground = ground;
  }

  /**
   * Returns the bucket, created if missing. Name: letters, digits, - and _. A failed open is retried at the next
   * call.
   */
  open(name: string): Promise<StateBucket> {
    const open = this.#open.get(name) ?? NatsBucket.open({ ...this.#ground, name });
    this.#open.set(name, open);
    open.catch(() => this.#open.delete(name));
    return open;
  }

  /** Recreates the buckets that the server has lost. */
  async restore(): Promise<void> {
    for (const bucket of this.#open.values()) await (await bucket).ensure();
  }

  /** Forgets all buckets: the next start opens them again. */
  clear(): void {
    this.#open.clear();
  }
}
