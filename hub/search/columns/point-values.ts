/** Points of a field, read document by document. */

import type { GeoColumn, SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import { columnField } from "./column-values.ts";

/** Reads the points of one field. */
export class PointValues {
  readonly latitudes: number[] = [];
  readonly longitudes: number[] = [];
  readonly #path: string | undefined;
  #column: GeoColumn | null = null;

  /** Throws request_invalid for a field that holds no points; an unmapped one has none. */
  constructor(shard: ShardContext, name: string, owner: string) {
    const field = columnField(shard, name);
    if (field !== undefined && field.type !== "geo_point") {
      throw new AppError(
        "request_invalid",
        `Expected geo_point type on field [${field.path}], but got [${field.type}]; [${owner}] needs points`,
      );
    }
    this.#path = field?.path;
  }

  open(segment: SegmentReader): void {
    this.#column = this.#path === undefined ? null : segment.geoColumn(this.#path);
  }

  /** Reads the points of a document into `latitudes` and `longitudes` and returns how many. */
  read(doc: number): number {
    return this.#column?.read(doc, this.latitudes, this.longitudes) ?? 0;
  }
}
