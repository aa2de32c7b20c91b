/** Records for the writers of outputs, packed like documents to be sent from a worker to the main thread. */

import type { OutputRecord } from "#hub/pipeline/plugins/output.ts";

/** Records of one event that have positions of their own; beyond, they share the last one. */
export const RECORDS_PER_OFFSET = 4096;

/** What one RAW message became for one output. */
export interface PackedRecords {
  /** Number of the output among those of all pipelines. */
  readonly output: number;
  /** All bodies, concatenated. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Where each body ends in `bytes`. */
  readonly ends: Uint32Array<ArrayBuffer>;
  readonly targets: readonly string[];
  /** Index of each record's target in `targets`. */
  readonly targetIndexes: Uint32Array<ArrayBuffer>;
  readonly ids: readonly string[];
  /** See OutputRecord.place. */
  readonly places: Float64Array<ArrayBuffer>;
  readonly timesMs: Float64Array<ArrayBuffer>;
}

type PendingRecord = Omit<OutputRecord, "sourceKey" | "message">;

/** Gathers the records of one RAW message for all outputs. */
export class RecordPacker {
  readonly #outputs = new Map<number, PendingRecord[]>();

  add(output: number, record: PendingRecord): void {
    const known = this.#outputs.get(output);
    if (known === undefined) this.#outputs.set(output, [record]);
    else known.push(record);
  }

  pack(): PackedRecords[] {
    return [...this.#outputs].map(([output, records]) => packOne(output, records));
  }
}

/** Returns the records as objects over the packed bytes; `sourceKey`: of the message, empty if there is none. */
export function unpackRecords(packed: PackedRecords, sourceKey: string): OutputRecord[] {
  const { bytes, ends, targets, targetIndexes, ids, places, timesMs } = packed;
  return ids.map((id, at) => ({
    id,
    target: targets[targetIndexes[at]!]!,
    body: bytes.subarray(at === 0 ? 0 : ends[at - 1]!, ends[at]!),
    sourceKey,
    place: places[at]!,
    message: packed,
    timeMs: timesMs[at]!,
  }));
}

function packOne(output: number, records: readonly PendingRecord[]): PackedRecords {
  const bytes = new Uint8Array(records.reduce((sum, { body }) => sum + body.length, 0));
  const ends = new Uint32Array(records.length);
  const places = new Map<string, number>();
  let at = 0;
  const targetIndexes = Uint32Array.from(records, ({ target, body }, index) => {
    bytes.set(body, at);
    at += body.length;
    ends[index] = at;
    const place = places.get(target) ?? places.size;
    places.set(target, place);
    return place;
  });
  return {
    output,
    bytes,
    ends,
    targets: [...places.keys()],
    targetIndexes,
    ids: records.map(({ id }) => id),
    places: Float64Array.from(records, ({ place }) => place),
    timesMs: Float64Array.from(records, ({ timeMs }) => timeMs),
  };
}
