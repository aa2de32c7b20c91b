/**
 * Large messages go to the socket as they lie. The client would join all that it has to send into new memory first, which
 * costs a copy of each byte and leaves as much for the collector. What is changed is its way out alone; a client of another
 * build than the one that is known here is left as it is.
 */

/** Below it a copy is cheaper than a further call of the system. */
const LARGE_BYTES = 64 * 1024;

/** The parts of the client's protocol handler (@nats-io/nats-core, protocol.ts) that are asked. */
interface ProtocolParts {
  flushPending(): void;
  infoReceived: boolean;
  connected: boolean;
  outbound: { buffers: Uint8Array[]; byteLength: number; reset(): void };
  transport: { send(frame: Uint8Array): void };
}

/** Changes a connection; returns false where its client isn't known. */
export function sendUncopied(connection: object): boolean {
  const protocol: unknown = Reflect.get(connection, "protocol");
  if (!isKnown(protocol)) return false;
  const flush = protocol.flushPending.bind(protocol);
  protocol.flushPending = () => {
    const { outbound, infoReceived, connected } = protocol;
    if (!infoReceived || !connected || outbound.byteLength < LARGE_BYTES) return flush();
    const frames = framesOf(outbound.buffers);
    outbound.reset();
    for (const frame of frames) protocol.transport.send(frame);
  };
  return true;
}

/** Large buffers as they are, small ones that follow each other as one. */
function framesOf(buffers: readonly Uint8Array[]): Uint8Array[] {
  const frames: Uint8Array[] = [];
  let small: Uint8Array[] = [];
  for (const buffer of buffers) {
    if (buffer.length < LARGE_BYTES) small.push(buffer);
    else {
      if (small.length > 0) frames.push(Buffer.concat(small));
      frames.push(buffer);
      small = [];
    }
  }
  if (small.length > 0) frames.push(Buffer.concat(small));
  return frames;
}

function isKnown(given: unknown): given is ProtocolParts {
  const protocol = given as Partial<ProtocolParts> | undefined;
  return (
    typeof protocol?.flushPending === "function" &&
    typeof protocol.infoReceived === "boolean" &&
    typeof protocol.connected === "boolean" &&
    Array.isArray(protocol.outbound?.buffers) &&
    typeof protocol.outbound.byteLength === "number" &&
    typeof protocol.outbound.reset === "function" &&
    typeof protocol.transport?.send === "function"
  );
}
