/** Routes of the dashboard's sign-in below /api/auth: login, callback, logout, me, sessions, tickets, set-up. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Account, Accounts } from "#hub/auth/accounts/accounts.ts";
import { requirePerson } from "#hub/auth/accounts/principal.ts";
import type { Sessions } from "#hub/auth/accounts/sessions.ts";
import type { AuditSink } from "#hub/auth/audit/audit.ts";
import { quietRoute } from "#hub/auth/audit/redaction.ts";
import { type Authenticator, SESSION_COOKIE } from "#hub/auth/sign-in/authenticator.ts";
import { type DashboardSignIn, SIGN_IN_CALLBACK } from "#hub/auth/sign-in/dashboard-sign-in.ts";
import { bindingFrom } from "#hub/auth/state/secrets.ts";
import type { Cookies } from "#hub/auth/web/cookies.ts";
import { checkFormToken, FORM_LIMIT_BYTES, field, formToken, readForm } from "#hub/auth/web/forms.ts";
import { sendError } from "#hub/auth/web/json-routes.ts";
import { sendPage } from "#hub/auth/web/page.ts";
import { languageOf, type Say, sayIn } from "#hub/auth/web/page-language.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import { failureBody, setupBody } from "./setup-pages.ts";

/** Cookie that ties a sign-in to the browser that began it. */
const BINDING_COOKIE = "tailrace_sign_in";
const BINDING_SECONDS = 15 * 60;

export interface SessionPluginParts {
  readonly mode: "off" | "required";
  readonly publicUrl: () => string;
  readonly cookies: () => Cookies;
  readonly authenticator: Authenticator;
  readonly signIn: DashboardSignIn;
  readonly sessions: Sessions;
  readonly accounts: Accounts;
  readonly formKey: Uint8Array;
  /** Ends the embedded provider's session of the browser that sent this Cookie header; returns Set-Cookie values. */
  readonly endProviderSession: (cookieHeader: string | undefined) => Promise<string[]>;
  readonly audit: AuditSink;
  readonly log: Logger;
}

/** Adds the routes to `app`. It must be registered as a plugin: it changes how bodies are parsed in its scope. */
export function addSessionRoutes(app: FastifyInstance, parts: SessionPluginParts): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "*",
    { parseAs: "buffer", bodyLimit: FORM_LIMIT_BYTES },
    (_request, body, done) => {
      done(null, body);
    },
  );
  app.setErrorHandler((error, _request, reply) => sendError(reply, error, parts.log));
  const quiet = { ...quietRoute, exposeHeadRoute: false };
  app.get("/api/auth/login", quiet, (request, reply) => login(parts, request, reply));
  app.get(SIGN_IN_CALLBACK, quiet, (request, reply) => callback(parts, request, reply));
  app.post("/api/auth/logout", (request, reply) => logout(parts, request, reply));
  app.get("/api/auth/me", async (request, reply) => {
    const { kind, name, role, actions, indices } = await parts.authenticator.authenticate(request);
    return reply
      .header("cache-control", "no-store")
      .send({ kind, name, role, actions: [...actions], indices });
  });
  app.post("/api/auth/ticket", async (request, reply) => {
    const principal = await parts.authenticator.authenticate(request);
    const ticket = await parts.authenticator.ticketFor(principal);
    return reply.header("cache-control", "no-store").send({ ticket });
  });
  app.get("/api/auth/sessions", (request, reply) => listSessions(parts, request, reply));
  app.delete<{ Params: { key: string } }>("/api/auth/sessions/:key", (request, reply) =>
    endSession(parts, request, reply),
  );
  app.get<SetupRoute>("/api/auth/setup/:token", quiet, (request, reply) => showSetup(parts, request, reply));
  app.post<SetupRoute>("/api/auth/setup/:token", quiet, (request, reply) => setUp(parts, request, reply));
}

interface SetupRoute {
  Params: { token: string };
}

async function login(
  parts: SessionPluginParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  reply.header("cache-control", "no-store");
  const publicUrl = parts.publicUrl();
  if (parts.mode === "off") return reply.redirect("/", 303);
  // Cookies belong to one host: whoever came by another name of this one starts at the public address.
  if (request.headers.host !== new URL(publicUrl).host) return reply.redirect(publicUrl + request.url, 303);
  const query = new URL(request.url, publicUrl).searchParams;
  const binding = bindingFrom(parts.cookies().read(request.headers.cookie, BINDING_COOKIE));
  const url = await parts.signIn.start(query.get("return_to") ?? "/", binding);
  const cookie = parts.cookies().write(BINDING_COOKIE, binding, { maxAgeSeconds: BINDING_SECONDS });
  return reply.header("set-cookie", cookie).redirect(url, 303);
}

async function callback(
  parts: SessionPluginParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const cookies = parts.cookies();
  const parameters = new URL(request.url, parts.publicUrl()).searchParams;
  try {
    const found = await parts.signIn.finish(parameters, cookies.read(request.headers.cookie, BINDING_COOKIE));
    await openSession(parts, request, reply, found);
    return reply.header("cache-control", "no-store").redirect(found.returnTo, 303);
  } catch (error) {
    const fault = toAppError(error);
    if (fault.code === "internal") parts.log.error({ err: fault.cause }, "sign-in failed");
    parts.audit({
      action: "sign_in",
      outcome: "refused",
      actor: "unknown",
      ip: request.ip,
      reason: fault.message,
    });
    const say = sayTo(request);
    return sendPage(
      reply,
      fault.status,
      say("Sign-in failed"),
      failureBody(say, "You aren't signed in", `${fault.message}.`),
    );
  }
}

/** Opens a new session and ends the one the browser had. */
async function openSession(
  parts: SessionPluginParts,
  request: FastifyRequest,
  reply: FastifyReply,
  { id, account }: { id: string; account: Account },
): Promise<void> {
  const cookies = parts.cookies();
  const before = cookies.read(request.headers.cookie, SESSION_COOKIE);
  const old = before === undefined ? null : await parts.sessions.find(before);
  if (old !== null) await parts.sessions.end(old.key);
  const userAgent = request.headers["user-agent"] ?? "";
  const secret = await parts.sessions.open(id, account.epoch, request.ip, userAgent);
  reply.header("set-cookie", cookies.write(SESSION_COOKIE, secret));
}

async function logout(
  parts: SessionPluginParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const principal = await parts.authenticator.authenticate(request);
  if (principal.sessionKey !== undefined) await parts.sessions.end(principal.sessionKey);
  const provider = await parts.endProviderSession(request.headers.cookie);
  parts.audit({ action: "sign_out", outcome: "ok", actor: principal.name, ip: request.ip });
  reply.header("set-cookie", [parts.cookies().clear(SESSION_COOKIE), ...provider]);
  return reply.header("cache-control", "no-store").code(204).send();
}

async function listSessions(
  parts: SessionPluginParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const principal = await parts.authenticator.authenticate(request);
  requirePerson(principal);
  const all = await parts.sessions.list(principal.id);
  const sessions = all.map(({ key, session: { createdAt, seenAt, ip, userAgent } }) => ({
    key,
    current: key === principal.sessionKey,
    created_at: new Date(createdAt).toISOString(),
    seen_at: new Date(seenAt).toISOString(),
    ip,
    user_agent: userAgent,
  }));
  return reply.header("cache-control", "no-store").send({ sessions });
}

async function endSession(
  parts: SessionPluginParts,
  request: FastifyRequest<{ Params: { key: string } }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const principal = await parts.authenticator.authenticate(request);
  requirePerson(principal);
  await parts.sessions.endOwn(principal.id, request.params.key);
  parts.audit({ action: "session_ended", outcome: "ok", actor: principal.name, ip: request.ip });
  return reply.code(204).send();
}

/** Returns how a page says its texts to who sent a request. */
function sayTo(request: FastifyRequest<SetupRoute> | FastifyRequest): Say {
  return sayIn(languageOf(request.headers["accept-language"]));
}

async function showSetup(
  parts: SessionPluginParts,
  request: FastifyRequest<SetupRoute>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { token } = request.params;
  const say = sayTo(request);
  if (!(await parts.accounts.knowsSetupToken(token))) {
    const reason =
      "This link was used or is too old. Start the hub again for a new one, or run tailrace-hub user add.";
    return sendPage(reply, 403, say("Link over"), failureBody(say, "This link is over", reason));
  }
  return sendPage(
    reply,
    200,
    say("Set up"),
    setupBody(say, request.url, formToken(parts.formKey, `setup:${token}`), "", ""),
  );
}

async function setUp(
  parts: SessionPluginParts,
  request: FastifyRequest<SetupRoute>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { token } = request.params;
  const say = sayTo(request);
  const fields = await readForm(request.headers["content-type"], request.body);
  const name = field(fields, "name").trim();
  try {
    checkFormToken(parts.formKey, `setup:${token}`, field(fields, "token"));
    const { id } = await parts.accounts.setUp(token, name, field(fields, "password"));
    const account = await parts.accounts.get(id);
    if (account === null) throw new AppError("unavailable", "the account was removed just now");
    await openSession(parts, request, reply, { id, account });
    return reply.header("cache-control", "no-store").redirect("/", 303);
  } catch (error) {
    const fault = toAppError(error);
    if (fault.code !== "request_invalid") {
      return sendPage(
        reply,
        fault.status,
        say("Set up"),
        failureBody(say, "This can't go on", `${fault.message}.`),
      );
    }
    const body = setupBody(
      say,
      request.url,
      formToken(parts.formKey, `setup:${token}`),
      name,
      `${fault.message}.`,
    );
    return sendPage(reply, 400, say("Set up"), body);
  }
}
