/** Names of the objects of output s3: each contains the range of a source's events. */

import { createHash } from "node:crypto";
import { RECORDS_PER_OFFSET } from "#hub/pipeline/batch/packed-records.ts";
import type { OutputRecord } from "#hub/pipeline/plugins/output.ts";
import { IntervalSet } from "#proto/kit/interval-set.ts";
import type { S3Bucket } from "#proto/kit/s3-bucket.ts";

/** Digits of a position in a name: names sort as their positions do. */
const PLACE_DIGITS = 16;

/** The first characters of a hash. */
export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** Positions of the first and the last record, and what is the same for the same records. */
export function rangeName(records: readonly OutputRecord[]): string {
  const [first, last] = [records[0]!, records.at(-1)!];
  const ids = hashOf(records.map(({ id }) => id).join("/"));
  return first.sourceKey === "" ? ids : `${placeName(first.place)}-${placeName(last.place)}-${ids}`;
}

function placeName(place: number): string {
  return String(place).padStart(PLACE_DIGITS, "0");
}

/**
 * Returns the records cut where events of the source may be missing between two: between messages, and where positions
 * decrease. Of one message, what isn't among them was delivered before.
 */
export function unbrokenRuns(records: readonly OutputRecord[]): OutputRecord[][] {
  const runs: OutputRecord[][] = [];
  let before: OutputRecord | undefined;
  for (const record of records) {
    const isNext =
      before !== undefined &&
      (record.sourceKey === "" || (record.message === before.message && record.place >= before.place));
    if (isNext) runs.at(-1)!.push(record);
    else runs.push([record]);
    before = record;
  }
  return runs;
}

/** Returns the positions that the objects of a prefix and source hold, as their names say. */
export async function storedPlaces(
  bucket: S3Bucket,
  name: string,
  signal: AbortSignal,
): Promise<IntervalSet> {
  const stored = new IntervalSet([], Number.POSITIVE_INFINITY);
  for (const key of await bucket.list(name, signal)) {
    const [, first, last] = /-(\d+)-(\d+)-[0-9a-f]+\.ndjson(?:\.gz)?$/.exec(key) ?? [];
    if (first === undefined) continue;
    const end = Number(last);
    // The last children of an event share a position: they may be stored again, and never be taken for stored.
    const isShared = end % RECORDS_PER_OFFSET === RECORDS_PER_OFFSET - 1;
    stored.add(Number(first), isShared ? end : end + 1);
  }
  return stored;
}
