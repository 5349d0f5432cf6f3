import { Button, Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import { type CostlyCharacter, writePlainly } from '../../../../src/domain/messages/characters.ts'
import type { SegmentRules } from '../../../../src/domain/messages/segment-rules.ts'
import { countSegments, type Segmentation } from '../../../../src/domain/messages/segments.ts'
import { type CharacterKind, categoryOf, codePointsOf, isVisible, kindsOf } from '../../model/costly-characters.ts'
import { texts } from '../../texts/texts.ts'
import classes from './cost.module.css'

/** Rows shown at first: a text in another script has a row for each letter. */
const INITIAL_ROWS = 8

interface CostlyProps {
  text: string
  rules: SegmentRules
  segmentation: Segmentation
  costly: readonly CostlyCharacter[]
  onReplace: (text: string) => void
}

/** Lists the characters that increase the cost, and offers to replace them. */
export function CostlyCharacters({ text, rules, segmentation, costly, onReplace }: CostlyProps) {
  const foreign = useMemo(() => kindsOf(costly, 'foreign'), [costly])
  const doubles = useMemo(() => (foreign.length === 0 ? kindsOf(costly, 'double') : []), [costly, foreign])
  if (foreign.length === 0 && doubles.length === 0) return null
  const { costly: costlyTexts } = texts.cost
  return (
    <section aria-labelledby="costly" className={classes.section}>
      <Text component="h2" id="costly" size="sm" fw={600}>
        {foreign.length === 0 ? costlyTexts.double : costlyTexts.foreign}
      </Text>
      <Text size="xs" c="dimmed">
        {foreign.length === 0 ? costlyTexts.doubleAbout : costlyTexts.foreignAbout}
      </Text>
      <KindList kinds={foreign.length === 0 ? doubles : foreign} />
      <ReplaceOffer
        text={text}
        rules={rules}
        units={segmentation.segments.length}
        costly={costly}
        onReplace={onReplace}
      />
    </section>
  )
}

function KindList({ kinds }: { kinds: readonly CharacterKind[] }) {
  const [isExpanded, setExpanded] = useState(false)
  const shown = isExpanded ? kinds : kinds.slice(0, INITIAL_ROWS)
  return (
    <>
      <ul data-plain className={classes.kinds}>
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

function KindRow({ kind: { character, count, replacement } }: { kind: CharacterKind }) {
  return (
    <li>
      <bdi className={classes.character}>{isVisible(character) ? character : '␣'}</bdi>
      <span>
        {characterName(character)}{' '}
        <Text component="span" size="xs" c="dimmed">
          {codePointsOf(character)}
          {count > 1 && ` · ${texts.cost.costly.times(count)}`}
        </Text>
      </span>
      <span>{replacement !== null && <Replacement text={replacement} />}</span>
    </li>
  )
}

function Replacement({ text }: { text: string }) {
  if (text === '') return texts.cost.costly.removable
  return <>→ {text === ' ' ? texts.cost.costly.space : <bdi className={classes.character}>{text}</bdi>}</>
}

interface ReplaceOfferProps extends Pick<CostlyProps, 'text' | 'rules' | 'costly' | 'onReplace'> {
  units: number
}

/** Offers to replace characters with GSM-7 ones if that saves units or leaves more room. */
function ReplaceOffer({ text, rules, units, costly, onReplace }: ReplaceOfferProps) {
  const offer = useMemo(() => {
    const changed = writePlainly(text, costly)
    return { changed, ...countSegments(changed, rules) }
  }, [text, rules, costly])
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

/** The name of a character, or its category. */
function characterName(character: string): string {
  const { characters, kinds } = texts.cost
  if (character in characters) return characters[character as keyof typeof characters]
  return kinds[categoryOf(character)]
}
