/** An alert rule: a search, a number of lines in a window, and the channels of its messages. */

import type { Static } from "typebox";
import { AppError } from "#proto/kit/errors.ts";
import { Type } from "#proto/kit/schema.ts";
import { checkValue } from "#proto/kit/settings/settings.ts";
import { DAY_MS, parseDuration } from "#proto/kit/units.ts";

const MAX_CHANNELS = 10;
const MAX_RECIPIENTS = 20;
/** Shorter intervals cost more than they show. */
const MIN_EVERY_MS = 5_000;
const MIN_WINDOW_MS = 5_000;
const MAX_WINDOW_MS = 7 * DAY_MS;
const MAX_EVERY_MS = DAY_MS;

const channelSchema = Type.Union([
  Type.Object(
    {
      type: Type.Literal("webhook"),
      url: Type.String({ minLength: 1, maxLength: 2_000, description: "gets a POST with JSON" }),
    },
    { additionalProperties: false },
  ),
  Type.Object(
    {
      type: Type.Literal("email"),
      to: Type.Array(Type.String({ pattern: "^[^\\s@,;<>]+@[^\\s@,;<>]+$", maxLength: 320 }), {
        minItems: 1,
        maxItems: MAX_RECIPIENTS,
      }),
    },
    { additionalProperties: false },
  ),
]);

const ruleSchema = Type.Object(
  {
    title: Type.String({ minLength: 1, maxLength: 200 }),
    enabled: Type.Boolean({ default: true }),
    index: Type.String({ minLength: 1, maxLength: 1_000, default: "logs-*" }),
    query: Type.String({ maxLength: 10_000, default: "", description: "empty: all lines" }),
    condition: Type.Union([Type.Literal("above"), Type.Literal("below")], { default: "above" }),
    threshold: Type.Number({ minimum: 0, maximum: 1e15, default: 0 }),
    window: Type.String({ default: "5m", description: "how far back lines are counted" }),
    every: Type.String({ default: "1m", description: "how often they are" }),
    channels: Type.Array(channelSchema, { maxItems: MAX_CHANNELS, default: [] }),
    muted_until: Type.Union([Type.Null(), Type.String({ maxLength: 40 })], {
      default: null,
      description: "ISO time; no messages are sent until then",
    }),
  },
  { additionalProperties: false },
);

/** Properties of a rule that can be changed without becoming its writer. */
const SWITCHES: ReadonlySet<string> = new Set<keyof AlertRule>(["enabled", "muted_until"]);

export type Channel = Static<typeof channelSchema>;

/** The stored and sent form. */
export type AlertRule = Static<typeof ruleSchema>;

/** Returns a rule with its defaults. Throws request_invalid naming the property. */
export function checkRule(body: unknown): AlertRule {
  let rule: AlertRule;
  try {
    rule = checkValue(ruleSchema, body, "rule", () => "alert") as AlertRule;
  } catch (error) {
    throw new AppError("request_invalid", (error as Error).message, { cause: error });
  }
  windowOf(rule);
  everyOf(rule);
  if (rule.muted_until !== null && Number.isNaN(Date.parse(rule.muted_until)))
    throw invalid(`muted_until must be a time like 2026-01-31T14:00:00Z, not ${rule.muted_until}`);
  for (const channel of rule.channels) if (channel.type === "webhook") checkWebhook(channel.url);
  return rule;
}

/** Returns a rule that is turned on, turned off or muted by a body `{enabled, muted_until}`. Throws request_invalid. */
export function switched(rule: AlertRule, body: object): AlertRule {
  const names = Object.keys(body);
  if (names.length === 0 || !names.every((name) => SWITCHES.has(name)))
    throw invalid(
      `send ${[...SWITCHES].join(", ")} or both, not [${names.join(", ")}]; PUT changes a whole rule`,
    );
  return checkRule({ ...rule, ...body });
}

/** Returns a channel. Throws request_invalid. */
export function checkChannel(body: unknown): Channel {
  return checkRule({ title: "test", channels: [body] }).channels[0]!;
}

/** Length of the window, ms. Throws request_invalid. */
export function windowOf({ window }: AlertRule): number {
  return durationIn("window", window, MIN_WINDOW_MS, MAX_WINDOW_MS);
}

/** Time between two evaluations, ms. Throws request_invalid. */
export function everyOf({ every }: AlertRule): number {
  return durationIn("every", every, MIN_EVERY_MS, MAX_EVERY_MS);
}

/** Returns true if `count` lines fulfil the rule's condition. */
export function isBroken({ condition, threshold }: AlertRule, count: number): boolean {
  return condition === "above" ? count > threshold : count < threshold;
}

/** Returns true if the rule is muted at `nowMs`: no messages are sent. */
export function isMuted({ muted_until: mutedUntil }: AlertRule, nowMs: number): boolean {
  return mutedUntil !== null && Date.parse(mutedUntil) > nowMs;
}

function durationIn(name: string, text: string, minMs: number, maxMs: number): number {
  let durationMs: number;
  try {
    durationMs = parseDuration(text);
  } catch (error) {
    throw invalid(`${name}: ${(error as Error).message}`, error);
  }
  if (durationMs < minMs || durationMs > maxMs)
    throw invalid(`${name} must be from ${minMs / 1_000}s to ${maxMs / DAY_MS}d, not ${text}`);
  return durationMs;
}

function checkWebhook(text: string): void {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw invalid(`a webhook's url must begin with http:// or https://, not ${text}`);
  const { username, password } = new URL(text);
  if (username !== "" || password !== "")
    throw invalid(
      "a webhook's url must not hold a name and a password, because all who may see the rule could read them",
    );
}

function invalid(message: string, cause?: unknown): AppError {
  return new AppError("request_invalid", message, { cause });
}
