import { Anchor, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Api } from '../api/types.ts'
import { givablePlansQuery } from '../queries/plans.ts'
import { texts } from '../texts/texts.ts'
import { Loaded, Loading } from './loaded.tsx'

/** The plans that users can be given, or where the first one is made. */
export function GivablePlans({ children }: { children: (plans: readonly Api['Plan'][]) => ReactNode }) {
  const plans = useQuery(givablePlansQuery())
  const { noPlans, newPlan } = texts.plans.ofUser
  return (
    <Loaded query={plans} loading={<Loading rows={3} height={36} />}>
      {found =>
        found.length > 0 ? (
          children(found)
        ) : (
          <Text size="sm">
            {noPlans}{' '}
            <Anchor component={Link} href="/plans/new?sample=1" inherit underline="always">
              {newPlan}
            </Anchor>
          </Text>
        )
      }
    </Loaded>
  )
}
