/** Routes of the provider's prompt: sign-in, consent, refusal. A cookie binds them to the browser, a token to the page. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Provider } from "oidc-provider";
import type { Accounts } from "#hub/auth/accounts/accounts.ts";
import { DEVICE_COOKIE, DEVICE_SECONDS, type PasswordSignIn } from "#hub/auth/accounts/password-sign-in.ts";
import type { AuditSink } from "#hub/auth/audit/audit.ts";
import { quietRoute } from "#hub/auth/audit/redaction.ts";
import type { Cookies } from "#hub/auth/web/cookies.ts";
import { checkFormToken, field, formToken, readForm } from "#hub/auth/web/forms.ts";
import { headersOf } from "#hub/auth/web/json-routes.ts";
import { html, sendPage } from "#hub/auth/web/page.ts";
import { languageOf, sayIn } from "#hub/auth/web/page-language.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Consents } from "./consents.ts";
import { PATHS } from "./endpoints.ts";
import { consentBody, type PromptForm, signInBody } from "./prompt-pages.ts";
import type { Scope } from "./scopes.ts";

/** Dependencies of the prompt. */
export interface PromptParts {
  readonly provider: () => Promise<Provider>;
  readonly accounts: Accounts;
  readonly consents: Consents;
  readonly signIn: PasswordSignIn;
  readonly cookies: () => Cookies;
  readonly formKey: Uint8Array;
  readonly scopes: () => readonly Scope[];
  readonly audit: AuditSink;
}

type Details = Awaited<ReturnType<Provider["interactionDetails"]>>;

interface PromptRequest {
  readonly request: FastifyRequest<{ Params: { uid: string } }>;
  readonly reply: FastifyReply;
  readonly details: Details;
  readonly form: PromptForm;
}

/** Adds the prompt's routes to `app`, whose bodies must arrive as bytes. */
export function promptRoutes(app: FastifyInstance, parts: PromptParts): void {
  const path = `${PATHS.prompt}/:uid`;
  const answer =
    (handle: (parts: PromptParts, prompt: PromptRequest) => Promise<FastifyReply>, posted: boolean) =>
    async (
      request: FastifyRequest<{ Params: { uid: string } }>,
      reply: FastifyReply,
    ): Promise<FastifyReply> => {
      try {
        const prompt = await openPrompt(parts, request, reply);
        if (posted) await checkForm(parts, request);
        return await handle(parts, prompt);
      } catch (error) {
        return refuse(reply, error);
      }
    };
  app.get(path, { ...quietRoute, exposeHeadRoute: false }, answer(show, false));
  app.post(`${path}/sign-in`, quietRoute, answer(signIn, true));
  app.post(`${path}/consent`, quietRoute, answer(consent, true));
  app.post(`${path}/cancel`, quietRoute, answer(cancel, true));
}

async function openPrompt(
  parts: PromptParts,
  request: FastifyRequest<{ Params: { uid: string } }>,
  reply: FastifyReply,
): Promise<PromptRequest> {
  const provider = await parts.provider();
  const details = await provider.interactionDetails(request.raw, reply.raw);
  const { uid } = request.params;
  if (details.uid !== uid) throw new AppError("request_invalid", "this prompt belongs to another tab");
  const client = await provider.Client.find(textOf(details.params["client_id"]));
  const clientName = client?.clientName ?? "an application";
  const say = sayIn(languageOf(request.headers["accept-language"]));
  const form = { path: `${PATHS.prompt}/${uid}`, token: formToken(parts.formKey, uid), clientName, say };
  return { request, reply, details, form };
}

async function checkForm(
  parts: PromptParts,
  request: FastifyRequest<{ Params: { uid: string } }>,
): Promise<void> {
  const fields = await readForm(request.headers["content-type"], request.body);
  checkFormToken(parts.formKey, request.params.uid, field(fields, "token"));
}

async function show(parts: PromptParts, { reply, details, form }: PromptRequest): Promise<FastifyReply> {
  if (details.prompt.name === "login") {
    return sendPage(
      reply,
      200,
      form.say("Sign in"),
      signInBody(form, textOf(details.params["login_hint"]), ""),
    );
  }
  const account = await parts.accounts.get(details.session?.accountId ?? "");
  if (account === null) throw new AppError("request_invalid", "the account is gone");
  const asked = askedScopes(details);
  const scopes = parts.scopes().filter(({ url }) => asked.includes(url));
  const redirectHost = new URL(textOf(details.params["redirect_uri"])).host;
  return sendPage(
    reply,
    200,
    form.say("Allow {0}?", form.clientName),
    consentBody(form, scopes, redirectHost, account.name),
  );
}

async function signIn(parts: PromptParts, prompt: PromptRequest): Promise<FastifyReply> {
  const { request, reply, details, form } = prompt;
  if (details.prompt.name !== "login") return show(parts, prompt);
  const fields = await readForm(request.headers["content-type"], request.body);
  const name = field(fields, "name").trim();
  const cookies = parts.cookies();
  const device = cookies.read(request.headers.cookie, DEVICE_COOKIE);
  try {
    const found = await parts.signIn.verify(name, field(fields, "password"), request.ip, device);
    if (found === null) {
      return sendPage(
        reply,
        401,
        form.say("Sign in"),
        signInBody(form, name, form.say("Name or password is wrong.")),
      );
    }
    reply.header("set-cookie", cookies.write(DEVICE_COOKIE, found.device, { maxAgeSeconds: DEVICE_SECONDS }));
    await forgetOtherAccount(parts, prompt, found.id);
    return await finish(parts, prompt, { login: { accountId: found.id } });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "overloaded") throw error;
    reply.headers(headersOf(error));
    return sendPage(reply, 429, form.say("Sign in"), signInBody(form, name, `${error.message}.`));
  }
}

/** Ends another person's session at the provider in this browser, so that the new session starts clean. */
async function forgetOtherAccount(
  parts: PromptParts,
  prompt: PromptRequest,
  accountId: string,
): Promise<void> {
  const { details, request, reply } = prompt;
  if (details.session === undefined || details.session.accountId === accountId) return;
  const provider = await parts.provider();
  const session = await provider.Session.get(provider.createContext(request.raw, reply.raw) as never);
  await session.destroy();
  delete details.session;
  await details.persist();
}

async function consent(parts: PromptParts, prompt: PromptRequest): Promise<FastifyReply> {
  const { details, request } = prompt;
  const accountId = details.session?.accountId;
  if (details.prompt.name !== "consent" || accountId === undefined) return show(parts, prompt);
  const clientId = textOf(details.params["client_id"]);
  const scopes = askedScopes(details);
  const { Grant } = await parts.provider();
  const grant = new Grant({ accountId, clientId });
  grant.addOIDCScope(scopes.join(" "));
  const grantId = await grant.save();
  await parts.consents.add(accountId, clientId, scopes);
  const subject = `${prompt.form.clientName} ${clientId}`;
  parts.audit({
    action: "consent",
    outcome: "ok",
    actor: await nameOf(parts, accountId),
    ip: request.ip,
    subject,
  });
  return finish(parts, prompt, { consent: { grantId } });
}

async function cancel(parts: PromptParts, prompt: PromptRequest): Promise<FastifyReply> {
  const { details, request, form } = prompt;
  const actor = await nameOf(parts, details.session?.accountId);
  parts.audit({ action: "consent", outcome: "refused", actor, ip: request.ip, subject: form.clientName });
  return finish(parts, prompt, { error: "access_denied", error_description: "the user refused" });
}

async function finish(
  parts: PromptParts,
  { request, reply }: PromptRequest,
  result: Parameters<Provider["interactionResult"]>[2],
): Promise<FastifyReply> {
  const provider = await parts.provider();
  const returnTo = await provider.interactionResult(request.raw, reply.raw, result);
  return reply.header("cache-control", "no-store").redirect(returnTo, 303);
}

async function nameOf(parts: PromptParts, accountId: string | undefined): Promise<string> {
  return (await parts.accounts.get(accountId ?? ""))?.name ?? "nobody";
}

function askedScopes(details: Details): string[] {
  return textOf(details.params["scope"]).split(" ");
}

async function refuse(reply: FastifyReply, error: unknown): Promise<FastifyReply> {
  const { errors } = await import("oidc-provider");
  const expected = error instanceof AppError || error instanceof errors.OIDCProviderError;
  if (!expected) throw error;
  const reason = error instanceof AppError ? error.message : (error.error_description ?? error.message);
  const say = sayIn(languageOf(reply.request.headers["accept-language"]));
  const body = html`<h1>${say("This page can't go on")}</h1><p>${reason}.</p><p class="soft">${say("Go back to the application and start again.")}</p>`;
  return sendPage(reply, error instanceof AppError ? error.status : 400, say("Request refused"), body);
}

/** Returns a parameter that oidc-provider has checked, as text; empty where it is absent. */
export function textOf(parameter: unknown): string {
  return typeof parameter === "string" ? parameter : "";
}
