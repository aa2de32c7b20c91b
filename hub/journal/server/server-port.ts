/** Checks that a port is free and identifies the process that uses it. */

import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError, systemCode } from "#proto/kit/errors.ts";
import { reachableHost } from "#proto/kit/net/loopback.ts";

/** A NATS server sends a greeting at once; a peer silent for this long is something else. */
const GREETING_TIMEOUT_MS = 500;

/** A greeting is one line of a few hundred bytes. */
const MAX_GREETING_BYTES = 64 * 1024;

/** How long to wait for a silent peer to leave the port, and the pause between checks. */
const SILENT_WAIT_MS = 3_000;
const SILENT_PAUSE_MS = 100;

interface Greeting {
  readonly version: string;
  readonly jetstream: boolean;
}

/** Names of the settings of a listener's address. */
export interface ListenerSettings {
  readonly host: string;
  readonly port: string;
}

/**
 * Throws port_taken, naming the occupant and the remedy, if this process can't listen on `host`:`port`. A silent occupant
 * gets a moment to leave: a client that reconnects to a server that has just ended may connect to itself.
 */
export async function requireFreePort(
  host: string,
  port: number,
  clock: Clock,
  settings: ListenerSettings = { host: "nats.host", port: "nats.port" },
): Promise<void> {
  const end = clock.monotonic() + SILENT_WAIT_MS;
  for (;;) {
    const fault = await tryListening(host, port);
    if (fault === undefined) return;
    const silent =
      systemCode(fault) === "EADDRINUSE" && (await readGreeting(reachableHost(host), port)) === undefined;
    if (!silent || clock.monotonic() >= end) throw await explain(host, port, fault, settings);
    await clock.sleep(SILENT_PAUSE_MS);
  }
}

/** Returns why this process can't listen there; undefined if the port is free. */
async function tryListening(host: string, port: number): Promise<unknown> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, "listening");
  } catch (error) {
    return error;
  }
  const closed = once(server, "close");
  server.close();
  await closed;
  return undefined;
}

async function explain(
  host: string,
  port: number,
  error: unknown,
  settings: ListenerSettings,
): Promise<AppError> {
  const options = { cause: error };
  if (systemCode(error) === "EADDRNOTAVAIL") {
    return new AppError(
      "settings_invalid",
      `${settings.host}: ${host} is not an address of this machine`,
      options,
    );
  }
  const reason = await portProblem(host, port, error, settings);
  return new AppError("port_taken", `${settings.port}: ${reason}`, options);
}

/** Returns what prevents listening, and the remedy. */
async function portProblem(
  host: string,
  port: number,
  error: unknown,
  settings: ListenerSettings,
): Promise<string> {
  const address = `${host}:${port}`;
  const code = systemCode(error);
  if (code === "EACCES") return `this user may not listen on ${address}; set a port above 1023`;
  if (code !== "EADDRINUSE") return `cannot listen on ${address}: ${(error as Error).message}`;
  const greeting = await readGreeting(reachableHost(host), port);
  if (greeting === undefined)
    return `another program listens on ${address}; set ${settings.port} to a free port`;
  if (!greeting.jetstream)
    return (
      `a nats-server ${greeting.version} without JetStream listens on ${address}, probably the service ` +
      `started by the system's package; stop it with "systemctl disable --now nats-server", or set ${settings.port}`
    );
  return (
    `another nats-server ${greeting.version} listens on ${address}; set ${settings.port} to a free port, ` +
    `or nats.servers to nats://${address} to keep the log there`
  );
}

/** Returns the greeting of a NATS server, or undefined when none answers. */
async function readGreeting(host: string, port: number): Promise<Greeting | undefined> {
  const socket = connect({ host, port, timeout: GREETING_TIMEOUT_MS });
  socket.once("timeout", () => socket.destroy());
  let text = "";
  try {
    for await (const chunk of socket) {
      text += (chunk as Buffer).toString("latin1");
      if (text.includes("\r\n") || text.length > MAX_GREETING_BYTES) break;
    }
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
  return parseGreeting(text);
}

function parseGreeting(text: string): Greeting | undefined {
  if (!text.startsWith("INFO ")) return undefined;
  try {
    const { version, jetstream } = JSON.parse(text.slice(5, text.indexOf("\r\n"))) as Record<string, unknown>;
    return { version: String(version), jetstream: jetstream === true };
  } catch {
    return undefined;
  }
}
