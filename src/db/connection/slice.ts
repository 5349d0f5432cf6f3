/** A part of a list, and whether there is more behind it. */
export interface Slice<Item> {
  items: Item[]
  hasMore: boolean
}

/** Makes a slice of rows that were read with a limit of `size + 1`. */
export function sliceOf<Item>(rows: readonly Item[], size: number): Slice<Item> {
  return { items: rows.slice(0, size), hasMore: rows.length > size }
}
