/** Simulated documents: what `_simulate` prints of each. */

import { snakeCase } from "#hub/scripts/values/script-error.ts";
import {
  failureOf,
  type IngestDocument,
  PipelineCycle,
  ProcessorFault,
  type StepListener,
} from "./ingest-document.ts";
import type { IngestPipeline } from "./ingest-pipeline.ts";

/** Steps of one document that are shown. */
const MAX_STEPS = 10_000;

/**
 * Returns what `_simulate` prints of a document, its `_source` as JSON text; {failed: IngestFailure} if it failed; null if
 * it was dropped. `isLater`: with the type and the status of each processor, and without dropped documents, as servers from
 * 7.0 on print them.
 */
export function simulated(
  pipeline: IngestPipeline,
  document: IngestDocument,
  verbose: boolean,
  isLater: boolean,
): unknown {
  const steps: unknown[] = [];
  if (verbose) document.listener = stepListener(document, steps, isLater);
  let fault: Error | undefined;
  try {
    pipeline.run(document);
  } catch (error) {
    fault = error as Error;
  }
  if (verbose) return { processor_results: steps };
  if (fault !== undefined) return isLater ? shown(document, fault) : { failed: failureOf(fault) };
  return document.dropped && isLater ? null : shown(document, undefined);
}

function stepListener(document: IngestDocument, steps: unknown[], isLater: boolean): StepListener {
  /** Number of steps before each processor that called a pipeline. */
  const entered = new Map<unknown, number>();
  return (step, status, fault) => {
    if (steps.length >= MAX_STEPS) return;
    if (status === "entered") entered.set(step, steps.length);
    if (fault instanceof PipelineCycle) steps.length = entered.get(step) ?? steps.length;
    const { type, tag, description, conditionText } = step;
    const about = {
      ...(isLater && { processor_type: type, status: status === "entered" ? "success" : status }),
      ...(isLater && description !== undefined && { description }),
      ...(tag !== undefined && { tag }),
      ...(isLater &&
        conditionText !== undefined && { if: { condition: conditionText, result: status !== "skipped" } }),
    };
    if (status === "entered" || status === "skipped" || (status === "dropped" && isLater)) {
      // Those of 6.5 print only a step that has met the document.
      if (isLater) steps.push(about);
    } else if (status === "error_ignored")
      steps.push({ ...about, ignored_error: shown(document, fault), ...shown(document, undefined) });
    else if (fault instanceof PipelineCycle && !isLater) steps.push({ ...about, failed: failureOf(fault) });
    else steps.push({ ...about, ...shown(document, fault) });
  };
}

/** The type that clients get of a fault. */
function typeOf(fault: Error): string {
  const javaClass = fault instanceof ProcessorFault ? fault.javaClass : "java.lang.IllegalArgumentException";
  return snakeCase(javaClass.replace(/^.*\.|^Elasticsearch/, ""));
}

function shown(document: IngestDocument, fault: Error | undefined): object {
  if (fault !== undefined) {
    const { caused_by: inner, ...facts } = (fault instanceof ProcessorFault && fault.script) || {};
    const cause = Object.hasOwn(facts, "script")
      ? { type: "script_exception", reason: "runtime error", ...facts }
      : { type: typeOf(fault), reason: fault.message };
    return { error: { root_cause: [cause], ...cause, ...(inner !== undefined && { caused_by: inner }) } };
  }
  const { destination, ingest } = document;
  // Text, as some numbers can't be sent between threads.
  return {
    doc: {
      ...destination,
      _ingest: JSON.parse(JSON.stringify(ingest)) as unknown,
      _source: JSON.stringify(document.source),
    },
  };
}
