/** Lets a server of connections or requests listen. */

import type { Server } from "node:net";
import { AppError, systemCode } from "#proto/kit/errors.ts";

/** Resolves when `server` listens. Throws port_taken, unavailable. */
export async function listen(server: Server, host: string, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(port, host, resolve);
  try {
    await promise;
  } catch (error) {
    const isTaken = systemCode(error) === "EADDRINUSE";
    throw new AppError(
      isTaken ? "port_taken" : "unavailable",
      `${host}:${port} can't be listened at (${isTaken ? "the port is taken" : (error as Error).message})`,
      { cause: error },
    );
  } finally {
    server.off("error", reject);
  }
}

/** Returns the port listened at, where 0 let the system choose; else `port`. */
export function listenedPort(server: Server | undefined, port: number): number {
  const address = server?.address();
  return typeof address === "object" && address !== null ? address.port : port;
}
