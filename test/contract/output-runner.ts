/** Runs one output: events are shaped, then written. */

import { SourceText } from "#hub/pipeline/language/syntax-tree.ts";
import type { OutputRecord, OutputWriter, WriteRest, WriterContext } from "#hub/pipeline/plugins/output.ts";
import { compilePipeline, loadAllPlugins } from "#hub/pipeline/program/compile.ts";
import { RegexpGuard } from "#hub/pipeline/regexp/regexp-guard.ts";
import { Event } from "#proto/event.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { silentLogger } from "#proto/kit/log.ts";

await loadAllPlugins();

export class OutputWorld {
  readonly fed: { readonly address: string; readonly records: readonly OutputRecord[] }[] = [];
  /** Why events were refused before they were written. */
  readonly refused: string[] = [];
  readonly writer: OutputWriter;
  readonly #shape: (event: Event) => OutputRecord | undefined;
  #place = 0;

  /** Makes the output of a pipeline's text `name { … }`; throws where it has faults. */
  constructor(text: string, folder = "/") {
    const compiled = compilePipeline([new SourceText("output.conf", `output { ${text} }`)], {
      variables: {},
      clock: systemClock,
      random: Math.random,
      guard: new RegexpGuard(),
    });
    const [fault] = compiled.diagnostics;
    if (fault !== undefined) throw new Error(`${fault.message}; ${fault.hint}`);
    const output = compiled.outputs[0]!;
    this.writer = output.makeWriter(this.#context(folder))!;
    this.#shape = (event) => {
      if (!("shape" in output.shaper)) throw new Error("the output routes documents");
      const record = output.shaper.shape(event);
      if (record === undefined) return undefined;
      if ("refused" in record) {
        this.refused.push(record.refused);
        return undefined;
      }
      const place = this.#place++;
      return { ...record, id: `id-${place}`, sourceKey: "s", place, timeMs: event.timeMs };
    };
  }

  /** Shapes and writes events of these fields. */
  write(
    events: readonly Record<string, unknown>[],
    signal: AbortSignal = new AbortController().signal,
  ): Promise<WriteRest | undefined> {
    const records = events.map((fields) => this.#shape(new Event(structuredClone(fields), 0)));
    return this.writer.write(
      records.filter((record) => record !== undefined),
      signal,
    );
  }

  #context(folder: string): WriterContext {
    return {
      id: "test",
      log: silentLogger(),
      clock: systemClock,
      bearer: async (connection, _host, rejected) =>
        rejected === undefined ? `token-of-${connection}` : `renewed-${rejected}`,
      feed: async (address, records) => {
        if (address === "nobody") throw new AppError("unavailable", "no such pipeline");
        this.fed.push({ address, records });
      },
      writablePath: (path) => `${folder}/${path}`,
      checkTarget: (host) => {
        if (host === "forbidden.example") throw new AppError("forbidden", "this host isn't allowed");
      },
    };
  }
}
