import { Anchor, Text } from '@mantine/core'
import { Link } from 'wouter'
import { DENIAL_REASONS } from '../../../../src/domain/units/reservation.ts'
import type { Api } from '../../api/types.ts'
import { Announcement } from '../../components/announcement.tsx'
import { Section } from '../../components/section.tsx'
import { TimeOfDay, Units } from '../../components/values.tsx'
import { denialsUrl } from '../../model/denial-filters.ts'
import { texts } from '../../texts/texts.ts'
import { HourlyChart } from './hourly-chart.tsx'
import classes from './overview.module.css'

type Usage = NonNullable<Api['Overview']['usage']>

const { today: words } = texts.overview

/** Usage since midnight, compared with yesterday. */
export function Today({ usage: { total, before, today, yesterday } }: { usage: Usage }) {
  const { committed, denied, denied_by_reason, refunded, unfunded } = total
  const from = today[0]?.start ?? null
  const reasons = DENIAL_REASONS.filter(reason => denied_by_reason[reason].messages > 0)
  return (
    <Section isFramed title={words.title}>
      <div className={classes.today}>
        <div>
          <p className={classes.value}>
            <Units value={committed.units} />
          </p>
          <Text size="sm" c="dimmed" mt={2}>
            <Comparison units={committed.units} {...before} />
          </Text>
          <dl className={classes.details}>
            <Detail name={words.details.messages} count={committed.messages} />
            <Detail name={words.details.denied} count={denied.messages} href={denialsUrl({ from })} />
            {reasons.map(reason => (
              <Detail
                key={reason}
                isPart
                name={texts.values.denialReasons[reason]}
                count={denied_by_reason[reason].messages}
                href={denialsUrl({ reason, from })}
              />
            ))}
            {refunded.units > 0 && <Detail name={words.details.refunded} count={refunded.units} />}
            {unfunded.units > 0 && <Detail name={words.details.unfunded} count={unfunded.units} />}
          </dl>
        </div>
        <HourlyChart today={today} yesterday={yesterday} />
        <Announcement text={words.announcement(committed.units, denied.messages)} />
      </div>
    </Section>
  )
}

function Comparison({ units, until, sent }: Usage['before'] & { units: number }) {
  const time = <TimeOfDay at={until} />
  return sent === 0 ? words.noneYesterday(time) : words.compared(compare(units, sent), time, sent)
}

/** @param before more than 0 */
function compare(units: number, before: number): string {
  const change = (units - before) / before
  if (Math.abs(change) < 0.005) return words.same
  if (change >= 9) return words.times(Math.round(units / before))
  return change > 0 ? words.more(change) : words.less(-change)
}

interface DetailProps {
  name: string
  count: number
  href?: string
  /** Whether it is a part of the one before. */
  isPart?: boolean
}

function Detail({ name, count, href, isPart }: DetailProps) {
  return (
    <>
      <dt data-part={isPart}>{name}</dt>
      <dd>
        {href === undefined || count === 0 ? (
          <Units value={count} />
        ) : (
          <Anchor component={Link} href={href} inherit>
            <Units value={count} />
          </Anchor>
        )}
      </dd>
    </>
  )
}
