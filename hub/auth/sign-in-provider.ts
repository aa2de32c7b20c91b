/** Where the dashboard's people sign in: at the embedded provider, or at the one of `auth.upstream`. */

import type { FastifyInstance } from "fastify";
import type { SignInProvider } from "#hub/auth/sign-in/dashboard-sign-in.ts";
import type { Fetch } from "./client/endpoints.ts";
import { DASHBOARD_CLIENT_ID } from "./provider/clients.ts";
import { signInScope } from "./provider/scopes.ts";
import type { AuthSettings } from "./settings.ts";

/** Returns the provider of `auth.upstream`, or null where none is set. */
export function upstreamSignIn(settings: AuthSettings, fetch: Fetch): SignInProvider | null {
  const issuer = settings["auth.upstream.issuer"];
  if (issuer === "") return null;
  const secret = settings["auth.upstream.client_secret"];
  return {
    definition: {
      name: new URL(issuer).host,
      issuer,
      client_id: settings["auth.upstream.client_id"],
      ...(secret === "" ? {} : { client_secret: secret }),
      scope: settings["auth.upstream.scope"],
      api_hosts: [],
    },
    upstream: {
      nameClaim: settings["auth.upstream.name_claim"],
      roleClaim: settings["auth.upstream.role_claim"],
      roles: settings["auth.upstream.roles"],
    },
    fetch,
  };
}

/** Returns the embedded provider; its token endpoint is asked within the process, as the public address may lead over a proxy. */
export function embeddedSignIn(
  app: FastifyInstance,
  publicUrl: string,
  clientSecret: string,
): SignInProvider {
  return {
    definition: {
      name: "Tailrace",
      auth_url: publicUrl,
      token_url: publicUrl,
      client_id: DASHBOARD_CLIENT_ID,
      client_secret: clientSecret,
      scope: signInScope(publicUrl),
      api_hosts: [],
    },
    fetch: (url, init) => askWithin(app, url, init),
  };
}

async function askWithin(app: FastifyInstance, url: string, init: RequestInit): Promise<Response> {
  const answer = await app.inject({
    method: "POST",
    url: new URL(url).pathname,
    headers: Object.fromEntries(new Headers(init.headers)),
    payload: init.body instanceof URLSearchParams ? init.body.toString() : "",
  });
  const contentType = answer.headers["content-type"];
  return new Response(answer.body, {
    status: answer.statusCode,
    headers: contentType === undefined ? {} : { "content-type": String(contentType) },
  });
}
