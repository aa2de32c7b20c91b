/** Addresses of network inputs: their setting, binding to them, and the test of that for `test config`. */

import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, isIPv6 } from "node:net";
import { settingFault } from "#agent/contract/input.ts";
import { AppError, systemCode } from "#proto/kit/errors.ts";
import { Type } from "#proto/kit/schema.ts";

/** Returns the fields of the sender's address. */
export function peerFields(address: string | undefined, port: number | undefined): Uint8Array {
  if (address === undefined) return new Uint8Array();
  return Buffer.from(JSON.stringify({ log: { source: { address: `${address}:${port ?? 0}` } } }));
}

/** The setting `host`. */
export function addressSetting() {
  return Type.String({ description: "host:port to listen on; [::]:port for IPv6." });
}

/** Returns the parts of "host:port". Throws settings_invalid. */
export function parseAddress(text: string): { host: string; port: number } {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) {
    throw settingFault(
      "host",
      `host: "${text}" isn't an address; write host:port, for example 127.0.0.1:9000`,
    );
  }
  return { host: match[1] ?? match[2]!, port };
}

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
