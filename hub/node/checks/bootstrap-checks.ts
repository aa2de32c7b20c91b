/**
 * Checks before a hub may start: limits of the machine, access control, location of the data.
 *
 * If the hub listens beyond loopback, others rely on it, so a fault prevents the start. On loopback the hub is being tried
 * out, and the same fault is a warning. Pure functions over given limits; `machine-limits.ts` reads them.
 */

import { resolve } from "node:path";
import { checkListeners, type Listener } from "#hub/auth/settings.ts";
import type { HubSettings } from "#hub/node/settings/hub-settings.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isLoopbackHost } from "#proto/kit/net/loopback.ts";
import { MIB } from "#proto/kit/units.ts";

/** The machine's limits for this process. */
export interface MachineLimits {
  /** vm.max_map_count; undefined if the system has no such limit. */
  readonly maxMapCount: number | undefined;
  /** Files the process may hold open; Infinity without a limit, undefined if unknown. */
  readonly openFilesLimit: number | undefined;
  /** Bytes of memory of the container or service; undefined without a limit. */
  readonly memoryLimitBytes: number | undefined;
  /** Where the data folder is stored. */
  readonly dataFilesystem: "disk" | "memory" | "container layer" | "unknown";
}

/** The settings that are checked. */
export interface CheckedSettings {
  /** All listeners, including an embedded nats-server's. */
  readonly listeners: readonly Listener[];
  readonly auth: Parameters<typeof checkListeners>[0];
  /** node.store.allow_mmap */
  readonly allowMmap: boolean;
  /** path.data, absolute. */
  readonly dataFolder: string;
}

/** One fault. `message` names what, where, why and the remedy. */
export interface CheckFinding {
  readonly check:
    | "max_map_count"
    | "open_files"
    | "authentication"
    | "data_in_memory"
    | "data_in_container"
    | "memory_limit";
  /** True: the hub must not start. */
  readonly refused: boolean;
  readonly message: string;
}

/** Each segment is mapped several times, and merges double that; with fewer mappings, mapping fails during operation. */
export const MAX_MAP_COUNT_LOWEST = 262_144;
/** Segments of some hundred shards, a thousand viewers and as many agents, with a margin. */
export const OPEN_FILES_LOWEST = 8_192;
/** An idle hub uses 150 MiB, nats-server as much; searches and indexing need the rest. */
export const MEMORY_LOWEST_BYTES = 512 * 1_024 ** 2;

/** Returns all faults. */
export function bootstrapFindings(settings: CheckedSettings, facts: MachineLimits): CheckFinding[] {
  const binding = settings.listeners.some(({ host }) => !isLoopbackHost(host));
  return [
    ...mapCountFault(settings, facts, binding),
    ...openFilesFault(facts, binding),
    ...accessFaults(settings),
    ...dataFault(settings, facts, binding),
    ...memoryFault(facts),
  ];
}

/** Throws settings_invalid with every refusal, one per line; returns the warnings. */
export function requireBootstrap(settings: CheckedSettings, facts: MachineLimits): CheckFinding[] {
  const findings = bootstrapFindings(settings, facts);
  const refusals = findings.filter(({ refused }) => refused);
  if (refusals.length === 0) return findings;
  // Listeners that share network.host share its fault.
  const messages = [...new Set(refusals.map(({ message }) => message))];
  const lines = messages.map((message, index) => `[${index + 1}] ${message}`);
  throw new AppError(
    "settings_invalid",
    `the hub is reachable from other machines and does not start with these settings:\n${lines.join("\n")}`,
    { data: { checks: refusals.map(({ check }) => check) } },
  );
}

function mapCountFault(
  { allowMmap }: CheckedSettings,
  { maxMapCount }: MachineLimits,
  binding: boolean,
): CheckFinding[] {
  if (!allowMmap || maxMapCount === undefined || maxMapCount >= MAX_MAP_COUNT_LOWEST) return [];
  const message =
    `vm.max_map_count is ${maxMapCount}, at least ${MAX_MAP_COUNT_LOWEST} is needed; ` +
    `run "sysctl -w vm.max_map_count=${MAX_MAP_COUNT_LOWEST}" on the host (not in the container) and keep it in ` +
    "/etc/sysctl.d/, or set node.store.allow_mmap: false";
  return [{ check: "max_map_count", refused: binding, message }];
}

function openFilesFault({ openFilesLimit }: MachineLimits, binding: boolean): CheckFinding[] {
  if (openFilesLimit === undefined || openFilesLimit >= OPEN_FILES_LOWEST) return [];
  const message =
    `at most ${openFilesLimit} files may be open, at least ${OPEN_FILES_LOWEST} are needed; ` +
    "raise LimitNOFILE of the service, ulimits.nofile of the container or ulimit -n of the shell";
  return [{ check: "open_files", refused: binding, message }];
}

/** Reports each listener that breaks the rule of authentication, not only the first. */
function accessFaults({ listeners, auth }: CheckedSettings): CheckFinding[] {
  const findings: CheckFinding[] = [];
  for (const listener of listeners) {
    try {
      checkListeners(auth, [listener]);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      findings.push({ check: "authentication", refused: true, message: error.message });
    }
  }
  return findings;
}

function dataFault(
  { dataFolder }: CheckedSettings,
  { dataFilesystem }: MachineLimits,
  binding: boolean,
): CheckFinding[] {
  if (dataFilesystem === "memory") {
    const message = `path.data ${dataFolder} is in memory (tmpfs) and is lost when the machine restarts; choose a folder on a disk`;
    return [{ check: "data_in_memory", refused: binding, message }];
  }
  if (dataFilesystem === "container layer") {
    const message = `path.data ${dataFolder} is in the container's own layer and is lost with the container; mount a volume there`;
    return [{ check: "data_in_container", refused: false, message }];
  }
  return [];
}

/** A warning because the kernel ends the process without a message. Never refused: a small hub may work. */
function memoryFault({ memoryLimitBytes }: MachineLimits): CheckFinding[] {
  if (memoryLimitBytes === undefined || memoryLimitBytes >= MEMORY_LOWEST_BYTES) return [];
  const message =
    `this container or service may use ${Math.floor(memoryLimitBytes / MIB)} MiB of memory, the hub needs at least ` +
    `${MEMORY_LOWEST_BYTES / MIB} MiB; beyond the limit the kernel ends it without a message, so raise the memory value`;
  return [{ check: "memory_limit", refused: false, message }];
}

/** Settings of the listeners' addresses; empty ones fall back to network.host. */
const LISTENERS = ["http.host", "transport.host", "dashboard.host", "nats.host"] as const;

/** Returns the values that the checks need from the settings. */
export function checkedSettings(settings: HubSettings): CheckedSettings {
  const embedsNats = settings["nats.servers"].length === 0;
  return {
    listeners: LISTENERS.filter((setting) => setting !== "nats.host" || embedsNats).map((setting) =>
      listenerOf(settings, setting),
    ),
    auth: settings,
    allowMmap: settings["node.store.allow_mmap"],
    dataFolder: resolve(settings["path.data"]),
  };
}

function listenerOf(settings: HubSettings, setting: (typeof LISTENERS)[number]): Listener {
  const upstream = settings["tls.terminated_upstream"];
  return {
    setting: settings[setting] === "" ? "network.host" : setting,
    host: settings[setting] || settings["network.host"],
    // Hubs always encrypt what they send each other.
    encrypted: setting === "transport.host" || upstream || settings["tls.certificate"] !== "",
  };
}
