/** Converts Promtail's configuration to settings of the agent. Its stages belong in a pipeline of the hub. */

import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { type AgentDraft, type DraftInput, shortly } from "./agent-draft.ts";

/** Pipeline filters by the stage that they replace. */
const FILTERS: Readonly<Record<string, string>> = {
  json: "json",
  logfmt: "kv",
  regex: "grok",
  timestamp: "date",
  labels: "mutate { add_field }",
  static_labels: "mutate { add_field }",
  labeldrop: "mutate { remove_field }",
  labelallow: "prune",
  structured_metadata: "mutate { add_field }",
  replace: "mutate { gsub }",
  template: "mutate { replace }",
  output: 'mutate { rename => { … => "message" } }',
  match: "if … { }",
  drop: "if … { drop { } }",
  tenant: "the option index of the output",
  limit: "throttle",
  sampling: "drop { percentage }",
  geoip: "geoip",
  decolorize: "mutate { gsub }",
  metrics: "a chart or an alert rule",
};

const PARTS: readonly string[] = [
  "clients",
  "client",
  "scrape_configs",
  "positions",
  "server",
  "target_config",
  "limits_config",
  "global",
  "options",
];
/** Sources that the agent has no input for. */
const SOURCES =
  "azure_event_hubs cloudflare consul_sd_configs consulagent_sd_configs file_sd_configs gcplog gelf heroku_drain kafka loki_push_api windows_events".split(
    " ",
  );

/** Returns the agent's settings. */
export function fromPromtail(config: JsonObject): AgentDraft {
  const remarks: string[] = [];
  const clients = [config["clients"], config["client"]].flat().filter(isObject);
  remarks.push(...clients.flatMap(remarksOnClient));
  const external = Object.assign({}, ...clients.map((client) => client["external_labels"]));
  for (const key of Object.keys(config))
    if (!PARTS.includes(key)) remarks.push(`${key}: ${shortly(config[key])}: no counterpart`);
  if (isObject(config["positions"]))
    remarks.push("positions aren't read: set tail_files: true for files that Promtail has sent");
  const scrapes = Array.isArray(config["scrape_configs"]) ? config["scrape_configs"].filter(isObject) : [];
  return {
    origin: "a configuration of Promtail",
    settings: {},
    inputs: scrapes
      .flatMap((scrape) => inputsOf(scrape, remarks))
      .map(({ settings, remarks: own }) => ({ settings: withFields(settings, external), remarks: own })),
    remarks,
  };
}

/** Promtail sends all lines to each client; the agent sends to one hub. */
function remarksOnClient(client: JsonObject): string[] {
  const { url, tenant_id: tenant } = client;
  const name = `client ${String(url).replace(/\/\/[^/]*@/, "//")}`;
  return [
    `${name}: the agent sends to the hub; a pipeline of the hub sends on to Loki by its output loki`,
    ...(tenant === undefined
      ? []
      : [`${name}: tenant_id: ${shortly(tenant)}: the option index of the output`]),
  ];
}

/** Returns settings with these labels as fields, unless they already have a field of the name. */
function withFields(settings: JsonObject, labels: JsonObject): JsonObject {
  const fields = {
    ...(fieldsOf(labels)["fields"] as JsonObject | undefined),
    ...(settings["fields"] as JsonObject | undefined),
  };
  return Object.keys(fields).length === 0 ? settings : { ...settings, fields };
}

function inputsOf(scrape: JsonObject, remarks: string[]): DraftInput[] {
  const given = scrape["job_name"];
  const name = typeof given === "string" ? given : "";
  const common: string[] = [];
  const extra: JsonObject = {};
  for (const stage of Array.isArray(scrape["pipeline_stages"])
    ? scrape["pipeline_stages"].filter(isObject)
    : [])
    addStage(stage, extra, common);
  if (Array.isArray(scrape["relabel_configs"]))
    common.push(
      `relabel_configs: ${shortly(scrape["relabel_configs"])}: write them as filters of a pipeline (mutate)`,
    );
  for (const source of SOURCES)
    if (scrape[source] !== undefined)
      remarks.push(
        `job ${name}: ${source}: no counterpart in the agent; see docs/intake.md for what the hub takes itself`,
      );
  const inputs = [...filesOf(scrape), ...journalOf(scrape), ...syslogOf(scrape), ...containersOf(scrape)];
  return inputs.map(({ settings, remarks: own }, at) => ({
    settings: {
      ...(name !== "" && { id: at === 0 ? name : `${name}-${at + 1}` }),
      ...settings,
      ...extra,
      // Container log formats have an input of their own.
      ...(extra["type"] !== undefined && settings["type"] === "log" && { type: extra["type"] }),
    },
    remarks: [...own, ...common],
  }));
}

function addStage(stage: JsonObject, extra: JsonObject, remarks: string[]): void {
  for (const [kind, given] of Object.entries(stage)) {
    const options = isObject(given) ? given : {};
    if (kind === "docker" || kind === "cri") {
      extra["type"] = "container";
      extra["format"] = kind;
    } else if (kind === "multiline") {
      extra["multiline.pattern"] = options["firstline"];
      extra["multiline.negate"] = true;
      extra["multiline.match"] = "after";
      if (options["max_lines"] !== undefined) extra["multiline.max_lines"] = options["max_lines"];
      if (options["max_wait_time"] !== undefined) extra["multiline.timeout"] = options["max_wait_time"];
    } else {
      const filter = FILTERS[kind];
      remarks.push(
        `stage ${kind}: ${shortly(given)}: ${filter === undefined ? "no counterpart" : `in a pipeline: ${filter}`}`,
      );
    }
  }
}

function filesOf(scrape: JsonObject): DraftInput[] {
  const list = Array.isArray(scrape["static_configs"]) ? scrape["static_configs"].filter(isObject) : [];
  return list.flatMap(({ labels }) => {
    const all = isObject(labels) ? labels : {};
    const { __path__: path, __path_exclude__: exclude } = all;
    if (typeof path !== "string") return [];
    const settings: JsonObject = { type: "log", paths: [path] };
    if (typeof exclude === "string") settings["exclude_files"] = [expressionOf(exclude)];
    return [{ settings: { ...settings, ...fieldsOf(all) }, remarks: [] }];
  });
}

/** Labels become fields; those with two underscores are Promtail's own. */
function fieldsOf(labels: unknown): JsonObject {
  const own = Object.entries(isObject(labels) ? labels : {}).filter(([name]) => !name.startsWith("__"));
  return own.length === 0 ? {} : { fields: Object.fromEntries(own) };
}

/** Returns a path pattern as a regular expression. */
function expressionOf(pattern: string): string {
  const text = pattern
    .replace(/[.+^$()|[\]\\{}]/g, "\\$&")
    .replace(/\*\*|\*|\?/g, (wild) => (wild === "**" ? ".*" : wild === "*" ? "[^/]*" : "[^/]"));
  return `^${text}$`;
}

function journalOf({ journal }: JsonObject): DraftInput[] {
  if (!isObject(journal)) return [];
  const { path, matches, max_age: age, json, labels } = journal;
  const settings: JsonObject = { type: "journald" };
  if (typeof path === "string") settings["directory"] = path;
  if (typeof matches === "string") settings["matches"] = matches.split(" ");
  const remarks: string[] = [];
  if (age !== undefined) remarks.push(`journal.max_age: ${shortly(age)}: set seek instead`);
  if (json === true) remarks.push("journal.json: fields of the journal are fields of the event anyway");
  return [{ settings: { ...settings, ...fieldsOf(labels) }, remarks }];
}

function syslogOf({ syslog }: JsonObject): DraftInput[] {
  if (!isObject(syslog)) return [];
  const {
    listen_address: host,
    listen_protocol: protocol,
    labels,
    tls_config: tls,
    idle_timeout: timeout,
  } = syslog;
  const settings: JsonObject = { type: "syslog", protocol: protocol ?? "tcp" };
  if (host !== undefined) settings["host"] = host;
  if (timeout !== undefined) settings["timeout"] = timeout;
  const files = isObject(tls)
    ? { certificate: tls["cert_file"], key: tls["key_file"], ca: tls["ca_file"] }
    : {};
  for (const [name, file] of Object.entries(files)) if (file !== undefined) settings[`tls.${name}`] = file;
  return [{ settings: { ...settings, ...fieldsOf(labels) }, remarks: [] }];
}

function containersOf(scrape: JsonObject): DraftInput[] {
  if (scrape["kubernetes_sd_configs"] !== undefined) {
    const remarks = [
      "kubernetes_sd_configs: every container's file is read; names of pods are in the file's name, their labels come with kubernetes.api",
    ];
    return [{ settings: { type: "container", paths: ["/var/log/containers/*.log"] }, remarks }];
  }
  if (scrape["docker_sd_configs"] === undefined) return [];
  const remarks = ["docker_sd_configs: every container's file is read; drop others in a pipeline"];
  return [{ settings: { type: "container", paths: ["/var/lib/docker/containers/*/*.log"] }, remarks }];
}
