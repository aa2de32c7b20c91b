/** The settings `auth.*` and `public.url`, and what they require of the listeners. */

import type { Static } from "typebox";
import { AppError } from "#proto/kit/errors.ts";
import { isLoopbackHost } from "#proto/kit/net/loopback.ts";
import { Type } from "#proto/kit/schema.ts";
import { durationSetting } from "#proto/kit/settings/kinds.ts";
import { checkGrants } from "./accounts/index-rights.ts";

const Duration = (fallback: string, description: string) =>
  durationSetting({ default: fallback, description });

/** Properties for the hub's settings schema; the names are the full dotted keys. */
export const authProperties = {
  "public.url": Type.String({
    default: "",
    description:
      "The dashboard's address as browsers see it, https://logs.example.com. Redirect URIs, cookies and Origin checks come from it, never from a request. Empty: the dashboard's own listener.",
  }),
  "auth.mode": Type.Union([Type.Literal("off"), Type.Literal("required")], {
    default: "off",
    description:
      "off: no authentication, which is allowed on loopback only. required: sign-in, API keys or access tokens.",
  }),
  "auth.session.idle": Duration("12h", "A dashboard session ends this long after its last use."),
  "auth.session.absolute": Duration(
    "7d",
    "A dashboard session ends this long after sign-in, even if it is in use.",
  ),
  "auth.audit.keep": Type.String({
    default: "400d",
    description:
      'Retention of the audit log, which has one index per month: an age, a size or both, as in "400d 1gb". retention.rules don\'t apply to it.',
  }),
  "auth.roles.editor.indices": Type.Array(Type.String(), {
    default: ["*"],
    description:
      "Index patterns that editors may access, unless the account has its own; the same for viewer and ingest. A pattern may name the rights it grants: logs-*:read+write (read, write, manage, delete).",
  }),
  "auth.roles.viewer.indices": Type.Array(Type.String(), {
    default: ["*"],
    description: "Index patterns that viewers may access.",
  }),
  "auth.roles.ingest.indices": Type.Array(Type.String(), {
    default: ["*"],
    description: "Index patterns to which ingest keys may write.",
  }),
  "auth.vault.key_file": Type.String({
    default: "",
    description:
      "File of the keys that seal secrets, mode 0600. Empty: vault.keys in path.data. TAILRACE_VAULT_KEYS in the environment takes precedence. Every hub needs the same keys.",
  }),
  "auth.provider.enabled": Type.Boolean({
    default: true,
    description: "The embedded identity provider: accounts here sign in, other applications are clients.",
  }),
  "auth.provider.query_credentials": Type.Union(
    [Type.Literal("accept"), Type.Literal("warn"), Type.Literal("refuse")],
    {
      default: "warn",
      description:
        "Credentials in the query string of the token endpoint: accepted, accepted with a warning, refused.",
    },
  ),
  "auth.provider.require_pkce": Type.Boolean({
    default: false,
    description:
      "Refuse authorization requests without PKCE from every client. Public clients always need it; `client list` shows which others don't use it.",
  }),
  "auth.provider.scopes": Type.Array(Type.String(), {
    default: [],
    description:
      "Further scopes (resource URLs) that clients may request, for APIs that introspect tokens at this hub.",
  }),
  "auth.provider.access_token_ttl": Duration("1h", "Lifetime of an access token."),
  "auth.provider.refresh_token_ttl": Duration(
    "180d",
    "Lifetime of a refresh token and of all tokens issued for one consent.",
  ),
  "auth.upstream.issuer": Type.String({
    default: "",
    description: "Another OpenID Connect provider for the dashboard's sign-in, https://login.example.com.",
  }),
  "auth.upstream.client_id": Type.String({
    default: "",
    description: "Client id of this hub at that provider.",
  }),
  "auth.upstream.client_secret": Type.String({
    default: "",
    description: "The secret of that registration. Take it from the environment to keep it out of the file.",
  }),
  "auth.upstream.scope": Type.String({
    default: "openid profile email",
    description: "Scopes requested from that provider.",
  }),
  "auth.upstream.name_claim": Type.String({ default: "email", description: "Claim with the person's name." }),
  "auth.upstream.role_claim": Type.String({
    default: "",
    description: "Claim whose value, or one of whose values, auth.upstream.roles maps to a role.",
  }),
  "auth.upstream.roles": Type.Record(Type.String(), Type.String(), {
    default: {},
    description:
      "Claim value or person's name → admin, editor, viewer or ingest. A person without an entry can't sign in.",
  }),
} as const;

const schema = Type.Object(authProperties);

export type AuthSettings = Static<typeof schema>;

/** A listener of the hub. */
export interface Listener {
  /** The setting that it comes from: "http.host". */
  readonly setting: string;
  /** Address or name that it binds. */
  readonly host: string;
  /** TLS ends here, or at a proxy in front (`tls.terminated_upstream`). */
  readonly encrypted: boolean;
}

/** The ways to encrypt a listener, for error messages. */
const TLS_REMEDY =
  "set tls.certificate and tls.key, or tls.terminated_upstream: true behind a proxy that does TLS";

/** Throws settings_invalid if a listener beyond loopback lacks authentication or TLS; the message names the remedy. */
export function checkListeners(settings: AuthSettings, listeners: readonly Listener[]): void {
  for (const { setting, host, encrypted } of listeners) {
    if (isLoopbackHost(host)) continue;
    if (settings["auth.mode"] === "off") {
      throw new AppError(
        "settings_invalid",
        `${setting} is ${host}, which others can reach, but auth.mode is off; set auth.mode: required, or bind 127.0.0.1`,
      );
    }
    if (!encrypted) {
      throw new AppError(
        "settings_invalid",
        `${setting} is ${host}, where passwords and tokens would travel in the clear; ${TLS_REMEDY}`,
      );
    }
  }
}

/** Throws settings_invalid if the settings contradict each other. */
export function checkAuthSettings(settings: AuthSettings): void {
  checkPublicUrl(settings);
  for (const role of ["editor", "viewer", "ingest"] as const) {
    const key = `auth.roles.${role}.indices` as const;
    try {
      checkGrants(settings[key]);
    } catch (error) {
      throw new AppError("settings_invalid", `${key}: ${(error as Error).message}`, { cause: error });
    }
  }
  for (const scope of settings["auth.provider.scopes"]) {
    if (!URL.canParse(scope) || !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope)) {
      throw new AppError("settings_invalid", `auth.provider.scopes: "${scope}" is not a resource URL`);
    }
  }
  const upstream = settings["auth.upstream.issuer"] !== "";
  if (upstream && settings["auth.upstream.client_id"] === "") {
    throw new AppError("settings_invalid", "auth.upstream.issuer needs auth.upstream.client_id");
  }
  if (settings["auth.mode"] === "required" && !upstream && !settings["auth.provider.enabled"]) {
    throw new AppError(
      "settings_invalid",
      "auth.mode is required, but there is no way to sign in: set auth.provider.enabled: true or auth.upstream.issuer",
    );
  }
}

function checkPublicUrl(settings: AuthSettings): void {
  const publicUrl = settings["public.url"];
  if (publicUrl !== "" && !isOrigin(publicUrl)) {
    throw new AppError(
      "settings_invalid",
      `public.url is "${publicUrl}"; write https://host or https://host:port, without a path`,
    );
  }
  if (
    settings["auth.mode"] === "required" &&
    publicUrl.startsWith("http:") &&
    !isLoopbackHost(new URL(publicUrl).hostname)
  ) {
    throw new AppError(
      "settings_invalid",
      `public.url is ${publicUrl}: passwords would travel in the clear; write https://`,
    );
  }
}

function isOrigin(url: string): boolean {
  const parsed = URL.parse(url);
  return parsed !== null && /^https?:$/.test(parsed.protocol) && parsed.origin === url;
}
