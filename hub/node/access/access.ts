/** Who may do what at the hub's listeners: joins the room of authentication with the HTTP interfaces and the live socket. */

import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingMessage } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Reach } from "#hub/alerts/rule-store.ts";
import type { AccessControl, Action, IncomingCredentials } from "#hub/api/http/route.ts";
import type { Documents, Indices, Principal } from "#hub/api/ports/indices.ts";
import type { DashboardPlugin } from "#hub/api/server.ts";
import { ANONYMOUS, authorize, type Principal as Signed } from "#hub/auth/accounts/principal.ts";
import type { Auth } from "#hub/auth/auth.ts";
import type { Viewer } from "#hub/live/live-server.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
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
