/**
 * The configuration file of the hub's own nats-server: what it keeps, and who may do what.
 *
 * Grammar of NATS' configuration: https://docs.nats.io/running-a-nats-service/configuration. The log is in an account
 * of the hub's, and agents are in another, into which the few subjects between the two are imported. The rights of a
 * user alone would not keep agents apart: nothing checks the subject that a message wants its answer on, and what the
 * server acknowledges, or the hub answers, would be sent there with rights of theirs, to the interface that purges streams
 * for one. An answer to an imported message goes back into the account that it came from. (An account for each agent
 * would be better still, but version 2.9 doesn't import into accounts that it learns of by a reload.)
 */

import { agentPrefix, helloSubject, rawSubject, statusSubject, watermarkSubject } from "#proto/subjects.ts";
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

/** Name by which the hub itself signs in; its password is the token. */
export const HUB_USER = "tailrace";

/** Account of the hub and of its log; the name of a folder below `storeDir`. */
export const HUB_ACCOUNT = "TAILRACE";

/** Account of all agents; there from the start, as a server that runs only learns of further users. */
const AGENT_ACCOUNT = "AGENTS";

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
  readonly agents: readonly AgentUser[];
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
    ...accounts(config),
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

function accounts({ token, agents }: ServerConfig): string[] {
  const hub = { user: HUB_USER, password: token };
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
