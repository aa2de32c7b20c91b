/** The socket of a NATS connection, which isn't part of the client library's public interface. */

/** A connection of the client library. */
interface NatsConnected {
  reconnect(): Promise<void>;
  close(): Promise<void>;
  readonly protocol?: { readonly transport?: { readonly socket?: NatsSocket } };
}

interface NatsSocket {
  readonly writableLength: number;
  destroy(): unknown;
  on(event: "error", listener: () => void): unknown;
}

/**
 * Ends the socket to a lost server; the client then connects to the next one. The library's own `reconnect` first waits until the
 * socket has written everything, which a server that reads nothing never lets it.
 */
export async function leaveServer(nats: NatsConnected): Promise<void> {
  const socket = nats.protocol?.transport?.socket;
  if (socket === undefined) await nats.reconnect();
  else socket.destroy();
}

/**
 * Closes the connection. The library writes to a socket that the server has just ended, and removes its listeners before the socket
 * reports that: without another one the process would end.
 */
export async function closeNats(nats: NatsConnected): Promise<void> {
  const socket = nats.protocol?.transport?.socket;
  await nats.close();
  socket?.on("error", () => undefined);
}

/** Returns the bytes that wait in this process until the server takes them. */
export function unsentBytes(nats: NatsConnected): number {
  return nats.protocol?.transport?.socket?.writableLength ?? 0;
}
