/** RAW messages as a worker sees them: decoded, decompressed, with the parts that are to be processed. */

import { zstdDecompressSync } from "node:zlib";
import protobuf from "protobufjs/minimal.js";
import { parseJsonObject } from "#proto/codec/json.ts";
import { decodeText } from "#proto/codec/plain.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Interval } from "#proto/kit/interval-set.ts";
import type { JsonObject } from "#proto/kit/json.ts";
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
  /** Sequence of the message in RAW; 0 where it isn't known. */
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

/** A pipeline at work in one thread. */
export interface MessageProcessor {
  /** Turns a message into documents. Throws where the message as a whole can't be processed. */
  process(message: RawMessage, out: DocumentPacker): void;
}

/** Returns `<agent id>/<file key>/<generation>`. */
export function sourceKeyOf(agentId: string, fileKey: string, generation: number): string {
  return `${agentId}/${fileKey}/${generation}`;
}

/** Decodes a LogBatch. Throws data_corrupt where it is none. */
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
    readTimeMs: block.readTimeMs ?? 0,
    firstLineContinued: block.firstLineContinued ?? false,
    data: blockData(block),
    events: block.events ?? [],
    ranges,
  };
}

function decodeBatch(bytes: Uint8Array): tailrace.LogBatch {
  try {
    return LogBatch.decode(bytes);
  } catch (error) {
    throw new AppError("data_corrupt", "a message of the log is no LogBatch", { cause: error });
  }
}

function blockData(block: tailrace.LogBlock.$Properties): Uint8Array {
  const data = block.data ?? new Uint8Array();
  if (block.compression !== Compression.ZSTD) return data;
  try {
    return zstdDecompressSync(data, { maxOutputLength: MAX_DATA_BYTES });
  } catch (error) {
    throw new AppError("data_corrupt", "a block's data is no zstd frame, or is longer than 8 MiB", {
      cause: error,
    });
  }
}

const { Reader } = protobuf;
type Reader = protobuf.Reader;

export interface RawHeader {
  /** Id of the agent or input that the message names as its sender. */
  readonly agentId: string;
  /** Pipeline of the input that the message names as its sender; empty: an agent. */
  readonly pipelineId: string;
  /** `<agent id>/<file key>/<generation>`. */
  readonly sourceKey: string;
  readonly from: number;
  /** Exclusive; above `from`. */
  readonly to: number;
  /** Events that the message holds at least: those cut by the agent, or a guess from the length of the data. */
  readonly events: number;
  /** Bytes of the data uncompressed. */
  readonly dataBytes: number;
}

/** Typical length of a line, bytes, to estimate the number of lines of a block. */
const LINE_BYTES = 128;

interface Fields {
  agentId: string;
  pipelineId: string;
  fileKey: string;
  generation: number;
  hasSource: boolean;
  from: number;
  to: number;
  events: number;
  rawBytes: number;
  dataBytes: number;
  compression: number;
}

/** Returns the header of the LogBatch in `bytes`. Throws data_corrupt where it is none. */
export function readRawHeader(bytes: Uint8Array): RawHeader {
  const fields: Fields = {
    agentId: "",
    pipelineId: "",
    fileKey: "",
    generation: 0,
    hasSource: false,
    from: 0,
    to: 0,
    events: 0,
    rawBytes: 0,
    dataBytes: 0,
    compression: 0,
  };
  try {
    readBatch(Reader.create(bytes), fields);
  } catch (error) {
    throw new AppError("data_corrupt", "a message of the log is no LogBatch", { cause: error });
  }
  const { from, to } = fields;
  if (!fields.hasSource || fields.agentId === "" || !Number.isSafeInteger(to) || from < 0 || from >= to) {
    throw new AppError("data_corrupt", `a message of the log names no source or no range (${from} to ${to})`);
  }
  const dataBytes = fields.compression === Compression.NONE ? fields.rawBytes : fields.dataBytes;
  return {
    agentId: fields.agentId,
    pipelineId: fields.pipelineId,
    sourceKey: sourceKeyOf(fields.agentId, fields.fileKey, fields.generation),
    from,
    to,
    events: Math.max(fields.events, Math.ceil(dataBytes / LINE_BYTES)),
    dataBytes,
  };
}

function readBatch(reader: Reader, fields: Fields): void {
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag >>> 3 === 1) fields.agentId = reader.string();
    else if (tag >>> 3 === 9) fields.pipelineId = reader.string();
    else if (tag >>> 3 === 8) nested(reader, fields, readBlock);
    else reader.skipType(tag & 7);
  }
}

function readBlock(reader: Reader, fields: Fields): void {
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    switch (tag >>> 3) {
      case 1:
        fields.hasSource = true;
        nested(reader, fields, readSource);
        break;
      case 2:
        fields.from = Number(reader.uint64());
        break;
      case 3:
        fields.to = Number(reader.uint64());
        break;
      case 7:
        fields.compression = reader.int32();
        break;
      case 8:
        fields.dataBytes = reader.uint32();
        break;
      case 9:
        fields.events++;
        reader.skipType(tag & 7);
        break;
      case 10: {
        const length = reader.uint32();
        fields.rawBytes = length;
        reader.skip(length);
        break;
      }
      default:
        reader.skipType(tag & 7);
    }
  }
}

function readSource(reader: Reader, fields: Fields): void {
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag >>> 3 === 3) fields.fileKey = reader.string();
    else if (tag >>> 3 === 4) fields.generation = reader.uint32();
    else reader.skipType(tag & 7);
  }
}

/** Reads an embedded message with `read`, within its own end. */
function nested(reader: Reader, fields: Fields, read: (reader: Reader, fields: Fields) => void): void {
  const outerEnd = reader.len;
  const end = reader.uint32() + reader.pos;
  if (end > outerEnd) throw new RangeError("an embedded message reaches beyond its container");
  reader.len = end;
  read(reader, fields);
  reader.len = outerEnd;
}

const ENCODER = new TextEncoder();

/** Parts of a document's JSON, and the same as objects for documents that need merging. */
export interface CommonFields {
  /** `"host":…,"shipper":…,"input":…,"event":…[,"fields":…]` without braces. */
  readonly members: Uint8Array;
  /** `"file":{"path":…},` or nothing: the members of `log` before the offset. */
  readonly logFile: Uint8Array;
  /** `"a","b"`: tags of the input, without brackets; empty for none. */
  readonly tags: Uint8Array;
  readonly object: Readonly<JsonObject>;
  readonly tagList: readonly string[];
  readonly path: string;
}

/** Returns what the documents of `message` share; `ingestedMs` becomes `event.ingested`. */
export function commonFields(message: RawMessage, ingestedMs: number): CommonFields {
  const settings =
    message.fieldsJson.length === 0 ? undefined : parseJsonObject(decodeText(message.fieldsJson));
  const fields = settings?.["fields"];
  const tags = settings?.["tags"];
  const object: JsonObject = {
    host: { name: message.hostName },
    shipper: { id: message.agentId, name: message.agentName, version: message.agentVersion },
    input: { type: message.inputType },
    event: { ingested: new Date(ingestedMs).toISOString() },
  };
  if (fields !== null && typeof fields === "object" && Object.keys(fields).length > 0) {
    object["fields"] = fields;
  }
  const tagList = Array.isArray(tags) ? tags.filter((tag) => typeof tag === "string") : [];
  return {
    members: ENCODER.encode(JSON.stringify(object).slice(1, -1)),
    logFile: ENCODER.encode(message.path === "" ? "" : `"file":{"path":${JSON.stringify(message.path)}},`),
    tags: ENCODER.encode(tagList.map((tag) => JSON.stringify(tag)).join(",")),
    object,
    tagList,
    path: message.path,
  };
}
