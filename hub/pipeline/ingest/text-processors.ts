/** Processors that change texts, and those that drop or fail a document. */

import { RegexpTimeout } from "#hub/pipeline/regexp/regexp-guard.ts";
import { translateRubyRegexp } from "../regexp/ruby-regexp.ts";
import { ProcessorFault } from "./ingest-document.ts";
import {
  fieldChange,
  type ProcessorKind,
  type ProcessorSettings,
  readField,
  readText,
  typeNameOf,
} from "./processor.ts";
import { compileTemplate } from "./template.ts";

/** Time of one expression on one text. */
const EXPRESSION_MS = 1_000;

const BYTES: Readonly<Record<string, number>> = {
  b: 1,
  kb: 2 ** 10,
  mb: 2 ** 20,
  gb: 2 ** 30,
  tb: 2 ** 40,
  pb: 2 ** 50,
};

/** A processor that makes one text of another; of a list, of each item. */
function ofText(change: (text: string) => unknown): ProcessorKind {
  return (settings) => {
    const field = fieldChange(settings);
    return (document) => {
      const value = readField(document, field);
      if (value === undefined) return;
      if (Array.isArray(value) && value.every((item) => typeof item === "string")) {
        document.set(field.target, value.map(change));
        return;
      }
      if (typeof value !== "string")
        throw new ProcessorFault(
          `field [${field.field}] of type [${typeNameOf(value)}] cannot be cast to [java.lang.String]`,
        );
      document.set(field.target, change(value));
    };
  };
}

const gsub: ProcessorKind = (settings, { guard }) => {
  const field = fieldChange(settings);
  const expression = new RegExp(expressionOf(settings, "pattern").source, "gu");
  const replacement = settings.text("replacement").replaceAll("\\$", "$$$$");
  return (document) => {
    const value = readText(document, field);
    if (value === undefined) return;
    const work = (): string => value.replace(expression, replacement);
    document.set(
      field.target,
      within(() => guard.run(expression, value, EXPRESSION_MS, work)),
    );
  };
};

const split: ProcessorKind = (settings, { guard }) => {
  const field = fieldChange(settings);
  const separator = expressionOf(settings, "separator");
  const keepsTrailing = settings.flag("preserve_trailing");
  return (document) => {
    const value = readText(document, field);
    if (value === undefined) return;
    const parts = within(() => guard.run(separator, value, EXPRESSION_MS, () => value.split(separator)));
    if (!keepsTrailing) while (parts.length > 0 && parts.at(-1) === "") parts.pop();
    document.set(field.target, parts);
  };
};

const join: ProcessorKind = (settings) => {
  const field = fieldChange(settings);
  const separator = settings.text("separator");
  return (document) => {
    const value = readField(document, field);
    if (!Array.isArray(value))
      throw new ProcessorFault(
        `field [${field.field}] of type [${typeNameOf(value)}] cannot be cast to [java.util.List]`,
      );
    document.set(field.target, value.join(separator));
  };
};

const drop: ProcessorKind = () => (document) => {
  document.dropped = true;
};

const fail: ProcessorKind = (settings) => {
  const message = compileTemplate(settings.text("message"));
  return (document) => {
    throw new ProcessorFault(message(document), {
      javaClass: "org.elasticsearch.ingest.common.FailProcessorException",
    });
  };
};

const pipeline: ProcessorKind = (settings, context) => {
  const name = compileTemplate(settings.text("name"));
  const ignoresMissing = settings.flag("ignore_missing_pipeline");
  return (document) => {
    const id = name(document);
    if (!ignoresMissing || context.hasPipeline(id)) context.call(id, document);
  };
};

export const TEXT_PROCESSORS: Readonly<Record<string, ProcessorKind>> = {
  lowercase: ofText((text) => text.toLowerCase()),
  uppercase: ofText((text) => text.toUpperCase()),
  trim: ofText((text) => text.trim()),
  html_strip: ofText((text) => text.replace(/<[^<>]*>/g, "")),
  urldecode: ofText(decodeUrl),
  bytes: ofText(byteCount),
  gsub,
  split,
  join,
  drop,
  fail,
  pipeline,
};

/** Takes an expression. They are the other dialect's; those without captures by name translate one to one. */
export function expressionOf(settings: ProcessorSettings, name: string): RegExp {
  const text = settings.text(name);
  try {
    return new RegExp(text, "u");
  } catch {
    try {
      return translateRubyRegexp(text, { dotAll: false, unnamedCapture: true }).expression("");
    } catch (error) {
      throw settings.fault(name, `Invalid regex pattern. ${(error as Error).message}`);
    }
  }
}

/** Runs an expression; one that takes too long is a fault of its processor. */
export function within<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RegexpTimeout) throw new ProcessorFault(`the expression was ${error.message}`);
    throw error;
  }
}

function decodeUrl(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw new ProcessorFault(`[${text}] is no URL-encoded text`);
  }
}

function byteCount(text: string): number {
  const [, amount, unit = "b"] = /^\s*(\d+(?:\.\d+)?)\s*([kmgtp]?b)?\s*$/i.exec(text) ?? [];
  if (amount === undefined)
    throw new ProcessorFault(
      `failed to parse setting [Ingest Field] with value [${text}] as a size in bytes`,
    );
  return Math.trunc(Number(amount) * BYTES[unit.toLowerCase()]!);
}
