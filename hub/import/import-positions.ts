/**
 * How far each index was imported, kept as documents of an index in the hub that imports: an import goes on from there,
 * whichever machine runs it, and a hub that was emptied has no positions either.
 */

import { isObject } from "#proto/kit/json.ts";
import type { ClusterClient } from "./cluster-client.ts";
import { flatSettings, type SourceIndex } from "./source-index.ts";

const INDEX = ".tailrace-import";

/** Position of one index: by shard, the sequence number that is read next. */
export class IndexPosition {
  readonly #hub: ClusterClient;
  readonly #id: string;
  readonly #target: string;
  readonly #next: Map<number, number>;

  /** `target`: uuid of the hub's index, which a new index of the name doesn't share. */
  constructor(hub: ClusterClient, id: string, target: string, next: Map<number, number>) {
    this.#hub = hub;
    this.#id = id;
    this.#target = target;
    this.#next = next;
  }

  nextOf(shard: number): number {
    return this.#next.get(shard) ?? 0;
  }

  /** Notes that the hub has the documents of `shard` below `next`. Throws as `ClusterClient.ask`. */
  async save(shard: number, next: number): Promise<void> {
    this.#next.set(shard, next);
    const body = { target: this.#target, next: JSON.stringify([...this.#next]) };
    await this.#hub.ask("PUT", `/${INDEX}/_doc/${encodeURIComponent(this.#id)}`, body);
  }
}

/** Reads the position of `index` in the hub's index `target`. Throws as `ClusterClient.ask`. */
export async function readPosition(
  hub: ClusterClient,
  index: SourceIndex,
  target: string,
): Promise<IndexPosition> {
  const answer = await hub.find(`/${encodeURIComponent(target)}/_settings`);
  // A data stream is what its indices are; the first has its age.
  const uuids = Object.values(answer ?? {}).map((one) =>
    isObject(one) ? String(flatSettings(one["settings"])["uuid"] as string) : "",
  );
  const uuid = uuids.toSorted()[0] ?? "";
  const saved = await hub.find(`/${INDEX}/_doc/${encodeURIComponent(index.uuid)}`);
  const { target: of, next } = isObject(saved?.["_source"]) ? saved["_source"] : {};
  const isSame = of === uuid && typeof next === "string";
  const entries = isSame ? (JSON.parse(next) as [number, number][]) : [];
  return new IndexPosition(hub, index.uuid, uuid, new Map(entries));
}
