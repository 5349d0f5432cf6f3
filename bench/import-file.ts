/** A file of quotas for the case `import`. */
import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** Writes this many rows of CSV: a user each, from `firstUser` on. */
export function writeQuotaFile(path: string, { rows, firstUser }: { rows: number; firstUser: number }): Promise<void> {
  const lines = function* () {
    yield 'user_id,external_ref,limit,period,time_zone,countries,name\n'
    for (let row = 0; row < rows; row++) {
      const period = row % 3 === 0 ? 'day' : 'month'
      const countries = row % 4 === 0 ? 'DE AT' : ''
      yield `${firstUser + row},K-${row},${1_000 + (row % 7) * 100},${period},Europe/Berlin,${countries},"Package, no. ${row}"\n`
    }
  }
  return pipeline(Readable.from(lines(), { highWaterMark: 1_000 }), createWriteStream(path))
}
