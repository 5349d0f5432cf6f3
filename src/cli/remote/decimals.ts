/** Prices and units of files: decimals, read exactly. */
import { type Arguments, type Options, UsageError } from '../arguments.ts'

export const SCALE_OPTION: Options = {
  scale: {
    value: 'NUMBER',
    means: 'how many units one of the prices is, such as 10000 for 0.0075 = 75 units; default 1',
  },
}

/** @throws UsageError */
export function scaleIn(args: Arguments): number {
  const text = args.one('scale') ?? '1'
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text)
  throw new UsageError(`--scale is a whole number of units from 1, such as 10000, not "${text}"`)
}

/**
 * The units that a decimal is, with a point or a comma, but without separators of thousands. No floating point number is made of it: 0.29
 * times 100 would be 28.999….
 */
export function unitsIn(text: string, scale: number, max: number): { units: number } | { issue: string } {
  const [, whole = '', fraction = ''] = /^(\d{0,20})(?:[.,](\d{0,20}))?$/.exec(text) ?? []
  if (text === '') return { issue: 'is empty' }
  if (whole + fraction === '')
    return { issue: `must be a number such as 75, 0.0075 or 0,0075, not ${JSON.stringify(text)}` }
  const scaled = BigInt(whole + fraction) * BigInt(scale)
  const parts = 10n ** BigInt(fraction.length)
  if (scaled % parts !== 0n)
    return { issue: `must be a whole number of units with --scale ${scale}, not ${JSON.stringify(text)}` }
  const units = scaled / parts
  if (units > max) return { issue: `must be at most ${max} units, not ${units}` }
  return { units: Number(units) }
}
