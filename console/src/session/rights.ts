import { rolesWith } from '../../../src/domain/role.ts'
import type { Caller } from './session.ts'

/** Whether a caller sees the data of all users. What the role may not change, the service refuses. */
export function readsAllUsers({ roles }: Pick<Caller, 'roles'>): boolean {
  return rolesWith('read').some(role => roles.includes(role))
}
