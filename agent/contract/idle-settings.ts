/** Settings that work only together with others: their mark in a schema, and the warning if they have no effect. */

import type { TObject, TSchema } from "typebox";

/**
 * The setting that a marked one needs, and the values under which it has an effect; no values: whenever it is switched
 * on.
 */
interface Condition {
  readonly setting: string;
  readonly values: readonly unknown[];
}

/** Returns `schema` marked: the setting has an effect only where `setting` has one of `values`, or without values is on. */
export function onlyWith<S extends TSchema>(schema: S, setting: string, ...values: readonly unknown[]): S {
  const onlyWith: Condition = { setting, values };
  const { description = "" } = schema as { description?: string };
  const marked = Object.defineProperties({}, Object.getOwnPropertyDescriptors(schema)) as S; // optional ones are so by a hidden property
  return Object.assign(marked, { onlyWith, description: `${description} ${requirement(onlyWith)}` });
}

/**
 * Returns the settings of `given` that have no effect under `values`, each with the reason. `values`: of all settings,
 * defaults filled in.
 */
export function idleSettings(
  schema: TObject,
  given: Iterable<string>,
  values: Readonly<Record<string, unknown>>,
): [setting: string, reason: string][] {
  const idle: [string, string][] = [];
  for (const setting of given) {
    const property = schema.properties[setting] as { onlyWith?: Condition } | undefined;
    const condition = property?.onlyWith;
    if (condition === undefined || isMet(condition, values[condition.setting])) continue;
    idle.push([
      setting,
      `${setting} has no effect: ${requirement(condition).replace("Only", "it works only")}`,
    ]);
  }
  return idle;
}

function isMet({ values }: Condition, value: unknown): boolean {
  if (values.length > 0) return values.includes(value);
  return value !== undefined && value !== false && value !== "";
}

function requirement({ setting, values }: Condition): string {
  return values.length === 0 ? `Only with ${setting}.` : `Only with ${setting}: ${values.join(" or ")}.`;
}
