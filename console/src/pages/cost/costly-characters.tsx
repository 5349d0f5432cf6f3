import { Button } from '@mantine/core'
import { useMemo, useState } from 'react'
import { type CostlyCharacter, plainerOf, writePlainly } from '../../../../src/domain/characters.ts'
import { countSegments, type Segmentation } from '../../../../src/domain/segments.ts'
import { texts } from '../../texts/texts.ts'
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
  const { costly: costlyTexts } = texts.cost
  return (
    <section aria-labelledby="costly" className={classes.section}>
      <h2 id="costly" className={classes.heading}>
        {foreign.length === 0 ? costlyTexts.double : costlyTexts.foreign}
      </h2>
      <p className={classes.about}>{foreign.length === 0 ? costlyTexts.doubleAbout : costlyTexts.foreignAbout}</p>
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
          {texts.cost.showMore(kinds.length - shown.length)}
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
          {count > 1 && ` · ${texts.cost.costly.times(count)}`}
        </span>
      </span>
      <span>{replacement !== null && <Replacement text={replacement} />}</span>
    </li>
  )
}

function Replacement({ text }: { text: string }) {
  if (text === '') return texts.cost.costly.removable
  return <>→ {text === ' ' ? texts.cost.costly.space : <bdi className={classes.character}>{text}</bdi>}</>
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
      <p>{isFewer ? texts.cost.costly.fewer(offer.segments, units) : texts.cost.costly.same(units)}</p>
      <Button variant="light" size="xs" onClick={() => onReplace(offer.changed)}>
        {texts.cost.costly.replace}
      </Button>
    </div>
  )
}

/** Categories of other characters; the first match applies. */
const KINDS: readonly [RegExp, keyof typeof texts.cost.kinds][] = [
  [/\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20e3/u, 'emoji'],
  [/^\p{Cc}/u, 'control'],
  [/^\p{Cf}/u, 'invisible'],
  [/^\p{Z}/u, 'space'],
  [/^\p{Script=Latin}/u, 'latin'],
  [/^\p{Script=Cyrillic}/u, 'cyrillic'],
  [/^\p{Script=Greek}/u, 'greek'],
  [/^\p{Script=Arabic}/u, 'arabic'],
  [/^\p{Script=Hebrew}/u, 'hebrew'],
  [/^\p{Script=Han}/u, 'chinese'],
  [/^\p{Script=Hiragana}|^\p{Script=Katakana}/u, 'japanese'],
  [/^\p{Script=Hangul}/u, 'korean'],
  [/^\p{Script=Thai}/u, 'thai'],
  [/^\p{Script=Devanagari}/u, 'devanagari'],
  [/^\p{L}/u, 'letter'],
  [/^\p{N}/u, 'digit'],
  [/^\p{M}/u, 'accent'],
  [/^\p{P}/u, 'punctuation'],
  [/^\p{S}/u, 'sign'],
]

/** The name of a character, or its category. */
function characterName(character: string): string {
  const { characters, kinds } = texts.cost
  if (character in characters) return characters[character as keyof typeof characters]
  const [, kind = 'other' as const] = KINDS.find(([pattern]) => pattern.test(character)) ?? []
  return kinds[kind]
}

/** A letter can have any number of combining accents. */
const MAX_CODE_POINTS = 8

/** "U+2019"; several code points for combined characters. */
function codePointsOf(character: string): string {
  const parts = Array.from(character, part => part.codePointAt(0) ?? 0)
  const shown = parts.slice(0, MAX_CODE_POINTS).map(part => `U+${part.toString(16).toUpperCase().padStart(4, '0')}`)
  return [...shown, ...(parts.length > MAX_CODE_POINTS ? ['…'] : [])].join(' ')
}

/** Whether a character has a visible glyph. */
function isVisible(character: string): boolean {
  return !/^[\p{C}\p{Z}]+$/u.test(character)
}
