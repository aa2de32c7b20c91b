/**
 * Messages to other hubs by links where there are some, else by NATS. A link is opened by the first message to a hub that
 * announces an address; that message and those until it is open go by NATS. README.md has the rules and the failure cases.
 */

import type { ClusterCertificate } from "#hub/cluster/discovery/cluster-credentials.ts";
import type { Clock } from "#proto/kit/clock.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Counter, Metrics } from "#proto/kit/metrics.ts";
import { Backoff } from "#proto/kit/retry.ts";
import type { HubAnswer, HubRequestOptions, HubTransport } from "./hub-transport.ts";
import { Link, type LinkEnd, LinkLost } from "./link.ts";
import { LinkServer } from "./link-server.ts";

/** Wait before a link that ended is opened again. */
const RETRY = { firstMs: 1_000, capMs: 30_000 } as const;

/** Where a hub answers links. */
export interface LinkAddress {
  readonly host: string;
  readonly port: number;
  /** Changes with each start of the hub. */
  readonly process: string;
}

export interface HubLinksOptions {
  /** Id of this hub. */
  readonly node: string;
  readonly nats: HubTransport;
  /** What this hub shows others; undefined: it has no links. */
  readonly certificate: ClusterCertificate | undefined;
  /** Returns the address that a live hub announces. */
  readonly addressOf: (hub: string) => LinkAddress | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** A hub with an address. */
interface Known {
  readonly address: LinkAddress;
  readonly backoff: Backoff;
  link: Link | undefined;
  /** No link is opened before this monotonic time, ms. */
  retryMs: number;
}

type Way = "link" | "nats";

export class HubLinks implements HubTransport {
  /** Answers the links of other hubs. */
  readonly server: LinkServer;
  readonly #options: HubLinksOptions;
  readonly #known = new Map<string, Known>();
  readonly #messages: Counter<"way">;
  readonly #failed: Counter<"way">;
  readonly #bytes: Counter<"way" | "direction">;
  readonly #ended: Counter<"reason">;
  #isStopped = false;

  constructor(options: HubLinksOptions) {
    const { node, log, metrics } = options;
    this.#options = options;
    this.server = new LinkServer(node, log);
    const name = "tailrace_cluster_messages";
    this.#messages = metrics.counter(`${name}_total`, "messages to other hubs by way: link or nats", ["way"]);
    this.#failed = metrics.counter(`${name}_failed_total`, "messages to other hubs without an answer", [
      "way",
    ]);
    const help = "bytes of messages to other hubs (sent) and of their answers (received)";
    this.#bytes = metrics.counter(`${name}_bytes_total`, help, ["way", "direction"]);
    this.#ended = metrics.counter(
      "tailrace_cluster_links_ended_total",
      "links to other hubs that ended or couldn't be opened, by reason",
      ["reason"],
    );
    metrics.gauge(
      "tailrace_cluster_links_open",
      "links between this hub and others",
      ["opened_by"],
      (gauge) => {
        const own = [...this.#known.values()].filter(({ link }) => link?.isOpen === true);
        gauge.set({ opened_by: "this" }, own.length);
        gauge.set({ opened_by: "others" }, this.server.count);
      },
    );
  }

  async request(subject: string, data: Uint8Array, options: HubRequestOptions): Promise<Uint8Array> {
    const { clock } = this.#options;
    const link = this.#linkTo(hubOf(subject));
    if (link?.takes(data.length) !== true) return this.#counted("nats", subject, data, options);
    const startMs = clock.monotonic();
    try {
      const answer = await this.#counted("link", subject, data, options, link);
      if (answer !== undefined) return answer;
    } catch (error) {
      if (!(error instanceof LinkLost) || options.repeatable !== true) throw error;
    }
    // Waits only for the rest of the request's time: the other hub may be gone.
    const timeoutMs = Math.max(0, options.timeoutMs - (clock.monotonic() - startMs));
    return this.#counted("nats", subject, data, { ...options, timeoutMs });
  }

  serve(subject: string, answer: HubAnswer): () => void {
    const ends = [this.server, this.#options.nats].map((way) => way.serve(subject, answer));
    return () => {
      for (const end of ends) end();
    };
  }

  /** Ends the links to hubs that are gone, or announce another address. */
  update(): void {
    for (const [hub, { address, link }] of this.#known) {
      if (isSame(address, this.#options.addressOf(hub))) continue;
      this.#known.delete(hub);
      link?.close();
    }
  }

  /** Ends all links; messages go by NATS from now on. */
  stop(): void {
    this.#isStopped = true;
    for (const { link } of this.#known.values()) link?.close();
    this.server.close();
  }

  #counted(way: "nats", ...message: Parameters<HubTransport["request"]>): Promise<Uint8Array>;
  #counted(
    way: "link",
    ...message: [...Parameters<HubTransport["request"]>, Link]
  ): Promise<Uint8Array | undefined>;
  async #counted(
    way: Way,
    subject: string,
    data: Uint8Array,
    options: HubRequestOptions,
    link?: Link,
  ): Promise<Uint8Array | undefined> {
    this.#messages.inc({ way });
    this.#bytes.inc({ way, direction: "sent" }, data.length);
    try {
      const answer = await (link ?? this.#options.nats).request(subject, data, options);
      this.#bytes.inc({ way, direction: "received" }, answer?.length ?? 0);
      return answer;
    } catch (error) {
      this.#failed.inc({ way });
      throw error;
    }
  }

  /** Returns the link to a hub; opens one if there is none. */
  #linkTo(hub: string): Link | undefined {
    const { certificate, addressOf, clock } = this.#options;
    const address = addressOf(hub);
    if (certificate === undefined || address === undefined || this.#isStopped) return undefined;
    let known = this.#known.get(hub);
    if (known === undefined || !isSame(known.address, address)) {
      known?.link?.close();
      known = { address, backoff: new Backoff(RETRY), link: undefined, retryMs: 0 };
      this.#known.set(hub, known);
    }
    if (known.link === undefined && clock.monotonic() >= known.retryMs)
      known.link = this.#open(hub, known, certificate);
    return known.link;
  }

  #open(hub: string, known: Known, certificate: ClusterCertificate): Link {
    const { log } = this.#options;
    const { host, port } = known.address;
    return new Link({
      hub,
      host,
      port,
      certificate,
      onOpen: () => {
        known.backoff.reset();
        log.info({ node: hub, host, port }, "messages to another hub go by a direct connection");
      },
      onEnd: (end, reason) => this.#lost(hub, known, end, reason),
    });
  }

  #lost(hub: string, known: Known, end: LinkEnd, reason: string): void {
    const { clock, log } = this.#options;
    const isFirst = known.backoff.tries === 0;
    known.link = undefined;
    known.retryMs = clock.monotonic() + known.backoff.next();
    if (end === "closed") return;
    this.#ended.inc({ reason: end });
    const { host, port } = known.address;
    const text = `no direct connection to another hub: ${REMEDIES[end]}; messages go by NATS meanwhile`;
    log[isFirst ? "warn" : "debug"]({ node: hub, host, port, end, reason }, text);
  }
}

const REMEDIES: Readonly<Record<Exclude<LinkEnd, "closed">, string>> = {
  away: "nothing answers there; if this lasts, open transport.port between the hubs, or correct transport.host of that one",
  foreign: "it has another secret; set the same cluster.secret and nats.token on all hubs",
  other: "another program or hub answers there; give each hub a transport.host and transport.port of its own",
  silent: "it stopped answering",
  lost: "the connection broke",
};

function isSame(a: LinkAddress, b: LinkAddress | undefined): boolean {
  return a.host === b?.host && a.port === b.port && a.process === b.process;
}

/** Returns the hub of a subject `hub.<id>.…`. */
function hubOf(subject: string): string {
  return subject.slice("hub.".length, subject.indexOf(".", "hub.".length));
}
