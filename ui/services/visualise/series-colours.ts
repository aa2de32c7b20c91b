/** Colours of series by their names, so that a value keeps its colour when its rank changes. */

import { levelOf } from "#proto/live.ts";
import { hashOf } from "#ui/services/text/hash.ts";
import type { Part } from "./series.ts";

/** Colours there are (`--series-1` …); further series use them again. */
export const SERIES_COLOURS = 10;
/** Colours of levels, from trace to fatal: the same in every chart. */
const LEVEL_COLOURS = [9, 2, 8, 5, 7, 3] as const;

/** Colours of HTTP statuses, by their first digit less one: 2xx calm, 4xx as a warning, 5xx as an error. */
const STATUS_COLOURS = [9, 0, 8, 5, 7] as const;
const STATUS = /^[1-5]\d\d$/;
/** What isn't a value of the field: grey. */
export const MISSING_COLOUR = SERIES_COLOURS + 1;
export const OTHERS_COLOUR = SERIES_COLOURS + 2;

/** What a colour is chosen by. */
export interface Coloured {
  readonly name: string;
  readonly part: Part;
}

/**
 * Returns a colour for each series, from 0; MISSING_COLOUR and OTHERS_COLOUR for those that aren't values. Names that would
 * share a colour take free ones, in the order of the names.
 */
export function seriesColours(series: readonly Coloured[]): number[] {
  const colours = valueColours(series.filter(({ part }) => part === "value").map(({ name }) => name));
  return series.map(({ part }) => {
    if (part !== "value") return part === "missing" ? MISSING_COLOUR : OTHERS_COLOUR;
    return colours.shift()!;
  });
}

function valueColours(names: readonly string[]): number[] {
  const colours = new Map<string, number>();
  const taken = new Set<number>();
  const give = (name: string, colour: number): void => {
    colours.set(name, colour);
    taken.add(colour);
  };
  for (const name of names) {
    const level = levelOf(name);
    if (level !== 0) give(name, LEVEL_COLOURS[level - 1]!);
  }
  for (const name of names.filter((one) => STATUS.test(one)).toSorted()) {
    const colour = STATUS_COLOURS[Number(name[0]) - 1]!;
    if (!taken.has(colour)) give(name, colour);
  }
  if (names.length === 1 && taken.size === 0) return [0];
  for (const name of names.filter((one) => !colours.has(one)).toSorted()) {
    let colour = hashOf(name) % SERIES_COLOURS;
    for (let tries = 0; taken.has(colour) && tries < SERIES_COLOURS; tries++)
      colour = (colour + 1) % SERIES_COLOURS;
    give(name, colour);
  }
  return names.map((name) => colours.get(name)!);
}
