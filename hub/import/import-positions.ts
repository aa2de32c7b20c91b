/**
 * How far each index was imported, kept as documents of an index in the hub that imports: an import goes on from there,
 * whichever machine runs it, and a hub that was emptied has no positions either.
 */

import { isObject } from "#proto/kit/json.ts";
import { type ClusterClient, segmentOf } from "./cluster-client.ts";
import { flatSettings, type SourceIndex } from "./source-index.ts";

/** Names of the hub's own indices begin so. */
const OWN_PREFIX = ".tailrace-";
const INDEX = `${OWN_PREFIX}import`;

/** Returns true where nothing may be imported to `target`: the positions, and data streams by the name of a hub's index. */
export function isOwnTarget({
  name,
  isStream,
}: {
  readonly name: string;
  readonly isStream: boolean;
}): boolean {
  return name === INDEX || (isStream && name.startsWith(OWN_PREFIX));
}

/** Position of one index: by shard, the sequence number that is read next. */
export class IndexPosition {
  readonly #hub: ClusterClient;
  readonly #id: string;
  readonly #target: string;
  readonly #next: Map<number, number>;
  /** An earlier import wrote to the target, or was about to. */
  readonly wasBegun: boolean;

  /**
   * `target`: uuids of the hub's index, or of those of its data stream, which a new one of the name doesn't share. `next`:
   * undefined where no import began.
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

  /** Notes that the hub has the documents of `shard` below `next`. Throws as `ClusterClient.ask`. */
  async save(shard: number, next: number): Promise<void> {
    this.#next.set(shard, next);
    await this.begin();
  }

  /** Notes that an import has begun. Throws as `ClusterClient.ask`. */
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
  // A data stream gets new indices and loses old ones; it is another one when none is left.
  const isSame = typeof of === "string" && of.split(",").some((uuid) => uuids.includes(uuid));
  const entries = isSame && typeof next === "string" ? (JSON.parse(next) as [number, number][]) : undefined;
  return new IndexPosition(hub, index.uuid, uuids.join(","), entries && new Map(entries));
}
