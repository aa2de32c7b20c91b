/**
 * The two listeners. Search interface: the routes that `search-interface.ts` lists. Dashboard: the hub interface, the pages, the
 * live socket, and the search interface again below /es, so that pages need no other origin.
 */

import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { needsProductHeader } from "#hub/api/compat/version.ts";
import { type ApiContext, type ApiDependencies, apiContext } from "#hub/api/context/api-context.ts";
import { apiMetrics } from "#hub/api/http/api-metrics.ts";
import { Dispatcher } from "#hub/api/http/dispatcher.ts";
import { errorBody, hubErrorBody } from "#hub/api/http/error-body.ts";
import { Listener, type ListenerOptions, type UpgradeHandler } from "#hub/api/http/listener.ts";
import { describeRoutes } from "#hub/api/http/openapi.ts";
import { BodyReader } from "#hub/api/http/request-body.ts";
import type { AccessControl, Route } from "#hub/api/http/route.ts";
import { staticPages } from "#hub/api/http/static-pages.ts";
import type { Alerts, HubStatus, RetentionRules, SavedObjects } from "#hub/api/ports/administration.ts";
import type { DeadLetterBox, PipelineAdmin } from "#hub/api/ports/pipelines.ts";
import { authRoutes, PROVIDER_PATHS } from "#hub/api/routes/auth/all.ts";
import { alertRoutes } from "#hub/api/routes/dashboard/alerts.ts";
import { pipelineRoutes } from "#hub/api/routes/dashboard/pipelines.ts";
import { retentionRoutes } from "#hub/api/routes/dashboard/retention.ts";
import { savedRoutes } from "#hub/api/routes/dashboard/saved.ts";
import { hubRoutes, memberRoutes } from "#hub/api/routes/dashboard/status.ts";
import type { Auth } from "#hub/auth/auth.ts";
import type { AppError } from "#proto/kit/errors.ts";
import { type Component, Lifecycle } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import { ScrollContexts } from "./routes/search/scroll-contexts.ts";
import { searchInterface } from "./search-interface.ts";

/** Where a listener binds; port 0 takes a free one. */
export interface Bind {
  readonly host: string;
  readonly port: number;
}

/** A fastify plugin of another part: hooks before the routes. */
export type DashboardPlugin = (app: FastifyInstance) => Promise<void>;

export interface ApiServerOptions {
  readonly parts: ApiDependencies;
  readonly status: HubStatus;
  /** Absent: nothing can be saved. */
  readonly saved?: SavedObjects;
  /** Absent: there are no alerts. */
  readonly alerts?: Alerts;
  /** Absent: retention rules can't be changed here. */
  readonly retention?: RetentionRules;
  /** Absent: pipelines can't be shown or changed. */
  readonly pipelines?: PipelineAdmin & DeadLetterBox;
  readonly access: AccessControl;
  /** Absent: there is no sign-in and no identity provider. */
  readonly auth?: Auth;
  readonly search: Bind;
  readonly dashboard: Bind;
  /** Set: both listeners speak HTTPS. */
  readonly tls?: NonNullable<ListenerOptions["tls"]>;
  /** See ListenerOptions. */
  readonly trustedProxies?: readonly string[];
  /** The dashboard's address as browsers see it; empty: its own. */
  readonly publicUrl: string;
  /** Folder of the built dashboard. */
  readonly uiFolder: string;
  /** Version of this program, for the interface's description. */
  readonly version: string;
  /** True: answers have the product header that newer clients check. */
  readonly productHeader: boolean;
  readonly plugins?: readonly DashboardPlugin[];
  /** WebSocket paths of the dashboard. */
  readonly upgrades?: Readonly<Record<string, UpgradeHandler>>;
  /** WebSocket paths of the search interface. */
  readonly searchUpgrades?: Readonly<Record<string, UpgradeHandler>>;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** Runs a request on the dashboard's listener that doesn't come over HTTP; bodies are JSON texts. */
export type RunRequest = (
  request: {
    readonly method: "GET" | "POST" | "PUT" | "DELETE";
    readonly path: string;
    readonly body?: string;
  },
  signal: AbortSignal,
) => Promise<{ readonly status: number; readonly body: string }>;

/** Headers that identify a client and the origin of its page. */
const PASSED_HEADERS = [
  "authorization",
  "cookie",
  "host",
  "origin",
  "sec-fetch-site",
  "x-forwarded-for",
] as const;

/** Prefix of the search interface on the dashboard's listener. */
const SEARCH_PREFIX = "/es";

export class ApiServer implements Component {
  readonly #options: ApiServerOptions;
  readonly #lifecycle: Lifecycle;
  readonly #search: Listener;
  readonly #dashboard: Listener;
  readonly #scrolls: ScrollContexts;
  readonly #parts: ApiContext;
  #prepared: Promise<void> | undefined;

  constructor(options: ApiServerOptions) {
    this.#options = options;
    const { log, search, dashboard, metrics, tls } = options;
    this.#lifecycle = new Lifecycle((part, error) =>
      log.error({ err: error, part }, "a listener didn't stop"),
    );
    const origins = (): readonly string[] => this.origins();
    const searchBody = (error: AppError): unknown => errorBody(error, options.parts.errors);
    const refused = metrics.counter(
      "tailrace_api_connections_refused_total",
      "connections closed because too many were open",
      ["listener"],
    );
    const shared = {
      origins,
      log,
      trustedProxies: options.trustedProxies ?? [],
      strictTransport: options.publicUrl.startsWith("https:"),
      ...(tls !== undefined && { tls }),
    };
    this.#search = new Listener({
      ...shared,
      ...search,
      portSetting: "http.port",
      errorBody: searchBody,
      onRefused: () => refused.inc({ listener: "search" }),
    });
    this.#dashboard = new Listener({
      ...shared,
      ...dashboard,
      portSetting: "dashboard.port",
      errorBody: hubErrorBody,
      onRefused: () => refused.inc({ listener: "dashboard" }),
    });
    this.#scrolls = new ScrollContexts(metrics, options.parts.cluster);
    this.#parts = apiContext({ ...options.parts, health: () => options.status.health() }, log);
    this.#measureConnections(metrics);
    this.#measureShares(metrics);
  }

  /** Addresses with the real ports. Valid after `start`. */
  get addresses(): { readonly http: string; readonly dashboard: string } {
    return { http: this.#search.url, dashboard: this.#dashboard.url };
  }

  /** Origins of the dashboard's pages. Valid after `start`. */
  origins(): string[] {
    const { port, url } = this.#dashboard;
    const { publicUrl } = this.#options;
    const names = ["localhost", "127.0.0.1", "[::1]"];
    const known = [url, ...names.map((name) => `${new URL(url).protocol}//${name}:${port}`)];
    if (publicUrl !== "" && URL.canParse(publicUrl)) known.push(new URL(publicUrl).origin);
    return [...new Set(known)];
  }

  /**
   * Returns a function that runs requests on the dashboard's listener as if the client of `upgrade` had sent them: with its
   * credentials, checked for each. It rejects when the signal is aborted.
   */
  runFor(upgrade: IncomingMessage): RunRequest {
    const headers = Object.fromEntries(
      PASSED_HEADERS.flatMap((name) => {
        const value = upgrade.headers[name];
        return value === undefined ? [] : [[name, value] as const];
      }),
    );
    const remoteAddress = upgrade.socket.remoteAddress ?? "";
    return async ({ method, path, body }, signal) => {
      const type = body === undefined ? {} : { "content-type": "application/json" };
      const answer = await this.#dashboard.app.inject({
        method,
        url: path,
        headers: { ...headers, ...type, accept: "application/json" },
        ...(body !== undefined && { payload: body }),
        remoteAddress,
        signal,
      });
      return { status: answer.statusCode, body: answer.payload };
    };
  }

  /** See Listener.useCertificate. */
  useCertificate(tls: NonNullable<ApiServerOptions["tls"]>): void {
    for (const listener of [this.#search, this.#dashboard]) listener.useCertificate(tls);
  }

  /** Builds all routes without listening. `start` does this if it hasn't been done. */
  prepare(): Promise<void> {
    this.#prepared ??= this.#prepare();
    return this.#prepared;
  }

  /** Throws port_taken, settings_invalid. */
  async start(): Promise<void> {
    await this.prepare();
    await this.#lifecycle.start("contexts of searches", {
      start: () => Promise.resolve(),
      stop: () => {
        this.#scrolls.stop();
        this.#parts.points.stop();
        this.#parts.asyncSearches.stop();
        return Promise.resolve();
      },
    });
    await this.#lifecycle.start("tasks", {
      start: () => Promise.resolve(),
      stop: () => this.#parts.tasks.stop(),
    });
    await this.#lifecycle.start("dashboard", this.#dashboard);
    await this.#lifecycle.start("search interface", this.#search);
  }

  stop(): Promise<void> {
    return this.#lifecycle.stop();
  }

  async #prepare(): Promise<void> {
    this.#register();
    await Promise.all([this.#dashboard.app.ready(), this.#search.app.ready()]);
  }

  #register(): void {
    const { parts, access, metrics, log, productHeader, plugins = [] } = this.#options;
    const searchRoutes = searchInterface(this.#parts, this.#scrolls);
    const ownRoutes = this.#hubRoutes(searchRoutes);
    const { compatVersion } = parts;
    const bodies = new BodyReader(metrics);
    const seen = new WeakSet<Socket>();
    const onSignedIn = (socket: Socket): void => {
      if (seen.has(socket)) return;
      seen.add(socket);
      const listener = socket.localPort === this.#search.port ? this.#search : this.#dashboard;
      listener.connections.signedIn(socket);
    };
    const shared = { access, log, bodies, metrics: apiMetrics(metrics), compatVersion, onSignedIn };
    const search = new Dispatcher({
      ...shared,
      routes: searchRoutes,
      onUsed: (method, route) => this.#parts.usage.count(method, route),
      errorBody: (error) => errorBody(error, parts.errors),
      ...((productHeader || needsProductHeader(compatVersion)) && {
        headers: { "x-elastic-product": "Elasticsearch" },
      }),
    });
    const hub = new Dispatcher({ ...shared, routes: ownRoutes, errorBody: hubErrorBody });
    void this.#search.app.register(search.plugin(""));
    const providerPaths = this.#options.auth?.provider.isEnabled === true ? PROVIDER_PATHS : [];
    const { app } = this.#dashboard;
    for (const plugin of plugins) void app.register(plugin);
    void app.register(search.plugin(SEARCH_PREFIX));
    void app.register(hub.plugin("", ["/api/*", "/health", "/metrics", ...providerPaths]));
    void app.register(staticPages(this.#options.uiFolder));
    this.#takeUpgrades();
  }

  #takeUpgrades(): void {
    const { upgrades = {}, searchUpgrades = {} } = this.#options;
    for (const [path, handler] of Object.entries(upgrades)) this.#dashboard.onUpgrade(path, handler);
    for (const [path, handler] of Object.entries(searchUpgrades)) {
      this.#search.onUpgrade(path, handler);
      this.#dashboard.onUpgrade(SEARCH_PREFIX + path, handler);
    }
  }

  #hubRoutes(searchRoutes: readonly Route[]): Route[] {
    const { status, saved, pipelines, alerts, retention, parts, metrics, version, auth, log } = this.#options;
    let document: ReturnType<typeof describeRoutes> | undefined;
    const describe = (): ReturnType<typeof describeRoutes> => {
      document ??= describeRoutes(version, [
        { prefix: "", tag: "hub", routes: own },
        { prefix: "", tag: "authentication", routes: signIn },
        { prefix: SEARCH_PREFIX, tag: "search", routes: searchRoutes },
      ]);
      return document;
    };
    const signIn = auth === undefined ? [] : authRoutes(auth, log);
    const own: Route[] = [
      ...hubRoutes({
        status,
        metrics,
        slowQueries: this.#parts.slowQueries,
        indices: this.#parts.indices,
        describe,
        showsParts: auth?.mode !== "required",
      }),
      ...memberRoutes(parts.cluster),
      ...(saved === undefined ? [] : savedRoutes(saved)),
      ...(pipelines === undefined ? [] : pipelineRoutes(pipelines, pipelines)),
      ...(alerts === undefined ? [] : alertRoutes(alerts, parts.indices)),
      ...(retention === undefined ? [] : retentionRoutes(retention)),
    ];
    return [...own, ...signIn];
  }

  #measureConnections(metrics: Metrics): void {
    metrics.gauge("tailrace_api_connections", "open connections", ["listener", "state"], (gauge) => {
      for (const [name, { connections }] of [
        ["search", this.#search],
        ["dashboard", this.#dashboard],
      ] as const) {
        gauge.set({ listener: name, state: "anonymous" }, connections.anonymous);
        gauge.set({ listener: name, state: "signed_in" }, connections.open - connections.anonymous);
      }
    });
  }

  /** Exports how much is held for clients between their requests, and what was refused. */
  #measureShares(metrics: Metrics): void {
    const { points, asyncSearches, tasks, turns } = this.#parts;
    metrics.counter(
      "tailrace_api_shares_refused_total",
      "requests refused with 429 because their sender, or all, held too many of these",
      ["of"],
      (counter) => {
        counter.reset();
        for (const [of, { refused }] of Object.entries({
          scrolls: this.#scrolls,
          points,
          asyncSearches,
          tasks,
          searches: turns.searches,
          bulks: turns.bulks,
        }))
          counter.inc({ of }, refused);
      },
    );
    turns.measure(metrics);
    metrics.gauge("tailrace_search_points_in_time", "open points in time", [], (gauge) =>
      gauge.set(points.size),
    );
    metrics.gauge(
      "tailrace_search_async_searches",
      "searches in the background, with those whose answers are kept",
      [],
      (gauge) => gauge.set(asyncSearches.size),
    );
    metrics.gauge(
      "tailrace_search_async_answer_bytes",
      "answers of searches in the background that are kept",
      [],
      (gauge) => gauge.set(asyncSearches.bytes),
    );
  }
}
