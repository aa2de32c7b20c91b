/** A host's copy of the index metadata, which the front sends: all indices at first, then each change. */

import { decodeIndex, encodeIndex, type IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import type { HostedCatalog } from "#hub/cluster/shards/contract.ts";
import type { Peer } from "./wire/peer.ts";

type Listener = (index: IndexMetadata | undefined, uuid: string) => void;

export class HostCatalog implements HostedCatalog {
  readonly #front: Pick<Peer, "call">;
  readonly #byUuid = new Map<string, IndexMetadata>();
  readonly #listeners: Listener[] = [];

  constructor(front: Pick<Peer, "call">) {
    this.#front = front;
  }

  all(): IndexMetadata[] {
    return [...this.#byUuid.values()];
  }

  byUuid(uuid: string): IndexMetadata | undefined {
    return this.#byUuid.get(uuid);
  }

  onChange(listener: Listener): void {
    this.#listeners.push(listener);
  }

  /** See IndexCatalog.catchUp; the front's new knowledge arrives here before the promise resolves. */
  catchUp(uuid: string, mappingVersion: number): Promise<void> | undefined {
    const index = this.#byUuid.get(uuid);
    if (index !== undefined && index.mapping.version >= mappingVersion) return undefined;
    return this.#front.call("catchUp", { uuid, mappingVersion }).then(() => undefined);
  }

  /** See IndexCatalog.restore; the added index arrives here before the promise resolves. */
  async restore(index: IndexMetadata): Promise<boolean> {
    const { value } = await this.#front.call("restore", null, { parts: [encodeIndex(index)] });
    return value === true;
  }

  /** Takes a new or changed index in its stored form. */
  take(stored: Uint8Array): void {
    const index = decodeIndex(stored);
    this.#byUuid.set(index.uuid, index);
    for (const listener of this.#listeners) listener(index, index.uuid);
  }

  /** Drops a deleted index. */
  drop(uuid: string): void {
    if (!this.#byUuid.delete(uuid)) return;
    for (const listener of this.#listeners) listener(undefined, uuid);
  }
}
