import { Button, Text, Textarea, TextInput, VisuallyHidden } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, use, useDeferredValue, useMemo, useState } from 'react'
import { MAX_SEGMENTS } from '../../../../src/domain/basics/bounds.ts'
import { findCostly } from '../../../../src/domain/messages/characters.ts'
import { type Segmentation, segmentText } from '../../../../src/domain/messages/segments.ts'
import type { Api } from '../../api/types.ts'
import { type Destination, useDestination } from '../../components/destination.ts'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { Loading } from '../../components/loaded.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import { ExactTime } from '../../components/values.tsx'
import { countryLabel, formatUnits } from '../../formats.ts'
import { answerTo } from '../../model/answers.ts'
import { summaryQuery } from '../../queries/user.ts'
import { consoleConfig } from '../../session/console-config.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import classes from './cost.module.css'
import { CostlyCharacters } from './costly-characters.tsx'
import { Segments } from './segments.tsx'

const EXAMPLE_NUMBER = '+4915112345678'

/** Calculates the cost of a message in the browser: number and text are not sent. */
export default function Cost() {
  const [to, setTo] = useState('')
  const [text, setText] = useState('')
  const destination = useDestination(to.trim())
  const { segments: rules } = use(consoleConfig())
  // Deferred, so that typing stays responsive with long texts.
  const counted = useDeferredValue(text)
  const segmentation = useMemo(() => segmentText(counted, rules), [counted, rules])
  const costly = useMemo(() => findCostly(counted, rules), [counted, rules])
  const units = segmentation.segments.length

  return (
    <>
      <PageTitle title={texts.cost.title} about={texts.cost.about}>
        <Button
          variant="default"
          size="xs"
          onClick={() => {
            setTo(EXAMPLE_NUMBER)
            setText(texts.cost.example)
          }}
        >
          {texts.cost.tryExample}
        </Button>
      </PageTitle>
      <div className={classes.columns}>
        <div className={classes.message}>
          <TextInput
            label={texts.cost.number.label}
            description={texts.cost.number.about}
            placeholder="+49 151 12345678"
            type="tel"
            inputMode="tel"
            autoComplete="off"
            value={to}
            onChange={event => setTo(event.currentTarget.value)}
            error={destination.error}
            errorProps={{ role: 'alert' }}
          />
          <Textarea
            label={texts.cost.text}
            autosize
            minRows={5}
            maxRows={16}
            dir="auto"
            value={text}
            onChange={event => setText(event.currentTarget.value)}
            error={units > MAX_SEGMENTS && texts.cost.tooLong}
            errorProps={{ role: 'alert' }}
            classNames={{ input: classes.text }}
          />
        </div>
        <aside className={classes.result} aria-label={texts.cost.result} aria-busy={counted !== text}>
          <CostSummary segmentation={segmentation} hasText={counted !== ''} destination={destination} />
          <RemainingUnits units={units} country={destination.country} />
        </aside>
        <div className={classes.details}>
          <CostlyCharacters
            text={counted}
            rules={rules}
            segmentation={segmentation}
            costly={costly}
            onReplace={setText}
          />
          <Segments segmentation={segmentation} costly={costly} />
        </div>
      </div>
    </>
  )
}

interface CostSummaryProps {
  segmentation: Segmentation
  hasText: boolean
  destination: Destination
}

/** The cost in units, and how it is calculated. */
function CostSummary({ segmentation, hasText, destination }: CostSummaryProps) {
  const { encoding, capacity, segments } = segmentation
  const { facts } = texts.cost
  const units = segments.length
  const last = segments.at(-1)?.filled ?? 0
  const used = segments.reduce((sum, { filled }) => sum + filled, 0)
  return (
    <section className={classes.card} aria-label={texts.cost.units}>
      <p className={classes.units}>
        <strong>{formatUnits(units)}</strong> {texts.cost.unit(units)}
      </p>
      {/* Announced when the cost changes, not at each key. */}
      <VisuallyHidden role="status">{hasText && `${texts.values.units(units)}, ${encoding}`}</VisuallyHidden>
      <dl className={classes.facts}>
        <Fact name={facts.segments}>{formatUnits(units)}</Fact>
        <Fact name={facts.encoding} about={facts.encodings[encoding]}>
          {encoding}
        </Fact>
        <Fact name={facts.used}>{formatUnits(used)}</Fact>
        <Fact name={facts.free} about={facts.ofCapacity(capacity)}>
          {formatUnits(capacity - last)}
        </Fact>
        <Fact name={facts.country}>{countryText(destination)}</Fact>
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
        {about !== undefined && (
          <Text component="div" size="xs" c="dimmed">
            {about}
          </Text>
        )}
      </dd>
    </div>
  )
}

function countryText({ country }: Destination): string {
  if (country === undefined) return '–'
  return country === null ? texts.cost.facts.unknownCountry : countryLabel(country)
}

interface MessageProps {
  units: number
  country: Destination['country']
}

/** Nothing for staff without quotas of their own. */
function RemainingUnits(message: MessageProps) {
  const { user_id } = useCaller()
  return user_id !== null && <UnitsOf user_id={user_id} {...message} />
}

/** The available units of the user, and how many messages of this cost they allow. */
function UnitsOf({ user_id, ...message }: MessageProps & { user_id: number }) {
  const summary = useQuery(summaryQuery({ user_id, isOwn: true }))
  return (
    <section className={classes.card} aria-label={texts.cost.available.title}>
      <Text component="h2" size="sm" fw={600}>
        {texts.cost.available.title}
      </Text>
      {summary.data === undefined ? (
        summary.error === null ? (
          <Loading rows={2} height={20} />
        ) : (
          <ErrorNotice variant="load" error={summary.error} onRetry={summary.refetch} />
        )
      ) : (
        <Available summary={summary.data} {...message} />
      )}
    </section>
  )
}

function Available({ summary, units, country }: MessageProps & { summary: Api['QuotaSummary'] }) {
  const { available, denial, canDiffer } = answerTo(country, summary)
  const retryAt = denial?.retry_at
  return (
    <>
      <Text size="sm">
        {availableText(available, units)} {retryAt && texts.cost.available.from(<ExactTime at={retryAt} />)}
      </Text>
      {canDiffer && (
        <Text size="xs" c="dimmed">
          {texts.cost.available.scoped}
        </Text>
      )}
    </>
  )
}

function availableText(available: number | null, units: number): string {
  const { unlimited, enough, notEnough } = texts.cost.available
  if (available === null) return unlimited
  const times = Math.floor(available / units)
  return times === 0 ? notEnough(available) : enough(available, times)
}
