/** The contract of processors, and how their settings are read. */

import type { RegexpGuard } from "#hub/pipeline/regexp/regexp-guard.ts";
import type { FindStored } from "#hub/scripts/script.ts";
import { isHash } from "#proto/event.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { type IngestDocument, ProcessorFault } from "./ingest-document.ts";
import { compileTemplate, type Template } from "./template.ts";

/** Works on a document. Throws ProcessorFault if it can't. */
export type Work = (document: IngestDocument) => void;

/** What processors get besides their settings. */
export interface ProcessorContext {
  readonly clock: Clock;
  readonly guard: RegexpGuard;
  /** Sends a document through another pipeline. Throws ProcessorFault if there is none or they call one another. */
  call(pipeline: string, document: IngestDocument): void;
  hasPipeline(id: string): boolean;
  /** Version that the pipelines behave as, 100 × major + minor: from 7.0 on fields have other names. */
  readonly version: number;
  /** Returns a stored script. */
  readonly findScript: FindStored;
  /** Compiles a processor inside of another. */
  compile(definition: unknown): Work;
}

export type ProcessorKind = (settings: ProcessorSettings, context: ProcessorContext) => Work;

/** The settings of one processor; those that nothing asked for are faults. */
export class ProcessorSettings {
  readonly type: string;
  readonly #left: Map<string, unknown>;
  readonly #tag: string | undefined;

  constructor(type: string, settings: JsonObject) {
    this.type = type;
    const { tag } = settings;
    this.#tag = typeof tag === "string" ? tag : undefined;
    this.#left = new Map(Object.entries(settings));
  }

  /** Takes a setting as it is. */
  take(name: string): unknown {
    const value = this.#left.get(name);
    this.#left.delete(name);
    return value ?? undefined;
  }

  /** Takes a text. Throws request_invalid if it is missing and has no fallback. */
  text(name: string, fallback?: string): string {
    const value = this.take(name) ?? fallback;
    if (value === undefined) throw this.fault(name, "required property is missing");
    if (typeof value === "number" || typeof value === "boolean") return String(value);
    if (typeof value !== "string") throw this.fault(name, "property isn't a string");
    return value;
  }

  optionalText(name: string): string | undefined {
    const value = this.take(name);
    if (value === undefined) return undefined;
    if (typeof value !== "string") throw this.fault(name, "property isn't a string");
    return value;
  }

  flag(name: string, fallback = false): boolean {
    const value = this.take(name);
    if (value === undefined) return fallback;
    if (value === true || value === "true") return true;
    if (value === false || value === "false") return false;
    throw this.fault(name, "property isn't a boolean");
  }

  /** Takes one of several texts; the first by default. */
  choice<T extends string>(name: string, choices: readonly T[]): T {
    const value = this.text(name, choices[0]);
    const found = choices.find((each) => each === value);
    if (found === undefined)
      throw this.fault(name, `illegal value '${value}', valid values are '${choices.join("' and '")}'`);
    return found;
  }

  /** Takes a list of texts, or one. */
  texts(name: string, fallback?: readonly string[]): readonly string[] {
    const value = this.take(name) ?? fallback;
    if (value === undefined) throw this.fault(name, "required property is missing");
    const list: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (!list.every((item) => typeof item === "string"))
      throw this.fault(name, "property isn't a list of strings");
    return list;
  }

  /** Takes texts by name. */
  table(name: string): Readonly<Record<string, string>> {
    const value = this.take(name) ?? {};
    if (!isHash(value) || !Object.values(value).every((item) => typeof item === "string"))
      throw this.fault(name, "property isn't a map of strings");
    return value as Record<string, string>;
  }

  template(name: string): Template {
    return compileTemplate(this.text(name));
  }

  /** Throws request_invalid for settings that nothing asked for. */
  finish(): void {
    const [name] = this.#left.keys();
    if (name !== undefined)
      throw this.fault(name, `processor [${this.type}] doesn't support this configuration parameter`);
  }

  fault(name: string, message: string): AppError {
    return new AppError("request_invalid", `[${name}] ${message}`, {
      data: {
        type: "parse_exception",
        header: {
          processor_type: this.type,
          property_name: name,
          ...(this.#tag !== undefined && { processor_tag: this.#tag }),
        },
      },
    });
  }
}

/** What a processor of one field reads and writes. */
export interface FieldChange {
  readonly field: string;
  readonly target: string;
  readonly ignoreMissing: boolean;
}

/** Takes `field`, `target_field` (default: the field, or `target`) and `ignore_missing`. */
export function fieldChange(settings: ProcessorSettings, target?: string): FieldChange {
  const field = settings.text("field");
  return {
    field,
    target: settings.text("target_field", target ?? field),
    ignoreMissing: settings.flag("ignore_missing"),
  };
}

/** Returns the field's value; undefined if it is missing and may be. Throws ProcessorFault. */
export function readField(document: IngestDocument, { field, ignoreMissing }: FieldChange): unknown {
  const value = document.get(field);
  if (value !== undefined && value !== null) return value;
  if (ignoreMissing) return undefined;
  throw new ProcessorFault(
    value === null
      ? `field [${field}] is null, cannot process it.`
      : `field [${field}] not present as part of path [${field}]`,
  );
}

/** As `readField`, of texts only. */
export function readText(document: IngestDocument, change: FieldChange): string | undefined {
  const value = readField(document, change);
  if (value === undefined || typeof value === "string") return value;
  throw new ProcessorFault(
    `field [${change.field}] of type [${typeNameOf(value)}] cannot be cast to [java.lang.String]`,
  );
}

/** The names that clients know from the original's messages. */
export function typeNameOf(value: unknown): string {
  if (Array.isArray(value)) return "java.util.ArrayList";
  if (typeof value === "number") return Number.isInteger(value) ? "java.lang.Integer" : "java.lang.Double";
  if (typeof value === "boolean") return "java.lang.Boolean";
  return typeof value === "string" ? "java.lang.String" : "java.util.HashMap";
}
