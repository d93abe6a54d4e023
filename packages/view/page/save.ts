/** Milliseconds after which a file is no longer kept: a download may begin a moment after the click. */
const patience = 10_000;

/** Saves a file as a download. */
export function save(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), patience);
}
