/**
 * The configuration file of the hub's own nats-server: what it keeps, and who may do what.
 *
 * Grammar of NATS' configuration: https://docs.nats.io/running-a-nats-service/configuration. A token and single users
 * exclude each other there, so the hub's own secret is a token only as long as no agent has credentials of its own.
 */

import { agentPrefix, rawSubject } from "#proto/subjects.ts";
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

/** Name by which the hub itself signs in where there are single users; its password is the token. */
export const HUB_USER = "tailrace";

/** An agent that signs in by an nkey and may use its own subjects only. */
export interface AgentUser {
  /** nkey of kind user, "U…". */
  readonly publicKey: string;
  /** UUID in the agent's subjects. */
  readonly agentId: string;
}

/** PEM files, absolute paths. The server reads them at its start and at each reload. */
export interface ServerTls {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface ServerConfig {
  /** Address to listen on, and a port; -1: the system chooses one. */
  readonly host: string;
  readonly port: number;
  /** The hub's own secret. */
  readonly token: string;
  /** Absent: none had credentials of its own since the server was started. */
  readonly agents: readonly AgentUser[] | undefined;
  /** Absent: plain TCP. */
  readonly tls: ServerTls | undefined;
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
    ...authorization(config),
    ...encryption(config),
    "jetstream {",
    `  store_dir: ${JSON.stringify(config.storeDir)}`,
    `  max_mem: ${MAX_MEMORY_BYTES}`,
    `  max_file: ${MAX_FILE_BYTES}`,
    ...(knowsSyncInterval(config.version) ? ["  sync_interval: always"] : []),
    "}",
  ];
  return `${lines.join("\n")}\n`;
}

function authorization({ token, agents }: ServerConfig): string[] {
  if (agents === undefined) return [`authorization { token: ${JSON.stringify(token)} }`];
  return [
    "authorization {",
    "  users: [",
    `    { user: ${JSON.stringify(HUB_USER)}, password: ${JSON.stringify(token)} }`,
    ...agents.map(agentUser),
    "  ]",
    "}",
  ];
}

/**
 * An agent stores its own batches, says how it is and hears what is committed. The answers to it come to subjects below
 * its own name: a wider right would let it listen to what others are answered.
 */
function agentUser({ publicKey, agentId }: AgentUser): string {
  const own = `${agentPrefix(agentId)}.>`;
  const rights = { publish: [rawSubject("*", agentId), own], subscribe: [own] };
  return `    { nkey: ${JSON.stringify(publicKey)}, permissions: ${JSON.stringify(rights)} }`;
}

function encryption({ tls }: ServerConfig): string[] {
  if (tls === undefined) return [];
  return [
    "tls {",
    `  cert_file: ${JSON.stringify(tls.certFile)}`,
    `  key_file: ${JSON.stringify(tls.keyFile)}`,
    "  timeout: 5",
    "}",
  ];
}
