/** The roles by the service's own names; tokens may call them otherwise. */
export const ROLES = ['admin', 'sender'] as const
export type Role = (typeof ROLES)[number]
