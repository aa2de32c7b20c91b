/** Hands a file to the browser's downloads. */

/** Long enough for a browser to begin the download. */
const KEPT_MS = 60_000;

/** Saves `parts` under a name. */
export function saveFile(name: string, type: string, parts: readonly BlobPart[]): void {
  const address = URL.createObjectURL(new Blob([...parts], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), KEPT_MS);
}
