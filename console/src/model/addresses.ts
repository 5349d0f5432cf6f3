/** The user whose data a page shows: any user to an administrator, or the signed-in user. */
export interface ViewedUser {
  user_id: number
  /** Reads the user's own endpoints instead of the administrators'. */
  isOwn: boolean
}

/** The page of the life of a message. @param id the sender's */
export function messageUrl({ user_id, isOwn }: ViewedUser, id: string): string {
  return `${isOwn ? '/mine' : `/users/${user_id}`}/messages/${encodeURIComponent(id)}`
}

/** The form of a cap of 0, for a user, a destination or both. */
export function blockUrl(of: { user_id?: number; countries?: string; message_types?: string }): string {
  const named = Object.fromEntries(Object.entries(of).map(([name, value]) => [name, String(value)]))
  return `/quotas/new?${new URLSearchParams({ kind: 'cap', limit: '0', ...named })}`
}

/** A user in what administrators read, with what another system and people call the user. */
export interface NamedUser {
  user_id: number
  user_ref?: string | null | undefined
  user_name?: string | null | undefined
}

/** The name, and without one the reference; null if the user has neither. */
export function calledOf({ user_name, user_ref }: NamedUser): string | null {
  return user_name ?? user_ref ?? null
}

/** What the user is called, with the id, as plain text. @param unnamed for a user who is called nothing */
export function userText(user: NamedUser, unnamed: string): string {
  const called = calledOf(user)
  return called === null ? unnamed : `${called} (${user.user_id})`
}
