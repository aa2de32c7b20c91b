/**
 * Large messages come in many pieces of the socket. The client would gather them in memory that is made anew and twice as
 * large whenever it is full: each byte is copied several times, and most of that memory is left to the collector. Their
 * length is known from the first piece on, so room for all of it is made at once. What is changed is that memory alone, for
 * all connections of the process; a client of another build than the one that is known here is left as it is.
 */

/** Smaller messages end in the piece that follows. */
const LARGE_BYTES = 64 * 1024;

/** The parts of the client's parser (@nats-io/nats-core, parser.ts and denobuffer.ts) that are asked. */
interface ParserParts {
  parse: (this: ParserParts, piece: Uint8Array) => void;
  /** What came of a message that isn't whole yet. */
  msgBuf: { _buf: Uint8Array; _off: number } | undefined;
  /** Of the message at hand; `size` in bytes. */
  ma?: { size: number };
}

/** Parsers' prototypes that were changed. */
const changed = new WeakSet<object>();

/** Changes the parser of a connection, and of those that follow it; returns false where its client isn't known. */
export function receiveRoomily(connection: object): boolean {
  const parser: unknown = Reflect.get(Object(Reflect.get(connection, "protocol")), "parser");
  if (!isKnown(parser)) return false;
  const prototype = Object.getPrototypeOf(parser) as ParserParts;
  if (changed.has(prototype)) return true;
  changed.add(prototype);
  const { parse } = prototype;
  prototype.parse = function (this: ParserParts, piece) {
    parse.call(this, piece);
    if (this.msgBuf !== undefined) makeRoom(this.msgBuf, this.ma?.size ?? 0);
  };
  return true;
}

function makeRoom(begun: NonNullable<ParserParts["msgBuf"]>, sizeBytes: number): void {
  const { _buf: bytes, _off: read } = begun;
  if (sizeBytes < LARGE_BYTES || bytes.buffer.byteLength >= sizeBytes || read !== 0) return;
  const room = new Uint8Array(Buffer.allocUnsafeSlow(sizeBytes).buffer);
  room.set(bytes);
  begun._buf = room.subarray(0, bytes.length);
}

function isKnown(given: unknown): given is ParserParts {
  const parser = Object(given) as Partial<ParserParts>;
  const { msgBuf } = parser;
  const isWhole = msgBuf === undefined || (msgBuf._buf instanceof Uint8Array && msgBuf._off === 0);
  return typeof parser.parse === "function" && "msgBuf" in parser && isWhole;
}
