import { Button } from '@mantine/core'
import { useMemo, useState } from 'react'
import { type CostlyCharacter, plainerOf, writePlainly } from '../../../../src/domain/characters.ts'
import { countSegments, type Segmentation } from '../../../../src/domain/segments.ts'
import { formatUnits } from '../../formats.ts'
import { texts } from '../../texts/texts.ts'
import { characterName, codePointsOf, isVisible } from './character-names.ts'
import classes from './cost.module.css'

/** Rows shown at first: a text in another script has a row for each letter. */
const INITIAL_ROWS = 8

interface Kind {
  character: string
  count: number
  /** A GSM-7 replacement; null if there is none. */
  replacement: string | null
}

interface CostlyProps {
  text: string
  segmentation: Segmentation
  costly: readonly CostlyCharacter[]
  onReplace: (text: string) => void
}

/** Lists the characters that increase the cost, and offers to replace them. */
export function CostlyCharacters({ text, segmentation, costly, onReplace }: CostlyProps) {
  const foreign = useMemo(() => kindsOf(costly, 'foreign'), [costly])
  const doubles = useMemo(() => (foreign.length === 0 ? kindsOf(costly, 'double') : []), [costly, foreign])
  if (foreign.length === 0 && doubles.length === 0) return null
  return (
    <section aria-labelledby="costly" className={classes.section}>
      <h2 id="costly" className={classes.heading}>
        {foreign.length === 0 ? 'Characters that count double' : 'Characters that force UCS-2'}
      </h2>
      <p className={classes.about}>
        {foreign.length === 0
          ? 'GSM-7 encodes these with an escape character.'
          : 'A single one reduces a segment from 160 to 70 characters.'}
      </p>
      <KindList kinds={foreign.length === 0 ? doubles : foreign} />
      <ReplaceOffer text={text} units={segmentation.segments.length} costly={costly} onReplace={onReplace} />
    </section>
  )
}

/** Distinct characters in the order of the text. */
function kindsOf(costly: readonly CostlyCharacter[], why: CostlyCharacter['why']): Kind[] {
  const kinds = new Map<string, Kind>()
  for (const { character } of costly.filter(one => one.why === why)) {
    const kind = kinds.get(character)
    if (kind !== undefined) kind.count++
    else kinds.set(character, { character, count: 1, replacement: why === 'foreign' ? plainerOf(character) : null })
  }
  return [...kinds.values()]
}

function KindList({ kinds }: { kinds: readonly Kind[] }) {
  const [isExpanded, setExpanded] = useState(false)
  const shown = isExpanded ? kinds : kinds.slice(0, INITIAL_ROWS)
  return (
    <>
      <ul className={classes.kinds}>
        {shown.map(kind => (
          <KindRow key={kind.character} kind={kind} />
        ))}
      </ul>
      {kinds.length > shown.length && (
        <Button variant="subtle" size="compact-xs" onClick={() => setExpanded(true)}>
          Show {formatUnits(kinds.length - shown.length)} more
        </Button>
      )}
    </>
  )
}

function KindRow({ kind: { character, count, replacement } }: { kind: Kind }) {
  return (
    <li>
      <bdi className={classes.character}>{isVisible(character) ? character : '␣'}</bdi>
      <span className={classes.name}>
        {characterName(character)}{' '}
        <span className={classes.about}>
          {codePointsOf(character)}
          {count > 1 && ` · ${formatUnits(count)} times`}
        </span>
      </span>
      <span>{replacement !== null && <Replacement text={replacement} />}</span>
    </li>
  )
}

function Replacement({ text }: { text: string }) {
  if (text === '') return 'can be removed'
  return <>→ {text === ' ' ? 'a space' : <bdi className={classes.character}>{text}</bdi>}</>
}

interface ReplaceOfferProps extends Pick<CostlyProps, 'text' | 'costly' | 'onReplace'> {
  units: number
}

/** Offers to replace characters with GSM-7 ones if that saves units or leaves more room. */
function ReplaceOffer({ text, units, costly, onReplace }: ReplaceOfferProps) {
  const offer = useMemo(() => {
    const changed = writePlainly(text, costly)
    return { changed, ...countSegments(changed) }
  }, [text, costly])
  const isFewer = offer.segments < units
  if (offer.changed === text || (!isFewer && offer.encoding === 'UCS-2')) return null
  return (
    <div className={classes.offer}>
      <p>
        {isFewer
          ? `With replacements, the message takes ${texts.values.units(offer.segments)} instead of ${formatUnits(units)}.`
          : `With replacements, the message still takes ${texts.values.units(units)}, but uses GSM-7 and has more room.`}
      </p>
      <Button variant="light" size="xs" onClick={() => onReplace(offer.changed)}>
        Replace characters
      </Button>
    </div>
  )
}
