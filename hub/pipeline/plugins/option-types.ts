/** Kinds of options that filters share, each with its documentation. */

import type { TArray, TRecord, TSchema, TString } from "typebox";
import { Type } from "#hub/pipeline/language/option-schema.ts";

/** Text, formats (`%{field}`) included where the description says so. */
export function text(description: string, fallback?: string): TString {
  return Type.String({ description, ...(fallback === undefined ? {} : { default: fallback }) });
}

export function flag(description: string, fallback: boolean) {
  return Type.Boolean({ description, default: fallback });
}

export function number(description: string, fallback?: number) {
  return Type.Number({ description, ...(fallback === undefined ? {} : { default: fallback }) });
}

/** A codec by its name, or with options of its own: `codec => json { … }`. The context's `codec` makes it. */
export function codecOption(description: string, fallback: string) {
  return Type.Unknown({ description: `${description}; a codec`, default: fallback });
}

export function list(description: string, fallback: string[] = []): TArray<TString> {
  return Type.Array(Type.String(), { description, default: fallback });
}

/** A table of texts. */
export function table(description: string): TRecord<"^.*$", TString> {
  return Type.Record(Type.String(), Type.String(), { description, default: {} });
}

/** A table of anything. */
export function anyTable(description: string) {
  return Type.Record(Type.String(), Type.Unknown(), { description, default: {} });
}

export function oneOf<const T extends string>(values: readonly T[], description: string, fallback?: T) {
  return Type.Enum([...values] as T[], {
    description,
    ...(fallback === undefined ? {} : { default: fallback }),
  });
}

/** An option of existing pipelines that changes nothing here; `why` also says what does the same. Who writes it is told. */
export function withoutEffect(why: string) {
  return Type.Optional(
    Type.Unknown({ description: `accepted for compatibility, without effect: ${why}`, withoutEffect: why }),
  );
}

export function optional<T extends TSchema>(schema: T) {
  return Type.Optional(schema);
}

/** An options object that refuses what it doesn't know. */
export function options<const P extends Record<string, TSchema>>(properties: P) {
  return Type.Object(properties, { additionalProperties: false });
}
