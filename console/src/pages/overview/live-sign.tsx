import { Unreachable } from '../../api/problem.ts'
import { Badge } from '../../parts/badge.tsx'

/** Whether what is shown is what happens now. */
export function LiveSign({ isLive, error }: { isLive: boolean; error: Error | null }) {
  return (
    <div role="status">
      {error !== null ? (
        <Badge tone="held">
          {error instanceof Unreachable ? 'Not live: the service is away' : `Not live: ${error.message}`}
        </Badge>
      ) : isLive ? (
        <Badge tone="good">Live</Badge>
      ) : (
        <Badge tone="over">Connecting…</Badge>
      )}
    </div>
  )
}
