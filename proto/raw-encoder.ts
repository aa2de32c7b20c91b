/**
 * Writes a LogBatch around data that is already in a buffer, byte for byte as the generated code would. The message is
 * put in front of the data, so the data is read from its file directly into the message and never copied. log.proto
 * stays the contract: fields in ascending order, default values omitted.
 */

import {
  bytesSize,
  encodeBytes,
  encodeText,
  numberSize,
  put,
  varintSize,
  writeBytes,
  writeNumber,
  writeVarint,
} from "./wire.ts";

/** What stays the same in all batches of one input of one agent. */
export interface BatchIdentity {
  readonly agentId: string;
  readonly agentName: string;
  readonly agentVersion: string;
  readonly hostName: string;
  /** JSON object, UTF-8; empty for none. */
  readonly fieldsJson: Uint8Array;
}

/** Fields of Source. */
export interface SourceFields {
  readonly inputId: string;
  readonly inputType: string;
  readonly fileKey: string;
  readonly generation: number;
  readonly path: string;
}

/** What differs from block to block. Numbers are integers 0..2^53. */
export interface BlockFields {
  readonly from: number;
  readonly to: number;
  readonly readTimeMs: number;
  readonly lastLineOpen: boolean;
  readonly firstLineContinued: boolean;
  /** Value of the Compression enum. */
  readonly compression: number;
  /** Length of the data uncompressed, bytes; 0 if the body consists of events. */
  readonly dataBytes: number;
}

/** Fields of LogEvent. */
export interface EventFields {
  readonly offset: number;
  readonly timeMs: number;
  readonly message: Uint8Array;
  readonly fieldsJson: Uint8Array;
  readonly length: number;
}

/** A part of a buffer: bytes `start` to `end`, exclusive. */
export interface Body {
  readonly buffer: Buffer;
  readonly start: number;
  readonly end: number;
  /** True where the bytes are LogEvents written by `appendEvent`, false if they are the file's own. */
  readonly events: boolean;
}

/** Field number << 3 | wire type, one byte each. */
const TAG = {
  batchAgentId: 0x0a,
  batchEpoch: 0x10,
  batchNumber: 0x18,
  batchAgentName: 0x22,
  batchAgentVersion: 0x2a,
  batchHostName: 0x32,
  batchFieldsJson: 0x3a,
  batchBlock: 0x42,
  sourceInputId: 0x0a,
  sourceInputType: 0x12,
  sourceFileKey: 0x1a,
  sourceGeneration: 0x20,
  sourcePath: 0x2a,
  blockSource: 0x0a,
  blockFrom: 0x10,
  blockTo: 0x18,
  blockReadTime: 0x20,
  blockLastLineOpen: 0x28,
  blockFirstLineContinued: 0x30,
  blockCompression: 0x38,
  blockDataBytes: 0x40,
  blockEvents: 0x4a,
  blockData: 0x52,
  eventOffset: 0x08,
  eventTime: 0x10,
  eventMessage: 0x1a,
  eventFieldsJson: 0x22,
  eventLength: 0x28,
} as const;

/** Numbers of a batch, a block and an event take at most 10 bytes each with their tag; see `writeBlock`. */
const NUMBERS_ROOM_BYTES = 128;

/** The parts of a batch's header that are encoded once per input. */
export class BatchEncoder {
  readonly #agentId: Buffer;
  readonly #names: Buffer;

  constructor(identity: BatchIdentity) {
    this.#agentId = encodeText(TAG.batchAgentId, identity.agentId);
    this.#names = Buffer.concat([
      encodeText(TAG.batchAgentName, identity.agentName),
      encodeText(TAG.batchAgentVersion, identity.agentVersion),
      encodeText(TAG.batchHostName, identity.hostName),
      encodeBytes(TAG.batchFieldsJson, identity.fieldsJson),
    ]);
  }

  /** Returns the number of bytes that must be free before a body so that `encode` need not copy it. */
  headroom(source: Buffer): number {
    return this.#agentId.length + this.#names.length + source.length + NUMBERS_ROOM_BYTES;
  }

  /**
   * Returns the message, which ends at `body.end`. `source` comes from `encodeSource`.
   * Fast path: written into the free bytes before `body.start`. Slow path, where that is too small: a new buffer.
   */
  encode(epoch: number, number: number, source: Buffer, block: BlockFields, body: Body): Buffer {
    const bodySize = body.end - body.start;
    const blockSize = blockHeaderSize(source, block, body) + bodySize;
    const headerSize =
      this.#agentId.length +
      numberSize(epoch) +
      numberSize(number) +
      this.#names.length +
      1 +
      varintSize(blockSize) +
      (blockSize - bodySize);
    if (body.start >= headerSize) {
      this.#write(body.buffer, body.start - headerSize, epoch, number, source, blockSize, block, body);
      return body.buffer.subarray(body.start - headerSize, body.end);
    }
    const copy = Buffer.allocUnsafe(headerSize + bodySize);
    this.#write(copy, 0, epoch, number, source, blockSize, block, body);
    body.buffer.copy(copy, headerSize, body.start, body.end);
    return copy;
  }

  #write(
    buffer: Buffer,
    start: number,
    epoch: number,
    number: number,
    source: Buffer,
    blockSize: number,
    block: BlockFields,
    body: Body,
  ): void {
    let at = put(buffer, start, this.#agentId);
    at = writeNumber(buffer, at, TAG.batchEpoch, epoch);
    at = writeNumber(buffer, at, TAG.batchNumber, number);
    at = put(buffer, at, this.#names);
    buffer[at++] = TAG.batchBlock;
    at = writeVarint(buffer, at, blockSize);
    writeBlock(buffer, at, source, block, body);
  }
}

/** Returns a Source as the field of a block, to be used for all blocks of one generation of a file. */
export function encodeSource(source: SourceFields): Buffer {
  const generation = Buffer.alloc(NUMBERS_ROOM_BYTES);
  const generationEnd = writeNumber(generation, 0, TAG.sourceGeneration, source.generation);
  const fields = Buffer.concat([
    encodeText(TAG.sourceInputId, source.inputId),
    encodeText(TAG.sourceInputType, source.inputType),
    encodeText(TAG.sourceFileKey, source.fileKey),
    generation.subarray(0, generationEnd),
    encodeText(TAG.sourcePath, source.path),
  ]);
  return fields.length === 0 ? Buffer.from([TAG.blockSource, 0]) : encodeBytes(TAG.blockSource, fields);
}

/** Returns how many bytes `appendEvent` writes for `event`. */
export function eventSize(event: EventFields): number {
  const size = eventContentSize(event);
  return 1 + varintSize(size) + size;
}

/** Writes one event of a block at `at` and returns where it ends. The caller guarantees `eventSize` free bytes. */
export function appendEvent(buffer: Buffer, at: number, event: EventFields): number {
  buffer[at++] = TAG.blockEvents;
  at = writeVarint(buffer, at, eventContentSize(event));
  at = writeNumber(buffer, at, TAG.eventOffset, event.offset);
  at = writeNumber(buffer, at, TAG.eventTime, event.timeMs);
  at = writeBytes(buffer, at, TAG.eventMessage, event.message);
  at = writeBytes(buffer, at, TAG.eventFieldsJson, event.fieldsJson);
  return writeNumber(buffer, at, TAG.eventLength, event.length);
}

/** Returns how many bytes `appendLine` writes. */
export function lineSize(offset: number, textBytes: number, lengthBytes: number): number {
  const size = numberSize(offset) + bytesSize(textBytes) + numberSize(lengthBytes);
  return 1 + varintSize(size) + size;
}

/**
 * As `appendEvent`, for an event without time and fields whose message, not empty, is bytes `start` to `end` of
 * `source`: nothing is made for a line but its bytes. `lengthBytes`: with its line end.
 */
export function appendLine(
  buffer: Buffer,
  at: number,
  offset: number,
  source: Buffer,
  start: number,
  end: number,
  lengthBytes: number,
): number {
  buffer[at++] = TAG.blockEvents;
  const size = numberSize(offset) + bytesSize(end - start) + numberSize(lengthBytes);
  at = writeVarint(buffer, at, size);
  at = writeNumber(buffer, at, TAG.eventOffset, offset);
  buffer[at++] = TAG.eventMessage;
  at = writeVarint(buffer, at, end - start);
  source.copy(buffer, at, start, end);
  return writeNumber(buffer, at + end - start, TAG.eventLength, lengthBytes);
}

function eventContentSize(event: EventFields): number {
  return (
    numberSize(event.offset) +
    numberSize(event.timeMs) +
    bytesSize(event.message.length) +
    bytesSize(event.fieldsJson.length) +
    numberSize(event.length)
  );
}

function blockHeaderSize(source: Buffer, block: BlockFields, body: Body): number {
  const dataSize = body.end - body.start;
  return (
    source.length +
    numberSize(block.from) +
    numberSize(block.to) +
    numberSize(block.readTimeMs) +
    (block.lastLineOpen ? 2 : 0) +
    (block.firstLineContinued ? 2 : 0) +
    numberSize(block.compression) +
    numberSize(block.dataBytes) +
    (body.events || dataSize === 0 ? 0 : 1 + varintSize(dataSize))
  );
}

function writeBlock(buffer: Buffer, start: number, source: Buffer, block: BlockFields, body: Body): void {
  let at = put(buffer, start, source);
  at = writeNumber(buffer, at, TAG.blockFrom, block.from);
  at = writeNumber(buffer, at, TAG.blockTo, block.to);
  at = writeNumber(buffer, at, TAG.blockReadTime, block.readTimeMs);
  at = writeNumber(buffer, at, TAG.blockLastLineOpen, block.lastLineOpen ? 1 : 0);
  at = writeNumber(buffer, at, TAG.blockFirstLineContinued, block.firstLineContinued ? 1 : 0);
  at = writeNumber(buffer, at, TAG.blockCompression, block.compression);
  at = writeNumber(buffer, at, TAG.blockDataBytes, block.dataBytes);
  if (body.events || body.end === body.start) return;
  buffer[at++] = TAG.blockData;
  writeVarint(buffer, at, body.end - body.start);
}
