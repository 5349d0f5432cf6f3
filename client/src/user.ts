/** How calls name the user of a message: by id, or by the reference that another system gave. */

export interface UserName {
  readonly userId?: number
  readonly userRef?: string
}

/** A message of a user. */
export interface MessageName extends UserName {
  readonly id: string
}

/**
 * What names the user in further calls, as the caller named it: an answer to a call by reference has both.
 *
 * @throws TypeError if there is neither
 */
export function userOf({ userId, userRef }: UserName): UserName {
  if (userRef !== undefined) return { userRef }
  if (userId !== undefined) return { userId }
  throw new TypeError('userId or userRef is missing: one of them names the user of a message')
}

export function messageOf({ id, ...user }: MessageName): MessageName {
  return { ...userOf(user), id }
}

/** A user as ASCII, for a hash: the id, or `ref:` and the reference, percent-encoded. */
export type UserKey = number | `ref:${string}`

/** A half of a character, which cannot be encoded, is in no reference: the service refuses it. */
export const keyOfReference = (userRef: string): UserKey =>
  `ref:${encodeURIComponent(userRef.replaceAll(/\p{Surrogate}/gu, '\uFFFD'))}`

/** Tells users apart. One that is named in both ways is two of them here. */
export const userKey = ({ userId, userRef }: UserName): string =>
  userRef === undefined ? String(userId) : `ref:${userRef}`

// A message's id has no blank.
export const messageKey = (message: MessageName): string => `${message.id} ${userKey(message)}`
