/** A type of pipeline aggregation, as the parser knows it. */

import type { Options } from "#hub/search/options/options.ts";
import type { Pipeline } from "./pipeline.ts";

export interface PipelineType {
  /** Key in the request. */
  readonly name: string;
  /** One sentence for the reference. */
  readonly summary: string;
  readonly options: Options;
  /** `name`: that of the request, for messages. Throws parsing, request_invalid. */
  parse(body: unknown, name: string): Pipeline;
}
