/** Takes the parts of a file. */
export type Save = (name: string, parts: readonly BlobPart[]) => void

/** Lines that are joined before they are passed to the browser. */
const LINES_PER_PART = 2_000

/** Writes all that filters select to a file. @param onCount gets how many have been read */
export type Export<Filters> = (
  filters: Filters,
  signal: AbortSignal,
  onCount: (count: number) => void,
  save: Save,
) => Promise<void>

/** The export of lines of CSV, as they come. */
export function csvExport<Filters>(
  name: string,
  head: string,
  linesOf: (filters: Filters, signal: AbortSignal) => AsyncIterable<string>,
): Export<Filters> {
  return async (filters, signal, onCount, save) => {
    const parts: Blob[] = []
    let part = [head]
    let count = 0
    for await (const line of linesOf(filters, signal)) {
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
}
