const COLOURS = 6

/** The colour of a series: all of them stand out from the page (3 : 1), light and dark. */
export function colourOf(index: number): string {
  return `var(--series-${(index % COLOURS) + 1})`
}
