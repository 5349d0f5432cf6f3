import classes from './units.module.css'

const format = new Intl.NumberFormat()

/** A whole number in the user's locale. */
export function formatUnits(units: number): string {
  return format.format(units)
}

/** "1 unit", "2,000 units" */
export function formatUnitCount(units: number): string {
  return `${formatUnits(units)} ${units === 1 ? 'unit' : 'units'}`
}

/** A number of units in tabular figures. @param value null is unlimited */
export function Units({ value, none = 'Unlimited' }: { value: number | null; none?: string }) {
  return <span className={classes.units}>{value === null ? none : formatUnits(value)}</span>
}
