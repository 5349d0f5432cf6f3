import { formatUnits } from '../../formats.ts'

const users = (count: number) => `${formatUnits(count)} users`

/** Which users something is done for, of those in a list: as many as were selected, all, or those that are listed. */
export const someUsers = {
  chosen: (count: number) => (count === 1 ? 'the selected user' : `${users(count)} selected`),
  all: (count: number) => (count === 1 ? 'this user' : `all ${users(count)}`),
  top: (count: number) => (count === 1 ? 'this user' : `these ${users(count)}`),
}

export type SomeUsers = keyof typeof someUsers
