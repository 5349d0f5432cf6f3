import { VisuallyHidden } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Segmentation } from '../../../../src/domain/segments.ts'
import { countryLabel, formatUnits } from '../../formats.ts'
import { texts } from '../../texts/texts.ts'
import classes from './cost.module.css'
import type { Destination } from './destination.ts'

const ENCODING_DESCRIPTIONS = {
  'GSM-7': 'basic alphabet',
  'UCS-2': 'all scripts, 70 instead of 160 characters',
}

interface CostSummaryProps {
  segmentation: Segmentation
  hasText: boolean
  destination: Destination
}

/** The cost in units, and how it is calculated. */
export function CostSummary({ segmentation, hasText, destination }: CostSummaryProps) {
  const { encoding, capacity, segments } = segmentation
  const units = segments.length
  const last = segments.at(-1)?.filled ?? 0
  const used = segments.reduce((sum, { filled }) => sum + filled, 0)
  return (
    <section className={classes.card} aria-label="Units">
      <p className={classes.units}>
        <strong>{formatUnits(units)}</strong> {units === 1 ? 'unit' : 'units'}
      </p>
      {/* Announced when the cost changes, not at each key. */}
      <VisuallyHidden role="status">{hasText && `${texts.values.units(units)}, ${encoding}`}</VisuallyHidden>
      <dl className={classes.facts}>
        <Fact name="Segments">{formatUnits(units)}</Fact>
        <Fact name="Encoding" about={ENCODING_DESCRIPTIONS[encoding]}>
          {encoding}
        </Fact>
        <Fact name="Characters used">{formatUnits(used)}</Fact>
        <Fact name="Free in the last segment" about={`of ${capacity}`}>
          {formatUnits(capacity - last)}
        </Fact>
        <Fact name="Country">{countryText(destination)}</Fact>
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

function countryText({ country }: Destination): string {
  if (country === undefined) return '–'
  return country === null ? 'Unknown country' : countryLabel(country)
}
