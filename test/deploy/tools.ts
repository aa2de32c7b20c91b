/** Programs of the system that the checks of deploy/ use, and files they look at. */

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** The checkout. */
export const ROOT = resolve(import.meta.dirname, "../..");

export interface Outcome {
  readonly status: number | null;
  /** Standard output and standard error. */
  readonly said: string;
  readonly stdout: string;
}

/** Runs a program to its end. */
export function run(
  program: string,
  args: readonly string[],
  options: { readonly env?: NodeJS.ProcessEnv; readonly cwd?: string; readonly input?: string } = {},
): Outcome {
  const { env = process.env, cwd = ROOT, input = "" } = options;
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8", env, cwd, input });
  return { status, said: `${stdout ?? ""}${stderr ?? ""}`, stdout: stdout ?? "" };
}

/** Returns the reason to skip a test that needs `program`, or false where it is there. */
export function without(program: string): string | false {
  const folders = `${process.env["PATH"] ?? ""}:/usr/bin:/usr/sbin:/bin`.split(":");
  return folders.some((folder) => existsSync(join(folder, program))) ? false : `${program} is not installed`;
}

/** Returns the text of a file of the project. */
export function text(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}
