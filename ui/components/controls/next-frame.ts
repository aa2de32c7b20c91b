/** Waits until changes are on the screen. */

/** With these an input begins, also one that a program or an assistive technology makes. */
const INPUTS = ["pointerdown", "keydown", "click", "beforeinput", "input", "change", "drop"] as const;

/** Resolves when what was changed has been drawn; in a hidden page not before it is shown. */
export function nextFrame(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve));
  });
}

/**
 * Defers what takes long to draw until the frame after an input has been painted, so that the input is answered at once
 * (https://web.dev/articles/optimize-inp). The next input doesn't meet the old drawing: it is drawn before any other
 * listener has that input.
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
