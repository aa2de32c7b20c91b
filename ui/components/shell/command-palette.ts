/** Opens anything by name: pages, saved objects, indices, theme settings. */

import { msg } from "@lit/localize";
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { controls, dialogFrame } from "#ui/components/style/styles.ts";

export interface Command {
  /** What it does or where it goes. */
  readonly title: string;
  /** Its kind: `Page`, `Dashboard` … */
  readonly kind: string;
  run(): void;
}

const SHOWN = 12;

export class CommandPalette extends LitElement {
  @state() accessor _commands: readonly Command[] = [];
  @state() accessor _text = "";
  /** Number among those shown. */
  @state() accessor _chosen = 0;

  static override styles = [
    controls,
    dialogFrame,
    css`
      dialog {
        width: min(38rem, calc(100vw - 24px));
        margin-top: 12vh;
        padding: 0;
        overflow: hidden;
      }
      input {
        width: 100%;
        height: 46px;
        padding: 0 16px;
        border: 0;
        border-bottom: 1px solid var(--line);
        border-radius: 0;
        font-size: var(--text-large);
        outline-offset: -3px;
      }
      ul {
        max-height: 50vh;
        margin: 0;
        padding: 6px;
        overflow: auto;
        list-style: none;
      }
      li {
        display: flex;
        justify-content: space-between;
        gap: 16px;
        padding: 8px 10px;
        border-radius: var(--radius);
        cursor: pointer;
      }
      li[aria-selected="true"] {
        background: var(--surface-selected);
      }
      li b {
        min-width: 0;
        font-weight: 500;
        overflow-wrap: anywhere;
      }
      p {
        margin: 0;
        padding: 18px;
        color: var(--ink-muted);
      }
    `,
  ];

  /** Opens with the known commands; `more` are added when they arrive. */
  async show(commands: readonly Command[], more: Promise<readonly Command[]>): Promise<void> {
    await this.updateComplete;
    const dialog = this.renderRoot.querySelector("dialog");
    if (dialog === null || dialog.open) return;
    this._commands = commands;
    this._text = "";
    this._chosen = 0;
    await this.updateComplete;
    const input = this.renderRoot.querySelector("input")!;
    input.value = "";
    dialog.showModal();
    input.focus();
    const added = await more;
    if (!dialog.open) return;
    // The chosen command stays chosen when commands are inserted before it.
    const chosen = this.#found[this._chosen];
    this._commands = [...commands, ...added];
    this._chosen = chosen === undefined ? 0 : Math.max(0, this.#found.indexOf(chosen));
  }

  override render(): TemplateResult {
    const found = this.#found;
    return html`<dialog aria-label=${msg("Go to")} @click=${this.#onBackdrop}>
      <input type="text" role="combobox" aria-label=${msg("Go to a page, a dashboard, an index …")} placeholder=${msg("Go to a page, a dashboard, an index …")}
        aria-expanded="true" aria-controls="found" aria-autocomplete="list" autocomplete="off" spellcheck="false"
        aria-activedescendant=${found.length === 0 ? nothing : `c${this._chosen}`} @input=${this.#onInput} @keydown=${this.#onKey} />
      <ul id="found" role="listbox" aria-label=${msg("Results")} ?hidden=${found.length === 0}>
        ${found.map(
          (command, number) =>
            html`<li id="c${number}" role="option" aria-selected=${number === this._chosen} @pointermove=${() => this.#choose(number)} @click=${() => this.#run(command)}>
              <b>${command.title}</b><span class="muted">${command.kind}</span></li>`,
        )}
      </ul>
      ${found.length === 0 ? html`<p role="status">${msg("No results")}</p>` : nothing}
    </dialog>`;
  }

  get #found(): readonly Command[] {
    return findCommands(this._commands, this._text).slice(0, SHOWN);
  }

  #onInput(event: Event): void {
    this._text = (event.currentTarget as HTMLInputElement).value;
    this._chosen = 0;
  }

  #onKey(event: KeyboardEvent): void {
    const found = this.#found;
    const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (event.key === "Enter") {
      const command = found[this._chosen];
      if (command !== undefined) this.#run(command);
    } else if (step !== undefined && found.length > 0)
      this.#choose((this._chosen + step + found.length) % found.length);
    else return;
    event.preventDefault();
  }

  #choose(number: number): void {
    this._chosen = number;
    void this.updateComplete.then(() =>
      this.renderRoot.querySelector(`#c${number}`)?.scrollIntoView({ block: "nearest" }),
    );
  }

  #onBackdrop(event: MouseEvent): void {
    if (event.target === event.currentTarget) (event.currentTarget as HTMLDialogElement).close();
  }

  #run(command: Command): void {
    this.renderRoot.querySelector("dialog")?.close();
    command.run();
  }
}

/** Returns the commands that hold all words of `text`, those that begin with it first. */
export function findCommands(commands: readonly Command[], text: string): readonly Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return commands;
  const begins = (command: Command): number => (command.title.toLowerCase().startsWith(words[0]!) ? 0 : 1);
  return commands
    .filter(({ title, kind }) => {
      const name = `${title} ${kind}`.toLowerCase();
      return words.every((word) => name.includes(word));
    })
    .toSorted((a, b) => begins(a) - begins(b));
}

customElements.define("tr-command-palette", CommandPalette);

declare global {
  interface HTMLElementTagNameMap {
    "tr-command-palette": CommandPalette;
  }
}
