/** Rules where oidc-provider leaves a choice: scopes, consent, introspection, the error page. */

import { errors, interactionPolicy, type KoaContextWithOIDC, type Provider } from "oidc-provider";
import type { Accounts } from "#hub/auth/accounts/accounts.ts";
import { type Html, html, page } from "#hub/auth/web/page.ts";
import { languageOf, type Say, sayIn } from "#hub/auth/web/page-language.ts";
import { signInMark } from "./browser-sessions.ts";
import { DASHBOARD_CLIENT_ID } from "./clients.ts";
import type { Consents } from "./consents.ts";
import { findAccountOf } from "./exchange.ts";
import { textOf } from "./library-requests.ts";
import { type Scope, signInScope } from "./scopes.ts";

/** Dependencies of the rules. */
export interface RuleParts {
  readonly publicUrl: string;
  readonly consents: Consents;
  readonly scopes: readonly Scope[];
}

/**
 * Returns a check of the requested scope (RFC 6749 section 3.3): oidc-provider drops unknown scopes silently, and the
 * parameter is required here. The dashboard has one scope and no consent page, as the grant of that page would outlive the
 * sign-in.
 */
export function scopeCheck({ scopes, publicUrl }: RuleParts): (context: KoaContextWithOIDC) => void {
  const known = new Set(scopes.map(({ url }) => url));
  return function checkScope({ query, oidc }): void {
    const asked = query["scope"];
    if (typeof asked !== "string" || asked === "") {
      throw new errors.InvalidRequest("missing required parameter 'scope'");
    }
    if (oidc.client?.clientId === DASHBOARD_CLIENT_ID && asked === signInScope(publicUrl)) {
      if (!oidc.prompts.has("consent")) return;
      throw new errors.InvalidRequest("the dashboard's sign-in has no prompt 'consent'");
    }
    const unknown = asked.split(" ").filter((scope) => scope !== "" && !known.has(scope));
    if (unknown.length > 0) throw new errors.InvalidScope("requested scope is unknown", unknown.join(" "));
  };
}

/** A client may introspect its own tokens, a resource server all (RFC 7662 section 2.1). */
export function mayIntrospect(
  _context: KoaContextWithOIDC,
  client: { clientId: string; [key: string]: unknown },
  token: { clientId?: string | undefined },
): boolean {
  return client["client_kind"] === "resource_server" || client.clientId === token.clientId;
}

/** An account in the form of oidc-provider. `signInMark`: see the function; absent where a token is requested. */
type FoundAccount = { accountId: string; claims(): { sub: string }; signInMark?: string };

/** Returns the account in the form of oidc-provider, or undefined if it was removed. */
export async function findAccount(
  { oidc }: KoaContextWithOIDC,
  accounts: Accounts,
  id: string,
): Promise<FoundAccount | undefined> {
  const account = { accountId: id, claims: () => ({ sub: id }) };
  // The dashboard's sign-in reads the account of its token itself, see AccessTokens.verifyOwn.
  if (oidc.route === "token" && oidc.client?.clientId === DASHBOARD_CLIENT_ID) return account;
  const found = await findAccountOf(accounts, id);
  return found === null ? undefined : { ...account, signInMark: signInMark(found) };
}

/**
 * Returns a new grant if the person has allowed all requested scopes. Each code gets a grant of its own, so that a code
 * used twice ends only what came from it. Undefined: the prompt is needed.
 */
export async function loadGrant(
  context: KoaContextWithOIDC,
  { consents, publicUrl }: RuleParts,
): Promise<InstanceType<Provider["Grant"]> | undefined> {
  const { result, client, session, provider, params, prompts } = context.oidc;
  const given = result?.consent?.grantId;
  if (given !== undefined) return provider.Grant.find(given);
  const accountId = session?.accountId;
  if (client === undefined || accountId === undefined || prompts.has("consent")) return undefined;
  if (client.tokenEndpointAuthMethod === "none") return undefined;
  const asked = textOf(params?.["scope"]).split(" ");
  const isAllowed = async (): Promise<boolean> => {
    const own = client.clientId === DASHBOARD_CLIENT_ID;
    const allowed = own ? [signInScope(publicUrl)] : await consents.scopes(accountId, client.clientId);
    return asked.every((scope) => allowed.includes(scope));
  };
  if (!(await isAllowed())) return undefined;
  const grant = new provider.Grant({ accountId, clientId: client.clientId });
  grant.addOIDCScope(asked.join(" "));
  await grant.save();
  // Withdrawing a consent at the same time revokes the grants it finds; this one may not have been stored yet.
  if (await isAllowed()) return grant;
  await grant.destroy();
  return undefined;
}

/**
 * The library's policy, extended: a public client, which anybody can impersonate, always asks (RFC 6749 section 10.2), and
 * whoever has a session signs in again after the account's password or role was changed, or the account removed.
 */
export function consentPolicy(): interactionPolicy.DefaultPolicy {
  const policy = interactionPolicy.base();
  const changed = new interactionPolicy.Check(
    "account_changed",
    "the account's password or role was changed since the sign-in",
    "login_required",
    ({ oidc }) => {
      const account = oidc.account as FoundAccount | undefined;
      return account !== undefined && account.signInMark !== oidc.session?.acr;
    },
  );
  policy.get("login")?.checks.add(changed);
  const always = new interactionPolicy.Check(
    "public_client",
    "public clients always ask",
    "consent_required",
    ({ oidc }) => oidc.client?.tokenEndpointAuthMethod === "none" && oidc.result?.consent === undefined,
  );
  policy.get("consent")?.checks.add(always);
  const gone = new interactionPolicy.Check(
    "account_gone",
    "the account was removed",
    "login_required",
    ({ oidc }) => oidc.session?.accountId !== undefined && oidc.account === undefined,
  );
  policy.get("login")?.checks.add(gone);
  return policy;
}

/** Answers an error that can't be sent back to the client: with a page, or with JSON if the request accepts it. */
export function renderError(
  context: KoaContextWithOIDC,
  out: { error: string; error_description?: string | undefined },
): void {
  // The library may have written its answer before what goes with it could not be stored.
  context.remove("location");
  if (context.accepts("html", "json") === "json") {
    context.body = { error: out.error, error_description: out.error_description };
    return;
  }
  context.type = "text/html; charset=utf-8";
  const language = languageOf(context.get("accept-language"));
  const say = sayIn(language);
  context.body = page(
    say("Request refused"),
    errorBody(say, out.error, out.error_description ?? ""),
    language,
  );
}

function errorBody(say: Say, error: string, description: string): Html {
  return html`<h1>${say("This request can't go on")}</h1>
<p>${say("The application that sent you here made a mistake, or the page was open for too long. Go back and start again. If it happens again, show this to the operator of the application.")}</p>
<dl><dt>${say("Error")}</dt><dd>${error}</dd><dt>${say("Reason")}</dt><dd>${description}</dd></dl>`;
}
