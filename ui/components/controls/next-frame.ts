/** Waits until changes are on the screen. */

/** Events that begin an input, including those of programs and assistive technology. */
const INPUTS = ["pointerdown", "keydown", "click", "beforeinput", "input", "change", "drop"] as const;

/** Resolves when the changes have been drawn; in a hidden page, once the page is shown. */
export function nextFrame(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve));
  });
}

/**
 * Defers slow drawing until the frame after an input has been painted, so that the input is answered at once
 * (https://web.dev/articles/optimize-inp). The next input never finds the old drawing: the deferred work runs before
 * any other listener receives that input.
 */
export class LateDrawing {
  #draw: (() => void) | undefined;
  readonly #end = (): void => {
    const draw = this.#draw;
    this.#draw = undefined;
    for (const input of INPUTS) removeEventListener(input, this.#end, true);
    draw?.();
  };

  /** True while there is something to draw. */
  get isDue(): boolean {
    return this.#draw !== undefined;
  }

  /** Calls `draw` after the next frame and cancels an earlier `draw`; in a hidden page, once the page is shown. */
  defer(draw: () => void): void {
    this.#draw = draw;
    for (const input of INPUTS) addEventListener(input, this.#end, true);
    void nextFrame().then(() => {
      if (this.#draw === draw) this.#end();
    });
  }
}
