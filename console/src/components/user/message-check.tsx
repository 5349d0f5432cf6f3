import {
  Button,
  type InputWrapperProps,
  SegmentedControl,
  Text,
  Textarea,
  TextInput,
  type TextInputProps,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, use, useState } from 'react'
import { MAX_RESERVED_UNITS, MAX_SEGMENTS } from '../../../../src/domain/basics/bounds.ts'
import { countSegments, type Encoding } from '../../../../src/domain/messages/segments.ts'
import { countryLabel, formatList } from '../../formats.ts'
import type { ViewedUser } from '../../model/addresses.ts'
import { countryOfText, dialedCountryLabel } from '../../model/countries.ts'
import { withoutGroups } from '../../model/typed.ts'
import { uint } from '../../model/url-parameters.ts'
import { refetchAfter } from '../../queries/calls.ts'
import { rateCardsQuery } from '../../queries/rates.ts'
import { type CheckAnswer, type PlannedMessage, useCheck, useFollowingCaps } from '../../queries/user.ts'
import { consoleConfig } from '../../session/console-config.ts'
import { texts } from '../../texts/texts.ts'
import { countriesOfNumber, useDestination } from '../destination.ts'
import { ErrorNotice } from '../error-notice.tsx'
import { DenyingPause } from '../holding-pauses.tsx'
import { QuotaLink } from '../links.tsx'
import { Section } from '../section.tsx'
import { ExactTime, Timestamp } from '../values.tsx'
import classes from './message-check.module.css'

/** What is asked. `encoding`: of its text; null for an empty one, and for units. */
interface Asked extends PlannedMessage {
  encoding: Encoding | null
}

/** Errors are above the inputs, because the row is aligned with their lower ends. */
const ERROR_ABOVE: NonNullable<InputWrapperProps['inputWrapperOrder']> = ['label', 'description', 'error', 'input']

const MESSAGE_TYPE = /^[a-z0-9][a-z0-9_-]{0,63}$/
const MAX_TAG_LENGTH = 64

/** Asks for a message that is not sent: would it go, what does it cost, and what does each quota say? */
export default function MessageCheck({ user }: { user: ViewedUser }) {
  const [asked, setAsked] = useState<Asked | null>(null)
  const check = useCheck(user, asked)
  const { title, about } = texts.messageCheck

  function ask(message: Asked | null) {
    setAsked(message)
    // The page above is as old as its last reading: it must not say otherwise than the answer.
    if (message !== null) void refetchAfter('POST /admin/quota/check')
  }
  return (
    <Section title={title}>
      <Text size="xs" c="dimmed" mb="xs">
        {about}
      </Text>
      <MessageForm user={user} isPending={check.isLoading} onAsk={ask} />
      <ErrorNotice variant="action" error={check.error} />
      <div role="status">
        {check.data != null && asked !== null && <Answer answer={check.data} asked={asked} user={user} />}
      </div>
    </Section>
  )
}

interface MessageFormProps {
  user: ViewedUser
  isPending: boolean
  /** @param message null if a field was wrong: an earlier answer is no answer to it */
  onAsk: (message: Asked | null) => void
}

function MessageForm({ user, isPending, onAsk }: MessageFormProps) {
  const [to, setTo] = useState('')
  const [by, setBy] = useState<'text' | 'units'>('text')
  const [text, setText] = useState('')
  const [units, setUnits] = useState('1')
  const [type, setType] = useState('')
  const [tag, setTag] = useState('')
  const [isSubmitted, setSubmitted] = useState(false)
  const destination = useCountry(to.trim())
  const { segments: rules } = use(consoleConfig())
  const counted = by === 'text' ? countSegments(text, rules) : null
  // The service takes a number with the segments of a text only.
  const most = counted === null && destination.others.length === 0 ? MAX_RESERVED_UNITS : MAX_SEGMENTS
  const cost = upTo(most, counted === null ? unitsOf(units) : counted.segments)
  const isType = type === '' || MESSAGE_TYPE.test(type)

  async function submit(event: FormEvent) {
    event.preventDefault()
    setSubmitted(true)
    const { country, others } = destination.isPending ? await countriesOfNumber(to) : destination
    if (country === undefined || cost === null || !isType) return onAsk(null)
    if (others.length > 0 && cost > MAX_SEGMENTS) return onAsk(null)
    const named = { message_type: orNull(type), tag: orNull(tag.trim()) }
    const number = destination.isNumber ? withoutGroups(to) : null
    const message = { user_id: user.user_id, units: cost, country, number, isShared: others.length > 0, ...named }
    onAsk({ ...message, isText: counted !== null, encoding: text === '' ? null : (counted?.encoding ?? null) })
  }
  return (
    // A field is not called wrong while it is being typed.
    <form
      onSubmit={event => void submit(event)}
      onChange={() => setSubmitted(false)}
      noValidate
      className={classes.form}
    >
      <SmallField
        label={texts.messageCheck.to}
        description={destination.hint ?? texts.messageCheck.toAbout}
        placeholder={texts.messageCheck.toPlaceholder}
        value={to}
        onChange={event => setTo(event.currentTarget.value)}
        error={isSubmitted && destination.error}
      />
      <SmallField
        label={texts.messageCheck.type}
        description={texts.messageCheck.typeAbout}
        value={type}
        onChange={event => setType(event.currentTarget.value.trim())}
        error={isSubmitted && !isType && texts.messageCheck.typeError}
      />
      <SmallField
        label={texts.messageCheck.tag}
        description={texts.messageCheck.tagAbout}
        maxLength={MAX_TAG_LENGTH}
        value={tag}
        onChange={event => setTag(event.currentTarget.value)}
      />
      <CostFields
        {...{ by, text, units }}
        onBy={setBy}
        onText={setText}
        onUnits={setUnits}
        error={isSubmitted && cost === null && costError(by, most)}
      />
      <Button type="submit" size="xs" loading={isPending}>
        {texts.messageCheck.submit}
      </Button>
    </form>
  )
}

const orNull = (text: string) => (text === '' ? null : text)

function SmallField(props: TextInputProps) {
  return <TextInput inputWrapperOrder={ERROR_ABOVE} autoComplete="off" size="xs" {...props} />
}

/** What a message costs, and how that was counted. */
function Cost({ answer, asked }: { answer: CheckAnswer; asked: Asked }) {
  const { costsWithoutText, costs, priced, pricedByNumber } = texts.messageCheck
  const { units, isText, number, encoding } = asked
  const { data: cards = [] } = useQuery({ ...rateCardsQuery(), enabled: isText && number === null })
  if (answer.rate != null) return priced(answer.units ?? units, texts.rates.priced(units, answer.rate))
  const text = isText && encoding === null ? costsWithoutText(units) : costs(units, encoding)
  return cards.length === 0 ? text : `${text} ${pricedByNumber}`
}

function costError(by: 'text' | 'units', most: number): string {
  return by === 'text' ? texts.messageCheck.textError : texts.messageCheck.unitsError(most)
}

interface CostFieldsProps {
  by: 'text' | 'units'
  text: string
  units: string
  onBy: (by: 'text' | 'units') => void
  onText: (text: string) => void
  onUnits: (units: string) => void
  error: ReactNode
}

/** The text of a message, or its cost in units. */
function CostFields({ by, text, units, onBy, onText, onUnits, error }: CostFieldsProps) {
  return (
    <div className={classes.cost}>
      <SegmentedControl
        size="xs"
        aria-label={texts.messageCheck.by}
        value={by}
        onChange={value => onBy(value === 'units' ? 'units' : 'text')}
        data={[
          { value: 'text', label: texts.messageCheck.byText },
          { value: 'units', label: texts.messageCheck.byUnits },
        ]}
      />
      {by === 'text' ? (
        <Textarea
          aria-label={texts.messageCheck.text}
          inputWrapperOrder={ERROR_ABOVE}
          placeholder={texts.messageCheck.text}
          autosize
          minRows={1}
          maxRows={6}
          dir="auto"
          size="xs"
          value={text}
          onChange={event => onText(event.currentTarget.value)}
          error={error}
        />
      ) : (
        <SmallField
          aria-label={texts.messageCheck.units}
          inputMode="numeric"
          value={units}
          onChange={event => onUnits(event.currentTarget.value)}
          error={error}
        />
      )}
    </div>
  )
}

function unitsOf(text: string): number | null {
  const units = uint(text.trim())
  return units === null || units < 1 ? null : units
}

const upTo = (most: number, units: number | null) => (units === null || units > most ? null : units)

interface Country {
  /** Null: none is named; undefined: the text names none, or the number is still looked up. */
  country: string | null | undefined
  /** Further countries that a number may belong to. */
  others: readonly string[]
  isNumber: boolean
  error: string | null
  /** What was recognized. */
  hint: string | null
  isPending: boolean
}

/** The country of a typed number, code, calling code or name. */
function useCountry(text: string): Country {
  const named = countryOfText(text)
  const isNumber = named === null && /^[+\d]/.test(text)
  const { country, others, error, isPending } = useDestination(isNumber ? text : '')
  const { toError, unknownCountry, sharedCode } = texts.messageCheck
  const known = { others: [], isNumber, error: null, hint: null, isPending }
  if (text === '') return { ...known, country: null }
  if (named !== null) return { ...known, country: named, hint: dialedCountryLabel(named) }
  if (isNumber) {
    const label = country == null ? null : dialedCountryLabel(country)
    const shared = label === null || others.length === 0 ? label : sharedCode(label, formatList(others))
    const hint = country === null ? unknownCountry : shared
    const problem = country === undefined && !isPending ? (error ?? toError) : null
    return { ...known, country, others, error: problem, hint }
  }
  return { ...known, country: undefined, error: toError }
}

interface AnswerProps {
  answer: CheckAnswer
  asked: Asked
  user: ViewedUser
}

function Answer({ answer, asked, user }: AnswerProps) {
  const isDenied = !answer.granted || answer.would_deny !== undefined
  return (
    <div className={classes.answer} data-denied={isDenied || undefined}>
      <p className={classes.verdict}>{verdictOf(answer)}</p>
      <p>
        <Cost answer={answer} asked={asked} /> {leftText(answer)} <Retry answer={answer} />{' '}
        {texts.messageCheck.nothingReserved}
      </p>
      {!answer.granted && answer.pause !== undefined && (
        <DenyingPause key={answer.pause.id} id={answer.pause.id} user_id={user.user_id} />
      )}
      <Explanation answer={answer} asked={asked} user={user} />
    </div>
  )
}

function verdictOf(answer: CheckAnswer): ReactNode {
  if (!answer.granted) return texts.messageCheck.denied(texts.messageCheck.reasons[answer.reason])
  if (answer.would_deny === undefined) return texts.messageCheck.goes
  return `${texts.messageCheck.denied(texts.messageCheck.reasons[answer.would_deny])} ${texts.messageCheck.observed}`
}

function leftText(answer: CheckAnswer): string {
  // A check takes nothing: the message would take its units from what remains.
  if (answer.granted) return texts.messageCheck.left(answer.remaining === null ? null : answer.remaining - answer.units)
  return answer.remaining ? texts.messageCheck.room(answer.remaining) : ''
}

function Retry({ answer }: Pick<AnswerProps, 'answer'>) {
  if (answer.granted) return null
  const { retryAt, waitingDoesNotHelp } = texts.messageCheck
  return answer.retry_at === null ? waitingDoesNotHelp : retryAt(<ExactTime at={answer.retry_at} />)
}

/** What each quota says, in the order of the decision: caps, then grants as they pay, then the others. */
function Explanation({ answer, asked, user }: AnswerProps) {
  const { explain = [] } = answer
  const { quotas, noQuotas, verdicts } = texts.messageCheck
  const following = useFollowingCaps(user)
  if (explain.length === 0) return <p>{noQuotas}</p>
  return (
    <ul data-plain className={classes.quotas} aria-label={quotas}>
      {explain.map(line => {
        const startsAt = following.get(line.quota_id)
        return (
          <li key={line.quota_id} data-verdict={line.verdict}>
            <div>
              <QuotaLink id={line.quota_id} kind={line.kind} user={user} />
            </div>
            <div className={classes.about}>
              {startsAt === undefined ? lineText(line, answer, asked) : verdicts.follows(<Timestamp at={startsAt} />)}
            </div>
          </li>
        )
      })}
    </ul>
  )
}

type Line = NonNullable<CheckAnswer['explain']>[number]

/** Why a quota does or does not count for the message. */
function lineText(line: Line, answer: CheckAnswer, { country, message_type }: Asked): ReactNode {
  const { verdicts } = texts.messageCheck
  const { kind, verdict, units, expires_at } = line
  switch (verdict) {
    case 'draws':
      return verdicts.pays(units)
    case 'has_headroom':
      if (kind === 'cap') return units > 0 ? verdicts.counts(units) : verdicts.hasRoom
      return !answer.granted && answer.reason === 'quota_exhausted' ? verdicts.hasTooFewUnits : verdicts.hasUnits
    case 'not_needed':
      return verdicts.notNeeded
    case 'expired':
      return expires_at === undefined ? verdicts.expired : verdicts.expiredAt(<Timestamp at={expires_at} />)
    case 'other_country':
      return country === null ? verdicts.needsCountry : verdicts.otherCountry(countryLabel(country))
    case 'other_message_type':
      return message_type === null ? verdicts.needsType : verdicts.otherType(message_type)
    default:
      return verdicts[verdict]
  }
}
