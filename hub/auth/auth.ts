/** Authentication as one component: builds its parts from the settings and provides what the hub's routes need. */

import { join } from "node:path";
import { Accounts } from "#hub/auth/accounts/accounts.ts";
import { type AgentAccess, AgentCredentials } from "#hub/auth/accounts/agent-credentials.ts";
import { ApiKeys } from "#hub/auth/accounts/api-keys.ts";
import { FirstAdministrator } from "#hub/auth/accounts/first-administrator.ts";
import { PasswordSignIn } from "#hub/auth/accounts/password-sign-in.ts";
import { Passwords } from "#hub/auth/accounts/passwords.ts";
import type { Role } from "#hub/auth/accounts/principal.ts";
import { Sessions, Tickets } from "#hub/auth/accounts/sessions.ts";
import { StateFollower } from "#hub/auth/accounts/state-follower.ts";
import type { AuditSink } from "#hub/auth/audit/audit.ts";
import { Connections } from "#hub/auth/client/connections.ts";
import { Endpoints, type Fetch } from "#hub/auth/client/endpoints.ts";
import { SealedFlows, StoredFlows } from "#hub/auth/client/flows.ts";
import { Authenticator } from "#hub/auth/sign-in/authenticator.ts";
import {
  DashboardSignIn,
  embeddedSignIn,
  type SignInPurpose,
  upstreamSignIn,
} from "#hub/auth/sign-in/dashboard-sign-in.ts";
import type { Store } from "#hub/auth/state/records.ts";
import {
  checkVault,
  hasSealed,
  type InstallationKeys,
  loadInstallationKeys,
  loadVaultKeys,
  Vault,
} from "#hub/auth/state/vault.ts";
import { Cookies } from "#hub/auth/web/cookies.ts";
import { type Clock, systemClock } from "#proto/kit/clock.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Counter, Metrics } from "#proto/kit/metrics.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { parseDuration } from "#proto/kit/units.ts";
import { boundedAudit } from "./bounded-audit.ts";
import { IdentityProvider } from "./identity-provider.ts";
import { type AuthSettings, checkAuthSettings } from "./settings.ts";

/** Name of the vault's key file in the data directory. */
const KEY_FILE = "vault.keys";

export interface AuthParts {
  readonly settings: AuthSettings;
  /** The hub's data directory. */
  readonly dataPath: string;
  readonly bucket: StateBucket;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly audit: AuditSink;
  /** Returns the dashboard's address, used if `public.url` is empty, without a slash at the end. Called once it listens. */
  readonly dashboardUrl: () => string;
  readonly env: NodeJS.ProcessEnv;
  readonly clock?: Clock;
  readonly passwords?: Passwords;
  /** `fetch`, or another for tests. */
  readonly fetch?: Fetch;
  /** How agents reach NATS. Absent or null: the hub issues no credentials to agents. */
  readonly agentAccess?: () => AgentAccess | null;
}

/** Dependencies that most parts share. */
interface Shared {
  readonly settings: AuthSettings;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly audit: AuditSink;
  readonly publicUrl: () => string;
  readonly cookies: () => Cookies;
  readonly vault: Vault;
  readonly keys: InstallationKeys;
  readonly fetch: Fetch;
  readonly agentAccess: () => AgentAccess | null;
}

/** The opened component: exists only once the vault is open. */
export class Auth implements Component {
  readonly accounts: Accounts;
  readonly firstAdministrator: FirstAdministrator;
  readonly apiKeys: ApiKeys;
  readonly agents: AgentCredentials;
  readonly sessions: Sessions;
  readonly provider: IdentityProvider;
  readonly connections: Connections;
  readonly authenticator: Authenticator;
  readonly follower: StateFollower;
  readonly passwordSignIn: PasswordSignIn;
  readonly dashboardSignIn: DashboardSignIn;
  readonly mode: AuthSettings["auth.mode"];
  readonly audit: AuditSink;
  /** The dashboard's address without a slash at the end; known once it listens. */
  readonly publicUrl: () => string;
  readonly cookies: () => Cookies;
  /** Key of the forms' tokens. */
  readonly formKey: Uint8Array;
  /** How agents reach NATS; null if another NATS is used. */
  readonly agentAccess: () => AgentAccess | null;
  readonly #shared: Shared;

  /**
   * Opens the vault and builds the parts. Throws settings_invalid for settings that contradict each other and for
   * vault keys that are missing or wrong.
   */
  static async open(parts: AuthParts): Promise<Auth> {
    const { settings, bucket, clock = systemClock, log, dashboardUrl } = parts;
    const audit = boundedAudit(parts.audit, clock, log);
    checkAuthSettings(settings);
    const store: Store = { bucket, clock };
    const path = settings["auth.vault.key_file"] || join(parts.dataPath, KEY_FILE);
    const vault = new Vault(await loadVaultKeys(path, parts.env, async () => !(await hasSealed(store))));
    if ((await checkVault(store, vault)) === "renewed") {
      audit({ action: "vault_key_changed", outcome: "ok", actor: "system", subject: vault.activeId });
    }
    const keys = await loadInstallationKeys(store, vault);
    const publicUrl = (): string => settings["public.url"] || dashboardUrl();
    const cookies = (): Cookies => new Cookies(publicUrl());
    const fetch: Fetch = parts.fetch ?? ((url, init) => globalThis.fetch(url, init));
    const agentAccess = parts.agentAccess ?? (() => null);
    const shared = {
      settings,
      store,
      clock,
      log,
      audit,
      publicUrl,
      cookies,
      vault,
      keys,
      fetch,
      agentAccess,
    };
    return new Auth(shared, parts.metrics, parts.passwords ?? new Passwords());
  }

  private constructor(shared: Shared, metrics: Metrics, passwords: Passwords) {
    this.#shared = shared;
    this.mode = shared.settings["auth.mode"];
    this.audit = shared.audit;
    this.publicUrl = shared.publicUrl;
    this.cookies = shared.cookies;
    this.formKey = shared.keys.form;
    this.agentAccess = shared.agentAccess;
    const { settings, store, clock, log, audit, keys } = shared;
    const accounts = new Accounts(store, passwords, audit);
    const apiKeys = new ApiKeys(store, audit);
    const signIn = new PasswordSignIn(accounts, clock, audit, keys.device);
    this.passwordSignIn = signIn;
    const { requests, refreshes, swept } = metricsOf(metrics);
    this.accounts = accounts;
    this.firstAdministrator = new FirstAdministrator(store, accounts, passwords, audit);
    this.apiKeys = apiKeys;
    this.agents = new AgentCredentials(store, audit);
    this.provider = new IdentityProvider({ ...shared, accounts, signIn, requests });
    this.sessions = this.#makeSessions();
    this.connections = new Connections({ ...shared, refreshes });
    this.follower = new StateFollower(store, log, swept);
    this.authenticator = new Authenticator({
      ...shared,
      mode: settings["auth.mode"],
      sessions: this.sessions,
      apiKeys,
      accounts,
      signIn,
      accessTokens: this.provider.accessTokens,
      clients: this.provider.clients,
      consents: this.provider.consents,
      tickets: new Tickets(store),
      roleIndices: roleIndices(settings),
    });
    this.dashboardSignIn = this.#makeSignIn();
  }

  async start(): Promise<void> {
    await this.follower.start();
    const resealed = await this.connections.reseal();
    if (resealed > 0)
      this.#shared.log.info({ records: resealed }, "secrets resealed with the vault's active key");
    await this.#warnWithoutAdministrator();
  }

  async stop(): Promise<void> {
    await Promise.all([this.connections.stop(), this.sessions.stop()]);
    await this.follower.stop();
  }

  /** Returns the one-time address for creating the first administrator, or null if there are accounts. */
  async setupLink(): Promise<string | null> {
    const token = await this.firstAdministrator.newToken();
    return token === null ? null : `${this.#shared.publicUrl()}/api/auth/setup/${token}`;
  }

  /** Logs how to get an administrator. Another provider may send one at any time. */
  async #warnWithoutAdministrator(): Promise<void> {
    const { settings, log } = this.#shared;
    if (settings["auth.mode"] === "off" || settings["auth.upstream.issuer"] !== "") return;
    if (await this.accounts.lackAdministrator())
      log.warn(
        "no account may administer the hub, which requires the role admin with the grant * on all indices: add one with tailrace-hub user add NAME --role admin",
      );
  }

  #makeSessions(): Sessions {
    const { settings, store } = this.#shared;
    const life = {
      idleMs: parseDuration(settings["auth.session.idle"]),
      absoluteMs: parseDuration(settings["auth.session.absolute"]),
    };
    const { browserSessions } = this.provider;
    return new Sessions(store, this.accounts, life, (name) => browserSessions.endNamed(name));
  }

  #makeSignIn(): DashboardSignIn {
    const { settings, store, publicUrl, keys, clock, fetch } = this.#shared;
    const stored = new StoredFlows<SignInPurpose>(store, "sign-in-flow");
    const isEmbedded = settings["auth.upstream.issuer"] === "";
    return new DashboardSignIn({
      flows: isEmbedded ? new SealedFlows(keys.flow, clock, stored) : stored,
      publicUrl,
      accounts: this.accounts,
      accessTokens: this.provider.accessTokens,
      endpoints: new Endpoints(clock, fetch),
      provider: () =>
        upstreamSignIn(settings, fetch) ??
        embeddedSignIn(
          (...request) => this.provider.answerToken(...request),
          publicUrl(),
          keys.dashboardSecret,
        ),
    });
  }
}

interface AuthMetrics {
  readonly requests: Counter<"endpoint" | "status">;
  readonly refreshes: Counter<"outcome">;
  readonly swept: Counter;
}

function metricsOf(metrics: Metrics): AuthMetrics {
  return {
    requests: metrics.counter("tailrace_auth_provider_requests_total", "Requests at the identity provider.", [
      "endpoint",
      "status",
    ]),
    refreshes: metrics.counter("tailrace_auth_token_refreshes_total", "Refreshes of connected accounts.", [
      "outcome",
    ]),
    swept: metrics.counter("tailrace_auth_records_swept_total", "Expired records deleted from the state."),
  };
}

function roleIndices(settings: AuthSettings): Readonly<Record<Role, readonly string[]>> {
  return {
    admin: ["*"],
    editor: settings["auth.roles.editor.indices"],
    viewer: settings["auth.roles.viewer.indices"],
    ingest: settings["auth.roles.ingest.indices"],
  };
}
