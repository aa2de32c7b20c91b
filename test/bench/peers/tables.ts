/** The measured stores as tables in Markdown. */

import { MIB } from "#proto/kit/units.ts";
import type { QuestionFigures, StoreFigures } from "./measure.ts";
import type { ShipperFigures } from "./shippers.ts";

/** What was measured in one run. */
export interface Comparison {
  readonly documents: number;
  readonly stores: readonly StoreFigures[];
  readonly shippers: readonly ShipperFigures[];
}

export function tablesOf({ documents, stores, shippers }: Comparison): string {
  const count = documents.toLocaleString("en");
  const parts = [
    `Access logs of one run, ${count} documents, one store after the other; – was not measured.`,
    table(
      ["store", "documents per CPU-second", "s until found", "memory, MiB", "disk, MiB"],
      stores.map(({ name, ingest }) => [
        name,
        whole(ingest.perCpuSecond),
        ingest.wallSeconds.toFixed(1),
        whole(mebibytes(ingest.memoryBytes)),
        whole(mebibytes(ingest.diskBytes)),
      ]),
    ),
    "CPU-ms for each asking over HTTP, warm:",
    questionTable(stores, ({ cpuMs }) => short(cpuMs)),
    "ms until the answer, median of warm askings (the first one):",
    questionTable(stores, ({ medianMs, firstMs }) => `${short(medianMs)} (${short(firstMs)})`),
  ];
  if (shippers.length > 0) {
    parts.push(
      "Shippers, from a file of access lines into bulk requests:",
      table(
        ["shipper", "lines per CPU-second", "memory, MiB"],
        shippers.map(({ name, perCpuSecond, memoryMib }) => [name, whole(perCpuSecond), whole(memoryMib)]),
      ),
    );
  }
  return `${[...parts, ...differences(stores)].join("\n\n")}\n`;
}

function questionTable(stores: readonly StoreFigures[], cell: (figures: QuestionFigures) => string): string {
  const questions = stores[0]?.questions ?? [];
  return table(
    ["question", ...stores.map(({ name }) => name)],
    questions.map(({ name }, number) => [name, ...stores.map((store) => cell(store.questions[number]!))]),
  );
}

function differences(stores: readonly StoreFigures[]): string[] {
  return stores.flatMap((store) =>
    store.questions
      .filter(({ differs }) => differs !== undefined)
      .map(
        ({ name, differs }) =>
          `${store.name} answered “${name}” with ${differs}, which is not what was sent.`,
      ),
  );
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

const mebibytes = (bytes: number | undefined): number | undefined =>
  bytes === undefined ? undefined : bytes / MIB;
const whole = (value: number | undefined): string =>
  value === undefined ? "–" : Math.round(value).toLocaleString("en");
const short = (value: number | undefined): string =>
  value === undefined ? "–" : value < 10 ? value.toFixed(1) : whole(value);
