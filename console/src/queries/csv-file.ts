/** Takes the parts of a file. */
export type Save = (name: string, parts: readonly BlobPart[]) => void

/** Lines that are joined before they are passed to the browser. */
const LINES_PER_PART = 2_000

/** Writes lines of CSV to a file, as they come. @param onCount gets how many have been read */
export async function saveCsv(
  name: string,
  head: string,
  lines: AsyncIterable<string>,
  { onCount, save }: { onCount: (count: number) => void; save: Save },
): Promise<void> {
  const parts: Blob[] = []
  let part = [head]
  let count = 0
  for await (const line of lines) {
    part.push(line)
    count += 1
    if (count % LINES_PER_PART !== 0) continue
    // The browser may keep a blob on disk, but not a string.
    parts.push(new Blob(part))
    part = []
    onCount(count)
  }
  onCount(count)
  save(name, [...parts, ...part])
}
