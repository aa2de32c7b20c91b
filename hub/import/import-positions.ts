/**
 * How far each index was imported. The positions are documents of an index in the importing hub: an import continues
 * from them whichever machine runs it, and a hub that was emptied has no positions either.
 */

import { isObject } from "#proto/kit/json.ts";
import { type ClusterClient, segmentOf } from "./cluster-client.ts";
import { flatSettings, type SourceIndex } from "./source-index.ts";

/** Prefix of the names of the hub's own indices. */
const OWN_PREFIX = ".tailrace-";
const INDEX = `${OWN_PREFIX}import`;

/**
 * Returns true if nothing may be imported to `target`: the index of positions, or a data stream with the name of one of
 * the hub's own indices.
 */
export function isOwnTarget({
  name,
  isStream,
}: {
  readonly name: string;
  readonly isStream: boolean;
}): boolean {
  return name === INDEX || (isStream && name.startsWith(OWN_PREFIX));
}

/** Position of one index: for each shard the sequence number to read next. */
export class IndexPosition {
  readonly #hub: ClusterClient;
  readonly #id: string;
  readonly #target: string;
  readonly #next: Map<number, number>;
  /** True: an earlier import wrote to the target, or was about to. */
  readonly wasBegun: boolean;

  /**
   * `target`: uuids of the hub's index, or of the indices of its data stream; a new one with the same name has others.
   * `next`: undefined if no import has begun.
   */
  constructor(hub: ClusterClient, id: string, target: string, next: Map<number, number> | undefined) {
    this.#hub = hub;
    this.#id = id;
    this.#target = target;
    this.#next = next ?? new Map();
    this.wasBegun = next !== undefined;
  }

  nextOf(shard: number): number {
    return this.#next.get(shard) ?? 0;
  }

  /** Records that the hub has the documents of `shard` below `next`. Throws as `ClusterClient.ask`. */
  async save(shard: number, next: number): Promise<void> {
    this.#next.set(shard, next);
    await this.begin();
  }

  /** Records that an import has begun. Throws as `ClusterClient.ask`. */
  async begin(): Promise<void> {
    const body = { target: this.#target, next: JSON.stringify([...this.#next]) };
    await this.#hub.ask("PUT", `/${INDEX}/_doc/${segmentOf(this.#id)}`, body);
  }
}

/** Reads the position of `index` in the hub's index `target`. Throws as `ClusterClient.ask`. */
export async function readPosition(
  hub: ClusterClient,
  index: SourceIndex,
  target: string,
): Promise<IndexPosition> {
  const answer = await hub.find(`/${segmentOf(target)}/_settings`);
  const uuids = Object.values(answer ?? {}).map((one) =>
    isObject(one) ? String(flatSettings(one["settings"])["uuid"] as string) : "",
  );
  const saved = await hub.find(`/${INDEX}/_doc/${segmentOf(index.uuid)}`);
  const { target: of, next } = isObject(saved?.["_source"]) ? saved["_source"] : {};
  // A data stream gets new indices and loses old ones. If none is left, it is a different stream.
  const isSame = typeof of === "string" && of.split(",").some((uuid) => uuids.includes(uuid));
  const entries = isSame && typeof next === "string" ? (JSON.parse(next) as [number, number][]) : undefined;
  return new IndexPosition(hub, index.uuid, uuids.join(","), entries && new Map(entries));
}
