/** Ports that are known before a program listens at them, as hubs that name each other need them. */

import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { systemCode } from "#proto/kit/errors.ts";

/** Below the ports that a system gives to connections and to listeners at port 0: nothing takes one by chance meanwhile. */
const FIRST = 12_000;
const BEYOND = 30_000;
const MAX_TRIES = 1_000;

/** Returns different ports at which nothing listens on loopback. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  for (let tries = 0; ports.size < count; tries++) {
    if (tries >= MAX_TRIES) throw new Error(`no ${count} ports from ${FIRST} to ${BEYOND} are free`);
    const port = randomInt(FIRST, BEYOND);
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

/** Returns one; see `freePorts`. */
export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  return port!;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    if (systemCode(error) === "EADDRINUSE") return false;
    throw error;
  }
  server.close();
  await once(server, "close");
  return true;
}
