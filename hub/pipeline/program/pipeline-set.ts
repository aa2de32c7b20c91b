/** All pipelines of a hub in one thread: each message passes through those it is meant for. */

import type { DocumentPacker } from "#hub/pipeline/batch/document-packer.ts";
import type { PipelineStatistics } from "#hub/pipeline/batch/plugin-statistics.ts";
import type { MessageProcessor, RawMessage } from "#hub/pipeline/batch/raw-message.ts";
import { type PipelineDefinition, sourceText } from "#hub/pipeline/language/pipeline-definition.ts";
import type { Variables } from "#hub/pipeline/language/plugin-options.ts";
import type { RegexpGuard } from "#hub/pipeline/regexp/regexp-guard.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { loadPlugins } from "./compile.ts";
import { ConfiguredPipeline } from "./configured-pipeline.ts";

export interface PipelineSetOptions {
  readonly pipelines: readonly PipelineDefinition[];
  /** Takes what no pipeline takes. */
  readonly fallback: MessageProcessor;
  readonly variables: Variables;
  readonly clock: Clock;
  readonly guard: RegexpGuard;
  /** True: the pipelines were compiled without fault before, in another thread. */
  readonly isChecked?: boolean;
}

export class PipelineSet implements MessageProcessor {
  readonly #fallback: MessageProcessor;
  readonly #pipelines: readonly ConfiguredPipeline[];
  readonly #ofAgents: readonly ConfiguredPipeline[];

  /** Loads what the pipelines name and compiles them. Throws settings_invalid. */
  static async make(options: PipelineSetOptions): Promise<PipelineSet> {
    const files = options.pipelines.flatMap((pipeline) => pipeline.files);
    await loadPlugins(files.map(sourceText));
    return new PipelineSet(options);
  }

  private constructor(options: PipelineSetOptions) {
    const { pipelines, fallback, variables, clock, guard, isChecked = false } = options;
    let firstOutput = 0;
    this.#fallback = fallback;
    this.#pipelines = pipelines.map(({ id, files, ecsCompatibility }) => {
      const sources = files.map(sourceText);
      const made = new ConfiguredPipeline({
        id,
        sources,
        variables,
        clock,
        guard,
        isChecked,
        firstOutput,
        ...(ecsCompatibility !== undefined && { ecsCompatibility }),
      });
      firstOutput += made.outputs;
      return made;
    });
    this.#ofAgents = this.#pipelines.filter(({ takesAgents }) => takesAgents);
  }

  /**
   * An agent's message goes through every pipeline that takes agents' events, an input's through its own. Messages that no pipeline
   * takes (an input's last events, after its pipeline was removed) go through the default pipeline.
   */
  process(message: RawMessage, out: DocumentPacker): void {
    const { pipelineId } = message;
    const targets =
      pipelineId === "" ? this.#ofAgents : this.#pipelines.filter(({ id }) => id === pipelineId);
    if (targets.length === 0) this.#fallback.process(message, out);
    for (const [place, pipeline] of targets.entries()) {
      if (place > 0) out.beginPipeline(place);
      pipeline.process(message, out);
    }
  }

  /** True where a filter keeps something of events for later ones. */
  get isStateful(): boolean {
    return this.#pipelines.some((pipeline) => pipeline.isStateful);
  }

  /** Flushes the filters that keep events. */
  flush(out: DocumentPacker): void {
    for (const pipeline of this.#pipelines) pipeline.flush(out);
  }

  /** Sequence of the oldest message that a filter still needs; undefined: none is needed. */
  heldSequence(): number | undefined {
    const held = this.#pipelines
      .map((pipeline) => pipeline.heldSequence())
      .filter((each) => each !== undefined);
    return held.length === 0 ? undefined : Math.min(...held);
  }

  takeStatistics(): PipelineStatistics[] {
    return this.#pipelines
      .map((pipeline) => ({ pipeline: pipeline.id, plugins: pipeline.takeStatistics() }))
      .filter(({ plugins }) => plugins.length > 0);
  }
}
