/** Who may do what at the hub's listeners: joins the room of authentication with the HTTP interfaces and the live socket. */

import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingMessage } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Reach } from "#hub/alerts/rule-store.ts";
import type { AccessControl, Action, IncomingCredentials } from "#hub/api/http/route.ts";
import type { Documents, Indices, Principal } from "#hub/api/ports/indices.ts";
import type { DashboardPlugin } from "#hub/api/server.ts";
import { ANONYMOUS, authorize, type Principal as Signed } from "#hub/auth/accounts/principal.ts";
import { Auth } from "#hub/auth/auth.ts";
import type { Viewer } from "#hub/live/live-server.ts";
import type { HubSettings } from "#hub/node/settings/hub-settings.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { type Component, Lifecycle } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { AgentGate, type AgentServer, agentAccess } from "./agent-access.ts";
import { AuditLog, type AuditLogOptions } from "./audit-log.ts";
import { reaches, reachOf } from "./index-access.ts";
import { GuardedDocuments, GuardedIndices } from "./index-guard.ts";

/** What the routes get of who asks; what they may do stays in here. */
class Caller implements Principal {
  readonly name: string;
  readonly roles: Principal["roles"];
  readonly signed: Signed;

  constructor(signed: Signed) {
    this.name = signed.name;
    this.roles = [signed.role];
    this.signed = signed;
  }
}

export class Access implements AccessControl {
  readonly #auth: Auth;
  readonly #required: boolean;
  /** Who sent the request that is being worked on. */
  readonly #present = new AsyncLocalStorage<Signed>();

  /** `required`: `auth.mode` isn't off. */
  constructor(auth: Auth, required: boolean) {
    this.#auth = auth;
    this.#required = required;
  }

  /**
   * Returns the routes of sign-in, administration and the identity provider, the way from the page to the sign-in, and
   * `/health` for probes, which have no credentials. `ready`: whether requests can be served.
   */
  plugins(ready: () => boolean): DashboardPlugin[] {
    if (!this.#required) return [this.#auth.plugin];
    return [this.#auth.plugin, openHealth(ready), signInFirst(this.#auth)];
  }

  /** Throws as Authenticator.authenticate. */
  async authenticate({ method, headers, ip }: IncomingCredentials): Promise<Principal> {
    return new Caller(await this.#auth.authenticator.authenticate({ method, headers, ip }));
  }

  /** Throws forbidden; else the rest of the request is done in the principal's name, see `guard`. */
  authorize(principal: Principal, action: Action): void {
    if (!(principal instanceof Caller))
      throw new AppError("forbidden", "the sender of this request isn't known");
    authorize(principal.signed, action);
    this.#present.enterWith(principal.signed);
  }

  /** Returns indices and documents as each request's sender may see them; the same ones where everybody may everything. */
  guard<I extends Indices, D extends Documents>(
    indices: I,
    documents: D,
  ): { readonly indices: Indices; readonly documents: Documents } {
    if (!this.#required) return { indices, documents };
    const guarded = new GuardedIndices(indices, () => this.#principal());
    return { indices: guarded, documents: new GuardedDocuments(documents, guarded) };
  }

  /** Returns who opens a live socket. Throws unauthenticated, forbidden, request_invalid, overloaded. */
  async viewer({ headers, socket }: IncomingMessage): Promise<Viewer> {
    const { authenticator } = this.#auth;
    const credentials = { method: "GET", headers, ip: socket.remoteAddress ?? "" };
    const principal = await authenticator.authenticateUpgrade(credentials);
    authorize(principal, "search");
    return {
      id: `${principal.kind} ${principal.id}`,
      byCookie: principal.sessionKey !== undefined,
      mayRead: (index) => reaches(principal, index),
      // Asking by the cookie again would count as use and keep the session alive as long as the page is open.
      isStillSignedIn: () =>
        principal.sessionKey === undefined
          ? isSignedIn(authenticator.authenticateUpgrade(credentials))
          : authenticator.stillValid(principal),
    };
  }

  /** Returns which indices the present request's sender reaches; all where everybody may everything. */
  readonly reach = (): Reach => reachOf(this.#required ? this.#principal() : ANONYMOUS);

  #principal(): Signed {
    const principal = this.#present.getStore();
    if (principal === undefined)
      throw new AppError("forbidden", "nobody is known in whose name this is done");
    return principal;
  }
}

async function isSignedIn(attempt: Promise<Signed>): Promise<boolean> {
  try {
    await attempt;
    return true;
  } catch (error) {
    // A state that can't be read now says nothing of the sign-in.
    if (toAppError(error).status < 500) return false;
    throw error;
  }
}

/** Who opens the page without a session is led to the sign-in; the page's files themselves hold no secret. */
function signInFirst({ authenticator }: Auth): DashboardPlugin {
  return overAllRoutes(async (request, reply) => {
    if (request.method !== "GET" || pathOf(request) !== "/") return;
    if (await isSignedIn(authenticator.authenticate(request))) return;
    const returnTo = encodeURIComponent(request.url);
    await reply.header("cache-control", "no-store").redirect(`/api/auth/login?return_to=${returnTo}`, 303);
  });
}

/** Says no more than whether the hub works. */
function openHealth(ready: () => boolean): DashboardPlugin {
  return overAllRoutes(async (request, reply) => {
    if ((request.method !== "GET" && request.method !== "HEAD") || pathOf(request) !== "/health") return;
    const isReady = ready();
    await reply.code(isReady ? 200 : 503).send({ status: isReady ? "ok" : "starting" });
  });
}

function pathOf({ url }: FastifyRequest): string {
  return url.split("?", 1)[0] ?? "";
}

/** Returns a plugin whose hook is for the routes of other plugins too, which fastify would keep apart. */
function overAllRoutes(
  hook: (request: FastifyRequest, reply: FastifyReply) => Promise<void>,
): DashboardPlugin {
  const plugin: DashboardPlugin = (app) => {
    app.addHook("onRequest", hook);
    return Promise.resolve();
  };
  return Object.assign(plugin, { [Symbol.for("skip-override")]: true });
}

/** Name of the bucket that holds accounts, sessions, keys, clients and tokens. */
export const AUTH_BUCKET = "auth";

export interface AccessParts {
  readonly settings: HubSettings;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** The hub's data folder, absolute. */
  readonly folder: string;
  readonly bucket: StateBucket;
  /** Where the audit log goes. */
  readonly documents: AuditLogOptions["documents"];
  /** The dashboard's own address; asked once it listens. */
  readonly dashboardUrl: () => string;
  readonly natsServer: AgentServer & { readonly embeds: boolean; readonly address: { readonly url: string } };
}

/** The opened room; to be started before the listeners. */
export interface OpenedAccess extends Component {
  readonly access: Access;
  /** Returns the one-time address that makes the first administrator, or null where nobody needs it. */
  setupLink(): Promise<string | null>;
  /** See Connections.bearer. */
  bearer(connection: string, host: string, rejected?: string): Promise<string>;
}

/** Throws settings_invalid for settings that contradict each other and for vault keys that are missing or wrong. */
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
    log.error({ err: error, part }, "a part of access didn't stop"),
  );
  const required = settings["auth.mode"] === "required";
  return {
    access: new Access(auth, required),
    start: async () => {
      await lifecycle.start("audit log", audit);
      await lifecycle.start("authentication", auth);
      const gate = new AgentGate({ auth, server: natsServer, clock: systemClock, log });
      if (natsServer.embeds) await lifecycle.start("agents' credentials", gate);
    },
    stop: () => lifecycle.stop(),
    bearer: (...asked) => auth.connections.bearer(...asked),
    setupLink: () =>
      required && settings["auth.provider.enabled"] ? auth.setupLink() : Promise.resolve(null),
  };
}
