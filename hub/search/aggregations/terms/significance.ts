/** Heuristics of `significant_terms`: how much more frequent a term is in a set of documents than in all. */

import { readScript } from "#hub/scripts/script.ts";
import { toDouble } from "#hub/scripts/values/operators.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

/** Documents of the set and of all, with and without the term. */
export interface Frequencies {
  readonly inSet: number;
  readonly setSize: number;
  readonly inAll: number;
  readonly allSize: number;
}

/** Makes a score; the larger the more significant, 0 and below not at all. */
export type Heuristic = (frequencies: Frequencies) => number;

/** Factories of heuristics by the option's key. */
const HEURISTICS: Readonly<Record<string, (options: JsonObject) => Heuristic>> = {
  jlh: () => jlh,
  percentage:
    () =>
    ({ inSet, inAll }) =>
      inAll === 0 ? 0 : inSet / inAll,
  chi_square: (options) => (frequencies) => chiSquare(frequencies, options),
  mutual_information: (options) => (frequencies) => mutualInformation(frequencies, options),
  gnd: () => googleDistance,
  script_heuristic: scriptHeuristic,
};

export const HEURISTIC_NAMES: readonly string[] = Object.keys(HEURISTICS);

/** Returns the heuristic that an aggregation's options name; jlh without one. Throws parsing. */
export function heuristicOf(given: JsonObject): Heuristic {
  const name = HEURISTIC_NAMES.find((each) => given[each] !== undefined);
  if (name === undefined) return jlh;
  const options = given[name];
  if (!isObject(options)) throw new AppError("parsing", `[${name}] must be an object`);
  return HEURISTICS[name]!(options);
}

/** Absolute times relative change of the share. */
function jlh({ inSet, setSize, inAll, allSize }: Frequencies): number {
  if (setSize === 0 || allSize === 0) return 0;
  const share = inSet / setSize;
  const background = Math.max(1, inAll) / allSize;
  return share <= background ? 0 : (share - background) * (share / background);
}

/** A script that sees the frequencies as params; as in 6.5 they are whole numbers. */
function scriptHeuristic(options: JsonObject): Heuristic {
  const script = readScript(options["script"], ["params"], { expressions: "number", hasLateParams: true });
  return ({ inSet, setSize, inAll, allSize }) =>
    toDouble(
      script.compiled.run([
        {
          ...script.params,
          _subset_freq: inSet,
          _subset_size: setSize,
          _superset_freq: inAll,
          _superset_size: allSize,
        },
      ]),
    );
}

interface Table {
  readonly n11: number;
  readonly n10: number;
  readonly n01: number;
  readonly n00: number;
  readonly total: number;
}

/** With `background_is_superset` (the default) all includes the set. */
function tableOf({ inSet, setSize, inAll, allSize }: Frequencies, options: JsonObject): Table {
  const superset = options["background_is_superset"] !== false;
  const n01 = superset ? inAll - inSet : inAll;
  const n00 = superset ? allSize - setSize - n01 : allSize - inAll;
  const table = { n11: inSet, n10: setSize - inSet, n01: Math.max(0, n01), n00: Math.max(0, n00) };
  return { ...table, total: table.n11 + table.n10 + table.n01 + table.n00 };
}

function isRarer({ n11, n10, n01, n00 }: Table, options: JsonObject): boolean {
  if (options["include_negatives"] === true) return false;
  return n11 / (n11 + n10) < n01 / (n01 + n00);
}

function chiSquare(frequencies: Frequencies, options: JsonObject): number {
  const table = tableOf(frequencies, options);
  if (isRarer(table, options)) return Number.NEGATIVE_INFINITY;
  const { n11, n10, n01, n00, total } = table;
  const divisor = (n11 + n01) * (n11 + n10) * (n00 + n01) * (n00 + n10);
  return divisor === 0 ? 0 : (total * (n11 * n00 - n01 * n10) ** 2) / divisor;
}

function mutualInformation(frequencies: Frequencies, options: JsonObject): number {
  const table = tableOf(frequencies, options);
  if (isRarer(table, options)) return Number.NEGATIVE_INFINITY;
  const { n11, n10, n01, n00, total } = table;
  const part = (count: number, row: number, column: number): number =>
    count === 0 ? 0 : (count / total) * Math.log2((total * count) / (row * column));
  return (
    part(n11, n11 + n10, n11 + n01) +
    part(n01, n01 + n00, n11 + n01) +
    part(n10, n11 + n10, n10 + n00) +
    part(n00, n01 + n00, n10 + n00)
  );
}

/** Normalised google distance, turned round so that near is large. */
function googleDistance({ inSet, setSize, inAll, allSize }: Frequencies): number {
  if (inSet === 0) return 0;
  const [fx, fy, fxy] = [Math.log(setSize), Math.log(Math.max(inAll, inSet)), Math.log(inSet)];
  const distance = (Math.max(fx, fy) - fxy) / (Math.log(allSize) - Math.min(fx, fy));
  return Number.isNaN(distance) ? 1 : Math.exp(-distance);
}
