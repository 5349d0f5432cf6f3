import { useReachable } from '../../api/reachability.ts'
import { Badge } from '../../parts/badge.tsx'

/** Whether what is shown is what happens now. */
export function LiveSign({ isConnected, error }: { isConnected: boolean; error: Error | null }) {
  // Other calls notice sooner than one that waits.
  const isReachable = useReachable()
  return <div role="status">{sign()}</div>

  function sign() {
    if (!isReachable) return <Badge tone="held">Not live: the service is away</Badge>
    if (error !== null) return <Badge tone="held">Not live: {error.message}</Badge>
    return isConnected ? <Badge tone="good">Live</Badge> : <Badge tone="over">Connecting…</Badge>
  }
}
