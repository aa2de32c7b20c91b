/** Colours of series by their names, so that a value keeps its colour when its rank changes. */

import { levelOf } from "#proto/live.ts";

/** Colours there are (`--series-1` …); further series use them again. */
export const SERIES_COLOURS = 10;
/** Colours of levels, from trace to fatal: the same in every chart. */
const LEVEL_COLOURS = [9, 2, 8, 5, 7, 3] as const;

/** Returns a colour for each name, from 0. Names that would share a colour take free ones, in the order of the names. */
export function seriesColours(names: readonly string[]): number[] {
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
  if (names.length === 1 && taken.size === 0) return [0];
  for (const name of names.filter((one) => !colours.has(one)).toSorted()) {
    let colour = hashOf(name) % SERIES_COLOURS;
    for (let tries = 0; taken.has(colour) && tries < SERIES_COLOURS; tries++)
      colour = (colour + 1) % SERIES_COLOURS;
    give(name, colour);
  }
  return names.map((name) => colours.get(name)!);
}

/** FNV-1a over UTF-16 units. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
