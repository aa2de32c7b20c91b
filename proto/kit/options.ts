/** Short forms for the schemas of options: a description and an optional default. */

import type { TArray, TRecord, TSchema, TString } from "typebox";
import { Type } from "./schema.ts";

/** Text. */
export function text(description: string, fallback?: string): TString {
  return Type.String(details(description, fallback));
}

export function flag(description: string, fallback?: boolean) {
  return Type.Boolean(details(description, fallback));
}

export function number(description: string, fallback?: number) {
  return Type.Number(details(description, fallback));
}

/** A list of texts; a single text is a list of one. */
export function list(description: string, fallback: string[] = []): TArray<TString> {
  return Type.Array(Type.String(), { description, default: fallback });
}

/** An object of texts. */
export function table(description: string): TRecord<"^.*$", TString> {
  return Type.Record(Type.String(), Type.String(), { description, default: {} });
}

/** An object of any values. */
export function anyTable(description: string) {
  return Type.Record(Type.String(), Type.Unknown(), { description, default: {} });
}

/** An object of any values, of which 30.0 stays a decimal, see `decimal` of proto/codec/json.ts. */
export function valueTable(description: string) {
  return Type.Record(Type.String(), Type.Unknown(), { description, default: {}, decimals: true });
}

/** Returns whether the values of an option are those of `valueTable`. */
export function keepsDecimals(schema: TSchema): boolean {
  return "decimals" in schema;
}

export function oneOf<const T extends string>(values: readonly T[], description: string, fallback?: T) {
  return Type.Enum([...values] as T[], details(description, fallback));
}

/**
 * An option that existing configurations set and that has no effect. `reason` explains why and names the replacement. Setting
 * it to something else than the default of `schema` logs a warning with the reason.
 */
export function withoutEffect(reason: string, schema: TSchema = Type.Unknown()) {
  return Type.Optional({ ...schema, description: `no effect: ${reason}`, withoutEffect: reason });
}

/** An option that existing configurations set and that can't be used: setting it is an error. `remedy`: what to write instead. */
export function refused(remedy: string) {
  return Type.Optional(Type.Unknown({ description: `refused: ${remedy}`, refused: remedy }));
}

/** How an option without its usual effect is treated; undefined: it works. */
export function treatmentOf(
  schema: TSchema,
): { readonly treatment: "no effect" | "refused"; readonly note: string } | undefined {
  const { withoutEffect: reason, refused: remedy } = schema as { withoutEffect?: string; refused?: string };
  if (remedy !== undefined) return { treatment: "refused", note: remedy };
  return reason === undefined ? undefined : { treatment: "no effect", note: reason };
}

export function optional<T extends TSchema>(schema: T) {
  return Type.Optional(schema);
}

/** An object that refuses properties other than these. */
export function options<const P extends Record<string, TSchema>>(properties: P) {
  return Type.Object(properties, { additionalProperties: false });
}

function details<T>(description: string, fallback: T | undefined): { description: string; default?: T } {
  return fallback === undefined ? { description } : { description, default: fallback };
}
