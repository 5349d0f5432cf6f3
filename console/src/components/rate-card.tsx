import { Anchor, NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { rateCardsQuery } from '../queries/rates.ts'
import { texts } from '../texts/texts.ts'
import type { FieldProps } from './text-field.tsx'

interface RateCardFieldProps extends FieldProps<string> {
  /** The choice of no card, whose value is empty. */
  none: string
}

/** One of the rate cards, by its id. */
export function RateCardField({ label, about, value, onChange, error, none }: RateCardFieldProps) {
  const { data: cards = [] } = useQuery(rateCardsQuery())
  const choices = cards.map(({ id, name }) => ({ value: String(id), label: name }))
  // Until they are loaded.
  const chosen = value === '' || choices.some(choice => choice.value === value) ? [] : [{ value, label: value }]
  return (
    <NativeSelect
      label={label}
      description={about}
      data={[{ value: '', label: none }, ...chosen, ...choices]}
      value={value}
      onChange={event => onChange(event.currentTarget.value)}
      error={error}
    />
  )
}

/** The name of a rate card, with a link to its page. */
export function RateCardLink({ id }: { id: number }) {
  const name = useQuery(rateCardsQuery()).data?.find(card => card.id === id)?.name
  return (
    <Anchor component={Link} href={`/prices/${id}`} inherit underline="always">
      <bdi>{name ?? texts.rates.cardOf(id)}</bdi>
    </Anchor>
  )
}
