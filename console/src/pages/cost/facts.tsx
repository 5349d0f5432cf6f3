import { VisuallyHidden } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Segmentation } from '../../../../src/domain/segments.ts'
import { formatUnits, unitWords } from '../../parts/units.tsx'
import classes from './cost.module.css'
import type { Destination } from './destination.ts'

const ENCODING_WORDS = {
  'GSM-7': 'the alphabet of all phones',
  'UCS-2': 'for all scripts, at less than half the room',
}

const countries = new Intl.DisplayNames(undefined, { type: 'region' })

interface FactsProps {
  cut: Segmentation
  hasText: boolean
  destination: Destination
}

/** The cost, large, and what makes it so. */
export function Facts({ cut, hasText, destination }: FactsProps) {
  const { encoding, capacity, segments } = cut
  const units = segments.length
  const last = segments.at(-1)?.filled ?? 0
  const used = segments.reduce((sum, { filled }) => sum + filled, 0)
  return (
    <section className={classes.card} aria-label="Units">
      <p className={classes.units}>
        <strong>{formatUnits(units)}</strong> {units === 1 ? 'unit' : 'units'}
      </p>
      {/* OutboxEvent when the cost changes, not at each key. */}
      <VisuallyHidden role="status">{hasText && `${unitWords(units)}, ${encoding}`}</VisuallyHidden>
      <dl className={classes.facts}>
        <Fact name="Segments">{formatUnits(units)}</Fact>
        <Fact name="Encoding" about={ENCODING_WORDS[encoding]}>
          {encoding}
        </Fact>
        <Fact name="Characters used">{formatUnits(used)}</Fact>
        <Fact name="Left in the last segment" about={`of ${capacity}`}>
          {formatUnits(capacity - last)}
        </Fact>
        <Fact name="Country">{countryWords(destination)}</Fact>
      </dl>
    </section>
  )
}

function Fact({ name, about, children }: { name: string; about?: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {children}
        {about !== undefined && <div className={classes.about}>{about}</div>}
      </dd>
    </div>
  )
}

function countryWords({ country }: Destination): string {
  if (country === undefined) return '–'
  return country === null ? 'No country’s number' : `${countries.of(country)} (${country})`
}
