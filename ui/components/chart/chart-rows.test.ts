import assert from "node:assert/strict";
import { test } from "node:test";
import type { SVGTemplateResult } from "lit";
import { DEFAULT_LOOK } from "#ui/services/visualise/chart-look.ts";
import type { ChartData } from "#ui/services/visualise/series.ts";
import { areaPath, besideEachOther } from "./chart-plots.ts";
import { plotRows } from "./chart-rows.ts";

const VALUES = [30, -10, undefined];
const DATA: ChartData = {
  isTime: false,
  isUtc: true,
  isAdditive: false,
  groups: VALUES.map((_, at) => ({ key: `k${at}`, label: `k${at}`, part: "value" })),
  series: [{ name: "s", value: "s", part: "value", values: VALUES }],
  total: undefined,
};

/** Returns what a template puts into its markup, in order. */
function valuesOf(template: unknown): readonly unknown[] {
  if (Array.isArray(template)) return template.flatMap(valuesOf);
  const isTemplate = typeof template === "object" && template !== null && "values" in template;
  return isTemplate ? (template as SVGTemplateResult).values.flatMap(valuesOf) : [template];
}

for (const isLog of [false, true])
  test(`rows say negative numbers and those that weren't measured, ${isLog ? "logarithmic" : "linear"}`, () => {
    const values = valuesOf(
      plotRows(DATA, { width: 600, height: 200 }, { ...DEFAULT_LOOK, isLog }, undefined),
    );
    for (const text of ["30", "-10", "–"]) assert.ok(values.includes(text), text);
    const lengths = values.filter((value) => typeof value === "number");
    assert.ok(
      lengths.every((length) => length >= 0 && length <= 600),
      lengths.join(),
    );
  });

test("rows have lines at the limits, which the scale reaches", () => {
  const look = { ...DEFAULT_LOOK, limits: [20, 60] };
  const values = valuesOf(plotRows(DATA, { width: 600, height: 200 }, look, undefined));
  const [warning, error] = [values.indexOf(1), values.lastIndexOf(2)];
  assert.ok(warning > 0 && error > warning);
  assert.ok(Number(values[warning + 1]) < Number(values[error + 1]));
});

test("an area ends where nothing was measured, and begins again behind it", () => {
  const values = [undefined, 4, 2, undefined, 3, undefined];
  const [layer] = besideEachOther({ ...DATA, series: [{ ...DATA.series[0]!, values }] });
  const path = areaPath(
    layer!,
    (group) => group * 10,
    (value) => 100 - value,
  );
  assert.equal(path, "M10 96L20 98L20 100L10 100zM40 97L40 100z");
});
