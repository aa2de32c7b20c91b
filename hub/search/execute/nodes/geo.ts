/** Matches documents with a point that passes a test, skipping column blocks out of bounds. */

import { Bitset } from "#hub/engine/bytes/bitset.ts";
import { COLUMN_BLOCK, type GeoColumn, type SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type { GeoBox } from "#hub/search/geo/point.ts";
import type { QueryDescription } from "#hub/search/query/query.ts";
import { SetNode } from "./documents.ts";

/** Test of a document's points. */
export interface GeoTest {
  /** Bounds outside of which no point is accepted; blocks outside are skipped. */
  readonly box: GeoBox;
  accepts(lat: number, lon: number): boolean;
}

export class GeoNode extends SetNode {
  readonly #path: string;
  readonly #test: GeoTest;

  constructor(path: string, test: GeoTest) {
    super();
    this.#path = path;
    this.#test = test;
  }

  describe(): QueryDescription {
    return { type: "LatLonPointQuery", text: `LatLonPointQuery: field=${this.#path}` };
  }

  protected select(segment: SegmentReader): Bitset | null {
    const column = segment.geoColumn(this.#path);
    if (column === null) return null;
    const found = new Bitset(segment.docCount);
    for (let block = 0; block < column.blockCount; block++) {
      const bounds = column.blockBounds(block);
      if (bounds === null || isApart(this.#test.box, bounds)) continue;
      found.addRange(block * COLUMN_BLOCK, Math.min((block + 1) * COLUMN_BLOCK, segment.docCount));
    }
    const { south, north, west, east } = this.#test.box;
    const isWide = west > east;
    const box = [south, north, isWide ? -180 : west, isWide ? 180 : east] as const;
    column.matchBox(0, column.blockCount, box, found.words);
    this.#keepAccepted(column, found);
    return found;
  }

  #keepAccepted(column: GeoColumn, found: Bitset): void {
    const [latitudes, longitudes]: [number[], number[]] = [[], []];
    for (let doc = found.nextSet(0); doc >= 0; doc = found.nextSet(doc + 1)) {
      const count = column.read(doc, latitudes, longitudes);
      let accepts = false;
      for (let at = 0; at < count && !accepts; at++)
        accepts = this.#test.accepts(latitudes[at]!, longitudes[at]!);
      if (!accepts) found.remove(doc);
    }
  }
}

/** True if nothing of a block's points can lie in the box; boxes over the date line are only compared by latitude. */
function isApart(
  box: GeoBox,
  [south, north, west, east]: readonly [number, number, number, number],
): boolean {
  if (north < box.south || south > box.north) return true;
  return box.west <= box.east && (east < box.west || west > box.east);
}
