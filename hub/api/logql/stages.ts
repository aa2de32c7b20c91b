/** Runs the stages of a LogQL pipeline: each keeps an entry, possibly with another line and more labels, or drops it. */

import { compileAddressFilter } from "./address-filter.ts";
import { type Entry, labelOf, type Work } from "./entry.ts";
import { chargeWork, finds, partExpression } from "./expressions.ts";
import { compileFilter, numberIn } from "./label-filter.ts";
import { json, logfmt, pattern, regexp, unpack } from "./label-parsers.ts";
import { compileLineFormat } from "./line-format.ts";
import { compileFilterPattern } from "./line-pattern.ts";
import type { Pace } from "./pace.ts";
import type { Stage } from "./syntax.ts";
import { TemplateFault } from "./template-values.ts";

/** Colour sequences of terminals: escape, "[", numbers, "m". */
const COLOURS = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "g");

/** Returns whether the entry is kept. */
type StagesWork = (entry: Entry, pace: Pace) => Promise<boolean>;

/** Compiles stages; their work throws what `pace` throws. Throws request_invalid. */
export function compileStages(stages: readonly Stage[]): StagesWork {
  const works = stages.map(compileStage);
  return async (entry, pace) => {
    for (const work of works) {
      if (pace.isDue) await pace.pause();
      entry.work = 0;
      if (!work(entry)) return false;
    }
    return true;
  };
}

function compileStage(stage: Stage): Work {
  switch (stage.kind) {
    case "line":
      return lineFilter(stage);
    case "json":
      return json(stage.only);
    case "logfmt":
      return logfmt(stage);
    case "unpack":
      return unpack;
    case "regexp":
      return regexp(partExpression(stage.text), stage.text);
    case "pattern":
      return pattern(stage.text);
    case "line_format": {
      const format = compileLineFormat(stage.text);
      return (entry) => {
        const line = formatted(format, entry);
        if (line !== undefined) entry.line = line;
        return true;
      };
    }
    case "label_format":
      return labelFormat(stage.renames);
    case "filter":
      return compileFilter(stage.filter);
    case "drop":
      return (entry) => {
        for (const label of stage.labels) entry.labels.delete(label);
        return true;
      };
    case "keep":
      return (entry) => {
        for (const label of entry.labels.keys())
          if (!stage.labels.includes(label)) entry.labels.delete(label);
        return true;
      };
    case "decolorize":
      return (entry) => {
        entry.line = entry.line.replace(COLOURS, "");
        return true;
      };
    case "unwrap":
      return unwrap(stage.label, stage.conversion);
  }
}

function lineFilter({ operator, values, addresses }: Extract<Stage, { kind: "line" }>): Work {
  const tests = [...values.map((value) => lineTest(operator, value)), ...addresses.map(addressTest)];
  const wanted = operator.startsWith("|");
  return (entry) => tests.some((test) => test(entry)) === wanted;
}

function lineTest(operator: Extract<Stage, { kind: "line" }>["operator"], value: string): Work {
  if (operator === "|=" || operator === "!=") return ({ line }) => line.includes(value);
  if (operator === "|>" || operator === "!>") {
    const isMatch = compileFilterPattern(value);
    return ({ line }) => isMatch(line);
  }
  const expression = partExpression(value);
  return (entry) => {
    chargeWork(entry, expression, entry.line);
    return finds(expression, entry.line);
  };
}

function addressTest(pattern: string): Work {
  const has = compileAddressFilter(pattern);
  return ({ line }) => has(line);
}

/** Returns the text of a template; undefined, and a label that names the error, if it fails for the line. */
function formatted(format: (entry: Entry) => string, entry: Entry): string | undefined {
  try {
    return format(entry);
  } catch (error) {
    if (!(error instanceof TemplateFault)) throw error;
    entry.labels.set("__error__", "TemplateFormatErr");
    return undefined;
  }
}

function labelFormat(renames: Extract<Stage, { kind: "label_format" }>["renames"]): Work {
  const works = renames.map(({ label, from, isText }): Work => {
    if (isText) {
      const format = compileLineFormat(from);
      return (entry) => {
        const text = formatted(format, entry);
        if (text === undefined) return true;
        entry.labels.set(label, text);
        entry.extracted.add(label);
        return true;
      };
    }
    return (entry) => {
      const value = labelOf(entry, from);
      entry.labels.delete(from);
      entry.labels.set(label, value);
      entry.extracted.add(label);
      return true;
    };
  });
  return (entry) => works.every((work) => work(entry));
}

function unwrap(label: string, conversion: string | undefined): Work {
  return (entry) => {
    const value = unwrapped(labelOf(entry, label), conversion);
    if (Number.isNaN(value)) return false;
    entry.value = value;
    entry.labels.delete(label);
    return true;
  };
}

function unwrapped(text: string, conversion: string | undefined): number {
  if (text === "") return Number.NaN;
  return conversion === undefined
    ? Number(text)
    : numberIn(text, conversion === "bytes" ? "bytes" : "duration");
}
