import classes from './units.module.css'

const format = new Intl.NumberFormat()

/** A whole number as the reader writes it. */
export function formatUnits(units: number): string {
  return format.format(units)
}

/** 1 unit, 2,000 units */
export function unitWords(units: number): string {
  return `${formatUnits(units)} ${units === 1 ? 'unit' : 'units'}`
}

/** A number of units, aligned with those above and below it. @param value null is without a limit */
export function Units({ value, none = 'Unlimited' }: { value: number | null; none?: string }) {
  return <span className={classes.units}>{value === null ? none : formatUnits(value)}</span>
}
