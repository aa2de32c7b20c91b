/** Documents with a point that a test accepts, found through the column's blocks. */

import { COLUMN_BLOCK, type GeoColumn, type SegmentReader } from "#hub/engine/searcher.ts";
import { Bitset } from "#hub/engine/segment/bitset.ts";
import { expandMask } from "../collect/set-blocks.ts";
import type { GeoBox } from "../geo.ts";
import { SetNode } from "./documents.ts";

/** What a document's points are tested for. */
export interface GeoTest {
  /** Bounds outside of which no point is accepted; blocks outside are skipped. */
  readonly box: GeoBox;
  accepts(lat: number, lon: number): boolean;
}

export class GeoNode extends SetNode {
  readonly #path: string;
  readonly #test: GeoTest;
  readonly #mask = new Uint32Array(COLUMN_BLOCK / 32);
  readonly #docs = new Int32Array(COLUMN_BLOCK);

  constructor(path: string, test: GeoTest) {
    super();
    this.#path = path;
    this.#test = test;
  }

  protected select(segment: SegmentReader): Bitset | null {
    const column = segment.geoColumn(this.#path);
    if (column === null) return null;
    const found = new Bitset(segment.docCount);
    for (let block = 0; block < column.blockCount; block++) {
      const bounds = column.blockBounds(block);
      if (bounds === null || isApart(this.#test.box, bounds)) continue;
      this.#block(column, block, found);
    }
    return found;
  }

  #block(column: GeoColumn, block: number, found: Bitset): void {
    const { south, north, west, east } = this.#test.box;
    const isWide = west > east;
    column.matchBox(block, [south, north, isWide ? -180 : west, isWide ? 180 : east], this.#mask);
    const candidates = expandMask(block, this.#mask, 0, this.#docs);
    const [latitudes, longitudes]: [number[], number[]] = [[], []];
    for (let each = 0; each < candidates; each++) {
      const doc = this.#docs[each]!;
      const count = column.read(doc, latitudes, longitudes);
      for (let at = 0; at < count; at++) {
        if (!this.#test.accepts(latitudes[at]!, longitudes[at]!)) continue;
        found.add(doc);
        break;
      }
    }
  }
}

/** True where nothing of a block's points can lie in the box; boxes over the date line are only compared by latitude. */
function isApart(
  box: GeoBox,
  [south, north, west, east]: readonly [number, number, number, number],
): boolean {
  if (north < box.south || south > box.north) return true;
  return box.west <= box.east && (east < box.west || west > box.east);
}
