/**
 * The built-in patterns, under the names that existing pipelines use. A field has two names if the Elastic Common
 * Schema uses another one: `%{IP:clientip|[source][address]}`. A line that begins with `legacy` or `ecs` applies to
 * only one of the two.
 */

import { applicationPatterns, backupMailPatterns, httpdPatterns } from "./application.ts";
import { basicPatterns, networkPatterns, syslogPatterns } from "./basic.ts";
import { firewallPatterns } from "./firewall.ts";
import { monitoringPatterns } from "./monitoring.ts";
import { zeekPatterns } from "./zeek.ts";

const SETS = [
  basicPatterns,
  syslogPatterns,
  httpdPatterns,
  networkPatterns,
  applicationPatterns,
  firewallPatterns,
  monitoringPatterns,
  backupMailPatterns,
  zeekPatterns,
];

/** `:legacy|ecs` within a reference, or `<legacy|ecs>` of a group; a side without a name captures nothing. */
const TWO_NAMES = /(%\{[A-Za-z0-9_]+:|\(\?<)([\w@:[\]-]*)\|([\w@:[\]-]*)(?=[}>])/g;

/** What a side without a name leaves of a reference. */
const NO_NAME = /(%\{[A-Za-z0-9_]+):(?=\})/g;

const LEGACY_LINES = /^legacy .*$/gm;
const LEGACY_MARKS = /^legacy /gm;
const ECS_LINES = /^ecs .*$/gm;
const ECS_MARKS = /^ecs /gm;

const tables = new Map<boolean, ReadonlyMap<string, string>>();

/** Returns the patterns by name; `ecs`: with fields named by the Elastic Common Schema. */
export function grokPatterns(ecs: boolean): ReadonlyMap<string, string> {
  let table = tables.get(ecs);
  if (table === undefined) {
    const texts = SETS.map((set) =>
      set
        .replace(ecs ? LEGACY_LINES : ECS_LINES, "")
        .replace(ecs ? ECS_MARKS : LEGACY_MARKS, "")
        .replace(TWO_NAMES, ecs ? "$1$3" : "$1$2")
        .replace(NO_NAME, "$1"),
    );
    table = new Map(texts.flatMap(parsePatternFile));
    tables.set(ecs, table);
  }
  return table;
}

/** Returns the patterns of a file's text in its order. */
export function parsePatternFile(text: string): [name: string, pattern: string][] {
  const patterns: [string, string][] = [];
  for (const line of text.split(/\r?\n/)) {
    const found = /^\s*([A-Za-z0-9_]+)\s+(.*?)\s*$/.exec(line);
    if (found !== null) patterns.push([found[1]!, found[2]!]);
  }
  return patterns;
}
