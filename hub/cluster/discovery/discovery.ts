/**
 * Finds the hubs of `discovery.seed_hosts`, decides when this hub may start its part of their store, and keeps the
 * addresses of the routes between their nats-servers.
 */

import { randomBytes } from "node:crypto";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import { urlHost } from "#proto/kit/net/host.ts";
import { reachableHost } from "#proto/kit/net/loopback.ts";
import type { ClusterCertificate } from "./cluster-credentials.ts";
import {
  conflictOfFounders,
  conflictWith,
  type Decision,
  decide,
  grownFrom,
  SMALLEST_CLUSTER,
} from "./formation.ts";
import { type Formation, readFormation, removeOwnStore, writeFormation } from "./formation-file.ts";
import type { Hello, StoreState } from "./hello.ts";
import { callHub, type HelloAnswer, type HubAddress } from "./hello-call.ts";
import { checkOwnSeed } from "./own-seed.ts";
import { TransportListener } from "./transport-listener.ts";

/** Pause between rounds while this hub waits for others, and afterwards. */
const WAITING_EVERY_MS = 500;
const RUNNING_EVERY_MS = 10_000;
/** A hub without a store waits this long for the others; then it exits, and its supervisor restarts it. */
const FORM_TIMEOUT_MS = 120_000;
/** How often the log names the hubs that this one waits for. */
const NAMED_EVERY_MS = 10_000;

export interface DiscoveryOptions {
  /** discovery.seed_hosts, of all hubs; this one may be among them. */
  readonly seeds: readonly HubAddress[];
  /** Address of this hub's own listener, and the port of its routes. */
  readonly host: string;
  readonly port: number;
  readonly routePort: number;
  readonly node: string;
  readonly cluster: string;
  /** Returns the UUID of the cluster that the data folder belongs to; empty: none yet. */
  readonly id: () => string;
  /** The same if the folder has the log of a single hub, which becomes the cluster's; else empty. */
  readonly grows: string;
  readonly release: string;
  readonly certificate: ClusterCertificate;
  /** path.data, absolute. */
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Logger;
}

export class Discovery implements Component {
  readonly listener: TransportListener;
  readonly #options: DiscoveryOptions;
  readonly #process = randomBytes(16).toString("base64url");
  readonly #stop = new AbortController();
  #formation: Formation;
  /** Entries of the seeds that are this hub itself. */
  readonly #own = new Set<string>();
  #allAnswered = false;
  /** True while this process's part of the store works. */
  #led = false;
  #following: Promise<void> = Promise.resolve();

  constructor(options: DiscoveryOptions) {
    this.#options = options;
    this.#formation = readFormation(options.folder);
    this.listener = new TransportListener({ ...options, own: () => this.#hello() });
  }

  /** Addresses of all hubs' routes, host:port; this hub's own too, which nats-server recognises. */
  routes(): string[] {
    const { seeds, routePort, host } = this.#options;
    const known = seeds.map((seed) => {
      const key = addressText(seed);
      const port = this.#own.has(key) ? routePort : (this.#formation.routePorts[key] ?? routePort);
      return addressText({ host: seed.host, port });
    });
    // Their number equals the number of founding servers.
    return this.#own.size > 0
      ? known
      : [...known, addressText({ host: reachableHost(host), port: routePort })];
  }

  /** Address at which the other hubs reach this one's listener, as far as it is known. Valid after `untilFormed`. */
  get address(): HubAddress | undefined {
    return this.#options.seeds.find((seed) => this.#own.has(addressText(seed)));
  }

  /** Hubs of the cluster, this one included. */
  get size(): number {
    return this.#options.seeds.length + (this.#own.size > 0 ? 0 : 1);
  }

  /** True if the store is to get the log of a single hub and isn't known to have it yet. Valid after `untilFormed`. */
  get isGrowing(): boolean {
    return this.#formation.store === "founding" && this.#formation.grows !== "";
  }

  /** Answers other hubs from now on. Throws port_taken or settings_invalid. */
  start(): Promise<void> {
    return this.listener.start();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#following;
    await this.listener.stop();
  }

  /**
   * Resolves when this hub may start its part of the store. Throws settings_invalid if another hub contradicts it,
   * unavailable if the others aren't found in time, and the reason of `signal`, which ends the wait.
   */
  async untilFormed(signal?: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    const ended = signal === undefined ? this.#stop.signal : AbortSignal.any([signal, this.#stop.signal]);
    const endMs = clock.monotonic() + FORM_TIMEOUT_MS;
    let namedMs = clock.monotonic() - NAMED_EVERY_MS;
    for (;;) {
      const round = await this.#round(ended);
      ended.throwIfAborted();
      this.#refuse(round);
      const decision = this.#decide(round);
      if (decision !== "wait") {
        await this.#checkOwnSeed(ended);
        ended.throwIfAborted();
        const grows = grownFrom(this.#hello(), hellosOf(round));
        if (decision === "found") this.#save({ ...this.#formation, store: "founding", grows });
        log.info({ decision, hubs: hellosOf(round).map(({ node }) => node) }, "the hub enters its cluster");
        return;
      }
      const missing = awayOf(round);
      if (clock.monotonic() >= endMs) throw notFound(missing);
      if (clock.monotonic() - namedMs >= NAMED_EVERY_MS) {
        log.info({ missing }, "waiting for the other hubs of discovery.seed_hosts");
        namedMs = clock.monotonic();
      }
      await clock.sleep(WAITING_EVERY_MS, ended);
    }
  }

  /** Throws settings_invalid unless the seeds name this hub exactly once: the routes to it would fail. */
  #checkOwnSeed(signal: AbortSignal): Promise<void> {
    const { seeds, host, port, certificate } = this.#options;
    return checkOwnSeed({ seeds, own: { host, port }, certificate, signal });
  }

  /**
   * Records that the store works, and removes the single hub's store that it was grown from. From now on calls `onChange`
   * when the addresses of routes change.
   */
  formed(onChange: () => void): void {
    if (this.#formation.store !== "formed") this.#save({ ...this.#formation, store: "formed" });
    if (this.#formation.grows !== "") this.#removeOwnStore();
    this.#led = true;
    this.#following = this.#follow(onChange);
  }

  /** A store that can't be removed only uses disk space; the next start tries again. */
  #removeOwnStore(): void {
    try {
      removeOwnStore(this.#options.folder);
    } catch (error) {
      this.#options.log.warn({ err: toAppError(error) }, "the former store of this hub can't be removed");
    }
  }

  /** A round that fails, for example on a full disk, is repeated by the next one. */
  async #follow(onChange: () => void): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#stop;
    const reported = new Set<string>();
    let told = this.routes().join();
    for (;;) {
      await clock.sleep(RUNNING_EVERY_MS, signal);
      if (signal.aborted) return;
      try {
        this.#report(await this.#round(signal), reported);
        const routes = this.routes().join();
        if (routes !== told) onChange();
        told = routes;
      } catch (error) {
        log.warn({ err: toAppError(error) }, "the other hubs' addresses can't be kept; retrying");
      }
    }
  }

  #report(round: ReadonlyMap<string, HelloAnswer>, reported: Set<string>): void {
    for (const fault of this.#faults(round)) {
      if (!reported.has(fault)) this.#options.log.warn({ fault }, "another hub contradicts this one");
      reported.add(fault);
    }
  }

  /** Asks all other hubs at once. */
  async #round(signal: AbortSignal): Promise<Map<string, HelloAnswer>> {
    const { seeds, certificate } = this.#options;
    const answers = await Promise.all(
      seeds.map(async (seed) => [addressText(seed), await callHub(seed, certificate, signal)] as const),
    );
    this.#allAnswered = answers.every(([, { kind }]) => kind === "hub");
    const ports = { ...this.#formation.routePorts };
    for (const [key, answer] of answers) {
      if (answer.kind !== "hub") continue;
      if (answer.hello.process === this.#process) this.#own.add(key);
      else ports[key] = answer.hello.routePort;
    }
    const isNew = Object.entries(ports).some(([key, port]) => this.#formation.routePorts[key] !== port);
    if (isNew) this.#save({ ...this.#formation, routePorts: ports });
    return new Map(answers.filter(([key]) => !this.#own.has(key)));
  }

  #decide(round: ReadonlyMap<string, HelloAnswer>): Decision {
    const others = hellosOf(round);
    if (this.#isComplete && this.size < SMALLEST_CLUSTER)
      throw new AppError(
        "settings_invalid",
        `discovery.seed_hosts names ${this.size} hubs, this one included: name at least ${SMALLEST_CLUSTER}, since of two neither may be lost`,
      );
    const decision = decide(this.#formation.store, this.size, others);
    if (decision !== "found") return decision;
    const conflict = conflictOfFounders(this.#hello(), others);
    if (conflict !== undefined) throw new AppError("settings_invalid", conflict);
    return decision;
  }

  #refuse(round: ReadonlyMap<string, HelloAnswer>): void {
    const [fault] = this.#faults(round);
    if (fault !== undefined) throw new AppError("settings_invalid", fault);
  }

  /** Returns why this hub and another one can't belong together. */
  #faults(round: ReadonlyMap<string, HelloAnswer>): string[] {
    const own = this.#hello();
    const faults: string[] = [];
    const seen = new Map<string, string>();
    for (const [address, answer] of round) {
      if (answer.kind !== "hub") {
        if (answer.kind === "foreign")
          faults.push(
            `the hub at ${address} has another cluster.secret (${answer.reason}): set the same one on all hubs`,
          );
        continue;
      }
      const twice = seen.get(answer.hello.process);
      if (twice !== undefined)
        faults.push(`discovery.seed_hosts: ${twice} and ${address} are the same hub; name each hub once`);
      seen.set(answer.hello.process, address);
      const conflict = conflictWith(own, answer.hello, address);
      if (conflict !== undefined) faults.push(conflict);
    }
    return faults;
  }

  #hello(): Hello {
    const { node, cluster, id, release, routePort } = this.#options;
    const { store } = this.#formation;
    const size = this.#isComplete ? this.size : 0;
    const [process, led] = [this.#process, this.#led];
    const grows = this.#formation.grows || this.#options.grows;
    return { version: 1, process, node, cluster, id: id(), release, routePort, size, store, led, grows };
  }

  /** True once this hub knows whether the seeds name it. */
  get #isComplete(): boolean {
    return this.#own.size > 0 || this.#allAnswered;
  }

  #save(formation: Formation): void {
    writeFormation(this.#options.folder, formation);
    this.#formation = formation; // only the file: the next round tries again
  }
}

/** Returns host:port, with brackets around an IPv6 address. */
export function addressText({ host, port }: HubAddress): string {
  return `${urlHost(host)}:${port}`;
}

function hellosOf(round: ReadonlyMap<string, HelloAnswer>): Hello[] {
  return [...round.values()].flatMap((answer) => (answer.kind === "hub" ? [answer.hello] : []));
}

const STATES: Readonly<Record<StoreState, string>> = {
  empty: "it has no store",
  founding: "its store is being made",
  formed: "its store doesn't work yet",
};

function awayOf(round: ReadonlyMap<string, HelloAnswer>): string[] {
  return [...round].flatMap(([address, answer]) => {
    if (answer.kind === "hub") return answer.hello.led ? [] : [`${address} (${STATES[answer.hello.store]})`];
    return [`${address}: ${answer.reason}`];
  });
}

function notFound(missing: readonly string[]): AppError {
  return new AppError(
    "unavailable",
    `the cluster can't be formed, since these hubs are missing: ${missing.join("; ")}. A hub without a store needs all hubs of discovery.seed_hosts to found one, and most of them to join theirs`,
  );
}
