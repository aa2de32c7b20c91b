/** Finds the nats-server program and reads its version. */

import { execFile } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { AppError } from "#proto/kit/errors.ts";

/** Environment variable that names the program. */
const VARIABLE = "TAILRACE_NATS_SERVER";

const NAME = "nats-server";

/** Folders searched besides PATH: Debian installs into /usr/sbin, which an ordinary user's PATH lacks. */
const FOLDERS = ["/usr/sbin", "/usr/local/sbin", "/usr/local/bin", "/opt/homebrew/bin"];

/** A version is printed within milliseconds; a machine with many busy processes needs much longer. */
const VERSION_TIMEOUT_MS = 120_000;
/** Characters of an answer without a version that its error shows. */
const MAX_SHOWN = 200;

export interface ServerBinary {
  readonly path: string;
  readonly version: ServerVersion;
}

/**
 * Returns the first program found in TAILRACE_NATS_SERVER, PATH and the usual folders, with its version checked. Throws
 * nats_missing if there is none, and nats_refused for an unsupported version, alone or in a cluster.
 */
export async function findServerBinary(
  env: NodeJS.ProcessEnv,
  clustered = false,
  timeoutMs = VERSION_TIMEOUT_MS,
): Promise<ServerBinary> {
  const path = locate(env);
  const printed = await printedVersion(path, timeoutMs);
  const version = parseServerVersion(printed);
  if (version === undefined) {
    const shown = JSON.stringify(printed.slice(0, MAX_SHOWN));
    throw new AppError("nats_refused", `${path} -v prints no version but ${shown}; it is not nats-server`);
  }
  checkServerVersion(version, path, clustered);
  return { path, version };
}

function locate(env: NodeJS.ProcessEnv): string {
  const named = env[VARIABLE];
  if (named !== undefined && named !== "") {
    if (isProgram(named)) return named;
    throw new AppError(
      "nats_missing",
      `${VARIABLE} is ${named}, which is not an executable program; set it to the path of nats-server, or unset it to search PATH`,
    );
  }
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const found = [...folders, ...FOLDERS].map((folder) => join(folder, NAME)).find(isProgram);
  if (found !== undefined) return found;
  throw new AppError(
    "nats_missing",
    `${NAME} was not found on PATH or in ${FOLDERS.join(", ")}; install it with "apt-get install nats-server" ` +
      `(macOS: "brew install nats-server"), or set ${VARIABLE} to its path, or set nats.servers to an existing server`,
  );
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

async function printedVersion(path: string, timeoutMs: number): Promise<string> {
  try {
    const running = promisify(execFile)(path, ["-v"], { timeout: timeoutMs });
    const { stdout } = await running;
    // The output is lost then, although the program may have ended by itself at the same time.
    if (running.child.killed) throw new Error(`it did not end within ${timeoutMs / 1000} s`);
    return stdout;
  } catch (error) {
    throw new AppError("nats_refused", `${path} -v failed: ${(error as Error).message.trim()}`, {
      cause: error,
    });
  }
}

export interface ServerVersion {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

/**
 * Durability of a message that the log has acknowledged. `power-loss`: written to disk before the acknowledgement.
 * `process`: in the kernel's cache; a process crash loses nothing, a power loss up to the last 2 minutes, which agents send
 * again from their files.
 */
export type Durability = "power-loss" | "process";

/** The JetStream API version the hub requires. */
const FLOOR: ServerVersion = { major: 2, minor: 9, patch: 10 };

/** The first version that may form a cluster. */
const CLUSTER_FLOOR: ServerVersion = { major: 2, minor: 10, patch: 23 };

/** The first version of the 2.10 line that can't lose a whole stream when it crashes. */
const FIRST_SAFE_2_10 = 23;

/** Named in error messages. */
const RECOMMENDED = "2.10.27 or newer";

/** Returns the version in "nats-server: v2.10.27" or "2.10.27-RC.1", or undefined if there is none. */
export function parseServerVersion(text: string): ServerVersion | undefined {
  const match = /(\d+)\.(\d+)\.(\d+)/.exec(text);
  if (match === null) return undefined;
  return { major: Number(match[1]), minor: Number(match[2]), patch: Number(match[3]) };
}

export function formatVersion({ major, minor, patch }: ServerVersion): string {
  return `${major}.${minor}.${patch}`;
}

/**
 * Throws nats_refused if the hub must not keep its log on this version; `where` names the server. `clustered`: it is a
 * member of a cluster.
 */
export function checkServerVersion(version: ServerVersion, where: string, clustered = false): void {
  const text = formatVersion(version);
  if (clustered && !mayCluster(version)) {
    throw new AppError(
      "nats_refused",
      `${where} is nats-server ${text}; several servers need ${formatVersion(CLUSTER_FLOOR)} or newer, since older ones ` +
        `can lose a whole stream: install ${RECOMMENDED}, or set ${VARIABLE} to its path (docs/cluster.md says where one is)`,
    );
  }
  if (compareVersions(version, FLOOR) < 0) {
    throw new AppError(
      "nats_refused",
      `${where} is nats-server ${text}, which lacks parts of JetStream that the log needs; ` +
        `install ${formatVersion(FLOOR)} or newer, best ${RECOMMENDED}`,
    );
  }
  if (version.major === 2 && version.minor === 10 && version.patch < FIRST_SAFE_2_10) {
    throw new AppError(
      "nats_refused",
      `${where} is nats-server ${text}; versions 2.10.0 to 2.10.22 can lose a whole stream when the process ` +
        `crashes; install ${RECOMMENDED}`,
    );
  }
}

/** Returns false for versions that can lose a whole stream in a cluster. */
export function mayCluster(version: ServerVersion): boolean {
  return compareVersions(version, CLUSTER_FLOOR) >= 0;
}

/** Returns true if the server supports `sync_interval`; older versions reject a configuration with it. */
export function knowsSyncInterval(version: ServerVersion): boolean {
  return version.major > 2 || (version.major === 2 && version.minor >= 10);
}

function compareVersions(a: ServerVersion, b: ServerVersion): number {
  return a.major - b.major || a.minor - b.minor || a.patch - b.patch;
}
