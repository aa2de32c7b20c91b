/** Converts Filebeat's configuration (6 to 8) to settings of the agent. */

import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { type AgentDraft, type DraftInput, shortly } from "./agent-draft.ts";

/** Settings that the agent's file inputs have under the same name. */
const OF_FILES = new Set(
  (
    "paths exclude_files symlinks scan_frequency tail_files ignore_older close_inactive close_removed close_renamed " +
    "close_eof close_timeout clean_inactive clean_removed harvester_limit max_bytes encoding line_terminator include_lines exclude_lines"
  ).split(" "),
);
const OF_ALL = new Set(["id", "enabled", "fields", "tags"]);
const OF_STREAMS = new Set([
  "host",
  "max_message_size",
  "max_connections",
  "timeout",
  "framing",
  "read_buffer",
]);
/** Range of the agent's max_bytes, bytes; Filebeat's own default is above it. */
const MAX_BYTES = { least: 1024, most: 4 * 1024 * 1024 };

/** Of those, what an input of containers doesn't have: their logs are UTF-8 with line feeds. */
const NOT_OF_CONTAINERS = new Set(["encoding", "line_terminator"]);

const OF_LINES = new Set(
  (
    "multiline.type multiline.pattern multiline.negate multiline.match multiline.flush_pattern multiline.count_lines " +
    "multiline.max_lines multiline.timeout json.enabled json.keys_under_root json.overwrite_keys json.add_error_key json.message_key"
  ).split(" "),
);
const OF_JOURNALS = new Set(["seek", "units"]);

/** Settings of filestream under the names of the agent. */
const OF_FILESTREAM: Readonly<Record<string, string>> = {
  "prospector.scanner.check_interval": "scan_frequency",
  "prospector.scanner.exclude_files": "exclude_files",
  "prospector.scanner.symlinks": "symlinks",
  "close.on_state_change.inactive": "close_inactive",
  "close.on_state_change.removed": "close_removed",
  "close.on_state_change.renamed": "close_renamed",
  "close.reader.on_eof": "close_eof",
  "close.reader.after_interval": "close_timeout",
  message_max_bytes: "max_bytes",
};

const TYPES: Readonly<Record<string, string>> = {
  log: "log",
  filestream: "log",
  container: "container",
  docker: "container",
  journald: "journald",
  stdin: "stdin",
  udp: "udp",
  tcp: "tcp",
  syslog: "syslog",
};

/** Why an input type has no counterpart. */
const WITHOUT: Readonly<Record<string, string>> = {
  redis: "it reads slow logs; lists and streams of Redis are read by the input kvstore",
  winlog: "Windows events aren't read",
  unix: "write type: syslog with a path",
};

/** Sections of the file that the agent handles by itself or that belong to the hub. */
const OWN =
  /^(?:filebeat\.(?:registry|config|autodiscover|overwrite_pipelines)|setup|xpack|monitoring|queue|http|cloud|max_procs|seccomp|logging)\b/;

const CONTAINER_PATHS = ["/var/lib/docker/containers/*/*.log"];

/** Returns the agent's settings. */
export function fromFilebeat(config: JsonObject): AgentDraft {
  const flat = flattened(config);
  const remarks: string[] = [];
  const settings: JsonObject = {};
  for (const [key, value] of Object.entries(flat)) {
    if (key === "name" || key === "shutdown_timeout") settings[key] = value;
    else if (key === "path.data")
      remarks.push(`path.data: ${shortly(value)}: it is Filebeat's; the agent has a folder of its own`);
    else if (key === "filebeat.shutdown_timeout") settings["shutdown_timeout"] = value;
    else if (key === "logging.level" && ["error", "info", "debug"].includes(String(value)))
      settings[key] = value;
    else if (key === "logging.level") settings[key] = "warn";
    else remarks.push(...remarkOf(key, value));
  }
  const all = [...listAt(flat, "filebeat.inputs"), ...listAt(flat, "filebeat.prospectors")];
  const globals = { fields: nested(flat, "fields"), tags: flat["tags"] };
  const inputs = all.map((input) => convertInput(input, globals)).filter((each) => each !== undefined);
  for (const module of listAt(flat, "filebeat.modules"))
    remarks.push(
      `module ${String(module["module"])}: not carried over. Read its files with an input of type log and parse them in a pipeline; or keep Filebeat for it, whose modules work with the hub`,
    );
  for (const input of all)
    if (TYPES[typeOf(input)] === undefined)
      remarks.push(
        `input of type ${String(input["type"])}: ${WITHOUT[String(input["type"])] ?? "there is none here"}: ${shortly(input)}`,
      );
  return { origin: "a configuration of Filebeat", settings, inputs, remarks };
}

function typeOf({ type }: JsonObject): string {
  return typeof type === "string" ? type : "log";
}

function remarkOf(key: string, value: unknown): string[] {
  if (/^filebeat\.(?:inputs|prospectors|modules)$/.test(key) || key === "tags" || key.startsWith("fields."))
    return [];
  if (/^output\.[\w.]+\.hosts$/.test(key)) return [`${key}: ${shortly(value)}: the agent sends to the hub`];
  if (key.startsWith("output.")) return [];
  if (key === "fields_under_root")
    return ["fields_under_root: fields of the agent are below fields; rename them in a pipeline (mutate)"];
  if (key === "processors") return [`processors: ${shortly(value)}: write them as filters of a pipeline`];
  return OWN.test(key) ? [] : [`${key}: ${shortly(value)}: no counterpart`];
}

function convertInput(
  given: JsonObject,
  globals: { fields: JsonObject; tags: unknown },
): DraftInput | undefined {
  const flat = flattened(given);
  const original = typeOf(flat);
  const type = TYPES[original];
  if (type === undefined) return undefined;
  const settings: JsonObject = { type };
  const remarks: string[] = [];
  const named =
    type === "udp" || type === "tcp" || type === "syslog"
      ? OF_STREAMS
      : type === "journald"
        ? OF_JOURNALS
        : OF_FILES;
  for (const [key, value] of Object.entries(flat)) {
    const name = original === "filestream" ? (OF_FILESTREAM[key] ?? key) : key;
    if (name === "type" || key.startsWith("fields.")) continue;
    else if (type === "container" && NOT_OF_CONTAINERS.has(name)) remarks.push(remarkOfInput(name, value));
    else if (name === "max_bytes" && typeof value === "number" && named === OF_FILES)
      putMaxBytes(settings, value, remarks);
    else if (OF_ALL.has(name) || named.has(name)) settings[name] = value;
    else if (OF_LINES.has(name) && named === OF_FILES) settings[name] = value;
    else if (type === "syslog" && /^protocol\.(?:udp|tcp)\./.test(name))
      putProtocol(settings, name, value, remarks);
    else if (name === "parsers" && Array.isArray(value))
      for (const parser of value) putParser(settings, parser, remarks);
    else if (name.startsWith("containers.") || name === "format" || name === "stream")
      putContainer(settings, name, value);
    else remarks.push(remarkOfInput(name, value));
  }
  const fields = { ...globals.fields, ...nested(flat, "fields") };
  if (Object.keys(fields).length > 0) settings["fields"] = fields;
  const tags = [globals.tags, flat["tags"]].flat().filter((tag) => tag !== undefined);
  if (tags.length > 0) settings["tags"] = tags;
  if (type === "container" && settings["paths"] === undefined) settings["paths"] = CONTAINER_PATHS;
  return { settings, remarks };
}

function remarkOfInput(name: string, value: unknown): string {
  const shown = `${name}: ${shortly(value)}`;
  if (name === "processors" || name.startsWith("processors."))
    return `${shown}: write them as filters of a pipeline`;
  if (name === "fields_under_root")
    return `${shown}: fields are below fields; rename them in a pipeline (mutate)`;
  if (name === "pipeline" || name === "index")
    return `${shown}: set it on the output elasticsearch of a pipeline`;
  return `${shown}: no counterpart`;
}

function putMaxBytes(settings: JsonObject, value: number, remarks: string[]): void {
  const { least, most } = MAX_BYTES;
  settings["max_bytes"] = Math.min(Math.max(value, least), most);
  if (settings["max_bytes"] !== value)
    remarks.push(
      `max_bytes: ${value}: the agent takes ${least} to ${most}; longer lines are split and marked`,
    );
}

function putProtocol(settings: JsonObject, name: string, value: unknown, remarks: string[]): void {
  const [, protocol = "", rest = ""] = /^protocol\.(udp|tcp)\.(.*)$/.exec(name) ?? [];
  settings["protocol"] = protocol;
  if (OF_STREAMS.has(rest)) settings[rest] = value;
  else remarks.push(remarkOfInput(name, value));
}

function putParser(settings: JsonObject, parser: unknown, remarks: string[]): void {
  const [name = "", options] = Object.entries(isObject(parser) ? parser : {})[0] ?? [];
  const given = flattened(isObject(options) ? options : {});
  if (name === "multiline")
    for (const [key, value] of Object.entries(given))
      if (OF_LINES.has(`multiline.${key}`)) settings[`multiline.${key}`] = value;
      else remarks.push(remarkOfInput(`multiline.${key}`, value));
  else if (name === "ndjson") {
    settings["json.keys_under_root"] = given["target"] === "" || given["target"] === undefined;
    for (const key of ["overwrite_keys", "add_error_key", "message_key"])
      if (given[key] !== undefined) settings[`json.${key}`] = given[key];
  } else if (name === "container") settings["type"] = "container";
  else remarks.push(`parser ${name}: ${shortly(options)}: write it as a filter of a pipeline`);
}

function putContainer(settings: JsonObject, name: string, value: unknown): void {
  if (name === "format" || name === "stream") settings[name] = value;
  else if (name === "containers.stream") settings["stream"] = value;
  else if (name === "containers.ids") {
    const ids = [value].flat().map(String);
    settings["paths"] = ids.map((id) => `/var/lib/docker/containers/${id}/*.log`);
  }
}

/** Joins the keys of nested objects with dots; lists are left as they are. */
function flattened(config: JsonObject, prefix = ""): JsonObject {
  const flat: JsonObject = {};
  for (const [key, value] of Object.entries(config)) {
    if (isObject(value) && Object.keys(value).length > 0)
      Object.assign(flat, flattened(value, `${prefix}${key}.`));
    else if (value !== null) flat[prefix + key] = value;
  }
  return flat;
}

function nested(flat: JsonObject, name: string): JsonObject {
  return Object.fromEntries(
    Object.entries(flat).flatMap(([key, value]) =>
      key.startsWith(`${name}.`) ? [[key.slice(name.length + 1), value]] : [],
    ),
  );
}

function listAt(flat: JsonObject, key: string): JsonObject[] {
  const value = flat[key];
  return Array.isArray(value) ? value.filter(isObject) : [];
}
