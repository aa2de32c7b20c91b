/** One row of the live window: its elements are created once and patched when another line is shown in it. */

import { msg, str } from "@lit/localize";
import { LEVEL_NAMES, ROW_TRUNCATED } from "#proto/live.ts";
import { patchText } from "#ui/components/table/event-row.ts";
import type { TailLine } from "#ui/services/live/tail-client.ts";
import type { GapEntry, TailEntry } from "#ui/services/live/tail-log.ts";
import { splitAnsi } from "#ui/services/text/ansi.ts";
import { visibleText } from "#ui/services/text/direction.ts";
import { formatCount, formatTime } from "#ui/services/text/format.ts";
import { splitMatches } from "#ui/services/text/highlight.ts";

/** Rows show the beginning of long messages; the details show all. */
const MAX_ROW_TEXT = 2_000;

/** Properties that the rows share. */
export interface TailLook {
  readonly highlight: RegExp | undefined;
  /** Returns the colour of a line; 0: none. */
  readonly colourOf: (line: string) => number;
  readonly isUtc: boolean;
}

export class TailRow {
  readonly element = document.createElement("div");
  /** Number of its entry in the ring. */
  number = -1;
  readonly #time = span("time");
  readonly #level = span("level");
  readonly #source = span("source");
  readonly #message = span("message");
  #shown: TailEntry | undefined;

  constructor() {
    this.element.append(this.#time, this.#level, this.#source, this.#message);
  }

  /** Puts the row at `topPx` as the entry with this number. */
  place(number: number, topPx: number, isChosen: boolean): void {
    this.number = number;
    this.element.style.transform = `translateY(${topPx}px)`;
    this.element.classList.toggle("chosen", isChosen);
  }

  /** Shows an entry; changes nothing if it is shown already. */
  show(entry: TailEntry, look: TailLook): void {
    if (this.#shown === entry) return;
    this.#shown = entry;
    if ("gap" in entry) this.#showGap(entry);
    else this.#showLine(entry, look);
  }

  /** Makes the next `show` patch the row in any case. */
  forget(): void {
    this.#shown = undefined;
  }

  #showGap(entry: GapEntry): void {
    this.element.className = "row gap";
    this.element.dataset["level"] = "4";
    this.element.dataset["colour"] = "0";
    this.#time.textContent = this.#level.textContent = this.#source.textContent = "";
    this.#message.textContent = gapText(entry);
  }

  #showLine({ row, source }: TailLine, { highlight, colourOf, isUtc }: TailLook): void {
    const [, atMs, level, , text, , flags] = row;
    const [, host, path] = source;
    this.element.className = "row";
    this.element.dataset["level"] = String(level);
    this.element.dataset["colour"] = String(colourOf(text));
    patchText(this.#time, formatTime(atMs, isUtc).slice(11));
    patchText(this.#level, LEVEL_NAMES[level].slice(0, 5));
    const file = path.slice(path.lastIndexOf("/") + 1);
    patchText(this.#source, visibleText([host, file].filter((part) => part !== "").join(" · ")));
    this.#source.title = visibleText(`${host} ${path}`);
    const shown = visibleText(text.slice(0, MAX_ROW_TEXT)).replaceAll(/[\r\n\t]+/g, " ");
    const isCut = text.length > MAX_ROW_TEXT || (flags & ROW_TRUNCATED) !== 0;
    this.#showMessage(isCut ? `${shown} …` : shown, highlight);
  }

  #showMessage(text: string, highlight: RegExp | undefined): void {
    const coloured = splitAnsi(text);
    if (highlight === undefined && coloured.length === 1 && coloured[0]!.look === "") {
      patchText(this.#message, coloured[0]!.text);
      return;
    }
    this.#message.replaceChildren(
      ...coloured.flatMap(({ text: piece, look }) => {
        const pieces = splitMatches(piece, highlight).map((part) =>
          part.isMatch ? elementOf("mark", "", [part.text]) : part.text,
        );
        return look === "" ? pieces : [elementOf("span", look, pieces)];
      }),
    );
  }
}

const REASONS: Readonly<Record<string, string>> = {
  slow_client: msg("this page couldn't take them in time"),
  rate_cap: msg("more lines a second than are shown"),
  paused: msg("while paused"),
  reconnect: msg("while the connection was away"),
  hub_restart: msg("the hub has restarted"),
  other_hub: msg("another hub had more than it could send"),
};

function gapText({ gap }: GapEntry): string {
  const count =
    gap.n === 0
      ? msg("Lines may be missing here")
      : gap.n === 1
        ? msg("1 line skipped")
        : msg(str`${formatCount(gap.n)} lines skipped`);
  return msg(str`${count}: ${REASONS[gap.why] ?? gap.why}. Show in Discover`);
}

function elementOf(tag: "mark" | "span", look: string, content: readonly (string | Node)[]): HTMLElement {
  const element = document.createElement(tag);
  element.className = look;
  element.append(...content);
  return element;
}

function span(name: string): HTMLElement {
  const element = document.createElement("span");
  element.className = name;
  return element;
}
