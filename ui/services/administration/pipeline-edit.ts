/** The text of a pipeline while it is changed, and its draft in the browser. */

import {
  newDraftName,
  type PipelineDraft,
  readPipelineDraft,
  removePipelineDraft,
  writePipelineDraft,
} from "./pipeline-drafts.ts";

export interface EditedPipeline {
  /** Name of the account; undefined: unknown, and no draft is kept. */
  readonly account: string | undefined;
  /** Name of the pipeline; "": a new one. */
  readonly name: string;
  /** Expression that a new pipeline begins with; "": none. */
  readonly grok: string;
  /** Text that is changed. */
  readonly text: string;
  /** Revision of the stored pipeline; 0: a new one. */
  readonly revision: number;
}

export class PipelineEdit {
  readonly #account: string | undefined;
  /** Name of the draft. */
  #name: string;
  /** The text that is changed. */
  #first: string;
  /** Revision of the stored pipeline when this edit began or was saved. */
  #stored: number;
  /** Revision at which the changes began. */
  #revision: number;
  #text: string;
  #isKept = true;

  /** Begins with the draft, if there is one. */
  constructor({ account, name, grok, text, revision }: EditedPipeline) {
    this.#account = account;
    this.#name = name === "" ? newDraftName(grok) : name;
    this.#first = text;
    this.#stored = revision;
    const draft = this.#draft();
    this.#text = draft?.text ?? text;
    this.#revision = this.isDraft ? draft!.revision : revision;
  }

  get text(): string {
    return this.#text;
  }

  /** True while the text differs from the one that is changed. */
  get isDraft(): boolean {
    return this.#text !== this.#first;
  }

  /** False if the browser can't keep the draft. */
  get isKept(): boolean {
    return this.#isKept;
  }

  /** True if the stored pipeline was changed after the draft of it began. */
  get isOutdated(): boolean {
    return this.isDraft && this.#revision !== this.#stored;
  }

  change(text: string): void {
    this.#text = text;
    this.#keep();
  }

  discard(): void {
    this.change(this.#first);
  }

  /** Takes note that `text` is stored under `name`. What was changed while it was saved becomes the draft of that name. */
  saved(name: string, text: string, revision: number): void {
    this.#forget();
    this.#name = name;
    this.#first = text;
    this.#revision = this.#stored = revision;
    this.#keep();
  }

  #keep(): void {
    if (this.isDraft) {
      const draft = { name: this.#name, revision: this.#revision, text: this.#text };
      this.#isKept = this.#account !== undefined && writePipelineDraft({ ...draft, account: this.#account });
      return;
    }
    this.#forget();
    this.#revision = this.#stored;
  }

  #draft(): PipelineDraft | undefined {
    return this.#account === undefined
      ? undefined
      : readPipelineDraft({ account: this.#account, name: this.#name });
  }

  #forget(): void {
    if (this.#account !== undefined) removePipelineDraft({ account: this.#account, name: this.#name });
  }
}
