import { type Permission, rolesWith } from '../../../src/domain/basics/role.ts'
import type { Caller } from './session.ts'

/** Whether a role of the caller has the permission. What is not allowed is not offered; the service refuses it anyway. */
export function may({ roles }: Pick<Caller, 'roles'>, permission: Permission): boolean {
  return rolesWith(permission).some(role => roles.includes(role))
}

/** Whether a caller sees the data of all users. */
export function readsAllUsers(caller: Pick<Caller, 'roles'>): boolean {
  return may(caller, 'read')
}

/** Whether a caller may create, change, suspend and delete quotas. */
export function changesQuotas(caller: Pick<Caller, 'roles'>): boolean {
  return may(caller, 'change')
}

/** Whether a caller may adjust limits, if only by a bounded number of units per call. */
export function adjustsQuotas({ adjust_limit }: Pick<Caller, 'adjust_limit'>): boolean {
  return adjust_limit !== 0
}
