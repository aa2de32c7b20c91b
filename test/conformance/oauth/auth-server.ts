/** A hub's authentication on a loopback port, with an account and clients, and everything it logged. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { type FastifyInstance, fastify } from "fastify";
import { pino } from "pino";
import { apiMetrics } from "#hub/api/http/api-metrics.ts";
import { Dispatcher } from "#hub/api/http/dispatcher.ts";
import { hubErrorBody } from "#hub/api/http/error-body.ts";
import { BodyReader } from "#hub/api/http/request-body.ts";
import { json, type Route } from "#hub/api/http/route.ts";
import { authRoutes } from "#hub/api/routes/auth/all.ts";
import { Passwords } from "#hub/auth/accounts/passwords.ts";
import { type Action, authorizeAll } from "#hub/auth/accounts/principal.ts";
import type { AuditEvent } from "#hub/auth/audit/audit.ts";
import { Auth } from "#hub/auth/auth.ts";
import type { AuthSettings } from "#hub/auth/settings.ts";
import type { Logger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { Browser, type Page } from "./browser.ts";
import { settingsWith } from "./settings.ts";
import { SlowBucket } from "./slow-bucket.ts";

export const PERSON = { name: "ada", password: "correct horse battery" };
/** Where clients get their codes; nobody listens there. */
export const REDIRECT_URI = "http://localhost:7777/cb";

/** Cheap hashes: what is tested isn't their cost. */
const CHEAP = { N: 1024, r: 8, p: 1 };

export interface TestClient {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** One token response, or an error. */
export interface TokenAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

export interface WorldOptions {
  readonly settings?: Partial<AuthSettings>;
  /** State shared with another world: a second hub. */
  readonly bucket?: StateBucket;
  readonly dataPath?: string;
  readonly publicUrl?: string;
}

export class World {
  readonly auth: Auth;
  readonly app: FastifyInstance;
  readonly bucket: StateBucket;
  readonly dataPath: string;
  readonly audit: AuditEvent[];
  readonly logs: string[];
  origin = "";
  /** Shared by cases that don't care who asks. */
  browser = new Browser();

  private constructor(
    auth: Auth,
    app: FastifyInstance,
    options: { bucket: StateBucket; dataPath: string; audit: AuditEvent[]; logs: string[] },
  ) {
    this.auth = auth;
    this.app = app;
    this.bucket = options.bucket;
    this.dataPath = options.dataPath;
    this.audit = options.audit;
    this.logs = options.logs;
  }

  static async start(options: WorldOptions = {}): Promise<World> {
    const bucket = options.bucket ?? new SlowBucket(new MemoryBucket());
    const dataPath = options.dataPath ?? mkdtempSync(join(tmpdir(), "tailrace-auth-"));
    const audit: AuditEvent[] = [];
    const logs: string[] = [];
    const sink = new PassThrough();
    sink.on("data", (chunk: Buffer) => logs.push(chunk.toString()));
    const log = pino({ level: "debug" }, sink);
    let origin = "";
    const auth = await Auth.open({
      settings: settingsWith(options.settings ?? {}),
      dataPath,
      bucket,
      log,
      metrics: new Metrics(),
      audit: (event) => audit.push(event),
      dashboardUrl: () => options.publicUrl ?? origin,
      env: {},
      passwords: new Passwords(CHEAP),
    });
    const app = fastify({ forceCloseConnections: true });
    await app.register(dispatcherOf(auth, log).plugin(""));
    origin = await app.listen({ host: "127.0.0.1", port: 0 });
    const world = new World(auth, app, { bucket, dataPath, audit, logs });
    world.origin = options.publicUrl ?? origin;
    await auth.start();
    return world;
  }

  async stop(): Promise<void> {
    await this.app.close();
    await this.auth.stop();
    rmSync(this.dataPath, { recursive: true, force: true });
  }

  /** A browser whose person is signed in at the provider and has allowed nothing yet. */
  async signedInBrowser(): Promise<Browser> {
    const browser = new Browser();
    const page = await browser.follow(
      await browser.get(this.authorizationUrl(await this.addClient())),
      this.origin,
    );
    await browser.follow(await browser.submit(page, "/sign-in", PERSON), this.origin);
    return browser;
  }

  async addPerson(role: "admin" | "editor" | "viewer" = "admin"): Promise<void> {
    await this.auth.accounts.add({ ...PERSON, role }, "test");
  }

  async addClient(redirectUris: readonly string[] = [REDIRECT_URI], more: object = {}): Promise<TestClient> {
    const client = { name: "Reporter", kind: "confidential" as const, redirectUris, ...more };
    const { clientId, clientSecret = "" } = await this.auth.provider.clients.register(client, "test");
    return { clientId, clientSecret };
  }

  scope(name: string): string {
    return `${this.origin}/auth/${name}`;
  }

  /** Returns the authorization request's URL; an undefined value leaves the parameter out. */
  authorizationUrl(
    client: Pick<TestClient, "clientId">,
    changes: Record<string, string | undefined> = {},
  ): string {
    const url = new URL(`${this.origin}/o/oauth2/v2/auth`);
    const parameters = {
      client_id: client.clientId,
      redirect_uri: REDIRECT_URI,
      response_type: "code",
      scope: this.scope("logs.read"),
      state: "st-1",
      ...changes,
    };
    for (const [name, value] of Object.entries(parameters))
      if (value !== undefined) url.searchParams.set(name, value);
    return url.href;
  }

  /** Goes through sign-in and consent as far as each is shown; returns the redirect that leaves. */
  async approve(browser: Browser, url: string, decision: "consent" | "cancel" = "consent"): Promise<Page> {
    let page = await browser.follow(await browser.get(url), this.origin);
    if (page.text.includes('name="password"')) {
      page = await browser.follow(await browser.submit(page, "/sign-in", PERSON), this.origin);
    }
    if (page.text.includes("/consent")) {
      page = await browser.follow(await browser.submit(page, `/${decision}`), this.origin);
    }
    return page;
  }

  /** Returns a code for the client. */
  async code(
    client: Pick<TestClient, "clientId">,
    changes: Record<string, string | undefined> = {},
    browser = this.browser,
  ): Promise<string> {
    const page = await this.approve(browser, this.authorizationUrl(client, changes));
    const code = page.location === null ? null : new URL(page.location).searchParams.get("code");
    if (code === null) throw new Error(`no code: ${page.status} ${page.location} ${page.text.slice(0, 300)}`);
    return code;
  }

  /** Asks an endpoint with a form. */
  async ask(
    path: string,
    fields: Record<string, string | undefined>,
    headers: Record<string, string> = {},
  ): Promise<TokenAnswer> {
    const given = Object.entries(fields).filter((pair): pair is [string, string] => pair[1] !== undefined);
    const init = { method: "POST", body: new URLSearchParams(given), headers };
    return read(await fetch(this.origin + path, init));
  }

  /** Exchanges a code; an undefined value leaves the parameter out. */
  exchange(
    client: TestClient,
    code: string,
    changes: Record<string, string | undefined> = {},
  ): Promise<TokenAnswer> {
    return this.ask("/token", { ...exchangeFields(client, code), ...changes });
  }

  refresh(
    client: TestClient,
    refreshToken: string,
    changes: Record<string, string | undefined> = {},
  ): Promise<TokenAnswer> {
    const fields = {
      grant_type: "refresh_token",
      refresh_token: refreshToken,
      client_id: client.clientId,
      client_secret: client.clientSecret,
    };
    return this.ask("/token", { ...fields, ...changes });
  }

  /** Returns access and refresh token of a new consent. */
  async tokens(
    client: TestClient,
    changes: Record<string, string | undefined> = {},
  ): Promise<{ access: string; refresh: string }> {
    const { body } = await this.exchange(client, await this.code(client, changes));
    return { access: String(body["access_token"]), refresh: String(body["refresh_token"]) };
  }

  /** Calls the sample API. */
  api(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(this.origin + path, { headers });
  }

  /** Calls the sample API's searching route with a token. */
  async apiStatus(token: string): Promise<number> {
    const answer = await this.api("/sample/search", { authorization: `Bearer ${token}` });
    await answer.body?.cancel();
    return answer.status;
  }
}

export function exchangeFields(client: TestClient, code: string): Record<string, string> {
  return {
    grant_type: "authorization_code",
    code,
    client_id: client.clientId,
    client_secret: client.clientSecret,
    redirect_uri: REDIRECT_URI,
  };
}

/** HTTP Basic of a client. */
export function basicHeader({ clientId, clientSecret }: TestClient): string {
  return `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString("base64")}`;
}

/** Reads an answer, JSON or not. */
export async function read(answer: Response): Promise<TokenAnswer> {
  const text = await answer.text();
  let body: Record<string, unknown> = {};
  try {
    body = JSON.parse(text) as Record<string, unknown>;
  } catch {
    body = { text };
  }
  return { status: answer.status, headers: answer.headers, body };
}

/** Serves the routes of sign-in as the hub does, and some of another part. */
function dispatcherOf(auth: Auth, log: Logger): Dispatcher {
  const metrics = new Metrics();
  const { authenticator } = auth;
  return new Dispatcher({
    routes: [...authRoutes(auth, log), ...(["search", "save", "ingest"] as const).map(sampleRoute)],
    access: { authenticate: (request) => authenticator.authenticate(request), authorize: authorizeAll },
    bodies: new BodyReader(metrics),
    metrics: apiMetrics(metrics),
    log,
    errorBody: hubErrorBody,
    compatVersion: "6.5.4",
    onSignedIn: () => undefined,
  });
}

function sampleRoute(action: Action): Route {
  return {
    methods: ["GET", "POST"],
    paths: [`/sample/${action}`],
    params: [],
    takesAnyParams: true,
    action,
    summary: "Shows the sender's name.",
    handle: ({ principal }) => json({ name: principal.name }),
  };
}
