/** The contract of processors, and how their settings are read. */

import type { RegexpGuard } from "#hub/pipeline/regexp/regexp-guard.ts";
import type { FindStored } from "#hub/scripts/script.ts";
import { isHash } from "#proto/event.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { type IngestDocument, ProcessorFault, typeNameOf } from "./ingest-document.ts";
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
    if (typeof value !== "string") throw this.mismatch(name, "string", value);
    return value;
  }

  optionalText(name: string): string | undefined {
    const value = this.take(name);
    if (value === undefined) return undefined;
    if (typeof value !== "string") throw this.mismatch(name, "string", value);
    return value;
  }

  flag(name: string, fallback = false): boolean {
    const value = this.take(name);
    if (value === undefined) return fallback;
    if (typeof value === "boolean") return value;
    throw this.mismatch(name, "boolean", value);
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

  /** Takes a list of texts. Throws request_invalid if it is missing and has no fallback. */
  list(name: string, fallback?: readonly string[]): readonly string[] {
    const value = this.#left.get(name) ?? undefined;
    if (value !== undefined && !Array.isArray(value)) throw this.mismatch(name, "list", value);
    return this.texts(name, fallback);
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
    if (this.#left.size === 0) return;
    const names = [...this.#left.keys()].join(", ");
    const { header } = this.fault("", "").data;
    const { property_name: _, ...processor } = header as JsonObject;
    throw new AppError(
      "request_invalid",
      `processor [${this.type}] doesn't support one or more provided configuration parameters [${names}]`,
      { data: { type: "parse_exception", header: processor } },
    );
  }

  /** The fault of a setting whose value has another type; `wanted`: string, boolean, list. */
  mismatch(name: string, wanted: string, value: unknown): AppError {
    return this.fault(name, `property isn't a ${wanted}, but of type [${typeNameOf(value)}]`);
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
  const value = ignoreMissing ? document.get(field) : document.require(field);
  if (value !== undefined && value !== null) return value;
  if (ignoreMissing) return undefined;
  throw new ProcessorFault(`field [${field}] is null, cannot process it.`);
}

/** As `readField`, of texts only. */
export function readText(document: IngestDocument, change: FieldChange): string | undefined {
  const value = readField(document, change);
  if (value === undefined || typeof value === "string") return value;
  throw new ProcessorFault(
    `field [${change.field}] of type [${typeNameOf(value)}] cannot be cast to [java.lang.String]`,
  );
}
