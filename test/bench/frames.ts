/** How smoothly a page draws: frames counted in the page itself. */

import type { Page } from "playwright-core";

export interface Frames {
  readonly perSecond: number;
  /** Longest time without one, ms. */
  readonly longestMs: number;
  /** Whole seconds in which none was drawn. */
  readonly frozenSeconds: number;
}

/** Counts frames for `forMs`; `step`, a statement of the page, runs before each. */
export async function countFrames(page: Page, forMs: number, step = ""): Promise<Frames> {
  const times = await page.evaluate<number[]>(`new Promise((resolve) => {
    const times = [];
    const end = performance.now() + ${forMs};
    const frame = (now) => {
      times.push(now);
      ${step};
      if (performance.now() < end) requestAnimationFrame(frame);
      else resolve(times);
    };
    requestAnimationFrame(frame);
  })`);
  const gaps = times.slice(1).map((time, at) => time - times[at]!);
  const spanMs = times.at(-1)! - times[0]!;
  return {
    perSecond: ((times.length - 1) / spanMs) * 1_000,
    longestMs: Math.max(...gaps),
    frozenSeconds: gaps.reduce((sum, gap) => sum + Math.floor(gap / 1_000), 0),
  };
}
