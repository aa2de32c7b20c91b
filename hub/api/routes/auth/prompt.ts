/** Routes of the provider's prompt: sign-in, consent, refusal. A cookie binds them to the browser, a token to the page. */

import type { Provider } from "oidc-provider";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, type Route, redirect } from "#hub/api/http/route.ts";
import { DEVICE_COOKIE, DEVICE_SECONDS } from "#hub/auth/accounts/password-sign-in.ts";
import type { Auth } from "#hub/auth/auth.ts";
import { signInMark } from "#hub/auth/provider/browser-sessions.ts";
import { PATHS } from "#hub/auth/provider/endpoints.ts";
import { LibraryExchange } from "#hub/auth/provider/library-exchange.ts";
import { textOf } from "#hub/auth/provider/library-requests.ts";
import { consentBody, type PromptForm, signInBody } from "#hub/auth/provider/prompt-pages.ts";
import { checkFormToken, field, formToken, readForm } from "#hub/auth/web/forms.ts";
import { type Html, html, type PageAnswer, pageAnswer } from "#hub/auth/web/page.ts";
import { languageOf, sayIn } from "#hub/auth/web/page-language.ts";
import { AppError } from "#proto/kit/errors.ts";
import { PROVIDER_ROUTE } from "./shared.ts";

const PATH = `${PATHS.prompt}/{uid}`;

type PromptParts = Pick<
  Auth,
  "provider" | "publicUrl" | "accounts" | "passwordSignIn" | "cookies" | "formKey" | "audit"
>;

type Details = Awaited<ReturnType<Provider["interactionDetails"]>>;

/** A request of the browser that the prompt belongs to. */
interface Prompt {
  readonly request: ApiRequest;
  /** The same request for the library. */
  readonly exchange: LibraryExchange;
  readonly library: Provider;
  readonly details: Details;
  readonly form: PromptForm;
}

type Answerer = (auth: PromptParts, prompt: Prompt) => Promise<ApiResponse>;

export function promptRoutes(auth: PromptParts): Route[] {
  return [
    {
      ...PROVIDER_ROUTE,
      methods: ["GET"],
      paths: [PATH],
      summary: "Shows the sign-in or the consent of an authorization.",
      handle: (request) => answer(auth, request, show),
    },
    {
      ...PROVIDER_ROUTE,
      methods: ["POST"],
      // The second is that of pages which a hub of an earlier version made.
      paths: [PATH, `${PATH}/sign-in`],
      summary: "Signs a person in at the provider.",
      handle: (request) => answer(auth, request, signIn),
    },
    {
      ...PROVIDER_ROUTE,
      methods: ["POST"],
      paths: [`${PATH}/consent`],
      summary: "Allows the client what it asks for.",
      handle: (request) => answer(auth, request, consent),
    },
    {
      ...PROVIDER_ROUTE,
      methods: ["POST"],
      paths: [`${PATH}/cancel`],
      summary: "Refuses what the client asks for.",
      handle: (request) => answer(auth, request, cancel),
    },
  ];
}

/** Answers a request of the prompt; an expected error becomes a page. */
async function answer(auth: PromptParts, request: ApiRequest, handle: Answerer): Promise<ApiResponse> {
  try {
    const prompt = await openPrompt(auth, request);
    if (request.method === "POST") await checkForm(auth, request);
    return await handle(auth, prompt);
  } catch (error) {
    return refuse(request, error);
  }
}

async function openPrompt(auth: PromptParts, request: ApiRequest): Promise<Prompt> {
  const { uri, headers, ip } = request;
  const library = await auth.provider.library();
  const exchange = new LibraryExchange({ method: "GET", uri, headers, ip }, auth.publicUrl());
  const details = await library.interactionDetails(exchange.request, exchange.response);
  const uid = request.segment("uid");
  if (details.uid !== uid) throw new AppError("request_invalid", "this prompt belongs to another tab");
  const client = await library.Client.find(textOf(details.params["client_id"]));
  const clientName = client?.clientName ?? "an application";
  const say = sayIn(languageOf(headers["accept-language"]));
  const form = { path: `${PATHS.prompt}/${uid}`, token: formToken(auth.formKey, uid), clientName, say };
  return { request, exchange, library, details, form };
}

async function checkForm({ formKey }: PromptParts, request: ApiRequest): Promise<void> {
  const fields = await readForm(request.headers["content-type"], request.body);
  checkFormToken(formKey, request.segment("uid"), field(fields, "token"));
}

async function show(auth: PromptParts, { request, details, form }: Prompt): Promise<ApiResponse> {
  if (details.prompt.name === "login") {
    const body = signInBody(form, textOf(details.params["login_hint"]), "");
    return promptPage(request, 200, form.say("Sign in"), body);
  }
  const account = await auth.accounts.get(details.session?.accountId ?? "");
  if (account === null) throw new AppError("request_invalid", "the account no longer exists");
  const asked = askedScopes(details);
  const scopes = auth.provider.scopes().filter(({ url }) => asked.includes(url));
  const redirectHost = new URL(textOf(details.params["redirect_uri"])).host;
  const body = consentBody(form, scopes, redirectHost, account.name);
  return promptPage(request, 200, form.say("Allow {0}?", form.clientName), body);
}

async function signIn(auth: PromptParts, prompt: Prompt): Promise<ApiResponse> {
  const { request, details, form } = prompt;
  if (details.prompt.name !== "login") return show(auth, prompt);
  const { headers, body, ip } = request;
  const fields = await readForm(headers["content-type"], body);
  const name = field(fields, "name").trim();
  const cookies = auth.cookies();
  const device = cookies.read(headers.cookie, DEVICE_COOKIE);
  try {
    const found = await auth.passwordSignIn.verify(name, field(fields, "password"), ip, device);
    if (found === null) {
      const again = signInBody(form, name, form.say("Name or password is wrong."));
      return promptPage(request, 401, form.say("Sign in"), again);
    }
    await forgetOtherAccount(prompt, found.id);
    const cookie = cookies.write(DEVICE_COOKIE, found.device, { maxAgeSeconds: DEVICE_SECONDS });
    const login = { accountId: found.id, acr: signInMark(found.account) };
    return await finish(prompt, { login }, [cookie]);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "overloaded") throw error;
    const page = promptPage(request, 429, form.say("Sign in"), signInBody(form, name, `${error.message}.`));
    const { retryAfterSeconds } = error.data;
    if (typeof retryAfterSeconds !== "number") return page;
    return { ...page, headers: { ...page.headers, "retry-after": String(retryAfterSeconds) } };
  }
}

/** Ends another person's session at the provider in this browser, so that the new session starts clean. */
async function forgetOtherAccount(
  { details, exchange: { request, response }, library }: Prompt,
  accountId: string,
): Promise<void> {
  if (details.session === undefined || details.session.accountId === accountId) return;
  const session = await library.Session.get(library.createContext(request, response) as never);
  await session.destroy();
  delete details.session;
  await details.persist();
}

async function consent(auth: PromptParts, prompt: Prompt): Promise<ApiResponse> {
  const { details, request, library } = prompt;
  const accountId = details.session?.accountId;
  if (details.prompt.name !== "consent" || accountId === undefined) return show(auth, prompt);
  const clientId = textOf(details.params["client_id"]);
  const scopes = askedScopes(details);
  const grant = new library.Grant({ accountId, clientId });
  grant.addOIDCScope(scopes.join(" "));
  const grantId = await grant.save();
  await auth.provider.consents.add(accountId, clientId, scopes);
  const subject = `${prompt.form.clientName} ${clientId}`;
  const actor = await nameOf(auth, accountId);
  auth.audit({ action: "consent", outcome: "ok", actor, ip: request.ip, subject });
  return finish(prompt, { consent: { grantId } });
}

async function cancel(auth: PromptParts, prompt: Prompt): Promise<ApiResponse> {
  const { details, request, form } = prompt;
  const actor = await nameOf(auth, details.session?.accountId);
  auth.audit({ action: "consent", outcome: "refused", actor, ip: request.ip, subject: form.clientName });
  return finish(prompt, { error: "access_denied", error_description: "the user refused" });
}

async function finish(
  { exchange: { request, response }, library }: Prompt,
  result: Parameters<Provider["interactionResult"]>[2],
  cookies: string[] = [],
): Promise<ApiResponse> {
  return redirect(await library.interactionResult(request, response, result), cookies);
}

async function nameOf({ accounts }: PromptParts, accountId: string | undefined): Promise<string> {
  return (await accounts.get(accountId ?? ""))?.name ?? "nobody";
}

function askedScopes(details: Details): string[] {
  return textOf(details.params["scope"]).split(" ");
}

async function refuse(request: ApiRequest, error: unknown): Promise<ApiResponse> {
  const { errors } = await import("oidc-provider");
  const expected = error instanceof AppError || error instanceof errors.OIDCProviderError;
  if (!expected) throw error;
  const say = sayIn(languageOf(request.headers["accept-language"]));
  // The library's text names a cookie, which tells a reader nothing.
  const reason =
    error instanceof errors.SessionNotFound
      ? say("It was open for too long, or its address was opened in another browser")
      : error instanceof AppError
        ? error.message
        : (error.error_description ?? error.message);
  const body = html`<h1>${say("This page can't go on")}</h1><p>${reason}.</p><p class="soft">${say("Go back to the application and start again.")}</p>`;
  return promptPage(request, error instanceof AppError ? error.status : 400, say("Request refused"), body);
}

function promptPage({ headers }: ApiRequest, status: number, title: string, body: Html): PageAnswer {
  return pageAnswer(status, title, body, headers["accept-language"]);
}
