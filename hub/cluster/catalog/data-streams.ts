/**
 * Data streams: a name for a sequence of indices to which documents are only added. A stream is nothing but its
 * backing indices, each of which names its stream; the newest receives the writes. So a stream is created, rolled
 * over and deleted by creating and deleting indices, and a rollover is nothing but a new index.
 */

import { AppError } from "#proto/kit/errors.ts";
import type { ComposableTemplate } from "./composable-templates.ts";
import type { IndexMetadata } from "./index-metadata.ts";
import type { IndexDefinition } from "./templates.ts";

/** The field of which every document of a stream must have exactly one value. */
export const TIMESTAMP_FIELD = "@timestamp";

/** Prefix of the names of backing indices. */
const PREFIX = ".ds-";
const GENERATION_DIGITS = 6;
/** The 255 bytes of a name, minus the prefix, the day and the generation. */
const MAX_NAME_BYTES = 255 - `${PREFIX}-yyyy.MM.dd-`.length - 15;

/** The properties that identify backing indices. */
interface Backing {
  readonly name: string;
  /** The stream that the index belongs to. */
  readonly dataStream?: string;
}

/** Returns the name of a backing index, such as ".ds-x-2026.11.21-000001". */
export function backingName(stream: string, generation: number, nowMs: number): string {
  const day = new Date(nowMs).toISOString().slice(0, 10).replaceAll("-", ".");
  return `${PREFIX}${stream}-${day}-${String(generation).padStart(GENERATION_DIGITS, "0")}`;
}

/** Returns the generation of a backing index, from 1. */
export function generationOf({ name }: Backing): number {
  return Number(/-(\d+)$/.exec(name)?.[1] ?? 0);
}

/** Returns the indices of a stream, the write index last; none if there is no such stream. */
export function backingIndices<T extends Backing>(indices: Iterable<T>, stream: string): T[] {
  const found = [...indices].filter(({ dataStream }) => dataStream === stream);
  return found.sort((a, b) => generationOf(a) - generationOf(b));
}

/** Returns true if there is a stream of this name. */
export function isDataStream(indices: Iterable<Backing>, name: string): boolean {
  for (const { dataStream } of indices) if (dataStream === name) return true;
  return false;
}

/** Throws index_name_invalid for names that are allowed for an index but not for a stream. */
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

/** Returns the base definition of every backing index: its timestamp is a date. */
export const STREAM_DEFAULTS: IndexDefinition = {
  settings: {},
  mappings: { properties: { [TIMESTAMP_FIELD]: { type: "date" } } },
  aliases: {},
};

/** Throws request_invalid if the timestamp field of a backing index is not a date. */
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

/**
 * Returns the template of a stream. Throws request_invalid if none matches, or the one that does creates no streams.
 */
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

/** What a write to an index of a stream specifies. */
export interface StreamWrite {
  /** Name that the write was sent to. */
  readonly index: string;
  readonly kind: "index" | "create" | "update" | "delete";
  readonly ifSeqNo?: number;
}

/**
 * Throws request_invalid for writes that a stream doesn't allow. Its name accepts only new documents; its indices accept
 * only changes with the sequence number of the document.
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

/**
 * Throws mapping_parse unless a document, JSON in UTF-8, has exactly one timestamp. Invalid JSON is left to the
 * parser to report.
 */
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
