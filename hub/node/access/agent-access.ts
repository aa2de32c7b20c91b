/**
 * Access for agents: gives nats-server the keys of enrolled agents, and agents the server's address and certificate
 * authority.
 */

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { hostname } from "node:os";
import type { AgentAccess } from "#hub/auth/accounts/agent-credentials.ts";
import { AGENT_KIND } from "#hub/auth/accounts/agent-credentials.ts";
import type { Auth } from "#hub/auth/auth.ts";
import type { HubSettings } from "#hub/node/settings/hub-settings.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { BackgroundTask, type Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import { plainHost } from "#proto/kit/net/host.ts";
import { Backoff } from "#proto/kit/retry.ts";

/** The methods of the journal's server that are needed. */
export interface AgentServer {
  setAgents(agents: readonly { readonly publicKey: string; readonly agentId: string }[]): void;
}

export interface AgentGateOptions {
  readonly auth: Pick<Auth, "agents" | "follower">;
  readonly server: AgentServer;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Changes within this time are sent to the server together. */
const GATHER_MS = 50;
const RETRY = { firstMs: 200, capMs: 10_000 };

/** Keeps nats-server's users in sync with the enrolled agents, no matter which hub or command changes them. */
export class AgentGate implements Component {
  readonly #options: AgentGateOptions;
  readonly #task = new BackgroundTask();
  #unfollow: () => void = () => undefined;
  #changed = Promise.withResolvers<void>();

  constructor(options: AgentGateOptions) {
    this.#options = options;
  }

  /** Resolves after the first configuration of the server. Throws if the state can't be read. */
  async start(): Promise<void> {
    const { auth } = this.#options;
    this.#unfollow = auth.follower.onChange(AGENT_KIND, () => this.#changed.resolve());
    await this.#configureServer();
    this.#task.start((signal) => this.#run(signal));
  }

  async stop(): Promise<void> {
    this.#unfollow();
    const ended = this.#task.stop();
    this.#changed.resolve();
    await ended;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    const backoff = new Backoff(RETRY);
    while (!signal.aborted) {
      await this.#changed.promise;
      await clock.sleep(GATHER_MS, signal);
      if (signal.aborted) return;
      this.#changed = Promise.withResolvers();
      try {
        await this.#configureServer();
        backoff.reset();
      } catch (err) {
        log.warn({ err }, "the agents' credentials cannot be read; retrying");
        this.#changed.resolve();
        await clock.sleep(backoff.next(), signal);
      }
    }
  }

  async #configureServer(): Promise<void> {
    const { auth, server } = this.#options;
    const agents = await auth.agents.list();
    server.setAgents(agents.map(({ publicKey, agentId }) => ({ publicKey, agentId })));
  }
}

/**
 * Returns the addresses at which agents reach the nats-server that listens at `natsUrl`, and the certificates by which they
 * trust it.
 */
export function agentAccess(settings: HubSettings, natsUrl: string): AgentAccess {
  const chain = chainOf(settings);
  return {
    servers: serversOf(settings, natsUrl, chain[0]),
    ca: authorityOf(chain, settings["tls.ca"])?.toString() ?? "",
    caFingerprint: certificateFingerprint(settings),
  };
}

/**
 * Returns the SHA-256, in hexadecimal, of the last certificate of the hub's chain, by which an agent recognises the
 * hub before it knows its authority; empty without TLS, and if machines trust the authority anyway.
 */
export function certificateFingerprint(settings: HubSettings): string {
  const chain = chainOf(settings);
  if (authorityOf(chain, settings["tls.ca"]) === undefined) return "";
  return chain.at(-1)?.fingerprint256.replaceAll(":", "").toLowerCase() ?? "";
}

function chainOf(settings: HubSettings): X509Certificate[] {
  const path = settings["tls.certificate"];
  return path === "" ? [] : certificatesOf(path);
}

/** Derived from settings, never from a request, whose sender could redirect agents. */
function serversOf(
  settings: HubSettings,
  natsUrl: string,
  certificate: X509Certificate | undefined,
): readonly string[] {
  if (settings["nats.advertise"].length > 0) return settings["nats.advertise"];
  const { hostname: bound, port } = new URL(natsUrl);
  const publicUrl = settings["public.url"];
  const hosts = [
    ...(bound === "0.0.0.0" || bound === "[::]" ? [] : [bound]),
    ...(publicUrl === "" ? [] : [new URL(publicUrl).hostname]),
    hostname(),
  ];
  const named = hosts.find((host) => certificate === undefined || names(certificate, host));
  return [`${certificate === undefined ? "nats" : "tls"}://${named ?? hosts[0]}:${port}`];
}

function names(certificate: X509Certificate, host: string): boolean {
  const bare = plainHost(host);
  // Each throws for the other's kind of name.
  return (isIP(bare) === 0 ? certificate.checkHost(bare) : certificate.checkIP(bare)) !== undefined;
}

/** Returns the root certificate of the chain, if it is part of it; public authorities are known everywhere. */
function authorityOf(chain: readonly X509Certificate[], caFile: string): X509Certificate | undefined {
  const last = chain.at(-1);
  if (last === undefined) return undefined;
  if (last.checkIssued(last)) return last;
  return caFile === "" ? undefined : certificatesOf(caFile).find((each) => last.checkIssued(each));
}

function certificatesOf(path: string): X509Certificate[] {
  const blocks = readFileSync(path, "utf8").match(
    /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g,
  );
  return (blocks ?? []).map((block) => new X509Certificate(block));
}
