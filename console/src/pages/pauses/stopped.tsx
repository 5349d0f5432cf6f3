import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { MAX_RULE_DENIALS } from '../../../../src/domain/basics/bounds.ts'
import { Units } from '../../components/values.tsx'
import type { RuleDenials } from '../../model/rule-denials.ts'
import { texts } from '../../texts/texts.ts'

interface StoppedProps {
  /** Messages that a rule denied in the last 24 hours; undefined until it is read. */
  count: number | undefined
  /** Leads to denied messages, this rule's among them. */
  href: string
}

export function Stopped({ count, href }: StoppedProps) {
  if (count === undefined) return '–'
  if (count === 0) return <Units value={0} />
  return (
    <Anchor component={Link} href={href} size="sm">
      <Units value={count} />
    </Anchor>
  )
}

/** How the messages are counted, and whether there are more than are read. */
export function StoppedBound({ denied }: { denied: RuleDenials | undefined }) {
  return denied !== undefined && texts.pauses.stoppedBound(MAX_RULE_DENIALS, denied.complete)
}
