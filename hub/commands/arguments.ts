/** Command line parsing shared by all commands. */

import { type ParseArgsConfig, parseArgs } from "node:util";
import { AppError } from "#proto/kit/errors.ts";

/** Options for the location of the settings. */
export const PLACE_OPTIONS = {
  config: { type: "string", short: "c" },
  E: { type: "string", short: "E", multiple: true },
  "path.data": { type: "string" },
} as const;

export interface PlaceValues {
  readonly E?: string[] | undefined;
  readonly "path.data"?: string | undefined;
}

type Options = NonNullable<ParseArgsConfig["options"]>;
type Parsed<T extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; allowPositionals: true; options: T }>
>;

/** Parses options and positional arguments. Throws usage_invalid. */
export function parseOptions<const T extends Options>(args: readonly string[], options: T): Parsed<T> {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options });
  } catch (error) {
    throw usageError((error as Error).message.split(". ")[0] ?? "", error);
  }
}

/** Returns the settings given on the command line, in the form of `-E`. */
export function overridesOf({ E = [], "path.data": data }: PlaceValues): string[] {
  return data === undefined ? [...E] : [...E, `path.data=${data}`];
}

/** Returns the usage error for `message`, with a pointer to the help. */
export function usageError(message: string, cause?: unknown): AppError {
  return new AppError("usage_invalid", `${message}; see tailrace-hub --help`, { cause });
}
