import { useCaller } from '../session/session.ts'
import { texts } from '../texts/texts.ts'

/** Who made a change: the subject of the token, which is all that the service knows of people. */
export function Actor({ subject }: { subject: string }) {
  const caller = useCaller()
  const { actor, ownActor } = texts.components
  const name = <bdi style={{ overflowWrap: 'anywhere' }}>{subject}</bdi>
  return subject === caller.subject ? ownActor(name) : actor(name)
}
