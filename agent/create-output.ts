/** Makes the output that the settings enable. */

import { resolve } from "node:path";
import type { Output } from "#agent/contract/output.ts";
import { consoleSink, FileSink, LinesOutput } from "#agent/outputs/json-lines.ts";
import { SearchOutput, type SearchOutputOptions } from "#agent/outputs/search.ts";
import type { AgentSettings } from "#agent/settings/config.ts";

/** Returns the path of the output to a file, null for other outputs. */
export function outputFileOf({ file, output }: AgentSettings): string | null {
  if (output !== "file") return null;
  return resolve(file["output.file.path"] ?? ".", file["output.file.filename"]);
}

/** Returns the search, file or console output; null for `pipeline`. `onClosed`: the reader of standard output is gone. */
export function createDirectOutput(
  settings: AgentSettings,
  common: Omit<SearchOutputOptions, "settings" | "timeoutMs">,
  onClosed: () => void,
): Output | null {
  const { file, output } = settings;
  switch (output) {
    case "pipeline":
      return null;
    case "search":
      return new SearchOutput({
        ...common,
        timeoutMs: settings.searchTimeoutMs,
        settings: {
          hosts: file["output.search.hosts"],
          index: file["output.search.index"],
          username: file["output.search.username"],
          password: file["output.search.password"],
          apiKey: file["output.search.api_key"],
          bearerToken: file["output.search.bearer_token"],
          gzip: file["output.search.compression"] === "gzip",
          tlsCa: file["output.search.tls.ca"],
        },
      });
    case "file": {
      const sink = new FileSink({
        folder: file["output.file.path"] ?? ".",
        name: file["output.file.filename"],
        rotateBytes: settings.rotateBytes,
        files: file["output.file.number_of_files"],
      });
      return new LinesOutput({ ...common, sink });
    }
    case "console":
      return new LinesOutput({ ...common, sink: consoleSink, onClosed });
  }
}
