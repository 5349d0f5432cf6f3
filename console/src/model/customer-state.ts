import type { Api } from '../api/types.ts'

/** Whether some messages of a customer are denied and others can be sent. */
export const isBlockedInPart = ({ state, sendable, countries, message_types }: Api['Customer']) =>
  state === 'blocked' && sendable !== 0 && (countries ?? message_types) !== null
