import { useReachable } from '../api/reachability.ts'
import classes from './shell.module.css'

/** A banner while the service is not responding. */
export function UnreachableNotice() {
  const isReachable = useReachable()
  return (
    <div role="status">
      {!isReachable && (
        <p className={classes.unreachable} style={{ margin: 0 }}>
          The service is not responding. Retrying automatically; the page shows the last loaded data.
        </p>
      )}
    </div>
  )
}
