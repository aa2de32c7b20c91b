/** The definition of a pipeline: its files and its own settings. */

import { SourceText } from "./syntax-tree.ts";

/** Field names by the Elastic Common Schema, or those of before. */
export const ECS_COMPATIBILITIES = ["disabled", "v1", "v8"] as const;

export type EcsCompatibility = (typeof ECS_COMPATIBILITIES)[number];

/** A pipeline as it is configured. */
export interface PipelineDefinition {
  /** Goes into the documents' ids. */
  readonly id: string;
  /** In their order, at least one. */
  readonly files: readonly PipelineFile[];
  /** pipeline.workers of its own; the threads are all pipelines', and the largest number counts. */
  readonly workers?: number;
  /** What plugins whose text doesn't say name fields by; without it each as it does by itself. */
  readonly ecsCompatibility?: EcsCompatibility;
  /** True: made through the hub interface, so that it may connect only where the settings allow. */
  readonly isManaged?: boolean;
}

/** A file of a pipeline. */
export interface PipelineFile {
  /** Its path, for messages and for paths in its options. */
  readonly path: string;
  readonly text: string;
  /** config.support_escapes: a backslash in quotes begins an escape sequence. */
  readonly hasEscapes?: boolean;
}

/** Returns the text of a file for the parser. */
export function sourceText({ path, text, hasEscapes = false }: PipelineFile): SourceText {
  return new SourceText(path, text, hasEscapes);
}
