import { formatUnits } from '../../formats.ts'
import type { someUsers as english } from '../en/some-users.ts'

const users = (count: number) => `${formatUnits(count)} Benutzer`

export const someUsers: typeof english = {
  chosen: count => (count === 1 ? 'den ausgewählten Benutzer' : `${formatUnits(count)} ausgewählte Benutzer`),
  all: count => (count === 1 ? 'diesen Benutzer' : `alle ${users(count)}`),
  top: count => (count === 1 ? 'diesen Benutzer' : `diese ${users(count)}`),
}
