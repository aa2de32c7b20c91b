/** Reads of a LogBatch only what the main thread needs: whose it is and which range; payloads are passed over. */

import protobuf from "protobufjs/minimal.js";
import { AppError } from "#proto/kit/errors.ts";
import { Compression } from "#proto/messages.ts";
import { sourceKeyOf } from "./raw-message.ts";

const { Reader } = protobuf;
type Reader = protobuf.Reader;

export interface RawHeader {
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

/** Typical length of a line, to tell a batch's fill from a block's length. Bytes. */
const LINE_BYTES = 128;

interface Fields {
  agentId: string;
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
