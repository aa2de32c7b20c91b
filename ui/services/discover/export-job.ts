/** An export that runs in the background: its progress and its result. */

import { saveFile } from "#ui/services/browser/save-file.ts";
import { toHubError } from "#ui/services/hub/json-call.ts";
import { type Exported, type ExportFormat, type ExportOptions, exportLines } from "./export.ts";

/** The search whose lines are written. */
export type ExportRequest = Pick<ExportOptions, "client" | "state" | "range" | "format">;

/** State of a job. */
export type ExportState =
  | { readonly name: "running"; readonly written: number; readonly total: number }
  | ({ readonly name: "done" } & Exported)
  | { readonly name: "cancelled" }
  | { readonly name: "failed"; readonly reason: string };

type SaveFile = typeof saveFile;

const TYPES: Readonly<Record<ExportFormat, string>> = { csv: "text/csv", ndjson: "application/x-ndjson" };

export class ExportJob {
  /** Of its file, without its ending. */
  readonly title: string;
  readonly #request: ExportRequest;
  readonly #onChange: () => void;
  readonly #save: SaveFile;
  readonly #abort = new AbortController();
  #state: ExportState = { name: "running", written: 0, total: 0 };

  constructor(request: ExportRequest, onChange: () => void, save: SaveFile = saveFile) {
    const moment = new Date(request.range.toMs).toISOString().slice(0, 16).replaceAll(/[:T]/g, "-");
    this.title = `logs-${moment}`;
    this.#request = request;
    this.#onChange = onChange;
    this.#save = save;
  }

  get state(): ExportState {
    return this.#state;
  }

  /** Writes the files; resolves when the job has ended, with or without success. */
  async run(): Promise<void> {
    const { signal } = this.#abort;
    const { format } = this.#request;
    try {
      const result = await exportLines({
        ...this.#request,
        signal,
        onProgress: (written, total) => this.#become({ name: "running", written, total }),
        onFile: (parts, number, isLast) => {
          const ending = number === 1 && isLast ? format : `${number}.${format}`;
          this.#save(`${this.title}.${ending}`, TYPES[format], parts);
        },
      });
      this.#become({ name: "done", ...result });
    } catch (error) {
      this.#become(
        signal.aborted ? { name: "cancelled" } : { name: "failed", reason: toHubError(error).message },
      );
    }
  }

  cancel(): void {
    this.#abort.abort();
  }

  #become(state: ExportState): void {
    this.#state = state;
    this.#onChange();
  }
}
