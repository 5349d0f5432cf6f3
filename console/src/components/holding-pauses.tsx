import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Pause, PausedDestination } from '../model/pauses.ts'
import { activePausesQuery } from '../queries/pauses.ts'
import { SUMMARY_MS } from '../queries/user.ts'
import { changesQuotas } from '../session/rights.ts'
import { useCaller } from '../session/session.ts'
import { LiftPause } from './lift-pause.tsx'
import { PausedText, whyOf } from './paused-text.tsx'

interface HoldingPausesProps {
  pauses: readonly Pause[]
  className?: string | undefined
  /** Receives a confirmation message. */
  onLifted: (message: string) => void
}

/** Pauses that hold now, for those who see all users: why, and the way to lift each for those who may. */
export function HoldingPauses({ pauses, className, onLifted }: HoldingPausesProps) {
  const mayLift = changesQuotas(useCaller())
  return pauses.map(pause => (
    <p key={pause.id} className={className}>
      <PausedText pause={pause} why={whyOf(pause)} /> {mayLift && <LiftPause pause={pause} onDone={onLifted} />}
    </p>
  ))
}

interface PausesOfUserProps {
  user_id: number
  /** As the user reads them. */
  paused: readonly PausedDestination[]
  className?: string | undefined
}

/** The paused destinations of a user, for those who see all users. */
export default function PausesOfUser({ user_id, paused, className }: PausesOfUserProps) {
  const query = { ...activePausesQuery(null, user_id), enabled: paused.length > 0, refetchInterval: SUMMARY_MS }
  const { data: pauses = [] } = useQuery(query)
  const [lifted, setLifted] = useState('')
  return (
    <>
      {paused.map(pause => {
        const found = pauses.find(({ id }) => id === pause.id)
        if (found !== undefined)
          return <HoldingPauses key={pause.id} pauses={[found]} className={className} onLifted={setLifted} />
        return (
          <p key={pause.id} className={className}>
            <PausedText pause={pause} />
          </p>
        )
      })}
      <p className={className} role="status">
        {lifted}
      </p>
    </>
  )
}

/** The pause that denies a message of a user now. Once it is lifted, the message is checked again. */
export function DenyingPause({ id, user_id }: { id: number; user_id: number }) {
  const { data: pauses = [] } = useQuery(activePausesQuery(null, user_id))
  return <HoldingPauses pauses={pauses.filter(pause => pause.id === id)} onLifted={() => {}} />
}
