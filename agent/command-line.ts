/** Parses the agent's command line. */

import { parseArgs } from "node:util";
import { usualSettingsFile } from "#agent/settings/config.ts";
import { AppError } from "#proto/kit/errors.ts";
import { didYouMean } from "#proto/kit/nearest.ts";

/** All commands. */
export const COMMANDS = ["run", "test", "registry", "setup", "enroll"];
/** Commands with a word after them, and those with two. */
const WITH_ARGUMENT = ["test", "registry", "enroll"];
const WITH_OPERAND = ["registry", "enroll"];

/** A command with its options. */
export interface Options {
  readonly command: string;
  readonly argument: string;
  /** Further words, for `registry`. */
  readonly operand: string;
  /** Settings file. */
  readonly config: string;
  readonly overrides: readonly string[];
  readonly strictPermissions: boolean;
  readonly json: boolean;
  readonly readyJson: boolean;
  /** All of them as they were written. */
  readonly values: ReturnType<typeof parse>["values"];
}

/** Reads the command line. Throws usage_invalid. */
export function parseOptions(args: readonly string[], env: NodeJS.ProcessEnv): Options {
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse(args);
  } catch (error) {
    throw new AppError(
      "usage_invalid",
      `${(error as Error).message}; tailrace-agent --help shows what there is`,
      { cause: error },
    );
  }
  const { values, positionals } = parsed;
  const [command = "run", argument = "", ...rest] = positionals;
  const [operand = "", ...more] = rest;
  const further = WITH_OPERAND.includes(command) ? more : rest;
  if (!COMMANDS.includes(command)) {
    throw new AppError(
      "usage_invalid",
      `unknown command "${command}"${didYouMean(command, COMMANDS)}; there are ${COMMANDS.join(", ")}`,
    );
  }
  if (further.length > 0 || (argument !== "" && !WITH_ARGUMENT.includes(command))) {
    throw new AppError(
      "usage_invalid",
      `"${[argument, ...further].at(-1)}" is too much; tailrace-agent --help shows the commands`,
    );
  }
  const pathData = values["path.data"];
  return {
    command,
    argument,
    operand,
    config: values.config ?? usualSettingsFile(env),
    overrides: [
      ...(values.E ?? []),
      ...(pathData === undefined ? [] : [`path.data=${JSON.stringify(pathData)}`]),
    ],
    strictPermissions: values["strict.perms"] !== "false",
    json: values.json ?? false,
    readyJson: values["ready-json"] ?? false,
    values,
  };
}

function parse(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      config: { type: "string", short: "c" },
      E: { type: "string", short: "E", multiple: true },
      "path.data": { type: "string" },
      "strict.perms": { type: "string" },
      json: { type: "boolean" },
      "ready-json": { type: "boolean" },
      name: { type: "string" },
      "ca-fingerprint": { type: "string" },
      force: { type: "boolean" },
    },
  });
}
