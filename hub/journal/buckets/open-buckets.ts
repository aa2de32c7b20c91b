/** The state buckets that this process uses, each opened once and made again where the server lost it. */

import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { NatsBucket, type NatsBucketOptions } from "./nats-bucket.ts";

/** What all buckets of a hub share. */
export type BucketGround = Omit<NatsBucketOptions, "name">;

export class OpenBuckets {
  readonly #ground: BucketGround;
  readonly #open = new Map<string, Promise<NatsBucket>>();

  constructor(ground: BucketGround) {
    this.#ground = ground;
  }

  /** Returns the bucket, made where there is none. Name: letters, digits, - and _. A failed opening is tried again. */
  open(name: string): Promise<StateBucket> {
    const open = this.#open.get(name) ?? NatsBucket.open({ ...this.#ground, name });
    this.#open.set(name, open);
    open.catch(() => this.#open.delete(name));
    return open;
  }

  /** Makes those again that the server no longer has. */
  async restore(): Promise<void> {
    for (const bucket of this.#open.values()) await (await bucket).ensure();
  }

  /** Forgets all: the next start opens them anew. */
  clear(): void {
    this.#open.clear();
  }
}
