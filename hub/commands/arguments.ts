/**
 * Command line parsing: what all commands share, and the command lines of `segment` and `snapshot`, whose code is
 * loaded later.
 */

import { type ParseArgsConfig, parseArgs } from "node:util";
import { AppError } from "#proto/kit/errors.ts";
import { didYouMean } from "#proto/kit/nearest.ts";

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
  const text = message.endsWith("?") ? `${message} See` : `${message}; see`;
  return new AppError("usage_invalid", `${text} tailrace-hub --help`, { cause });
}

export interface SegmentCommand {
  readonly name: "segment";
  /** A segment file, or a folder with some at any depth; undefined: path.data. */
  readonly path: string | undefined;
  readonly json: boolean;
  readonly config: string | undefined;
  readonly overrides: readonly string[];
}

const OPTIONS = { ...PLACE_OPTIONS, json: { type: "boolean" } } as const;

/** Parses the arguments after `segment`. Throws usage_invalid. */
export function parseSegmentCommand(args: readonly string[]): SegmentCommand {
  const { values, positionals } = parseOptions(args, OPTIONS);
  const [path, extra] = positionals;
  if (extra !== undefined) throw usageError(`unexpected argument "${extra}"`);
  const overrides = overridesOf(values);
  return { name: "segment", path, json: values.json === true, config: values.config, overrides };
}

const ACTIONS = ["create", "list", "restore"] as const;

export interface SnapshotCommand {
  readonly name: "snapshot";
  readonly action: (typeof ACTIONS)[number];
  /** Folder, or s3://bucket/prefix. */
  readonly address: string;
  /** Default: the current time for `create`, the newest snapshot for `restore`. */
  readonly snapshot: string | undefined;
  readonly config: string | undefined;
  readonly overrides: readonly string[];
}

/** Parses the arguments after `snapshot`. Throws usage_invalid. */
export function parseSnapshotCommand(args: readonly string[]): SnapshotCommand {
  const { values, positionals } = parseOptions(args, { ...PLACE_OPTIONS, name: { type: "string" } });
  const [action = "", address, extra] = positionals;
  const known = ACTIONS.find((each) => each === action);
  if (known === undefined)
    throw usageError(
      `snapshot ${action || "what?"}: choose ${ACTIONS.join(", ")}${didYouMean(action, ACTIONS)}`,
    );
  if (address === undefined) throw usageError(`snapshot ${known} needs a folder or s3://bucket/prefix`);
  if (extra !== undefined) throw usageError(`unexpected argument "${extra}"`);
  return {
    name: "snapshot",
    action: known,
    address,
    snapshot: values.name,
    config: values.config,
    overrides: overridesOf(values),
  };
}
