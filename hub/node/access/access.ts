/**
 * Access control of the hub's listeners: connects authentication with the HTTP APIs and the live socket, and starts it as
 * one component.
 */

import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingMessage } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { AccessControl, AccessEvent, IncomingCredentials } from "#hub/api/http/route.ts";
import type { Documents } from "#hub/api/ports/documents.ts";
import type { Indices } from "#hub/api/ports/indices.ts";
import type { DashboardPlugin } from "#hub/api/server.ts";
import { mayEverywhere } from "#hub/auth/accounts/index-rights.ts";
import {
  type Action,
  ANONYMOUS,
  authorize,
  authorizeAll,
  keyOf,
  type Principal,
} from "#hub/auth/accounts/principal.ts";
import { RateLimit } from "#hub/auth/accounts/throttle.ts";
import { Auth } from "#hub/auth/auth.ts";
import type { Viewer } from "#hub/live/live-server.ts";
import type { HubSettings } from "#hub/node/settings/hub-settings.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { type Component, Lifecycle } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import { TrustedProxies } from "#proto/kit/net/trusted-proxies.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { AgentGate, type AgentServer, agentAccess } from "./agent-access.ts";
import { AuditLog, type AuditLogOptions } from "./audit-log.ts";
import { GuardedDocuments } from "./document-guard.ts";
import { reaches } from "./index-access.ts";
import { GuardedIndices, type Sender } from "./index-guard.ts";

/** Maximum refusals per principal and minute that go into the audit log. */
const NOTED_REFUSALS = 10;

export class Access implements AccessControl {
  readonly auth: Auth;
  readonly #required: boolean;
  readonly #proxies: TrustedProxies;
  readonly #refusals = new RateLimit(systemClock, NOTED_REFUSALS);
  /** The sender of the current request. */
  readonly #present = new AsyncLocalStorage<Sender>();

  /** `required`: `auth.mode` is not off. `proxies`: those in front of the listeners. */
  constructor(auth: Auth, required: boolean, proxies = new TrustedProxies([])) {
    this.auth = auth;
    this.#required = required;
    this.#proxies = proxies;
  }

  /** Returns the plugins of the dashboard's listener: the redirect to the sign-in, if one is required. */
  plugins(): DashboardPlugin[] {
    return this.#required ? [signInFirst(this.auth)] : [];
  }

  /** Throws as Authenticator.authenticate. */
  authenticate({ method, headers, ip }: IncomingCredentials): Promise<Principal> {
    return this.auth.authenticator.authenticate({ method, headers, ip });
  }

  /** Throws forbidden; otherwise the rest of the request runs on behalf of the principal, see `guard`. */
  authorize(principal: Principal, actions: readonly Action[]): void {
    authorizeAll(principal, actions);
    this.#present.enterWith({ principal, actions });
  }

  /**
   * Returns indices and documents restricted to what each request's sender may access; unrestricted without
   * authentication.
   */
  guard<I extends Indices, D extends Documents>(
    indices: I,
    documents: D,
  ): { readonly indices: Indices; readonly documents: Documents } {
    if (!this.#required) return { indices, documents };
    const guarded = new GuardedIndices(indices, () => this.#sender());
    return { indices: guarded, documents: new GuardedDocuments(documents, guarded) };
  }

  /** See AccessControl. Logs some refusals per principal and minute; without authentication there is no principal to name. */
  note({ action, outcome, principal, ip, subject, reason }: AccessEvent): void {
    if (!this.#required) return;
    if (outcome === "refused" && !this.#refusals.allows(keyOf(principal))) return;
    const { name: actor } = principal;
    this.auth.audit({ action, outcome, actor, ip, subject, ...(reason !== undefined && { reason }) });
  }

  /** Returns the viewer of a live socket. Throws unauthenticated, forbidden, request_invalid, overloaded. */
  async viewer({ headers, socket }: IncomingMessage): Promise<Viewer> {
    const { authenticator } = this.auth;
    const ip = this.#proxies.clientOf(socket.remoteAddress ?? "", headers["x-forwarded-for"]);
    const credentials = { method: "GET", headers, ip };
    let principal = await authenticator.authenticateUpgrade(credentials);
    authorize(principal, "search");
    // Rights may have changed since: the account's, or the scopes of a token.
    const renew = async (): Promise<void> => {
      principal = await authenticator.authenticateUpgrade(credentials);
      authorize(principal, "search");
    };
    return {
      id: keyOf(principal),
      byCookie: principal.sessionKey !== undefined,
      mayRead: (index) => reaches(principal, index, ["search"]),
      // Another authentication by the cookie would count as use and keep the session alive while the page is open.
      isStillSignedIn: () =>
        principal.sessionKey === undefined ? isSignedIn(renew()) : authenticator.stillValid(principal),
    };
  }

  /** Calls `listener` when rights may have changed. Returns a function that unsubscribes. */
  onRightsChange(listener: () => void): () => void {
    return this.auth.follower.onRightsChange(listener);
  }

  /**
   * Returns true if the value of an Authorization header names a principal that may ingest into every index: the pipeline
   * decides where the events of an input go. False without authentication. Throws overloaded.
   */
  async mayIngest(authorization: string, ip: string): Promise<boolean> {
    if (!this.#required) return false;
    try {
      const credentials = { method: "POST", headers: { authorization }, ip };
      const principal = await this.auth.authenticator.authenticate(credentials);
      return principal.actions.has("ingest") && mayEverywhere(principal.indices, "ingest");
    } catch (error) {
      const { status } = toAppError(error);
      if (status === 400 || status === 401 || status === 403) return false;
      throw error;
    }
  }

  /** Returns the current request's sender; without authentication, one with all rights. */
  readonly principal = (): Principal => (this.#required ? this.#sender().principal : ANONYMOUS);

  #sender(): Sender {
    const sender = this.#present.getStore();
    if (sender === undefined) throw new AppError("forbidden", "the request has no authenticated sender");
    return sender;
  }
}

async function isSignedIn(attempt: Promise<unknown>): Promise<boolean> {
  try {
    await attempt;
    return true;
  } catch (error) {
    // A temporary failure to read the state doesn't end a session.
    if (toAppError(error).status < 500) return false;
    throw error;
  }
}

/** Redirects page requests without a session to the sign-in; the page's files contain no secrets. */
function signInFirst({ authenticator }: Auth): DashboardPlugin {
  return overAllRoutes(async (request, reply) => {
    if (request.method !== "GET" || request.url.split("?", 1)[0] !== "/") return;
    if (await isSignedIn(authenticator.authenticate(request))) return;
    const returnTo = encodeURIComponent(request.url);
    await reply.header("cache-control", "no-store").redirect(`/api/auth/login?return_to=${returnTo}`, 303);
  });
}

/** Returns a plugin whose hook also applies to the routes of other plugins, which fastify would encapsulate. */
function overAllRoutes(
  hook: (request: FastifyRequest, reply: FastifyReply) => Promise<void>,
): DashboardPlugin {
  const plugin: DashboardPlugin = (app) => {
    app.addHook("onRequest", hook);
    return Promise.resolve();
  };
  return Object.assign(plugin, { [Symbol.for("skip-override")]: true });
}

/** Bucket with accounts, sessions, keys, clients and tokens. */
export const AUTH_BUCKET = "auth";

export interface AccessParts {
  readonly settings: HubSettings;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** The hub's data folder, absolute. */
  readonly folder: string;
  readonly bucket: StateBucket;
  /** Destination of the audit log. */
  readonly documents: AuditLogOptions["documents"];
  /** The dashboard's own address; called once it listens. */
  readonly dashboardUrl: () => string;
  readonly natsServer: AgentServer & { readonly embeds: boolean; readonly address: { readonly url: string } };
}

/** Authentication as a component; must be started before the listeners. */
export interface OpenedAccess extends Component {
  readonly access: Access;
  /** Returns the one-time address that creates the first administrator, or null if there is one. */
  setupLink(): Promise<string | null>;
  /** See Connections.bearer. */
  bearer(connection: string, host: string, rejected?: string): Promise<string>;
  /** See Access.mayIngest. */
  mayIngest(authorization: string, ip: string): Promise<boolean>;
}

/** Throws settings_invalid for contradicting settings and for missing or wrong vault keys. */
export async function openAccess(parts: AccessParts): Promise<OpenedAccess> {
  const { settings, log, metrics, folder, bucket, documents, dashboardUrl, natsServer } = parts;
  const node = settings["node.name"];
  const audit = new AuditLog({ documents, node, clock: systemClock, log, metrics });
  const auth = await Auth.open({
    settings,
    dataPath: folder,
    bucket,
    log,
    metrics,
    audit: audit.record,
    dashboardUrl,
    env: process.env,
    agentAccess: () => (natsServer.embeds ? agentAccess(settings, natsServer.address.url) : null),
  });
  const lifecycle = new Lifecycle((part, error) =>
    log.error({ err: error, part }, "a part of access did not stop"),
  );
  const required = settings["auth.mode"] === "required";
  const access = new Access(auth, required, new TrustedProxies(settings["network.trusted_proxies"]));
  return {
    access,
    mayIngest: (...request) => access.mayIngest(...request),
    start: async () => {
      await lifecycle.start("audit log", audit);
      await lifecycle.start("authentication", auth);
      const gate = new AgentGate({ auth, server: natsServer, clock: systemClock, log });
      if (natsServer.embeds) await lifecycle.start("agents' credentials", gate);
    },
    stop: () => lifecycle.stop(),
    bearer: (...request) => auth.connections.bearer(...request),
    setupLink: () =>
      required && settings["auth.provider.enabled"] ? auth.setupLink() : Promise.resolve(null),
  };
}
