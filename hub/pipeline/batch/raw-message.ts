/** RAW messages as a worker sees them: decoded, decompressed, with the parts that are to be processed. */

import { zstdDecompressSync } from "node:zlib";
import { MAX_ISO_MS } from "#proto/codec/time.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Interval } from "#proto/kit/interval-set.ts";
import { Compression, LogBatch, type tailrace } from "#proto/messages.ts";
import type { DocumentPacker } from "./document-packer.ts";

/** A block holds at most this much uncompressed (log.proto, LogBlock.data_bytes). */
const MAX_DATA_BYTES = 8 * 1024 * 1024;

export interface RawMessage {
  readonly agentId: string;
  readonly agentName: string;
  readonly agentVersion: string;
  readonly hostName: string;
  /** `{"fields": {}, "tags": []}` of the input's settings; empty for none. */
  readonly fieldsJson: Uint8Array;
  /** `<agent id>/<file key>/<generation>`. */
  readonly sourceKey: string;
  /** Pipeline whose own input it is from; empty: from an agent. */
  readonly pipelineId: string;
  /** Sequence of the message in RAW; 0 if it isn't known. */
  readonly sequence: number;
  readonly inputType: string;
  /** Path of the file, or empty. */
  readonly path: string;
  /** Offset of the first byte of `data`, or number of the first event. */
  readonly from: number;
  /** ms since 1970-01-01 UTC. */
  readonly readTimeMs: number;
  readonly firstLineContinued: boolean;
  /** Bytes of the file; empty with `events`. */
  readonly data: Uint8Array;
  readonly events: readonly tailrace.LogEvent.$Properties[];
  /** Parts of the source to process, ascending. */
  readonly ranges: readonly Interval[];
}

/** A pipeline running in one thread. */
export interface MessageProcessor {
  /** Turns a message into documents. Throws where the message as a whole can't be processed. */
  process(message: RawMessage, out: DocumentPacker): void;
}

/** Returns `<agent id>/<file key>/<generation>`. */
export function sourceKeyOf(agentId: string, fileKey: string, generation: number): string {
  return `${agentId}/${fileKey}/${generation}`;
}

/** Decodes a LogBatch. Throws data_corrupt if it is none. */
export function decodeRawMessage(bytes: Uint8Array, ranges: readonly Interval[], sequence = 0): RawMessage {
  const batch = decodeBatch(bytes);
  const block = batch.block;
  const source = block?.source;
  if (block === null || block === undefined || source === null || source === undefined) {
    throw new AppError("data_corrupt", "a message of the log holds no block of a source");
  }
  return {
    agentId: batch.agentId,
    agentName: batch.agentName,
    agentVersion: batch.agentVersion,
    hostName: batch.hostName,
    fieldsJson: batch.fieldsJson,
    sourceKey: sourceKeyOf(batch.agentId, source.fileKey ?? "", source.generation ?? 0),
    pipelineId: batch.pipelineId,
    sequence,
    inputType: source.inputType ?? "",
    path: source.path ?? "",
    from: block.from ?? 0,
    readTimeMs: usableTime(block.readTimeMs),
    firstLineContinued: block.firstLineContinued ?? false,
    data: blockData(block),
    events: usableEvents(block.events ?? []),
    ranges,
  };
}

function decodeBatch(bytes: Uint8Array): tailrace.LogBatch {
  try {
    return LogBatch.decode(bytes);
  } catch (error) {
    throw new AppError("data_corrupt", "a message of the log isn't a LogBatch", { cause: error });
  }
}

/** Returns a time that a document can hold, or 0, which says that there is none. */
function usableTime(timeMs: number | null | undefined): number {
  return timeMs != null && timeMs <= MAX_ISO_MS ? timeMs : 0;
}

function usableEvents(events: tailrace.LogEvent.$Properties[]): tailrace.LogEvent.$Properties[] {
  for (const event of events) event.timeMs = usableTime(event.timeMs);
  return events;
}

function blockData(block: tailrace.LogBlock.$Properties): Uint8Array {
  const data = block.data ?? new Uint8Array();
  if (block.compression !== Compression.ZSTD) return data;
  try {
    // The memory that messages in flight may take is counted by what they say.
    const maxOutputLength = Math.min(block.dataBytes ?? 0, MAX_DATA_BYTES);
    return zstdDecompressSync(data, { maxOutputLength });
  } catch (error) {
    const reason = "a block's data isn't a zstd frame, or is longer than it says or than 8 MiB";
    throw new AppError("data_corrupt", reason, {
      cause: error,
    });
  }
}
