import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ViewedUser } from '../../model/addresses.ts'
import { headlineOf, isDenied } from '../../model/answers.ts'
import { summaryQuery } from '../../queries/user.ts'
import { texts } from '../../texts/texts.ts'
import { ExactTime } from '../values.tsx'
import { whyText } from './why-text.ts'

/** Says that a cap stops all messages of a user, where units are asked for or given: they would not help. Else empty. */
export function BlockingCap({ user }: { user: ViewedUser }) {
  const { data: summary } = useQuery(summaryQuery(user))
  if (summary === undefined) return null
  const { main } = headlineOf(summary)
  if (!isDenied(main) || main.denial.reason !== 'cap_reached') return null
  const { stopped, until, ownAdvice, advice } = texts.user.blockingCap
  const { retry_at } = main.denial
  return (
    <Text size="sm" role="status">
      {stopped(whyText(main, summary, user.isOwn))} {retry_at !== null && <>{until(<ExactTime at={retry_at} />)} </>}
      {user.isOwn ? ownAdvice : advice}
    </Text>
  )
}
