/**
 * Exports a part of the page as an image: backgrounds, borders, charts and texts at their positions, in the colours of
 * the theme. Browsers have no API for screenshots of a page.
 */

import { colourReader } from "#ui/services/browser/theme.ts";

type ChartImage = typeof import("./chart-image.ts");

/** Pixels for each of the page's: as sharp as sharp screens. */
const SCALE = 2;
/** Browsers draw no larger canvas, pixels along a side. */
const MAX_SIDE_PX = 16_000;
const TITLE_PX = 52;
const MARGIN_PX = 14;
/** Maximum number of words drawn of one part; tables may hold more than can be read. */
const MAX_WORDS = 20_000;
/** Only useful on the page. */
const UNDRAWN = ".reading, .corner, .hidden-text, [popover], script, style";

/** Returns a PNG of all of `part`, also what is scrolled out of sight, below a title and a line. Throws where it can't be drawn. */
export async function elementImage(part: HTMLElement, title: string, line: string): Promise<Blob> {
  const { left, top, width } = part.getBoundingClientRect();
  const heightPx = part.scrollHeight + TITLE_PX;
  const scale = Math.min(SCALE, MAX_SIDE_PX / heightPx, MAX_SIDE_PX / width);
  const canvas = document.createElement("canvas");
  canvas.width = Math.floor(width * scale);
  canvas.height = Math.floor(heightPx * scale);
  const context = canvas.getContext("2d")!;
  const colour = colourReader(part);
  const { fontFamily } = getComputedStyle(part);
  context.scale(scale, scale);
  context.fillStyle = colour("--canvas");
  context.fillRect(0, 0, width, heightPx);
  context.fillStyle = colour("--ink");
  context.font = `600 17px ${fontFamily}`;
  context.fillText(title, MARGIN_PX, 24, width - 2 * MARGIN_PX);
  context.fillStyle = colour("--ink-muted");
  context.font = `12px ${fontFamily}`;
  context.fillText(line, MARGIN_PX, 43, width - 2 * MARGIN_PX);
  context.translate(-left, TITLE_PX - top + part.scrollTop);
  // Charts load it by themselves: a part of the pages is loaded at once or later, never both.
  const charts = await import("./chart-image.ts");
  await new ElementDrawing(context, charts).drawInner(part);
  return charts.canvasBlob(canvas);
}

/** Draws in the window's coordinates. */
class ElementDrawing {
  readonly #context: CanvasRenderingContext2D;
  readonly #charts: ChartImage;
  #words = 0;

  constructor(context: CanvasRenderingContext2D, charts: ChartImage) {
    this.#context = context;
    this.#charts = charts;
  }

  async drawInner(parent: Element): Promise<void> {
    const nodes =
      parent instanceof HTMLSlotElement
        ? parent.assignedNodes({ flatten: true })
        : (parent.shadowRoot ?? parent).childNodes;
    for (const node of nodes)
      if (node instanceof Element) await this.#draw(node);
      else if (node instanceof Text) this.#write(node, parent);
  }

  async #draw(element: Element): Promise<void> {
    const style = getComputedStyle(element);
    if (element.matches(UNDRAWN) || style.display === "none" || style.visibility === "hidden") return;
    const box = element.getBoundingClientRect();
    const context = this.#context;
    context.save();
    context.globalAlpha *= Number(style.opacity);
    if (style.display !== "contents") this.#paint(box, style);
    if (style.overflowX !== "visible") {
      context.beginPath();
      context.rect(box.left, box.top, box.width, box.height);
      context.clip();
    }
    if (element instanceof SVGSVGElement) {
      if (box.width > 0 && box.height > 0)
        context.drawImage(await this.#charts.svgImage(element), box.left, box.top, box.width, box.height);
    } else if (element instanceof HTMLCanvasElement)
      context.drawImage(element, box.left, box.top, box.width, box.height);
    else await this.drawInner(element);
    context.restore();
  }

  /** Fills an element's background and draws its borders. */
  #paint({ left, top, width, height, right, bottom }: DOMRect, style: CSSStyleDeclaration): void {
    const context = this.#context;
    context.fillStyle = style.backgroundColor;
    context.beginPath();
    context.roundRect(left, top, width, height, Number.parseFloat(style.borderTopLeftRadius) || 0);
    context.fill();
    const widths = [
      style.borderTopWidth,
      style.borderRightWidth,
      style.borderBottomWidth,
      style.borderLeftWidth,
    ];
    const [above = 0, beside = 0, below = 0, before = 0] = widths.map((text) => Number.parseFloat(text) || 0);
    if (above > 0 && above === beside && above === below && above === before) {
      context.strokeStyle = style.borderTopColor;
      context.lineWidth = above;
      context.stroke();
      return;
    }
    const side = (colour: string, x: number, y: number, w: number, h: number): void => {
      context.fillStyle = colour;
      context.fillRect(x, y, w, h);
    };
    side(style.borderTopColor, left, top, width, above);
    side(style.borderBottomColor, left, bottom - below, width, below);
    side(style.borderLeftColor, left, top, before, height);
    side(style.borderRightColor, right - beside, top, beside, height);
  }

  /** Writes each word where the page has it. */
  #write(text: Text, parent: Element): void {
    const found = [...text.data.matchAll(/\S+/g)];
    if (found.length === 0) return;
    const style = getComputedStyle(parent);
    const context = this.#context;
    context.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    context.fillStyle = style.color;
    const { fontBoundingBoxAscent: ascent, fontBoundingBoxDescent: descent } = context.measureText("x");
    const range = document.createRange();
    for (const { 0: word, index } of found) {
      if (this.#words >= MAX_WORDS) return;
      this.#words += 1;
      range.setStart(text, index);
      range.setEnd(text, index + word.length);
      const [box] = range.getClientRects();
      if (box === undefined) continue;
      const shown = style.textTransform === "uppercase" ? word.toUpperCase() : word;
      context.fillText(shown, box.left, box.top + (box.height - ascent - descent) / 2 + ascent);
    }
  }
}
