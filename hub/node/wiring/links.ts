/** Sets up the links to other hubs: who takes them, at which address, and with which certificate. */

import { networkInterfaces } from "node:os";
import { type ClusterCertificate, randomCredentials } from "#hub/cluster/discovery/cluster-credentials.ts";
import type { HubAddress } from "#hub/cluster/discovery/hello-call.ts";
import { TransportListener } from "#hub/cluster/discovery/transport-listener.ts";
import { HubLinks } from "#hub/cluster/links/hub-links.ts";
import { CLUSTER_BUCKET, sharedSecret } from "#hub/cluster/membership/cluster-identity.ts";
import type { Journal } from "#hub/journal/journal.ts";
import type { HubSettings } from "#hub/node/settings/hub-settings.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { toAppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import type { ClusterNode } from "./cluster.ts";
import type { Discovered } from "./discovery.ts";

/** Addresses of listeners on all interfaces. */
const EVERYWHERE: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

export interface LinksWiring {
  readonly settings: HubSettings;
  readonly journal: Journal;
  readonly cluster: ClusterNode;
  /** Undefined without discovery.seed_hosts. */
  readonly discovered: Discovered | undefined;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** How this hub takes links. */
interface Taken {
  readonly certificate: ClusterCertificate;
  readonly listener: TransportListener;
  /** True: the listener belongs to the links and is started and stopped with them. */
  readonly isOwn: boolean;
  /** Returns the address at which others reach the listener. */
  readonly address: () => HubAddress;
}

/** Makes the links without starting them. A hub that has no other, or only by its own nats-server, has none. */
export async function makeLinks(
  wiring: LinksWiring,
): Promise<{ readonly links: HubLinks; readonly part: Component }> {
  const { journal, cluster, log, metrics } = wiring;
  const taken = await takenBy(wiring);
  let address: HubAddress | undefined;
  const links = new HubLinks({
    node: cluster.identity.node,
    nats: journal.core,
    certificate: taken?.certificate,
    addressOf: (hub) => {
      const member = cluster.directory.get(hub)?.record;
      if (member?.linkAddress === undefined || member.state !== "live") return undefined;
      const { host, port } = member.linkAddress;
      // Hubs of other machines that are only reached on loopback.
      if (host === address?.host && port === address.port) return undefined;
      return { host, port, process: member.process };
    },
    clock: systemClock,
    log,
    metrics,
  });
  cluster.useLinkAddress(() => address);
  const unfollow = cluster.directory.onChange(() => links.update());
  const part = {
    start: async () => {
      taken?.listener.onLink((socket) => links.server.accept(socket));
      if (taken !== undefined && (await isListening(taken, log))) address = taken.address();
    },
    stop: async () => {
      unfollow();
      links.stop();
      if (taken?.isOwn === true) await taken.listener.stop();
    },
  };
  return { links, part };
}

async function takenBy({ settings, journal, discovered, log }: LinksWiring): Promise<Taken | undefined> {
  const host = settings["transport.host"] || settings["network.host"];
  const port = settings["transport.port"];
  if (discovered !== undefined) {
    const { discovery, certificate } = discovered;
    const { listener } = discovery;
    const address = (): HubAddress => discovery.address ?? reachable({ host, port: listener.port });
    return { certificate, listener, isOwn: false, address };
  }
  if (settings["nats.servers"].length === 0) return undefined;
  // Who can read the bucket may send any message to hubs anyway; a backup of it alone isn't enough.
  const secret = await sharedSecret(await journal.bucket(CLUSTER_BUCKET));
  // Callers don't check the name; `host` may be an address that certificates can't hold, such as fe80::1%eth0.
  const certificate = randomCredentials(`${secret}.${settings["nats.token"]}`).issue(["localhost"]);
  const listener = new TransportListener({ host, port, certificate, log });
  return { certificate, listener, isOwn: true, address: () => reachable({ host, port: listener.port }) };
}

/** Hubs that share a NATS also work without links. */
async function isListening({ listener, isOwn }: Taken, log: Logger): Promise<boolean> {
  if (!isOwn) return true;
  try {
    await listener.start();
    return true;
  } catch (error) {
    log.warn({ err: toAppError(error) }, "other hubs reach this one by NATS only");
    return false;
  }
}

/** Returns the address of a listener, or one of this machine if it listens on all interfaces. */
function reachable({ host, port }: HubAddress): HubAddress {
  if (!EVERYWHERE.has(host)) return { host, port };
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const outer = all.filter(({ internal, scopeid = 0 }) => !internal && scopeid === 0);
  const found = outer.find(({ family }) => family === "IPv4") ?? outer[0];
  return { host: found?.address ?? "127.0.0.1", port };
}
