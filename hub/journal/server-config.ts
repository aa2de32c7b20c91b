/** The configuration file of the hub's own nats-server. */

import { knowsSyncInterval, type ServerVersion } from "./server-version.ts";

/** Largest message the server takes. Batches are a fraction of it; above 8 MiB the server warns. */
export const MAX_PAYLOAD_BYTES = 8 * 1024 ** 2;

/** Memory for streams kept in memory: only what readers need for themselves. */
const MAX_MEMORY_BYTES = 256 * 1024 ** 2;

/**
 * Upper bound of all streams together, far above any disk: each stream has its own limit. A figure taken from the
 * disk would refuse to read streams again that were made when the disk was larger.
 */
const MAX_FILE_BYTES = 1024 ** 5;

export interface ServerConfig {
  /** Address to listen on, and a port; -1: the system chooses one. */
  readonly host: string;
  readonly port: number;
  readonly token: string;
  readonly storeDir: string;
  readonly portsDir: string;
  readonly pidFile: string;
  readonly version: ServerVersion;
}

/** Returns the file's text. Strings are quoted as JSON, which the format reads the same way. */
export function serverConfigText(config: ServerConfig): string {
  const lines = [
    "# Written by tailrace-hub at each start; changes are overwritten.",
    `server_name: "tailrace"`,
    `host: ${JSON.stringify(config.host)}`,
    `port: ${config.port}`,
    `pid_file: ${JSON.stringify(config.pidFile)}`,
    `ports_file_dir: ${JSON.stringify(config.portsDir)}`,
    `max_payload: ${MAX_PAYLOAD_BYTES}`,
    "logtime: false",
    `authorization { token: ${JSON.stringify(config.token)} }`,
    "jetstream {",
    `  store_dir: ${JSON.stringify(config.storeDir)}`,
    `  max_mem: ${MAX_MEMORY_BYTES}`,
    `  max_file: ${MAX_FILE_BYTES}`,
    ...(knowsSyncInterval(config.version) ? ["  sync_interval: always"] : []),
    "}",
  ];
  return `${lines.join("\n")}\n`;
}
