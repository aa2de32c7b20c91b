/** Checks that exactly one entry of `discovery.seed_hosts` is this hub: all hubs have the same list. */

import { AppError } from "#proto/kit/errors.ts";
import { reachableHost } from "#proto/kit/net/loopback.ts";
import type { ClusterCertificate } from "./cluster-credentials.ts";
import { callHub, type HelloAnswer, type HubAddress } from "./hello-call.ts";

export interface OwnSeedOptions {
  readonly seeds: readonly HubAddress[];
  /** Address on which this hub listens. */
  readonly own: HubAddress;
  readonly certificate: ClusterCertificate;
  /** Aborts the calls; each of them also has a timeout. */
  readonly signal?: AbortSignal;
}

/**
 * Asks all entries. Throws settings_invalid if several are this hub, or if all answer and none is: the others' nats-servers
 * check a hub's certificate against their names for it, and it contains those of its own list. An entry that doesn't answer
 * may be this hub.
 */
export async function checkOwnSeed(options: OwnSeedOptions): Promise<void> {
  const { seeds, own, certificate, signal = new AbortController().signal } = options;
  const call = (address: HubAddress): Promise<HelloAnswer> => callHub(address, certificate, signal);
  const [self, answers] = await Promise.all([
    call({ ...own, host: reachableHost(own.host) }),
    Promise.all(seeds.map(call)),
  ]);
  if (self.kind !== "hub") return;
  const found = seeds.filter((_, at) => processOf(answers[at]!) === self.hello.process);
  const names = found.map(({ host, port }) => `${host}:${port}`).join(" and ");
  if (found.length > 1)
    throw new AppError(
      "settings_invalid",
      `discovery.seed_hosts: ${names} are both this hub; name each hub once, by the same name in the lists of all hubs`,
    );
  if (found.length === 0 && answers.every(({ kind }) => kind === "hub"))
    throw new AppError(
      "settings_invalid",
      `discovery.seed_hosts names other hubs, but not this one: add the address at which they reach its transport.port (${own.port}), and give all hubs the same list`,
    );
}

function processOf(answer: HelloAnswer): string | undefined {
  return answer.kind === "hub" ? answer.hello.process : undefined;
}
