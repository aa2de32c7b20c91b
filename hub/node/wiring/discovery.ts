/** Sets up, from its settings, a hub whose nats-server is a member of the cluster: the other hubs, and what they share. */

import { createHash } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import {
  type ClusterCertificate,
  type ClusterCredentials,
  clusterCredentials,
  SHORTEST_SECRET,
} from "#hub/cluster/discovery/cluster-credentials.ts";
import { addressText, Discovery } from "#hub/cluster/discovery/discovery.ts";
import { CLUSTER_STORE, hasClusterStore, hasOwnStore } from "#hub/cluster/discovery/formation-file.ts";
import type { HubAddress } from "#hub/cluster/discovery/hello-call.ts";
import { knownCluster } from "#hub/cluster/membership/cluster-identity.ts";
import type { ClusterMember } from "#hub/journal/server/embedded-server.ts";
import { findServerBinary } from "#hub/journal/server/server-program.ts";
import { DEFAULT_PORTS, type HubSettings } from "#hub/node/settings/hub-settings.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { writeFileAtomic } from "#proto/kit/files/files.ts";
import type { Logger } from "#proto/kit/log.ts";

export interface DiscoveryWiring {
  readonly settings: HubSettings;
  /** path.data, absolute. */
  readonly folder: string;
  readonly version: string;
  readonly log: Logger;
  readonly env: NodeJS.ProcessEnv;
}

/** Valid names of nats-servers; each hub's name is also that of its nats-server. */
const NODE_NAME = /^[\w.-]{1,128}$/;
/** host, [host], host:port or [host]:port. */
const SEED = /^(?:\[([^\]]+)\]|([^:\s/@]+))(?::(\d{1,5}))?$/;
const SECRET_FILE_MODE = 0o600;

/** The parts of a hub in a cluster. */
export interface Discovered {
  readonly discovery: Discovery;
  /** What this hub shows the others on transport.port. */
  readonly certificate: ClusterCertificate;
  /** Options by which its nats-server joins the cluster. */
  readonly member: ClusterMember;
  /** Vault key that all hubs of the cluster derive, 32 bytes as base64. */
  readonly vaultKey: string;
}

/**
 * Returns undefined without discovery.seed_hosts. Writes the certificate for the routes and, if there are none, the vault's
 * keys. Throws settings_invalid, nats_missing or nats_refused with the remedy.
 */
export async function openDiscovery(options: DiscoveryWiring): Promise<Discovered | undefined> {
  const { settings, folder } = options;
  const given = settings["discovery.seed_hosts"];
  if (given.length === 0) return refuseLeftStore(options);
  checkSettings(options);
  await findServerBinary(options.env, true); // before the others rely on this hub
  const seeds = given.map(parseSeed);
  refuseRepeated(seeds);
  const credentials = clusterCredentials(settings["cluster.secret"]);
  const certificate = credentials.issue([
    ...new Set([...seeds.map((seed) => seed.host), "localhost", "127.0.0.1"]),
  ]);
  const discovery = makeDiscovery(options, seeds, certificate);
  keepVaultKeys(options, credentials);
  const member: ClusterMember = {
    serverName: settings["node.name"],
    clusterName: serverClusterName(settings["cluster.name"]),
    host: transportHost(settings),
    port: settings["nats.route_port"],
    routes: () => discovery.routes(),
    tls: writeCertificate(folder, certificate),
    storeDir: join(folder, CLUSTER_STORE),
    token: credentials.token,
  };
  return { discovery, certificate, member, vaultKey: credentials.vaultKey };
}

function makeDiscovery(
  { settings, folder, version, log }: DiscoveryWiring,
  seeds: readonly HubAddress[],
  certificate: ClusterCertificate,
): Discovery {
  return new Discovery({
    seeds,
    host: transportHost(settings),
    port: settings["transport.port"],
    routePort: settings["nats.route_port"],
    node: settings["node.name"],
    cluster: settings["cluster.name"],
    id: () => knownCluster(folder) ?? "",
    // A folder of a version that knew no clusters has no UUID yet.
    grows: hasOwnStore(folder) ? (knownCluster(folder) ?? settings["node.name"]) : "",
    release: version,
    certificate,
    folder,
    clock: systemClock,
    log,
  });
}

function transportHost(settings: HubSettings): string {
  return settings["transport.host"] || settings["network.host"];
}

function checkSettings({ settings }: DiscoveryWiring): void {
  if (settings["nats.servers"].length > 0)
    throw invalid(
      "discovery.seed_hosts and nats.servers are both set: set the first for hubs whose own nats-servers store the log, the second for a NATS that you run yourself",
    );
  if (settings["discovery.seed_hosts"].length < 2)
    throw invalid(
      "discovery.seed_hosts must name at least three hubs, since of two neither may be lost: add the others, or remove it for a single hub",
    );
  if (settings["cluster.secret"].length < SHORTEST_SECRET)
    throw invalid(
      `cluster.secret must have at least ${SHORTEST_SECRET} characters: set it to the output of "openssl rand -base64 32", the same on all hubs, for instance as "\${TAILRACE_CLUSTER_SECRET}"`,
    );
  if (!NODE_NAME.test(settings["node.name"]))
    throw invalid(
      `node.name is "${settings["node.name"]}": with discovery.seed_hosts it names the hub's nats-server too, so write letters, digits, dots, - and _`,
    );
}

/** A hub must not begin a log of its own if it has a part of the cluster's. */
function refuseLeftStore({ settings, folder }: DiscoveryWiring): undefined {
  if (settings["nats.servers"].length > 0 || !hasClusterStore(folder)) return undefined;
  throw invalid(
    `${folder} holds a part of a cluster's store, but discovery.seed_hosts is empty: set it to the hubs of the cluster again, or path.data to a new folder`,
  );
}

function parseSeed(text: string): HubAddress {
  const [, bracketed, plain, port = String(DEFAULT_PORTS.transport)] = SEED.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) > 65_535 || Number(port) === 0)
    throw invalid(
      `discovery.seed_hosts: "${text}" isn't an address; write host:9300, or [address]:9300 for IPv6`,
    );
  return { host, port: Number(port) };
}

function refuseRepeated(seeds: readonly HubAddress[]): void {
  const texts = seeds.map(addressText);
  const repeated = texts.find((text, at) => texts.indexOf(text) !== at);
  if (repeated !== undefined)
    throw invalid(`discovery.seed_hosts: ${repeated} occurs twice; name each hub once`);
}

/** Returns the nats-servers' cluster name, which must not have blanks; servers with another one are refused. */
function serverClusterName(name: string): string {
  return `tailrace-${createHash("sha256").update(name).digest("hex").slice(0, 16)}`;
}

/** All hubs seal secrets with the same keys: those of the settings, else those derived from the secret. */
function keepVaultKeys({ settings, folder, env }: DiscoveryWiring, { vaultKey }: ClusterCredentials): void {
  const path = join(folder, "vault.keys");
  const isGiven = (env["TAILRACE_VAULT_KEYS"] ?? "").trim() !== "" || settings["auth.vault.key_file"] !== "";
  if (!isGiven && !existsSync(path)) writeFileAtomic(path, `cluster:${vaultKey}\n`, SECRET_FILE_MODE);
}

function writeCertificate(
  folder: string,
  { authority, certificate, key }: ReturnType<ClusterCredentials["issue"]>,
): ClusterMember["tls"] {
  const place = join(folder, "nats");
  mkdirSync(place, { recursive: true, mode: 0o700 });
  const write = (name: string, text: string): string => {
    const path = join(place, name);
    writeFileAtomic(path, text, SECRET_FILE_MODE);
    return path;
  };
  return {
    caFile: write("cluster-authority.pem", authority),
    certFile: write("cluster.pem", certificate),
    keyFile: write("cluster.key", key),
  };
}

function invalid(message: string): AppError {
  return new AppError("settings_invalid", message);
}
