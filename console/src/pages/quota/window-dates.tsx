import { Text } from '@mantine/core'
import { Timestamp } from '../../components/values.tsx'
import { LOCAL_ZONE, timestampFormat } from '../../formats.ts'
import { windowsFrom } from '../../model/next-windows.ts'
import type { Terms } from '../../model/quota-form.ts'
import { texts } from '../../texts/texts.ts'
import classes from './quota-form.module.css'

const TEXTS = texts.quota.preview
const MAX_WINDOWS = 3

/** The next windows of a quota in its time zone, and in the user's if that differs. */
export default function WindowDates({ terms, from }: { terms: Terms; from: number }) {
  const windows = windowsFrom(terms, from, MAX_WINDOWS)
  if (windows === null)
    return (
      <Text size="sm" c="dimmed">
        {TEXTS.unknownZone(terms.time_zone)}
      </Text>
    )
  if (windows.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {TEXTS.noWindow}
      </Text>
    )
  const hasOtherZone = terms.period !== null && terms.time_zone !== LOCAL_ZONE
  const format = timestampFormat(hasOtherZone ? terms.time_zone : LOCAL_ZONE)
  return (
    <table className={classes.windows}>
      <caption>{TEXTS.caption(windows.length, LOCAL_ZONE, hasOtherZone ? terms.time_zone : null)}</caption>
      <thead>
        <tr>
          <th scope="col">{TEXTS.from}</th>
          <th scope="col">{TEXTS.until}</th>
        </tr>
      </thead>
      <tbody>
        {windows.map(({ start, end }) => (
          <tr key={start}>
            {[start, end].map((at, index) => (
              <td key={index === 0 ? 'start' : 'end'}>
                {at === null ? (
                  TEXTS.noEnd
                ) : hasOtherZone ? (
                  <TwoTimeZones at={at} format={format} />
                ) : (
                  <Timestamp at={new Date(at).toISOString()} />
                )}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function TwoTimeZones({ at, format }: { at: number; format: Intl.DateTimeFormat }) {
  return (
    <>
      {format.format(at)}
      <Text component="div" size="sm" c="dimmed">
        <Timestamp at={new Date(at).toISOString()} />
      </Text>
    </>
  )
}
