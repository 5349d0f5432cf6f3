import { Button } from '@mantine/core'
import { useMemo, useState } from 'react'
import { type CostlyCharacter, plainerOf, writePlainly } from '../../../../src/domain/characters.ts'
import { countSegments, type Segmentation } from '../../../../src/domain/segments.ts'
import { formatUnits, unitWords } from '../../parts/units.tsx'
import { codePointsOf, isVisible, nameOf } from './character-words.ts'
import classes from './cost.module.css'

/** Rows before somebody asks for all: a text in another script has a row for each of its letters. */
const FEW = 8

interface Kind {
  character: string
  times: number
  /** What could stand in its place. */
  plainer: string | null
}

interface CostlyProps {
  text: string
  cut: Segmentation
  costly: readonly CostlyCharacter[]
  onReplace: (text: string) => void
}

/** Which characters make the text cost more than its length, and what could be done about them. */
export function CostlyCharacters({ text, cut, costly, onReplace }: CostlyProps) {
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
          ? 'GSM-7 has these only with an escape before them.'
          : 'One of them is enough: a segment then holds 70 characters instead of 160.'}
      </p>
      <KindList kinds={foreign.length === 0 ? doubles : foreign} />
      <Replacing text={text} units={cut.segments.length} costly={costly} onReplace={onReplace} />
    </section>
  )
}

/** Each character once, in the order of the text. */
function kindsOf(costly: readonly CostlyCharacter[], why: CostlyCharacter['why']): Kind[] {
  const kinds = new Map<string, Kind>()
  for (const { character } of costly.filter(one => one.why === why)) {
    const kind = kinds.get(character)
    if (kind !== undefined) kind.times++
    else kinds.set(character, { character, times: 1, plainer: why === 'foreign' ? plainerOf(character) : null })
  }
  return [...kinds.values()]
}

function KindList({ kinds }: { kinds: readonly Kind[] }) {
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? kinds : kinds.slice(0, FEW)
  return (
    <>
      <ul className={classes.kinds}>
        {shown.map(kind => (
          <KindRow key={kind.character} kind={kind} />
        ))}
      </ul>
      {kinds.length > shown.length && (
        <Button variant="subtle" size="compact-xs" onClick={() => setWhole(true)}>
          Show {formatUnits(kinds.length - shown.length)} more
        </Button>
      )}
    </>
  )
}

function KindRow({ kind: { character, times, plainer } }: { kind: Kind }) {
  return (
    <li>
      <bdi className={classes.character}>{isVisible(character) ? character : '␣'}</bdi>
      <span className={classes.what}>
        {nameOf(character)}{' '}
        <span className={classes.about}>
          {codePointsOf(character)}
          {times > 1 && ` · ${formatUnits(times)} times`}
        </span>
      </span>
      <span>{plainer !== null && <Plainer plainer={plainer} />}</span>
    </li>
  )
}

function Plainer({ plainer }: { plainer: string }) {
  if (plainer === '') return 'can be left out'
  return <>→ {plainer === ' ' ? 'a space' : <bdi className={classes.character}>{plainer}</bdi>}</>
}

interface ReplacingProps extends Pick<CostlyProps, 'text' | 'costly' | 'onReplace'> {
  units: number
}

/** Offers to write what can be written plainly so. */
function Replacing({ text, units, costly, onReplace }: ReplacingProps) {
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
          ? `Written plainly, the message takes ${unitWords(offer.segments)} instead of ${formatUnits(units)}.`
          : `Written plainly, the message still takes ${unitWords(units)}, but is GSM-7 and has room for more.`}
      </p>
      <Button variant="light" size="xs" onClick={() => onReplace(offer.changed)}>
        Replace them
      </Button>
    </div>
  )
}
