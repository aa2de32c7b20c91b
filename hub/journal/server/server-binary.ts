/** Finds the nats-server program and asks it for its version. */

import { execFile } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { AppError } from "#proto/kit/errors.ts";
import { checkServerVersion, parseServerVersion, type ServerVersion } from "./server-version.ts";

/** Environment variable that names the program. */
const VARIABLE = "TAILRACE_NATS_SERVER";

const NAME = "nats-server";

/** Where packages put it besides PATH: Debian's in /usr/sbin, which an ordinary user's PATH lacks. */
const FOLDERS = ["/usr/sbin", "/usr/local/sbin", "/usr/local/bin", "/opt/homebrew/bin"];

/** A version is printed within milliseconds; a machine under load gets more. */
const VERSION_TIMEOUT_MS = 10_000;

export interface ServerBinary {
  readonly path: string;
  readonly version: ServerVersion;
}

/**
 * Returns the first program of TAILRACE_NATS_SERVER, PATH and the usual folders, with its version checked.
 * Throws nats_missing where there is none and nats_refused where the version is no good.
 */
export async function findServerBinary(env: NodeJS.ProcessEnv): Promise<ServerBinary> {
  const path = locate(env);
  const version = parseServerVersion(await printedVersion(path));
  if (version === undefined) {
    throw new AppError("nats_refused", `${path} -v prints no version; it isn't nats-server`);
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
      `${VARIABLE} names ${named}, which is no program that can be run; name that of nats-server, or unset it and the hub looks for one`,
    );
  }
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const found = [...folders, ...FOLDERS].map((folder) => join(folder, NAME)).find(isProgram);
  if (found !== undefined) return found;
  throw new AppError(
    "nats_missing",
    `there is no ${NAME} on PATH or in ${FOLDERS.join(", ")}; install it with "apt-get install nats-server" ` +
      `(macOS: "brew install nats-server"), or name it in ${VARIABLE}, or set nats.servers to a server elsewhere`,
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
