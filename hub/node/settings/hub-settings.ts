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
import { tlsProperties } from "./tls-files.ts";

const port = (fallback: number, description: string) =>
  Type.Integer({ minimum: 0, maximum: 65535, default: fallback, description });
const text = (fallback: string, description: string) => Type.String({ default: fallback, description });
const flag = (fallback: boolean, description: string) => Type.Boolean({ default: fallback, description });
const list = (fallback: string[], description: string) =>
  Type.Array(Type.String(), { default: fallback, description });

export const hubSchema = Type.Object(
  {
    "node.name": text("hub-1", "name of this hub, shown to people"),
    "cluster.name": text("tailrace", "name of the cluster"),
    "node.attr": Type.Record(Type.String(), Type.String(), {
      default: {},
      description:
        "what else is to be told of this hub, by name: node.attr.rack: r1; shown by _cat/nodeattrs",
    }),
    "network.host": text("127.0.0.1", "address that all listeners bind unless their own host is set"),
    "http.host": text("", "address of the search interface; empty: network.host"),
    "http.port": port(9200, "port of the search interface; 0 takes a free one"),
    "transport.host": text("", "address of the node-to-node listener; empty: network.host"),
    "transport.port": port(9300, "port between hubs; 0 takes a free one"),
    "dashboard.host": text("", "address of the dashboard; empty: network.host"),
    "dashboard.port": port(5601, "port of the dashboard, /api and the identity provider; 0 takes a free one"),
    "discovery.seed_hosts": list([], "host:9300 of other hubs"),
    "nats.host": text("", "address of the embedded nats-server; empty: network.host"),
    "nats.port": port(4222, "port of the embedded nats-server for agents; 0 takes a free one"),
    "nats.advertise": list(
      [],
      "URLs at which agents on other machines reach nats-server, told at enrolment; empty: nats.host or the host of public.url",
    ),
    "nats.servers": list([], "URLs of an existing NATS to use; empty: a nats-server is run by the hub"),
    "nats.token": text("", "token for nats.servers"),
    "journal.max_bytes": sizeSetting({
      default: "",
      description:
        "limit of each of the streams RAW and DOC, e.g. 2gb, at least 16mb; empty: 10gb, at most 20 % of the free disk",
    }),
    "retention.rules": list(
      [],
      'what is kept, by index pattern: "logs-* 30d" (since their last document), "logs-* 50gb" (the oldest go), or both; the first pattern that fits counts',
    ),
    "monitoring.interval": durationSetting({
      default: "15s",
      description:
        "how often the hub records its own figures while its dashboard Health of the hub is there, which setup brings; 0s: never",
    }),
    "monitoring.keep": text("7d", 'what is kept of these figures: an age, a size or both, as in "7d 1gb"'),
    "path.data": text(
      "./data",
      "folder of everything the hub keeps; in an installed package the default is /var/lib/tailrace-hub",
    ),
    "path.config": list(
      ["pipelines/*.conf"],
      "files of the main pipeline, as globs; a folder stands for its files",
    ),
    "path.pipelines": text(
      "pipelines.yml",
      "file that lists further pipelines; one that isn't there is none",
    ),
    "pipeline.output.paths": list(
      [],
      "folders that outputs may write files to, besides the folder out of path.data",
    ),
    "pipeline.allowed_hosts": list(
      [],
      "hosts that pipelines made on the page may connect to; *.example.net stands for all below, * for every host",
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
        "what plugins name fields by whose text doesn't say: v1 and v8 the Elastic Common Schema; plugin: each as it does by itself",
    }),
    "pipeline.bath.size": Type.Integer({
      minimum: 1,
      maximum: 65536,
      default: 125,
      description:
        "events a batch holds before it is passed on; the name is spelled as in existing settings files, pipeline.batch.size is the same setting",
    }),
    "pipeline.batch.delay": Type.Integer({
      minimum: 0,
      maximum: 60_000,
      default: 5,
      description: "longest wait for a batch to fill, ms",
    }),
    "search.slowlog.threshold": Type.Integer({
      minimum: -1,
      maximum: 3_600_000,
      default: 1000,
      description: "time from which on a search is logged as slow, ms; -1: never",
    }),
    "config.reload.automatic": flag(false, "whether changes of pipeline files are taken over while running"),
    "config.reload.interval": durationSetting({
      default: "5s",
      description: "how often pipeline files are looked at",
    }),
    "alerts.webhook.allow_private": flag(
      false,
      "whether alerts may be posted to addresses of the hub's own machine and network",
    ),
    "alerts.smtp.url": Type.String({
      pattern: "^$|^smtps?://",
      default: "",
      description: "mail server of alerts: smtp://user:password@host:587; empty: no mail",
    }),
    "alerts.smtp.from": text("tailrace@localhost", "sender of alerts' mails"),
    ...authProperties,
    ...tlsProperties,
    "node.store.allow_mmap": flag(true, "false skips the check of vm.max_map_count"),
    "compat.version": Type.String({
      pattern: "^\\d+(\\.\\d+){0,2}$",
      default: "6.5.4",
      description: "version told to search clients",
    }),
    "reindex.remote.whitelist": list([], "host:port patterns (with *) that _reindex may read from"),
    "compat.product_header": flag(false, "whether answers carry the product header newer clients ask for"),
    "logging.level": Type.Union(
      ["error", "warn", "info", "debug"].map((level) => Type.Literal(level)),
      { default: "info", description: "least severe log line written" },
    ),
  },
  { additionalProperties: false },
);

export type HubSettings = Static<typeof hubSchema>;

/** Settings that may be written under another name. */
const ALIASES: Aliases = [["pipeline.batch.size", "pipeline.bath.size"]];

/** Returns the page of all settings as Markdown: what `--print-settings` prints. */
export function settingsReference(): string {
  const names = ALIASES.map(([accepted, kept]) => `\`${accepted}\` is another name of \`${kept}\`.`);
  return `# hub.yml\n\nKeys are written dotted or nested. ${names.join(" ")}\n\n${describeSettings(hubSchema)}`;
}

/** What the launcher of a package says: where settings and data are that the command line doesn't name. */
export const CONFIG_VARIABLE = "TAILRACE_HUB_CONFIG";
export const DATA_VARIABLE = "TAILRACE_HUB_DATA";

export interface HubArguments {
  /** Path of hub.yml, or undefined for that of the installation, if there is one. */
  readonly file: string | undefined;
  /** "key=value" of each -E. */
  readonly overrides: readonly string[];
}

/** Returns the settings file that is read where the command line names `file`; undefined: defaults alone. */
export function settingsFile(file: string | undefined, env: NodeJS.ProcessEnv): string | undefined {
  if (file !== undefined) return file;
  const installed = env[CONFIG_VARIABLE] ?? "";
  return installed !== "" && existsSync(installed) ? installed : undefined;
}

/** Reads and checks the settings. Throws settings_invalid or usage_invalid naming file, line, key and the nearest name. */
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

/** Addresses are shown in logs and on pages. */
function refuseCredentials(addresses: readonly string[]): void {
  if (!addresses.some((address) => address.includes("@"))) return;
  throw new AppError(
    "settings_invalid",
    "nats.servers: an address names a user or password, which would be shown wherever the address is; put the token into nats.token",
  );
}
