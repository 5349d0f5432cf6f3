import { useReachable } from '../api/reachability.ts'
import classes from './shell.module.css'

/** Says so while the service does not answer; what is on the page is what was read last. */
export function AwayNotice() {
  const isReachable = useReachable()
  return (
    <div role="status">
      {!isReachable && (
        <p className={classes.away} style={{ margin: 0 }}>
          The service does not answer. Trying again by itself; what you see is what was read last.
        </p>
      )}
    </div>
  )
}
