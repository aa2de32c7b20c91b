/** Binding of inputs that listen: the error if an address isn't available, and the test of it for `test config`. */

import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, isIPv6 } from "node:net";
import { AppError, systemCode } from "#proto/kit/errors.ts";
import { parseAddress } from "./stream-sink.ts";

/** Returns the error for an address that can't be listened on; `who`: the input, `where`: protocol and address. */
export function cannotListen(who: string, where: string, cause: unknown): AppError {
  const why = systemCode(cause) === "EADDRINUSE" ? "another process listens there" : (cause as Error).message;
  return new AppError("port_taken", `${who} cannot listen on ${where}: ${why}`, { cause });
}

/** Listens on "host:port" for a moment. Rejects with port_taken. */
export async function probeTcp(address: string): Promise<void> {
  const { host, port } = parseAddress(address);
  const server = createServer();
  try {
    await once(server.listen(port, host), "listening");
  } catch (error) {
    throw cannotListen("the input", `tcp ${host}:${port}`, error);
  }
  await new Promise<void>((resolve) => server.close(() => resolve()));
}

/** Binds a UDP socket to "host:port" for a moment. Rejects with port_taken. */
export async function probeUdp(address: string): Promise<void> {
  const { host, port } = parseAddress(address);
  const socket = createSocket(isIPv6(host) ? "udp6" : "udp4");
  const bound = once(socket, "listening");
  socket.bind(port, host);
  try {
    await bound;
  } catch (error) {
    throw cannotListen("the input", `udp ${host}:${port}`, error);
  } finally {
    socket.close();
  }
}
