/**
 * The header of a RAW message, read without decoding the message: its sender, its source, and the range of the source.
 */

import protobuf from "protobufjs/minimal.js";
import { AppError } from "#proto/kit/errors.ts";
import { Compression } from "#proto/messages.ts";
import { sourceKeyOf } from "./raw-message.ts";

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

/** Returns the header of the LogBatch in `bytes`. Throws data_corrupt if it is none. */
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
    throw new AppError("data_corrupt", "a message of the log isn't a LogBatch", { cause: error });
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

/** Field numbers of log.proto. */
const BATCH = { agentId: 1, block: 8, pipelineId: 9 };
const BLOCK = { source: 1, from: 2, to: 3, compression: 7, dataBytes: 8, events: 9, data: 10 };
const SOURCE = { fileKey: 3, generation: 4 };

function readBatch(reader: Reader, fields: Fields): void {
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag >>> 3 === BATCH.agentId) fields.agentId = reader.string();
    else if (tag >>> 3 === BATCH.pipelineId) fields.pipelineId = reader.string();
    else if (tag >>> 3 === BATCH.block) nested(reader, fields, readBlock);
    else reader.skipType(tag & 7);
  }
}

function readBlock(reader: Reader, fields: Fields): void {
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    switch (tag >>> 3) {
      case BLOCK.source:
        fields.hasSource = true;
        nested(reader, fields, readSource);
        break;
      case BLOCK.from:
        fields.from = Number(reader.uint64());
        break;
      case BLOCK.to:
        fields.to = Number(reader.uint64());
        break;
      case BLOCK.compression:
        fields.compression = reader.int32();
        break;
      case BLOCK.dataBytes:
        fields.dataBytes = reader.uint32();
        break;
      case BLOCK.events:
        fields.events++;
        reader.skipType(tag & 7);
        break;
      case BLOCK.data: {
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
    if (tag >>> 3 === SOURCE.fileKey) fields.fileKey = reader.string();
    else if (tag >>> 3 === SOURCE.generation) fields.generation = reader.uint32();
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
