import { useCaller } from '../session/session.ts'
import { texts } from '../texts/texts.ts'

/** Who made a change: the subject of the token, or the name of the signed-in caller. Of others the service knows no name. */
export function Actor({ subject }: { subject: string }) {
  const caller = useCaller()
  const { actor, ownActor } = texts.components
  const isOwn = subject === caller.subject
  const name = <bdi style={{ overflowWrap: 'anywhere' }}>{isOwn ? (caller.name ?? subject) : subject}</bdi>
  return isOwn ? ownActor(name) : actor(name)
}
