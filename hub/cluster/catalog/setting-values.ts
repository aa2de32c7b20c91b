/** Values of index settings in requests: which are times, sizes, numbers or flags, and the errors for others. */

import { AppError } from "#proto/kit/errors.ts";
import { parseDuration } from "#proto/kit/units.ts";

/** Throws settings_invalid unless the text is a value of the setting, whose name begins with "index.". */
type Check = (text: string, name: string) => void;

const CODECS = ["default", "best_compression"];

/** Checks by the name without "index."; a name that ends with "." stands for all that begin with it. */
const CHECKS: Readonly<Record<string, Check>> = {
  "blocks.": flag,
  codec: oneOf(CODECS),
  gc_deletes: time(-1),
  load_fixed_bitset_filters_eagerly: flag,
  "mapper.dynamic": flag,
  "mapping.coerce": flag,
  "mapping.depth.limit": atLeast(1),
  "mapping.ignore_malformed": flag,
  "mapping.nested_fields.limit": atLeast(0),
  "mapping.total_fields.limit": atLeast(0),
  max_docvalue_fields_search: atLeast(0),
  max_inner_result_window: atLeast(1),
  max_refresh_listeners: atLeast(0),
  max_regex_length: atLeast(1),
  max_rescore_window: atLeast(1),
  max_result_window: atLeast(1),
  max_script_fields: atLeast(0),
  max_slices_per_scroll: atLeast(1),
  max_terms_count: atLeast(1),
  "merge.policy.max_merged_segment": size,
  "merge.scheduler.max_thread_count": atLeast(1),
  number_of_routing_shards: atLeast(1),
  priority: atLeast(0),
  refresh_interval: time(-1),
  "requests.cache.enable": flag,
  "search.slowlog.threshold.": time(-1),
  "soft_deletes.enabled": flag,
  "translog.flush_threshold_size": size,
  "unassigned.node_left.delayed_timeout": time(0),
  "warmer.enabled": flag,
};

/** Throws settings_invalid for a value that a setting (dotted, without "index.") can't have. */
export function checkSettingValue(key: string, value: unknown): void {
  const check = CHECKS[key] ?? Object.entries(CHECKS).find(([name]) => isGroupOf(name, key))?.[1];
  if (check === undefined || value === null) return;
  check(typeof value === "string" ? value : JSON.stringify(value), `index.${key}`);
}

function isGroupOf(name: string, key: string): boolean {
  return name.endsWith(".") && key.startsWith(name);
}

/** `leastMs` -1: the text "-1" turns it off. */
function time(leastMs: -1 | 0): Check {
  return (text, name) => {
    if (text === "0" || (text === "-1" && leastMs === -1)) return;
    if (/^\s*\d+\.\d+\s*[a-z]+\s*$/i.test(text))
      throw invalid(`failed to parse [${text}], fractional time values are not supported`);
    if (/^\s*-\d+\s*[a-z]+\s*$/i.test(text))
      throw invalid(`failed to parse value [${text}] for setting [${name}], must be >= [${leastMs}]`);
    if (!isDuration(text))
      throw invalid(
        `failed to parse setting [${name}] with value [${text}] as a time value: unit is missing or unrecognized`,
      );
  };
}

/** Requires a unit: a bare number isn't a time. */
function isDuration(text: string): boolean {
  if (!/[a-z]/i.test(text)) return false;
  try {
    parseDuration(text.toLowerCase());
    return true;
  } catch {
    return false;
  }
}

function atLeast(least: number): Check {
  return (text, name) => {
    const failed = `Failed to parse value [${text}] for setting [${name}]`;
    if (!/^[+-]?\d+$/.test(text)) {
      const cause = new AppError("settings_invalid", `For input string: "${text}"`, {
        data: { type: "number_format_exception" },
      });
      throw new AppError("settings_invalid", failed, { cause });
    }
    if (Number(text) < least) throw invalid(`${failed} must be >= ${least}`);
  };
}

function flag(text: string): void {
  if (text !== "true" && text !== "false")
    throw invalid(`Failed to parse value [${text}] as only [true] or [false] are allowed.`);
}

function size(text: string, name: string): void {
  if (text === "0" || text === "-1" || /^\s*\d+(?:\.\d+)?\s*(?:[kmgtp]?b|[kmgtp])\s*$/i.test(text)) return;
  const reason = `failed to parse setting [${name}] with value [${text}] as a size in bytes: unit is missing or unrecognized`;
  const cause = new AppError("settings_invalid", reason, { data: { type: "parse_exception" } });
  throw new AppError("settings_invalid", reason, { cause });
}

function oneOf(values: readonly string[]): Check {
  return (text, name) => {
    if (!values.includes(text))
      throw invalid(`unknown value for [${name}] must be one of [${values.join(", ")}] but was: ${text}`);
  };
}

function invalid(reason: string): AppError {
  return new AppError("settings_invalid", reason);
}
