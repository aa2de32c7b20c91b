/** The command line of `tailrace-hub segment`. */

import { overridesOf, PLACE_OPTIONS, parseOptions, usageError } from "./arguments.ts";

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
