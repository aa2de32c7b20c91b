/** The hub's listeners: creates the HTTP APIs and the live socket with their dependencies. */

import { join, resolve } from "node:path";
import type { Alerts } from "#hub/alerts/alerts.ts";
import type { Writer } from "#hub/alerts/rule-store.ts";
import { completeVersion, versionNumber } from "#hub/api/compat/version.ts";
import { TaskResults } from "#hub/api/context/task-results.ts";
import type { HealthReport } from "#hub/api/ports/administration.ts";
import { compileTailQuery } from "#hub/api/routes/loki/tail-query.ts";
import { ApiServer, type ApiServerOptions } from "#hub/api/server.ts";
import { EVERYBODY } from "#hub/auth/accounts/principal.ts";
import type { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import type { BodyThreads } from "#hub/cluster/writes/body-threads.ts";
import type { Documents } from "#hub/cluster/writes/documents.ts";
import type { Fleet } from "#hub/fleet/fleet.ts";
import type { HostedShards } from "#hub/host/contract/hosted-shards.ts";
import type { Journal } from "#hub/journal/journal.ts";
import { LiveServer } from "#hub/live/live-server.ts";
import type { OwnTail } from "#hub/live/shared-tail.ts";
import type { Access } from "#hub/node/access/access.ts";
import { presentReach, savedFor } from "#hub/node/access/alert-rights.ts";
import type { HubSettings } from "#hub/node/settings/hub-settings.ts";
import { readTlsFiles, type TlsOptions } from "#hub/node/settings/tls-files.ts";
import { ClusterInfo } from "#hub/node/status/cluster-info.ts";
import type { Health } from "#hub/node/status/health.ts";
import { Status } from "#hub/node/status/hub-status.ts";
import { wireAlerts } from "#hub/node/wiring/alerts.ts";
import type { ClusterNode } from "#hub/node/wiring/cluster.ts";
import { PipelineApi } from "#hub/node/wiring/pipeline-api.ts";
import type { Pipelines } from "#hub/node/wiring/pipelines.ts";
import { IngestPipelines } from "#hub/pipeline/ingest/ingest-pipelines.ts";
import { SavedObjects } from "#hub/saved/saved-objects.ts";
import { StoredScripts } from "#hub/scripts/stored-scripts.ts";
import { Repositories } from "#hub/snapshot/repositories.ts";
import type { RetentionRules } from "#hub/upkeep/retention-rules.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { type Component, Lifecycle } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import { parseDuration } from "#proto/kit/units.ts";
import { LIVE_PATH } from "#proto/live.ts";

export interface ListenersOptions {
  readonly settings: HubSettings;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly version: string;
  readonly catalog: IndexCatalog;
  readonly documents: Documents;
  /** Threads for large bodies. */
  readonly bodies: BodyThreads;
  readonly shards: HostedShards;
  readonly journal: Journal;
  readonly access: Access;
  readonly retention: RetentionRules;
  readonly cluster: ClusterNode;
  /** See LiveServerOptions. */
  readonly makeSearchable: () => Promise<void>;
  /** ms since 1970-01-01 UTC. */
  readonly startedMs: number;
}

/** The parts that exist once the routes are built. */
interface Interfaces {
  readonly alerts: Alerts;
  readonly api: ApiServer;
}

/** The built dashboard, beside this folder in a checkout and in a package. */
const UI_FOLDER = resolve(join(import.meta.dirname, "../../ui/dist"));

export class Listeners implements Component {
  /** Set by the owner; until then the hub is not ready. */
  fleet: Fleet | undefined;
  /** Set by the owner before `start`. */
  health: Health | undefined;
  /** Set by the owner before `start`. */
  pipelines: Pipelines | undefined;
  readonly #options: ListenersOptions;
  readonly #lifecycle: Lifecycle;
  #api: ApiServer | undefined;
  #live: LiveServer | undefined;
  #prepared: Promise<Interfaces> | undefined;

  constructor(options: ListenersOptions) {
    this.#options = options;
    this.#lifecycle = new Lifecycle((part, error) =>
      options.log.error({ err: error, part }, "a listener did not stop"),
    );
  }

  /** Forwards the pipeline's events to live viewers; may be used before `start`. */
  readonly tail: OwnTail = forwardTo(() => this.#live);

  /** Valid after `start`. */
  get addresses(): { readonly http: string; readonly dashboard: string } {
    return this.#api!.addresses;
  }

  /** host:port of the search API; before it listens, the configured values. */
  get httpAddress(): string {
    const { settings } = this.#options;
    const host = settings["http.host"] || settings["network.host"];
    return addressOf(this.#api, `${host}:${settings["http.port"]}`);
  }

  /** Builds everything up to the routes without listening. `start` calls it if needed. */
  prepare(): Promise<Interfaces> {
    this.#prepared ??= this.#prepare();
    return this.#prepared;
  }

  /** Throws port_taken, settings_invalid. */
  async start(): Promise<void> {
    const { access, makeSearchable, metrics, log } = this.#options;
    const { alerts, api } = await this.prepare();
    await this.#lifecycle.start("http", api);
    this.#live = new LiveServer({
      everybody: EVERYBODY,
      allowedOrigins: api.origins(),
      authenticate: (request) => access.viewer(request),
      onRightsChange: (listener) => access.onRightsChange(listener),
      runFor: (upgrade) => api.runFor(upgrade),
      compileLogTail: (query, signal) => compileTailQuery(query, signal, systemClock),
      makeSearchable,
      metrics,
      log,
    });
    await this.#lifecycle.start("live", this.#live);
    await this.#lifecycle.start("alerts", alerts);
  }

  stop(): Promise<void> {
    return this.#lifecycle.stop();
  }

  /** Uses another certificate for new connections. */
  useCertificate(tls: TlsOptions): void {
    this.#api?.useCertificate(tls);
  }

  async #prepare(): Promise<Interfaces> {
    const { journal, log, settings } = this.#options;
    const alerts = await this.#makeAlerts();
    const bucket = await journal.bucket("ingest");
    const scripts = new StoredScripts(bucket, log, () => ingest.refresh());
    const ingest = new IngestPipelines(bucket, log, {
      scripts: () => scripts.texts(),
      version: versionNumber(completeVersion(settings["compat.version"])),
    });
    await this.#lifecycle.start("stored scripts", scripts);
    await this.#lifecycle.start("ingest pipelines", ingest);
    const repositories = await this.#repositories();
    await this.#lifecycle.start("snapshot repositories", repositories);
    const api = await this.#makeApi(alerts, { ingest, scripts, repositories });
    this.#api = api;
    await api.prepare();
    return { alerts, api };
  }

  #health(): HealthReport {
    return this.health?.report() ?? { status: "ok", parts: [] };
  }

  async #makeAlerts(): Promise<Alerts> {
    const { settings, journal, access } = this.#options;
    return wireAlerts({
      ...this.#options,
      sender: () => savedFor(access.principal()),
      ...(settings["auth.mode"] === "required" && {
        presentReach: (writer: Writer) => presentReach(access.auth.authenticator, writer),
      }),
      bucket: await journal.bucket("alerts"),
      dashboardUrl: () => settings["public.url"].replace(/\/$/, "") || this.addresses.dashboard,
    });
  }

  #pipelineInterface(pipelines: Pipelines): PipelineApi {
    const { settings, journal, version, log } = this.#options;
    const hubName = settings["node.name"];
    return new PipelineApi({ pipelines, journal, hubName, version, log, clock: systemClock });
  }

  async #repositories(): Promise<Repositories> {
    const { settings, journal, log } = this.#options;
    const given = settings["path.repo"].map((place) => (place.startsWith("s3://") ? place : resolve(place)));
    const places = given.length > 0 ? given : [join(resolve(settings["path.data"]), "repositories")];
    return new Repositories({ bucket: await journal.bucket("cluster"), log, places, env: process.env });
  }

  async #makeApi(
    alerts: Alerts,
    stored: Pick<ApiServerOptions["parts"], "ingest" | "scripts" | "repositories">,
  ): Promise<ApiServer> {
    const { settings, metrics, log, version, access, journal } = this.#options;
    const tls = readTlsFiles(settings);
    return new ApiServer({
      parts: { ...(await this.#parts()), ...stored },
      status: this.#status(),
      saved: new SavedObjects(await journal.bucket("saved"), systemClock),
      alerts,
      retention: this.#options.retention,
      ...(this.pipelines !== undefined && { pipelines: this.#pipelineInterface(this.pipelines) }),
      access,
      auth: access.auth,
      plugins: access.plugins(),
      ...(tls !== undefined && { tls }),
      search: { host: settings["http.host"] || settings["network.host"], port: settings["http.port"] },
      dashboard: {
        host: settings["dashboard.host"] || settings["network.host"],
        port: settings["dashboard.port"],
      },
      publicUrl: settings["public.url"],
      trustedProxies: settings["network.trusted_proxies"],
      uiFolder: UI_FOLDER,
      version,
      productHeader: settings["compat.product_header"],
      upgrades: { [LIVE_PATH]: (request, socket, head) => this.#live?.handleUpgrade(request, socket, head) },
      searchUpgrades: {
        "/loki/api/v1/tail": (request, socket, head) => this.#live?.handleLogTail(request, socket, head),
      },
      metrics,
      log,
    });
  }

  async #parts(): Promise<ApiServerOptions["parts"]> {
    const { settings, catalog, documents, bodies, shards, access, log } = this.#options;
    const cluster = await this.#cluster();
    return {
      ...access.guard(catalog, documents),
      bodies,
      shards,
      cluster,
      dataFolder: resolve(settings["path.data"]),
      clock: systemClock,
      compatVersion: completeVersion(settings["compat.version"]),
      errors: { nodeId: cluster.nodes()[0]?.id ?? "" },
      taskResults: new TaskResults({ documents, indices: catalog, shards, clock: systemClock, log }),
      remoteHosts: settings["reindex.remote.whitelist"],
      searchTimeoutMs: parseDuration(settings["search.default_search_timeout"]),
      ...(settings["search.slowlog.threshold"] >= 0 && { slowQueryMs: settings["search.slowlog.threshold"] }),
    };
  }

  async #cluster(): Promise<ClusterInfo> {
    const { settings, journal, cluster } = this.#options;
    const host = settings["transport.host"] || settings["network.host"];
    return ClusterInfo.open(await journal.bucket("cluster"), settings["cluster.name"], cluster, {
      name: settings["node.name"],
      attributes: settings["node.attr"],
      host,
      httpAddress: () => this.httpAddress,
      transportAddress: `${host}:${settings["transport.port"]}`,
    });
  }

  #status(): Status {
    const { settings, version, startedMs, catalog, shards, journal } = this.#options;
    return new Status({
      version,
      compatVersion: completeVersion(settings["compat.version"]),
      nodeName: settings["node.name"],
      clusterName: settings["cluster.name"],
      startedMs,
      clock: systemClock,
      catalog,
      shards,
      journal,
      fleet: () => this.fleet,
      health: () => this.#health(),
      processed: () => this.pipelines?.processed,
      pipelines: async () => (await this.pipelines?.facts()) ?? [],
    });
  }
}

/** The live server exists only once the dashboard's port is known. */
function forwardTo(live: () => LiveServer | undefined): OwnTail {
  return {
    get listening() {
      return live()?.listening ?? false;
    },
    offer: (events) => live()?.offer(events),
    missed: (why) => live()?.missed(why),
  };
}

/** Returns host and port of the search API; `fallback` before it listens. */
function addressOf(api: ApiServer | undefined, fallback: string): string {
  try {
    return api === undefined ? fallback : new URL(api.addresses.http).host;
  } catch {
    return fallback;
  }
}
