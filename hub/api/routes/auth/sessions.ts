/** `/api/auth`: the dashboard's sign-in and sign-out, the sessions of its user, and tickets for the live socket. */

import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, empty, json, type Route, redirect } from "#hub/api/http/route.ts";
import type { Auth } from "#hub/auth/auth.ts";
import { BrowserBinding } from "#hub/auth/sign-in/browser-binding.ts";
import { openSession, SESSION_COOKIE } from "#hub/auth/sign-in/browser-session.ts";
import { SIGN_IN_CALLBACK } from "#hub/auth/sign-in/dashboard-sign-in.ts";
import { pageAnswer } from "#hub/auth/web/page.ts";
import { languageOf, sayIn } from "#hub/auth/web/page-language.ts";
import { toAppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import { FlowLimit } from "./flow-limit.ts";
import { JSON_ROUTE, PAGE_ROUTE } from "./shared.ts";
import { failureBody } from "./sign-in-pages.ts";

/** Cookie that ties a sign-in to the browser that began it, see BrowserBinding. */
const BINDING_COOKIE = "tailrace_sign_in";
/** No less than a flow lives, so that the mark of one that ended outlives it. */
const BINDING_SECONDS = 15 * 60;

type SessionParts = Pick<
  Auth,
  | "mode"
  | "publicUrl"
  | "cookies"
  | "accounts"
  | "authenticator"
  | "dashboardSignIn"
  | "sessions"
  | "provider"
  | "audit"
>;

export function sessionRoutes(auth: SessionParts, log: Logger): Route[] {
  const begun = new FlowLimit(auth.provider.clock);
  const ended = new FlowLimit(auth.provider.clock);
  return [
    {
      ...PAGE_ROUTE,
      methods: ["GET"],
      paths: ["/api/auth/login"],
      summary: "Sends the browser to the sign-in; the parameter return_to names where it goes then.",
      handle: (request) => login(auth, begun, request),
    },
    {
      ...PAGE_ROUTE,
      methods: ["GET"],
      paths: [SIGN_IN_CALLBACK],
      summary: "Ends a sign-in: the provider sends the browser here.",
      handle: (request) => ended.refusalOf(request) ?? callback(auth, request, log),
    },
    {
      ...JSON_ROUTE,
      methods: ["POST"],
      paths: ["/api/auth/logout"],
      action: [],
      summary: "Ends the browser's session.",
      body: "any",
      handle: (request) => logout(auth, request),
    },
    ...senderRoutes(auth),
    ...ownSessions(auth),
  ];
}

/** Routes for every signed-in sender. */
function senderRoutes({ accounts, authenticator }: SessionParts): Route[] {
  return [
    {
      ...JSON_ROUTE,
      methods: ["GET", "HEAD"],
      paths: ["/api/auth/me"],
      action: [],
      summary: "Shows who sent the request, with role and rights.",
      handle: async ({ principal: { kind, id, name, role, actions, indices } }) => {
        // A person of another provider has none here.
        const hasPassword = kind === "user" && (await accounts.get(id))?.passwordHash !== undefined;
        return json({ kind, name, role, actions: [...actions], indices, has_password: hasPassword });
      },
    },
    {
      ...JSON_ROUTE,
      methods: ["POST"],
      paths: ["/api/auth/ticket"],
      action: [],
      summary: "Issues a ticket that opens one live socket.",
      body: "any",
      handle: async ({ principal }) => json({ ticket: await authenticator.ticketFor(principal) }),
    },
  ];
}

function ownSessions({ sessions, audit }: SessionParts): Route[] {
  return [
    {
      ...JSON_ROUTE,
      methods: ["GET"],
      paths: ["/api/auth/sessions"],
      action: [],
      caller: "person",
      summary: "Lists one's own sessions.",
      handle: async ({ principal }) => {
        const own = await sessions.list(principal.id);
        return json({
          sessions: own.map(({ key, session }) => ({
            key,
            current: key === principal.sessionKey,
            created_at: new Date(session.createdAt).toISOString(),
            seen_at: new Date(session.seenAt).toISOString(),
            ip: session.ip,
            user_agent: session.userAgent,
          })),
        });
      },
    },
    {
      ...JSON_ROUTE,
      methods: ["DELETE"],
      paths: ["/api/auth/sessions/{key}"],
      action: [],
      caller: "person",
      summary: "Ends one of one's own sessions.",
      handle: async (request) => {
        const { principal, ip } = request;
        await sessions.endOwn(principal.id, request.segment("key"));
        audit({ action: "session_ended", outcome: "ok", actor: principal.name, ip });
        return empty(204);
      },
    },
  ];
}

async function login(auth: SessionParts, begun: FlowLimit, request: ApiRequest): Promise<ApiResponse> {
  const { uri, headers } = request;
  const publicUrl = auth.publicUrl();
  if (auth.mode === "off") return redirect("/");
  // Cookies belong to one host: a browser that used another host name starts at the public address.
  if (headers.host !== new URL(publicUrl).host) return redirect(publicUrl + uri);
  const refused = begun.refusalOf(request);
  if (refused !== undefined) return refused;
  const query = new URL(uri, publicUrl).searchParams;
  const binding = bindingOf(auth, headers);
  const url = await auth.dashboardSignIn.start(query.get("return_to") ?? "/", binding.secret);
  return redirect(url, [bindingCookie(auth, binding)]);
}

function bindingOf({ cookies }: SessionParts, headers: ApiRequest["headers"]): BrowserBinding {
  return BrowserBinding.from(cookies().read(headers.cookie, BINDING_COOKIE));
}

function bindingCookie({ cookies }: SessionParts, { value }: BrowserBinding): string {
  return cookies().write(BINDING_COOKIE, value, { maxAgeSeconds: BINDING_SECONDS });
}

async function callback(
  auth: SessionParts,
  { uri, headers, ip }: ApiRequest,
  log: Logger,
): Promise<ApiResponse> {
  const parameters = new URL(uri, auth.publicUrl()).searchParams;
  const state = parameters.get("state") ?? "";
  const binding = bindingOf(auth, headers);
  try {
    const found = await auth.dashboardSignIn.finish(parameters, binding.secretFor(state));
    const cookie = await openSession(auth, { headers, ip }, found);
    return redirect(found.returnTo, [cookie, bindingCookie(auth, binding.after(state))]);
  } catch (error) {
    const { code, cause, message, status } = toAppError(error);
    if (code === "internal") log.error({ err: cause }, "sign-in failed");
    auth.audit({ action: "sign_in", outcome: "refused", actor: "unknown", ip, reason: message });
    const language = headers["accept-language"];
    const say = sayIn(languageOf(language));
    const body = failureBody(say, "You aren't signed in", `${message}.`);
    return pageAnswer(status, say("Sign-in failed"), body, language);
  }
}

async function logout(auth: SessionParts, { principal, headers, ip }: ApiRequest): Promise<ApiResponse> {
  if (principal.sessionKey !== undefined) await auth.sessions.end(principal.sessionKey);
  const atProvider = await auth.provider.endBrowserSession(headers.cookie);
  auth.audit({ action: "sign_out", outcome: "ok", actor: principal.name, ip });
  return { status: 204, headers: { "set-cookie": [auth.cookies().clear(SESSION_COOKIE), ...atProvider] } };
}
