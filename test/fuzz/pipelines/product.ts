/** The ways in which events go through the product's pipeline. */

import { DocumentPacker } from "#hub/pipeline/batch/document-packer.ts";
import { decodeRawMessage, type MessageProcessor } from "#hub/pipeline/batch/raw-message.ts";
import { DefaultPipeline } from "#hub/pipeline/default/default-pipeline.ts";
import { PipelineSet } from "#hub/pipeline/program/pipeline-set.ts";
import { RegexpGuard } from "#hub/pipeline/regexp/regexp-guard.ts";
import { openSamples, runAtOnce, type Sampled } from "#hub/pipeline/tooling/simulate.ts";
import { parseEventObject } from "#proto/codec/json.ts";
import type { Event } from "#proto/event.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { LogBatch, type tailrace } from "#proto/messages.ts";
import type { Dice } from "../oracle/dice.ts";
import { type Hash, jsonOf, parsedJson } from "./values.ts";

/** What became of an event: those that left the pipeline, or undefined where it was refused. */
export type Outcome = readonly Hash[] | undefined;

/** Fields that the product gives each event of an agent. */
const OF_AGENTS = ["host", "shipper", "input", "event", "log"];

function definition(text: string): { id: string; files: { path: string; text: string }[] } {
  return { id: "main", files: [{ path: "oracle.conf", text }] };
}

/** Event by event, as `pipeline run` and the page do; `@metadata` is there too. */
export async function simulated(
  text: string,
  events: readonly Hash[],
  withSteps: boolean,
): Promise<Outcome[]> {
  const samples = events.map((event) => parseEventObject(jsonOf(event))!);
  const opened = await openSamples({ files: definition(text).files, samples, variables: {} });
  const run = ({ event }: Sampled): Outcome => {
    const made: Hash[] = [];
    let isRefused = false;
    opened.compiled.program.run(event, {
      finished: (each) => made.push(hashOf(each)),
      refused: () => {
        isRefused = true;
      },
      ...(withSteps && { stepped: (each: Event) => each.toJson() }),
    });
    return isRefused ? undefined : made;
  };
  return [...runAtOnce(opened, run)].flat();
}

function hashOf(event: Event): Hash {
  const made = parsedJson(event.toJson()) as Hash;
  made.set("@metadata", parsedJson(JSON.stringify(event.metadata)));
  return made;
}

/** In messages of several events, as threads get them from the log. */
export async function inMessages(text: string, events: readonly Hash[], dice: Dice): Promise<Outcome[]> {
  const set = await PipelineSet.make({
    pipelines: [definition(text)],
    fallback: new DefaultPipeline("default", systemClock),
    variables: {},
    clock: systemClock,
    guard: new RegexpGuard(),
    isChecked: true,
  });
  const outcomes: Outcome[] = [];
  for (let first = 0; first < events.length; ) {
    const count = dice.pick([1, 2, 7, events.length]);
    outcomes.push(...inMessage(set, events.slice(first, first + count)));
    first += count;
  }
  return outcomes;
}

/** Each event's offset is its number. */
function inMessage(processor: MessageProcessor, events: readonly Hash[]): Outcome[] {
  const sent: tailrace.LogEvent.$Properties[] = events.map((event, offset) => ({
    offset,
    length: 1,
    fieldsJson: Buffer.from(jsonOf(event)),
  }));
  const block = {
    source: { fileKey: "f", inputType: "log" },
    from: 0,
    to: events.length,
    readTimeMs: 1,
    events: sent,
  };
  const bytes = LogBatch.encode({ agentId: "agent", hostName: "h", block }).finish();
  const out = new DocumentPacker(16);
  processor.process(decodeRawMessage(bytes, [[0, events.length]], 1), out);
  const { documents, rejected } = out.pack();
  const refused = new Set(rejected.map(({ offset }) => offset));
  const outcomes = events.map((_, at): Hash[] | undefined => (refused.has(at) ? undefined : []));
  const text = Buffer.from(documents.bytes);
  for (const [at, end] of documents.ends.entries()) {
    const document = parsedJson(text.toString("utf8", at === 0 ? 0 : documents.ends[at - 1], end)) as Hash;
    for (const name of OF_AGENTS) document.delete(name);
    outcomes[documents.offsets![at]!]?.push(document);
  }
  return outcomes;
}
