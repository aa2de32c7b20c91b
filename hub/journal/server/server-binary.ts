/** Finds the nats-server program and reads its version. */

import { execFile } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { AppError } from "#proto/kit/errors.ts";
import { checkServerVersion, parseServerVersion, type ServerVersion } from "./server-version.ts";

/** Environment variable that names the program. */
const VARIABLE = "TAILRACE_NATS_SERVER";

const NAME = "nats-server";

/** Folders searched besides PATH: Debian installs into /usr/sbin, which an ordinary user's PATH lacks. */
const FOLDERS = ["/usr/sbin", "/usr/local/sbin", "/usr/local/bin", "/opt/homebrew/bin"];

/** A version is printed within milliseconds; a machine under load needs longer. */
const VERSION_TIMEOUT_MS = 10_000;

export interface ServerBinary {
  readonly path: string;
  readonly version: ServerVersion;
}

/**
 * Returns the first program found in TAILRACE_NATS_SERVER, PATH and the usual folders, with its version checked.
 * Throws nats_missing when there is none and nats_refused for an unsupported version.
 */
export async function findServerBinary(env: NodeJS.ProcessEnv): Promise<ServerBinary> {
  const path = locate(env);
  const version = parseServerVersion(await printedVersion(path));
  if (version === undefined) {
    throw new AppError("nats_refused", `${path} -v prints no version; it is not nats-server`);
  }
  checkServerVersion(version, path);
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

async function printedVersion(path: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(path, ["-v"], { timeout: VERSION_TIMEOUT_MS });
    return stdout;
  } catch (error) {
    throw new AppError("nats_refused", `${path} -v failed: ${(error as Error).message.trim()}`, {
      cause: error,
    });
  }
}
