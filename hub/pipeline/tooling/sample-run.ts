/** Runs sample events through a pipeline's filters and returns the events as they leave it, without the steps between. */

import type { Event } from "#proto/event.ts";
import { openSamples, runAtOnce, type SimulateOptions } from "./simulate.ts";

/** What became of the samples. */
export interface SampleRun {
  /** Each event as a line of JSON, `@metadata` included where there is any. */
  readonly text: string;
  /** Why an event couldn't continue, by the sample or line that it was made of. */
  readonly refused: readonly { readonly sample: number; readonly reason: string }[];
}

/** Throws settings_invalid where the pipeline can't be used. */
export async function runSamples(options: Omit<SimulateOptions, "withSteps">): Promise<SampleRun> {
  const opened = await openSamples(options);
  const texts: string[] = [];
  const refused: { readonly sample: number; readonly reason: string }[] = [];
  for (const part of runAtOnce(opened, ({ event, sample }) => {
    const faults: { sample: number; reason: string }[] = [];
    let text = "";
    opened.compiled.program.run(event, {
      finished: (each) => {
        text += eventLine(each);
      },
      refused: (_, { message }) => faults.push({ sample, reason: message }),
    });
    return { text, faults };
  })) {
    let all = "";
    for (const { text, faults } of part) {
      all += text;
      refused.push(...faults);
    }
    texts.push(all);
  }
  return { text: texts.join(""), refused };
}

function eventLine(event: Event): string {
  const fields = event.toJson();
  if (Object.keys(event.metadata).length === 0) return `${fields}\n`;
  // An event has at least a time, so that a comma is right.
  return `${fields.slice(0, -1)},"@metadata":${JSON.stringify(event.metadata)}}\n`;
}
