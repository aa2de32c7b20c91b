/** Exports a chart as an image: its title, plot and legend. */

import { colourReader } from "#ui/services/browser/theme.ts";

/** Properties that style sheets set for an SVG's elements. */
const DRAWN = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "font-family",
  "font-size",
  "font-weight",
] as const;
/** Pixels for each of the page's: as sharp as sharp screens. */
const SCALE = 2;
const TITLE_PX = 30;
const LEGEND_ROW_PX = 20;
const KEY_PX = 10;
const MARGIN_PX = 10;

/** Characters that XML forbids: control characters, and halves of a surrogate pair that a cut left. */
const FORBIDDEN = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

export interface LegendItem {
  readonly text: string;
  /** In CSS notation. */
  readonly colour: string;
}

/** Returns a PNG in the colours of the theme. Throws where the browser can't draw it. */
export async function chartImage(
  chart: SVGSVGElement,
  title: string,
  legend: readonly LegendItem[],
): Promise<Blob> {
  const { width, height } = chart.viewBox.baseVal;
  const image = await svgImage(chart);
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d")!;
  const { fontFamily } = getComputedStyle(chart);
  const small = `12px ${fontFamily}`;
  context.font = small;
  const rows = legendRows(legend, width, (text) => context.measureText(text).width);
  const wholePx = TITLE_PX + height + rows.length * LEGEND_ROW_PX + MARGIN_PX;
  canvas.width = width * SCALE;
  canvas.height = wholePx * SCALE;
  const colour = colourReader(chart);
  context.scale(SCALE, SCALE);
  context.fillStyle = colour("--surface");
  context.fillRect(0, 0, width, wholePx);
  context.drawImage(image, 0, TITLE_PX, width, height);
  context.fillStyle = colour("--ink");
  context.font = `600 14px ${fontFamily}`;
  context.fillText(title, MARGIN_PX, 20, width - 2 * MARGIN_PX);
  context.font = small;
  for (const [row, items] of rows.entries())
    for (const { leftPx, item } of items) {
      const topPx = TITLE_PX + height + row * LEGEND_ROW_PX;
      context.fillStyle = item.colour;
      context.fillRect(leftPx, topPx + 4, KEY_PX, KEY_PX);
      context.fillStyle = colour("--ink");
      context.fillText(item.text, leftPx + KEY_PX + 5, topPx + 13);
    }
  return canvasBlob(canvas);
}

/** Returns a PNG of a canvas. Throws where the browser can't make it. */
export function canvasBlob(canvas: HTMLCanvasElement): Promise<Blob> {
  return new Promise((resolve, reject) => {
    const take = (blob: Blob | null): void =>
      blob === null ? reject(new Error("the browser made no picture")) : resolve(blob);
    canvas.toBlob(take, "image/png");
  });
}

/** Returns what an SVG of the page shows as an image of its size. */
export async function svgImage(drawn: SVGSVGElement): Promise<HTMLImageElement> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(styledText(drawn))}`;
  await image.decode();
  return image;
}

/** Returns a copy's text whose elements carry what style sheets give them: those aren't there in an image. */
function styledText(chart: SVGSVGElement): string {
  const copy = chart.cloneNode(true) as SVGSVGElement;
  const copies = copy.querySelectorAll("*");
  for (const [at, element] of [...chart.querySelectorAll("*")].entries()) {
    const style = getComputedStyle(element);
    for (const name of DRAWN) copies[at]!.setAttribute(name, style.getPropertyValue(name));
  }
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  // The page's style sheet may be the only source of its size.
  const { width, height } = chart.getBoundingClientRect();
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  // A label with a terminal's colour code would make the image invalid.
  return xmlText(new XMLSerializer().serializeToString(copy));
}

interface PlacedItem {
  readonly leftPx: number;
  readonly item: LegendItem;
}

/** Returns the legend's items in rows that fit the width. */
function legendRows(
  legend: readonly LegendItem[],
  width: number,
  measure: (text: string) => number,
): PlacedItem[][] {
  const rows: PlacedItem[][] = [];
  let leftPx = Number.POSITIVE_INFINITY;
  for (const item of legend) {
    const itemPx = KEY_PX + 5 + measure(item.text) + 18;
    if (leftPx + itemPx > width - MARGIN_PX) {
      rows.push([]);
      leftPx = MARGIN_PX;
    }
    rows.at(-1)!.push({ leftPx, item });
    leftPx += itemPx;
  }
  return rows;
}

/** Returns the text with a replacement character for each that XML forbids: log lines may contain any. */
export function xmlText(text: string): string {
  return text.replaceAll(FORBIDDEN, "\uFFFD");
}
