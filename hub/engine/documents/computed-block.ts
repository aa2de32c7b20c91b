/** Fields that are computed from documents when a search needs them: a segment in memory with one document for each. */

import { SegmentBuffer } from "#hub/engine/buffer/segment-buffer.ts";
import { Bitset } from "#hub/engine/bytes/bitset.ts";
import { toBytes } from "#hub/engine/bytes/bytes.ts";
import type { Mapping } from "#hub/engine/mapping/mapping.ts";
import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type { FailedDocuments, NestedBlock } from "#hub/engine/segment/nested-cache.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Indexing } from "./document-indexer.ts";
import { DocumentWriter } from "./document-writer.ts";
import { blockOf, derivedBlock, type NestedSteps } from "./nested-block.ts";

/** Bytes of a block while it is made, beyond which the search is refused. */
const MAX_BYTES = 256 * 1024 * 1024;

const NO_ROWS = new Int32Array(0);

/** What a block is computed by. */
export interface Computed {
  /** Names the computation: blocks of the same segment and key are equal. */
  readonly key: string;
  /** The mapping of the computed fields alone. */
  readonly mapping: Mapping;
  /** Returns the computed fields of a document as JSON. */
  readonly sourceOf: (doc: number) => string;
  /** Returns whether what `sourceOf` threw is the fault of the document alone, which has no fields then. */
  readonly isOfDocument: (error: unknown) => boolean;
}

/**
 * Makes a segment in steps, or returns the one that is cached: its document d has what was computed of document d of `base`.
 * Values that don't fit the mapping are left out. Throws memory_limit, data_corrupt, and what `sourceOf` throws that isn't of a document.
 */
export function* computedBlock(base: SegmentReader, computed: Computed): NestedSteps<NestedBlock> {
  return yield* derivedBlock(base, computed.key, (indexing) => makeBlock(base, computed, indexing));
}

function* makeBlock(
  base: SegmentReader,
  { key, mapping, sourceOf, isOfDocument }: Computed,
  indexing: Indexing,
): NestedSteps<NestedBlock> {
  const buffer = new SegmentBuffer(indexing.newFields());
  const writer = new DocumentWriter(buffer, mapping, indexing);
  let failed: FailedDocuments | undefined;
  try {
    for (let at = 0; at < base.docCount; at++) {
      let source = NOTHING;
      try {
        source = toBytes(sourceOf(at));
      } catch (error) {
        if (!isOfDocument(error)) throw error;
        failed ??= { docs: new Bitset(base.docCount), error };
        failed.docs.add(at);
      }
      writer.write(buffer.addDocument(NO_ID, source, 1, at, ""), source, "", true);
      if (buffer.sizeBytes > MAX_BYTES) throw tooLarge();
      // What computes one document may take as long as a script may.
      yield;
    }
    return { ...blockOf(buffer, `${base.name}/${key}`, NO_ROWS, NO_ROWS), failed };
  } finally {
    writer.release();
    buffer.release();
  }
}

const NOTHING = toBytes("{}");

/** Computed documents are never looked up by their ids. */
const NO_ID = toBytes("-");

function tooLarge(): AppError {
  return new AppError(
    "memory_limit",
    `the runtime fields of one segment take more than ${MAX_BYTES} bytes; use more shards, or index the fields`,
  );
}
