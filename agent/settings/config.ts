/** Reads agent.yml: one schema, dotted or nested keys, exactly one output, each input checked by its plugin. */

import { type Stats, statSync } from "node:fs";
import { hostname } from "node:os";
import { resolve } from "node:path";
import type { Static } from "typebox";
import { idleSettings } from "#agent/contract/idle-settings.ts";
import type { ConnectionSettings } from "#agent/outputs/connection.ts";
import { AppError } from "#proto/kit/errors.ts";
import {
  checkSettings,
  type Entries,
  parseOverride,
  placesOf,
  readSettingsFile,
} from "#proto/kit/settings/settings.ts";
import { parseDuration, parseSize } from "#proto/kit/units.ts";
import { checkInputs, type InputSettings } from "./input-settings.ts";
import { SETTINGS_SCHEMA } from "./schema.ts";

/** Kinds of outputs. */
export type OutputType = "pipeline" | "search" | "file" | "console";

/** Settings of the agent, checked; units as the names say. */
export interface AgentSettings {
  readonly file: Static<typeof SETTINGS_SCHEMA>;
  /** Name under which people see the agent. */
  readonly agentName: string;
  readonly output: OutputType;
  /** Enabled ones only. */
  readonly inputs: readonly InputSettings[];
  readonly pathData: string;
  readonly shutdownTimeoutMs: number;
  readonly lingerMs: number;
  readonly ackTimeoutMs: number;
  readonly searchTimeoutMs: number;
  readonly batchBytes: number;
  /** Of the output to a file. */
  readonly rotateBytes: number;
  readonly reloadIntervalMs: number;
  /** A sentence for each setting that is given and has no effect. */
  readonly warnings: readonly string[];
}

export interface ConfigOptions {
  /** Path of agent.yml. */
  readonly path: string;
  /** "key=value" of the command line, in order. */
  readonly overrides: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** False: a file that others may write is used anyway. */
  readonly strictPermissions: boolean;
}

const BATCH_BYTES_LOWEST = 16 * 1_024;
const BATCH_BYTES_HIGHEST = 1_024 * 1_024;
const OTHERS_WRITE = 0o022;
/** Of settings that people bring along. */
const FOREIGN = "filebeat.";

/** Set by the launcher of a package: location of settings and data unless the command line names them. */
const CONFIG_VARIABLE = "TAILRACE_AGENT_CONFIG";
const DATA_VARIABLE = "TAILRACE_AGENT_DATA";

/** Returns the settings file where the command line names none. */
export function usualSettingsFile(env: NodeJS.ProcessEnv): string {
  return env[CONFIG_VARIABLE] || "agent.yml";
}

/** Returns the data folder of this installation; undefined if the settings alone say it. */
export function installedDataFolder(env: NodeJS.ProcessEnv): string | undefined {
  return env[DATA_VARIABLE] || undefined;
}

/** Reads and checks the settings. Throws settings_invalid or usage_invalid with the position. */
export function loadSettings(options: ConfigOptions): AgentSettings {
  if (options.strictPermissions) checkPermissions(options.path);
  const entries = readSettingsFile(options.path, SETTINGS_SCHEMA, options.env);
  for (const text of options.overrides) {
    const [key, entry] = parseOverride(text, options.env);
    entries.set(key, entry);
  }
  const data = installedDataFolder(options.env);
  if (data !== undefined && !entries.has("path.data"))
    entries.set("path.data", { value: data, place: DATA_VARIABLE });
  return checkAgentSettings(entries);
}

/** Checks settings and turns their units. Throws settings_invalid. */
export function checkAgentSettings(entries: Entries): AgentSettings {
  for (const [key, { place }] of entries) if (key.startsWith(FOREIGN)) throw foreignSetting(key, place);
  const file = checkSettings(SETTINGS_SCHEMA, entries);
  checkAddresses(file, entries);
  const output = chooseOutput(file, entries);
  const batchBytes = at(
    entries,
    "output.pipeline.batch_bytes",
    parseSize(file["output.pipeline.batch_bytes"]),
  );
  const inputs = checkInputs(file["shipper.inputs"], placesOf(entries.get("shipper.inputs")!));
  return {
    file,
    agentName: file.name === "" ? hostname() : file.name,
    output,
    inputs,
    warnings: [...warningsOf(file, entries), ...inputs.flatMap(({ warnings }) => warnings)],
    pathData: resolve(file["path.data"]),
    shutdownTimeoutMs: parseDuration(file["shutdown_timeout"]),
    lingerMs: parseDuration(file["output.pipeline.linger"]),
    ackTimeoutMs: parseDuration(file["output.pipeline.ack_timeout"]),
    searchTimeoutMs: parseDuration(file["output.search.timeout"]),
    batchBytes,
    rotateBytes: parseSize(file["output.file.rotate_every"]),
    reloadIntervalMs: parseDuration(file["config.reload.interval"]),
  };
}

/** Credentials by rank: one that is given makes those after it idle. */
const RANKED_CREDENTIALS = [
  ["output.pipeline.nkey_seed_file", "output.pipeline.token_file", "output.pipeline.token"],
  ["output.search.api_key", "output.search.bearer_token", "output.search.username"],
] as const;

function warningsOf(file: Static<typeof SETTINGS_SCHEMA>, entries: Entries): string[] {
  const idle = idleSettings(SETTINGS_SCHEMA, entries.keys(), file);
  for (const credentials of RANKED_CREDENTIALS) {
    const [used, ...others] = credentials.filter((setting) => (file[setting] ?? "") !== "");
    for (const other of others) idle.push([other, `${other} has no effect: ${used} is used`]);
  }
  return idle.map(([setting, reason]) => `${entries.get(setting)?.place ?? setting}: ${reason}`);
}

function at(entries: Entries, key: string, batchBytes: number): number {
  if (batchBytes >= BATCH_BYTES_LOWEST && batchBytes <= BATCH_BYTES_HIGHEST) return batchBytes;
  const place = entries.get(key)?.place ?? key;
  throw new AppError(
    "settings_invalid",
    `${place}: ${key} must be between 16kb and 1mb, but is ${batchBytes} bytes`,
  );
}

/** Who may write the settings file can read any file as the agent's user: that must be its owner alone, or root. */
function checkPermissions(path: string): void {
  let stat: Stats;
  try {
    stat = statSync(path);
  } catch {
    return; // reading it reports the reason
  }
  const remedy = "or start with --strict.perms=false if that is intended";
  const own = process.geteuid?.() ?? 0;
  if (stat.uid !== own && stat.uid !== 0) {
    throw new AppError(
      "settings_invalid",
      `${path} must be owned by the agent's user (uid ${own}) or root, but its owner is uid ${stat.uid}; run chown root ${path}, ${remedy}`,
    );
  }
  if ((stat.mode & OTHERS_WRITE) !== 0) {
    throw new AppError(
      "settings_invalid",
      `${path} may be written by other users (mode ${(stat.mode & 0o777).toString(8).padStart(4, "0")}); run chmod go-w ${path}, ${remedy}`,
    );
  }
}

/** Settings of another shipper have the same names after their first word. */
function foreignSetting(key: string, place: string): AppError {
  const name = key.slice(FOREIGN.length);
  const own = [`shipper.${name}`, name].find((each) => Object.hasOwn(SETTINGS_SCHEMA.properties, each));
  const remedy = own === undefined ? "docs/migrate/elastic.md shows what to write" : `write ${own}`;
  return new AppError("settings_invalid", `${place}: ${key} is a setting of another shipper; ${remedy}`);
}

/** Settings without which an output can't work, and an example. */
const REQUIRED: Readonly<
  Partial<Record<OutputType, readonly [key: "output.search.hosts" | "output.file.path", example: string]>>
> = {
  search: ["output.search.hosts", '["127.0.0.1:9200"]'],
  file: ["output.file.path", "/var/tmp/shipped"],
};

function chooseOutput(file: Static<typeof SETTINGS_SCHEMA>, entries: Entries): OutputType {
  const placeOf = (output: OutputType): string | undefined =>
    [...entries].find(([key]) => key.startsWith(`output.${output}.`))?.[1].place;
  const others = (["search", "file", "console"] as const).filter(
    (output) => file[`output.${output}.enabled`] ?? placeOf(output) !== undefined,
  );
  const pipeline =
    file["output.pipeline.enabled"] ?? (placeOf("pipeline") !== undefined || others.length === 0);
  const enabled: OutputType[] = pipeline ? [...others, "pipeline"] : [...others];
  const [output, another] = enabled;
  if (output === undefined) {
    throw new AppError(
      "settings_invalid",
      "no output is enabled; set output.pipeline.servers or output.search.hosts",
    );
  }
  const place = placeOf(output) ?? `output.${output}`;
  if (another !== undefined) {
    throw new AppError(
      "settings_invalid",
      `${place}: output.${output} and output.${another} (${placeOf(another) ?? "by default"}) are both enabled; exactly one output must be enabled: set enabled: false in the other`,
    );
  }
  const [key, example] = REQUIRED[output] ?? [];
  if (key !== undefined && (file[key] ?? "").length === 0)
    throw new AppError("settings_invalid", `${place}: ${key} is missing, for example ${example}`);
  return output;
}

/** Settings that hold addresses, and where their credentials go. */
const CREDENTIALS = {
  "output.pipeline.servers": "output.pipeline.username and output.pipeline.token",
  "output.search.hosts": "output.search.username and output.search.password",
  "setup.dashboard.host": "setup.dashboard.username and setup.dashboard.password, or setup.dashboard.api_key",
} as const;

type Key = keyof typeof CREDENTIALS;

/** What a connection to NATS is made by; without a scheme it is nats://. */
const NATS_SCHEMES = ["nats", "tls"];

/**
 * Throws settings_invalid, with the position, for an address with credentials and for one of NATS with another scheme.
 */
function checkAddresses(file: Static<typeof SETTINGS_SCHEMA>, entries: Entries): void {
  for (const key of Object.keys(CREDENTIALS) as Key[]) {
    for (const [index, address] of addressesOf(file[key]).entries()) {
      const fault = faultOf(key, address);
      if (fault === undefined) continue;
      const entry = entries.get(key);
      const place =
        entry === undefined ? key : placesOf(entry)(Array.isArray(entry.value) ? [String(index)] : []);
      throw new AppError("settings_invalid", `${place}: ${key}: ${fault}`);
    }
  }
}

function addressesOf(value: string | readonly string[] | undefined): readonly string[] {
  return typeof value === "string" ? [value] : (value ?? []);
}

/** The message leaves the address out: it may hold a password. */
function faultOf(key: Key, address: string): string | undefined {
  if (address.includes("@"))
    return `an address names a user or password, which would be shown wherever the address is; put them into ${CREDENTIALS[key]}`;
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(address)?.[1]?.toLowerCase();
  if (key !== "output.pipeline.servers" || scheme === undefined || NATS_SCHEMES.includes(scheme))
    return undefined;
  return `"${address}" isn't an address of NATS; write nats://host:4222 or tls://host:4222`;
}

/** Returns the settings of the connection that agent.yml holds. */
export function connectionSettings(file: Static<typeof SETTINGS_SCHEMA>): ConnectionSettings {
  return {
    servers: file["output.pipeline.servers"],
    token: file["output.pipeline.token"],
    user: file["output.pipeline.username"],
    tokenFile: file["output.pipeline.token_file"],
    nkeySeedFile: file["output.pipeline.nkey_seed_file"],
    tlsCa: file["output.pipeline.tls.ca"],
    tlsCertificate: file["output.pipeline.tls.certificate"],
    tlsKey: file["output.pipeline.tls.key"],
  };
}
