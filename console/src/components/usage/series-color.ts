const SERIES_COLORS = 6

/** The color of a series. All have a contrast of at least 3:1 to the page, light and dark. */
export function seriesColor(index: number): string {
  return `var(--series-${(index % SERIES_COLORS) + 1})`
}
