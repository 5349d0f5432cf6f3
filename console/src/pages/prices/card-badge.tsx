import type { Api } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import { texts } from '../../texts/texts.ts'

/** Whether the card is the default, or archived. Nothing for others. */
export function CardBadge({ card }: { card: Pick<Api['RateCard'], 'is_default' | 'archived'> }) {
  if (card.archived) return <Badge tone="over">{texts.rates.isArchived}</Badge>
  return card.is_default ? <Badge tone="good">{texts.rates.isDefault}</Badge> : null
}
