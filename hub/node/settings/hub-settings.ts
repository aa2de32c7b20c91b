/** Settings of a hub: one schema, printed by `--print-settings`, filled from hub.yml, the environment and `-E`. */

import { existsSync } from "node:fs";
import type { Static } from "typebox";
import { authProperties } from "#hub/auth/settings.ts";
import { AppError } from "#proto/kit/errors.ts";
import { Type } from "#proto/kit/schema.ts";
import { durationSetting, sizeSetting } from "#proto/kit/settings/kinds.ts";
import { describeSettings } from "#proto/kit/settings/reference.ts";
import {
  type Aliases,
  checkSettings,
  type Entries,
  parseOverride,
  readSettingsFile,
} from "#proto/kit/settings/settings.ts";
import { HOUR_MS } from "#proto/kit/units.ts";
import { tlsProperties } from "./tls-files.ts";

const port = (fallback: number, description: string) =>
  Type.Integer({ minimum: 0, maximum: 65535, default: fallback, description });
const text = (fallback: string, description: string) => Type.String({ default: fallback, description });
const flag = (fallback: boolean, description: string) => Type.Boolean({ default: fallback, description });
const list = (fallback: string[], description: string) =>
  Type.Array(Type.String(), { default: fallback, description });

/** Defaults of ports that are compared elsewhere. */
export const DEFAULT_PORTS = { transport: 9300, nats: 4222, routes: 6222 } as const;

export const hubSchema = Type.Object(
  {
    "node.name": text("hub-1", "name of this hub"),
    "cluster.name": text("tailrace", "name of the cluster"),
    "cluster.copies": Type.Union([Type.Literal("all"), Type.Literal("replicas")], {
      default: "all",
      description:
        "which shards each hub has: all of them, or number_of_replicas + 1 copies of each shard across the hubs; the same on all hubs; replicas can't be changed back to all",
    }),
    "node.attr": Type.Record(Type.String(), Type.String(), {
      default: {},
      description: "custom attributes of this hub, such as node.attr.rack: r1; shown by _cat/nodeattrs",
    }),
    "network.host": text("127.0.0.1", "address of all listeners whose own host is not set"),
    "network.trusted_proxies": list(
      [],
      "addresses or networks of proxies in front of the listeners and of pipeline inputs over HTTP, such as 10.0.0.0/8: the client address is taken from their X-Forwarded-For; limits on failed sign-ins and on floods need it",
    ),
    "http.host": text("", "address of the search interface; empty: network.host"),
    "http.port": port(9200, "port of the search interface; 0: a free port"),
    "transport.host": text(
      "",
      "address of the listeners for other hubs, transport.port and nats.route_port, at which they must reach this hub; empty: network.host",
    ),
    "transport.port": port(
      DEFAULT_PORTS.transport,
      "port at which the hubs of a cluster find and call each other; used only with discovery.seed_hosts or nats.servers; 0: a free port",
    ),
    "dashboard.host": text("", "address of the dashboard; empty: network.host"),
    "dashboard.port": port(5601, "port of the dashboard, /api and the identity provider; 0: a free port"),
    "discovery.seed_hosts": list(
      [],
      "addresses of all hubs of the cluster, host:9300, at least three: their nats-servers store the log together; empty: the hub has its own log, or uses that of nats.servers",
    ),
    "cluster.secret": text(
      "",
      "secret of at least 32 characters shared by the hubs of discovery.seed_hosts, which use it to authenticate each other and to encrypt their connections; take it from the environment",
    ),
    "hub.threads": Type.Integer({
      minimum: 0,
      maximum: 64,
      default: 0,
      description:
        "threads that hold, index and search the shards; 0: one less than the machine's cores, at least one",
    }),
    "nats.host": text("", "address of the embedded nats-server; empty: network.host"),
    "nats.port": port(DEFAULT_PORTS.nats, "port of the embedded nats-server for agents; 0: a free port"),
    "nats.route_port": Type.Integer({
      minimum: 1,
      maximum: 65_535,
      default: DEFAULT_PORTS.routes,
      description:
        "port between the nats-servers of the hubs of discovery.seed_hosts; used only if discovery.seed_hosts is set",
    }),
    "nats.advertise": list(
      [],
      "URLs at which agents on other machines reach nats-server, handed out at enrolment; empty: nats.host or the host of public.url",
    ),
    "nats.servers": list(
      [],
      "URLs of an existing NATS server, which several hubs may share; empty: the hub runs its own nats-server",
    ),
    "nats.token": text("", "token for nats.servers"),
    "nats.replicas": Type.Integer({
      minimum: 0,
      maximum: 5,
      default: 0,
      description:
        "servers of a NATS cluster that store each stream and bucket; 0: 3 if discovery.seed_hosts or nats.servers names at least three servers of a cluster, else 1; with 5, two of five may be lost; existing streams and buckets never get fewer",
    }),
    "journal.max_bytes": sizeSetting({
      default: "",
      description:
        "size limit of the streams RAW and DOC each, such as 2gb, at least 16mb; empty: 10gb, but at most 20 % of the free disk",
    }),
    "journal.keep": durationSetting({
      default: "15m",
      description:
        "how long RAW and DOC keep messages that are processed and committed, while no other arrives; files of the data folder that were set back are rebuilt from them",
    }),
    "journal.keep_bytes": sizeSetting({
      default: "8mb",
      description:
        "how much of such messages RAW and DOC keep each, at least 8mb, and at most a quarter of journal.max_bytes",
    }),
    "retention.rules": list(
      [],
      'retention by index pattern: "logs-* 30d" (age of the last document), "logs-* 50gb" (the oldest are deleted), or both; the first matching pattern applies; a clock that is set forward counts after a day',
    ),
    "monitoring.interval": durationSetting({
      default: "15s",
      description:
        "how often the hub records its own metrics while the dashboard Health of the hub exists, which setup creates; 0s: never",
    }),
    "monitoring.keep": text("7d", 'retention of these metrics: an age, a size or both, such as "7d 1gb"'),
    "path.data": text(
      "./data",
      "data folder of the hub; the default of an installed package is /var/lib/tailrace-hub",
    ),
    "path.repo": list(
      [],
      "folders and s3://bucket/prefix addresses that snapshot repositories may use; relative locations are below the first folder; empty: the folder repositories in path.data",
    ),
    "path.config": list(
      ["pipelines/*.conf"],
      "files of the main pipeline, as globs; a folder means all its files",
    ),
    "path.pipelines": text("pipelines.yml", "file that lists further pipelines; may be missing"),
    "pipeline.output.paths": list(
      [],
      "folders to which outputs may write files, in addition to the folder out in path.data",
    ),
    "pipeline.allowed_hosts": list(
      [],
      "hosts to which pipelines created on the page may connect; *.example.net: all its subdomains, *: every host",
    ),
    "pipeline.workers": Type.Integer({
      minimum: 1,
      maximum: 64,
      default: 2,
      description: "threads that run filters",
    }),
    "pipeline.ecs_compatibility": Type.Enum(["plugin", "disabled", "v1", "v8"], {
      default: "plugin",
      description:
        "field names of plugins that don't set ecs_compatibility themselves: v1 and v8: Elastic Common Schema; plugin: each plugin's default",
    }),
    // Not a typo: existing settings files use this spelling. ALIASES has the other one.
    "pipeline.bath.size": Type.Integer({
      minimum: 1,
      maximum: 65536,
      default: 125,
      description:
        "maximum number of events per batch; the name is spelled as in existing settings files, pipeline.batch.size is the same setting",
    }),
    "pipeline.batch.delay": Type.Integer({
      minimum: 0,
      maximum: 60_000,
      default: 5,
      description: "maximum wait for a batch to fill, ms",
    }),
    "search.default_search_timeout": durationSetting({
      default: "30s",
      description:
        "time after which a search without its own timeout returns its results so far (timed_out: true); 0s: never; the cluster setting of this name overrides it (-1: never)",
    }),
    "search.max_memory": sizeSetting({
      default: "384mb",
      description:
        "total memory of the searches of one thread of shards; beyond it the search that uses most fails with an error; 0: no limit",
    }),
    "search.cache_memory": sizeSetting({
      default: "",
      description:
        "memory of the caches of searches, of all threads of shards together: parts of segments, sets of documents, results; empty: a sixteenth of the memory that the hub may have, but 16mb to 256mb; 0: no caches",
    }),
    "search.slowlog.threshold": Type.Integer({
      minimum: -1,
      maximum: HOUR_MS,
      default: 1000,
      description: "duration from which a search is logged as slow, ms; -1: never",
    }),
    "config.reload.automatic": flag(false, "whether changed pipeline files are reloaded while running"),
    "config.reload.interval": durationSetting({
      default: "5s",
      description: "how often pipeline files are checked for changes",
    }),
    "alerts.webhook.allow_private": flag(
      false,
      "whether alerts may be sent to addresses of the hub's own machine and private networks",
    ),
    "alerts.smtp.url": Type.String({
      pattern: "^$|^smtps?://",
      default: "",
      description: "mail server for alerts: smtp://user:password@host:587; empty: no mail",
    }),
    "alerts.smtp.from": text("tailrace@localhost", "sender address of alert mails"),
    ...authProperties,
    ...tlsProperties,
    "node.store.allow_mmap": flag(true, "false: the check of vm.max_map_count is skipped"),
    "compat.version": Type.String({
      pattern: "^\\d+(\\.\\d+){0,2}$",
      default: "6.5.4",
      description: "version reported to search clients",
    }),
    "reindex.remote.whitelist": list([], "patterns of host:port (with *) from which _reindex may read"),
    "compat.product_header": flag(
      false,
      "whether responses carry the product header that newer clients require",
    ),
    "logging.level": Type.Union(
      ["error", "warn", "info", "debug"].map((level) => Type.Literal(level)),
      { default: "info", description: "lowest severity that is logged" },
    ),
  },
  { additionalProperties: false },
);

export type HubSettings = Static<typeof hubSchema>;

/** Alternative names of settings. */
const ALIASES: Aliases = [["pipeline.batch.size", "pipeline.bath.size"]];

/** Returns the reference of all settings as Markdown: the output of `--print-settings`. */
export function settingsReference(): string {
  const names = ALIASES.map(([accepted, kept]) => `\`${accepted}\` is another name of \`${kept}\`.`);
  return `# hub.yml\n\nKeys are written dotted or nested. ${names.join(" ")}\n\n${describeSettings(hubSchema)}`;
}

/** Set by the launcher of a package: default locations of settings and data. */
export const CONFIG_VARIABLE = "TAILRACE_HUB_CONFIG";
export const DATA_VARIABLE = "TAILRACE_HUB_DATA";

export interface HubArguments {
  /** Path of hub.yml; undefined: that of the installation, if there is one. */
  readonly file: string | undefined;
  /** "key=value" of each -E. */
  readonly overrides: readonly string[];
}

/** Returns the settings file to read for the option `file`; undefined: defaults only. */
export function settingsFile(file: string | undefined, env: NodeJS.ProcessEnv): string | undefined {
  if (file !== undefined) return file;
  const installed = env[CONFIG_VARIABLE] ?? "";
  return installed !== "" && existsSync(installed) ? installed : undefined;
}

/**
 * Reads and validates the settings. Throws settings_invalid or usage_invalid naming file, line, key and the nearest
 * name.
 */
export function loadHubSettings({ file, overrides }: HubArguments, env: NodeJS.ProcessEnv): HubSettings {
  const path = settingsFile(file, env);
  const entries: Entries = path === undefined ? new Map() : readSettingsFile(path, hubSchema, env);
  for (const override of overrides) {
    const [key, entry] = parseOverride(override, env);
    entries.set(key, entry);
  }
  const data = env[DATA_VARIABLE] ?? "";
  if (data !== "" && !entries.has("path.data"))
    entries.set("path.data", { value: data, place: DATA_VARIABLE });
  const settings = checkSettings(hubSchema, entries, ALIASES);
  refuseCredentials(settings["nats.servers"]);
  return settings;
}

/** Addresses appear in logs and on pages. */
function refuseCredentials(addresses: readonly string[]): void {
  if (!addresses.some((address) => address.includes("@"))) return;
  throw new AppError(
    "settings_invalid",
    "nats.servers: an address names a user or password, which would be shown wherever the address is; put the token into nats.token",
  );
}
