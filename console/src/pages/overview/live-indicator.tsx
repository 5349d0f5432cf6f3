import { useReachable } from '../../api/reachability.ts'
import { Badge } from '../../components/badge.tsx'

/** Whether the overview is up to date. */
export function LiveIndicator({ isConnected, error }: { isConnected: boolean; error: Error | null }) {
  // Other requests notice an outage before the long poll does.
  const isReachable = useReachable()
  return <div role="status">{badge()}</div>

  function badge() {
    if (!isReachable) return <Badge tone="held">Not live: the service is not responding</Badge>
    if (error !== null) return <Badge tone="held">Not live: {error.message}</Badge>
    return isConnected ? <Badge tone="good">Live</Badge> : <Badge tone="over">Connecting…</Badge>
  }
}
