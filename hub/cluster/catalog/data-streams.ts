/**
 * Data streams: a name for indices that come after each other, to which documents are only added. A stream is nothing
 * but its backing indices, each of which says whose it is; the newest takes the writes. So a stream is made, rolled
 * over and deleted by making and deleting indices, and a new index is the whole of a rollover.
 */

import { AppError } from "#proto/kit/errors.ts";
import type { ComposableTemplate } from "./composable-templates.ts";
import type { IndexMetadata } from "./index-metadata.ts";
import type { IndexDefinition } from "./templates.ts";

/** The field that every document of a stream has one value of. */
export const TIMESTAMP_FIELD = "@timestamp";

/** Beginning of the names of backing indices. */
const PREFIX = ".ds-";
const GENERATION_DIGITS = 6;
/** What the prefix, the day and the generation take of a name's 255 bytes. */
const MAX_NAME_BYTES = 255 - `${PREFIX}-yyyy.MM.dd-`.length - 15;

/** What tells the indices of streams from others. */
interface Backing {
  readonly name: string;
  /** Stream that it belongs to. */
  readonly dataStream?: string;
}

/** Returns the name of a stream's index, "x" of the first generation on a day: ".ds-x-2026.11.21-000001". */
export function backingName(stream: string, generation: number, nowMs: number): string {
  const day = new Date(nowMs).toISOString().slice(0, 10).replaceAll("-", ".");
  return `${PREFIX}${stream}-${day}-${String(generation).padStart(GENERATION_DIGITS, "0")}`;
}

/** Returns the number of a backing index, from 1. */
export function generationOf({ name }: Backing): number {
  return Number(/-(\d+)$/.exec(name)?.[1] ?? 0);
}

/** Returns the indices of a stream, that which is written to last; none where there is no such stream. */
export function backingIndices<T extends Backing>(indices: Iterable<T>, stream: string): T[] {
  const found = [...indices].filter(({ dataStream }) => dataStream === stream);
  return found.sort((a, b) => generationOf(a) - generationOf(b));
}

/** Whether there is a stream of this name. */
export function isDataStream(indices: Iterable<Backing>, name: string): boolean {
  for (const { dataStream } of indices) if (dataStream === name) return true;
  return false;
}

/** Throws index_name_invalid for what no stream can be called, beyond what no index can. */
export function checkStreamName(name: string): void {
  const bytes = Buffer.byteLength(name);
  if (name.startsWith(PREFIX)) refuse(name, `must not start with '${PREFIX}'`);
  if (bytes > MAX_NAME_BYTES) refuse(name, `name is too long, (${bytes} > ${MAX_NAME_BYTES})`);
}

function refuse(name: string, why: string): never {
  throw new AppError("index_name_invalid", `data_stream [${name}] ${why}`, {
    data: { type: "illegal_argument_exception" },
  });
}

/** Returns the definition that every stream's index starts with: its time is a date. */
export const STREAM_GROUND: IndexDefinition = {
  settings: {},
  mappings: { properties: { [TIMESTAMP_FIELD]: { type: "date" } } },
  aliases: {},
};

/** Throws request_invalid where an index of a stream has no dates in its field of times. */
export function checkTimestamp({ mapping, dataStream }: IndexMetadata): void {
  if (dataStream === undefined) return;
  const type = mapping.field(TIMESTAMP_FIELD)?.type;
  if (type === "date" || type === "date_nanos") return;
  const found = type === undefined ? "is missing" : `is of type [${type}]`;
  throw new AppError(
    "request_invalid",
    `data stream timestamp field [${TIMESTAMP_FIELD}] ${found}, but [date,date_nanos] is expected`,
  );
}

/** Returns the template of a stream. Throws request_invalid where none fits, or none that makes streams. */
export function streamTemplate(
  stream: string,
  found: { readonly name: string; readonly template: ComposableTemplate } | undefined,
): ComposableTemplate {
  if (found === undefined)
    throw new AppError("request_invalid", `no matching index template found for data stream [${stream}]`);
  if (found.template.data_stream !== undefined) return found.template;
  throw new AppError(
    "request_invalid",
    `matching index template [${found.name}] for data stream [${stream}] has no data stream template`,
  );
}

/** What a write to an index of a stream says of itself. */
export interface StreamWrite {
  /** Name that it was sent to. */
  readonly index: string;
  readonly kind: "index" | "create" | "update" | "delete";
  readonly ifSeqNo?: number;
}

/**
 * Throws request_invalid for what would change a stream: only new documents go to its name, and only changes of documents
 * that the sender has seen to its indices.
 */
export function checkStreamWrite(index: Backing, { index: given, kind, ifSeqNo }: StreamWrite): void {
  if (index.dataStream === undefined) return;
  if (given !== index.name) {
    if (kind === "create") return;
    throw new AppError(
      "request_invalid",
      "only write ops with an op_type of create are allowed in data streams",
    );
  }
  if (kind === "create") {
    throw new AppError(
      "request_invalid",
      `index request with op_type=create targeting backing indices is disallowed; write to the data stream [${index.dataStream}]`,
    );
  }
  if (kind === "index" && ifSeqNo === undefined) {
    throw new AppError(
      "request_invalid",
      "index request with op_type=index and no if_primary_term and if_seq_no set targeting backing indices is disallowed",
    );
  }
}

/** Throws mapping_parse unless a document, JSON in UTF-8, has one time. What is no JSON is left to who reads it. */
export function checkStreamDocument(source: Uint8Array): void {
  const time = timestampOf(source);
  if (time === undefined || time === null)
    throw new AppError("mapping_parse", `data stream timestamp field [${TIMESTAMP_FIELD}] is missing`);
  if (Array.isArray(time) && time.length !== 1)
    throw new AppError(
      "mapping_parse",
      `data stream timestamp field [${TIMESTAMP_FIELD}] encountered multiple values`,
    );
}

function timestampOf(source: Uint8Array): unknown {
  try {
    const document: unknown = JSON.parse(Buffer.from(source).toString());
    return document !== null && typeof document === "object"
      ? ((document as Record<string, unknown>)[TIMESTAMP_FIELD] ?? null)
      : NaN;
  } catch {
    return NaN;
  }
}
