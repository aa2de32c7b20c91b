/** Command lines of `snapshot`: what was asked, or what to write instead. */

import { parseArgs } from "node:util";
import { didYouMean } from "#proto/kit/nearest.ts";
import { usageError } from "../usage-error.ts";

const ACTIONS = ["create", "list", "restore"] as const;

export interface SnapshotCommand {
  readonly name: "snapshot";
  readonly action: (typeof ACTIONS)[number];
  /** Folder, or s3://bucket/prefix. */
  readonly address: string;
  /** Undefined: the time for `create`, the newest for `restore`. */
  readonly snapshot: string | undefined;
  readonly config: string | undefined;
  readonly overrides: readonly string[];
}

/** Returns the command of the arguments behind `snapshot`. Throws usage_invalid. */
export function parseSnapshotCommand(args: readonly string[]): SnapshotCommand {
  const { values, positionals } = parsed(args);
  const [action = "", address, extra] = positionals;
  const known = ACTIONS.find((each) => each === action);
  if (known === undefined)
    throw usageError(
      `snapshot ${action || "what?"}: choose ${ACTIONS.join(", ")}${didYouMean(action, ACTIONS)}`,
    );
  if (address === undefined) throw usageError(`snapshot ${known} needs a folder or s3://bucket/prefix`);
  if (extra !== undefined) throw usageError(`"${extra}" is one argument too many`);
  const overrides = [...(values.E ?? [])];
  if (values["path.data"] !== undefined) overrides.push(`path.data=${values["path.data"]}`);
  return {
    name: "snapshot",
    action: known,
    address,
    snapshot: values.name,
    config: values.config,
    overrides,
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        config: { type: "string", short: "c" },
        E: { type: "string", short: "E", multiple: true },
        "path.data": { type: "string" },
        name: { type: "string" },
      },
    });
  } catch (error) {
    throw usageError((error as Error).message.split(". ")[0] ?? "", error);
  }
}
