/**
 * Lifecycle policies: what happens to an index as it ages, by phase. `rollover`, `readonly`, `forcemerge` and `delete`
 * have an effect; the other actions are accepted by name.
 */

import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { parseDuration } from "#proto/kit/units.ts";
import { encodeName, type IndexMetadata } from "./index-metadata.ts";
import { parseConditions, type RolloverCondition } from "./rollover.ts";

/** In the order in which an index passes through them, each with its actions. */
const PHASES: Readonly<Record<string, readonly string[]>> = {
  hot: [
    "set_priority",
    "unfollow",
    "rollover",
    "readonly",
    "downsample",
    "shrink",
    "forcemerge",
    "searchable_snapshot",
  ],
  warm: ["set_priority", "unfollow", "readonly", "downsample", "allocate", "migrate", "shrink", "forcemerge"],
  cold: [
    "set_priority",
    "unfollow",
    "readonly",
    "downsample",
    "searchable_snapshot",
    "allocate",
    "migrate",
    "freeze",
  ],
  frozen: ["unfollow", "searchable_snapshot"],
  delete: ["wait_for_snapshot", "delete"],
};
/** Actions of the hot phase that run only after the rollover of the index. */
const AFTER_ROLLOVER = ["readonly", "downsample", "shrink", "forcemerge", "searchable_snapshot"];

/** Actions that are accepted and do nothing, with the reason. */
export const UNUSED_ACTIONS: Readonly<Record<string, string>> = {
  allocate: "every hub that searches has a copy of each shard",
  downsample: "documents stay as they are",
  freeze: "an index that isn't read takes little memory",
  migrate: "there are no data tiers",
  searchable_snapshot: "indices stay on the hub's own disk until they are deleted",
  set_priority: "indices are opened in no order of priority",
  shrink: "an index keeps its shards; shrink it with _shrink",
  unfollow: "no index follows one of another cluster",
  wait_for_snapshot: "indices are deleted without waiting for a snapshot",
};

/** Largest policy, characters of JSON. */
const MAX_POLICY_LENGTH = 64 * 1024;
/** Longest name, bytes, and its longest encoded form in a key of the bucket. */
const MAX_NAME_BYTES = 255;
const MAX_KEY_LENGTH = 480;

/** What a phase does once an index is `minAgeMs` old. */
export interface LifecyclePhase {
  readonly name: string;
  readonly minAgeMs: number;
  readonly rollover?: readonly RolloverCondition[];
  /** Blocks writes. */
  readonly isReadOnly: boolean;
  /** Segments of each shard that are merged into. */
  readonly maxSegments?: number;
  readonly deletes: boolean;
}

/** Reads the phases of a policy, in their order. Throws request_invalid, parsing. */
export function parsePolicy(policy: Readonly<JsonObject>): LifecyclePhase[] {
  checkKeys("lifecycle_policy", policy, ["phases", "_meta", "deprecated"]);
  if (JSON.stringify(policy).length > MAX_POLICY_LENGTH)
    throw refuse(`a lifecycle policy has at most ${MAX_POLICY_LENGTH} characters`);
  const phases = requireObject("phases", policy["phases"]);
  for (const name of Object.keys(phases))
    if (!Object.hasOwn(PHASES, name)) throw refuse(`Timeseries lifecycle does not support phase [${name}]`);
  return Object.keys(PHASES)
    .filter((name) => Object.hasOwn(phases, name))
    .map((name) => parsePhase(name, requireObject(name, phases[name])));
}

function parsePhase(name: string, phase: JsonObject): LifecyclePhase {
  checkKeys(name, phase, ["min_age", "actions"]);
  const actions = requireObject("actions", phase["actions"] ?? {});
  for (const action of Object.keys(actions)) checkAction(name, action);
  const { rollover, readonly, forcemerge, delete: deletion } = actions;
  const early = AFTER_ROLLOVER.filter((action) => Object.hasOwn(actions, action));
  if (name === "hot" && rollover === undefined && early.length > 0)
    throw refuse(
      `the [${early.join(", ")}] action(s) may not be used in the [hot] phase without an accompanying [rollover] action`,
    );
  if (readonly !== undefined) checkKeys("readonly", requireObject("readonly", readonly), []);
  if (deletion !== undefined)
    checkKeys("delete", requireObject("delete", deletion), ["delete_searchable_snapshot"]);
  return {
    name,
    minAgeMs: ageOf(name, phase["min_age"]),
    ...(rollover !== undefined && { rollover: parseRollover(requireObject("rollover", rollover)) }),
    isReadOnly: readonly !== undefined,
    ...(forcemerge !== undefined && { maxSegments: segmentsOf(requireObject("forcemerge", forcemerge)) }),
    deletes: deletion !== undefined,
  };
}

function checkAction(phase: string, action: string): void {
  if (PHASES[phase]!.includes(action)) return;
  if (Object.values(PHASES).some((actions) => actions.includes(action)))
    throw refuse(`invalid action [${action}] defined in phase [${phase}]`);
  throw new AppError("parsing", `unknown LifecycleAction [${action}]`);
}

function parseRollover(json: JsonObject): RolloverCondition[] {
  const conditions = parseConditions(json);
  if (conditions.every(({ holdsBack }) => holdsBack))
    throw refuse("At least one max_* rollover condition must be set.");
  return conditions;
}

function segmentsOf(json: JsonObject): number {
  checkKeys("forcemerge", json, ["max_num_segments", "index_codec"]);
  const segments = json["max_num_segments"];
  if (typeof segments === "number" && Number.isInteger(segments) && segments > 0) return segments;
  throw refuse("[max_num_segments] must be a positive integer");
}

/** Without a unit only 0 is accepted: 30 would mean milliseconds, but days are intended. */
function ageOf(phase: string, value: unknown): number {
  if (value === undefined || value === null || value === 0) return 0;
  const given = typeof value === "string" ? value : JSON.stringify(value);
  const why = `[${phase}] failed to parse setting [min_age] with value [${given}] as a time value`;
  if (typeof value !== "string" || (Number(value) !== 0 && Number.isFinite(Number(value))))
    throw new AppError("request_invalid", `${why}: unit is missing or unrecognized; write for example 30d`);
  try {
    return parseDuration(value, 1);
  } catch (cause) {
    throw new AppError("request_invalid", why, { cause });
  }
}

/** Returns the actions of a checked policy that do nothing, as "phase.action" with the reason. */
export function unusedActions(policy: Readonly<JsonObject>): [action: string, why: string][] {
  return Object.entries(policy["phases"] as JsonObject).flatMap(([phase, body]) => {
    const actions = ((body as JsonObject)["actions"] ?? {}) as JsonObject;
    const rows = Object.keys(actions)
      .filter((action) => Object.hasOwn(UNUSED_ACTIONS, action))
      .map((action): [string, string] => [`${phase}.${action}`, UNUSED_ACTIONS[action]!]);
    const merge = actions["forcemerge"];
    const hasCodec = isObject(merge) && merge["index_codec"] !== undefined;
    return hasCodec ? [...rows, [`${phase}.forcemerge.index_codec`, "segments have one codec"]] : rows;
  });
}

/** Throws request_invalid for a name that no policy may have. */
export function checkPolicyName(name: string): void {
  const bytes = Buffer.byteLength(name);
  const rules = [
    [name.startsWith("_"), "must not start with '_'"],
    [name.includes(","), "must not contain ','"],
    [name.includes(" "), "must not contain ' '"],
    [!name.isWellFormed(), "must be well-formed Unicode"],
    [bytes > MAX_NAME_BYTES, `name is too long, (${bytes} > ${MAX_NAME_BYTES})`],
    [encodeName(name).length > MAX_KEY_LENGTH, "name is too long; use letters, digits, - and _"],
  ] as const;
  const broken = rules.find(([isBroken]) => isBroken);
  if (broken !== undefined) throw refuse(`invalid policy name [${name.toWellFormed()}]: ${broken[1]}`);
}

function checkKeys(place: string, value: Readonly<JsonObject>, known: readonly string[]): void {
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown !== undefined)
    throw new AppError("parsing", `[${place}] unknown field [${unknown}], parser not found`);
}

function requireObject(place: string, value: unknown): JsonObject {
  if (isObject(value)) return value;
  throw new AppError("parsing", `[${place}] must be an object`);
}

function refuse(why: string): AppError {
  return new AppError("request_invalid", why);
}

/** Returns the name of the policy that an index names; undefined without one. */
export function policyName({ settings }: Pick<IndexMetadata, "settings">): string | undefined {
  const name = settings.raw["lifecycle.name"];
  return typeof name === "string" && name !== "" ? name : undefined;
}

/** Settings of an index (dotted, without "index.") that lifecycles use. */
export const LIFECYCLE_SETTINGS = ["name", "rollover_alias", "origination_date", "indexing_complete"].map(
  (name) => `lifecycle.${name}`,
);

/**
 * Throws settings_invalid for values that these settings can't have. Only for values of a request: templates and indices of
 * earlier versions may have any value, and still work.
 */
export function checkLifecycleSettings(settings: Readonly<JsonObject>): void {
  const [name, alias, date, complete] = LIFECYCLE_SETTINGS.map((key) => settings[key] ?? undefined);
  const isText = (value: unknown): boolean => value === undefined || typeof value === "string";
  const rows = [
    ["name", name, isText(name)],
    ["rollover_alias", alias, isText(alias)],
    ["origination_date", date, date === undefined || /^(-1|\d{1,15})$/.test(String(date as string))],
    [
      "indexing_complete",
      complete,
      complete === undefined || /^(true|false)$/.test(String(complete as string)),
    ],
  ] as const;
  const wrong = rows.find(([, , fits]) => !fits);
  if (wrong === undefined) return;
  throw new AppError(
    "settings_invalid",
    `Failed to parse value [${JSON.stringify(wrong[1])}] for setting [index.lifecycle.${wrong[0]}]`,
  );
}
