/** What the command lines of all commands share: how options are read, and what a wrong line gets. */

import { type ParseArgsConfig, parseArgs } from "node:util";
import { AppError } from "#proto/kit/errors.ts";

/** Where the settings are that a command works with. */
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

/** Returns the values of `options` and what stands beside them. Throws usage_invalid. */
export function parseOptions<const T extends Options>(args: readonly string[], options: T): Parsed<T> {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options });
  } catch (error) {
    throw usageError((error as Error).message.split(". ")[0] ?? "", error);
  }
}

/** Returns the settings that the command line itself gives, as `-E` writes them. */
export function overridesOf({ E = [], "path.data": data }: PlaceValues): string[] {
  return data === undefined ? [...E] : [...E, `path.data=${data}`];
}

/** Returns the error for `message`, with where to look. */
export function usageError(message: string, cause?: unknown): AppError {
  return new AppError("usage_invalid", `${message}; see tailrace-hub --help`, { cause });
}
