/** The service's names of the roles. Settings map the names in tokens to them. */
export const ROLES = ['admin', 'sender', 'auditor', 'support', 'force'] as const
export type Role = (typeof ROLES)[number]

/**
 * A right that a token may have.
 *
 * - `read`: read the data of all users, webhooks and events.
 * - `export`: read all of a list, or all of a user, at once.
 * - `check`: ask whether a message of any user would be sent.
 * - `adjust`: move the limit of a quota; without `change` only by a bounded number of units per call.
 * - `change`: make every other change of administrators.
 * - `send`: call the paths of senders.
 * - `force`: book units past any limit, on the paths of senders.
 */
export type Permission = 'read' | 'export' | 'check' | 'adjust' | 'change' | 'send' | 'force'

/** The permissions of each role. A token with several roles has those of all. */
export const PERMISSIONS_OF: Readonly<Record<Role, readonly Permission[]>> = {
  admin: ['read', 'export', 'check', 'adjust', 'change'],
  sender: ['send'],
  auditor: ['read', 'export', 'check'],
  support: ['read', 'check', 'adjust'],
  force: ['force'],
}

/** The roles with a permission, in the order of `ROLES`. */
export function rolesWith(permission: Permission): Role[] {
  return ROLES.filter(role => PERMISSIONS_OF[role].includes(permission))
}
