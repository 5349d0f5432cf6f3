/** What is sent. Processes import it that are no tests. */
export interface Message {
  readonly userId: number
  readonly id: string
  readonly units: number
}

export interface Taken extends Message {
  /** The type of the message, which names its sender. */
  readonly by: string
}

/** Thrown by a send that failed. */
export class NotTaken extends Error {}

export const nameOf = ({ userId, id }: Pick<Message, 'userId' | 'id'>): string => `${userId} ${id}`
