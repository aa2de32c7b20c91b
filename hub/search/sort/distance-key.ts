/** Sorts by the distance from points. */

import type { GeoColumn, SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { boxAround, distanceMetres } from "#hub/search/geo/point.ts";
import { fraction } from "#proto/kit/number-text.ts";
import { type KeySource, NUMBER_ORDER, type Rank, type SegmentKey, type SortValue } from "./key.ts";
import { pickValue } from "./picked-value.ts";
import type { SortKey, SortMode } from "./sort-request.ts";

type DistanceSort = Extract<SortKey, { kind: "distance" }>;

export class DistanceKeySource implements KeySource {
  readonly order = NUMBER_ORDER;
  readonly #path: string | undefined;
  readonly #key: DistanceSort;

  /** `path` undefined: the field isn't mapped, all documents are infinitely far. */
  constructor(path: string | undefined, key: DistanceSort) {
    this.#path = path;
    this.#key = key;
  }

  segment(segment: SegmentReader): SegmentKey {
    const column = this.#path === undefined ? null : segment.geoColumn(this.#path);
    return new DistanceKey(column, this.#key);
  }

  rankOf(value: unknown): Rank {
    const distance = value === "Infinity" || value === null ? Number.POSITIVE_INFINITY : Number(value);
    return this.#key.descending ? -distance : distance;
  }
}

class DistanceKey implements SegmentKey {
  readonly #column: GeoColumn | null;
  readonly #key: DistanceSort;
  readonly #sign: 1 | -1;
  readonly #mode: SortMode;
  readonly #latitudes: number[] = [];
  readonly #longitudes: number[] = [];

  constructor(column: GeoColumn | null, key: DistanceSort) {
    this.#column = column;
    this.#key = key;
    this.#sign = key.descending ? -1 : 1;
    this.#mode = key.mode ?? (key.descending ? "max" : "min");
  }

  load(docs: Int32Array, _scores: Float32Array | null, length: number, out: Float64Array): void {
    for (let at = 0; at < length; at++) out[at] = this.#sign * this.#distance(docs[at]!);
  }

  rank(_doc: number, key: number): Rank {
    return key;
  }

  bestOfBlock(block: number): number {
    // Documents without a point are infinitely far, which is the best there is when the farthest come first.
    if (this.#sign < 0) return Number.NEGATIVE_INFINITY;
    return this.#column === null || this.#column.blockBounds(block) === null ? Number.POSITIVE_INFINITY : 0;
  }

  narrow(from: number, to: number, bound: number, words: Uint32Array): void {
    const { points, metres } = this.#key;
    const [point] = points;
    if (this.#column === null || this.#sign < 0 || this.#mode !== "min" || points.length !== 1) return;
    if (point === undefined || !Number.isFinite(bound)) return;
    const box = boxAround(point, bound * metres);
    if (box.west <= box.east)
      this.#column.matchBox(from, to, [box.south, box.north, box.west, box.east], words);
  }

  value(_doc: number, key: number): SortValue {
    const distance = this.#sign * key;
    return Number.isFinite(distance) ? fraction(distance) : "Infinity";
  }

  keyOf(rank: Rank): number {
    return rank as number;
  }

  #distance(doc: number): number {
    const count = this.#column?.read(doc, this.#latitudes, this.#longitudes) ?? 0;
    if (count === 0) return Number.POSITIVE_INFINITY;
    const { points, metres } = this.#key;
    if (count === 1 && points.length === 1) {
      return (
        distanceMetres(points[0]!.lat, points[0]!.lon, this.#latitudes[0]!, this.#longitudes[0]!) / metres
      );
    }
    const distances: number[] = [];
    for (let at = 0; at < count; at++) {
      for (const { lat, lon } of points) {
        distances.push(distanceMetres(lat, lon, this.#latitudes[at]!, this.#longitudes[at]!) / metres);
      }
    }
    return pickValue(
      distances.sort((a, b) => a - b),
      distances.length,
      this.#mode,
    );
  }
}
