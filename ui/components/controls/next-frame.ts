/** Waits for what has been changed to be on the screen. */

/** Resolves when what was changed has been drawn; in a hidden page not before it is shown. */
export function nextFrame(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve));
  });
}
