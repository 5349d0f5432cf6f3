import { Anchor, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { ViewedUser } from '../../model/addresses.ts'
import { blockingCaps, boundingCap, headlineOf, isDenied } from '../../model/answers.ts'
import { summaryQuery } from '../../queries/user.ts'
import { texts } from '../../texts/texts.ts'
import { ExactTime } from '../values.tsx'
import { whyText } from './why-text.ts'

interface CapNoticeProps {
  user: ViewedUser
  /** What is asked for or given; null while it is not a number. */
  units: number | null
}

/** Where units are asked for or given: says that a cap stops all messages of the user, or lets fewer go. Else empty. */
export function CapNotice({ user, units }: CapNoticeProps) {
  const { data: summary } = useQuery(summaryQuery(user))
  if (summary === undefined) return null
  const { main } = headlineOf(summary)
  const { stopped, until, ownAdvice, advice, bounded } = texts.user.blockingCap
  if (!isDenied(main) || main.denial.reason !== 'cap_reached') {
    const cap = boundingCap(main, summary, units)
    if (cap === null) return null
    const name = texts.user.status.cap(cap.period, cap.limit, user.isOwn)
    return <Text size="sm">{bounded(name, cap.remaining)}</Text>
  }
  const { retry_at } = main.denial
  const [cap] = blockingCaps(main, summary)
  return (
    <Text size="sm" role="status">
      {stopped(whyText(main, summary, user.isOwn))} {retry_at !== null && <>{until(<ExactTime at={retry_at} />)} </>}
      {user.isOwn
        ? ownAdvice
        : cap !== undefined && (
            <Anchor component={Link} href={`/quotas/${cap.quota_id}`} inherit underline="always">
              {advice}
            </Anchor>
          )}
    </Text>
  )
}
