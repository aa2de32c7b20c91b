/**
 * The configuration file of the embedded nats-server: storage limits, accounts and permissions.
 *
 * Grammar: https://docs.nats.io/running-a-nats-service/configuration. The log is in the hub's account, agents are in another
 * one, and only the few subjects between them are exported and imported. User permissions alone would not isolate agents:
 * nothing checks the reply subject of a message. The server's acknowledgement or the hub's answer would be sent there with
 * its sender's own permissions, for instance to the API that purges streams. A reply to an imported message returns to the
 * account that the message came from. (One account per agent would be stricter still, but version 2.9 can't import into
 * accounts added by a reload.)
 */

import { HUB_USER } from "#hub/journal/connection/connection.ts";
import { agentPrefix, helloSubject, rawSubject, statusSubject, watermarkSubject } from "#proto/subjects.ts";
import { knowsSyncInterval, type ServerVersion } from "./server-program.ts";

/** Largest message the server accepts. Batches are a fraction of it; above 8 MiB the server warns. */
export const MAX_PAYLOAD_BYTES = 8 * 1024 ** 2;

/** Memory for in-memory streams, which contain only the readers' consumer state. */
const MAX_MEMORY_BYTES = 256 * 1024 ** 2;

/**
 * Upper bound of all streams together, far above any disk: each stream has its own limit. A bound derived from the
 * disk would make the server reject streams that were created when the disk was larger.
 */
const MAX_FILE_BYTES = 1024 ** 5;

/** Account of the hub and of its log; also the name of a folder below `storeDir`. */
export const HUB_ACCOUNT = "TAILRACE";

/** User of the servers' own account, in a cluster: it may remove servers from the cluster. It has the hub's password. */
export const SYSTEM_USER = "tailrace-system";

/** Attempts to reach an unreachable server between two log lines; each hub names the missing ones itself. */
const ATTEMPTS_PER_REPORT = 3_600;

/** Time for the handshake of a route, s. */
const ROUTE_TLS_TIMEOUT = 5;

/** Account of all agents. It exists from the start: a reload can add users, not accounts. */
const AGENT_ACCOUNT = "AGENTS";

/** An agent that signs in with an nkey and may use only its own subjects. */
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

/** Options of a server in a cluster. */
export interface ServerCluster {
  /** Name of this server in the cluster; constant as long as its store exists. */
  readonly serverName: string;
  readonly clusterName: string;
  /** Address and port for the routes of other servers. */
  readonly host: string;
  readonly port: number;
  /** host:port of all servers' routes, including this one's. Read each time the file is written. */
  readonly routes: () => readonly string[];
  /** PEM files of the certificates that the servers show each other, which the authority has signed. */
  readonly tls: ServerTls & { readonly caFile: string };
}

export interface ServerConfig {
  /** Address and port to listen on; port -1: the system chooses. */
  readonly host: string;
  readonly port: number;
  /** The hub's own password. */
  readonly token: string;
  readonly agents: readonly AgentUser[];
  /** Absent: plain TCP. */
  readonly tls: ServerTls | undefined;
  /** Absent: a single server. */
  readonly cluster: ServerCluster | undefined;
  readonly storeDir: string;
  readonly portsDir: string;
  readonly pidFile: string;
  readonly version: ServerVersion;
}

/** Returns the text of the file. Strings are quoted as JSON, which the format accepts. */
export function serverConfigText(config: ServerConfig): string {
  const lines = [
    "# Written by tailrace-hub at each start; changes are overwritten.",
    `server_name: ${JSON.stringify(config.cluster?.serverName ?? "tailrace")}`,
    `host: ${JSON.stringify(config.host)}`,
    `port: ${config.port}`,
    `pid_file: ${JSON.stringify(config.pidFile)}`,
    `ports_file_dir: ${JSON.stringify(config.portsDir)}`,
    `max_payload: ${MAX_PAYLOAD_BYTES}`,
    "logtime: false",
    ...accounts(config),
    ...encryption(config),
    ...clustered(config),
    "jetstream {",
    `  store_dir: ${JSON.stringify(config.storeDir)}`,
    `  max_mem: ${MAX_MEMORY_BYTES}`,
    `  max_file: ${MAX_FILE_BYTES}`,
    ...(knowsSyncInterval(config.version) ? ["  sync_interval: always"] : []),
    "}",
  ];
  return `${lines.join("\n")}\n`;
}

function accounts({ token, agents, cluster }: ServerConfig): string[] {
  const hub = { user: HUB_USER, password: token };
  const system = { user: SYSTEM_USER, password: token };
  const requests = [rawSubject("*", "*"), helloSubject("*"), statusSubject("*")];
  const news = watermarkSubject("*");
  const exported = [...requests.map((service) => ({ service })), { stream: news }];
  const of = (subject: string): object => ({ account: HUB_ACCOUNT, subject });
  const imported = [...requests.map((subject) => ({ service: of(subject) })), { stream: of(news) }];
  return [
    "accounts {",
    `  ${HUB_ACCOUNT} { jetstream: enabled, users: ${JSON.stringify([hub])}, exports: ${JSON.stringify(exported)} }`,
    `  ${AGENT_ACCOUNT} { imports: ${JSON.stringify(imported)}, users: [`,
    ...agents.map(agentUser),
    "  ] }",
    ...(cluster === undefined ? [] : [`  $SYS { users: ${JSON.stringify([system])} }`]),
    "}",
  ];
}

/**
 * An agent stores its own batches, publishes its status and receives its watermarks. Replies arrive on subjects below
 * its own prefix: a wider permission would let it read replies to other agents.
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

/** Traffic on routes isn't checked, so only servers with a certificate of the cluster are admitted. */
function clustered({ cluster }: ServerConfig): string[] {
  if (cluster === undefined) return [];
  const { clusterName, host, port, routes, tls } = cluster;
  return [
    `reconnect_error_reports: ${ATTEMPTS_PER_REPORT}`,
    "cluster {",
    `  name: ${JSON.stringify(clusterName)}`,
    `  host: ${JSON.stringify(host)}`,
    `  port: ${port}`,
    "  no_advertise: true", // clients keep their configured addresses
    `  routes: ${JSON.stringify(routes().map((address) => `nats-route://${address}`))}`,
    "  tls {",
    `    ca_file: ${JSON.stringify(tls.caFile)}`,
    `    cert_file: ${JSON.stringify(tls.certFile)}`,
    `    key_file: ${JSON.stringify(tls.keyFile)}`,
    `    timeout: ${ROUTE_TLS_TIMEOUT}`,
    "  }",
    "}",
  ];
}
