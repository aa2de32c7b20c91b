/** Parses the command line of `import`. */

import { IMPORT_PARTS, type ImportPart } from "#hub/import/import-cluster.ts";
import { didYouMean } from "#proto/kit/nearest.ts";
import { overridesOf, PLACE_OPTIONS, parseOptions, usageError } from "./arguments.ts";

const ACTIONS = ["cluster", "kibana", "config"] as const;
/** What each action reads. */
const FROM = { cluster: "a URL", kibana: "a file or a URL", config: "a file" } as const;
/** Shards read at a time without --parallel. */
const PARALLEL = 2;
const MAX_PARALLEL = 16;

export interface ImportCommand {
  readonly name: "import";
  readonly action: (typeof ACTIONS)[number];
  /** URL of a cluster or of Kibana, or a file. */
  readonly from: string;
  readonly patterns: readonly string[];
  readonly parts: readonly ImportPart[];
  /** User of the source; its password is in the environment. */
  readonly user: string | undefined;
  /** Documents per second; Infinity without a limit. */
  readonly rate: number;
  readonly parallel: number;
  readonly config: string | undefined;
  readonly overrides: readonly string[];
}

const OPTIONS = {
  ...PLACE_OPTIONS,
  index: { type: "string", multiple: true },
  only: { type: "string", multiple: true },
  user: { type: "string" },
  rate: { type: "string" },
  parallel: { type: "string" },
} as const;

/** Parses the arguments after `import`. Throws usage_invalid. */
export function parseImportCommand(args: readonly string[]): ImportCommand {
  const { values, positionals } = parseOptions(args, OPTIONS);
  const [given = "", from, extra] = positionals;
  const action = ACTIONS.find((each) => each === given);
  if (action === undefined)
    throw usageError(`import ${given || "what?"}: choose ${ACTIONS.join(", ")}${didYouMean(given, ACTIONS)}`);
  if (from === undefined) throw usageError(`import ${action} needs ${FROM[action]}`);
  if (extra !== undefined) throw usageError(`unexpected argument "${extra}"`);
  if (action === "cluster" && !/^https?:\/\/./.test(from))
    throw usageError(`import cluster ${from}: write the URL of the cluster, such as http://old.example:9200`);
  return {
    name: "import",
    action,
    from,
    patterns: values.index ?? [],
    parts: partsOf(values.only ?? []),
    user: values.user,
    rate: numberOf("--rate", values.rate, Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER),
    parallel: numberOf("--parallel", values.parallel, PARALLEL, MAX_PARALLEL),
    config: values.config,
    overrides: overridesOf(values),
  };
}

function partsOf(given: readonly string[]): readonly ImportPart[] {
  const names = given.flatMap((each) => each.split(","));
  if (names.length === 0) return IMPORT_PARTS;
  return names.map((name) => {
    const part = IMPORT_PARTS.find((each) => each === name);
    if (part === undefined)
      throw usageError(`--only ${name}: choose ${IMPORT_PARTS.join(", ")}${didYouMean(name, IMPORT_PARTS)}`);
    return part;
  });
}

function numberOf(option: string, text: string | undefined, fallback: number, largest: number): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= largest) return value;
  throw usageError(`${option} ${text}: write a whole number from 1 to ${largest}`);
}
