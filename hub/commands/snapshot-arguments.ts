/** Parses the command line of `snapshot`. */

import { didYouMean } from "#proto/kit/nearest.ts";
import { overridesOf, PLACE_OPTIONS, parseOptions, usageError } from "./arguments.ts";

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
