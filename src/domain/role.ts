/** The service's names of the roles. Settings map the names in tokens to them. */
export const ROLES = ['admin', 'sender'] as const
export type Role = (typeof ROLES)[number]
